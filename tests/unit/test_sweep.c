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

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void check_sort(size_t n, uint64_t base, unsigned shift, bool nearly)
{
	uint64_t *t = malloc((n + 1) * sizeof(*t)), *want = malloc((n + 1) * sizeof(*t));

	for (size_t i = 0; i < n; i++)
		want[i] = t[i] = base + (nearly ? i * 10 + rnd() % 40 : rnd() >> shift);
	qsort(want, n, sizeof(*want), by_value);
	CHECK(sort_times(t, n) == 0);
	CHECKF(!n || memcmp(t, want, n * sizeof(*t)) == 0, "n %zu, base %lu, shift %u", n, base, shift);
	free(t);
	free(want);
}

T(times_sort_whatever_their_span)
{
	static const size_t sizes[] = { 0, 1, 2, 63, 64, 65, 1000, 20000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (unsigned shift = 0; shift < 64; shift += 6)
			check_sort(sizes[i], 0, shift, false);
		check_sort(sizes[i], UINT64_MAX - (1ull << 40), 24, false);
		check_sort(sizes[i], 1ull << 62, 0, true);
	}
}

T(nothing_has_no_mean_R14)
{
	struct sweep s = { 0 };
	double mean = 7;

	sweep__run(&s, NULL, NULL, 0);
	CHECK(!s.begun && s.peak == 0);
	CHECK(!sweep__mean(&s, &mean) && mean == 7);
}

static struct gap top[4];

/* Intervals in order of their starts, items numbered from 0; room for `max` gaps. */
static struct busy run(size_t max, size_t n, const uint64_t (*span)[2])
{
	struct busy b = { .max = max };

	for (size_t i = 0; i < n; i++)
		CHECK(busy__add(&b, span[i][0], span[i][1], i) == 0);
	busy__finish(&b);
	for (size_t i = 0; i < b.ntop && i < 4; i++)
		top[i] = b.top[i];
	free(b.ends);
	free(b.top);
	return b;
}
#define RUN(max, ...)                                                                                        \
	run(max, sizeof((uint64_t[][2]){ __VA_ARGS__ }) / 16, (const uint64_t[][2]){ __VA_ARGS__ })

T(busy_is_the_union_and_overlap_is_kept_C25)
{
	struct busy b = RUN(0, { 100, 200 }, { 150, 250 }, { 400, 500 });

	CHECK(b.ran.first == 100 && b.ran.last == 500);
	CHECK(b.ran.above_zero == 250);
	CHECK(b.ran.at_zero == 150);
	CHECK(b.ran.above_one == 50);
	CHECK(b.ran.area == 300);
	CHECK(b.ran.peak == 2);
}

T(touching_intervals_do_not_overlap)
{
	struct busy b = RUN(1, { 100, 200 }, { 200, 300 }, { 300, 400 });

	CHECK(b.ran.above_zero == 300 && b.ran.above_one == 0 && b.ran.at_zero == 0 && b.ran.peak == 1);
	CHECK(b.gaps == 0);
}

T(an_interval_of_no_length_takes_no_time)
{
	struct busy b = RUN(0, { 100, 100 }, { 100, 200 }, { 300, 300 });

	CHECK(b.ran.above_zero == 100 && b.ran.at_zero == 100 && b.ran.above_one == 0 && b.ran.peak == 1);
}

T(depth_has_a_peak_and_a_mean_over_time)
{
	/* three asked for at once, started one after the other: 3, 2, 1 wait for 10 each */
	uint64_t up[] = { 0, 0, 0 }, down[] = { 10, 20, 30 };
	struct sweep s = { 0 };
	double mean;

	sweep__run(&s, up, down, 3);
	CHECK(s.peak == 3);
	CHECK(sweep__mean(&s, &mean) && mean == 2);
}

T(what_starts_when_it_is_asked_for_never_waits)
{
	uint64_t up[] = { 5, 9 }, down[] = { 5, 9 };
	struct sweep s = { 0 };

	sweep__run(&s, up, down, 2);
	CHECK(s.peak == 0 && s.above_zero == 0 && s.at_zero == 4);
}

