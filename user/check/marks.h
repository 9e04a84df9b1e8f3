/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments of one kind and name, and counts of kernels. A name is that of a kernel as outputs show it or as in the module;
 * where none is called exactly so, it is a shell pattern, and all that fit count together.
 */
#ifndef GPUBPF_CHECK_MARKS_H
#define GPUBPF_CHECK_MARKS_H

#include "check/priv.h"

struct check_mark {
	uint64_t proc[2]; /* as struct proc.key: that of another pass over the capture is the same */
	uint64_t t;       /* CLOCK_MONOTONIC */
};

struct check_marks { /* by process, then time */
	struct check_mark *m;
	size_t n, room;
	uint64_t names;      /* distinct ones that fit */
	uint64_t unusable;   /* of that name, without a time that can be used (R35) */
	uint64_t unresolved; /* of no known name: may be some of these */
	uint64_t not_run;    /* launches that failed or were captured into a graph: no marks */
};

/* name NULL: every kernel. 0 or a negative errno (a message where it is not -ENOMEM). */
int check_marks__read(struct check_cx *x, enum check_population p, const char *name, struct check_marks *m);
void check_marks__clear(struct check_marks *m);
/* How many, whatever their times. */
uint64_t check_marks__all(const struct check_marks *m);
/* The marks of one process: from *at, which is moved behind them. */
bool check_mark__same(const struct check_mark *a, const struct check_mark *b); /* process */
const struct check_mark *check_marks__next(const struct check_marks *m, size_t *at, size_t *n);

#endif
