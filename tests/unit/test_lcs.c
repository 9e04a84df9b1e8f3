/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "compare/lcs.h"

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

#define MOST 60

/* The length by the textbook's table. */
static size_t table(const uint32_t *a, size_t n, const uint32_t *b, size_t m)
{
	static size_t t[MOST + 1][MOST + 1];

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++)
			t[i][k] = !i || !k                    ? 0
				  : a[i - 1] == b[k - 1]      ? t[i - 1][k - 1] + 1
				  : t[i - 1][k] > t[i][k - 1] ? t[i - 1][k]
							      : t[i][k - 1];
	return t[n][m];
}

/* What is not marked is the same in both, in its order; how much that is. */
static size_t common(const uint32_t *a, size_t n, const uint8_t *in_a, const uint32_t *b, size_t m,
		     const uint8_t *in_b)
{
	size_t k = 0, both = 0;

	for (size_t i = 0; i < n; i++) {
		if (in_a[i])
			continue;
		while (k < m && in_b[k])
			k++;
		CHECK(k < m && a[i] == b[k]);
		k++;
		both++;
	}
	while (k < m && in_b[k])
		k++;
	CHECK(k == m);
	return both;
}

T(lcs_is_as_long_as_the_tables)
{
	for (int i = 0; i < 20000; i++) {
		uint32_t a[MOST], b[MOST], letters = 1 + (uint32_t)(rnd() % 6);
		uint8_t in_a[MOST] = { 0 }, in_b[MOST] = { 0 };
		size_t n = rnd() % (MOST + 1), m = rnd() % (MOST + 1), got, want;

		if (i % 2)
			n %= 8, m %= 8;
		for (size_t k = 0; k < n; k++)
			a[k] = (uint32_t)(rnd() % letters);
		for (size_t k = 0; k < m; k++)
			b[k] = (uint32_t)(rnd() % letters);
		CHECK(lcs_mark(a, n, b, m, 1000, in_a, in_b) == 0);
		got = common(a, n, in_a, b, m, in_b);
		want = table(a, n, b, m);
		CHECKF(got == want, "%d: %zu and %zu: %zu, not %zu", i, n, m, got, want);
	}
}

T(lcs_gives_up_at_its_bound_and_not_before)
{
	enum { N = 3000 };
	uint32_t *a = malloc(N * sizeof(*a)), *b = malloc(N * sizeof(*b));
	uint8_t *in_a = calloc(1, N), *in_b = calloc(1, N);
	size_t differ = 0;

	for (uint32_t i = 0; i < N; i++)
		a[i] = b[i] = i % 7;
	for (uint32_t i = 5; i < N; i += 100, differ++)
		b[i] = 1000 + i;
	CHECK(lcs_mark(a, N, b, N, 2 * differ, in_a, in_b) == 0);
	CHECK(common(a, N, in_a, b, N, in_b) == N - differ);
	CHECK(lcs_mark(a, N, b, N, differ, in_a, in_b) == -E2BIG);
	free(a);
	free(b);
	free(in_a);
	free(in_b);
}

TEST_MAIN
