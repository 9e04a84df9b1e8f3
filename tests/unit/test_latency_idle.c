/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps of devices against the calls of threads: how time is shared out, and that it adds up. */
#include "../t.h"

#include <stdlib.h>
#include <string.h>

#include "latency/lat_idle.h"
#include "model/procs.h"

static struct lat_idle s;
static struct proc proc = { .tgid = 7 };
static uint32_t items;
static uint64_t wait_end; /* of the next thing that runs */

static uint64_t seed;
static uint64_t any(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* ---- What the tests are written in ---- */

static void ran_for(uint32_t device, uint64_t start, uint64_t end, uint32_t tid, uint64_t entry, uint64_t ret)
{
	struct idle_ran r = { .proc = &proc,
			      .device = device,
			      .activity = items++,
			      .start = start,
			      .end = end,
			      .why = tid ? IDLE_CAUSES : IDLE_ORPHAN,
			      .caller = { .proc = &proc,
					  .tgid = 7,
					  .tid = tid,
					  .api = 3,
					  .entry = entry,
					  .ret = ret,
					  .has_ret = ret != 0,
					  .wait_end = wait_end } };

	CHECK(lat_idle__ran(&s, &r) == 0);
}

static void call(uint32_t tid, uint64_t entry, uint64_t ret, uint32_t flags)
{
	struct gpubpf_call c = { .kind = GPUBPF_REC_CALL,
				 .size = sizeof(c),
				 .flags = flags,
				 .tgid = 7,
				 .tid = tid,
				 .t_entry = entry,
				 .t_return = ret,
				 .api = 5 };

	CHECK(lat_idle__record(&s, (struct gpubpf_rec *)&c) == 0);
}

/* Of the next call: how long it slept of the time before it, and in it. */
static void breakdown(uint32_t tid, uint64_t before, uint64_t slept_before, uint64_t entry, uint64_t slept,
		      uint64_t ret)
{
	struct gpubpf_latency_long l = { .head = { .kind = GPUBPF_REC_LATENCY,
						   .size = sizeof(l),
						   .flags = GPUBPF_LATENCY_OFF | GPUBPF_LATENCY_GAP,
						   .tgid = 7,
						   .tid = tid,
						   .t_before = before,
						   .t_entry = entry,
						   .t_return = ret } };

	l.head.gap.on_cpu = entry - before - slept_before;
	l.gap.blocked[BREAKDOWN_SLEEP - BREAKDOWN_FUTEX] = slept_before;
	l.head.call.on_cpu = ret - entry - slept;
	l.call.blocked[BREAKDOWN_SLEEP - BREAKDOWN_FUTEX] = slept;
	CHECK(lat_idle__record(&s, (struct gpubpf_rec *)&l) == 0);
}

static uint64_t lost(uint32_t thread, unsigned cause)
{
	uint64_t key[2] = { thread, cause };
	const struct idle_cell *c = hmap__get(&s.cells, key);

	return c ? c->ns : 0;
}

static uint64_t lost_of_device(uint32_t device)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s.cells.n; i++) {
		const struct idle_cell *c = hmap__at(&s.cells, i);

		ns += c->key[0] >> 32 == device ? c->ns : 0;
		CHECK(c->shared <= c->ns);
	}
	return ns;
}

static void check_sums(void)
{
	for (size_t i = 0; i < s.devices.n; i++) {
		const struct idle_device *d = lat_idle__device(&s, i);

		CHECK(d->busy.ran.at_zero == d->busy.gap_time);
		CHECKF(lost_of_device(d->number) == d->busy.gap_time, "device %zu: %lu of %lu", i,
		       lost_of_device(d->number), d->busy.gap_time);
		CHECK(d->blamed_ns + d->nobody_ns + d->not_chosen_ns + d->short_ns == d->busy.gap_time);
	}
	for (size_t i = 0; i < s.nstories; i++) {
		const struct idle_story *st = &s.story[i];
		const struct idle_gap *g = &s.gap[st->gap];
		uint64_t ns = 0, told = st->others_ns;

		for (unsigned k = 0; k < IDLE_CAUSES; k++)
			ns += st->ns[k];
		CHECK(ns == g->end - g->start);
		CHECK(!i || ns <= s.gap[st[-1].gap].end - s.gap[st[-1].gap].start);
		for (unsigned k = 0; k < st->nsegments; k++) {
			CHECK(!k || st->segment[k].from >= st->segment[k - 1].to);
			told += st->segment[k].to - st->segment[k].from;
		}
		CHECK(told == (g->track ? g->until - g->start : 0));
	}
}

/* ---- Shares ---- */

T(a_share_of_the_whole_is_the_whole)
{
	uint64_t ns[BREAKDOWN_CAUSES] = { 5, 0, 7, 11 }, out[BREAKDOWN_CAUSES];

	idle_share(ns, 23, out);
	CHECK(memcmp(ns, out, sizeof(ns)) == 0);
	idle_share(ns, 0, out);
	for (int i = 0; i < BREAKDOWN_CAUSES; i++)
		CHECK(out[i] == 0);
}

