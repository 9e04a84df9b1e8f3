/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "latency/futexes.h"

#define MS 1000000u

static struct gpubpf_waker wait(uint32_t tid, uint64_t t_entry)
{
	return (struct gpubpf_waker){ .kind = GPUBPF_REC_WAKER,
				      .size = sizeof(struct gpubpf_waker),
				      .tgid = 10,
				      .tid = tid,
				      .t_entry = t_entry,
				      .t_wait = t_entry + 5 * MS,
				      .t_wake = t_entry + 25 * MS,
				      .how = GPUBPF_WAKER_THREAD,
				      .by = GPUBPF_WAKER_BY_FUTEX,
				      .waker_tgid = 10,
				      .waker_tid = 12 };
}

static enum wait_end end_of(uint8_t how, uint8_t by, uint32_t flags)
{
	struct gpubpf_waker w = wait(11, 1000 * MS);

	w.how = how;
	w.by = by;
	w.flags = flags;
	return wait_end_of(&w, 0);
}

T(a_waker_is_what_was_seen_of_it)
{
	const uint8_t thread = GPUBPF_WAKER_THREAD, futex = GPUBPF_WAKER_BY_FUTEX;
	const uint32_t traced = GPUBPF_WAKER_TRACED;

	CHECK(end_of(thread, futex, 0) == WAIT_END_UNTRACED);
	CHECK(end_of(thread, futex, traced) == WAIT_END_OUTSIDE);
	CHECK(end_of(thread, futex, traced | GPUBPF_WAKER_IN_CALL) == WAIT_END_IN_CALL);
	CHECK(end_of(thread, futex, traced | GPUBPF_WAKER_UNSURE) == WAIT_END_UNSURE);
	CHECK(end_of(thread, futex, traced | GPUBPF_WAKER_TRACER) == WAIT_END_OBSERVER);
	CHECK(end_of(thread, GPUBPF_WAKER_BY_OTHER, traced) == WAIT_END_OUTSIDE);
	CHECK(end_of(thread, GPUBPF_WAKER_BY_KERNEL, 0) == WAIT_END_KERNEL);
	/* the list of traced threads does not have it any more: nothing is said of its calls */
	CHECK(end_of(thread, GPUBPF_WAKER_BY_EXIT, 0) == WAIT_END_ENDED);
	CHECK(end_of(GPUBPF_WAKER_UNKNOWN, futex, traced) == WAIT_END_UNKNOWN);
	CHECK(end_of(99, futex, traced) == WAIT_END_UNKNOWN); /* of a later recorder */
	for (int e = 0; e < WAIT_ENDS; e++)
		CHECK(wait_end_names[e] && wait_end_words[e]);
	CHECK(wait_end_has_waker(WAIT_END_KERNEL) && !wait_end_has_waker(WAIT_END_TIMEOUT));
	CHECK(!wait_by_name(0) && !wait_by_name(99));
}

/* An interrupt is the time limit's only when that was over. */
T(time_limits_are_told_from_other_interrupts)
{
	struct gpubpf_waker w = wait(11, 1000 * MS);
	uint64_t wall = 7000000000 * (uint64_t)MS;

	w.how = GPUBPF_WAKER_INTERRUPT;
	CHECK(wait_end_of(&w, wall) == WAIT_END_INTERRUPT); /* it had none */
	w.flags = GPUBPF_WAKER_LIMIT;
	w.limit = w.t_wake;
	CHECK(wait_end_of(&w, wall) == WAIT_END_TIMEOUT);
	w.limit = w.t_wake + 1;
	CHECK(wait_end_of(&w, wall) == WAIT_END_INTERRUPT);
	w.flags = GPUBPF_WAKER_LIMIT | GPUBPF_WAKER_RELATIVE;
	w.limit = 20 * MS;
	CHECK(wait_end_of(&w, wall) == WAIT_END_TIMEOUT);
	w.limit = 22 * MS;
	CHECK(wait_end_of(&w, wall) == WAIT_END_INTERRUPT);
	w.flags = GPUBPF_WAKER_LIMIT | GPUBPF_WAKER_REALTIME;
	w.limit = wall;
	CHECK(wait_end_of(&w, wall) == WAIT_END_TIMEOUT);
	CHECK(wait_end_of(&w, wall - 2 * MS) == WAIT_END_INTERRUPT);
	CHECK(wait_end_of(&w, 0) == WAIT_END_INTERRUPT); /* no pair of clocks in the capture */
	w.how = GPUBPF_WAKER_THREAD;                     /* it came first */
	CHECK(wait_end_of(&w, wall) == WAIT_END_UNTRACED);
	w.t_wake = w.t_wait - 1; /* of a damaged file */
	CHECK(wait_ns(&w) == 0);
}

T(waits_stand_beside_their_call)
{
	struct gpubpf_waker a = wait(11, 1000), b = wait(12, 1000), c = wait(11, 2000);
	struct gpubpf_call of_a = { .tgid = 10, .tid = 11, .t_entry = 1000 }, nested = of_a, of_c = of_a;
	struct futex_waits all;
	size_t n;

	of_c.t_entry = 2000;
	nested.depth = 1;
	futex_waits__init(&all);
	CHECK(!futex_waits__of(&all, &of_a, &n) && !n);
	for (int i = 0; i < 100; i++)
		CHECK(!futex_waits__add(&all, &a));
	CHECK(!futex_waits__add(&all, &b));
	CHECK(futex_waits__of(&all, &of_a, &n) && n == 100);
	CHECK(!futex_waits__of(&all, &nested, &n));
	CHECK(!futex_waits__of(&all, &of_c, &n));
	CHECK(!futex_waits__add(&all, &c));
	CHECK(futex_waits__of(&all, &of_c, &n) && n == 1);
	CHECK(!futex_waits__of(&all, &of_a, &n)); /* its own record was lost */
	for (unsigned i = 0; i < FUTEX_WAITS_MAX + 3u; i++)
		CHECK(!futex_waits__add(&all, &c));
	CHECK(futex_waits__of(&all, &of_c, &n) && n == FUTEX_WAITS_MAX && all.cut == 4);
	futex_waits__clear(&all);
}

TEST_MAIN
