/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of collectives.h. */
#ifndef GPUBPF_REPORT_COLL_PRIV_H
#define GPUBPF_REPORT_COLL_PRIV_H

#include "report/collectives.h"

struct coll_kernel {
	uint64_t start, end;
	uint32_t name;
	uint32_t kind; /* of the reader's list */
};

struct coll_seq { /* kernels of NCCL in one stream of a rank, by their start; those between pairs left out */
	uint64_t key[3]; /* rank, context, stream */
	struct coll_kernel *v;
	size_t n, room;
	uint64_t hash[2]; /* of the names */
	uint64_t untimed;
	uint32_t rank, number; /* in the order of their first kernel */
	uint32_t nth;          /* of those of its rank that are alike */
};

struct coll_group { /* matched: each of another rank */
	struct coll_seq **seq;
	unsigned n;
	bool doubt;
};

/* By what the ends of collectives of all allow; then what is wrong; then the rest. 0 or -ENOMEM. */
int coll_measure(struct collectives *c, struct coll_group *groups, unsigned ngroups,
		 const struct nccl_kind *const *kinds);

#endif
