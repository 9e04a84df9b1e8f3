/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of `gpubpf diff` and `gate`: planted changes, and how often nothing is called something. */
#include "../t.h"

#include <math.h>
#include <stdint.h>

#include "compare/stats.h"

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* Nearly normal: the sum of four. */
static double normal(void)
{
	return (uniform() + uniform() + uniform() + uniform() - 2) * 1.7320508;
}

/* n values around `mean`, relative noise, each following its neighbour by phi. */
static void fill(struct stats_blocks *b, unsigned n, double mean, double noise, double phi)
{
	double x = normal();

	*b = (struct stats_blocks){ 0 };
	for (unsigned i = 0; i < n; i++) {
		CHECK(stats_blocks__add(b, (uint64_t)(mean * (1 + noise * x) + 0.5)) == 0);
		x = phi * x + sqrt(1 - phi * phi) * normal();
	}
}

static struct stats_result compare(const struct stats_blocks *a, size_t na, const struct stats_blocks *b,
				   size_t nb)
{
	const struct stats_blocks *va[16], *vb[16];
	struct stats_arm aa = { va, na }, ab = { vb, nb };
	struct stats_result r;

	for (size_t i = 0; i < na; i++)
		va[i] = &a[i];
	for (size_t i = 0; i < nb; i++)
		vb[i] = &b[i];
	CHECK(stats_compare(&aa, &ab, NULL, &r) == 0);
	return r;
}

static void clear(struct stats_blocks *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		stats_blocks__clear(&b[i]);
}

T(blocks_keep_every_whole_block)
{
	struct stats_blocks b = { 0 };
	uint64_t sum = 0;

	for (uint64_t i = 1; i <= 1000; i++) {
		CHECK(stats_blocks__add(&b, i) == 0);
		CHECK(b.n <= STATS_BLOCKS && b.n * b.size + b.rest_n == i);
	}
	for (uint32_t i = 0; i < b.n; i++)
		sum += b.sum[i];
	CHECK(sum + b.rest_sum == 500500);
	CHECK(b.size == 16 && b.n == 62 && b.rest_n == 8);
	CHECK(stats_blocks__mean(&b, 0) == 8.5 && stats_blocks__mean(&b, 1) == 24.5);
	stats_blocks__clear(&b);
}

/* Streams of values behind each other: every mean is of whole blocks of one size, and all but what is no whole block is there. */
T(blocks_are_appended)
{
	for (unsigned i = 0; i < 2000; i++) {
		unsigned na = (unsigned)(uniform() * 400), nb = (unsigned)(uniform() * 3000);
		struct stats_blocks a = { 0 }, b = { 0 };

		for (unsigned k = 0; k < na; k++)
			CHECK(stats_blocks__add(&a, 10) == 0);
		for (unsigned k = 0; k < nb; k++)
			CHECK(stats_blocks__add(&b, 10) == 0);
		CHECK(stats_blocks__append(&a, &b) == 0);
		CHECKF(a.n <= STATS_BLOCKS && a.n * a.size <= na + nb && a.n * a.size + 3 * a.size >= na + nb,
		       "%u and %u: %u blocks of %lu", na, nb, a.n, (unsigned long)a.size);
		for (uint32_t k = 0; k < a.n; k++)
			CHECK(stats_blocks__mean(&a, k) == 10);
		CHECK(stats_blocks__add(&a, 10) == 0);
		stats_blocks__clear(&a);
		stats_blocks__clear(&b);
	}
}

static bool near(double v, double want, double by)
{
	return fabs(v - want) <= by;
}

T(tails_are_those_of_the_tables)
{
	CHECK(near(stats_tail(0, 0), 0.5, 1e-4));
	CHECK(near(stats_tail(1.959964, 0), 0.025, 1e-5));
	CHECK(near(stats_tail(5, 0), 2.866516e-7, 1e-9));
	CHECK(near(stats_tail(12.7062, 1), 0.025, 1e-5));
	CHECK(near(stats_tail(4.302653, 2), 0.025, 1e-5));
	CHECK(near(stats_tail(2.776445, 4), 0.025, 1e-5));
	CHECK(near(stats_tail(2.570582, 5), 0.025, 1e-5));
	CHECK(near(stats_tail_at(0.025, 0), 1.959964, 1e-3));
	CHECK(near(stats_tail_at(0.025, 4), 2.776445, 1e-3));
	CHECK(near(stats_tail_at(0.005, 30), 2.749996, 1e-3));
}

