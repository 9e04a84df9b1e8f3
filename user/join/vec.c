/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "join/vec.h"

#include <stdlib.h>
#include <string.h>

void vec__init(struct vec *v, size_t size)
{
	memset(v, 0, sizeof(*v));
	v->size = size;
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
		v->chunks[chunk] = calloc((size_t)1 << VEC_SHIFT, v->size);
		if (!v->chunks[chunk])
			return NULL;
	}
	return vec__at(v, v->n++);
}

void vec__clear(struct vec *v)
{
	for (uint64_t i = 0; i << VEC_SHIFT < v->n; i++)
		free(v->chunks[i]);
	free(v->chunks);
	vec__init(v, v->size);
}
