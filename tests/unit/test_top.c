/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view: what a feed makes of records and counters, and what lines show of it. */
#include "../t.h"

#include "top_fixture.h"

T(what_is_counted_is_of_its_interval)
{
	begin();
	called(LAUNCH, 1000);
	called(COPY, 10);
	w.api[LAUNCH].failed = 3;
	for (int i = 0; i < 10; i++)
		call(COPY, 7, 7, 500 * MS, 1000, 1, 2, 4096, NULL);
	tick(2 * S);
	CHECK(w.view->launches.n == 1000 && w.view->copies.n == 10 && w.view->failed.n == 3);
	CHECK(w.view->bytes.n == 40960 && w.view->length == 2 * S && w.view->number == 1);
	CHECK(has(
		"rates         0.000    2.000       1000       500.0        0       0.0       10       5.0         40960 "
		"        20480       1010       505.0       3\n"));
	called(LAUNCH, 1);
	end(3 * S);
	CHECK(w.launches == 1001 && w.view->launches.total == 1001 && w.calls == 1011);
	CHECK(w.view->failed.n == 0 && w.view->failed.total == 3);
}

T(a_block_keeps_its_columns)
{
	static const char want[] =
		"#rates         AT_S LENGTH_S   LAUNCHES  LAUNCHES/S   GRAPHS  GRAPHS/S   COPIES  COPIES/S         BYTES       BYTES/S      CALLS     CALLS/S  FAILED\n"
		"rates         0.000    1.000          2         2.0        0       0.0        0       0.0             0             0          2         2.0       0\n"
		"#gpu           AT_S LENGTH_S     PID DEVICE BUSY_% UNSURE_%    KERNELS   COPIES     SETS\n"
		"gpu           0.000    1.000 absent: left out (--no-shim)\n"
		"#kernels       AT_S LENGTH_S   LAUNCHES        GPU_NS    MEAN_NS NAME\n"
		"kernels       0.000    1.000          2             -          - scale(float*)\n"
		"#waits         AT_S LENGTH_S            NS SHARE_%      CALLS CAUSE\n"
		"waits         0.000    1.000 absent: left out (--no-latency)\n"
		"#apis          AT_S LENGTH_S      CALLS     CALLS/S  FAILED     TIMED       MEAN_NS        P99_NS API\n"
		"apis          0.000    1.000          2         2.0       0         2          6000          8000 cuLaunchKernel\n"
		"#tasks         AT_S LENGTH_S     PID     TID      CALLS   LAUNCHES  FAILED   IN_CALLS_NS     WAITED_NS COMM\n"
		"tasks         0.000    1.000       7     all          2          2       0         12000             - trainer\n"
		"tasks         0.000    1.000       7       7          2          2       0         12000             - trainer\n"
		"#losses        AT_S LENGTH_S        NOW      TOTAL REASON             TEXT\n"
		"losses        0.000    1.000          0          0 none               nothing is known to be lost\n"
		"verdict       0.000    1.000  uncontradicted so far: 2 calls counted by the host observer; no device observer\n"
		"\n";

	begin_with((struct top_feed_opts){
		.interval = S, .lag = S, .no_shim = true, .no_waits = "left out (--no-latency)" });
	task(GPUBPF_TASK_SEEN, 7, 0);
	call(FUNCTION, 7, 7, 0, 1, 0xf0, 1, 2, "_Z5scalePf");
	tick(0); /* the call that named it is not of the interval that is looked at */
	w.counts.time_ns = 0;
	top_feed__begin(w.f, START);
	called(LAUNCH, 2);
	call(LAUNCH, 7, 7, 10, 4000, 0xf0, 1, 1, NULL);
	call(LAUNCH, 7, 7, 20, 8000, 0xf0, 1, 1, NULL);
	tick(S);
	CHECKF(!strcmp(w.text, want), "%s", w.text);
	end(2 * S);
}

T(losses_are_never_hidden)
{
	begin();
	called(LAUNCH, 100);
	tick(S);
	CHECK(has("losses        0.000    1.000          0          0 none "));
	CHECK(!strcmp(line(24, 80, 1), "lost: nothing known"));
	w.api[LAUNCH].entered += 50;
	w.api[LAUNCH].recorded += 45;
	w.api[LAUNCH].lost_ring += 5;
	tick(2 * S);
	CHECK(loss("lost_ring") && loss("lost_ring")->now == 5 && loss("lost_ring")->total == 5);
	w.api[LAUNCH].entered += 2;
	w.api[LAUNCH].lost_ring += 2;
	tick(3 * S);
	CHECK(loss("lost_ring") && loss("lost_ring")->now == 2 && loss("lost_ring")->total == 7);
	CHECK(has("         2          7 lost_ring          7 records of calls found no room in the ring\n"));
	CHECK(strstr(w.view->verdict, "incomplete so far: 7 records of calls"));
	CHECK(strstr(line(24, 80, 1), "LOST 7, 2 of them now: 7 records of calls"));
	CHECK(!strcmp(line(5, 20, 1), "LOST 7, 2 of them no"));
	CHECK(!strncmp(line(1, 20, 0), "LOST gpubpf", 11));
	end(4 * S);
	CHECK(loss("lost_ring")->now == 0 && loss("lost_ring")->total == 7);
	CHECK(strstr(w.view->verdict, "incomplete: "));
}

