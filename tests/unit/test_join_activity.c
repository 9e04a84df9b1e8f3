/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shim's calls and what ran: ids that come round, graphs, times, clocks, causality. */
#include "../t.h"

#include "join_fixture.h"

/* C3 C5: a graph launch runs a kernel, a copy and a set; all are its own, and none is dropped. */
static void graph_launch(uint32_t id, unsigned nodes)
{
	host_call("cuGraphLaunch", w.now, w.now + 1000, 0);
	shim_call(GRAPH, id, w.now + 100, w.now + 900, 0);
	for (unsigned n = 0; n < nodes; n++) {
		fresh_activity();
		act.flags = GPUBPF_ACTIVITY_HAS_NODE;
		act.graph = 5;
		act.graph_node = 70 + n;
		activity(n % 3 == 0   ? GPUBPF_ACTIVITY_KERNEL
			 : n % 3 == 1 ? GPUBPF_ACTIVITY_COPY
				      : GPUBPF_ACTIVITY_SET,
			 id, w.now + 2000 + n * 100, w.now + 2050 + n * 100);
	}
	fresh_activity();
	w.now += 5000;
}

T(C3_C5_a_graph_launch_and_all_its_nodes)
{
	struct join_activity a;

	ready();
	arm();
	hostly.words[2] = 0;
	for (uint32_t i = 1; i <= 4; i++)
		graph_launch(i, 3);
	disarm();
	feed();
	CHECK(line(1)->calls == 4 && line(1)->matched == 4 && line(1)->executions == 12);
	CHECK(join__totals(w.j)->kernels == 4 && join__totals(w.j)->copies == 4 &&
	      join__totals(w.j)->sets == 4);
	CHECK(join__totals(w.j)->graphs == 1 && join__totals(w.j)->graph_launches == 4 &&
	      join__totals(w.j)->graph_nodes == 12 && !join__totals(w.j)->graph_shortfall);
	a = nth(1);
	CHECK(a.kind == GPUBPF_ACTIVITY_COPY && a.has_node && a.graph == 5 && a.graph_node == 71 &&
	      a.has_call && a.call.population == 1);
	/* C4: nobody saw it being instantiated */
	CHECK(join__totals(w.j)->graph_unknown == 4 && fact("graph_nodes_unknown"));
	CHECKF(w.l.verdict == LEDGER_RECONCILED, "%s", w.l.nreasons ? w.l.reason[0].text : "");
	check_sums();
	end();
}

T(R2_a_graph_launch_that_ran_fewer_nodes_is_a_shortfall)
{
	ready();
	arm();
	graph_launch(1, 50);
	graph_launch(2, 47);
	graph_launch(3, 50);
	disarm();
	feed();
	CHECK(join__totals(w.j)->graph_shortfall == 3 && line(1)->matched == 3);
	CHECK(reason("graph_shortfall") && reason("graph_shortfall")->count == 3 &&
	      w.l.verdict == LEDGER_INCOMPLETE);
	end();
}

T(C5_orphans_are_listed_as_orphans)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	step(RAN, COPY, 99);
	disarm();
	feed();
	CHECK(with_id(99).link == JOIN_ORPHAN && !with_id(99).has_shim_call);
	CHECK(join__totals(w.j)->orphans_by_kind[GPUBPF_ACTIVITY_COPY] == 1 &&
	      join__totals(w.j)->links[JOIN_ORPHAN] == 1);
	CHECK(reason("orphans") && strstr(reason("orphans")->text, "1 copies"));
	end();
}

