/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "latency/breakdown.h"

static struct gpubpf_latency_long record(uint32_t tid, uint64_t t_entry)
{
	return (struct gpubpf_latency_long){
		.head = { .kind = GPUBPF_REC_LATENCY,
			  .size = sizeof(struct gpubpf_latency_long),
			  .flags = GPUBPF_LATENCY_OFF | GPUBPF_LATENCY_GAP,
			  .tgid = 10,
			  .tid = tid,
			  .t_before = t_entry - 50,
			  .t_entry = t_entry,
			  .t_return = t_entry + 1000,
			  .call = { .on_cpu = 100, .irq = 7, .faults = 3, .major_faults = 1 },
			  .gap = { .on_cpu = 30 } },
		.call = { .runqueue = 200,
			  .throttled = 50,
			  .blocked = { [GPUBPF_WAIT_FUTEX] = 300, [GPUBPF_WAIT_OTHER] = 350 },
			  .voluntary = 2,
			  .ioctl_major = 195 },
		.gap = { .runqueue = 20 },
	};
}

#define CALL(thread, entry)                                                                                  \
	{                                                                                                    \
		.tgid = 10, .tid = (thread), .t_entry = (entry), .flags = GPUBPF_CALL_RETURNED               \
	}

T(breakdown_parts_add_up)
{
	struct gpubpf_latency_long r = record(11, 5000);
	struct breakdown b;
	uint64_t sum = 0;

	breakdown_of_call(&r.head, &b);
	for (int c = 0; c < BREAKDOWN_CAUSES; c++)
		sum += b.ns[c];
	CHECK(b.duration == 1000 && sum == 1000 && !b.excess && !b.ns[BREAKDOWN_UNACCOUNTED]);
	CHECK(b.ns[BREAKDOWN_FUTEX] == 300 && b.ns[BREAKDOWN_OTHER] == 350 &&
	      b.ns[BREAKDOWN_THROTTLED] == 50);
	CHECK(b.faults == 3 && b.major_faults == 1 && b.voluntary == 2);
	CHECK(!b.ioctl_major); /* it was an earlier call's */
	CHECK(breakdown_of_gap(&r.head, &b) && b.duration == 50 && b.ns[BREAKDOWN_RUNQUEUE] == 20);
	r.head.flags &= ~GPUBPF_LATENCY_GAP;
	CHECK(!breakdown_of_gap(&r.head, &b));
}

T(breakdown_what_was_not_seen_is_unaccounted)
{
	struct gpubpf_latency_long r = record(11, 5000);
	struct breakdown b;

	r.call.runqueue = 0;
	breakdown_of_call(&r.head, &b);
	CHECK(b.ns[BREAKDOWN_UNACCOUNTED] == 200 && !b.excess);
	r.call.runqueue = 260;
	breakdown_of_call(&r.head, &b);
	CHECK(b.ns[BREAKDOWN_UNACCOUNTED] == 0 && b.excess == 60);
}

T(breakdown_absent_is_not_zero)
{
	struct gpubpf_latency_long r = record(11, 5000);
	struct breakdown b;

	breakdown_of_call(&r.head, &b);
	CHECK(!b.has_irq && !b.has_throttled);
	r.head.flags |= GPUBPF_LATENCY_IRQ | GPUBPF_LATENCY_THROTTLED;
	breakdown_of_call(&r.head, &b);
	CHECK(b.has_irq && b.irq == 7 && b.has_throttled);
}

T(breakdown_causes_of_a_later_recorder_are_other)
{
	struct gpubpf_latency_long r = record(11, 5000);
	struct breakdown b;

	r.call.blocked[GPUBPF_WAITS] = 5;
	breakdown_of_call(&r.head, &b);
	CHECK(b.ns[BREAKDOWN_OTHER] == 355);
}

T(breakdown_a_thread_that_stayed_has_a_short_record)
{
	struct gpubpf_latency_long r = record(11, 5000); /* what stands behind it is not its own */
	struct breakdown b;

	r.head.flags = GPUBPF_LATENCY_IRQ;
	r.head.call.on_cpu = 1000;
	breakdown_of_call(&r.head, &b);
	CHECK(b.ns[BREAKDOWN_ON_CPU] == 1000 && !b.ns[BREAKDOWN_RUNQUEUE] && !b.ns[BREAKDOWN_UNACCOUNTED]);
}

T(breakdowns_stand_beside_their_calls)
{
	struct gpubpf_latency_long a = record(11, 5000), other = record(12, 5000), next = record(11, 7000);
	struct gpubpf_call c = CALL(11, 5000), d = CALL(12, 5000), e = CALL(11, 7000), open = CALL(11, 7000);
	struct breakdowns all;

	breakdowns__init(&all);
	CHECK(!breakdowns__of(&all, &c));
	CHECK(!breakdowns__add(&all, &a.head) && !breakdowns__add(&all, &other.head));
	CHECK(breakdowns__of(&all, &c) && breakdowns__of(&all, &c)->tid == 11);
	CHECK(breakdowns__of(&all, &d) && breakdowns__of(&all, &d)->tid == 12);
	CHECK(!breakdowns__of(&all, &e)); /* its own was lost: the last one is another call's */
	CHECK(!breakdowns__add(&all, &next.head));
	CHECK(breakdowns__of(&all, &e) && !breakdowns__of(&all, &c));
	e.depth = 1;
	CHECK(!breakdowns__of(&all, &e));
	open.flags = GPUBPF_CALL_OPEN;
	CHECK(!breakdowns__of(&all, &open) && all.records == 3);
	breakdowns__clear(&all);
}

TEST_MAIN
