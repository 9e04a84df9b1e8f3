/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_CLOCK_H
#define GPUBPF_SHIM_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "events.h"

struct cupti;

static inline uint64_t clock__read(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static inline uint64_t now_ns(void)
{
	return clock__read(CLOCK_MONOTONIC);
}

/* ns that one look at the clock takes; the shortest of a few. */
uint64_t clock__look(void);

/* What CUPTI asks for its times: CLOCK_MONOTONIC. CUPTI's threads and the application's call it. */
uint64_t clock__timestamp(void);

/*
 * CUPTI matches the device's clock with ours: when contexts are made or the callback is registered, when the first buffer
 * after that comes back, and every four seconds. It asks five times within a microsecond then. What passes between two of
 * these bounds the error; what the clocks drift apart until the next time follows from two errors and the time between them.
 */
struct clock_match {
	uint64_t time; /* 0: none was seen */
	uint64_t gap;  /* ns; the narrowest between two questions */
};
/* The last one and the one before. False: CUPTI is asking right now. */
bool clock__matches(struct clock_match *last, struct clock_match *before);

/*
 * Fills a to e of a GPUBPF_STATUS_CLOCK: the clocks of one moment, the narrowest of many brackets between two reads of
 * CLOCK_MONOTONIC. `c`: whose clock is read too (its owner calls); NULL: none.
 */
void clock__pair(const struct cupti *c, struct gpubpf_status *s);

#endif
