/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of a delay, bars and tails of times. */
#include "../t.h"

#include <stdlib.h>

#include "latency/lat_math.h"

static uint64_t part[LAT_PARTS];

static uint64_t total(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < LAT_PARTS; i++)
		sum += part[i];
	return sum;
}

T(parts_come_in_their_order)
{
	const struct lat_span others[] = { { 100, 320 }, { 400, 500 } };
	const struct lat_window w = { .from = 100,
				      .start = 1000,
				      .prev_end = 200,
				      .wait_end = 300,
				      .has_queued = true,
				      .queued = 600,
				      .has_submitted = true,
				      .submitted = 900,
				      .others = others,
				      .nothers = 2 };

	CHECK(lat_split_rest(&w) == 300);
	lat_split(&w, part);
	CHECK(part[LAT_CALL] == 0);
	CHECK(part[LAT_STREAM] == 100);
	CHECK(part[LAT_WAIT] == 100);
	CHECK(part[LAT_OTHERS] == 20 + 100);
	CHECK(part[LAT_UNKNOWN] == 80 + 100);
	CHECK(part[LAT_QUEUED] == 300);
	CHECK(part[LAT_SUBMITTED] == 100);
	CHECK(total() == 900);
}

T(parts_add_up_whatever_the_times)
{
	uint64_t seed = 88172645463325252u;

	for (int i = 0; i < 20000; i++) {
		struct lat_span s[3];
		uint64_t v[12];
		struct lat_window w;

		for (int k = 0; k < 12; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			v[k] = seed % 1000;
		}
		w = (struct lat_window){ .from = v[0] < v[1] ? v[0] : v[1],
					 .start = v[0] < v[1] ? v[1] : v[0],
					 .prev_end = v[2],
					 .wait_end = v[3],
					 .has_queued = v[4] & 1,
					 .queued = v[4],
					 .has_submitted = v[5] & 1,
					 .submitted = v[5],
					 .others = s };
		for (int k = 0; k < 3; k++)
			s[k] = (struct lat_span){ v[6 + 2 * k], v[7 + 2 * k] };
		w.nothers = lat_unite(s, 3);
		lat_split(&w, part);
		CHECK(total() == w.start - w.from);
	}
}

T(nothing_known_is_said_to_be_unknown_R14)
{
	const struct lat_window w = { .from = 10, .start = 50 };

	lat_split(&w, part);
	CHECK(part[LAT_UNKNOWN] == 40 && total() == 40);
}

T(bars_hold_every_value_once)
{
	struct lat_dist d = { 0 };
	struct lat_bin bins[24];
	uint64_t n = 0;
	unsigned nbins;

	for (uint64_t v = 1; v < UINT64_C(1) << 62; v = v * 3 + 1) {
		uint64_t below;

		CHECK(lat_bar_from(lat_bar(v)) <= v);
		CHECK(!lat_bar_below(lat_bar(v), &below) || v < below);
		CHECK(lat_dist__add(&d, v) == 0);
		n++;
	}
	CHECK(lat_dist__add(&d, 0) == 0 && lat_dist__add(&d, UINT64_MAX) == 0);
	n += 2;
	CHECK(lat_bar(UINT64_MAX) < LAT_BARS);
	nbins = lat_bins(&d, bins, 16);
	CHECK(nbins <= 16);
	for (unsigned i = 0; i < nbins; i++)
		n -= bins[i].n;
	CHECK(n == 0);
	lat_dist__clear(&d);
	for (uint64_t v = 1000; v < 30000; v += 100)
		CHECK(lat_dist__add(&d, v) == 0);
	nbins = lat_bins(&d, bins, 24);
	n = 0;
	for (unsigned i = 0; i < nbins; i++) {
		n += bins[i].n;
		CHECK(!i || bins[i].from == bins[i - 1].below);
	}
	CHECK(n == 290 && n == d.h.n);
	lat_dist__clear(&d);
}

T(bars_that_do_not_fit_are_joined_and_none_is_lost)
{
	struct lat_dist d = { 0 };
	struct lat_bin bins[24];
	uint64_t n = 0, all = 0;
	unsigned nbins;

	for (uint64_t v = 1; v < 1000000000000; v *= 7, all++)
		CHECK(lat_dist__add(&d, v) == 0);
	nbins = lat_bins(&d, bins, 24);
	for (unsigned i = 0; i < nbins; i++)
		n += bins[i].n;
	CHECK(n == all);
	lat_dist__clear(&d);
}

T(the_slow_are_one_in_a_hundred)
{
	struct lat_study s = { 0 };
	struct lat_facts first = { .n = 0 }, rest = { .n = 0 };
	struct lat_tail t;
	const struct lat_feature *f;

	lat_facts__add(&first, 7, 1);
	lat_facts__add(&rest, 7, 2);
	CHECK(!lat_study__tail(&s, &t));
	for (uint64_t i = 0; i < 1000; i++) {
		uint64_t ns = i < 10   ? 1000000 + i * 100000
			      : i < 20 ? 500000
				       : 1000,
			 parts[2] = { ns / 2, ns - ns / 2 };

		CHECK(lat_study__add(&s, ns, parts, 2, i < 10 ? &first : &rest) == 0);
	}
	CHECK(lat_study__tail(&s, &t));
	CHECK(t.slow == 10 && t.others == 990);
	CHECK(t.from > 990000 && t.from <= 1000000);
	f = hmap__get(&s.features, &first.fact[0]);
	CHECK(f && hist__from(&f->h, t.from) == 10);
	f = hmap__get(&s.features, &rest.fact[0]);
	CHECK(f && hist__from(&f->h, t.from) == 0 && f->h.n == 990);
	/* the parts of the slow ones, exactly */
	CHECK(hist__from(&s.part[0], t.from) == (10 * 1000000 + 45 * 100000) / 2);
	CHECK(hist__from(&s.had[0], t.from) == 10);
	CHECK(lat_study__rename(&s, rest.fact[0], first.fact[0]) == 0);
	f = hmap__get(&s.features, &first.fact[0]);
	CHECK(f->h.n == 1000);
	lat_study__clear(&s);
}

T(equal_calls_are_slow_together)
{
	struct hist h = { 0 };
	uint64_t v;

	for (int i = 0; i < 100; i++)
		CHECK(hist__add(&h, 5000) == 0);
	CHECK(hist__tail(&h, 1, &v) && hist__from(&h, v) == 100);
	hist__clear(&h);
}

TEST_MAIN
