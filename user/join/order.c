/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merge sort that takes the runs that are there. Records come nearly in order, so a merge reads a few streams
 * from front to back: what a look through an index costs elsewhere does not arise.
 */
#include "join/priv.h"

#include <string.h>

static size_t run_end(const struct join *j, const uint32_t *v, size_t from, size_t n, order_fn *before)
{
	size_t i = from + 1;

	while (i < n && !before(j, v[i], v[i - 1]))
		i++;
	return i;
}

static void merge(const struct join *j, const uint32_t *a, size_t na, const uint32_t *b, size_t nb,
		  uint32_t *to, order_fn *before)
{
	while (na && nb) {
		if (before(j, *b, *a)) {
			*to++ = *b++;
			nb--;
		} else {
			*to++ = *a++;
			na--;
		}
	}
	memcpy(to, a, na * sizeof(*a));
	memcpy(to + na, b, nb * sizeof(*b));
}

/* Merges neighbouring runs of `from` into `to`; how many runs that leaves. */
static size_t pass(const struct join *j, const uint32_t *from, uint32_t *to, size_t n, order_fn *before)
{
	size_t at = 0, runs = 0;

	while (at < n) {
		size_t mid = run_end(j, from, at, n, before);
		size_t end = mid < n ? run_end(j, from, mid, n, before) : n;

		merge(j, from + at, mid - at, from + mid, end - mid, to + at, before);
		at = end;
		runs++;
	}
	return runs;
}

void order_sort(const struct join *j, uint32_t *v, uint32_t *room, size_t n, order_fn *before)
{
	uint32_t *from = v, *to = room;

	if (n < 2 || run_end(j, v, 0, n, before) == n)
		return;
	for (;;) {
		size_t runs = pass(j, from, to, n, before);
		uint32_t *swap = from;

		from = to;
		to = swap;
		if (runs <= 1)
			break;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
}
