/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory by kind: what was allocated, what of it was freed, by which process and whichever thread. Allocated
 * is not resident (R13). A free is matched to its allocation by process and address, whatever the kind of the
 * free; the same address given out twice is told apart by time.
 */
#ifndef GPUBPF_ALLOCS_H
#define GPUBPF_ALLOCS_H

#include "model/view.h"

struct memory;

struct mem_sum {
	uint64_t n, bytes;
};

/*
 * Populations: `allocated` are calls that succeeded outside stream capture (entry only: all calls), and
 *   allocated = freed + exited + lost_track + live + no_address
 */
struct mem_row {
	struct tally calls;
	struct mem_sum allocated;
	struct mem_sum freed;
	struct mem_sum exited; /* live when their process ended */
	struct mem_sum
		lost_track;  /* the address was given out again: freed by a call that was not recorded */
	struct mem_sum live; /* at the end of the capture */
	struct mem_sum no_address; /* where the memory is was not recorded: its free cannot be matched */
	uint64_t peak_bytes;       /* highest `live` in record order, all processes together */
	uint64_t bytes_unknown;    /* of allocated: calls whose size is not in the record */
};

struct free_row {
	struct tally calls;
	uint64_t matched;
	uint64_t unknown;   /* succeeded; no live allocation of this capture has the address */
	uint64_t null;      /* of address 0: nothing to free */
	uint64_t unmatched; /* result or address not recorded */
};

struct allocs {
	struct mem_row row[MEM_KINDS];
	struct free_row frees[MEM_KINDS]; /* by the kind of the free call */
	struct mem_sum total_live;
	uint64_t total_peak;
	uint64_t seed;
	struct memory *memory; /* the caller's; NULL: nobody asks for more */
};

void allocs__init(struct allocs *a);
/* A call of class alloc or free. 0 or -ENOMEM. Calls of processes that are not selected count nowhere. */
int allocs__call(struct allocs *a, const struct view *v);
/* What the call's record says of its memory; false: it does not. The address of a call that gives it out: once it returned. */
bool alloc_bytes(const struct view *v, uint64_t *bytes);
bool alloc_address(const struct view *v, uint64_t *base);
/* The process's memory is gone with it. 0 or -ENOMEM. */
int allocs__process_over(struct allocs *a, struct proc *p);
/* The capture is over: tells `memory` what is live and forgets where it is; the rows stay. 0 or -ENOMEM. */
int allocs__finish(struct allocs *a, struct proc *p);
/* Frees what the tree of a process holds, counting nothing. */
void allocs__drop(struct proc *p);
/* Kind of the live allocation that holds this address; false: none seen. */
bool allocs__find(const struct proc *p, uint64_t address, enum mem_kind *kind);

#endif
