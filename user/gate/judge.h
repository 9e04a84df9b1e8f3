/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether capture was ready in a process before it used CUDA: what its shim says of itself, held against what the host
 * observer saw. Where they differ the worse of both counts, and the difference is a finding that is shown.
 */
#ifndef GPUBPF_GATE_JUDGE_H
#define GPUBPF_GATE_JUDGE_H

#include "gate/status.h"

/* What the host observer knows of one program of a process. Times are CLOCK_MONOTONIC ns; 0: not seen. */
struct gate_host {
	uint64_t init_entry, init_return; /* of the first cuInit() */
	int32_t init_result;
	uint64_t context, module,
		work;    /* entry of the first call that makes a context, loads a module, asks for work */
	uint64_t armed;  /* the last facility was on, by the shim's probe */
	bool heard;      /* any word of the shim, over its probes */
	bool from_start; /* its calls were probed before its first one */
	bool entry_only; /* returns are not seen at all */
	bool lost;       /* records of calls are missing: a first one may be among them */
};

enum gate_order {
	GATE_ORDER_NOT_SHOWN = 0,
	GATE_ORDER_PROVEN, /* armed before the first context, module load and work: by the kernel's records */
	GATE_ORDER_CONTRADICTED /* one of them came first */
};
const char *gate_order_word(enum gate_order o);

struct gate_case {
	bool gated;                     /* launched by us with the shim: it should have spoken */
	const struct gate_status *shim; /* the last one accepted; NULL: none */
	struct gate_host host;
	bool differ; /* file and probe said different things under one sequence number */
	bool ended;  /* the process, with this wait status */
	int wait_status;
	bool watchdog;           /* ended by the recorder: its initialization outlived the deadline */
	bool replaced;           /* by exec, before the recording ended */
	enum gate_refusal final; /* of the last file, read once the process had ended or the recording did */
	const char *final_text;
	bool has_final;
};

#define GATE_FINDINGS_MAX 8

struct gate_verdict {
	bool stated; /* false: nothing is known of readiness (an older shim, none, no CUDA); what follows means nothing */
	enum gpubpf_readiness readiness;
	enum gpubpf_gate_reason reason;
	unsigned notes;
	enum gate_order order;
	bool wedge; /* exit status 86, and the record agrees */
	struct gate_finding {
		const char *code;
		char text[240];
	} findings[GATE_FINDINGS_MAX];
	unsigned nfindings;
};

void gate_judge(const struct gate_case *c, struct gate_verdict *v);

/*
 * Whether the process is to be ended: its initializer is still at it after the deadline, or its first cuInit() does not
 * come back although the initializer has (`init_open`: entered, and not returned by now).
 */
bool gate_overdue(const struct gate_status *s, bool init_open, uint64_t now);

#endif
