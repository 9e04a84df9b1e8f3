/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view: what a feed makes of records and counters, damaged ones too, and what lines and screens show of it. */
#include "../t.h"

#include <stdlib.h>

#include "events.h"
#include "top/top.h"
#include "top/top_layout.h"
#include "top/top_lines.h"

#define S 1000000000ull
#define MS 1000000ull
#define START (100 * S)

enum { LAUNCH, COPY, FUNCTION, SYNC, APIS };

static struct {
	struct top_feed *f;
	struct top_view *view; /* the last one */
	unsigned views;
	uint64_t launches, executions, kernels, busy, bytes, calls; /* sums over all views */
	uint64_t sequence[GPUBPF_PROBES];
	Gpubpf__ApiCounts api[APIS], *apis[APIS];
	Gpubpf__ProbeCounts probe, *probes;
	Gpubpf__Counts counts;
	char *text; /* of the last view */
	size_t size;
} w;

static void on_view(const struct top_view *v, void *arg)
{
	FILE *f;

	(void)arg;
	*w.view = *v;
	w.views++;
	if (!v->more) {
		w.launches += v->launches.n;
		w.bytes += v->bytes.n;
		w.calls += v->calls.n;
	}
	w.executions += v->executions.n;
	for (size_t i = 0; i < v->nkernels; i++)
		w.kernels += v->kernel[i].launches;
	w.kernels += v->other_kernels.launches;
	for (size_t i = 0; i < v->ngpus; i++)
		w.busy += v->gpu[i].busy;
	free(w.text);
	f = open_memstream(&w.text, &w.size);
	top_lines(f, v);
	fclose(f);
}

static void begin_with(struct top_feed_opts o)
{
	static const struct {
		const char *symbol, *kind, *signature;
	} apis[APIS] = {
		[LAUNCH] = { "cuLaunchKernel", "launch",
			     "func:h gx:u gy:u gz:u bx:u by:u bz:u smem:u stream:h params:p" },
		[COPY] = { "cuMemcpyHtoD_v2", "copy.h2d", "dst:d src:p bytes:z" },
		[FUNCTION] = { "cuModuleGetFunction", "module.function", "out:o module:h name:s" },
		[SYNC] = { "cuStreamSynchronize", "sync", "stream:h" },
	};
	Gpubpf__Api api[APIS], *list[APIS];
	Gpubpf__Meta m = GPUBPF__META__INIT;

	free(w.text);
	free(w.view);
	memset(&w, 0, sizeof(w));
	w.view = calloc(1, sizeof(*w.view));
	o.view = on_view;
	CHECK(top_feed__new(&o, &w.f) == 0);
	gpubpf__counts__init(&w.counts);
	for (unsigned i = 0; i < APIS; i++) {
		gpubpf__api__init(&api[i]);
		api[i].id = i;
		api[i].symbol = (char *)apis[i].symbol;
		api[i].kind = (char *)apis[i].kind;
		api[i].signature = (char *)apis[i].signature;
		list[i] = &api[i];
		gpubpf__api_counts__init(&w.api[i]);
		w.api[i].api = i;
		w.apis[i] = &w.api[i];
	}
	m.api = list;
	m.n_api = APIS;
	CHECK(top_feed__meta(w.f, &m) == 0);
	w.counts.api = w.apis;
	w.counts.n_api = APIS;
	gpubpf__probe_counts__init(&w.probe);
	w.probe.probe = (char *)"activity_v1";
	w.probes = &w.probe;
	w.counts.probe = &w.probes;
	w.counts.n_probe = 1;
	top_feed__begin(w.f, START);
}

static void begin(void)
{
	begin_with((struct top_feed_opts){ .interval = S, .lag = S });
}

static void end(uint64_t at)
{
	w.counts.time_ns = START + at;
	CHECK(top_feed__end(w.f, &w.counts) == 0);
	CHECK(w.view->last);
	top_feed__free(w.f);
	w.f = NULL;
}

static void tick(uint64_t at)
{
	w.counts.time_ns = START + at;
	CHECK(top_feed__counts(w.f, &w.counts) == 0);
}

static void called(unsigned api, uint64_t n)
{
	w.api[api].entered += n;
	w.api[api].recorded += n;
	w.api[api].returned += n;
}

