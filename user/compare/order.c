// SPDX-License-Identifier: GPL-2.0-or-later
/* What ran in which order, by stream: where two captures part, and what they have in common. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare/lcs.h"
#include "compare/priv.h"
#include "model/names.h"

#define HUNKS 1000 /* kept per stream; all are counted */

struct lane_entry {      /* a stream of a capture while it is read */
	uint64_t number; /* the join's */
	uint32_t at;     /* 1 + index in digest.lane */
	uint32_t zero;
};

static uint32_t process_number(struct order *o, const struct proc *proc)
{
	struct {
		uint64_t proc, number;
	} * p, key = { (uintptr_t)proc, 0 };
	size_t before = o->procs.n;

	p = hmap__put(&o->procs, &key);
	if (p && o->procs.n != before)
		p->number = o->procs.n;
	return p ? (uint32_t)p->number : 0;
}

static struct order_lane *lane_for(struct order *o, const struct join_lane *lane, uint32_t number)
{
	uint64_t key = number;
	struct lane_entry *e = hmap__put(&o->by_number, &key);
	struct order_lane *grown;

	if (!e)
		return NULL;
	if (e->at)
		return &o->lane[e->at - 1];
	grown = realloc(o->lane, (o->n + 1) * sizeof(*grown));
	if (!grown)
		return NULL;
	o->lane = grown;
	o->lane[o->n] = (struct order_lane){ .process = process_number(o, lane->session->proc),
					     .device = lane->device,
					     .context = lane->context,
					     .stream = lane->stream };
	e->at = (uint32_t)++o->n;
	return o->lane[o->n - 1].process ? &o->lane[o->n - 1] : NULL;
}

void order__begin(struct order *o)
{
	hmap__init(&o->by_number, sizeof(uint64_t), sizeof(struct lane_entry));
	hmap__init(&o->procs, sizeof(uint64_t), 2 * sizeof(uint64_t));
}

int order__add(struct order *o, const struct join_lane *lane, uint32_t number, uint32_t what)
{
	struct order_lane *l = lane_for(o, lane, number);

	if (!l)
		return -ENOMEM;
	if (l->n == l->room) {
		size_t room = l->room ? l->room + l->room / 2 : 256;
		uint32_t *v = realloc(l->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		l->v = v;
		l->room = room;
	}
	l->v[l->n++] = what;
	return 0;
}

/* Numbers of entries become those of items, which all captures share. */
void order__finish(struct order *o, const uint32_t *item_of)
{
	for (size_t i = 0; i < o->n; i++)
		for (size_t k = 0; k < o->lane[i].n; k++)
			o->lane[i].v[k] = item_of[o->lane[i].v[k]];
	hmap__clear(&o->by_number);
	hmap__clear(&o->procs);
}

void order__clear(struct order *o)
{
	for (size_t i = 0; i < o->n; i++)
		free(o->lane[i].v);
	free(o->lane);
	hmap__clear(&o->by_number);
	hmap__clear(&o->procs);
}

/* ---- Compared ---- */

static const struct order_lane *lane_like(const struct order *o, const struct order_lane *l)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->lane[i].process == l->process && o->lane[i].device == l->device &&
		    o->lane[i].context == l->context && o->lane[i].stream == l->stream)
			return &o->lane[i];
	return NULL;
}

