/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <stdlib.h>

#include "util/hist.h"

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

static int cmp(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int within_percent(uint64_t v, uint64_t want)
{
	return v <= want && want - v <= want / 100;
}

static size_t rank(double q, size_t n)
{
	size_t r = (size_t)(q * (double)n);

	return (double)r < q * (double)n || !r ? r + 1 : r;
}

T(empty_has_no_quantile_R14)
{
	struct hist h = { 0 };
	uint64_t v = 7;

	CHECK(!hist__quantile(&h, 0.5, &v) && v == 7);
}

T(small_values_are_exact)
{
	struct hist h = { 0 };
	uint64_t v;

	for (uint64_t i = 0; i < 256; i++)
		CHECK(hist__add(&h, i) == 0);
	CHECK(h.n == 256 && h.min == 0 && h.max == 255 && h.sum == 255 * 128);
	for (uint64_t i = 0; i < 256; i++)
		CHECKF(hist__quantile(&h, (double)(i + 1) / 256, &v) && v == i, "%lu: %lu", i, v);
	hist__clear(&h);
}

T(every_value_answers_within_one_percent)
{
	for (int i = 0; i < 20000; i++) {
		struct hist h = { 0 };
		uint64_t want = rnd() >> (rnd() % 64), v;

		/* neighbours far away, so that the clamp to minimum and maximum does not help */
		hist__add(&h, 0);
		hist__add(&h, want);
		hist__add(&h, UINT64_MAX);
		CHECK(hist__quantile(&h, 0.5, &v));
		CHECKF(within_percent(v, want), "%lu answers %lu", want, v);
		hist__clear(&h);
	}
}

T(quantiles_of_a_long_tail_are_within_one_percent)
{
	enum { N = 100000 };
	static const double qs[] = { 0.001, 0.01, 0.5, 0.9, 0.99, 0.999, 1 };
	uint64_t *all = malloc(N * sizeof(*all)), v;
	struct hist h = { 0 };

	for (int i = 0; i < N; i++) {
		all[i] = rnd() >> (34 + rnd() % 30);
		hist__add(&h, all[i]);
	}
	qsort(all, N, sizeof(*all), cmp);
	for (size_t i = 0; i < sizeof(qs) / sizeof(qs[0]); i++) {
		uint64_t want = all[rank(qs[i], N) - 1];

		CHECK(hist__quantile(&h, qs[i], &v));
		CHECKF(within_percent(v, want), "q%g: %lu, not %lu", qs[i], v, want);
	}
	hist__quantile(&h, 1, &v);
	CHECK(v <= h.max && h.max == all[N - 1] && h.min == all[0]);
	hist__clear(&h);
	free(all);
}

T(merge_is_the_same_as_adding)
{
	struct hist a = { 0 }, b = { 0 }, both = { 0 };
	uint64_t v, w;

	for (int i = 0; i < 5000; i++) {
		uint64_t x = rnd() >> (rnd() % 60);

		hist__add(i % 3 ? &a : &b, x);
		hist__add(&both, x);
	}
	CHECK(hist__merge(&a, &b) == 0);
	CHECK(a.n == both.n && a.sum == both.sum && a.min == both.min && a.max == both.max);
	for (double q = 0; q <= 1; q += 0.01)
		CHECK(hist__quantile(&a, q, &v) && hist__quantile(&both, q, &w) && v == w);
	hist__clear(&b);
	CHECK(hist__merge(&a, &b) == 0 && a.n == both.n && a.min == both.min);
	CHECK(hist__merge(&b, &a) == 0 && b.n == both.n && b.min == both.min);
	hist__clear(&a);
	hist__clear(&b);
	hist__clear(&both);
}

T(round_sizes_stay_round)
{
	struct hist h = { 0 };
	uint64_t v;

	hist__add(&h, 1);
	hist__add(&h, 65536);
	hist__add(&h, 1 << 20);
	CHECK(hist__quantile(&h, 0.5, &v) && v == 65536);
	hist__clear(&h);
}

T(sum_does_not_wrap)
{
	struct hist h = { 0 };

	hist__add_n(&h, UINT64_MAX / 2, 5);
	CHECK(h.sum == UINT64_MAX && h.n == 5);
	hist__add(&h, 9);
	CHECK(h.sum == UINT64_MAX && h.n == 6);
	hist__clear(&h);
}

T(quantile_stays_between_minimum_and_maximum)
{
	struct hist h = { 0 };
	uint64_t v;

	hist__add(&h, (UINT64_C(1) << 20) + (1 << 14) - 1);
	CHECK(hist__quantile(&h, 0.5, &v) && v == h.min);
	hist__clear(&h);
	hist__add(&h, 1 << 20);
	CHECK(hist__quantile(&h, 0.5, &v) && v == h.max);
	hist__clear(&h);
}

TEST_MAIN
