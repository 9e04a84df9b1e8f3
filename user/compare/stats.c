// SPDX-License-Identifier: GPL-2.0-or-later
#include "compare/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "compare/stats_priv.h"

/* ---- Blocks ---- */

static void halve(struct stats_blocks *b)
{
	for (uint32_t i = 0; i < b->n / 2; i++)
		b->sum[i] = b->sum[2 * i] + b->sum[2 * i + 1];
	b->n /= 2;
	b->size *= 2;
}

static int make_room(struct stats_blocks *b)
{
	uint32_t room = b->room ? b->room * 4 : 4;
	uint64_t *sum;

	if (b->n == STATS_BLOCKS) {
		halve(b);
		return 0;
	}
	if (b->n < b->room)
		return 0;
	sum = realloc(b->sum, room * sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	b->sum = sum;
	b->room = room;
	return 0;
}

int stats_blocks__add(struct stats_blocks *b, uint64_t v)
{
	if (!b->size)
		b->size = 1;
	if (b->rest_n + 1 == b->size) {
		uint64_t before = b->size;
		int rc = make_room(b);

		if (rc)
			return rc;
		if (b->size == before) {
			b->sum[b->n++] = b->rest_sum + v;
			b->rest_n = b->rest_sum = 0;
			return 0;
		}
	}
	b->rest_n++;
	b->rest_sum += v;
	return 0;
}

int stats_blocks__append(struct stats_blocks *b, const struct stats_blocks *from)
{
	uint64_t size = from->size > b->size ? from->size : b->size, step;
	uint64_t *sum;

	if (!from->size)
		return 0;
	while ((b->n * b->size + from->n * from->size) / size > STATS_BLOCKS)
		size *= 2;
	sum = realloc(b->sum, STATS_BLOCKS * sizeof(*sum));
	if (!sum)
		return -ENOMEM;
	b->sum = sum;
	b->room = STATS_BLOCKS;
	if (!b->size)
		b->size = size;
	while (b->size < size) {
		if (b->n % 2) { /* half a block */
			b->n--;
			b->rest_n += b->size;
			b->rest_sum += b->sum[b->n];
		}
		halve(b);
	}
	step = size / from->size;
	for (uint32_t i = 0; i + step <= from->n && b->n < STATS_BLOCKS; i += (uint32_t)step) {
		b->sum[b->n] = 0;
		for (uint64_t k = 0; k < step; k++)
			b->sum[b->n] += from->sum[i + k];
		b->n++;
	}
	/* what is left of either is in no mean, and in no block that is to come */
	b->rest_n = b->rest_sum = 0;
	return 0;
}

double stats_blocks__mean(const struct stats_blocks *b, uint32_t i)
{
	return (double)b->sum[i] / (double)b->size;
}

void stats_blocks__clear(struct stats_blocks *b)
{
	free(b->sum);
	*b = (struct stats_blocks){ 0 };
}

/* ---- Small things ---- */

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;

	return (a > b) - (a < b);
}

void stats_sort(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), by_value);
}

double stats_median_sorted(const double *v, size_t n)
{
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double stats_detects(double se, unsigned df, double noise, const struct stats_opts *o)
{
	double beta = 1 - o->power;
	double power = beta < 0.5 ? stats_tail_at(beta, df) : 0;
	double rejects = (stats_tail_at(o->alpha / 2, df) + power) * se;
	double above = log(1 + noise) + power * se;

	return exp(fmax(rejects, above)) - 1;
}

double stats_detectable(size_t n, double spread, const struct stats_opts *opts)
{
	struct stats_opts o = stats_defaults(opts);

	if (n < 2)
		return INFINITY;
	/* ranks lose π/3 against means, and what neighbours seem to share by chance about 12 % more */
	return stats_detects(spread * sqrt(1.0472 * 1.12 * 2 / (double)n), (unsigned)(2 * n - 2), o.floor,
			     &o);
}

/* ---- The test ---- */

/* Means of a capture's blocks; those of 0 have no ratio. */
static size_t means_of(const struct stats_blocks *b, double *v)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->n; i++)
		if (b->sum[i])
			v[n++] = stats_blocks__mean(b, i);
	return n;
}