static int add_hunk(struct order_result *r, size_t at_a, size_t at_b, size_t only_a, size_t only_b)
{
	struct order_hunk *grown;

	if (r->hunks++ >= HUNKS)
		return 0;
	grown = realloc(r->hunk, r->hunks * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	r->hunk = grown;
	r->hunk[r->hunks - 1] = (struct order_hunk){ at_a, at_b, only_a, only_b };
	return 0;
}

static int walk(struct order_result *r, const uint8_t *in_a, const uint8_t *in_b)
{
	size_t n = r->a->n, m = r->b->n, i = 0, k = 0;
	int rc = 0;

	while (!rc && (i < n || k < m)) {
		size_t at_a = i, at_b = k;

		while (i < n && in_a[i])
			i++;
		while (k < m && in_b[k])
			k++;
		if (i != at_a || k != at_b) {
			rc = add_hunk(r, at_a, at_b, i - at_a, k - at_b);
			r->only_a += i - at_a;
			r->only_b += k - at_b;
		}
		while (i < n && k < m && !in_a[i] && !in_b[k])
			i++, k++;
	}
	r->common = n - r->only_a;
	return rc;
}

static int whole(struct order_result *r)
{
	uint8_t *in_a = calloc(1, r->a->n + 1), *in_b = calloc(1, r->b->n + 1);
	int rc = in_a && in_b ? lcs_mark(r->a->v, r->a->n, r->b->v, r->b->n, LCS_DIFFERENCES, in_a, in_b)
			      : -ENOMEM;

	if (!rc) {
		r->whole = true;
		rc = walk(r, in_a, in_b);
	} else if (rc == -E2BIG) {
		r->gave_up = true;
		rc = 0;
	}
	free(in_a);
	free(in_b);
	return rc;
}

static int compare_lane(const struct compare *c, struct order_result *r)
{
	size_t n = r->a && r->b ? (r->a->n < r->b->n ? r->a->n : r->b->n) : 0;

	while (r->same < n && r->a->v[r->same] == r->b->v[r->same])
		r->same++;
	return r->a && r->b && c->o.order == COMPARE_ORDER_LCS ? whole(r) : 0;
}

int compare_order(struct compare *c)
{
	const struct order *a = &c->d[0].order, *b = &c->d[1].order;
	int rc = 0;

	c->lane = calloc(a->n + b->n + 1, sizeof(*c->lane));
	if (!c->lane)
		return -ENOMEM;
	for (size_t i = 0; i < a->n; i++)
		c->lane[c->nlanes++] = (struct order_result){ .a = &a->lane[i],
							      .b = lane_like(b, &a->lane[i]) };
	for (size_t i = 0; i < b->n; i++)
		if (!lane_like(a, &b->lane[i]))
			c->lane[c->nlanes++] = (struct order_result){ .b = &b->lane[i] };
	for (size_t i = 0; !rc && i < c->nlanes; i++)
		rc = compare_lane(c, &c->lane[i]);
	return rc;
}

/* ---- Rows ---- */

static int item_cell(const struct compare *c, struct rows *rows, const struct order_lane *l, size_t at)
{
	const struct item *it;
	const char *text;
	char *name = NULL, *all = NULL;
	int rc;

	if (!l || at >= l->n)
		return row__text(rows, l ? "<end>" : NULL);
	it = hmap__at(&c->items, l->v[at]);
	text = compare_text_of(c, it->key.name);
	if (it->key.kind == ITEM_KERNEL && !it->key.grid[0])
		return row__text(rows, text);
	if (it->key.kind != ITEM_KERNEL)
		return row__text(rows,
				 it->key.kind == ITEM_SET ? "set" : join_copy_text(it->key.copy & 0xff));
	name = *text == '<' ? strdup(text) : names__display(text, 0);
	if (!name || asprintf(&all, "%s %ux%ux%u %ux%ux%u", name, it->key.grid[0], it->key.grid[1],
			      it->key.grid[2], it->key.block[0], it->key.block[1], it->key.block[2]) < 0) {
		free(name);
		return -ENOMEM;
	}
	rc = row__text(rows, all);
	free(name);
	free(all);
	return rc;
}

/* One of the two is there. */
static int lane_cells(struct rows *rows, const struct order_result *r)
{
	const struct order_lane *l = r->a ? r->a : r->b;

	if (!l)
		return -EINVAL;
	row__number(rows, l->process);
	row__number(rows, l->device);
	row__number(rows, l->context);
	row__number(rows, l->stream);
	return 0;
}

int build_order(const struct compare *c, struct rows *rows)
{
	for (size_t i = 0; i < c->nlanes; i++) {
		const struct order_result *r = &c->lane[i];
		bool both = r->a && r->b, equal = both && r->same == r->a->n && r->same == r->b->n;

		if (rows__add(rows) || row__text(rows, !r->a   ? "appeared"
						       : !r->b ? "vanished"
						       : equal ? "equal"
							       : "differ"))
			return -ENOMEM;
		row__maybe(rows, r->a, false, r->a ? r->a->n : 0);
		row__maybe(rows, r->b, false, r->b ? r->b->n : 0);
		row__maybe(rows, both, false, r->same);
		row__maybe(rows, r->whole, r->gave_up, r->common);
		row__maybe(rows, r->whole, r->gave_up, r->only_a);
		row__maybe(rows, r->whole, r->gave_up, r->only_b);
		row__maybe(rows, r->whole, r->gave_up, r->hunks);
		if (lane_cells(rows, r) ||
		    (equal || !both ? row__text(rows, NULL) || row__text(rows, NULL)
				    : item_cell(c, rows, r->a, r->same) || item_cell(c, rows, r->b, r->same)))
			return -ENOMEM;
	}
	return 0;
}

int build_hunks(const struct compare *c, struct rows *rows)
{
	for (size_t i = 0; i < c->nlanes; i++) {
		const struct order_result *r = &c->lane[i];

		for (size_t k = 0; k < r->hunks && k < HUNKS; k++) {
			const struct order_hunk *h = &r->hunk[k];

			if (rows__add(rows))
				return -ENOMEM;
			row__number(rows, h->at_a);
			row__number(rows, h->at_b);
			row__number(rows, h->only_a);
			row__number(rows, h->only_b);
			if (lane_cells(rows, r) ||
			    (h->only_a ? item_cell(c, rows, r->a, h->at_a) : row__text(rows, NULL)) ||
			    (h->only_b ? item_cell(c, rows, r->b, h->at_b) : row__text(rows, NULL)))
				return -ENOMEM;
		}
	}
	return 0;
}
