/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One live allocation: what allocs.c and memory.c share. */
#ifndef GPUBPF_ALLOCS_PRIV_H
#define GPUBPF_ALLOCS_PRIV_H

#include <stdint.h>

struct alloc { /* a node of a treap by base */
	uint64_t base, bytes;
	uint64_t since; /* its call returned: before that nobody can free it */
	uint64_t entry;
	struct alloc *left, *right;
	struct alloc *older; /* among the superseded: had the same address before this one */
	uint32_t priority;
	uint32_t tid;
	uint32_t pool; /* memory.c: index + 1 */
	uint8_t kind;
	uint8_t sized;
};

#endif