/* The counter of correlation ids has 32 bits: 2^32 calls later an id is there again. */
T(correlation_ids_come_round)
{
	const uint64_t hours = 5ull * 3600 * 1000000000;
	struct join_activity a;

	ready();
	arm();
	step(ALL, LAUNCH, UINT32_MAX);
	step(ALL, LAUNCH, 0);
	step(ALL, LAUNCH, 1);
	w.now += hours;
	step(ALL, LAUNCH, UINT32_MAX);
	step(ALL, LAUNCH, 0);
	step(HOST | SHIM, LAUNCH, 1);
	w.now += hours;
	step(HOST | SHIM, LAUNCH, 1); /* nothing ran for this one and the one before */
	disarm();
	feed();
	CHECKF(line(0)->matched == 5 && line(0)->unexplained == 2, "%lu", (unsigned long)line(0)->matched);
	for (size_t i = 0; i < 5; i++) {
		a = nth(i);
		CHECKF(a.has_call && a.call.entry + 2000 == a.start,
		       "activity %zu has the call of another round", i);
	}
	end();
}

/* Not hours apart: the id is no id. */
T(R17_one_id_of_two_calls_at_one_time_is_ambiguous)
{
	ready();
	arm();
	step(HOST | SHIM, LAUNCH, 1);
	step(ALL, LAUNCH, 1);
	disarm();
	feed();
	CHECK(nth(0).link == JOIN_AMBIGUOUS && !line(0)->matched && line(0)->unexplained == 2);
	CHECK(fact("ambiguous_executions"));
	check_sums();
	end();

	ready(); /* the later one is handed over first */
	arm();
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	host_call("cuLaunchKernel", w.now + 5000, w.now + 6000, 0);
	shim_call(LAUNCH, 1, w.now + 5100, w.now + 5900, 0);
	shim_call(LAUNCH, 1, w.now + 100, w.now + 900, 0);
	w.now += 10000;
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now, w.now + 1000);
	w.now += 10000;
	disarm();
	feed();
	CHECK(nth(0).link == JOIN_AMBIGUOUS);
	end();
}

/* Ids of one session say nothing about those of the next. */
T(C27_every_session_has_its_own)
{
	ready();
	for (w.session = 1; w.session <= 10; w.session++) {
		arm();
		step(ALL, LAUNCH, 1);
		step(ALL, SET, 2);
		disarm();
	}
	feed();
	CHECK(join__sessions(w.j) == 10 && line(0)->matched == 10 && line(3)->matched == 10);
	for (size_t i = 0; i < 20; i++)
		CHECK(join__lane(w.j, nth(i).lane)->session->number == i / 2 + 1);
	CHECKF(w.l.verdict == LEDGER_RECONCILED, "%s", w.l.nreasons ? w.l.reason[0].text : "");
	end();
}

T(R14_of_an_activity_absent_zero_and_given)
{
	struct join_activity a;

	ready();
	arm();
	act.flags = GPUBPF_ACTIVITY_HAS_QUEUED;
	act.u.kernel.queued = 0;
	step(ALL, LAUNCH, 1);
	act.flags = GPUBPF_ACTIVITY_HAS_NODE;
	step(ALL, LAUNCH, 2);
	act.u.copy.bytes = 0;
	step(ALL, COPY, 3);
	disarm();
	feed();
	a = with_id(1);
	CHECK(a.has_queued && a.queued == 0 && !a.has_submitted && !a.has_node);
	CHECK(join__key(w.j, a.key)->name == 0 && !join__name(w.j, 0) && !join__key(w.j, a.key)->has_cluster);
	a = with_id(2);
	CHECK(!a.has_queued && a.has_node && a.graph == 0 && a.graph_node == 0);
	CHECK(with_id(3).bytes == 0 && !join__key(w.j, with_id(3).key)->has_peer);
	end();
}

