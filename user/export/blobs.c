/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/blobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (64u << 10)
#define ALIGN 8u

static uint32_t hash_of(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(h ^ h >> 32);
}

static int more_slots(struct blobs *b)
{
	size_t nslots = b->nslots ? b->nslots * 2 : 256;
	uint32_t *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < b->n; i++) {
		size_t at = b->blob[i].hash & (nslots - 1);

		while (slots[at])
			at = (at + 1) & (nslots - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(b->slots);
	b->slots = slots;
	b->nslots = nslots;
	return 0;
}

static int more_blobs(struct blobs *b)
{
	size_t room = b->room ? b->room * 2 : 128;
	struct blob *blob = realloc(b->blob, room * sizeof(*blob));

	if (!blob)
		return -ENOMEM;
	b->blob = blob;
	b->room = room;
	return 0;
}

static char *keep(struct blobs *b, const void *bytes, size_t n)
{
	size_t need = (n + 1 + ALIGN - 1) / ALIGN * ALIGN;
	char *to;

	if (b->size - b->used < need) {
		size_t size = need + ALIGN > CHUNK ? need + ALIGN : CHUNK;
		char *chunk = malloc(size);

		if (!chunk)
			return NULL;
		memcpy(chunk, &b->chunk, sizeof(b->chunk));
		b->chunk = chunk;
		b->size = size;
		b->used = ALIGN;
	}
	to = b->chunk + b->used;
	if (n)
		memcpy(to, bytes, n);
	to[n] = 0;
	b->used += need;
	return to;
}

int blobs__put(struct blobs *b, const void *bytes, size_t n, uint32_t *number)
{
	uint32_t hash = hash_of(bytes, n);
	size_t at;
	char *kept;

	if (n >= INT32_MAX || b->n >= INT32_MAX || (b->n * 2 >= b->nslots && more_slots(b)))
		return -ENOMEM;
	for (at = hash & (b->nslots - 1); b->slots[at]; at = (at + 1) & (b->nslots - 1)) {
		const struct blob *there = &b->blob[b->slots[at] - 1];

		if (there->hash == hash && there->n == n && (!n || !memcmp(there->bytes, bytes, n))) {
			*number = b->slots[at] - 1;
			return 0;
		}
	}
	if (b->n == b->room && more_blobs(b))
		return -ENOMEM;
	kept = keep(b, bytes, n);
	if (!kept)
		return -ENOMEM;
	b->blob[b->n] = (struct blob){ .bytes = kept, .n = (uint32_t)n, .hash = hash };
	*number = (uint32_t)b->n++;
	b->slots[at] = (uint32_t)b->n;
	return 0;
}

int blobs__text(struct blobs *b, const char *text, uint32_t *number)
{
	return blobs__put(b, text, strlen(text), number);
}

void blobs__clear(struct blobs *b)
{
	while (b->chunk) {
		char *before;

		memcpy(&before, b->chunk, sizeof(before));
		free(b->chunk);
		b->chunk = before;
	}
	free(b->blob);
	free(b->slots);
	memset(b, 0, sizeof(*b));
}
