// SPDX-License-Identifier: GPL-2.0-or-later
/* Wilcoxon-Mann-Whitney over block means, with what neighbours share. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare/stats_priv.h"

#define JOIN_ABOVE 0.15 /* correlation of neighbours from which blocks are joined */
#define JOIN_LEAST 32   /* blocks: not fewer than half as many are left */
#define EXACT_MOST 10   /* blocks in an arm, up to which the distribution is counted out */

struct ranked {
	double v, rank;
	bool of_b;
	size_t at;
};

static int by_value(const void *x, const void *y)
{
	const struct ranked *a = x, *b = y;

	return (a->v > b->v) - (a->v < b->v);
}

/* Middle ranks in the order of `s`, which is sorted; what ties take from the variance. */
static double give_ranks(struct ranked *s, size_t n)
{
	double ties = 0;

	for (size_t i = 0, k; i < n; i = k) {
		double t;

		for (k = i + 1; k < n && s[k].v == s[i].v; k++)
			;
		t = (double)(k - i);
		ties += t * t * t - t;
		for (size_t j = i; j < k; j++)
			s[j].rank = (double)(i + k + 1) / 2;
	}
	return ties;
}

/* Of neighbours, by rank in both arms; corrected for its bias of about -1/n. */
static double correlation(const double *rank, size_t na, size_t nb)
{
	double cov = 0, var = 0, rho;

	for (int arm = 0; arm < 2; arm++) {
		const double *r = arm ? rank + na : rank;
		size_t n = arm ? nb : na;
		double mean = 0;

		for (size_t i = 0; i < n; i++)
			mean += r[i] / (double)n;
		for (size_t i = 0; i < n; i++) {
			var += (r[i] - mean) * (r[i] - mean);
			if (i + 1 < n)
				cov += (r[i] - mean) * (r[i + 1] - mean);
		}
	}
	rho = var > 1e-6 ? cov / var + 2.0 / (double)(na + nb) : 0;
	return rho > 0.9 ? 0.9 : rho > 0 ? rho : 0;
}

static size_t join(double *v, size_t n)
{
	for (size_t i = 0; i < n / 2; i++)
		v[i] = (v[2 * i] + v[2 * i + 1]) / 2;
	return n / 2;
}

/* P(U ≤ u) without ties: how many of the choices of na out of na + nb have such a sum. */
static double exact_tail(size_t na, size_t nb, double u)
{
	double ways[EXACT_MOST + 1][EXACT_MOST * EXACT_MOST + 1] = { 0 }, all = 0, low = 0;

	ways[0][0] = 1;
	/* Each of A's blocks, in order, is above so many of B's, not fewer than the one before. */
	for (size_t above = 0; above <= nb; above++)
		for (size_t k = 1; k <= na; k++)
			for (size_t s = above; s <= na * nb; s++)
				ways[k][s] += ways[k - 1][s - above];
	for (size_t s = 0; s <= na * nb; s++) {
		all += ways[na][s];
		if ((double)s <= u)
			low += ways[na][s];
	}
	return low / all;
}

struct test {
	struct ranked *s;
	double *rank; /* A's blocks in order, then B's */
	double u, sd, rho, inflate;
	bool ties;
};

static void rank_all(struct test *t, const double *a, size_t na, const double *b, size_t nb)
{
	size_t n = na + nb;
	double ties, sum = 0;

	for (size_t i = 0; i < n; i++)
		t->s[i] = (struct ranked){ .v = i < na ? a[i] : b[i - na], .of_b = i >= na, .at = i };
	qsort(t->s, n, sizeof(*t->s), by_value);
	ties = give_ranks(t->s, n);
	for (size_t i = 0; i < n; i++) {
		t->rank[t->s[i].at] = t->s[i].rank;
		sum += t->s[i].of_b ? t->s[i].rank : 0;
	}
	t->ties = ties > 0;
	t->u = sum - (double)nb * (double)(nb + 1) / 2;
	t->rho = correlation(t->rank, na, nb);
	t->inflate = (1 + t->rho) / (1 - t->rho);
	t->sd = sqrt((double)na * (double)nb / 12 * ((double)(n + 1) - ties / ((double)n * (double)(n - 1))) *
		     t->inflate);
}

