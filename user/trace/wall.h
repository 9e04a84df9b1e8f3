/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of a capture on the wall clock, by its clock pairs (R23): inspect_wall() for many times. */
#ifndef GPUBPF_WALL_H
#define GPUBPF_WALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inspect/inspect.h"

struct wall {
	struct wall_pair {
		uint64_t mono, real;
	} * pair;    /* by time */
	size_t n;    /* 0: the capture has no pair, and its times none on the wall clock */
	size_t last; /* that was asked for */
	bool has_error;
	uint64_t error_ns; /* the worst of all pairs */
};

int wall__init(struct wall *w, const Gpubpf__Meta *meta); /* 0 or -ENOMEM */
/* By the pair nearest before, or else the first; false: no pair, or beyond what a clock can show. */
bool wall__at(struct wall *w, uint64_t mono, uint64_t *real);
void wall__clear(struct wall *w);

#endif