static void call(unsigned api, uint32_t tgid, uint32_t tid, uint64_t at, uint64_t took, uint64_t a,
		 uint64_t b, uint64_t c, const char *text)
{
	union {
		struct gpubpf_call c;
		uint64_t room[7 + GPUBPF_WORDS_MAX + 32];
	} u;
	size_t n = text ? strlen(text) + 1 : 0;

	memset(&u, 0, sizeof(u));
	u.c.kind = GPUBPF_REC_CALL;
	u.c.flags = GPUBPF_CALL_RETURNED | (api == FUNCTION ? GPUBPF_CALL_HAS_OUT : 0);
	u.c.tgid = tgid;
	u.c.tid = tid;
	u.c.t_entry = START + at;
	u.c.t_return = START + at + took;
	u.c.api = (uint16_t)api;
	u.c.nwords = GPUBPF_WORDS_MAX;
	u.c.nblob = (uint32_t)n;
	u.c.words[0] = a;
	u.c.words[1] = b;
	u.c.words[2] = c;
	u.c.out = a;
	if (text)
		memcpy(u.c.words + GPUBPF_WORDS_MAX, text, n);
	u.c.size = (uint16_t)(sizeof(u.c) + 8 * GPUBPF_WORDS_MAX + (n + 7) / 8 * 8);
	CHECK(top_feed__record(w.f, (const void *)&u.c) == 0);
}

static void task(uint32_t event, uint32_t tgid, uint64_t at)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .event = event,
				 .tgid = tgid,
				 .tid = tgid,
				 .time = START + at,
				 .start_time = tgid,
				 .comm = "trainer" };

	CHECK(top_feed__record(w.f, (const void *)&t) == 0);
}

static void batch_at(unsigned probe, uint32_t tgid, uint64_t at, const void *items, size_t size, unsigned n,
		     uint64_t sequence)
{
	struct gpubpf_shim *b = calloc(1, sizeof(*b) + size * n);

	b->kind = GPUBPF_REC_SHIM;
	b->size = (uint16_t)(sizeof(*b) + size * n);
	b->tgid = b->tid = tgid;
	b->time = START + at;
	b->sequence = sequence;
	b->probe = (uint16_t)probe;
	b->item_size = (uint16_t)size;
	b->count = b->sent = n;
	memcpy(b->items, items, size * n);
	CHECK(top_feed__record(w.f, (const void *)b) == 0);
	free(b);
}

static void batch(unsigned probe, uint32_t tgid, uint64_t at, const void *items, size_t size, unsigned n)
{
	batch_at(probe, tgid, at, items, size, n, w.sequence[probe]++);
}

static void arm(uint32_t tgid, uint64_t at)
{
	struct gpubpf_hello h = { .session = 1, .time_source = GPUBPF_TIME_MONOTONIC, .start_time = tgid };
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_ARMED, .session = 1 };

	batch(GPUBPF_PROBE_HELLO, tgid, at, &h, sizeof(h), 1);
	batch(GPUBPF_PROBE_STATUS, tgid, at, &s, sizeof(s), 1);
}

static void named(uint32_t tgid, uint32_t id, const char *text)
{
	struct gpubpf_name n = { .id = id, .parts = (uint16_t)((strlen(text) + 115) / 116) };

	for (unsigned i = 0; i < n.parts; i++) {
		size_t left = strlen(text) - i * 116;

		n.part = (uint16_t)i;
		n.len = (uint16_t)(left < 116 ? left : 116);
		memcpy(n.text, text + i * 116, n.len);
		batch(GPUBPF_PROBE_NAMES, tgid, 0, &n, sizeof(n), 1);
	}
}

/* Times in ms since the beginning; it comes at `at`. */
static void ran(uint32_t tgid, uint64_t start, uint64_t stop, uint32_t stream, uint32_t name, uint64_t at)
{
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_KERNEL,
				     .start = START + start * MS,
				     .end = START + stop * MS,
				     .stream = stream,
				     .name = name,
				     .session = 1 };

	batch(GPUBPF_PROBE_ACTIVITY, tgid, at * MS, &a, sizeof(a), 1);
}

static const struct top_loss *loss(const char *reason)
{
	for (size_t i = 0; i < w.view->nlosses; i++)
		if (!strcmp(w.view->loss[i].reason, reason))
			return &w.view->loss[i];
	return NULL;
}

static bool has(const char *part)
{
	return w.text && strstr(w.text, part);
}

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

