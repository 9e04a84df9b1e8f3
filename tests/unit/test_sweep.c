/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <stdlib.h>

#include "report/sweep.h"

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static int by_time(const void *a, const void *b)
{
	const struct timed_item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->item > y->item) - (x->item < y->item);
}

static void check_sort(size_t n, uint64_t base, unsigned shift, bool nearly)
{
	struct timed_item *t = malloc((n + 1) * sizeof(*t)), *want = malloc((n + 1) * sizeof(*t));

	for (size_t i = 0; i < n; i++)
		want[i] = t[i] = (struct timed_item){ nearly ? base + i * 10 + rnd() % 40
							     : base + (rnd() >> shift),
						      i };
	qsort(want, n, sizeof(*want), by_time);
	CHECK(sort_times(t, n) == 0);
	CHECKF(!n || memcmp(t, want, n * sizeof(*t)) == 0, "n %zu, base %lu, shift %u", n, base, shift);
	free(t);
	free(want);
}

T(sort_is_stable_whatever_the_span)
{
	static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 1000, 20000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned shift = 1; shift < 64; shift += 6)
			check_sort(sizes[i], 0, shift, false);
		check_sort(sizes[i], UINT64_MAX - (1ull << 40), 24, false);
		check_sort(sizes[i], 1ull << 62, 0, true);
	}
}

T(all_64_bits_sort)
{
	check_sort(5000, 0, 0, false);
}

static struct sweep run(const uint64_t *up, const uint64_t *down, size_t n)
{
	struct sweep s;

	sweep_run(up, down, n, &s);
	return s;
}

T(nothing_is_no_window_R14)
{
	struct sweep s = run(NULL, NULL, 0);
	double mean = 7;

	CHECK(s.first == 0 && s.last == 0 && s.peak == 0);
	CHECK(!sweep_mean(&s, &mean) && mean == 7);
}

T(busy_is_the_union_and_overlap_is_kept_C25)
{
	/* 100-200, 150-250 (overlaps by 50), 400-500 */
	uint64_t up[] = { 100, 150, 400 }, down[] = { 200, 250, 500 };
	struct sweep s = run(up, down, 3);

	CHECK(s.first == 100 && s.last == 500);
	CHECK(s.above_zero == 250);
	CHECK(s.at_zero == 150);
	CHECK(s.above_one == 50);
	CHECK(s.area == 300);
	CHECK(s.peak == 2);
}

T(touching_intervals_do_not_overlap)
{
	uint64_t up[] = { 100, 200, 300 }, down[] = { 200, 300, 400 };
	struct sweep s = run(up, down, 3);

	CHECK(s.above_zero == 300 && s.above_one == 0 && s.at_zero == 0 && s.peak == 1);
}

T(an_interval_of_no_length_takes_no_time)
{
	uint64_t up[] = { 100, 100, 300 }, down[] = { 100, 200, 300 };
	struct sweep s = run(up, down, 3);

	CHECK(s.above_zero == 100 && s.at_zero == 100 && s.above_one == 0 && s.peak == 1);
}

T(depth_has_a_peak_and_a_mean_over_time)
{
	/* three asked at once, started one after the other: depth 3, 2, 1 for 10 each */
	uint64_t up[] = { 0, 0, 0 }, down[] = { 10, 20, 30 };
	struct sweep s = run(up, down, 3);
	double mean;

	CHECK(s.peak == 3);
	CHECK(sweep_mean(&s, &mean) && mean == 2);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

T(the_sweep_is_what_counting_every_moment_gives)
{
	enum { N = 40, SPAN = 300 };

	for (int round = 0; round < 300; round++) {
		uint64_t up[N], down[N], zero = 0, one = 0, two = 0, area = 0;
		unsigned depth[SPAN + 1] = { 0 };
		struct sweep s;

		for (int i = 0; i < N; i++) {
			up[i] = rnd() % (SPAN - 1);
			down[i] = up[i] + rnd() % 20 % (SPAN - up[i]);
			for (uint64_t t = up[i]; t < down[i]; t++)
				depth[t]++;
		}
		qsort(up, N, sizeof(up[0]), by_value);
		qsort(down, N, sizeof(down[0]), by_value);
		s = run(up, down, N);
		for (uint64_t t = up[0]; t < down[N - 1]; t++) {
			zero += depth[t] == 0;
			one += depth[t] > 0;
			two += depth[t] > 1;
			area += depth[t];
		}
		CHECK(s.at_zero == zero && s.above_zero == one && s.above_one == two);
		CHECK(s.area == (double)area);
	}
}

T(gaps_are_the_longest_first_with_their_neighbours)
{
	/* 0-10, 5-30 (ends last), 12-20, gap 30-50, 50-60, gap 60-100, 100-110, 100-105, gap 110-130, 130-140 */
	struct timed_item start[] = { { 0, 7 },    { 5, 8 },    { 12, 9 },  { 50, 10 },
				      { 100, 11 }, { 100, 12 }, { 130, 13 } };
	uint64_t end[] = { 10, 30, 20, 60, 110, 105, 140 };
	struct gap top[2];
	struct gaps g = { .top = top, .max = 2 };

	gaps_find(start, end, 7, &g);
	CHECK(g.n == 2 && g.count == 3 && g.total == 80);
	CHECK(top[0].start == 60 && top[0].end == 100 && top[0].before == 10 && top[0].after == 11);
	CHECK(top[1].start == 30 && top[1].end == 50 && top[1].before == 8 && top[1].after == 10);
}

T(no_gap_in_one_interval_or_in_none)
{
	struct timed_item start[] = { { 5, 0 } };
	uint64_t end[] = { 9 };
	struct gap top[1];
	struct gaps g = { .top = top, .max = 1 };

	gaps_find(start, end, 1, &g);
	CHECK(g.n == 0 && g.count == 0);
	gaps_find(start, end, 0, &g);
	CHECK(g.n == 0 && g.count == 0 && g.total == 0);
}

TEST_MAIN