T(shares_add_up_whatever_the_times)
{
	seed = 88172645463325252u;
	for (int i = 0; i < 20000; i++) {
		uint64_t ns[BREAKDOWN_CAUSES], out[BREAKDOWN_CAUSES], sum = 0, over, all = 0;

		for (int k = 0; k < BREAKDOWN_CAUSES; k++) {
			ns[k] = any(3) ? any(UINT64_C(1) << any(60)) : 0;
			all += ns[k];
		}
		over = any(UINT64_C(1) << any(60));
		idle_share(ns, over, out);
		for (int k = 0; k < BREAKDOWN_CAUSES; k++) {
			/* to one nanosecond */
			double exact = all ? (double)ns[k] * (double)over / (double)all : 0;

			CHECK(!all || (double)out[k] >= exact * 0.999999 - 1.001);
			CHECK(!all || (double)out[k] <= exact * 1.000001 + 1.001);
			sum += out[k];
		}
		CHECK(sum == over);
	}
}

T(causes_that_cannot_be_are_unaccounted)
{
	uint64_t ns[BREAKDOWN_CAUSES] = { UINT64_MAX, UINT64_MAX }, out[BREAKDOWN_CAUSES];

	idle_share(ns, 100, out);
	CHECK(out[BREAKDOWN_UNACCOUNTED] == 100 && out[0] == 0);
	memset(ns, 0, sizeof(ns));
	idle_share(ns, 100, out);
	CHECK(out[BREAKDOWN_UNACCOUNTED] == 100);
}

/* ---- Gaps ---- */

/* The gap is [100, 1000); the thread slept half of [50, 500) between its calls, and all of [500, 700) in one. */
T(a_gap_is_cut_at_calls)
{
	lat_idle__init(&s, 0, false, 3);
	ran_for(0, 0, 100, 0, 0, 0);
	ran_for(0, 1000, 1100, 8, 800, 900);
	CHECK(lat_idle__ready(&s) == 0 && lat_idle__asks(&s));
	call(9, 100, 1000, GPUBPF_CALL_RETURNED); /* another thread */
	call(8, 40, 50, GPUBPF_CALL_RETURNED);
	breakdown(8, 50, 225, 500, 200, 700);
	call(8, 500, 700, GPUBPF_CALL_RETURNED);
	breakdown(8, 700, 0, 800, 0, 900);
	call(8, 800, 900, GPUBPF_CALL_RETURNED);
	call(8, 900, 950,
	     GPUBPF_CALL_RETURNED); /* after the one that ended it: not what the device waited for */
	CHECK(lat_idle__finish(&s) == 0);
	check_sums();
	CHECK(lost(1, IDLE_OUTSIDE + BREAKDOWN_SLEEP) == 200 &&
	      lost(1, IDLE_OUTSIDE + BREAKDOWN_ON_CPU) == 300);
	CHECK(lost(1, IDLE_IN_CALL + BREAKDOWN_SLEEP) == 200 &&
	      lost(1, IDLE_IN_CALL + BREAKDOWN_ON_CPU) == 100);
	CHECK(lost(1, IDLE_SUBMISSION) == 100);
	CHECK(s.nstories == 1 && s.story[0].nsegments == 4 && s.story[0].segment[0].shared &&
	      !s.story[0].segment[1].shared);
	lat_idle__clear(&s);
}

T(a_call_over_two_gaps_is_shared_between_them)
{
	const struct idle_api *a;

	lat_idle__init(&s, 0, false, 3);
	ran_for(0, 0, 100, 0, 0, 0);
	ran_for(0, 200, 300, 8, 150, 0); /* its return was not recorded */
	ran_for(1, 0, 110, 0, 0, 0);
	ran_for(0, 400, 500, 8, 390, 400);
	ran_for(1, 450, 500, 8, 420, 430);
	CHECK(lat_idle__ready(&s) == 0);
	call(8, 150, 0, 0);
	breakdown(8, 0, 0, 240, 100, 340);
	call(8, 240, 340, GPUBPF_CALL_RETURNED);
	call(8, 390, 400, GPUBPF_CALL_RETURNED);
	call(8, 420, 430, GPUBPF_CALL_RETURNED);
	CHECK(lat_idle__finish(&s) == 0);
	check_sums();
	CHECK(lost(1, IDLE_LAUNCH) == 50 && lost(1, IDLE_OUTSIDE_UNMEASURED) == 50 + 50);
	CHECK(lost(1, IDLE_IN_CALL + BREAKDOWN_SLEEP) == 40); /* [300, 340) of a call of 100 */
	a = hmap__get(&s.apis, (uint64_t[2]){ 7, 5 });
	CHECK(a && a->calls == 2 && a->ns == 50 && a->ended == 0);
	a = hmap__get(&s.apis, (uint64_t[2]){ UINT64_C(1) << 32 | 7, 5 });
	CHECK(a && a->calls == 3 && a->ns == 100 + 10 + 10);
	a = hmap__get(&s.apis, (uint64_t[2]){ 7, 3 });
	CHECK(a && a->ended == 2 && a->ended_ns == 200 && a->tail_ns == 50);
	lat_idle__clear(&s);
}

