/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Collectives across ranks: when each rank began its kernel of one, and for whom the others waited.
 *
 * A rank is a device of a process. Which communicator a kernel belongs to nothing records. What is assumed, and said: streams of
 * two ranks that ran the same names in the same order, all through the capture, are of one communicator, and the n-th kernel
 * of one is the same collective as the n-th of the other. Streams that differ in one kernel are not matched at all.
 *
 * A collective of all cannot end in one rank before it began in every other. That checks both the match and the clocks, and holds
 * the clocks of two machines together where nothing else does: what each end and each beginning allow, together.
 *
 * Memory: 24 bytes per kernel of NCCL.
 */
#ifndef GPUBPF_REPORT_COLLECTIVES_H
#define GPUBPF_REPORT_COLLECTIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "join/join.h"
#include "model/nccl.h"
#include "util/hist.h"

struct proc;

#define COLL_TOP 100 /* of the largest skews */

struct coll_rank {
	const struct proc *proc;
	uint32_t device;
	const Gpubpf__Member *member; /* NULL: not of a merged capture */
	bool has_error;
	uint64_t error_ns; /* of its device times against its machine's clock */
	unsigned clock;    /* ranks of one number have one clock */
	uint64_t kernels, matched, unmatched, pairs,
		untimed;       /* of NCCL; matched + unmatched + pairs = kernels */
	uint64_t collectives;  /* of all, where arrivals could be compared */
	uint64_t last;         /* of these: it was the last, by more than the clocks can be off */
	uint64_t made_wait_ns; /* that the others waited for it then, added */
	uint64_t waited_ns;    /* that it waited for others */
};

/* One name, in one set of ranks. */
struct coll_row {
	const struct nccl_kind *kind;
	uint32_t name; /* join__name() */
	unsigned group, ranks;
	uint64_t n;
	uint64_t
		contradicted; /* one rank ended before another began, beyond that error: the set of ranks is none … */
	bool doubt; /* … and nothing is said of it, nor of other names of its kernels: all below is 0 */
	uint64_t beyond, within,
		unknown;  /* n: the skew is beyond the clocks' error, within it, nobody knows it */
	struct hist skew; /* of the first two */
	uint64_t wait_ns; /* of beyond: that ranks waited for the last one, added; of_all */
	uint64_t tied;    /* of beyond: the last two are as good as equal */
	bool has_error;
	uint64_t error_ns; /* the largest between first and last */
	uint64_t *last;    /* by rank: times that it was the last, not tied … */
	uint64_t *blamed;  /* … and what the others waited for it then; of_all */
};

struct coll_skew { /* one collective */
	uint32_t row;
	uint64_t index; /* of its set of ranks, from 0 */
	uint64_t start; /* of the first rank */
	uint64_t skew_ns;
	bool has_error;
	uint64_t error_ns;
	uint32_t first, last; /* ranks */
	bool named;           /* last is beyond doubt */
};

struct coll_clocks { /* two clocks, by what collectives of all allow: b is ahead of a by low … high */
	unsigned a, b;
	int64_t low, high; /* low > high: no constant difference fits */
	uint64_t n;
};

struct collectives {
	struct coll_rank *rank;
	size_t nranks, nclocks;
	struct coll_row *row;
	size_t nrows, row_room;
	struct coll_skew top[COLL_TOP]; /* the largest first */
	size_t ntop;
	struct coll_clocks *pair; /* of clocks */
	size_t npairs;
	unsigned groups;
	uint64_t kernels, unmatched, pairs, untimed;
};

/* 0 or -ENOMEM; *out NULL: no kernel of NCCL. */
int collectives__read(const struct join *j, const Gpubpf__Meta *meta, struct collectives **out);
void collectives__free(struct collectives *c); /* NULL is fine */
/* How far a difference of two ranks' times can be off; false: nobody knows. */
bool collectives__error(const struct collectives *c, const struct coll_rank *a, const struct coll_rank *b,
			uint64_t *ns);

#endif
