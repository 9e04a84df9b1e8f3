/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT 11 /* bits: the counters of one pass stay in the first-level cache */
#define DIGITS (1u << DIGIT)

static bool sorted(const struct timed_item *t, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (t[i].time < t[i - 1].time)
			return false;
	return true;
}

static void sort_few(struct timed_item *t, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct timed_item x = t[i];
		size_t k = i;

		for (; k && t[k - 1].time > x.time; k--)
			t[k] = t[k - 1];
		t[k] = x;
	}
}

int sort_times(struct timed_item *t, size_t n)
{
	struct timed_item *other, *from = t, *to;
	uint64_t low = UINT64_MAX, high = 0;
	size_t *place;

	if (sorted(t, n))
		return 0;
	if (n <= 64) {
		sort_few(t, n);
		return 0;
	}
	other = malloc(n * sizeof(*other));
	place = malloc(DIGITS * sizeof(*place));
	if (!other || !place) {
		free(other);
		free(place);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		low = t[i].time < low ? t[i].time : low;
		high = t[i].time > high ? t[i].time : high;
	}
	to = other;
	/* by distance from the least, so that only the digits that a capture's span has are walked */
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT) {
		size_t at = 0;

		memset(place, 0, DIGITS * sizeof(*place));
		for (size_t i = 0; i < n; i++)
			place[((from[i].time - low) >> shift) % DIGITS]++;
		for (unsigned d = 0; d < DIGITS; d++) {
			size_t count = place[d];

			place[d] = at;
			at += count;
		}
		for (size_t i = 0; i < n; i++)
			to[place[((from[i].time - low) >> shift) % DIGITS]++] = from[i];
		struct timed_item *swap = from;

		from = to;
		to = swap;
	}
	if (from != t)
		memcpy(t, from, n * sizeof(*t));
	free(other);
	free(place);
	return 0;
}

void sweep_run(const uint64_t *up, const uint64_t *down, size_t n, struct sweep *s)
{
	uint64_t depth = 0, now;
	size_t u = 0, d = 0;

	memset(s, 0, sizeof(*s));
	if (!n)
		return;
	s->first = now = up[0];
	s->last = down[n - 1];
	while (d < n) {
		uint64_t next = u < n && up[u] < down[d] ? up[u] : down[d], took = next - now;

		*(depth ? &s->above_zero : &s->at_zero) += took;
		if (depth > 1)
			s->above_one += took;
		s->area += (double)depth * (double)took;
		now = next;
		for (; u < n && up[u] == now; u++)
			depth++;
		for (; d < n && down[d] == now; d++)
			depth--;
		if (depth > s->peak)
			s->peak = depth;
	}
}

bool sweep_mean(const struct sweep *s, double *mean)
{
	if (s->last <= s->first)
		return false;
	*mean = s->area / (double)(s->last - s->first);
	return true;
}

static void keep(struct gaps *g, const struct gap *gap)
{
	uint64_t length = gap->end - gap->start;
	size_t at;

	g->count++;
	g->total += length;
	if (g->n == g->max && (!g->max || g->top[g->n - 1].end - g->top[g->n - 1].start >= length))
		return;
	at = g->n < g->max ? g->n++ : g->n - 1;
	for (; at && g->top[at - 1].end - g->top[at - 1].start < length; at--)
		g->top[at] = g->top[at - 1];
	g->top[at] = *gap;
}

void gaps_find(const struct timed_item *start, const uint64_t *end, size_t n, struct gaps *g)
{
	size_t last = 0; /* that ended last so far */

	g->n = 0;
	g->count = g->total = 0;
	for (size_t i = 1; i < n; i++) {
		if (start[i].time > end[last])
			keep(g, &(struct gap){ end[last], start[i].time, start[last].item, start[i].item });
		if (end[i] >= end[last])
			last = i;
	}
}
