/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merge sort for what is nearly in order, as records are: two halves that meet with a small overlap cost the overlap
 * alone, and a look through the index reads a few streams from front to back.
 */
#include "join/priv.h"

#include <string.h>

#define LEAF 32

typedef uint64_t key_fn(const struct join *j, uint32_t i);

#define INLINE static inline __attribute__((always_inline))

INLINE void sort_leaf(const struct join *j, uint32_t *v, size_t n, key_fn *key)
{
	uint64_t keys[LEAF];

	for (size_t i = 0; i < n; i++) {
		uint32_t x = v[i];
		uint64_t k = key(j, x);
		size_t at = i;

		for (; at && keys[at - 1] > k; at--) {
			keys[at] = keys[at - 1];
			v[at] = v[at - 1];
		}
		keys[at] = k;
		v[at] = x;
	}
}

/* How many at the front of the first half stay where they are: looked for from its end, where the overlap is. */
INLINE size_t stay(const struct join *j, const uint32_t *v, size_t n, uint64_t first, key_fn *key)
{
	size_t step = 1, hi = n, lo;

	while (step <= n && key(j, v[n - step]) > first) {
		hi = n - step;
		step *= 2;
	}
	lo = step <= n ? n - step : 0;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (key(j, v[mid]) > first)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

INLINE void merge(const struct join *j, uint32_t *v, size_t mid, size_t n, uint32_t *room, key_fn *key)
{
	size_t keep = stay(j, v, mid, key(j, v[mid]), key), na = mid - keep;
	const uint32_t *a = room, *a_end = room + na, *b = v + mid, *b_end = v + n;
	uint32_t *to = v + keep;
	uint64_t ka, kb;

	if (!na)
		return;
	memcpy(room, v + keep, na * sizeof(*room));
	ka = key(j, *a);
	kb = key(j, *b);
	for (;;) {
		if (kb < ka) {
			*to++ = *b++;
			if (b == b_end)
				break;
			kb = key(j, *b);
		} else {
			*to++ = *a++;
			if (a == a_end)
				return; /* the rest stands where it should */
			ka = key(j, *a);
		}
	}
	memcpy(to, a, (size_t)(a_end - a) * sizeof(*a));
}

/* From the bottom up: no recursion, whatever the number. */
INLINE void sort_all(const struct join *j, uint32_t *v, uint32_t *room, size_t n, key_fn *key)
{
	for (size_t i = 0; i < n; i += LEAF)
		sort_leaf(j, v + i, n - i < LEAF ? n - i : LEAF, key);
	for (size_t width = LEAF; width < n; width *= 2)
		for (size_t i = 0; i + width < n; i += 2 * width)
			merge(j, v + i, width, n - i < 2 * width ? n - i : 2 * width, room, key);
}

INLINE uint64_t key_of_bcall(const struct join *j, uint32_t i)
{
	return bcall_at(j, i)->entry;
}

INLINE uint64_t key_of_scall(const struct join *j, uint32_t i)
{
	return scall_at(j, i)->start;
}

INLINE uint64_t key_of_act(const struct join *j, uint32_t i)
{
	return act_at(j, i)->start;
}

void order_bcalls(const struct join *j, uint32_t *v, uint32_t *room, size_t n)
{
	sort_all(j, v, room, n, key_of_bcall);
}

void order_scalls(const struct join *j, uint32_t *v, uint32_t *room, size_t n)
{
	sort_all(j, v, room, n, key_of_scall);
}

void order_acts(const struct join *j, uint32_t *v, uint32_t *room, size_t n)
{
	sort_all(j, v, room, n, key_of_act);
}
