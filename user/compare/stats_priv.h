/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_COMPARE_STATS_PRIV_H
#define GPUBPF_COMPARE_STATS_PRIV_H

#include "compare/stats.h"

static inline struct stats_opts stats_defaults(const struct stats_opts *o)
{
	return (struct stats_opts){ .alpha = o && o->alpha > 0 ? o->alpha : STATS_ALPHA,
				    .power = o && o->power > 0 ? o->power : STATS_POWER,
				    .floor = o && o->floor > 0 ? o->floor : STATS_FLOOR };
}

void stats_sort(double *v, size_t n);
double stats_median_sorted(const double *v, size_t n);
/* The change that a test with this standard error of log ratio claims with o->power. */
double stats_detects(double se, unsigned df, double noise, const struct stats_opts *o);

/* stats_rank.c: v is scratch. */
int stats_rank(double *a, size_t na, double *b, size_t nb, const struct stats_opts *o,
	       struct stats_result *r);

#endif