T(keys_are_what_stays_the_same)
{
	const struct join_key *k;

	ready();
	arm();
	for (unsigned i = 0; i < 6; i++) {
		act.u.kernel.grid[0] = 10 + i % 2;
		act.u.kernel.registers = 32;
		act.u.kernel.dynamic_shared = 512;
		act.flags = i % 3 ? 0 : GPUBPF_ACTIVITY_HAS_CLUSTER;
		act.u.kernel.cluster[0] = 2;
		step(ALL, LAUNCH, 1 + i);
	}
	act.u.copy.copy_kind = GPUBPF_COPY_HTOD;
	act.u.copy.bytes = 4096;
	act.flags = GPUBPF_ACTIVITY_ASYNC;
	step(ALL, COPY, 7);
	act.u.copy.copy_kind = GPUBPF_COPY_HTOD;
	act.u.copy.bytes = 8192; /* the size is no part of it */
	act.flags = GPUBPF_ACTIVITY_ASYNC;
	step(ALL, COPY, 8);
	disarm();
	feed();
	CHECKF(join__keys(w.j) == 5, "%zu keys", join__keys(w.j));
	k = join__key(w.j, with_id(1).key);
	CHECK(k->kind == GPUBPF_ACTIVITY_KERNEL && k->grid[0] == 10 && k->registers == 32 &&
	      k->dynamic_shared == 512 && k->has_cluster && k->cluster[0] == 2);
	CHECK(with_id(7).key == with_id(8).key && with_id(8).bytes == 8192);
	k = join__key(w.j, with_id(7).key);
	CHECK(k->copy_kind == GPUBPF_COPY_HTOD && k->async);
	end();
}

/* C25: programmatic dependent launches overlap on one stream; both are there as they were. */
T(C25_overlap_on_one_stream_is_kept)
{
	struct join_activity a, b;

	ready();
	arm();
	step(HOST | SHIM, LAUNCH, 1);
	step(HOST | SHIM, LAUNCH, 2);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now, w.now + 3000);
	activity(GPUBPF_ACTIVITY_KERNEL, 2, w.now + 1000, w.now + 5000);
	disarm();
	feed();
	a = nth(0);
	b = nth(1);
	CHECK(a.lane == b.lane && b.start < a.end && a.end - a.start == 3000 && b.end - b.start == 4000);
	CHECK(line(0)->matched == 2 && w.l.verdict == LEDGER_RECONCILED);
	end();
}

/* ---- Times ---- */

static void times_of(unsigned work, uint32_t id, uint64_t start, uint64_t end)
{
	step(HOST | SHIM, work, id);
	activity(works[work].kind, id, start, end);
}

T(R21_C2_times_of_every_kind_of_fault)
{
	static const char *const partial[] = { [LAUNCH] = "kernel_timestamps_partial",
					       [COPY] = "copy_timestamps_partial",
					       [SET] = "set_timestamps_partial" };

	for (unsigned work = LAUNCH; work <= SET; work++) {
		const struct join_times *t;
		struct join_activity a;

		if (work == GRAPH)
			continue;
		ready();
		arm();
		step(ALL, work, 1);
		times_of(work, 2, 0, 0);
		times_of(work, 3, w.now + 2000, w.now + 1999);
		times_of(work, 4, 1, 500);                       /* long before the session */
		times_of(work, 5, w.now + 1000, w.now + 900000); /* and past its end */
		times_of(work, 6, w.now + 2000, 0);
		disarm();
		feed();
		t = &join__totals(w.j)->times[works[work].kind];
		CHECK(t->records == 6 && t->by[JOIN_TIME_VALID] == 1 && t->by[JOIN_TIME_ZERO] == 1 &&
		      t->by[JOIN_TIME_END_FIRST] == 2 && t->by[JOIN_TIME_OUTSIDE] == 2);
		CHECK(line(work - 1)->matched == 1 && line(work - 1)->invalid_time == 5 &&
		      line(work - 1)->executions == 6);
		/* what a launch was stays, and its times as they came */
		a = with_id(2);
		CHECK(a.time == JOIN_TIME_ZERO && a.has_call && a.call.entry);
		a = with_id(4);
		CHECK(a.time == JOIN_TIME_OUTSIDE && a.start == 1 && a.end == 500);
		CHECKF(reason(partial[work]) && reason(partial[work])->count == 5, "%s", partial[work]);
		CHECK(w.l.verdict == LEDGER_INCOMPLETE);
		check_sums();
		end();
	}
}