T(what_the_shim_lost_is_summed_over_sessions_and_processes)
{
	struct gpubpf_status s = {
		.kind = GPUBPF_STATUS_LOSS, .code = GPUBPF_LOSS_CUPTI_DROPPED, .session = 1, .a = 5
	};

	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	arm(8, 0);
	batch(GPUBPF_PROBE_STATUS, 7, 1, &s, sizeof(s), 1);
	batch(GPUBPF_PROBE_STATUS, 7, 2, &s, sizeof(s), 1); /* so far, once more */
	batch(GPUBPF_PROBE_STATUS, 8, 3, &s, sizeof(s), 1);
	w.probe.lost_items = 9;
	w.probe.lost_hits = 1;
	tick(S);
	CHECK(loss("cupti_dropped") && loss("cupti_dropped")->total == 10);
	CHECK(loss("device_lost_ring") && loss("device_lost_ring")->total == 9);
	task(GPUBPF_TASK_EXIT, 8, 1100 * MS);
	s.session = 2;
	s.a = 1;
	batch(GPUBPF_PROBE_STATUS, 7, 4, &s, sizeof(s), 1);
	tick(2 * S);
	CHECK(loss("cupti_dropped") && loss("cupti_dropped")->total == 11 && loss("cupti_dropped")->now == 1);
	end(3 * S);
	CHECK(loss("cupti_dropped")->total == 11);
}

T(batches_that_pass_each_other_are_not_missing)
{
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_COUNTS, .session = 1 };

	begin();
	called(LAUNCH, 1);
	batch_at(GPUBPF_PROBE_STATUS, 7, 0, &s, sizeof(s), 1, 10);
	batch_at(GPUBPF_PROBE_STATUS, 7, 0, &s, sizeof(s), 1, 12);
	tick(S);
	CHECK(!loss("device_gap"));
	batch_at(GPUBPF_PROBE_STATUS, 7, S, &s, sizeof(s), 1, 11);
	tick(2 * S);
	CHECK(!loss("device_gap"));
	batch_at(GPUBPF_PROBE_STATUS, 7, 2 * S, &s, sizeof(s), 1, 15);
	tick(3 * S);
	tick(4 * S);
	CHECK(loss("device_gap") && loss("device_gap")->total == 2);
	w.probe.lost_hits = 2; /* the ring's counters explain them */
	tick(5 * S);
	CHECK(!loss("device_gap"));
	end(6 * S);
}

T(busy_is_a_union_over_streams_whatever_the_order)
{
	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	ran(7, 600, 800, 2, 1, 900);
	ran(7, 100, 300, 1, 1, 900);
	ran(7, 200, 400, 2, 1, 900);
	ran(7, 250, 260, 3, 1, 900);
	tick(S);
	CHECK(w.view->has_device && !w.view->gpu_length && !w.view->ngpus);
	tick(2 * S);
	CHECK(w.view->gpu_at == 0 && w.view->gpu_length == S && w.view->ngpus == 1);
	CHECK(w.view->gpu[0].busy == 500 * MS && w.view->gpu[0].unsure == 0 && w.view->gpu[0].kernels == 4);
	CHECK(has(
		"gpu           0.000    1.000       7      0   50.0      0.0          4        0        0\n"));
	tick(3 * S);
	CHECK(w.view->ngpus == 1 && w.view->gpu[0].busy == 0); /* idle is not absent */
	end(4 * S);
}

T(a_kernel_over_several_windows_is_busy_in_each_and_counted_once)
{
	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	named(7, 1, "long_one");
	tick(S);
	ran(7, 500, 1900, 1, 1, 1950);
	tick(2 * S);
	CHECK(w.view->gpu[0].busy == 500 * MS && w.view->nkernels == 0);
	tick(3 * S);
	CHECK(w.view->gpu[0].busy == 900 * MS && w.view->nkernels == 1);
	CHECK(w.view->kernel[0].launches == 1 && w.view->kernel[0].ns == 1400 * MS);
	CHECK(!strcmp(w.view->kernel[0].name, "long_one"));
	end(4 * S);
	CHECK(w.executions == 1 && w.busy == 1400 * MS && !loss("late"));
}

