/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every term of the device ledger, with its evidence and without; verdicts; what is said. */
#include "../t.h"

#include "join_fixture.h"

static void expect_verdict(enum ledger_verdict v)
{
	CHECKF(w.l.verdict == v, "%s: %s", ledger_verdict_name(w.l.verdict),
	       w.l.nreasons ? w.l.reason[0].text : "no reason");
}

static void launches(unsigned parts, uint32_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		step(parts, LAUNCH, first + i);
}

T(R2_reconciled_says_what_agrees)
{
	char text[768];

	ready();
	arm();
	launches(ALL, 1, 5);
	step_result(HOST | SHIM, LAUNCH, 6, 1); /* failed */
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	step_result(HOST | SHIM, LAUNCH, 9, 1); /* and one whose result the shim alone saw */
	hostly.words[2] = 0;
	step(HOST | SHIM, COPY, 7); /* of no byte */
	step(ALL, SET, 8);
	disarm();
	feed();
	expect_verdict(LEDGER_RECONCILED);
	CHECK(w.l.device.state == LEDGER_DEVICE_WHOLE && w.l.device.agrees);
	CHECK(line(0)->failed == 2 && line(2)->no_work == 1 && w.l.device.total.executions == 6);
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "reconciled: both observers agree on all 9 calls") &&
		       strstr(text, "6 executions"),
	       "%s", text);
	CHECK(!strstr(text, "complete"));
	check_sums();
	end();
}

T(captured_calls_ran_nothing_and_their_replays_did)
{
	ready();
	arm();
	hostly.words[0] = 0xa0;
	host_call("cuStreamBeginCapture_v2", w.now, w.now + 10, 0);
	w.now += 100;
	for (uint32_t i = 1; i <= 3; i++) {
		hostly.words[8] = 0xa0;
		step(HOST | SHIM, LAUNCH, i);
	}
	hostly.words[0] = 0xa0;
	host_call("cuStreamEndCapture", w.now, w.now + 10, 0);
	w.now += 100;
	for (uint32_t i = 0; i < 10; i++) {
		step(HOST | SHIM, GRAPH, 10 + i);
		for (unsigned n = 0; n < 3; n++) {
			act.flags = GPUBPF_ACTIVITY_HAS_NODE;
			act.graph = 1;
			act.graph_node = n;
			activity(GPUBPF_ACTIVITY_KERNEL, 10 + i, w.now - 3000 + n, w.now - 2000 + n);
		}
		fresh_activity();
	}
	disarm();
	feed();
	CHECK(line(0)->captured == 3 && line(1)->matched == 10 && line(1)->executions == 30);
	expect_verdict(LEDGER_RECONCILED);
	check_sums();
	end();
}

/* R3: counters of losses all zero, and a launch that left no record: the host's count sees it. */
T(R3_a_launch_that_left_no_record_is_unexplained)
{
	char text[768];

	ready();
	arm();
	launches(ALL, 1, 5);
	launches(HOST | SHIM, 6, 2);
	launches(HOST, 0, 1);
	disarm();
	feed();
	CHECK(line(0)->unexplained == 3 && w.l.device.line[0].unexplained == 3);
	CHECK(reason("device_unexplained") && reason("device_unexplained")->count == 3);
	expect_verdict(LEDGER_INCOMPLETE);
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "accounts for 5 of 8 calls") && !strstr(text, "agree on all"), "%s", text);
	check_sums();
	end();
}

T(dropped_by_cupti_explains_as_many_as_it_counts)
{
	ready();
	arm();
	launches(ALL, 1, 5);
	launches(HOST | SHIM, 6, 4);
	step(HOST | SHIM, COPY, 20);
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CUPTI_DROPPED, 0, 1, 0); /* so far: the last word is 3 */
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CUPTI_DROPPED, 0, 3, 0);
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CUPTI_DROPPED, 0, 2, 0);
	disarm();
	feed();
	CHECK(line(0)->dropped == 3 && line(0)->unexplained == 1 && line(2)->dropped == 0 &&
	      line(2)->unexplained == 1);
	CHECK(reason("cupti_dropped") && reason("cupti_dropped")->count == 3);
	check_sums();
	end();
}

