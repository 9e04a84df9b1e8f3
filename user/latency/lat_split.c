/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic of times: nothing here knows of captures. */
#include <errno.h>
#include <stdlib.h>

#include "latency/lat_math.h"

/* Time in which nothing that was seen ran. */
static void idle(const struct lat_window *w, uint64_t from, uint64_t to, uint64_t part[LAT_PARTS])
{
	uint64_t submitted = w->has_submitted && w->submitted < w->start ? w->submitted : w->start;
	uint64_t queued = w->has_queued && w->queued < submitted ? w->queued : submitted;
	queued = queued < from ? from : queued > to ? to : queued;
	submitted = submitted < from ? from : submitted > to ? to : submitted;
	part[LAT_UNKNOWN] += queued - from;
	part[LAT_QUEUED] += submitted - queued;
	part[LAT_SUBMITTED] += to - submitted;
}

/* Until `end`, as far as that is ahead. */
static uint64_t go_to(uint64_t at, uint64_t end, const struct lat_window *w, uint64_t *part)
{
	if (end > w->start)
		end = w->start;
	if (end <= at)
		return at;
	*part += end - at;
	return end;
}

uint64_t lat_split_rest(const struct lat_window *w)
{
	uint64_t unused = 0, at = go_to(w->from, w->prev_end, w, &unused);

	return go_to(at, w->wait_end, w, &unused);
}

void lat_split(const struct lat_window *w, uint64_t part[LAT_PARTS])
{
	uint64_t at = w->from;

	for (int i = 0; i < LAT_PARTS; i++)
		part[i] = 0;
	at = go_to(at, w->prev_end, w, &part[LAT_STREAM]);
	at = go_to(at, w->wait_end, w, &part[LAT_WAIT]);
	for (size_t i = 0; i < w->nothers && at < w->start; i++) {
		uint64_t from = w->others[i].start > at ? w->others[i].start : at;
		uint64_t end = w->others[i].end < w->start ? w->others[i].end : w->start;

		if (from >= end)
			continue;
		idle(w, at, from, part);
		part[LAT_OTHERS] += end - from;
		at = end;
	}
	idle(w, at, w->start, part);
}

static int by_start(const void *x, const void *y)
{
	const struct lat_span *a = x, *b = y;

	return (a->start > b->start) - (a->start < b->start);
}

size_t lat_unite(struct lat_span *s, size_t n)
{
	size_t to = 0;

	if (n)
		qsort(s, n, sizeof(*s), by_start);
	for (size_t i = 0; i < n; i++) {
		if (s[i].end <= s[i].start)
			continue;
		if (to && s[i].start <= s[to - 1].end) {
			if (s[i].end > s[to - 1].end)
				s[to - 1].end = s[i].end;
		} else {
			s[to++] = s[i];
		}
	}
	return to;
}

uint64_t lat_slowest(uint64_t n)
{
	return n / 100 + (n % 100 != 0);
}

unsigned lat_bar(uint64_t v)
{
	unsigned decade = 0;

	if (!v)
		return 0;
	while (v >= 10) {
		v /= 10;
		decade++;
	}
	return decade * 9 + (unsigned)v;
}

uint64_t lat_bar_from(unsigned bar)
{
	uint64_t v = bar ? (bar - 1) % 9 + 1 : 0;

	for (unsigned decade = bar ? (bar - 1) / 9 : 0; decade; decade--)
		v *= 10;
	return v;
}

bool lat_bar_below(unsigned bar, uint64_t *v)
{
	if (bar + 1 >= LAT_BARS)
		return false;
	*v = lat_bar_from(bar + 1);
	return true;
}

int lat_dist__add(struct lat_dist *d, uint64_t v)
{
	int rc = hist__add(&d->h, v);

	if (!rc)
		d->bar[lat_bar(v)]++;
	return rc;
}

int lat_dist__merge(struct lat_dist *into, const struct lat_dist *from)
{
	int rc = hist__merge(&into->h, &from->h);

	for (unsigned b = 0; !rc && b < LAT_BARS; b++)
		into->bar[b] += from->bar[b];
	return rc;
}

void lat_dist__clear(struct lat_dist *d)
{
	hist__clear(&d->h);
	*d = (struct lat_dist){ 0 };
}

/* The row that a bar falls into when each power of ten is cut into 9, 3 (1, 2, 5) or 1. */
static unsigned row_of(unsigned bar, unsigned cuts)
{
	static const unsigned third[] = { 0, 1, 1, 1, 2, 2, 2, 2, 2 };
	unsigned decade = bar ? (bar - 1) / 9 : 0, digit = bar ? (bar - 1) % 9 : 0;

	if (!bar || cuts == 9)
		return bar;
	return 1 + decade * cuts + (cuts == 3 ? third[digit] : 0);
}

unsigned lat_bins(const struct lat_dist *d, struct lat_bin *bins, unsigned max)
{
	static const unsigned all_cuts[] = { 9, 3, 1 };
	unsigned first = 0, last = LAT_BARS - 1, cuts = 0, n = 0;

	if (!d->h.n)
		return 0;
	while (!d->bar[first])
		first++;
	while (!d->bar[last])
		last--;
	while (cuts < 2 && row_of(last, all_cuts[cuts]) - row_of(first, all_cuts[cuts]) + 1 > max)
		cuts++;
	/* whole rows at both ends */
	while (first && row_of(first - 1, all_cuts[cuts]) == row_of(first, all_cuts[cuts]))
		first--;
	while (last + 1 < LAT_BARS && row_of(last + 1, all_cuts[cuts]) == row_of(last, all_cuts[cuts]))
		last++;
	for (unsigned b = first; b <= last; b++) {
		/* too few rows even for powers of ten: the last one holds what is left */
		if (b == first || (n < max && row_of(b, all_cuts[cuts]) != row_of(b - 1, all_cuts[cuts]))) {
			bins[n++] = (struct lat_bin){ .from = lat_bar_from(b) };
		}
		bins[n - 1].n += d->bar[b];
		bins[n - 1].open = !lat_bar_below(b, &bins[n - 1].below);
	}
	return n;
}