/* n1 = n2 = 4, all of B above all of A: 2 of 70. */
T(few_blocks_are_counted_out)
{
	struct stats_blocks a = { 0 }, b = { 0 };
	struct stats_result r;

	for (uint64_t i = 0; i < 4; i++)
		CHECK(!stats_blocks__add(&a, 1000 + i) && !stats_blocks__add(&b, 2000 + i));
	r = compare(&a, 1, &b, 1);
	CHECK(r.unit == STATS_UNIT_BLOCK && r.na == 4 && r.nb == 4);
	CHECKF(near(r.p, 2.0 / 70, 1e-9) || r.correlation > 0, "%g", r.p);
	CHECK(near(r.ratio, 2, 0.01) && r.low <= r.ratio && r.ratio <= r.high);
	clear(&a, 1);
	clear(&b, 1);
}

T(too_few_are_not_compared_R14)
{
	struct stats_blocks a = { 0 }, b = { 0 };
	struct stats_result r;

	for (uint64_t i = 0; i < 3; i++)
		CHECK(!stats_blocks__add(&a, 1000) && !stats_blocks__add(&b, 2000));
	r = compare(&a, 1, &b, 1);
	CHECK(r.unit == STATS_UNIT_NONE && stats_judge(&r, 0, NULL) == STATS_NOT_COMPARED);
	CHECK(compare(&a, 1, &b, 0).unit == STATS_UNIT_NONE);
	clear(&a, 1);
	clear(&b, 1);
}

T(constant_times_that_differ_do_differ)
{
	struct stats_blocks a = { 0 }, b = { 0 };
	struct stats_result r;

	for (int i = 0; i < 640; i++)
		CHECK(!stats_blocks__add(&a, 1000) && !stats_blocks__add(&b, 1030));
	r = compare(&a, 1, &b, 1);
	CHECKF(stats_judge(&r, r.p, NULL) == STATS_MORE && near(r.ratio, 1.03, 1e-9), "%g %g", r.p, r.ratio);
	r = compare(&a, 1, &a, 1);
	CHECK(stats_judge(&r, r.p, NULL) == STATS_NO_DIFFERENCE && r.ratio == 1 && r.p == 1);
	clear(&a, 1);
	clear(&b, 1);
}

/* Of 1,000 pairs without a change; phi: by how much neighbours follow each other. */
static unsigned false_alarms(unsigned n, double phi, unsigned *claimed)
{
	unsigned rejected = 0;

	for (int i = 0; i < 1000; i++) {
		struct stats_blocks v[2];
		struct stats_result r;

		fill(&v[0], n, 100000, 0.01, phi);
		fill(&v[1], n, 100000, 0.01, phi);
		r = compare(&v[0], 1, &v[1], 1);
		rejected += r.p <= STATS_ALPHA;
		*claimed += stats_judge(&r, r.p, NULL) >= STATS_MORE;
		clear(v, 2);
	}
	return rejected;
}

/* Stated are 50; sampling gives or takes 20. */
T(a_thousand_pairs_without_change_alarm_at_the_stated_rate)
{
	static const struct {
		unsigned n;
		double phi;
		unsigned least, most, claimed;
	} of[] = {
		{ 8, 0, 15, 70, 70 }, { 40, 0, 25, 70, 5 }, { 300, 0.6, 20, 75, 5 }, { 640, 0.9, 10, 75, 40 }
	};

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		unsigned claimed = 0, n = false_alarms(of[i].n, of[i].phi, &claimed);

		CHECKF(n >= of[i].least && n <= of[i].most && claimed <= of[i].claimed,
		       "%u values, phi %g: %u alarms, %u claimed", of[i].n, of[i].phi, n, claimed);
	}
}

static unsigned found(double by, unsigned n, enum stats_finding *other)
{
	unsigned more = 0;

	for (int i = 0; i < 100; i++) {
		struct stats_blocks v[2];
		struct stats_result r;
		enum stats_finding f;

		fill(&v[0], n, 100000, 0.01, 0);
		fill(&v[1], n, 100000 * by, 0.01, 0);
		r = compare(&v[0], 1, &v[1], 1);
		f = stats_judge(&r, r.p * 50, NULL); /* one of fifty keys */
		more += f == STATS_MORE;
		if (f != STATS_MORE)
			*other = f;
		clear(v, 2);
	}
	return more;
}

