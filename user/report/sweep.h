/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals and counts along a time line, one step per beginning or end. */
#ifndef GPUBPF_SWEEP_H
#define GPUBPF_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Rising. 0 or -ENOMEM. Costs one look where the times are in order already. */
int sort_times(uint64_t *t, size_t n);

/* A number that rises and falls by one. All-zero bytes: nothing happened yet. */
struct sweep {
	bool begun;
	uint64_t first, last; /* first rise and last step; what follows is about the time between */
	uint64_t depth;       /* now */
	uint64_t peak;        /* that lasted for some time */
	uint64_t at_zero;     /* how long the number was 0 … */
	uint64_t above_zero;  /* … at least 1: intervals united … */
	uint64_t above_one;   /* … at least 2: part of above_zero */
	double area;          /* sum of number x time: what the durations add up to */
};

/*
 * A step at `t`, not before the step before. What happens at one moment happens together: an interval that ends
 * where another starts does not overlap it, and the order of the two does not matter.
 */
void sweep__rise(struct sweep *s, uint64_t t);
void sweep__fall(struct sweep *s, uint64_t t);
/* Rises at `up` and falls at `down`, both sorted, the k-th fall not before the k-th rise. */
void sweep__run(struct sweep *s, const uint64_t *up, const uint64_t *down, size_t n);
/* Mean number over [first, last]; false: that is no time at all. */
bool sweep__mean(const struct sweep *s, double *mean);

/* A time in which nothing ran, between two things that did. */
struct gap {
	uint64_t start, end;
	uint64_t before; /* what ended last before it */
	uint64_t after;  /* what started at its end */
};

/* Intervals that come in the order of their starts. All-zero bytes and `max`: none yet. */
struct busy {
	struct sweep ran; /* right after busy__finish() */
	uint64_t *ends;   /* of what runs: a heap, the earliest first */
	size_t running, room;
	uint64_t last_item;
	uint64_t last_end;
	struct gap *top; /* the longest gaps, longest first, earlier first of the same length */
	size_t ntop, max;
	uint64_t gaps;     /* of all, also the shorter ones */
	uint64_t gap_time; /* their length */
	/* NULL, or sees every gap once its end is known; not 0: busy__add() returns it */
	int (*on_gap)(const struct gap *gap, void *arg);
	void *arg;
};

int busy__add(struct busy *b, uint64_t start, uint64_t end, uint64_t item); /* 0 or -ENOMEM */
void busy__finish(struct busy *b);
void busy__clear(struct busy *b);

#endif
