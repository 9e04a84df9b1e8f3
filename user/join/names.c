/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of kernels from their parts, and keys that mean the same in every process. */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int names_piece(struct join *j, struct jproc *p, const struct gpubpf_name *n)
{
	uint64_t key[2] = { p->key, n->id };
	struct name_id *id = hmap__put(&j->names, key);
	struct piece *piece = id ? vec__add(&j->pieces) : NULL;

	if (!piece)
		return -ENOMEM;
	piece->part = n->part;
	piece->parts = n->parts;
	piece->len = n->len;
	memcpy(piece->text, n->text, sizeof(piece->text));
	piece->next = id->pieces;
	id->pieces = j->pieces.n;
	return 0;
}

static int piece_order(const void *a, const void *b)
{
	const struct piece *x = *(const struct piece *const *)a, *y = *(const struct piece *const *)b;

	if (x->part != y->part)
		return x->part < y->part ? -1 : 1;
	return x->len != y->len ? (x->len < y->len ? -1 : 1) : memcmp(x->text, y->text, x->len);
}

/* Sorted pieces as one text; NULL in *text: a part is missing, or two say different things. */
static int put_together(const struct piece **v, size_t n, char **text)
{
	unsigned parts = v[0]->parts, next = 0;
	size_t len = 0;
	char *to;

	*text = NULL;
	for (size_t i = 0; i < n; i++) {
		if (i && v[i]->part == v[i - 1]->part) {
			if (piece_order(&v[i], &v[i - 1]))
				return 0;
			continue; /* sent again in a later session */
		}
		if (v[i]->part != next++ || v[i]->parts != parts)
			return 0;
		len += v[i]->len;
	}
	if (next != parts)
		return 0;
	*text = to = malloc(len + 1);
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (i && v[i]->part == v[i - 1]->part)
			continue;
		memcpy(to, v[i]->text, v[i]->len);
		to += v[i]->len;
	}
	*to = '\0';
	return 0;
}

static int assemble(struct join *j, struct name_id *id)
{
	const struct piece **v;
	size_t n = 0;
	int rc;

	for (uint32_t r = id->pieces; r; r = ((struct piece *)vec__at(&j->pieces, r - 1))->next)
		n++;
	v = malloc((n + 1) * sizeof(*v));
	if (!v)
		return -ENOMEM;
	n = 0;
	for (uint32_t r = id->pieces; r; r = v[n - 1]->next)
		v[n++] = vec__at(&j->pieces, r - 1);
	qsort(v, n, sizeof(*v), piece_order);
	rc = put_together(v, n, &id->text);
	free(v);
	return rc;
}

static int text_order(const void *a, const void *b)
{
	const struct name_id *x = *(struct name_id *const *)a, *y = *(struct name_id *const *)b;

	return strcmp(x->text, y->text);
}

int names_finish(struct join *j)
{
	struct name_id **v = calloc(j->names.n + 1, sizeof(*v));
	size_t n = 0;
	int rc = 0;

	j->name_text = calloc(j->names.n + 2, sizeof(*j->name_text));
	if (!v || !j->name_text)
		rc = -ENOMEM;
	for (size_t i = 0; !rc && i < j->names.n; i++) {
		struct name_id *id = hmap__at(&j->names, i);

		rc = assemble(j, id);
		if (id->text)
			v[n++] = id;
		else
			j->totals.names_incomplete++;
	}
	if (!rc && n)
		qsort(v, n, sizeof(*v), text_order);
	for (size_t i = 0; !rc && i < n; i++) {
		if (!i || strcmp(v[i]->text, v[i - 1]->text) != 0)
			j->name_text[++j->nnames] = v[i]->text;
		v[i]->number = j->nnames;
	}
	free(v);
	vec__clear(&j->pieces);
	return rc;
}

/* A name that never came keeps its kernels apart by process and id (R9): then `proc` stays in the key. */
static struct key_entry *canonical(struct join *j, const struct key_entry *from)
{
	struct key_entry want, *e;
	size_t before = j->canonical.n;

	memset(&want, 0, sizeof(want));
	memcpy(&want.u, &from->u, sizeof(want.u));
	if (want.u.raw.proc) {
		uint64_t key[2] = { want.u.raw.proc, want.u.raw.key.name };
		const struct name_id *id = hmap__get(&j->names, key);

		if (id && id->number) {
			want.u.raw.key.name = id->number;
			want.u.raw.proc = 0;
		}
	}
	e = hmap__put(&j->canonical, &want);
	if (e && j->canonical.n != before)
		e->number = (uint32_t)before;
	return e;
}

int keys_finish(struct join *j)
{
	for (size_t i = 0; i < j->keys.n; i++) {
		struct key_entry *e = hmap__at(&j->keys, i), *to = canonical(j, e);

		if (!to)
			return -ENOMEM;
		e->canonical = to->number;
	}
	for (size_t i = 0; i < j->canonical.n;
	     i++) { /* the id of a name that never came is nobody's number */
		struct key_entry *e = hmap__at(&j->canonical, i);

		if (e->u.raw.proc) {
			e->u.raw.key.name_id = e->u.raw.key.name;
			e->u.raw.key.name = 0;
		}
	}
	for (uint32_t i = 0; i < j->acts.n; i++) {
		struct act *a = act_at(j, i);

		a->key = ((struct key_entry *)hmap__at(&j->keys, a->key))->canonical;
	}
	return 0;
}
