/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intervals and counts along a time line. Everything here takes times that are sorted already and runs once over
 * them; sorting is sort_times(), which costs little where the times came nearly in order.
 */
#ifndef GPUBPF_SWEEP_H
#define GPUBPF_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timed_item {
	uint64_t time;
	uint64_t item; /* the caller's number */
};

/* Rising by time; equal times keep their order. 0 or -ENOMEM. */
int sort_times(struct timed_item *t, size_t n);

/* A number that rises by one at each of `up` and falls by one at each of `down`. */
struct sweep {
	uint64_t first, last; /* the first rise and the last fall; what follows is about the time between */
	uint64_t at_zero;     /* how long the number was 0 … */
	uint64_t above_zero;  /* … at least 1: intervals united … */
	uint64_t above_one;   /* … at least 2: part of above_zero */
	double area;          /* sum of number x time: what the durations add up to */
	uint64_t peak;
};

/*
 * Both sorted, n of each, and the k-th fall not before the k-th rise, as starts and ends of intervals are. What
 * happens at one moment happens together: an interval that ends where another starts does not overlap it.
 * n == 0: all zero.
 */
void sweep_run(const uint64_t *up, const uint64_t *down, size_t n, struct sweep *s);
/* Mean number over [first, last]; false: that is no time at all. */
bool sweep_mean(const struct sweep *s, double *mean);

struct gap {
	uint64_t start, end;
	uint64_t before; /* item that ended last before it */
	uint64_t after;  /* item that starts at its end; the first of them in order of items */
};

/* The longest gaps, longest first, earlier before later of the same length. */
struct gaps {
	struct gap *top;
	size_t n, max;
	uint64_t count; /* of all gaps, also the shorter ones */
	uint64_t total; /* their length */
};

/* `start` sorted by time; end[i] belongs to start[i]. top has room for max. */
void gaps_find(const struct timed_item *start, const uint64_t *end, size_t n, struct gaps *g);

#endif
