/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Edges of the ledger's terms that nothing else sees: each was found by breaking the code and no test failing. */
#include "../t.h"

#include "join_fixture.h"

static void launches(unsigned parts, uint32_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		step(parts, LAUNCH, first + i);
}

/* The host's word is enough, whether the shim has seen the call or not. */
T(a_captured_call_that_the_shim_missed_is_captured)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	hostly.words[0] = 0xa0;
	host_call("cuStreamBeginCapture_v2", w.now, w.now + 10, 0);
	w.now += 100;
	hostly.words[8] = 0xa0;
	step(HOST, LAUNCH, 3);
	hostly.words[0] = 0xa0;
	host_call("cuStreamEndCapture", w.now, w.now + 10, 0);
	w.now += 100;
	disarm();
	feed();
	CHECK(line(0)->captured == 1 && line(0)->matched == 2 && !line(0)->outside && !line(0)->unexplained);
	CHECK(w.l.verdict == LEDGER_RECONCILED);
	check_sums();
	end();
}

/* Batches that were lost at the very end are missing from no sequence: the recorder's count tells. */
T(C7_the_last_batches_leave_no_gap)
{
	ready();
	w.end.has_lost_items = true;
	w.end.lost_items[GPUBPF_PROBE_ACTIVITY] = 2;
	arm();
	launches(ALL, 1, 3);
	launches(HOST | SHIM, 4, 3);
	disarm();
	feed();
	CHECK(line(0)->lost_ring == 2 && line(0)->unexplained == 1);
	check_sums();
	end();
}

T(two_gaps_of_one_sequence_add_up_and_are_said_once_with_the_rings_loss)
{
	static Gpubpf__ProbeCounts probe, *probes[] = { &probe };

	ready();
	arm();
	launches(ALL, 1, 1);
	w.sequence[0][GPUBPF_PROBE_ACTIVITY] += 1;
	launches(HOST | SHIM, 2, 80);
	launches(ALL, 100, 1);
	w.sequence[0][GPUBPF_PROBE_ACTIVITY] += 1;
	launches(HOST | SHIM, 102, 80);
	launches(ALL, 200, 1);
	disarm();
	feed();
	CHECK(join__totals(w.j)->probe[GPUBPF_PROBE_ACTIVITY].lost_batches == 2);
	/* two batches can have held all of them */
	CHECKF(line(0)->lost_ring == 160 && !line(0)->unexplained, "%lu", (unsigned long)line(0)->lost_ring);
	CHECK(reason("device_gap") && !reason("device_lost_ring"));
	unfeed();
	gpubpf__probe_counts__init(&probe);
	probe.probe = "activity_v1";
	probe.lost_hits = 2;
	probe.lost_items = 160;
	w.message.probe = probes;
	w.message.n_probe = 1;
	feed();
	CHECK(!reason("device_gap") && reason("device_lost_ring"));
	end();
}

/* Nested in a call that asks for no work: it belongs to no call of a population, and what ran is joined all the same. */
T(R15_a_nested_launch_in_a_call_of_no_population)
{
	ready();
	arm();
	hostly.depth = 1;
	host_call("cuLaunchKernel", w.now + 100, w.now + 900, 0);
	host_call("cuCtxSynchronize", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 1, w.now + 200, w.now + 800, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now + 2000, w.now + 3000);
	w.now += 5000;
	disarm();
	feed();
	CHECK(line(0)->nested == 1 && !line(0)->calls && line(0)->executions == 1);
	CHECK(with_id(1).link == JOIN_JOINED && !reason("unrecorded_calls"));
	end();
}

/* Recorded at its entry alone, as the last of its thread, after the session's calls were no longer taken. */
T(an_unmeasured_call_after_the_session_is_outside)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	disarm();
	w.now += 10000;
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	host_call("cuLaunchKernel", w.now, 0, 0);
	feed();
	CHECK(line(0)->outside == 1 && line(0)->matched == 2 && !line(0)->unexplained);
	check_sums();
	end();
}

T(R21_a_start_before_the_arming_within_the_clock_error_is_valid)
{
	uint64_t from;

	ready();
	arm();
	from = w.now - 1000;
	clock_pair(w.now, w.now, 50);
	for (uint32_t i = 1; i <= 2; i++) {
		step(HOST | SHIM, LAUNCH, i);
		activity(GPUBPF_ACTIVITY_KERNEL, i, i == 1 ? from - 30 : from - 80, from + 500);
	}
	disarm();
	feed();
	CHECK(with_id(1).time == JOIN_TIME_VALID && with_id(2).time == JOIN_TIME_OUTSIDE);
	end();
}

