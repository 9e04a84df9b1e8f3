/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recorded call as the parts of the model see it. */
#ifndef GPUBPF_VIEW_H
#define GPUBPF_VIEW_H

#include "model/plan.h"
#include "model/procs.h"

enum outcome {
	OUTCOME_OK,
	OUTCOME_FAILED,  /* any result but CUDA_SUCCESS */
	OUTCOME_OPEN,    /* had not returned when its thread or the capture ended */
	OUTCOME_UNKNOWN, /* entry-only capture: results are not measured */
};

/* What became of the calls of a row; their sum is the number of calls made by the application. */
struct tally {
	uint64_t ok;
	uint64_t captured; /* succeeded on a stream in capture: recorded into a graph, nothing ran */
	uint64_t failed, open, unknown;
};

struct view {
	const struct gpubpf_call *c;
	const struct plan *p;
	struct proc *proc;
	struct thread *thread;
	enum outcome outcome;
	bool timed; /* ns is the call's duration */
	uint64_t ns;
	bool captured; /* its stream was in capture */
	const struct gpubpf_latency
		*latency;                 /* where that time went (latency/breakdown.h); NULL: not recorded */
	const struct gpubpf_waker *waits; /* in futexes, in the order of their ends (latency/futexes.h) */
	size_t nwaits;
};

static inline void tally__add(struct tally *t, const struct view *v)
{
	switch (v->outcome) {
	case OUTCOME_OK:
		*(v->captured ? &t->captured : &t->ok) += 1;
		break;
	case OUTCOME_FAILED:
		t->failed++;
		break;
	case OUTCOME_OPEN:
		t->open++;
		break;
	case OUTCOME_UNKNOWN:
		*(v->captured ? &t->captured : &t->unknown) += 1;
		break;
	}
}

static inline void tally__merge(struct tally *t, const struct tally *o)
{
	t->ok += o->ok;
	t->captured += o->captured;
	t->failed += o->failed;
	t->open += o->open;
	t->unknown += o->unknown;
}

/* Went to the GPU as far as the host can tell. */
static inline uint64_t tally__done(const struct tally *t)
{
	return t->ok + t->unknown;
}

#endif
