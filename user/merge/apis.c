// SPDX-License-Identifier: GPL-2.0-or-later
/* Entry points and libraries: what two members have alike is in the merged capture once, so that its tables add up. */
#include <errno.h>
#include <string.h>

#include "merge/priv.h"

struct numbered {
	uint64_t key[2];
	uint64_t number; /* 1 + */
};

struct hash {
	uint64_t a, b; /* FNV-1a, of the bytes from both sides of 0x80: two that differ */
};

static void take(struct hash *h, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++) {
		h->a = (h->a ^ p[i]) * UINT64_C(0x100000001b3);
		h->b = (h->b ^ (p[i] + 0x80u)) * UINT64_C(0x100000001b3);
		h->b ^= h->b >> 29;
	}
}

static void take_text(struct hash *h, const char *s)
{
	take(h, s ? "+" : "-", 1);
	if (s)
		take(h, s, strlen(s) + 1);
}

static struct hash begin(void)
{
	return (struct hash){ UINT64_C(0xcbf29ce484222325), UINT64_C(0x9ae16a3b2f90404f) };
}

static int number_of(struct hmap *map, const struct hash *h, uint32_t next, uint32_t *number, bool *fresh)
{
	struct numbered *n;

	if (!map->entry_size)
		hmap__init(map, sizeof(n->key), sizeof(*n));
	n = hmap__put(map, (uint64_t[2]){ h->a, h->b });
	if (!n)
		return -ENOMEM;
	*fresh = !n->number;
	if (*fresh)
		n->number = 1 + (uint64_t)next;
	*number = (uint32_t)(n->number - 1);
	return 0;
}

/* A file of two machines is one library when its bytes are the same, as far as a build id tells. */
int merge_library(struct merge *m, struct merge_member *at, const Gpubpf__Library *l, uint32_t *number,
		  bool *fresh)
{
	struct hash h = begin();
	int rc;

	take(&h, l->build_id.data, l->has_build_id ? l->build_id.len : 0);
	if (!l->has_build_id) {
		take_text(&h, l->path ? l->path : l->opened_as);
		take_text(&h, l->version);
		take(&h, &at->clock, sizeof(at->clock));
		take(&h, &l->dev, sizeof(l->dev));
		take(&h, &l->ino, sizeof(l->ino));
	}
	rc = number_of(&m->library_numbers, &h, m->nlibraries, number, fresh);
	m->nlibraries += !rc && *fresh;
	return rc;
}

static bool library_number(struct merge *m, struct merge_member *at, uint32_t index, uint32_t *number)
{
	bool fresh;

	for (size_t i = 0; i < at->meta->n_library; i++)
		if (at->meta->library[i]->index == index)
			return !merge_library(m, at, at->meta->library[i], number, &fresh);
	return false;
}

/* What stands at the probe and whether it could be attached is the machine's, so the same call may have several numbers. */
int merge_new_api(struct merge *m, struct merge_member *at, const Gpubpf__Api *a, Gpubpf__Api *out,
		  bool *fresh)
{
	uint32_t library = UINT32_MAX, number;
	struct hash h = begin();
	int32_t error = a->has_error ? a->error : 0;
	bool has_library = a->has_library && library_number(m, at, a->library, &library),
	     missing = a->has_missing && a->missing;
	int rc;

	*fresh = false;
	if (a->id >= GPUBPF_API_MAX || at->api[a->id]) /* no number, or one that is there twice */
		return 0;
	take_text(&h, a->symbol);
	take_text(&h, a->kind);
	take_text(&h, a->signature);
	take_text(&h, a->probe);
	take(&h, &a->legacy32, sizeof(a->legacy32));
	take(&h, &library, sizeof(library));
	take(&h, &error, sizeof(error));
	take(&h, &missing, sizeof(missing));
	take(&h, &a->offset, sizeof(a->offset));
	rc = number_of(&m->api_numbers, &h, m->napis, &number, fresh);
	if (rc)
		return rc;
	if (*fresh && m->napis++ >= GPUBPF_API_MAX)
		return -E2BIG;
	at->api[a->id] = (uint16_t)(1 + number);
	*out = *a;
	out->id = number;
	out->has_library = has_library;
	out->library = library;
	return 0;
}

/* One that the metadata does not describe has a number of its own. */
int merge_api(struct merge *m, struct merge_member *at, uint32_t api, uint16_t *number)
{
	if (api >= GPUBPF_API_MAX) {
		*number = (uint16_t)api;
		return 0;
	}
	if (!at->api[api]) {
		if (m->napis >= GPUBPF_API_MAX)
			return -E2BIG;
		at->api[api] = (uint16_t)++m->napis;
	}
	*number = (uint16_t)(at->api[api] - 1);
	return 0;
}