T(R21_unavailable_and_invalid_are_two_things)
{
	ready();
	arm();
	times_of(LAUNCH, 1, 0, 0);
	times_of(LAUNCH, 2, 0, 0);
	times_of(COPY, 3, w.now, w.now - 1);
	times_of(COPY, 4, 0, 0);
	disarm();
	feed();
	CHECK(reason("kernel_timestamps_unavailable") && reason("copy_timestamps_invalid"));
	for (uint32_t i = 1; i <= 4; i++) /* what has no time comes as it came */
		CHECK(nth(i - 1).correlation == i);
	/* no record at all is its own reason */
	CHECK(!join_times_reason(GPUBPF_ACTIVITY_SET, &join__totals(w.j)->times[GPUBPF_ACTIVITY_SET]));
	CHECK(!reason("set_timestamps_unavailable"));
	end();
}

T(C17_C19_times_of_cuptis_own_clock_by_pairs)
{
	const uint64_t shift = 1700000000000000000ull;
	uint64_t start;

	ready();
	hello(GPUBPF_TIME_CUPTI);
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now, 0);
	start = w.now;
	clock_pair(start + 2000000, start + 2000000 + shift + 300, 40); /* the later one first */
	clock_pair(start, start + shift, 50);
	w.now += 1000;
	step(HOST | SHIM, LAUNCH, 1);
	/* half way between the pairs, the clocks stand 150 ns apart */
	activity(GPUBPF_ACTIVITY_KERNEL, 1, start + 1000000 + shift + 150, start + 1001000 + shift + 150);
	w.now += 3000000;
	step(HOST | SHIM, LAUNCH, 2);
	activity(GPUBPF_ACTIVITY_KERNEL, 2, 0, 0); /* zero is no time of any clock */
	disarm();
	feed();
	CHECKF(nth(0).start == start + 1000000 && nth(0).end == start + 1001000, "off by %ld",
	       (long)(nth(0).start - start - 1000000));
	CHECK(nth(0).time == JOIN_TIME_VALID && with_id(2).time == JOIN_TIME_ZERO && with_id(2).start == 0);
	CHECK(join__session(w.j, 0)->has_clock_error && join__session(w.j, 0)->clock_error_ns == 350);
	CHECK(join__session(w.j, 0)->clock_pairs == 2);
	end();

	/* no pair: how long is known, when is not */
	ready();
	hello(GPUBPF_TIME_CUPTI);
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now, 0);
	w.now += 1000;
	step(HOST | SHIM, LAUNCH, 1);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, shift, shift + 1000);
	disarm();
	feed();
	CHECK(nth(0).time == JOIN_TIME_UNANCHORED && nth(0).end - nth(0).start == 1000);
	CHECK(reason("clock_unanchored") && w.l.verdict == LEDGER_INCOMPLETE);
	end();
}

/* CUPTI goes by a rate of its last two matches: what that can be off grows with the time since. */
T(C18_the_error_of_cuptis_own_matches_is_part_of_the_bound)
{
	static const struct {
		uint64_t between, until, bound;
	} cases[] = {
		{ 1000000, 1000000000, 100 + 200 + 300000 }, /* (100 + 200) ns in 1 ms, for a second */
		{ 1000000000, 1000000000, 100 + 200 + 300 },
		{ 0, 1000000000, 100 }, /* one match alone says nothing */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t first, second;

		ready();
		arm();
		clock_pair(5000, 5020, 80);
		first = w.now;
		second = first + cases[i].between;
		match(first, 100, 0, 0);
		if (cases[i].between)
			match(second, 200, first, 100); /* each time the one before comes again */
		w.now = second + cases[i].until;
		disarm();
		feed();
		CHECKF(join__session(w.j, 0)->clock_error_ns - cases[i].bound < 50, "%lu, not %lu",
		       (unsigned long)join__session(w.j, 0)->clock_error_ns, (unsigned long)cases[i].bound);
		end();
	}
	/* a hostile one overflows nothing */
	ready();
	arm();
	clock_pair(5000, 5020, 80);
	match(UINT64_MAX, UINT64_MAX, UINT64_MAX - 1, UINT64_MAX);
	disarm();
	feed();
	CHECK(join__session(w.j, 0)->clock_error_ns == UINT64_MAX);
	end();
}

