/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device's windows: a grid whose ends lie `lag` before those of the intervals, so that what is shown is as complete as
 * it gets. Busy time is a union of spans that come in any order.
 */
#include "top/top_priv.h"

#include <errno.h>
#include <stdlib.h>

static struct top_window *window_new(struct top_feed *f, uint64_t start, uint64_t end)
{
	struct top_window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->serial = ++f->serials;
	w->start = start;
	w->end = end;
	hmap__init(&w->devs, 16, sizeof(struct top_dev));
	hmap__init(&w->runs, 16, sizeof(struct top_run));
	return w;
}

void top_window__drop(struct top_window *w)
{
	for (size_t i = 0; i < w->devs.n; i++)
		free(((struct top_dev *)hmap__at(&w->devs, i))->span);
	hmap__clear(&w->devs);
	hmap__clear(&w->runs);
	free(w);
}

/* The first holds what ran before the beginning, too. */
static int first(struct top_feed *f)
{
	uint64_t lag = f->o.lag, end;

	if (f->windows || f->over)
		return 0;
	end = f->start + f->o.interval * (lag / f->o.interval + 1) - lag;
	f->windows = window_new(f, 0, end);
	return f->windows ? 0 : -ENOMEM;
}

static struct top_window *after(struct top_feed *f, struct top_window *w)
{
	if (!w->next)
		w->next = window_new(f, w->end, w->end + f->o.interval);
	return w->next;
}

struct top_window *top_window__at(struct top_feed *f, uint64_t t)
{
	struct top_window *w;

	if (first(f))
		return NULL;
	for (w = f->windows; w && t >= w->end;)
		w = after(f, w);
	return w;
}

struct top_window *top_window__take(struct top_feed *f, uint64_t until)
{
	struct top_window *w;

	if (first(f))
		return NULL;
	w = f->windows;
	if (!w || w->end > until)
		return NULL;
	if (!f->over && !after(f, w))
		return NULL;
	f->windows = w->next;
	return w;
}

int top_device__close(struct top_feed *f, uint64_t now)
{
	struct top_window *w = top_window__at(f, now);

	if (!w)
		return -ENOMEM;
	w->end = now > w->start ? now : w->start + 1;
	f->over = true;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct top_span *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* Overlapping ones, and those with no more than `gap` between them, become one; *filled: what was not busy. */
static size_t unite(struct top_span *v, size_t n, uint64_t gap, uint64_t *filled)
{
	size_t to = 0;

	for (size_t i = 1; i < n; i++) {
		if (v[i].start > v[to].end && v[i].start - v[to].end > gap) {
			v[++to] = v[i];
			continue;
		}
		if (v[i].start > v[to].end)
			*filled += v[i].start - v[to].end;
		if (v[i].end > v[to].end)
			v[to].end = v[i].end;
	}
	return n ? to + 1 : 0;
}

static void compact(struct top_dev *d)
{
	uint64_t gap = 0;

	if (!d->span)
		return;
	qsort(d->span, d->n, sizeof(*d->span), by_start);
	d->n = unite(d->span, d->n, 0, &d->unsure);
	/* far more of them than anybody can keep: the shortest gaps go first, and how much they are is kept */
	for (gap = 64; d->n > TOP_SPANS / 2; gap *= 2)
		d->n = unite(d->span, d->n, gap, &d->unsure);
}

int top_dev__span(struct top_dev *d, uint64_t start, uint64_t end)
{
	struct top_span *last = d->n ? &d->span[d->n - 1] : NULL;

	if (last && start >= last->start && start <= last->end) {
		last->end = end > last->end ? end : last->end;
		return 0;
	}
	if (d->n == TOP_SPANS)
		compact(d);
	if (!d->span || d->n == d->room) {
		size_t room = d->room ? d->room * 2 : 64;
		struct top_span *grown = realloc(d->span, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		d->span = grown;
		d->room = room;
	}
	d->span[d->n++] = (struct top_span){ start, end };
	return 0;
}

uint64_t top_dev__busy(struct top_dev *d)
{
	uint64_t sum = 0, none = 0;

	if (!d->span)
		return 0;
	qsort(d->span, d->n, sizeof(*d->span), by_start);
	d->n = unite(d->span, d->n, 0, &none);
	for (size_t i = 0; i < d->n; i++)
		sum += d->span[i].end - d->span[i].start;
	return sum;
}