T(losses_of_one_session_explain_nothing_of_another)
{
	ready();
	arm();
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CUPTI_DROPPED, 0, 5, 0);
	launches(ALL, 1, 1);
	disarm();
	w.tgid = w.tid = 101;
	arm();
	launches(HOST | SHIM, 1, 2);
	launches(ALL, 5, 1);
	disarm();
	feed();
	CHECK(!line(0)->dropped && line(0)->unexplained == 2);
	check_sums();
	end();
}

T(lost_in_the_shim_by_its_own_count)
{
	ready();
	arm();
	launches(ALL, 1, 3);
	launches(HOST, 0, 2);
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CALLS, 0, 9, 0); /* waits too are calls */
	launches(HOST | SHIM, 10, 1);
	status(GPUBPF_STATUS_COUNTS, GPUBPF_PROBE_ACTIVITY, 0, 4, 3); /* one made and not handed over */
	status(GPUBPF_STATUS_COUNTS, GPUBPF_PROBE_CALLS, 0, 4, 4);
	disarm();
	feed();
	CHECK(line(0)->lost_shim == 3 && !line(0)->unexplained);
	CHECK(reason("shim_calls_lost") && reason("shim_calls_lost")->count == 9);
	check_sums();
	end();
}

T(C7_lost_in_the_ring_calls_and_batches)
{
	static Gpubpf__ProbeCounts probe, *probes[] = { &probe };

	ready();
	arm();
	launches(ALL, 1, 3);
	hostly.lost = true; /* the host's record */
	launches(ALL, 4, 1);
	w.sequence[0][GPUBPF_PROBE_CALLS]++; /* a batch with the shim's call */
	launches(HOST | RAN, 5, 1);
	w.sequence[0][GPUBPF_PROBE_ACTIVITY]++; /* and one with what ran */
	launches(HOST | SHIM, 6, 1);
	launches(ALL, 7, 1);
	disarm();
	gpubpf__probe_counts__init(&probe);
	probe.probe = "activity_v1";
	probe.lost_hits = probe.lost_items = 1;
	w.message.probe = probes;
	w.message.n_probe = 1;
	feed();
	CHECKF(line(0)->lost_ring == 2 && !line(0)->unexplained, "%lu", (unsigned long)line(0)->lost_ring);
	CHECK(w.l.device.line[0].calls == 7 && w.l.device.line[0].lost_ring == 3 &&
	      !w.l.device.line[0].unexplained);
	CHECK(join__totals(w.j)->probe[GPUBPF_PROBE_CALLS].lost_batches == 1 &&
	      join__totals(w.j)->probe[GPUBPF_PROBE_ACTIVITY].lost_batches == 1);
	CHECK(with_id(5).link == JOIN_ORPHAN && with_id(4).link == JOIN_NO_HOST_CALL);
	CHECK(!reason("unrecorded_calls")); /* the host's own loss explains it */
	CHECK(reason("lost_ring") && reason("device_lost_ring") &&
	      strstr(reason("device_lost_ring")->remedy, "--ring-size"));
	expect_verdict(LEDGER_INCOMPLETE);
	check_sums();
	end();
}

/* Handed over by the shim's count, and not here: exact, unlike a gap. */
T(counts_of_the_shim_are_better_than_gaps)
{
	ready();
	arm();
	launches(ALL, 1, 3);
	w.sequence[0][GPUBPF_PROBE_ACTIVITY]++;
	launches(HOST | SHIM, 4, 5);
	launches(ALL, 20, 1);
	status(GPUBPF_STATUS_COUNTS, GPUBPF_PROBE_ACTIVITY, 0, 6, 6);
	disarm();
	feed();
	CHECK(line(0)->lost_ring == 2 && line(0)->unexplained == 3);
	check_sums();
	end();
}

T(in_flight_at_the_deadline_and_open_calls)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	launches(HOST | SHIM, 3, 2);
	hostly.flags = GPUBPF_CALL_OPEN;
	launches(HOST, 0, 1); /* entered, and CUPTI took no more calls before it got there */
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_IN_FLIGHT, 0, 2, 0);
	w.now += 1;
	status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_LATE, 0, w.now, w.now);
	feed();
	CHECK(line(0)->in_flight == 2 && line(0)->outside == 1 && !line(0)->unexplained &&
	      line(0)->calls == 5);
	CHECK(reason("device_in_flight") && reason("disarm_late"));
	check_sums();
	end();
}