static const char *line(unsigned rows, unsigned columns, unsigned i)
{
	static struct top_text t;
	static struct top_state st;

	top_layout(w.view, &st, rows, columns, &t);
	return i < t.n ? t.line[i].text : "";
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

T(memory_is_bounded_and_nothing_is_left_out_of_the_sums)
{
	begin();
	called(LAUNCH, 20000);
	arm(7, 0);
	for (uint32_t i = 1; i <= 20000; i++) {
		call(LAUNCH, 7, i, 10, 1, i * 16, 1, 1, NULL);
		ran(7, 100, 100, 1, i, 900);
	}
	tick(S);
	CHECK(w.view->ntasks == TOP_ROWS && w.view->other_tasks > 19000);
	tick(2 * S);
	CHECK(w.view->nkernels == TOP_ROWS && w.view->other_kernels.launches == 20000 - TOP_ROWS);
	end(3 * S);
	CHECK(w.kernels == 20000 && w.executions == 20000);
}

T(more_spans_than_are_kept_make_busy_unsure_and_say_by_how_much)
{
	struct gpubpf_activity a[100] = { 0 };
	uint64_t at = START, n = 0;

	begin();
	called(LAUNCH, 1);
	arm(7, 0);
	for (unsigned i = 0; i < 4000; i++) {
		for (unsigned k = 0; k < 100; k++, n++, at += 2000) {
			a[k].kind = GPUBPF_ACTIVITY_KERNEL;
			a[k].start = at;
			a[k].end = at + 1000;
		}
		batch(GPUBPF_PROBE_ACTIVITY, 7, 900 * MS, a, sizeof(a[0]), 100);
	}
	tick(S);
	tick(2 * S);
	CHECK(w.view->gpu[0].unsure > 0);
	CHECKF(w.view->gpu[0].busy == n * 1000 + w.view->gpu[0].unsure, "busy %lu, unsure %lu",
	       w.view->gpu[0].busy, w.view->gpu[0].unsure);
	end(3 * S);
}

static uint64_t seed = 88172645463325252u;

static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

T(what_a_process_makes_up_breaks_nothing)
{
	static const size_t sizes[GPUBPF_PROBES] = GPUBPF_ITEM_SIZES;
	uint64_t junk[512];

	begin();
	for (unsigned i = 0; i < 20000; i++) {
		unsigned probe = (unsigned)(rnd() % GPUBPF_PROBES);
		size_t size = rnd() % 4 ? sizes[probe] : rnd() % 300 / 8 * 8 + 8;

		for (size_t k = 0; k < 512; k++)
			junk[k] = rnd() % 3 ? rnd() % 5 : rnd();
		batch_at(probe, (uint32_t)(rnd() % 8), i * 100000, junk, size, (unsigned)(rnd() % 5),
			 rnd() % 100);
		if (i % 1000 == 999)
			tick((i + 1) * 100000);
	}
	end(3 * S);
	CHECK(w.executions == w.view->executions.total);
}

/* Columns that a line takes. */
static unsigned width(const char *s)
{
	unsigned n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

T(a_screen_of_any_size_holds_what_fits)
{
	static struct top_text t;
	struct top_state st = { 0 };

	begin();
	called(LAUNCH, 300);
	arm(7, 0);
	for (uint32_t i = 1; i <= 300; i++) {
		char name[32];

		snprintf(name, sizeof(name), "kernel_%u_\x1b[31mé", i);
		named(7, i, name);
		ran(7, 100, 100 + i % 50, 1, i, 900);
	}
	tick(S);
	tick(2 * S);
	for (unsigned rows = 1; rows < 300; rows = rows < 30 ? rows + 1 : rows * 3) {
		for (unsigned columns = 1; columns < 500;
		     columns = columns < 30 ? columns + 3 : columns * 2) {
			for (unsigned table = 0; table < TOP_TABLES; table++) {
				st.table = table;
				st.scroll = rows * 7;
				top_state_sort(&st);
				top_layout(w.view, &st, rows, columns, &t);
				CHECKF(t.n == (rows < TOP_LINES_MAX ? rows : TOP_LINES_MAX) || rows < 3 ||
					       t.n <= rows,
				       "%u lines of %u", t.n, rows);
				for (unsigned i = 0; i < t.n; i++)
					CHECKF(width(t.line[i].text) <= columns &&
						       !strchr(t.line[i].text, '\x1b'),
					       "%u columns: %s", columns, t.line[i].text);
			}
		}
	}
	st = (struct top_state){ 0 };
	top_layout(w.view, &st, 24, 80, &t);
	CHECK(t.n == 24 && t.line[6].style == TOP_HEADER && t.line[23].style == TOP_HELP);
	CHECKF(strstr(t.line[7].text, "kernel_149_\\x1b[31mé"), "%s", t.line[7].text);
	top_layout(NULL, &st, 24, 80, &t);
	CHECK(strstr(t.line[0].text, "the first interval is not over"));
	end(3 * S);
	free(w.view);
	free(w.text);
}

TEST_MAIN
