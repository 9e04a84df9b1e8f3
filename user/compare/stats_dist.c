// SPDX-License-Identifier: GPL-2.0-or-later
/* Tails of Student's t and of the normal distribution, by quadrature: a few per key, and no tables. */
#include <math.h>

#include "compare/stats.h"

#define STEPS 512

/* Of integer degrees of freedom, from 1/π and 1/√8 upward; far up it is the normal one. */
static double factor(unsigned df)
{
	double c = df % 2 ? 0.31830988618379067 : 0.35355339059327376;

	for (unsigned k = df % 2 ? 1 : 2; k < df; k += 2)
		c *= (k + 1.0) / k * sqrt(k / (k + 2.0));
	return c;
}

static double density(double t, unsigned df)
{
	if (!df)
		return exp(-t * t / 2) * 0.3989422804014327;
	return exp(-(df + 1.0) / 2 * log(1 + t * t / df));
}

/* ∫ from t to infinity, with t + x / (1 - x) for x in 0 … 1. */
double stats_tail(double t, unsigned df)
{
	double sum = 0, c;

	if (df > 200)
		df = 0;
	c = df ? factor(df) : 1;
	for (int i = 0; i < STEPS; i++) {
		double x = (i + 0.5) / STEPS, rest = 1 - x;

		sum += density(t + x / rest, df) / (rest * rest);
	}
	sum *= c / STEPS;
	return sum < 0.5 ? sum : 0.5;
}

/* The tail is convex: Newton's steps from 0 never pass the root. */
double stats_tail_at(double p, unsigned df)
{
	double t = 0, c;

	if (df > 200)
		df = 0;
	c = df ? factor(df) : 1;
	for (int i = 0; i < 100; i++) {
		double step = (stats_tail(t, df) - p) / (c * density(t, df));

		t += step;
		if (step < 1e-9 * (1 + t))
			break;
	}
	return t;
}