/* The target was killed: what came last was never handed over; what is missing earlier has no excuse. */
T(a_session_without_an_end)
{
	ready();
	arm();
	launches(ALL, 1, 3);
	launches(HOST | SHIM, 4, 1);
	launches(ALL, 5, 1);
	launches(HOST | SHIM, 6, 2);
	launches(HOST, 0, 3);
	hostly.flags = GPUBPF_CALL_OPEN; /* killed inside it */
	launches(HOST, 0, 1);
	feed();
	CHECK(join__session(w.j, 0)->state == JOIN_SESSION_OPEN);
	CHECK(line(0)->in_flight == 6 && line(0)->unexplained == 1);
	CHECK(reason("session_open"));
	expect_verdict(LEDGER_INCOMPLETE);
	check_sums();
	end();
}

T(calls_outside_armed_sessions_were_not_watched)
{
	char text[768];

	ready();
	launches(HOST, 0, 4);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_KERNEL, 0, 0, 0);
	arm();
	launches(ALL, 1, 2);
	disarm();
	launches(HOST, 0, 3);
	w.tgid = w.tid = 102; /* never armed */
	launches(HOST, 0, 2);
	feed();
	CHECK(line(0)->outside == 9 && line(0)->matched == 2 && !line(0)->unexplained);
	CHECK(join__totals(w.j)->processes == 2 && join__totals(w.j)->processes_unwatched == 1);
	expect_verdict(LEDGER_UNCONTRADICTED);
	CHECK(w.l.device.state == LEDGER_DEVICE_PARTIAL && fact("outside_device_capture"));
	CHECK(fact("outside_device_capture") && fact("outside_device_capture")->count == 9);
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "accounts for 2 of 11"), "%s", text);
	check_sums();
	end();
}

/* Between the last call that is taken and DISARMED the shim waits for the device. */
T(calls_while_a_session_ends_are_outside)
{
	uint64_t stop;

	ready();
	arm();
	launches(ALL, 1, 2);
	stop = w.now;
	launches(HOST, 0, 2);
	status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0, stop - 1, 0);
	feed();
	CHECK(line(0)->outside == 2 && !line(0)->unexplained);
	end();

	ready(); /* without that time: behind the session's last call */
	arm();
	launches(ALL, 1, 2);
	launches(HOST, 0, 2);
	status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0, 0, 0);
	feed();
	CHECK(line(0)->outside == 2 && !line(0)->unexplained);
	end();

	ready(); /* with it, a call before is no such call */
	arm();
	launches(ALL, 1, 2);
	launches(HOST, 0, 2);
	status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0, w.now, 0);
	feed();
	CHECK(!line(0)->outside && line(0)->unexplained == 2);
	end();
}

/* A thread's last launch has no end of its own; only near the session's end may it have stood before CUPTI's door. */
T(a_threads_last_launch_is_not_excused_for_ever)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	w.tid = 101;
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	launches(HOST, 0, 1);
	w.tid = 102;
	w.now += 2000000000;
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	launches(HOST, 0, 1);
	status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0, w.now, 0);
	feed();
	CHECK(line(0)->unexplained == 1 && line(0)->outside == 1);
	check_sums();
	end();
}

/* A thread was inside a call when the probes came: past their place, before CUPTI's. */
T(calls_entered_before_the_host_observer_are_a_fact)
{
	ready();
	arm();
	step(SHIM | RAN, LAUNCH, 1);
	launches(ALL, 2, 3);
	disarm();
	feed();
	CHECK(join__totals(w.j)->shim_calls_early == 1 && !join__totals(w.j)->shim_calls_no_host);
	CHECK(fact("before_the_host_observer"));
	expect_verdict(LEDGER_RECONCILED);
	end();
}

T(calls_after_the_host_observer_are_a_fact)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	w.end.stopped_ns = w.now;
	launches(SHIM | RAN, 3, 2);
	disarm();
	feed();
	CHECK(join__totals(w.j)->shim_calls_late == 2 && fact("after_the_host_observer"));
	expect_verdict(LEDGER_RECONCILED);
	end();
}

static uint64_t of_a_member(uint32_t tgid, const void *arg)
{
	return tgid == 100 ? *(const uint64_t *)arg : 0;
}

