/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The capture gate as a state machine: what happened goes in, with its time, and nothing else does: no CUPTI, no clock, no
 * lock. A change says that there is something new to publish. Which thread, and when: gaterun.h.
 *
 * IDLE → CALLBACK_SEEN → (WARMUP →) INITIALIZING → FINISHED; up to WARMUP → STOPPED when the process ends; any →
 * DISABLED. Readiness is PENDING, then READY or FAILED, and stays so: the first reason wins. READY alone has a way on:
 * a required kind that a later session is refused (TRACE_FACILITY_LOST).
 */
#ifndef GPUBPF_SHIM_GATE_H
#define GPUBPF_SHIM_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/gate.h"
#include "events.h"

#define GATE_KINDS (GPUBPF_FACILITY_UNIFIED_LAST + 1)

struct gate_kind { /* of one enum gpubpf_facility */
	bool tried, required;
	int result; /* CUptiResult */
};

/* How an initializer came back. */
struct gate_outcome {
	enum gpubpf_reason failed; /* 0: with success */
	struct gate_kind kinds[GATE_KINDS];
};

struct gate {
	enum gpubpf_lifecycle lifecycle;
	enum gpubpf_readiness readiness;
	enum gpubpf_gate_reason reason;
	uint32_t notes;             /* enum gpubpf_gate_note, or'ed */
	bool callback;              /* the driver called us */
	uint64_t allowance, warmup; /* ns */
	uint64_t touched, deadline; /* CLOCK_MONOTONIC ns; 0: not yet */
	struct gate_kind kinds[GATE_KINDS];
};

void gate__init(struct gate *g, uint64_t allowance, uint64_t warmup);

/* All of these: true: something changed. */
bool gate__disable(struct gate *g, uint32_t notes);
bool gate__note(struct gate *g, uint32_t notes);
/* The driver's call: the first touch, from which the one deadline counts. */
bool gate__callback(struct gate *g, uint64_t now);
bool gate__warm(struct gate *g);
/* An initializer begins. False: none may. */
bool gate__initialize(struct gate *g, uint64_t now);
/* It came back. */
bool gate__finish(struct gate *g, uint64_t now, const struct gate_outcome *o);
/* A later session of the same run came up, or did not: what was ready must be so still. */
bool gate__again(struct gate *g, const struct gate_outcome *o);
/* The process ends. */
bool gate__exit(struct gate *g);
/* Whoever waits for the initializer looks at the deadline. */
bool gate__expire(struct gate *g, uint64_t now);
/* The process ends, and waits no longer for an initializer that is at it after the deadline. */
bool gate__wedged(struct gate *g, uint64_t now);

static inline bool gate__live(const struct gate *g)
{
	return g->lifecycle == GPUBPF_LIFECYCLE_INITIALIZING;
}

static inline bool gate__ready(const struct gate *g)
{
	return g->readiness == GPUBPF_READINESS_READY;
}

#endif
