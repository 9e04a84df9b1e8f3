// SPDX-License-Identifier: GPL-2.0-or-later
#include "trace/wall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_time(const void *a, const void *b)
{
	const struct wall_pair *x = a, *y = b;

	if (x->mono != y->mono)
		return x->mono < y->mono ? -1 : 1;
	return (x->real > y->real) - (x->real < y->real);
}

int wall__init(struct wall *w, const Gpubpf__Meta *meta)
{
	memset(w, 0, sizeof(*w));
	w->pair = calloc(meta->n_clock + 1, sizeof(*w->pair));
	if (!w->pair)
		return -ENOMEM;
	w->has_error = meta->n_clock;
	for (size_t i = 0; i < meta->n_clock; i++) {
		const Gpubpf__ClockPair *p = meta->clock[i];

		if (!p->has_realtime_ns)
			continue;
		w->pair[w->n++] = (struct wall_pair){ p->monotonic_ns, p->realtime_ns };
		w->has_error = w->has_error && p->has_error_ns;
		if (p->has_error_ns && p->error_ns > w->error_ns)
			w->error_ns = p->error_ns;
	}
	if (w->n)
		qsort(w->pair, w->n, sizeof(*w->pair), by_time);
	return 0;
}

/* The last that is not after it, or the first. */
static const struct wall_pair *nearest(struct wall *w, uint64_t mono)
{
	size_t low = 0, high = w->n;

	if (w->pair[w->last].mono <= mono && (w->last + 1 == w->n || w->pair[w->last + 1].mono > mono))
		return &w->pair[w->last];
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (w->pair[middle].mono <= mono)
			low = middle;
		else
			high = middle;
	}
	w->last = low;
	return &w->pair[low];
}

bool wall__at(struct wall *w, uint64_t mono, uint64_t *real)
{
	const struct wall_pair *p;

	if (!w->n)
		return false;
	p = nearest(w, mono);
	if (mono >= p->mono)
		return !__builtin_add_overflow(p->real, mono - p->mono, real);
	return !__builtin_sub_overflow(p->real, p->mono - mono, real);
}

void wall__clear(struct wall *w)
{
	free(w->pair);
}