/* A merged capture: what its footer says is of none of its members. */
T(calls_after_the_host_observer_of_a_member_are_a_fact)
{
	uint64_t stopped;

	ready();
	arm();
	launches(ALL, 1, 2);
	w.end.stopped_ns = 1;
	w.end.stopped_of = of_a_member;
	w.end.stopped_arg = &stopped;
	stopped = w.now;
	launches(SHIM | RAN, 3, 2);
	disarm();
	feed();
	CHECK(join__totals(w.j)->shim_calls_late == 2 && !join__totals(w.j)->shim_calls_no_host);
	end();
}

/* ---- Nothing at all ---- */

T(R1_R3_armed_and_silent_is_said_loudly)
{
	char text[768];

	ready();
	hello(GPUBPF_TIME_MONOTONIC);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_SUBSCRIBE, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_COPY, 35, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_COPY, 0, 0, 0); /* a failure stays */
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now, 0);
	w.now += 100;
	launches(HOST | SHIM, 1, 300);
	disarm();
	feed();
	expect_verdict(LEDGER_INCOMPLETE);
	CHECK(w.l.device.state == LEDGER_DEVICE_SILENT);
	CHECKF(strcmp(w.l.reason[0].code, "device_silent") == 0 && w.l.reason[0].count == 300, "%s",
	       w.l.reason[0].code);
	CHECK(strstr(w.l.reason[0].text, "second profiler") && strstr(w.l.reason[0].text, "permission") &&
	      strstr(w.l.reason[0].text, "copy: CUPTI error 35"));
	/* R4: stranded records want a shorter interval, never a bigger buffer */
	CHECK(strstr(w.l.reason[0].remedy, "a bigger buffer would make it worse"));
	CHECK(!reason("device_unexplained"));
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "not one record") && strstr(text, "delivered no record at all"), "%s", text);
	check_sums();
	end();
}

T(R5_C22_a_second_subscriber_is_named_and_the_host_goes_on)
{
	static const struct {
		unsigned reason;
		const char *code, *text;
	} cases[] = {
		{ GPUBPF_REASON_SECOND_SUBSCRIBER, "second_subscriber", "another profiler" },
		{ GPUBPF_REASON_NOT_PERMITTED, "cupti_not_permitted", "does not let this user profile" },
		{ GPUBPF_REASON_CUPTI_MISSING, "cupti_missing", "no CUPTI library" },
		{ GPUBPF_REASON_FACILITY, "facility_enable_failed", "refused a kind" },
	};
	char text[768];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ready();
		hello(0);
		status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_SUBSCRIBE, 39, 0, 0);
		status(GPUBPF_STATUS_FAILED, cases[i].reason, 39, 0, 0);
		launches(HOST, 0, 10);
		feed();
		expect_verdict(LEDGER_UNCONTRADICTED);
		CHECK(w.l.device.state == LEDGER_DEVICE_FAILED && line(0)->outside == 10);
		CHECKF(fact(cases[i].code) && strstr(fact(cases[i].code)->text, cases[i].text) &&
			       strstr(fact(cases[i].code)->text, "subscribe: CUPTI error 39"),
		       "%s", cases[i].code);
		ledger_headline(&w.l, text, sizeof(text));
		CHECKF(strstr(text, "the device observer saw nothing") && strstr(text, cases[i].text), "%s",
		       text);
		check_sums();
		end();
	}
}

T(R5_facilities_tried_refused_and_not_tried)
{
	const struct join_session *s;

	ready();
	hello(GPUBPF_TIME_MONOTONIC);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_KERNEL, 0, 0, 0);
	status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_MEMORY, 28, 0, 0);
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now - 10, 0);
	launches(ALL, 1, 1);
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now, 0); /* once more: the first holds */
	disarm();
	feed();
	s = join__session(w.j, 0);
	CHECK(s->armed_at == 1000000 && s->armed_from == 1000000 - 10 && line(0)->matched == 1);
	CHECK(s->facility[GPUBPF_FACILITY_KERNEL].tried && !s->facility[GPUBPF_FACILITY_KERNEL].result);
	CHECK(s->facility[GPUBPF_FACILITY_MEMORY].tried && s->facility[GPUBPF_FACILITY_MEMORY].result == 28);
	CHECK(!s->facility[GPUBPF_FACILITY_SYNC].tried);
	end();
}

T(R1_a_device_observer_with_no_call_to_see_is_empty)
{
	ready();
	arm();
	disarm();
	feed();
	expect_verdict(LEDGER_EMPTY);
	end();
}

