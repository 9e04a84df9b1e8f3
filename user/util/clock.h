/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_CLOCK_H
#define GPUBPF_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of a clock. */
static inline uint64_t clock_now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