T(at_the_end_nothing_is_held_back)
{
	begin();
	called(LAUNCH, 3);
	arm(7, 0);
	named(7, 1, "kernel");
	ran(7, 100, 300, 1, 1, 900);
	ran(7, 1100, 1300, 1, 1, 1500);
	ran(7, 2100, 2110, 1, 1, 2200);
	tick(S);
	tick(2 * S);
	CHECK(w.views == 2 && !w.view->last);
	end(2 * S + 200 * MS);
	CHECK(w.views == 4 && w.view->more && w.view->gpu_at == 2 * S && w.view->gpu_length == 200 * MS);
	CHECK(w.view->nkernels == 1 && w.view->kernel[0].launches == 1);
	CHECK(w.kernels == 3 && w.executions == 3 && w.busy == 410 * MS && w.launches == 3);
	begin();
	called(LAUNCH, 3);
	tick(S);
	end(2 * S);
	CHECK(w.views == 2 && !w.view->more);
}

static void shim_is_there(void)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Shim shim = GPUBPF__SHIM__INIT, *list = &shim;

	m.shim = &list;
	m.n_shim = 1;
	CHECK(top_feed__meta(w.f, &m) == 0);
}

T(launches_are_listed_once_when_the_shim_answers_late)
{
	begin();
	shim_is_there();
	task(GPUBPF_TASK_SEEN, 7, 0);
	called(LAUNCH, 2);
	call(LAUNCH, 7, 7, 10, 4000, 0xf0, 1, 1, NULL);
	call(LAUNCH, 7, 7, 20, 4000, 0xf0, 1, 1, NULL);
	tick(S);
	CHECK(!w.view->has_device && !w.view->nkernels && w.view->launches.n == 2);
	CHECK(strstr(w.view->device_absent, "not answered yet"));
	arm(7, S);
	ran(7, 100, 300, 1, 1, 1100);
	ran(7, 400, 500, 1, 1, 1100);
	tick(2 * S);
	end(3 * S);
	CHECKF(w.kernels == 2 && w.launches == 2, "%lu kernels", (unsigned long)w.kernels);
}

T(launches_are_listed_by_number_when_the_shim_never_answers)
{
	begin();
	shim_is_there();
	task(GPUBPF_TASK_SEEN, 7, 0);
	tick(S); /* nothing was launched: nothing waits */
	for (unsigned i = 1; i <= 3; i++) {
		called(LAUNCH, 1);
		call(LAUNCH, 7, 7, i * S + 10, 4000, 0xf0, 1, 1, NULL);
		tick((i + 1) * S);
		CHECKF(w.kernels == (i == 1 ? 0 : i), "%lu at %u", (unsigned long)w.kernels, i);
	}
	end(5 * S);
	CHECK(w.kernels == 3);
	begin();
	shim_is_there();
	called(LAUNCH, 1);
	call(LAUNCH, 7, 7, 10, 4000, 0xf0, 1, 1, NULL);
	end(S); /* it will not answer any more */
	CHECK(w.kernels == 1);
}

T(what_comes_late_is_counted_and_in_no_busy_time)
{
	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	tick(S);
	tick(2 * S);
	tick(3 * S);
	ran(7, 100, 300, 1, 1, 3100);   /* its window was shown */
	ran(7, 1900, 2100, 1, 1, 3100); /* half of it */
	tick(4 * S);
	CHECK(w.view->gpu[0].busy == 100 * MS && w.view->executions.n == 2);
	CHECK(loss("late") && loss("late")->total == 1 && loss("late")->kept);
	CHECK(loss("late_ns") && loss("late_ns")->total == 300 * MS);
	CHECK(strstr(w.view->verdict, "uncontradicted"));
	CHECK(strstr(line(24, 80, 1), "lost: nothing; late: 1 records"));
	end(5 * S);
	CHECK(w.executions == 2);
}

T(times_that_cannot_be_are_lost_by_name)
{
	struct gpubpf_hello h = { .session = 1, .time_source = GPUBPF_TIME_CUPTI };
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_CLOCK, .session = 1, .a = START, .d = 5 * S };
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_KERNEL,
				     .start = 5 * S + 200 * MS,
				     .end = 5 * S + 300 * MS };

	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	ran(7, 300, 200, 1, 1, 900);  /* backwards */
	ran(7, 900, 9000, 1, 1, 910); /* not over yet */
	batch(GPUBPF_PROBE_HELLO, 8, 0, &h, sizeof(h), 1);
	batch(GPUBPF_PROBE_ACTIVITY, 8, 400 * MS, &a, sizeof(a), 1);
	batch(GPUBPF_PROBE_STATUS, 8, 0, &s, sizeof(s), 1);
	batch(GPUBPF_PROBE_ACTIVITY, 8, 400 * MS, &a, sizeof(a), 1);
	tick(S);
	tick(2 * S);
	CHECK(loss("invalid_time") && loss("invalid_time")->total == 2);
	CHECK(loss("no_clock") && loss("no_clock")->total == 1);
	CHECK(w.view->ngpus == 1 && w.view->gpu[0].pid == 8 && w.view->gpu[0].busy == 100 * MS);
	CHECK(strstr(w.view->verdict, "incomplete"));
	end(3 * S);
}