T(no_counters_is_not_evaluable_whatever_was_joined)
{
	ready();
	arm();
	launches(ALL, 1, 2);
	disarm();
	feed();
	ledger_compute(&(struct ledger_input){ .tab = w.tab,
					       .status = &w.status,
					       .in_file = w.in_file,
					       .nin_file = GPUBPF_API_MAX,
					       .join = w.j },
		       &w.l);
	expect_verdict(LEDGER_NOT_EVALUABLE);
	end();
}

/* Counters of a recorder that was killed are older than the file's last records. */
T(without_a_footer_the_file_counts)
{
	ready();
	arm();
	launches(ALL, 1, 5);
	disarm();
	w.counts[api_id("cuLaunchKernel")].entered = 2;
	w.status.has_footer = false;
	feed();
	CHECK(w.l.device.line[0].calls == 5 && !w.l.device.line[0].unexplained);
	expect_verdict(LEDGER_INCOMPLETE);
	check_sums();
	end();
}

/* The recorder computes its ledger without the join, and says so. */
T(while_recording_the_join_is_still_to_come)
{
	static Gpubpf__ProbeCounts probe, *probes[] = { &probe };
	char text[768];

	ready();
	arm();
	launches(ALL, 1, 5);
	disarm();
	feed();
	gpubpf__probe_counts__init(&probe);
	probe.probe = "activity_v1";
	probe.items = 5;
	w.message.probe = probes;
	w.message.n_probe = 1;
	ledger_compute(&(struct ledger_input){ .tab = w.tab, .counts = &w.message }, &w.l);
	CHECK(w.l.device.state == LEDGER_DEVICE_UNREAD && w.l.verdict == LEDGER_UNCONTRADICTED);
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "joined when the file is read") && !strstr(text, "no device observer"), "%s",
	       text);
	probe.lost_items = 3;
	ledger_compute(&(struct ledger_input){ .tab = w.tab, .counts = &w.message }, &w.l);
	CHECK(w.l.verdict == LEDGER_INCOMPLETE && reason("device_lost_ring")->count == 3);
	end();
}

/* The gate speaks before there is a session, and none is made of that. */
T(a_word_of_the_gate_is_no_session)
{
	ready();
	w.session = 0;
	status(GPUBPF_STATUS_GATE, 2, 0, 0, 0);
	w.session = 1;
	arm();
	launches(ALL, 1, 2);
	status(GPUBPF_STATUS_GATE, 5, 1, 0, 0);
	disarm();
	feed();
	CHECK(join__sessions(w.j) == 1);
	expect_verdict(LEDGER_RECONCILED);
	end();
}

/* With it reconciled needs more than two observers that agree. A capture of an older version says nothing of it. */
T(what_was_not_ready_is_never_reconciled)
{
	static Gpubpf__Readiness one = GPUBPF__READINESS__INIT, *list[] = { &one };
	Gpubpf__Meta m = GPUBPF__META__INIT;
	struct ledger_input in;

	ready();
	arm();
	launches(ALL, 1, 5);
	disarm();
	feed();
	in = (struct ledger_input){ .tab = w.tab,
				    .counts = &w.message,
				    .meta = &m,
				    .status = &w.status,
				    .footer = &w.footer,
				    .in_file = w.in_file,
				    .nin_file = GPUBPF_API_MAX,
				    .join = w.j };
	ledger_compute(&in, &w.l);
	expect_verdict(LEDGER_RECONCILED);
	one.readiness = one.order = (char *)"ready";
	m.readiness = list;
	m.n_readiness = 1;
	ledger_compute(&in, &w.l);
	expect_verdict(LEDGER_RECONCILED);
	one.readiness = (char *)"failed";
	one.reason = (char *)"unowned_first_touch";
	ledger_compute(&in, &w.l);
	expect_verdict(LEDGER_UNCONTRADICTED);
	CHECK(w.l.nfacts && !strcmp(w.l.fact[0].code, "not_ready"));
	CHECK(strstr(w.l.fact[0].text, "unowned_first_touch") && w.l.fact[0].remedy[0]);
	one.readiness = (char *)"pending";
	one.reason = NULL;
	ledger_compute(&in, &w.l);
	expect_verdict(LEDGER_UNCONTRADICTED);
	end();
}

TEST_MAIN
