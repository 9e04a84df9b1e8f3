/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Host calls and the shim's calls: by process, thread and interval. */
#include "../t.h"

#include "join_fixture.h"

T(R17_one_launch_seen_by_all_three)
{
	struct join_activity a;

	ready();
	arm();
	step(ALL, LAUNCH, 7);
	disarm();
	feed();
	CHECK(line(0)->calls == 1 && line(0)->matched == 1 && line(0)->executions == 1);
	a = nth(0);
	CHECK(a.link == JOIN_JOINED && a.has_call && a.has_shim_call && a.time == JOIN_TIME_VALID);
	CHECK(a.call.entry == a.start - 2000 && a.call.has_return && a.call.ret == a.call.entry + 1000);
	CHECK(a.call_start == a.call.entry + 100 && a.call.tid == 100 && a.call.population == 0);
	CHECK(join__lane(w.j, a.lane)->stream == 7 && join__lane(w.j, a.lane)->session->proc->tgid == 100);
	check_sums();
	end();
}

/* A call of another thread, at the same time, with another kind of work. */
T(C28_each_call_to_its_own_thread)
{
	ready();
	arm();
	for (unsigned i = 0; i < 10; i++) {
		uint64_t now = w.now;

		for (unsigned t = 0; t < 2; t++) { /* both are inside their calls at once */
			w.tid = 100 + t;
			w.now = now + 50 * t;
			step(ALL, LAUNCH, 1 + t * 10 + i);
		}
	}
	disarm();
	feed();
	CHECK(line(0)->matched == 20 && !line(0)->ambiguous);
	for (uint32_t c = 1; c <= 20; c++)
		CHECKF(with_id(c).call.tid == (c <= 10 ? 100u : 101u), "call %u", c);
	check_sums();
	end();
}

T(the_shims_interval_lies_inside_the_hosts)
{
	ready();
	arm();
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 1, w.now + 500, w.now + 1001, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now + 2000, w.now + 3000);
	w.now += 5000;
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 2, w.now - 1, w.now + 900, 0);
	w.now += 5000;
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(COPY, 3, w.now + 1, w.now + 900, 0); /* another kind of work */
	w.now += 5000;
	disarm();
	feed();
	CHECK(line(0)->calls == 3 && !line(0)->matched && line(0)->unexplained == 3);
	CHECK(join__totals(w.j)->shim_calls_no_host == 3);
	CHECK(nth(0).link == JOIN_NO_HOST_CALL && nth(0).has_shim_call && !nth(0).has_call);
	CHECK(w.l.verdict == LEDGER_INCOMPLETE && reason("device_unexplained") && reason("unrecorded_calls"));
	check_sums();
	end();
}

/* Only entries: behind its own, before the next. */
T(unmeasured_launches_by_their_entries)
{
	ready();
	arm();
	for (uint32_t i = 1; i <= 8; i++) {
		hostly.flags = GPUBPF_CALL_UNMEASURED;
		step(ALL, LAUNCH, i);
	}
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	step(HOST, LAUNCH, 0); /* the shim's was lost: the next one's is not taken for it */
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	step(ALL, LAUNCH, 10);
	disarm();
	feed();
	CHECK(line(0)->matched == 9 && line(0)->unexplained == 1);
	CHECK(with_id(10).call.entry + 2000 == with_id(10).start && !with_id(10).call.has_return);
	check_sums();
	end();
}

T(an_unmeasured_launch_ends_at_the_next_call_of_any_kind)
{
	ready();
	arm();
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	step(HOST, LAUNCH, 0);
	step(ALL, COPY, 2);
	step(SHIM | RAN, LAUNCH, 3); /* its host call was lost: not the one before the copy */
	disarm();
	feed();
	CHECK(line(0)->calls == 1 && !line(0)->matched && line(2)->matched == 1);
	CHECK(with_id(3).link == JOIN_NO_HOST_CALL);
	check_sums();
	end();
}