/* The captures' logarithms of their median block mean: sum of squares around the arm's mean. */
static size_t levels(const struct stats_arm *a, double *mean, double *squares)
{
	double v[STATS_BLOCKS], sum = 0, sq = 0;
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		size_t blocks = means_of(a->v[i], v);
		double level, before;

		if (!blocks)
			continue;
		stats_sort(v, blocks);
		level = log(stats_median_sorted(v, blocks));
		before = n ? sum / (double)n : 0;
		sum += level;
		n++;
		sq += (level - before) * (level - sum / (double)n);
	}
	*mean = n ? sum / (double)n : 0;
	*squares = n > 1 ? sq : 0;
	return n;
}

static void by_capture(const struct stats_arm *a, const struct stats_arm *b, const struct stats_opts *o,
		       struct stats_result *r)
{
	double ma, mb, qa, qb, se, off, reach;
	size_t na = levels(a, &ma, &qa), nb = levels(b, &mb, &qb);
	unsigned df;

	if (!na || !nb || na + nb < 3)
		return;
	df = (unsigned)(na + nb - 2);
	se = sqrt((qa + qb) / df * (1.0 / (double)na + 1.0 / (double)nb));
	off = mb - ma;
	reach = stats_tail_at(o->alpha / 2, df) * se;
	*r = (struct stats_result){ .unit = STATS_UNIT_CAPTURE,
				    .na = na,
				    .nb = nb,
				    .ratio = exp(off),
				    .low = exp(off - reach),
				    .high = exp(off + reach),
				    .p = se > 0     ? 2 * stats_tail(fabs(off) / se, df)
					 : off == 0 ? 1
						    : 0,
				    .noise = o->floor,
				    .detectable = stats_detects(se, df, o->floor, o) };
}

int stats_compare(const struct stats_arm *a, const struct stats_arm *b, const struct stats_opts *opts,
		  struct stats_result *r)
{
	struct stats_opts o = stats_defaults(opts);
	double va[STATS_BLOCKS], vb[STATS_BLOCKS];
	size_t na, nb;

	*r = (struct stats_result){ .unit = STATS_UNIT_NONE };
	if (a->n > 1 || b->n > 1) {
		by_capture(a, b, &o, r);
		return 0;
	}
	if (!a->n || !b->n)
		return 0;
	na = means_of(a->v[0], va);
	nb = means_of(b->v[0], vb);
	if (na < STATS_BLOCKS_MIN || nb < STATS_BLOCKS_MIN)
		return 0;
	return stats_rank(va, na, vb, nb, &o, r);
}

struct numbered {
	double p;
	size_t at;
};

static int by_p(const void *x, const void *y)
{
	const struct numbered *a = x, *b = y;

	return (a->p > b->p) - (a->p < b->p);
}

int stats_holm(double *p, size_t n)
{
	struct numbered *v = malloc((n + 1) * sizeof(*v));
	double most = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = (struct numbered){ p[i], i };
	qsort(v, n, sizeof(*v), by_p);
	for (size_t i = 0; i < n; i++) {
		most = fmax(most, v[i].p * (double)(n - i));
		p[v[i].at] = most < 1 ? most : 1;
	}
	free(v);
	return 0;
}

enum stats_finding stats_judge(const struct stats_result *r, double p, const struct stats_opts *opts)
{
	struct stats_opts o = stats_defaults(opts);

	if (r->unit == STATS_UNIT_NONE)
		return STATS_NOT_COMPARED;
	if (p > o.alpha)
		return STATS_NO_DIFFERENCE;
	if (fabs(log(r->ratio)) <= log(1 + r->noise))
		return STATS_WITHIN_NOISE;
	return r->ratio > 1 ? STATS_MORE : STATS_LESS;
}

const char *stats_finding_name(enum stats_finding f)
{
	static const char *const names[] = { "not_compared", "no_difference", "within_noise", "more",
					     "less" };

	return names[f];
}

const char *stats_finding_text(enum stats_finding f)
{
	static const char *const texts[] = { "not compared", "no difference", "within noise", "more",
					     "less" };

	return texts[f];
}
