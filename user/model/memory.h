/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the memory report knows beyond allocs.h, for who asks for it (model_opts.memory): live memory over time, what was
 * never freed, who freed it, pools, placement. Memory grows with processes, kinds, pools and live allocations.
 */
#ifndef GPUBPF_MEMORY_H
#define GPUBPF_MEMORY_H

#include "model/view.h"
#include "util/hist.h"

#define MEMORY_POINTS 64
#define MEMORY_STRETCHES 4096 /* of a pool's addresses, told apart */
#define MEMORY_PADDING 512    /* a gap of less between two of them is alignment, and none */

struct memory_point { /* a stretch of time with a change; what held at its end holds until the next one */
	uint64_t changes;
	uint64_t n, bytes;        /* live at its end */
	uint64_t kind[MEM_KINDS]; /* bytes */
	uint64_t peak;            /* bytes of all kinds: the highest in it */
};

struct memory_peak {
	uint64_t bytes, n; /* n: live allocations at that moment */
	uint64_t at;       /* CLOCK_MONOTONIC */
};

struct memory_left {     /* never freed: live when its process ended, or when the capture did */
	uint64_t key[3]; /* process, kind, bytes; with stacks: process, thread, entry of the call */
	const struct proc *proc;
	enum mem_kind kind;
	bool sized;
	uint32_t tid;   /* of one of them */
	uint64_t entry; /* likewise */
	uint64_t bytes; /* of each */
	uint64_t n;
	uint64_t oldest; /* returned to the application */
};

struct memory_match {    /* frees that were matched to their allocations */
	uint64_t key[2]; /* kind of the allocation, kind of the free; by another thread */
	uint64_t n, bytes, unsized;
	struct hist life; /* from the return of the one to the entry of the other */
};

struct memory_stretch {
	uint64_t from, to;
};

struct memory_pool {
	uint64_t
		key[3]; /* process, handle, 1: a pool by handle; 0: the current pool of the stream's device */
	const struct proc *proc;
	uint32_t number;
	bool created, destroyed; /* in the capture */
	uint64_t trims;
	uint64_t n, bytes; /* allocated */
	uint64_t freed, freed_bytes;
	uint64_t other_thread, other_call; /* of freed: by another thread; by a call that waits (cuMemFree) */
	uint64_t live, live_bytes;
	struct memory_peak peak;
	/* What the driver told the application (cuMemPoolGetAttribute): the last word, and the most of all. */
	bool has_reserved, has_used;
	uint64_t reserved, reserved_most, used, used_most;
	/* Of the addresses that were handed out: */
	struct memory_stretch *stretches; /* in order, with gaps between them */
	uint32_t nstretches;
	bool scattered; /* more stretches than are kept: nothing is known */
	/* Between live allocations when the process or the capture ended; measured: there were any. */
	bool measured;
	uint64_t end_live, end_bytes, holes, hole_bytes, largest_hole, last_end;
};

enum memory_op {
	MEMORY_PREFETCH,
	MEMORY_ADVISE,
	MEMORY_ATTACH,
	MEMORY_RESERVE,
	MEMORY_UNRESERVE,
	MEMORY_MAP,
	MEMORY_UNMAP,
	MEMORY_ACCESS,
	MEMORY_OPS
};
extern const char *const memory_op_names[MEMORY_OPS];

enum memory_where {
	MEMORY_NOWHERE,
	MEMORY_DEVICE,
	MEMORY_HOST,
	MEMORY_HOST_NODE,
	MEMORY_HOST_NODE_CURRENT,
	MEMORY_WHERE_UNREAD,
	MEMORY_WHERE_OTHER
};

struct memory_place {
	uint64_t key[3]; /* process; operation, advice or flags; where, number of it */
	const struct proc *proc;
	struct tally calls;
	uint64_t bytes, unsized; /* of calls that succeeded */
	uint64_t managed;        /* of them: inside a managed allocation of this capture */
	uint64_t elsewhere;      /* inside one of another kind; the rest: inside none that was seen */
};

struct memory {
	bool each_left;  /* keep what was never freed call by call, for stacks */
	uint64_t first;  /* time of the first point; 0: no change yet */
	unsigned shift;  /* a point stands for 2^shift ns */
	unsigned points; /* behind the last one with a change */
	struct memory_point point[MEMORY_POINTS];
	struct memory_peak peak[MEM_KINDS], total;
	struct hmap left, matches, pools, places;
};

struct alloc;
struct allocs;

int memory__new(bool each_left, struct memory **out); /* 0 or -ENOMEM */
void memory__free(struct memory *m);                  /* NULL is fine */

/* From allocs.c, which keeps what is live: the row of the kind and the totals have changed already. 0 or -ENOMEM. */
int memory__allocated(struct memory *m, const struct allocs *a, struct alloc *n, const struct view *v);
/* It is live no more at t: freed, or lost track of. */
void memory__gone(struct memory *m, const struct allocs *a, const struct alloc *n, uint64_t t);
int memory__freed(struct memory *m, const struct alloc *n, const struct view *v);
/* Live at an end, in the order of addresses. `t`: when the process ended; 0: the capture's end. */
int memory__left(struct memory *m, const struct allocs *a, const struct proc *p, const struct alloc *n,
		 uint64_t t);

/* A call of class pool, place or virtual. 0 or -ENOMEM. */
int memory__call(struct memory *m, const struct view *v);

#endif
