/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about the work that was asked of the GPU. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/report.h"

/* done, captured, failed, in flight */
static void tally_cells(struct rows *rows, const struct tally *t)
{
	row__number(rows, tally__done(t));
	row__number(rows, t->captured);
	row__maybe(rows, !t->unknown || t->ok || t->failed, true, t->failed);
	row__number(rows, t->open);
}

static void time_cells(struct rows *rows, const struct tally *t, uint64_t ns, uint64_t timed)
{
	row__maybe(rows, timed, t->unknown, ns);
	row__maybe(rows, timed, t->unknown, timed ? ns / timed : 0);
}

static int dim_text(struct rows *rows, const uint32_t *d, bool there)
{
	char buf[48];

	snprintf(buf, sizeof(buf), "%ux%ux%u", d[0], d[1], d[2]);
	return row__text(rows, there ? buf : NULL);
}

static int launch_cells(const struct report *r, struct rows *rows, const struct launch_row *l)
{
	uint32_t has = l->key.has;
	const char *mangled = names__text(r->m->names, l->name);
	uint64_t blocks = 0;
	bool grid = launch_row__blocks(l, &blocks);
	char *name;
	int rc;

	tally_cells(rows, &l->calls);
	row__maybe(rows, grid, true, blocks);
	if (dim_text(rows, l->key.grid, has & LAUNCH_HAS_GRID) ||
	    dim_text(rows, l->key.block, has & LAUNCH_HAS_BLOCK) ||
	    (has & LAUNCH_CLUSTER_UNREAD ? (row__maybe(rows, false, true, 0), 0)
					 : dim_text(rows, l->key.cluster, has & LAUNCH_HAS_CLUSTER)))
		return -ENOMEM;
	row__maybe(rows, has & LAUNCH_HAS_SHARED, true, l->key.shared);
	row__maybe(rows, !l->streams_unknown, true, launch_row__streams(l));
	time_cells(rows, &l->calls, l->ns, l->timed);
	row__maybe(rows, l->proc, false, l->proc ? l->proc->tgid : 0);
	row__maybe(rows, l->proc, false, l->handle);
	rc = row__text(rows, mangled);
	if (rc)
		return rc;
	if (!(has & LAUNCH_HAS_FUNC))
		return row__text(rows, "<function not in the record>");
	name = names__display(mangled, l->handle);
	rc = name ? row__text(rows, name) : -ENOMEM;
	free(name);
	return rc;
}

int build_launches(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < r->m->launches.merged.n; i++)
		if (rows__add(rows) || launch_cells(r, rows, hmap__at(&r->m->launches.merged, i)))
			return -ENOMEM;
	return 0;
}

int build_graphs(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < graphs__rows(&r->m->graphs); i++) {
		const struct graph_row *g = graphs__row(&r->m->graphs, i);

		if (!g->proc->selected)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		tally_cells(rows, &g->launches);
		row__maybe(rows, false, true, 0);
		time_cells(rows, &g->launches, g->ns, g->timed);
		row__number(rows, g->proc->tgid);
		if (row__text(rows, g->instantiated ? "in the capture" : "not seen"))
			return -ENOMEM;
		row__number(rows, g->exec);
	}
	return 0;
}

int build_captures(const struct report *r, struct rows *rows)
{
	const struct graph_counts *c = &r->m->graphs.counts;
	uint64_t launches = 0, copies = 0, sets = 0, graphs = 0;

	for (size_t i = 0; i < r->m->launches.merged.n; i++)
		launches += ((const struct launch_row *)hmap__at(&r->m->launches.merged, i))->calls.captured;
	for (size_t i = 0; i < r->m->copies.rows.n; i++)
		copies += ((const struct copy_row *)hmap__at(&r->m->copies.rows, i))->calls.captured;
	for (int i = 0; i < SET_WIDTHS; i++)
		sets += r->m->copies.sets[i].calls.captured;
	for (size_t i = 0; i < graphs__rows(&r->m->graphs); i++)
		graphs += graphs__row(&r->m->graphs, i)->launches.captured;
	if (!c->captures_begun && !c->ends_unseen && !tally__done(&c->instantiate) &&
	    !c->instantiate.failed && !tally__done(&c->update) && !tally__done(&c->exec_destroy))
		return 0;
	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, c->captures_begun);
	row__number(rows, c->captures_ended);
	row__number(rows, c->captures_failed);
	row__number(rows, c->captures_open);
	row__number(rows, c->ends_unseen);
	row__number(rows, launches);
	row__number(rows, copies);
	row__number(rows, sets);
	row__number(rows, graphs);
	row__number(rows, tally__done(&c->instantiate));
	row__number(rows, tally__done(&c->update));
	row__number(rows, tally__done(&c->exec_destroy));
	return 0;
}

static void size_cells(struct rows *rows, const struct hist *h, bool unknown)
{
	uint64_t v = 0;

	hist__quantile(h, 0.5, &v);
	row__maybe(rows, h->n, unknown, h->min);
	row__maybe(rows, h->n, unknown, v);
	row__maybe(rows, h->n, unknown, h->max);
}

static int copy_cells(struct rows *rows, const struct copy_row *c)
{
	static const char *const sources[] = { "call", "allocation", NULL };
	bool unknown = c->elements_unknown > 0, some = c->elements_unknown < c->elements || !c->elements;
	char text[96];

	tally_cells(rows, &c->calls);
	row__number(rows, c->elements);
	row__maybe(rows, some, true, c->bytes);
	row__number(rows, c->elements_unknown);
	row__number(rows, c->captured_bytes);
	size_cells(rows, &c->sizes, unknown);
	time_cells(rows, &c->calls, c->ns, c->timed);
	if (row__text(rows, c->direction))
		return -ENOMEM;
	if (!sources[c->source]) {
		row__maybe(rows, false, true, 0);
		return row__text(rows, c->text ? c->text : c->direction);
	}
	snprintf(text, sizeof(text), "%s%s", copy_row__text(c),
		 c->source == COPY_BY_ALLOCATION ? " (by allocation)" : "");
	return row__text(rows, sources[c->source]) || row__text(rows, text) ? -ENOMEM : 0;
}

int build_copies(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < r->m->copies.rows.n; i++)
		if (rows__add(rows) || copy_cells(rows, hmap__at(&r->m->copies.rows, i)))
			return -ENOMEM;
	return 0;
}

int build_sets(const struct report *r, struct rows *rows)
{
	for (int i = 0; i < SET_WIDTHS; i++) {
		const struct set_row *s = &r->m->copies.sets[i];
		uint64_t done = tally__done(&s->calls);

		if (!done && !s->calls.captured && !s->calls.failed && !s->calls.open)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		tally_cells(rows, &s->calls);
		row__maybe(rows, s->unknown < done || !done, true, s->bytes);
		row__number(rows, s->unknown);
		row__number(rows, s->captured_bytes);
		size_cells(rows, &s->sizes, s->unknown > 0);
		time_cells(rows, &s->calls, s->ns, s->timed);
		row__maybe(rows, set_width_bytes[i], true, set_width_bytes[i]);
	}
	return 0;
}
