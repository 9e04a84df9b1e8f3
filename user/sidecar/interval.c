// SPDX-License-Identifier: GPL-2.0-or-later
/* Intervals of nodes: on the capture's clock, and inside of what it covers; else they are withheld. */
#include "sidecar/priv.h"
#include "trace/trace.h"
#include "trace/wall.h"

#define STEP_NS 1000000 /* between two pairs the wall clock drifts by less; more is a step */

static bool set_back(const struct wall *w)
{
	for (size_t i = 1; i < w->n; i++)
		if (w->pair[i].real < w->pair[i - 1].real)
			return true;
	return false;
}

/* By the pair nearest before it, or else the first; not where the wall clock was stepped over it. */
static enum sidecar_interval on_our_clock(const struct wall *w, uint64_t real, uint64_t *mono)
{
	const struct wall_pair *p = w->pair;
	size_t low = 0, high = w->n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (p[middle].real <= real)
			low = middle;
		else
			high = middle;
	}
	p += low;
	if (real < p->real)
		return __builtin_sub_overflow(p->mono, p->real - real, mono) ? SIDECAR_OUTSIDE
									     : SIDECAR_INSIDE;
	if (__builtin_add_overflow(p->mono, real - p->real, mono))
		return SIDECAR_OUTSIDE;
	return low + 1 == w->n || *mono <= p[1].mono + STEP_NS ? SIDECAR_INSIDE : SIDECAR_UNANCHORED;
}

static enum sidecar_interval convert(const struct wall *w, struct sidecar_span *s)
{
	enum sidecar_interval from = on_our_clock(w, s->start, &s->start),
			      to = on_our_clock(w, s->end, &s->end);

	if (from != SIDECAR_INSIDE || to != SIDECAR_INSIDE)
		return from != SIDECAR_INSIDE ? from : to;
	return s->start <= s->end ? SIDECAR_INSIDE : SIDECAR_UNANCHORED;
}

/* `anchored`: there is a pair, and times of the wall clock rise with ours. */
static void place_interval(struct sidecar_node *node, const struct wall *w, bool anchored, uint64_t from,
			   uint64_t to)
{
	struct sidecar_span s = { true, true, node->start_ns, node->end_ns };

	if (!node->has_interval)
		return;
	node->interval = !node->realtime ? SIDECAR_INSIDE : anchored ? convert(w, &s) : SIDECAR_UNANCHORED;
	if (node->interval == SIDECAR_INSIDE && (s.start < from || s.end > to))
		node->interval = SIDECAR_OUTSIDE;
	if (node->interval == SIDECAR_INSIDE)
		node->own = s;
}

int sidecar_place_intervals(struct sidecar *s, const struct trace *t)
{
	const struct inspection *in = &t->in;
	uint64_t to = in->status->last_ns;
	struct wall w;
	int rc = wall__init(&w, in->meta);
	bool anchored = !rc && w.n && !set_back(&w);

	if (in->footer && in->footer->end_ns > to)
		to = in->footer->end_ns;
	for (size_t i = 0; !rc && i < s->nnodes; i++)
		place_interval(&s->node[i], &w, anchored, t->start, to);
	wall__clear(&w);
	return rc;
}