T(two_that_fit_one_are_ambiguous_and_said_so)
{
	ready();
	arm();
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 1, w.now + 100, w.now + 300, 0);
	shim_call(LAUNCH, 2, w.now + 400, w.now + 600, 0);
	shim_call(LAUNCH, 3, w.now + 700, w.now + 800, 0);
	for (uint32_t i = 1; i <= 3; i++)
		activity(GPUBPF_ACTIVITY_KERNEL, i, w.now + 2000 + i, w.now + 3000);
	w.now += 5000;
	disarm();
	feed();
	CHECK(line(0)->ambiguous == 1 && !line(0)->matched && !line(0)->executions);
	CHECK(join__totals(w.j)->shim_calls_ambiguous == 3 && join__totals(w.j)->links[JOIN_AMBIGUOUS] == 3);
	CHECK(nth(0).link == JOIN_AMBIGUOUS && !nth(0).has_call);
	CHECK(reason("ambiguous") && w.l.verdict == LEDGER_INCOMPLETE);
	check_sums();
	end();
}

/* A signal handler's launch while one is open: the shim's call may be either's. */
T(one_that_fits_two_is_ambiguous)
{
	ready();
	arm();
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	hostly.flags = GPUBPF_CALL_UNMEASURED;
	host_call("cuLaunchKernel", w.now + 200, 0, 0);
	shim_call(LAUNCH, 1, w.now + 300, w.now + 500, 0);
	w.now += 5000;
	disarm();
	feed();
	CHECK(line(0)->calls == 2 && line(0)->ambiguous == 2);
	check_sums();
	end();
}

/* What CUPTI reports inside a call is a part of it; the host's nested calls are no calls of the application. */
T(R15_nested_calls_count_once)
{
	ready();
	arm();
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	hostly.depth = 1;
	host_call("cuLaunchKernel", w.now + 150, w.now + 850, 0);
	shim_call(LAUNCH, 1, w.now + 100, w.now + 900, 0);
	shim_call(LAUNCH, 2, w.now + 200, w.now + 800, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 2, w.now + 2000, w.now + 3000);
	w.now += 5000;
	disarm();
	feed();
	CHECK(line(0)->calls == 1 && line(0)->nested == 1 && line(0)->matched == 1 &&
	      line(0)->executions == 1);
	CHECK(w.l.device.line[0].calls == 1 && w.l.line[0].calls == 2);
	CHECKF(w.l.verdict == LEDGER_RECONCILED, "%s", w.l.nreasons ? w.l.reason[0].text : "");
	check_sums();
	end();
}

/* Both begin in the same nanosecond, and the inner one is handed over first. */
T(an_inner_call_that_comes_first)
{
	ready();
	arm();
	host_call("cuLaunchKernel", w.now, w.now + 1000, 0);
	shim_call(LAUNCH, 2, w.now + 100, w.now + 800, 0);
	shim_call(LAUNCH, 1, w.now + 100, w.now + 900, 0);
	activity(GPUBPF_ACTIVITY_KERNEL, 1, w.now + 2000, w.now + 3000);
	w.now += 5000;
	disarm();
	feed();
	CHECK(line(0)->matched == 1 && !line(0)->ambiguous && line(0)->executions == 1);
	check_sums();
	end();
}

/* The shim's ids are those of the process's own namespace; a task record has both. */
T(C8_thread_ids_of_a_container)
{
	ready();
	task(GPUBPF_TASK_SEEN, 1, 17);
	w.ns_tid = 17;
	arm();
	step(ALL, LAUNCH, 1);
	disarm();
	feed();
	CHECK(line(0)->matched == 1 && nth(0).call.tid == 100);
	end();

	/* without the record of this thread nothing is guessed from equal numbers */
	ready();
	task(GPUBPF_TASK_SEEN, 1, 17);
	arm();
	w.ns_tid = 100;
	step(ALL, LAUNCH, 1);
	disarm();
	feed();
	CHECK(!line(0)->matched && nth(0).link == JOIN_NO_HOST_CALL);
	end();
}