T(three_percent_in_noise_of_one_are_found_and_a_fifth_of_a_percent_is_not_claimed)
{
	enum stats_finding f = STATS_NOT_COMPARED;

	CHECK(found(1.03, 1000, &f) == 100);
	CHECK(found(1.03, 64, &f) >= 97);
	CHECK(found(1.002, 1000, &f) == 0);
	CHECK(found(1.002, 20000, &f) == 0 && f == STATS_WITHIN_NOISE);
}

T(what_is_called_detectable_is_detected)
{
	unsigned more = 0;
	double spread = 0.05, by = 1 + stats_detectable(32, spread, NULL);

	for (int i = 0; i < 400; i++) {
		struct stats_blocks v[2];
		struct stats_result r;

		fill(&v[0], 32, 100000, spread, 0);
		fill(&v[1], 32, 100000 * by, spread, 0);
		r = compare(&v[0], 1, &v[1], 1);
		more += r.p <= STATS_ALPHA && r.ratio > 1;
		clear(v, 2);
	}
	CHECKF(more >= 300 && more <= 360, "%u of 400 at a change of %g", more, by);
	CHECK(stats_detectable(1, spread, NULL) == INFINITY);
	CHECK(stats_detectable(10, spread, NULL) > stats_detectable(100, spread, NULL));
}

/* Runs differ by 2 %: within one of each that is a difference, over four it is none. */
T(with_several_captures_the_capture_is_the_unit)
{
	unsigned rejected = 0, covers = 0, caught = 0;

	for (int i = 0; i < 1000; i++) {
		struct stats_blocks v[8];
		struct stats_result r;

		for (int k = 0; k < 8; k++)
			fill(&v[k], 20,
			     100000 * (1 + 0.02 * normal()) *
				     (k < 4   ? 1
				      : i % 2 ? 1
					      : 1.15),
			     0.001, 0);
		r = compare(v, 4, v + 4, 4);
		CHECK(r.unit == STATS_UNIT_CAPTURE && r.na == 4 && r.nb == 4);
		if (i % 2) {
			rejected += r.p <= STATS_ALPHA;
			covers += r.low <= 1 && r.high >= 1;
		} else {
			caught += stats_judge(&r, r.p, NULL) == STATS_MORE;
		}
		clear(v, 8);
	}
	CHECKF(rejected >= 10 && rejected <= 42, "%u of 500", rejected);
	CHECKF(covers == 500 - rejected, "%u covered, %u rejected", covers, rejected);
	CHECKF(caught >= 490, "%u of 500", caught);
}

/* The interval holds the true ratio as often as it says. */
T(intervals_cover)
{
	unsigned covers = 0;

	for (int i = 0; i < 500; i++) {
		struct stats_blocks v[2];
		struct stats_result r;

		fill(&v[0], 200, 100000, 0.03, 0);
		fill(&v[1], 200, 110000, 0.03, 0);
		r = compare(&v[0], 1, &v[1], 1);
		covers += r.low <= 1.1 && 1.1 <= r.high;
		clear(v, 2);
	}
	CHECKF(covers >= 460 && covers <= 492, "%u of 500", covers);
}

T(one_outlier_moves_nothing)
{
	struct stats_blocks v[2];
	struct stats_result r;

	fill(&v[0], 64, 100000, 0.01, 0);
	fill(&v[1], 63, 100000, 0.01, 0);
	CHECK(stats_blocks__add(&v[1], 1000000000) == 0);
	r = compare(&v[0], 1, &v[1], 1);
	CHECKF(near(r.ratio, 1, 0.01) && stats_judge(&r, r.p, NULL) < STATS_MORE, "%g", r.ratio);
	clear(v, 2);
}

T(holm_corrects_for_all_tests)
{
	double p[4] = { 0.04, 0.01, 0.03, 0.5 };

	CHECK(stats_holm(p, 4) == 0);
	CHECK(near(p[1], 0.04, 1e-12) && near(p[2], 0.09, 1e-12) && near(p[0], 0.09, 1e-12) && p[3] == 0.5);
	CHECK(stats_holm(p, 0) == 0);
}

TEST_MAIN
