/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts, tracks and the rows of a track. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/priv.h"
#include "util/fmt.h"

const char *const tl_keys[TL_KEYS] = {
#define K(id, text) [TL_KEY_##id] = text,
#include "timeline/keys.h"
#undef K
};

/* ---- Texts ---- */

struct text_entry {
	uint64_t key[2]; /* hash, length */
	uint32_t number;
	uint32_t zero;
};

uint64_t tl_hash(const void *bytes, size_t n, uint64_t seed)
{
	const uint8_t *b = bytes;
	uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < n; i++)
		h = (h ^ b[i]) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	h *= UINT64_C(0xd6e8feb86659fd93);
	return h ^ h >> 32;
}

static uint32_t new_text(struct tl_texts *t, char *owned)
{
	if (t->n == t->room) {
		size_t room = t->room ? t->room * 2 : 64;
		char **grown = realloc(t->text, room * sizeof(*grown));

		if (!grown)
			return 0;
		t->text = grown;
		t->room = room;
	}
	t->text[t->n++] = owned;
	return (uint32_t)t->n;
}

uint32_t tl_texts__add(struct tl_texts *t, const char *text)
{
	size_t n = 4 * strlen(text) + 1;
	char *safe = malloc(n);
	struct text_entry *e;
	uint32_t number;

	if (!safe)
		return 0;
	fmt_safe(safe, n, text);
	n = strlen(safe);
	if (!t->by_hash.entry_size)
		hmap__init(&t->by_hash, 16, sizeof(struct text_entry));
	e = hmap__put(&t->by_hash, (uint64_t[2]){ tl_hash(safe, n, 0), n });
	if (!e) {
		free(safe);
		return 0;
	}
	if (e->number && strcmp(t->text[e->number - 1], safe) == 0) {
		free(safe);
		return e->number;
	}
	number = new_text(t, safe);
	if (!number)
		free(safe);
	else if (!e->number)
		e->number = number; /* of two texts with one hash the second has as many numbers as uses */
	return number;
}

void tl_texts__clear(struct tl_texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->text[i]);
	free(t->text);
	if (t->by_hash.entry_size)
		hmap__clear(&t->by_hash);
}

/* ---- Tracks ---- */

uint32_t tl_tracks__add(struct tl_tracks *t, enum tl_track_kind kind, uint32_t parent, const char *name)
{
	struct tl_track *k;
	char *safe = NULL;

	if (t->n >= TL_TRACKS_MAX)
		return TL_NO_TRACK;
	if (t->n == t->room) {
		size_t room = t->room ? t->room * 2 : 64;
		struct tl_track *grown = realloc(t->track, room * sizeof(*grown));

		if (!grown)
			return TL_NO_TRACK;
		t->track = grown;
		t->room = room;
	}
	if (name) {
		safe = malloc(4 * strlen(name) + 1);
		if (!safe)
			return TL_NO_TRACK;
		fmt_safe(safe, 4 * strlen(name) + 1, name);
	}
	k = &t->track[t->n];
	*k = (struct tl_track){ .kind = kind, .parent = parent, .rank = (int32_t)t->n, .name = safe };
	return (uint32_t)t->n++;
}

int tl_tracks__check(const struct tl_tracks *t, struct err *err)
{
	for (size_t i = 0; i < t->n; i++) {
		uint32_t parent = t->track[i].parent;

		/* one that comes before its child cannot be its descendant */
		if (parent > i)
			return err_set(err, -EINVAL,
				       "track %zu (%s) has a parent that %s: nothing was written", i,
				       t->track[i].name ? t->track[i].name : "no name",
				       parent > t->n     ? "is missing"
				       : parent == i + 1 ? "is itself"
							 : "comes after it");
	}
	return 0;
}

void tl_tracks__clear(struct tl_tracks *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->track[i].name);
	free(t->track);
}

/* ---- Rows ---- */

static int add_row(struct tl_rows *r, uint32_t track)
{
	if (r->n == r->room) {
		unsigned room = r->room ? r->room * 4 : 1;
		void *grown = realloc(r->row, room * sizeof(*r->row));

		if (!grown)
			return -ENOMEM;
		r->row = grown;
		r->room = room;
	}
	r->row[r->n].busy_until = 0;
	r->row[r->n++].track = track;
	return 0;
}

uint32_t tl_rows__place(struct tl *tl, struct tl_rows *r, uint64_t start, uint64_t end, int *rc)
{
	unsigned i = 0;

	*rc = r->n ? 0 : add_row(r, r->track);
	if (*rc)
		return TL_NO_TRACK;
	while (i < r->n && r->row[i].busy_until > start)
		i++;
	if (i == r->n) {
		const struct tl_track *first = &tl->tracks.track[r->track];
		char name[160];
		uint32_t track;

		if (i == TL_ROWS_MAX)
			return TL_NO_TRACK;
		if (first->name)
			snprintf(name, sizeof(name), "%.100s, overlapping %u", first->name, i + 1);
		else
			snprintf(name, sizeof(name), "thread %u, overlapping %u", first->tid, i + 1);
		track = tl_tracks__add(&tl->tracks, TL_LANE, r->track + 1, name);
		if (track == TL_NO_TRACK || add_row(r, track)) {
			*rc = -ENOMEM;
			return TL_NO_TRACK;
		}
	}
	r->row[i].busy_until = end;
	return r->row[i].track;
}

void tl_rows__restart(struct tl_rows *r)
{
	for (unsigned i = 0; i < r->n; i++)
		r->row[i].busy_until = 0;
}

void tl_rows__clear(struct tl_rows *r)
{
	free(r->row);
	r->row = NULL;
	r->n = r->room = 0;
}
