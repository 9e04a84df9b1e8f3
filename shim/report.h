/* SPDX-License-Identifier: BSD-2-Clause */
/* The words of a session: its hello and its statuses. The owner of CUPTI alone. */
#ifndef GPUBPF_SHIM_REPORT_H
#define GPUBPF_SHIM_REPORT_H

#include <stdbool.h>

#include "batch.h"
#include "cupti.h"
#include "emit.h"

#define FACILITIES GPUBPF_FACILITY_END

struct report {
	__u32 session;
	enum gpubpf_arming arming;
	enum gpubpf_time_source time_source; /* 0: CUPTI could not be used */
	__u64 began, armed;                  /* armed 0: not armed */
	struct {
		bool tried;
		cupti_result result;
	} facility[FACILITIES];
	enum gpubpf_reason failed; /* 0: it did not */
	int failed_value;
	__u64 losses[16]; /* enum gpubpf_shim_loss */
	struct batch_spent spent[GPUBPF_CALLBACKS];
	__u64 clock_ns; /* of one look at the clock */
	cupti_result flush_error;
};

/* Of this process, as /proc says it: clock ticks since boot. 0: not readable. */
__u64 report__start_time(void);

void report__hello(const struct report *r, const struct cupti *c, __u32 worker_tid);
/* Results of the enables, then armed or failed. */
void report__state(const struct report *r);
void report__facility(struct report *r, enum gpubpf_facility f, cupti_result result);
/* One pair of clocks, losses, and what became of the items of each probe. */
void report__counts(const struct report *r, const struct cupti *c);
void report__one(const struct report *r, enum gpubpf_status_kind kind, int code, int value, __u64 a);

#endif