T(names_are_put_together_and_are_those_of_their_program)
{
	char longer[1200];

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	arm(8, 0);
	ran(7, 100, 200, 1, 1, 900);
	ran(7, 200, 230, 1, 2, 900);
	ran(7, 300, 310, 1, 3, 900);
	named(7, 1, "_Z5scalePf"); /* behind its first use */
	named(7, 2, longer);
	named(8, 5, "_Z5scalePf");
	ran(8, 100, 150, 1, 5, 900);
	task(GPUBPF_TASK_EXEC, 7, 950 * MS);
	arm(7, 960 * MS);
	named(7, 1, "another");
	ran(7, 961, 966, 1, 1, 990);
	tick(S);
	tick(2 * S);
	CHECK(w.view->nkernels == 4);
	CHECK(!strcmp(w.view->kernel[0].name, "scale(float*)") && w.view->kernel[0].ns == 150 * MS &&
	      w.view->kernel[0].launches == 2);
	CHECK(strlen(w.view->kernel[1].name) <= TOP_NAME - 1 && strstr(w.view->kernel[1].name, "xxx…"));
	CHECK(!strcmp(w.view->kernel[2].name, "<no name yet: 3 of process 7>"));
	CHECK(!strcmp(w.view->kernel[3].name, "another"));
	end(3 * S);
	CHECK(w.kernels == 5);
}

T(without_a_device_observer_the_reason_stands_in_its_place)
{
	struct gpubpf_hello h = { .session = 1 };
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_FAILED,
				   .code = GPUBPF_REASON_NOT_PERMITTED,
				   .session = 1 };

	begin();
	called(LAUNCH, 1);
	tick(S);
	CHECK(has("absent: no process has the shim"));
	batch(GPUBPF_PROBE_HELLO, 7, S, &h, sizeof(h), 1);
	batch(GPUBPF_PROBE_STATUS, 7, S, &s, sizeof(s), 1);
	tick(2 * S);
	CHECK(has("absent: the driver does not let this user profile"));
	CHECK(!w.view->has_device && !w.view->by_gpu);
	arm(8, 2 * S);
	tick(3 * S);
	CHECK(w.view->has_device && has("absent: of process 7: the driver does not let"));
	end(4 * S);
}

T(waits_by_cause_and_by_entry_point)
{
	struct gpubpf_latency_long l = {
		.head = { .kind = GPUBPF_REC_LATENCY,
			  .size = sizeof(l),
			  .flags = GPUBPF_LATENCY_OFF,
			  .tgid = 7,
			  .tid = 9 },
	};

	begin();
	called(SYNC, 2);
	for (unsigned i = 0; i < 2; i++) {
		l.head.t_entry = START + i * 10 * MS;
		l.head.t_return = l.head.t_entry + 5 * MS;
		l.head.call.on_cpu = 1 * MS;
		l.call.blocked[GPUBPF_WAIT_FUTEX] = 3 * MS;
		l.call.runqueue = 1 * MS;
		CHECK(top_feed__record(w.f, (const void *)&l) == 0);
		call(SYNC, 7, 9, i * 10 * MS, 5 * MS, 0, 0, 0, NULL);
	}
	tick(S);
	CHECK(w.view->has_waits && w.view->nwaits == 3 && w.view->wait[0].cause == BREAKDOWN_FUTEX);
	CHECK(w.view->wait[0].ns == 6 * MS && w.view->wait[0].calls == 2);
	CHECK(w.view->napi_waits == 2 && !strcmp(w.view->api_wait[0].symbol, "cuStreamSynchronize"));
	CHECK(has("      6000000    60.0          2 futex\n"));
	CHECK(has("      6000000          2 futex         cuStreamSynchronize\n"));
	CHECK(w.view->ntasks == 2 && w.view->task[1].tid == 9 && w.view->task[1].waited == 8 * MS);
	tick(2 * S);
	CHECK(w.view->nwaits == 0 && w.view->ntasks == 0);
	end(3 * S);
}

TEST_MAIN