T(behind_a_call_its_stream_may_wait)
{
	lat_idle__init(&s, 0, false, 3);
	ran_for(0, 0, 100, 0, 0, 0);
	wait_end = 180;
	ran_for(0, 200, 300, 8, 140, 150);
	ran_for(0, 400, 500, 8, 340, 350);
	wait_end = 700; /* longer than it waited */
	ran_for(0, 600, 700, 8, 540, 550);
	wait_end = 0;
	CHECK(lat_idle__ready(&s) == 0 && lat_idle__finish(&s) == 0);
	check_sums();
	CHECK(lost(1, IDLE_WAIT) == 30 + 50 && lost(1, IDLE_SUBMISSION) == 20 + 50);
	lat_idle__clear(&s);
}

T(short_gaps_are_counted_and_no_more)
{
	lat_idle__init(&s, 100, false, 3);
	ran_for(0, 0, 100, 0, 0, 0);
	ran_for(0, 199, 300, 8, 150, 160);
	ran_for(0, 400, 500, 8, 390, 395);
	CHECK(lat_idle__ready(&s) == 0);
	CHECK(s.ngaps == 1 && lost(0, IDLE_SHORT) == 99);
	CHECK(lat_idle__finish(&s) == 0);
	CHECK(lost(1, IDLE_SUBMISSION) == 5 && lost(1, IDLE_OUTSIDE_UNMEASURED) == 95);
	check_sums();
	lat_idle__clear(&s);
}

T(a_long_time_line_keeps_its_longest_pieces)
{
	uint64_t t = 100;

	lat_idle__init(&s, 0, false, 1);
	ran_for(0, 0, 100, 0, 0, 0);
	ran_for(0, 100000, 100001, 8, 99990, 99995);
	CHECK(lat_idle__ready(&s) == 0);
	for (unsigned i = 0; i < 200; i++) {
		call(8, t + 10, t + 10 + i, GPUBPF_CALL_RETURNED);
		t += 10 + i;
	}
	call(8, 99990, 99995, GPUBPF_CALL_RETURNED);
	CHECK(lat_idle__finish(&s) == 0);
	check_sums();
	CHECK(s.story[0].nsegments == IDLE_SEGMENTS && s.story[0].others == 402 - IDLE_SEGMENTS - 1);
	for (unsigned k = 0; k < IDLE_SEGMENTS - 1; k++)
		CHECK(s.story[0].segment[k].to - s.story[0].segment[k].from >= 177);
	lat_idle__clear(&s);
}

T(a_thread_of_too_many_devices_is_not_blamed_for_all)
{
	lat_idle__init(&s, 0, false, 0);
	for (uint32_t i = 0; i < 2 * IDLE_TRACKS_MAX; i++) {
		ran_for(i, 10, 20, 0, 0, 0);
		ran_for(i, 30, 40, 8, 25, 26);
	}
	CHECK(lat_idle__ready(&s) == 0 && lat_idle__finish(&s) == 0);
	check_sums();
	CHECK(s.tracks.n == IDLE_TRACKS_MAX);
	lat_idle__clear(&s);
}

/* Any order, any times: calls that overlap, that end before they begin, breakdowns of other lengths. */
T(gaps_add_up_whatever_the_records)
{
	seed = 1234567;
	for (int round = 0; round < 300; round++) {
		uint64_t t = 0, now[4] = { 0 };

		lat_idle__init(&s, any(3) * 20, any(2), any(4));
		for (unsigned i = 0; i < 100; i++) {
			uint64_t entry;

			t += any(60);
			wait_end = any(3) ? 0 : t < 100 ? any(200) : t - 100 + any(200);
			entry = t - (t < 200 ? any(t + 1) : any(200));
			ran_for((uint32_t)any(2), t, t + any(50), (uint32_t)any(4), entry,
				any(4) ? entry + any(300) : 0);
		}
		CHECK(lat_idle__ready(&s) == 0);
		for (unsigned i = 0; i < 100; i++) {
			uint32_t tid = (uint32_t)any(4);
			uint64_t before = now[tid], entry = before + any(100), ret = entry + any(100);

			now[tid] = any(10) ? ret : any(500);
			if (any(2))
				breakdown(tid, before, any(200), entry, any(200), ret + any(2));
			call(tid, entry, any(20) ? ret : any(500),
			     any(5)   ? GPUBPF_CALL_RETURNED
			     : any(3) ? 0
				      : GPUBPF_CALL_OPEN);
		}
		CHECK(lat_idle__finish(&s) == 0);
		check_sums();
		lat_idle__clear(&s);
	}
	wait_end = 0;
}

TEST_MAIN
