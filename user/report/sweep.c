/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT 11 /* bits: the counters of one pass stay in the first-level cache */
#define DIGITS (1u << DIGIT)
#define FEW 64

static bool bounds(const uint64_t *t, size_t n, uint64_t *low, uint64_t *high)
{
	bool sorted = true;

	*low = UINT64_MAX;
	*high = 0;
	for (size_t i = 0; i < n; i++) {
		sorted &= t[i] >= *high;
		*low = t[i] < *low ? t[i] : *low;
		*high = t[i] > *high ? t[i] : *high;
	}
	return sorted;
}

static void sort_few(uint64_t *t, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		uint64_t x = t[i];
		size_t k = i;

		for (; k && t[k - 1] > x; k--)
			t[k] = t[k - 1];
		t[k] = x;
	}
}

/* One pass of a radix sort, by the digit at `shift` of the distance from the least. */
static void pass(const uint64_t *from, uint64_t *to, size_t n, uint64_t low, unsigned shift, size_t *place)
{
	size_t at = 0;

	memset(place, 0, DIGITS * sizeof(*place));
	for (size_t i = 0; i < n; i++)
		place[((from[i] - low) >> shift) % DIGITS]++;
	for (unsigned d = 0; d < DIGITS; d++) {
		size_t count = place[d];

		place[d] = at;
		at += count;
	}
	for (size_t i = 0; i < n; i++)
		to[place[((from[i] - low) >> shift) % DIGITS]++] = from[i];
}

int sort_times(uint64_t *t, size_t n)
{
	uint64_t *other, *from = t, *to, low, high;
	size_t place[DIGITS];

	if (bounds(t, n, &low, &high))
		return 0;
	if (n <= FEW) {
		sort_few(t, n);
		return 0;
	}
	to = other = malloc(n * sizeof(*other));
	if (!other)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += DIGIT) {
		uint64_t *swap = from;

		pass(from, to, n, low, shift, place);
		from = to;
		to = swap;
	}
	if (from != t)
		memcpy(t, from, n * sizeof(*t));
	free(other);
	return 0;
}

static void step(struct sweep *s, uint64_t t)
{
	uint64_t took;

	if (!s->begun) {
		s->begun = true;
		s->first = s->last = t;
	}
	took = t - s->last;
	if (!took)
		return;
	*(s->depth ? &s->above_zero : &s->at_zero) += took;
	if (s->depth > 1)
		s->above_one += took;
	if (s->depth > s->peak)
		s->peak = s->depth;
	s->area += (double)s->depth * (double)took;
	s->last = t;
}

void sweep__rise(struct sweep *s, uint64_t t)
{
	step(s, t);
	s->depth++;
}

void sweep__fall(struct sweep *s, uint64_t t)
{
	step(s, t);
	s->depth--;
}

void sweep__run(struct sweep *s, const uint64_t *up, const uint64_t *down, size_t n)
{
	size_t u = 0;

	for (size_t d = 0; d < n; d++) {
		for (; u < n && up[u] <= down[d]; u++)
			sweep__rise(s, up[u]);
		sweep__fall(s, down[d]);
	}
}

bool sweep__mean(const struct sweep *s, double *mean)
{
	if (!s->begun || s->last == s->first)
		return false;
	*mean = s->area / (double)(s->last - s->first);
	return true;
}

static int heap_push(struct busy *b, uint64_t end)
{
	size_t i = b->running;

	if (b->running == b->room) {
		size_t room = b->room ? b->room * 2 : 16;
		uint64_t *ends = realloc(b->ends, room * sizeof(*ends));

		if (!ends)
			return -ENOMEM;
		b->ends = ends;
		b->room = room;
	}
	b->running++;
	for (; i && b->ends[(i - 1) / 2] > end; i = (i - 1) / 2)
		b->ends[i] = b->ends[(i - 1) / 2];
	b->ends[i] = end;
	return 0;
}

static uint64_t heap_pop(struct busy *b)
{
	uint64_t least = b->ends[0], last = b->ends[--b->running];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < b->running) {
		if (child + 1 < b->running && b->ends[child + 1] < b->ends[child])
			child++;
		if (b->ends[child] >= last)
			break;
		b->ends[i] = b->ends[child];
		i = child;
	}
	b->ends[i] = last;
	return least;
}

static void keep_gap(struct busy *b, const struct gap *gap)
{
	uint64_t length = gap->end - gap->start;
	size_t at;

	b->gaps++;
	b->gap_time += length;
	if (!b->max || (b->ntop == b->max && b->top[b->ntop - 1].end - b->top[b->ntop - 1].start >= length))
		return;
	at = b->ntop < b->max ? b->ntop++ : b->ntop - 1;
	for (; at && b->top[at - 1].end - b->top[at - 1].start < length; at--)
		b->top[at] = b->top[at - 1];
	b->top[at] = *gap;
}

int busy__add(struct busy *b, uint64_t start, uint64_t end, uint64_t item)
{
	bool first = !b->ran.begun;
	int rc = 0;

	if (!b->top && b->max) {
		b->top = calloc(b->max, sizeof(*b->top));
		if (!b->top)
			return -ENOMEM;
	}
	while (b->running && b->ends[0] <= start)
		sweep__fall(&b->ran, heap_pop(b));
	if (!first && start > b->last_end) {
		struct gap gap = { b->last_end, start, b->last_item, item };

		keep_gap(b, &gap);
		rc = b->on_gap ? b->on_gap(&gap, b->arg) : 0;
	}
	sweep__rise(&b->ran, start);
	if (first || end >= b->last_end) {
		b->last_end = end;
		b->last_item = item;
	}
	return rc ? rc : heap_push(b, end);
}

void busy__finish(struct busy *b)
{
	while (b->running)
		sweep__fall(&b->ran, heap_pop(b));
}

void busy__clear(struct busy *b)
{
	free(b->ends);
	free(b->top);
	b->ends = NULL;
	b->top = NULL;
	b->room = b->running = b->ntop = 0;
}
