/* SPDX-License-Identifier: BSD-2-Clause */
/* Counters of unified memory. The owner of CUPTI alone. */
#ifndef GPUBPF_SHIM_UNIFIED_H
#define GPUBPF_SHIM_UNIFIED_H

#include "cupti.h"
#include "report.h"

struct unified {
	bool wanted, pending; /* pending: in this session, once the driver is initialized */
	uint32_t
		counters; /* that CUPTI agreed to, a bit each, by ABI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_* */
	bool enabled;
};

/* Asks for each counter, says what CUPTI answered, and enables the records if it agreed to any. Not inside cuInit(). */
void unified__enable(struct unified *u, const struct cupti *c, struct report *r);
/* Was there no time to ask, it says NOT_READY: a session that is shorter than cuInit() and a tick. */
void unified__disable(struct unified *u, const struct cupti *c, struct report *r);

#endif