/* The first reason stands, and what came before it is of no armed session. */
T(R5_the_first_failure_is_the_reason)
{
	ready();
	hello(GPUBPF_TIME_MONOTONIC);
	status(GPUBPF_STATUS_FAILED, GPUBPF_REASON_NOT_PERMITTED, 35, 0, 0);
	status(GPUBPF_STATUS_FAILED, GPUBPF_REASON_MEMORY, 12, 0, 0);
	step(ALL, LAUNCH, 1);
	feed();
	CHECK(join__session(w.j, 0)->reason == GPUBPF_REASON_NOT_PERMITTED &&
	      join__session(w.j, 0)->reason_value == 35);
	CHECK(join__session(w.j, 0)->state == JOIN_SESSION_FAILED && fact("cupti_not_permitted"));
	CHECK(join__totals(w.j)->failed_sessions == 1 && !join__totals(w.j)->armed_sessions);
	end();
}

T(R5_errors_after_the_arming_are_counted)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	status(GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_FLUSH, 999, 0, 0);
	status(GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_BUFFERS, 999, 0, 0);
	status(GPUBPF_STATUS_CUPTI_ERROR, GPUBPF_FACILITY_UNSUBSCRIBE, 999, 0, 0); /* nothing is lost by it */
	disarm();
	feed();
	CHECK(reason("cupti_errors") && reason("cupti_errors")->count == 2);
	CHECK(join__session(w.j, 0)->errors == 2 && w.l.verdict == LEDGER_INCOMPLETE);
	end();
}

/* A file with more calls than the counters counted is as much a finding as one with fewer. */
T(R2_more_records_than_calls_is_a_finding)
{
	ready();
	arm();
	launches(ALL, 1, 5);
	disarm();
	w.counts[api_id("cuLaunchKernel")].entered = 2;
	feed();
	CHECK(w.l.device.line[0].calls == 2 && w.l.device.line[0].unexplained == -3 && !w.l.device.agrees);
	CHECK(w.l.verdict == LEDGER_INCOMPLETE);
	check_sums();
	end();
}

/* The launch that ran most nodes tells, wherever it stands. */
T(R2_the_last_launch_of_a_graph_may_be_the_short_one)
{
	static const unsigned nodes[] = { 2, 4, 3 };

	ready();
	arm();
	for (uint32_t i = 0; i < 3; i++) {
		step(HOST | SHIM, GRAPH, i + 1);
		for (unsigned n = 0; n < nodes[i]; n++) {
			act.flags = GPUBPF_ACTIVITY_HAS_NODE;
			act.graph = 5;
			act.graph_node = n + 1;
			activity(GPUBPF_ACTIVITY_KERNEL, i + 1, w.now, w.now + 10);
			w.now += 20;
			fresh_activity();
		}
	}
	disarm();
	feed();
	CHECK(join__totals(w.j)->graph_shortfall == 3);
	end();
}

static void by_device(uint64_t start)
{
	activity(GPUBPF_ACTIVITY_KERNEL, 0, start, start + 10);
	fresh_activity();
}

/* CUPTI gives the body of a conditional node no correlation id, and its graph's launch no record. */
T(C24_what_the_device_launched_explains_its_graphs)
{
	ready();
	arm();
	by_device(w.now + 50); /* before all launches: of a graph that nobody saw launched */
	w.now += 100;
	step(HOST | SHIM, GRAPH, 1);
	for (unsigned i = 0; i < 10; i++)
		by_device(w.now + 20 * i);
	w.now += 1000;
	step(HOST | SHIM, GRAPH, 2);
	step(HOST | SHIM, GRAPH, 3);
	by_device(w.now);
	by_device(w.now + 20);
	w.now += 1000;
	step(ALL, LAUNCH, 4);
	disarm();
	feed();
	CHECK(line(1)->calls == 3 && line(1)->device_launched == 3 && line(1)->executions == 0);
	CHECK(join__totals(w.j)->links[JOIN_DEVICE_LAUNCHED] == 13 && !join__totals(w.j)->links[JOIN_ORPHAN]);
	CHECK(w.l.verdict == LEDGER_UNCONTRADICTED && !w.l.device.agrees);
	CHECK(fact("device_launched") && fact("device_launched")->count == 13);
	check_sums();
	end();
}

/* One execution explains one launch, and nothing explains a launch that came after it, or one of a kernel. */
T(R3_what_the_device_launched_explains_no_more_than_it_can)
{
	ready();
	arm();
	by_device(w.now);
	w.now += 1000;
	step(HOST | SHIM, GRAPH, 1);
	step(HOST | SHIM, GRAPH, 2);
	by_device(w.now);
	w.now += 1000;
	step(HOST | SHIM, GRAPH, 3);
	step(HOST | SHIM, LAUNCH, 4);
	disarm();
	feed();
	CHECK(line(1)->device_launched == 1 && line(1)->unexplained == 2 && line(0)->unexplained == 1);
	CHECK(w.l.verdict == LEDGER_INCOMPLETE);
	check_sums();
	end();
}

TEST_MAIN
