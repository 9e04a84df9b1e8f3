/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host observer was left out: the shim's calls are what is counted, and what it cannot see is not guessed. */
#include "../t.h"

#include "join_fixture.h"

static void alone(void)
{
	ready();
	w.end.host_left_out = true;
	arm();
}

static void finish(void)
{
	disarm();
	feed();
	check_sums();
}

static void expect_verdict(enum ledger_verdict v)
{
	CHECKF(w.l.verdict == v, "%s: %s", ledger_verdict_name(w.l.verdict),
	       w.l.nreasons ? w.l.reason[0].text : "no reason");
}

T(R1_calls_of_the_shim_are_counted_and_never_reconciled)
{
	char text[768];

	alone();
	for (uint32_t i = 1; i <= 4; i++)
		step(SHIM | RAN, LAUNCH, i);
	step(SHIM | RAN, COPY, 5);
	step_result(SHIM, SET, 6, 1);
	finish();
	expect_verdict(LEDGER_UNCONTRADICTED);
	CHECK(line(0)->calls == 4 && line(0)->matched == 4 && line(2)->matched == 1 && line(3)->failed == 1);
	CHECK(w.l.device.total.calls == 6 && w.l.device.total.executions == 5 && !w.l.device.agrees);
	CHECK(!join__totals(w.j)->shim_calls_no_host && join__totals(w.j)->links[JOIN_JOINED] == 5);
	CHECK(fact("host_left_out") && !fact("outside_device_capture"));
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "6 calls that ask for work counted by the device observer alone") &&
		       strstr(text, "host observer: left out") && !strstr(text, "0 calls"),
	       "%s", text);
	end();
}

/* Nobody says that it was captured: neither a term nor an agreement. */
T(R3_silent_calls_stay_unexplained)
{
	alone();
	step(SHIM | RAN, LAUNCH, 1);
	step(SHIM, LAUNCH, 2);
	step(SHIM, LAUNCH, 3);
	finish();
	expect_verdict(LEDGER_INCOMPLETE);
	CHECK(line(0)->unexplained == 2 && !line(0)->captured);
	CHECK(reason("device_unexplained")->count == 2 &&
	      strstr(reason("device_unexplained")->text, "captured into a graph"));
	end();
}

T(R14_what_only_the_host_sees_is_not_measured)
{
	static const size_t host[] = { offsetof(struct ledger_device_line, captured),
				       offsetof(struct ledger_device_line, no_work),
				       offsetof(struct ledger_device_line, outside),
				       offsetof(struct ledger_device_line, abandoned) };

	alone();
	step(SHIM | RAN, LAUNCH, 1);
	finish();
	for (size_t i = 0; i < sizeof(host) / sizeof(host[0]); i++)
		CHECK(!ledger_device_measured(&w.l, host[i]));
	CHECK(ledger_device_measured(&w.l, offsetof(struct ledger_device_line, matched)));
	w.l.host_left_out = false;
	CHECK(ledger_device_measured(&w.l, host[0]));
	end();
}

/* Losses explain as many as they count, as with both observers. */
T(losses_explain_what_they_count)
{
	alone();
	step(SHIM | RAN, LAUNCH, 1);
	for (uint32_t i = 2; i <= 4; i++)
		step(SHIM, LAUNCH, i);
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CUPTI_DROPPED, 0, 1, 0);
	status(GPUBPF_STATUS_LOSS, GPUBPF_LOSS_IN_FLIGHT, 0, 1, 0);
	finish();
	expect_verdict(LEDGER_INCOMPLETE);
	CHECK(line(0)->dropped == 1 && line(0)->in_flight == 1 && line(0)->unexplained == 1);
	end();
}

T(a_session_without_an_end_has_calls_in_flight)
{
	alone();
	step(SHIM | RAN, LAUNCH, 1);
	step(SHIM, LAUNCH, 2);
	feed();
	check_sums();
	CHECK(line(0)->matched == 1 && line(0)->in_flight == 1 && !line(0)->unexplained);
	end();
}

