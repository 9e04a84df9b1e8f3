/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about devices and streams: how busy they were, what waited for them, where nothing ran. */
#include <errno.h>
#include <stdlib.h>

#include "model/procs.h"
#include "report/report.h"

/* What some threads asked for is not what a device did. */
static bool whole(const struct report *r)
{
	return !r->o.model.filter.ntids;
}

/* Of a place where nothing has accepted times nobody knows how busy it was. */
static void busy_cells(struct rows *rows, const struct sweep *s)
{
	uint64_t window = s->last - s->first;

	row__maybe(rows, s->begun, true, window);
	row__maybe(rows, s->begun, true, s->above_zero);
	row__real(rows, s->begun && window, s->begun == false,
		  window ? (double)s->above_zero / (double)window : 0);
	row__maybe(rows, s->begun, true, s->at_zero);
	row__maybe(rows, s->begun, true, s->above_one);
	row__maybe(rows, s->begun, true, (uint64_t)s->area);
	row__maybe(rows, s->begun, true, s->peak);
	row__maybe(rows, s->begun, true, s->first);
	row__maybe(rows, s->begun, true, s->last);
}

static void work_cells(struct rows *rows, const struct place *p)
{
	for (int k = 0; k < RAN_KINDS; k++)
		row__number(rows, p->n[k]);
	row__number(rows, p->unplaced);
}

static void wait_cells(struct rows *rows, const struct waits *w)
{
	double mean = 0;
	bool has_mean = sweep__mean(&w->depth, &mean);

	row__number(rows, w->delay.n);
	row__quantiles(rows, &w->delay, true);
	row__maybe(rows, w->delay.n, true, w->delay.max);
	row__number(rows, w->early);
	row__maybe(rows, w->depth.begun, true, w->depth.peak);
	row__real(rows, has_mean, !w->depth.begun, mean);
}

int build_devices(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; whole(r) && i < r->dev->devices.n; i++) {
		const struct place *p = hmap__at(&r->dev->devices, i);

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, p->proc->tgid);
		row__number(rows, p->device);
		busy_cells(rows, &p->busy.ran);
		row__maybe(rows, false, true, 0);
		row__number(rows, p->busy.gaps);
		row__number(rows, p->streams);
		work_cells(rows, p);
		wait_cells(rows, &p->waits);
	}
	return 0;
}

int build_streams(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; whole(r) && i < r->dev->streams.n; i++) {
		const struct place *p = hmap__at(&r->dev->streams, i);

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, p->proc->tgid);
		row__number(rows, p->device);
		row__number(rows, p->context);
		row__number(rows, p->stream);
		busy_cells(rows, &p->busy.ran);
		work_cells(rows, p);
		wait_cells(rows, &p->waits);
	}
	return 0;
}

static int name_cell(const struct report *r, struct rows *rows, const struct join_activity *a)
{
	char *name = report__display(r, join__key(r->in.join, a->key));
	int rc = name ? row__text(rows, name) : -ENOMEM;

	free(name);
	return rc;
}

static int gap_cells(const struct report *r, struct rows *rows, const struct place *p, const struct gap *g)
{
	struct join_activity before, after;
	bool in_gap, behind; /* its call was entered; behind: a violation of causality */

	join__activity(r->in.join, g->before, &before);
	join__activity(r->in.join, g->after, &after);
	behind = after.has_call && after.call.entry > g->end;
	in_gap = after.has_call && !behind && after.call.entry >= g->start;
	row__number(rows, g->end - g->start);
	row__number(rows, p->proc->tgid);
	row__number(rows, p->device);
	row__number(rows, g->start - p->busy.ran.first);
	row__number(rows, g->start);
	row__maybe(rows, after.has_call, true, after.call.tid);
	if (after.has_call ? row__text(rows, behind   ? "after its end"
					     : in_gap ? "in the gap"
						      : "before the gap")
			   : (row__maybe(rows, false, true, 0), 0))
		return -ENOMEM;
	row__maybe(rows, in_gap, !after.has_call, in_gap ? after.call.entry - g->start : 0);
	row__maybe(rows, after.has_call && !behind, !after.has_call, after.start - after.call.entry);
	return name_cell(r, rows, &before) || name_cell(r, rows, &after) ? -ENOMEM : 0;
}

int build_gaps(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; whole(r) && i < r->dev->devices.n; i++) {
		const struct place *p = hmap__at(&r->dev->devices, i);

		for (size_t g = 0; g < p->busy.ntop; g++)
			if (rows__add(rows) || gap_cells(r, rows, p, &p->busy.top[g]))
				return -ENOMEM;
	}
	return 0;
}

/* All launches of one graph of one process. */
struct graph_sum {
	uint64_t key[2]; /* process; graph + 1, 0 where CUPTI did not say */
	const struct proc *proc;
	uint64_t launches, nodes, untimed, least, most;
	struct hist span;
};

static int sum_graphs(const struct device *d, struct hmap *sums)
{
	for (size_t i = 0; i < d->graphs.n; i++) {
		const struct graph_run *g = hmap__at(&d->graphs, i);
		uint64_t graph = g->has_graph ? (uint64_t)g->graph + 1 : 0;
		struct graph_sum *s = hmap__put(sums, (uint64_t[2]){ (uintptr_t)g->proc, graph });

		if (!s)
			return -ENOMEM;
		s->proc = g->proc;
		s->nodes += g->nodes;
		s->untimed += g->nodes_untimed;
		if (!s->launches++ || g->nodes < s->least)
			s->least = g->nodes;
		if (g->nodes > s->most)
			s->most = g->nodes;
		if (g->start <= g->end && hist__add(&s->span, g->end - g->start))
			return -ENOMEM;
	}
	return 0;
}

int build_graph_runs(const struct report *r, struct rows *rows)
{
	struct hmap sums;
	int rc;

	hmap__init(&sums, sizeof(((struct graph_sum *)0)->key), sizeof(struct graph_sum));
	rc = sum_graphs(r->dev, &sums);
	for (size_t i = 0; !rc && i < sums.n; i++) {
		const struct graph_sum *s = hmap__at(&sums, i);

		rc = rows__add(rows);
		if (rc)
			break;
		row__number(rows, s->launches);
		row__number(rows, s->nodes);
		row__number(rows, s->untimed);
		row__number(rows, s->least);
		row__number(rows, s->most);
		row__maybe(rows, s->span.n, true, s->span.sum);
		row__quantiles(rows, &s->span, true);
		row__maybe(rows, s->span.n, true, s->span.max);
		row__number(rows, s->proc->tgid);
		row__maybe(rows, s->key[1], true, s->key[1] - 1);
	}
	for (size_t i = 0; i < sums.n; i++)
		hist__clear(&((struct graph_sum *)hmap__at(&sums, i))->span);
	hmap__clear(&sums);
	return rc;
}
