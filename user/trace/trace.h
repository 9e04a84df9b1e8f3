/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture as events, for whatever writes it out in another form: the calls in the order of the file, what ran on the
 * devices in the order of its start, and the ties between the two.
 *
 * Memory is the join's (104 bytes per call for work) and what grows with distinct things; calls are not kept, each pass
 * reads the file again. Without a device observer there is no join, and nothing grows with the capture.
 *
 * Life: trace__open() reads everything once. Then as many passes and looks as wanted, then trace__close().
 */
#ifndef GPUBPF_TRACE_H
#define GPUBPF_TRACE_H

#include "inspect/inspect.h"
#include "join/join.h"
#include "model/launches.h"
#include "model/model.h"
#include "util/hmap.h"

struct err;
struct sidecar;

struct trace_kernel { /* a launch key of the host's calls, by the number that it came with */
	struct launch_key key;
	const char *name; /* as in the module, by the calls or else by what the device ran; NULL: not known */
	char *display;    /* what every output calls it (R18); never NULL */
	const struct proc *proc; /* without a name: whose handle that is */
	uint64_t handle;
	uint64_t calls; /* of processes that were asked for */
};

struct trace {
	struct inspection in;          /* verdict and ledger, metadata, the join */
	struct model *m;               /* finished: totals, processes, names */
	uint64_t start;                /* CLOCK_MONOTONIC; times of the capture count from here */
	const struct sidecar *sidecar; /* that is bound to it; NULL: none. Not its own */
	bool start_is_known;           /* not: the first call's entry, or the first execution's start */
	/* below: trace.c's */
	struct hmap raw;
	struct trace_kernel *kernel;
	size_t nkernels, kernel_room;
	char **key_display;  /* by key of the join; NULL: no kernel */
	uint32_t *kernel_of; /* by number of the call for work: 1 + its kernel; while opening */
	size_t kernel_of_room;
	struct model *again;
	const struct trace_visitor *visitor;
	uint32_t work; /* calls so far, of a pass */
};

/* What fails leaves it so that trace__close() is right. */
int trace__open(struct trace *t, const char *path, const struct model_opts *o, struct err *err);
void trace__close(struct trace *t);

struct trace_call {
	/* Of any process and depth: v->thread->selected says whether it was asked for. */
	const struct view *v;
	bool has_work; /* its entry point is in a population: join_host_call.number is `work` */
	uint32_t work;
	const struct trace_kernel *kernel; /* of a launch by the application (depth 0); else NULL */
};

/* Each may be NULL. Other than 0 ends the pass and is returned. */
struct trace_visitor {
	int (*call)(const struct trace_call *c, void *arg);
	int (*record)(const struct gpubpf_rec *rec, void *arg); /* those that are no calls */
	void *arg;
};

/* Reads the file again. Where the host observer was left out it has no calls: join_host_call.of_shim has them. */
int trace__pass(struct trace *t, const struct trace_visitor *v, struct err *err);

struct trace_exec { /* something that ran on a device, or that CUPTI has a record of */
	size_t index;
	struct join_activity a;
	const struct join_key *key;
	const struct join_lane *lane;
	const char *display; /* of a kernel; else NULL */
};

size_t trace__execs(const struct trace *t); /* 0 without a device observer */
void trace__exec(const struct trace *t, size_t i, struct trace_exec *e);

const char *trace__symbol(const struct trace *t, uint32_t api); /* of an entry point; "unknown" */
size_t trace__kernels(const struct trace *t);
const struct trace_kernel *trace__kernel(const struct trace *t, size_t i);

#endif
