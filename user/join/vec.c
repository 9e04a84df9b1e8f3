/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "join/vec.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void vec__init(struct vec *v, size_t size)
{
	memset(v, 0, sizeof(*v));
	v->size = size;
}

void *large_pages(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

/* Straight from the kernel: untouched pages cost nothing, and large ones cost few faults. */
static char *new_chunk(const struct vec *v)
{
	size_t bytes = v->size << VEC_SHIFT;
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (v->n) /* most captures are small */
		madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

void *vec__add(struct vec *v)
{
	uint32_t chunk = v->n >> VEC_SHIFT;

	if (v->n >= UINT32_MAX - 2)
		return NULL;
	if (!(v->n & ((1u << VEC_SHIFT) - 1))) {
		/* the array of chunks doubles: it is full whenever its length is a power of two */
		if (!(chunk & (chunk - 1))) {
			char **chunks = realloc(v->chunks, (chunk ? chunk * 2 : 1) * sizeof(*chunks));

			if (!chunks)
				return NULL;
			v->chunks = chunks;
		}
		v->chunks[chunk] = new_chunk(v);
		if (!v->chunks[chunk])
			return NULL;
	}
	return vec__at(v, v->n++);
}

void vec__clear(struct vec *v)
{
	for (uint64_t i = 0; i << VEC_SHIFT < v->n; i++)
		munmap(v->chunks[i], v->size << VEC_SHIFT);
	free(v->chunks);
	vec__init(v, v->size);
}