static int by_start(const void *a, const void *b)
{
	return by_value(a, b);
}

T(a_sweep_is_what_counting_every_moment_gives)
{
	enum { N = 40, SPAN = 300 };

	for (int round = 0; round < 300; round++) {
		uint64_t span[N][2], up[N], down[N], zero = 0, one = 0, two = 0, area = 0, gap = 0;
		unsigned depth[SPAN + 1] = { 0 }, peak = 0;
		struct sweep s = { 0 };
		struct busy b;

		for (int i = 0; i < N; i++) {
			up[i] = span[i][0] = rnd() % (SPAN - 1);
			down[i] = span[i][1] = up[i] + rnd() % 20 % (SPAN - up[i]);
			for (uint64_t t = up[i]; t < down[i]; t++)
				depth[t]++;
		}
		qsort(up, N, sizeof(up[0]), by_value);
		qsort(down, N, sizeof(down[0]), by_value);
		qsort(span, N, sizeof(span[0]), by_start);
		for (uint64_t t = up[0]; t < down[N - 1]; t++) {
			zero += depth[t] == 0;
			one += depth[t] > 0;
			two += depth[t] > 1;
			area += depth[t];
			peak = depth[t] > peak ? depth[t] : peak;
		}
		sweep__run(&s, up, down, N);
		b = run(N, N, (const uint64_t(*)[2])span);
		CHECK(s.at_zero == zero && s.above_zero == one && s.above_one == two && s.peak == peak);
		CHECK(s.area == (double)area && s.first == up[0] && s.last == down[N - 1]);
		CHECK(memcmp(&b.ran, &s, sizeof(s)) == 0);
		gap = b.gap_time;
		CHECK(gap == zero);
	}
}

T(gaps_are_the_longest_first_with_their_neighbours)
{
	/* gaps: 30-50, 60-100, 110-130 */
	struct busy b = RUN(2, { 0, 10 }, { 5, 30 }, { 12, 20 }, { 50, 60 }, { 100, 110 }, { 100, 105 },
			    { 130, 140 });

	CHECK(b.ntop == 2 && b.gaps == 3 && b.gap_time == 80);
	CHECK(top[0].start == 60 && top[0].end == 100 && top[0].before == 3 && top[0].after == 4);
	CHECK(top[1].start == 30 && top[1].end == 50 && top[1].before == 1 && top[1].after == 3);
}

T(no_gap_in_one_interval_or_in_none)
{
	struct busy b = RUN(1, { 5, 9 });

	CHECK(b.gaps == 0 && b.ntop == 0);
	b = run(1, 0, NULL);
	CHECK(b.gaps == 0 && !b.ran.begun);
}

static int count_gap(const struct gap *g, void *arg)
{
	uint64_t *seen = arg;

	seen[0]++;
	seen[1] += g->end - g->start;
	seen[2] = g->before << 8 | g->after;
	return seen[0] == 3 ? -7 : 0;
}

T(every_gap_is_told_once_it_has_ended)
{
	uint64_t seen[3] = { 0 };
	struct busy b = { .on_gap = count_gap, .arg = seen };

	CHECK(busy__add(&b, 10, 20, 1) == 0 && busy__add(&b, 15, 40, 2) == 0);
	CHECK(busy__add(&b, 40, 45, 3) == 0 && !seen[0]);
	CHECK(busy__add(&b, 50, 55, 4) == 0 && seen[0] == 1 && seen[1] == 5 && seen[2] == (3 << 8 | 4));
	CHECK(busy__add(&b, 56, 57, 5) == 0 && seen[0] == 2);
	CHECK(busy__add(&b, 60, 61, 6) == -7);
	CHECK(b.gaps == 3 && b.gap_time == seen[1] && !b.ntop);
	busy__clear(&b);
}

TEST_MAIN
