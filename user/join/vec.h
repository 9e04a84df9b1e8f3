/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An array that grows by chunks: elements stay where they are, and growing never needs the old and the new size at once. */
#ifndef GPUBPF_JOIN_VEC_H
#define GPUBPF_JOIN_VEC_H

#include <stddef.h>
#include <stdint.h>

#define VEC_SHIFT 18 /* elements per chunk: 262,144, whole large pages for the sizes that we have */

struct vec {
	size_t size; /* of an element */
	char **chunks;
	uint32_t n; /* numbers fit into 32 bits, and UINT32_MAX is never one */
};

void vec__init(struct vec *v, size_t size);
void *vec__add(struct vec *v); /* zeroed; NULL: no memory, or no number left */
void vec__clear(struct vec *v);

/* Zeroed memory for a table that is looked into all over; munmap() gives it back. NULL: no memory. */
void *large_pages(size_t bytes);

static inline void *vec__at(const struct vec *v, uint32_t i)
{
	return v->chunks[i >> VEC_SHIFT] + (i & ((1u << VEC_SHIFT) - 1)) * v->size;
}

#endif