T(C18_starts_before_entries_are_counted_listed_and_left_as_they_are)
{
	const struct join_totals *t;

	ready();
	arm();
	clock_pair(5000, 5020, 80); /* at most 100 ns apart */
	w.now += 5000;
	for (uint32_t i = 1; i <= 40; i++) {
		uint64_t entry = w.now;

		step(HOST | SHIM, LAUNCH, i);
		activity(GPUBPF_ACTIVITY_KERNEL, i, entry - i * 10, entry + 500); /* 10 … 400 ns early */
	}
	disarm();
	feed();
	t = join__totals(w.j);
	CHECK(t->has_clock_error && t->clock_error_ns == 100);
	CHECKF(t->early == 40 && t->early_beyond == 30 && t->early_worst_ns == 400, "%lu %lu",
	       (unsigned long)t->early, (unsigned long)t->early_beyond);
	CHECK(t->nviolations == JOIN_VIOLATIONS && t->violation[0].early_ns == 400);
	for (unsigned i = 1; i < t->nviolations; i++)
		CHECK(t->violation[i].early_ns <= t->violation[i - 1].early_ns);
	CHECK(nth(t->violation[0].activity).correlation == 40 &&
	      nth(t->violation[0].activity).call.entry - nth(t->violation[0].activity).start == 400);
	CHECK(line(0)->matched == 40); /* nothing is dropped for it */
	CHECK(reason("causality") && strstr(reason("causality")->text, "100 ns"));
	end();

	ready();
	arm();
	clock_pair(5000, 5020, 80);
	w.now += 5000;
	step(HOST | SHIM, LAUNCH, 1);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now - 5000 - 100, w.now);
	disarm();
	feed();
	CHECK(join__totals(w.j)->early == 1 && !join__totals(w.j)->early_beyond);
	CHECK(!reason("causality") && fact("causality_within_error") && w.l.verdict == LEDGER_RECONCILED);
	end();

	/* no bound known: every one counts */
	ready();
	arm();
	w.now += 5000;
	step(HOST | SHIM, LAUNCH, 1);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now - 5001, w.now);
	disarm();
	feed();
	CHECK(join__totals(w.j)->early_beyond == 1 && strstr(reason("causality")->text, "no bound"));
	end();
}

/* C11: a wait is no work, and it keeps its stream. */
T(C11_waits_keep_their_stream)
{
	ready();
	arm();
	for (uint32_t i = 1; i <= 3; i++) {
		shim_call(GPUBPF_WORK_SYNC, i, w.now, w.now + 500, 0);
		act.stream = 20 + i;
		activity(GPUBPF_ACTIVITY_SYNC, i, w.now + 10, w.now + 400);
		fresh_activity();
		w.now += 1000;
	}
	disarm();
	feed();
	for (uint32_t i = 1; i <= 3; i++)
		CHECK(join__lane(w.j, with_id(i).lane)->stream == 20 + i &&
		      with_id(i).kind == GPUBPF_ACTIVITY_SYNC && with_id(i).link == JOIN_OTHER_CALL);
	CHECK(join__totals(w.j)->shim_calls_other == 3 && !join__totals(w.j)->shim_calls);
	CHECK(!join__totals(w.j)->links[JOIN_OTHER_CALL]); /* executions alone are counted by link */
	end();
}

TEST_MAIN
