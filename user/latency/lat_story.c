/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slowest calls. Which they are is known when everything was read; what was around them is looked for in a second
 * reading, so that nothing is kept of all the others.
 */
#include <errno.h>
#include <stdlib.h>

#include "latency/lat.h"
#include "util/err.h"

static int list(struct latency *l)
{
	size_t n = 0;

	for (int m = 0; m < LAT_MEASURES; m++)
		for (unsigned p = 0; p < LAT_POPULATIONS; p++)
			n += l->picks[m][p].n;
	l->story = calloc(n + 1, sizeof(*l->story));
	if (!l->story)
		return -ENOMEM;
	for (int m = 0; m < LAT_MEASURES; m++)
		for (unsigned p = 0; p < LAT_POPULATIONS; p++)
			for (size_t i = 0; i < l->picks[m][p].n; i++)
				l->story[l->nstories++] = (struct lat_story){ .measure = (enum lat_measure)m,
									      .population = p,
									      .pick = &l->picks[m][p].v[i] };
	return 0;
}

static struct lat_beside beside_of(const struct gpubpf_call *c)
{
	return (struct lat_beside){ .api = c->api,
				    .tid = c->tid,
				    .entry = c->t_entry,
				    .ret = c->t_return,
				    .has_ret = (c->flags & GPUBPF_CALL_RETURNED) &&
					       c->t_return >= c->t_entry };
}

static void own_thread(struct lat_story *s, const struct gpubpf_call *c)
{
	const struct lat_pick *p = s->pick;
	struct lat_beside b = beside_of(c);
	uint64_t over = b.has_ret ? b.ret : b.entry;

	if (c->depth) {
		if (b.entry < p->entry || (p->has_ret && b.entry >= p->ret) || !b.has_ret)
			return;
		if (s->nnested < LAT_NESTED_MAX)
			s->nested[s->nnested] = b;
		s->nnested++;
		return;
	}
	if (c->t_entry >= p->entry || over > p->entry)
		return;
	if (!s->has_before || over > (s->before.has_ret ? s->before.ret : s->before.entry))
		s->before = b;
	s->has_before = true;
}

/* The time that the two have in common. */
static uint64_t overlap(const struct lat_pick *p, const struct lat_beside *b)
{
	uint64_t from = b->entry > p->entry ? b->entry : p->entry;
	uint64_t to = b->ret < p->ret ? b->ret : p->ret;

	return p->has_ret && b->has_ret && to > from ? to - from : 0;
}

static void other_thread(struct lat_story *s, const struct gpubpf_call *c)
{
	struct lat_beside b = beside_of(c);
	uint64_t common = overlap(s->pick, &b);
	unsigned at = s->nbeside;

	if (c->depth || !common)
		return;
	if (at == LAT_BESIDE_MAX && overlap(s->pick, &s->beside[at - 1]) >= common)
		return;
	if (at < LAT_BESIDE_MAX)
		s->nbeside++;
	else
		at--;
	for (; at && overlap(s->pick, &s->beside[at - 1]) < common; at--)
		s->beside[at] = s->beside[at - 1];
	s->beside[at] = b;
}

static void on_call(struct latency *l, const struct gpubpf_call *c)
{
	for (size_t i = 0; i < l->nstories; i++) {
		struct lat_story *s = &l->story[i];

		if (s->pick->of_shim || s->pick->tgid != c->tgid)
			continue;
		if (s->pick->tid == c->tid)
			own_thread(s, c);
		else
			other_thread(s, c);
	}
}

static void on_breakdown(struct latency *l, const struct gpubpf_latency *rec)
{
	for (size_t i = 0; i < l->nstories; i++) {
		struct lat_pick *p = l->story[i].pick;

		if (p->of_shim || p->tgid != rec->tgid || p->tid != rec->tid || p->entry != rec->t_entry)
			continue;
		breakdown_of_call(rec, &p->inside);
		p->has_inside = true;
		p->has_gap = breakdown_of_gap(rec, &p->gap);
		p->before = rec->t_before;
	}
}

static void on_wait(struct latency *l, const struct gpubpf_waker *w)
{
	for (size_t i = 0; i < l->nstories; i++) {
		const struct lat_pick *p = l->story[i].pick;

		if (!p->of_shim && p->tgid == w->tgid && p->tid == w->tid && p->entry == w->t_entry)
			lat_story__wait(&l->story[i], w);
	}
}

static int on_record(struct latency *l, const struct gpubpf_rec *rec)
{
	if (l->nstories && rec->kind == GPUBPF_REC_CALL)
		on_call(l, (const struct gpubpf_call *)rec);
	else if (l->nstories && rec->kind == GPUBPF_REC_LATENCY)
		on_breakdown(l, (const struct gpubpf_latency *)rec);
	else if (l->nstories && rec->kind == GPUBPF_REC_WAKER)
		on_wait(l, (const struct gpubpf_waker *)rec);
	return lat_idle__asks(&l->idle) ? lat_idle__record(&l->idle, rec) : 0;
}

int lat_stories(struct latency *l, struct err *err)
{
	const struct gpubpf_rec *rec;
	int rc = list(l);

	if (!rc && (l->nstories || lat_idle__asks(&l->idle))) {
		rc = capture_reader__rewind(l->in.reader);
		while (!rc && (rc = capture_reader__next(l->in.reader, &rec, err)) > 0)
			rc = on_record(l, rec);
		if (rc < 0 && rc != -ENOMEM)
			return err_prefix(err, rc, "%s", l->in.path);
	}
	if (!rc)
		rc = lat_idle__finish(&l->idle);
	return rc ? err_set(err, rc, "%s: out of memory", l->in.path) : 0;
}