/* What CUPTI reports inside a call is a part of it: one call, and what ran for either ran for it. */
T(calls_inside_calls_are_nested)
{
	struct join_activity a;

	alone();
	shim_call(COPY, 11, w.now + 300, w.now + 400, 0); /* the inner one comes first: it ends first */
	shim_call(COPY, 12, w.now + 500, w.now + 600, 0);
	shim_call(COPY, 10, w.now + 100, w.now + 900, 0);
	activity(GPUBPF_ACTIVITY_COPY, 11, w.now + 2000, w.now + 3000);
	w.now += 5000;
	w.tid = 101; /* another thread at the same time is another call */
	shim_call(LAUNCH, 13, w.now - 4700, w.now - 4600, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 13, w.now - 2000, w.now - 1000);
	finish();
	expect_verdict(LEDGER_UNCONTRADICTED);
	CHECK(line(2)->calls == 1 && line(2)->nested == 2 && line(2)->matched == 1 &&
	      line(2)->executions == 1);
	CHECK(line(0)->calls == 1 && !line(0)->nested && line(0)->matched == 1);
	a = with_id(11);
	CHECK(a.link == JOIN_JOINED && a.has_call && a.call.of_shim && a.call.entry == 1001000 + 100);
	CHECK(a.call.population == 2 && a.call.tid == 100 && a.call.ret == 1001000 + 900);
	end();
}

T(C18_a_start_before_the_callback_is_a_violation)
{
	alone();
	clock_pair(w.now, w.now, 40);
	shim_call(LAUNCH, 1, w.now + 100, w.now + 900, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now + 50, w.now + 3000);
	w.now += 5000;
	finish();
	CHECK(join__totals(w.j)->early == 1 && join__totals(w.j)->early_worst_ns == 50);
	CHECK(reason("causality") != NULL);
	end();
}

T(R21_times_and_orphans_are_judged_as_ever)
{
	alone();
	step(SHIM, LAUNCH, 1);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, 0, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 99, w.now, w.now + 10);
	finish();
	CHECK(line(0)->invalid_time == 1 && !line(0)->matched && reason("orphans")->count == 1);
	end();
}

T(R1_nothing_handed_over_is_empty)
{
	ready();
	w.end.host_left_out = true;
	task(GPUBPF_TASK_EXIT, 100, 100);
	feed();
	expect_verdict(LEDGER_EMPTY);
	CHECK(strstr(reason("no_calls")->text, "left out"));
	end();
}

/* The recorder knows how many items were handed over, and no more. */
T(while_recording_the_shims_calls_are_counted_as_handed_over)
{
	static Gpubpf__ProbeCounts probe, *probes[] = { &probe };
	struct ledger_footer store;
	char text[768];

	alone();
	step(SHIM | RAN, LAUNCH, 1);
	finish();
	gpubpf__probe_counts__init(&probe);
	probe.probe = "calls_v1";
	probe.items = 7;
	w.message.probe = probes;
	w.message.n_probe = 1;
	ledger_compute(&(struct ledger_input){ .tab = w.tab, .counts = &w.message, .host_left_out = true },
		       &w.l);
	expect_verdict(LEDGER_UNCONTRADICTED);
	ledger_headline(&w.l, text, sizeof(text));
	CHECKF(strstr(text, "7 calls") && strstr(text, "left out"), "%s", text);
	ledger_fill_footer(&w.l, &store, &w.footer);
	CHECK(!w.footer.n_ledger && strcmp(w.footer.verdict, "uncontradicted") == 0);
	probe.items = 0;
	ledger_compute(&(struct ledger_input){ .tab = w.tab, .counts = &w.message, .host_left_out = true },
		       &w.l);
	expect_verdict(LEDGER_EMPTY);
	end();
}

TEST_MAIN
