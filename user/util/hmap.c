/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "util/hmap.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 128 /* entries */

struct hmap_slot {
	uint32_t hash;
	uint32_t entry; /* index + 1; 0: free */
};

void hmap__init(struct hmap *m, size_t key_size, size_t entry_size)
{
	memset(m, 0, sizeof(*m));
	m->key_size = key_size;
	m->entry_size = entry_size;
}

static uint32_t hash_of(const struct hmap *m, const void *key)
{
	const char *p = key;
	uint64_t h = UINT64_C(0x9e3779b97f4a7c15), w;

	for (size_t i = 0; i < m->key_size; i += 8) {
		memcpy(&w, p + i, 8);
		h = (h ^ w) * UINT64_C(0xd6e8feb86659fd93);
		h ^= h >> 32;
	}
	h *= UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)(h >> 32);
}

void *hmap__at(const struct hmap *m, size_t index)
{
	return m->chunks[index / CHUNK] + index % CHUNK * m->entry_size;
}

static void *find(const struct hmap *m, const void *key, uint32_t hash)
{
	for (size_t i = hash & (m->nslots - 1); m->slots[i].entry; i = (i + 1) & (m->nslots - 1)) {
		void *e;

		if (m->slots[i].hash != hash)
			continue;
		e = hmap__at(m, m->slots[i].entry - 1);
		if (memcmp(e, key, m->key_size) == 0)
			return e;
	}
	return NULL;
}

void *hmap__get(const struct hmap *m, const void *key)
{
	return m->nslots ? find(m, key, hash_of(m, key)) : NULL;
}

static void place(struct hmap_slot *slots, size_t nslots, struct hmap_slot s)
{
	size_t i = s.hash & (nslots - 1);

	while (slots[i].entry)
		i = (i + 1) & (nslots - 1);
	slots[i] = s;
}

static bool grow_slots(struct hmap *m)
{
	size_t nslots = m->nslots ? m->nslots * 2 : 64;
	struct hmap_slot *slots = calloc(nslots, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < m->nslots; i++)
		if (m->slots[i].entry)
			place(slots, nslots, m->slots[i]);
	free(m->slots);
	m->slots = slots;
	m->nslots = nslots;
	return true;
}

static bool grow_chunks(struct hmap *m)
{
	size_t k = m->n / CHUNK;
	char **chunks;

	/* the array of chunks doubles: it is full whenever k is a power of two */
	if ((k & (k - 1)) == 0) {
		chunks = realloc(m->chunks, (k ? k * 2 : 1) * sizeof(*chunks));
		if (!chunks)
			return false;
		m->chunks = chunks;
	}
	m->chunks[k] = calloc(CHUNK, m->entry_size);
	return m->chunks[k] != NULL;
}

void *hmap__put(struct hmap *m, const void *key)
{
	uint32_t hash = hash_of(m, key);
	void *e = m->nslots ? find(m, key, hash) : NULL;

	if (e)
		return e;
	if (m->n >= UINT32_MAX - 1 || (m->n * 3 >= m->nslots * 2 && !grow_slots(m)))
		return NULL;
	if (m->n % CHUNK == 0 && !grow_chunks(m))
		return NULL;
	e = hmap__at(m, m->n);
	memcpy(e, key, m->key_size);
	m->n++;
	place(m->slots, m->nslots, (struct hmap_slot){ .hash = hash, .entry = (uint32_t)m->n });
	return e;
}

void hmap__clear(struct hmap *m)
{
	for (size_t i = 0; i * CHUNK < m->n; i++)
		free(m->chunks[i]);
	free(m->chunks);
	free(m->slots);
	hmap__init(m, m->key_size, m->entry_size);
}