static double p_of(const struct test *t, size_t na, size_t nb)
{
	double mean = (double)na * (double)nb / 2, off = fabs(t->u - mean), p;

	if (!t->ties && t->rho == 0 && na <= EXACT_MOST && nb <= EXACT_MOST)
		p = 2 * exact_tail(na, nb, mean - off);
	else if (t->sd > 0)
		p = 2 * stats_tail(off > 0.5 ? (off - 0.5) / t->sd : 0, 0);
	else
		p = 1;
	return p < 1 ? p : 1;
}

/* 1.4826 · median of the deviations from the median, over the median. */
static double spread(double *scratch, const double *v, size_t n)
{
	double m;

	for (size_t i = 0; i < n; i++)
		scratch[i] = v[i];
	stats_sort(scratch, n);
	m = stats_median_sorted(scratch, n);
	if (m <= 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(v[i] - m);
	stats_sort(scratch, n);
	return 1.4826 * stats_median_sorted(scratch, n) / m;
}

/* The k-th smallest; reorders. */
static double nth(double *v, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = v[low + (high - low) / 2];
		size_t i = low, j = high;

		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j) {
				double x = v[i];

				v[i++] = v[j];
				v[j] = x;
				if (!j--)
					break;
			}
		}
		if (k <= j && j != SIZE_MAX)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

static void ratios(const struct test *t, double *q, const double *a, size_t na, const double *b, size_t nb,
		   double z, struct stats_result *r)
{
	size_t n = na * nb, k = 0;
	double at = (double)n / 2 - z * t->sd;

	for (size_t i = 0; i < na; i++)
		for (size_t j = 0; j < nb; j++)
			q[i * nb + j] = b[j] / a[i];
	if (at > 0)
		k = (size_t)at;
	r->ratio = (nth(q, n, (n - 1) / 2) + nth(q, n, n / 2)) / 2;
	r->low = nth(q, n, k);
	r->high = nth(q, n, n - 1 - k);
}

int stats_rank(double *a, size_t na, double *b, size_t nb, const struct stats_opts *o, struct stats_result *r)
{
	size_t room = na + nb;
	struct test t = { .s = malloc(room * sizeof(*t.s)), .rank = malloc(room * sizeof(*t.rank)) };
	double *q = malloc((na * nb + room) * sizeof(*q));
	double sa, sb;
	int rc = -ENOMEM;

	if (!t.s || !t.rank || !q)
		goto out;
	for (;;) {
		rank_all(&t, a, na, b, nb);
		if (t.rho < JOIN_ABOVE || (na < JOIN_LEAST && nb < JOIN_LEAST))
			break;
		if (na >= JOIN_LEAST)
			na = join(a, na);
		if (nb >= JOIN_LEAST)
			nb = join(b, nb);
	}
	sa = spread(q, a, na);
	sb = spread(q, b, nb);
	r->unit = STATS_UNIT_BLOCK;
	r->na = na;
	r->nb = nb;
	r->correlation = t.rho;
	r->p = p_of(&t, na, nb);
	r->noise = fmax(o->floor, fmax(sa, sb));
	ratios(&t, q, a, na, b, nb, stats_tail_at(o->alpha / 2, 0), r);
	/* π/3: what ranks lose against means where the noise is normal */
	r->detectable = stats_detects(
		sqrt(t.inflate * 1.0471975512 * (sa * sa / (double)na + sb * sb / (double)nb)), 0, r->noise,
		o);
	rc = 0;
out:
	free(t.s);
	free(t.rank);
	free(q);
	return rc;
}