T(R17_two_processes_with_equal_ids_do_not_mix)
{
	struct join_activity a;

	ready();
	for (unsigned p = 0; p < 2; p++) {
		w.tgid = 100 + p;
		w.tid = 500;
		arm();
		name_part(1, 0, 1, p ? "second" : "first");
	}
	for (uint32_t i = 1; i <= 5; i++)
		for (unsigned p = 0; p < 2; p++) {
			w.tgid = 100 + p;
			act.name = 1;
			step(ALL, LAUNCH, i);
		}
	w.tgid = 100;
	disarm();
	w.tgid = 101;
	disarm();
	feed();
	CHECK(line(0)->matched == 10 && !line(0)->ambiguous && join__sessions(w.j) == 2);
	for (size_t i = 0; i < 10; i++) {
		const char *want;

		a = nth(i);
		want = a.call.proc->tgid == 100 ? "first" : "second";
		CHECK(a.call.proc == join__lane(w.j, a.lane)->session->proc &&
		      a.call.entry + 2000 == a.start);
		CHECK(strcmp(join__name(w.j, join__key(w.j, a.key)->name), want) == 0);
	}
	CHECKF(w.l.verdict == LEDGER_RECONCILED, "%s", w.l.nreasons ? w.l.reason[0].text : "");
	end();
}

/* exec: the same pid, another program, whose counters begin anew. */
T(a_program_started_by_exec_is_another_process)
{
	ready();
	arm();
	step(ALL, LAUNCH, 1);
	disarm();
	task(GPUBPF_TASK_EXEC, 100, 100);
	w.now += 10;
	w.sequence[0][GPUBPF_PROBE_CALLS] = w.sequence[0][GPUBPF_PROBE_ACTIVITY] = 0;
	w.sequence[0][GPUBPF_PROBE_STATUS] = w.sequence[0][GPUBPF_PROBE_HELLO] = 0;
	arm();
	step(ALL, LAUNCH, 1);
	disarm();
	feed();
	CHECK(line(0)->matched == 2 && join__sessions(w.j) == 2 && !join__totals(w.j)->probe[1].repeated);
	CHECK(nth(0).call.proc != nth(1).call.proc);
	CHECKF(w.l.verdict == LEDGER_RECONCILED, "%s", w.l.nreasons ? w.l.reason[0].text : "");
	end();
}

static void shuffle(unsigned seed)
{
	for (unsigned i = w.n - 1; i > 0; i--) {
		unsigned k = (seed = seed * 1103515245u + 12345u) / 65536 % (i + 1);
		struct gpubpf_rec *t = w.rec[i];

		w.rec[i] = w.rec[k];
		w.rec[k] = t;
	}
}

T(order_of_arrival_does_not_matter)
{
	static struct join_totals want;

	ready();
	arm();
	name_part(3, 0, 2, "half of a na");
	name_part(3, 1, 2, "me");
	for (uint32_t i = 100; i < 500; i++) {
		act.name = 3;
		act.stream = i % 3;
		step(ALL, i % 5 ? LAUNCH : COPY, i);
	}
	step(HOST | SHIM, LAUNCH, 40);
	step(SHIM | RAN, LAUNCH, 41);
	step(RAN, LAUNCH, 42);
	disarm();
	feed();
	check_sums();
	want = *join__totals(w.j);
	CHECK(want.line[0].matched == 320 && want.line[0].unexplained == 1 && want.links[JOIN_ORPHAN] == 1);
	for (unsigned seed = 1; seed <= 50; seed++) {
		unfeed();
		shuffle(seed);
		feed();
		CHECKF(!memcmp(&want, join__totals(w.j), sizeof(want)), "order %u", seed);
		for (size_t i = 1; i < join__activities(w.j); i++)
			CHECKF(nth(i - 1).start <= nth(i).start, "order %u: not sorted", seed);
		CHECK(strcmp(join__name(w.j, join__key(w.j, nth(1).key)->name), "half of a name") == 0);
	}
	end();
}

TEST_MAIN
