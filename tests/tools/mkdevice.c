/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a synthetic capture of both observers: launches, copies and sets by several threads and processes, what the shim
 * saw of them, and what ran, in batches as the shim makes them. The same options give the same file. What is true of it is
 * printed: "TERM COUNT" per line.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd.h"
#include "events.h"
#include "model/apitab.h"
#include "meta_apis.h"
#include "usdt/contract.h"
#include "util/err.h"

#define T0 1000000000000ull
#define BATCH 64
#define WORKERS_MAX 64

struct options {
	uint64_t calls;
	unsigned processes, threads, level;
	uint64_t drop, zero, gap,
		early; /* one of so many: executions dropped by CUPTI, without times, batches lost, early */
	bool no_footer, bare, silent, unmeasured; /* bare: neither counters nor metadata speak of a shim */
	bool alone;                               /* the host observer was left out */
	bool wall;                                /* a clock pair ties it to the wall clock */
	unsigned fail;                            /* enum gpubpf_reason */
	const char *path;
};

struct buffer {
	uint8_t items[BATCH * sizeof(struct gpubpf_activity)];
	unsigned n;
};

struct worker { /* a thread */
	uint32_t tgid, tid;
	uint64_t now;
	struct buffer calls;
};

struct gen {
	struct options o;
	struct apitab *tab;
	struct capture_writer *w;
	struct err err;
	struct worker worker[WORKERS_MAX];
	struct buffer ran[WORKERS_MAX]; /* by process */
	uint64_t sequence[WORKERS_MAX][GPUBPF_PROBES];
	uint32_t correlation[WORKERS_MAX];
	uint64_t device_now[WORKERS_MAX];
	Gpubpf__ApiCounts counts[3];
	Gpubpf__ProbeCounts probe[GPUBPF_PROBES];
	uint64_t executions, batches, dropped, zero, early, gone;
};

static const struct {
	const char *symbol;
	unsigned work, kind;
} works[3] = {
	{ "cuLaunchKernel", GPUBPF_WORK_LAUNCH, GPUBPF_ACTIVITY_KERNEL },
	{ "cuMemcpyHtoDAsync_v2", GPUBPF_WORK_COPY, GPUBPF_ACTIVITY_COPY },
	{ "cuMemsetD32Async", GPUBPF_WORK_SET, GPUBPF_ACTIVITY_SET },
};

static void die(struct gen *g, const char *what)
{
	fprintf(stderr, "mkdevice: %s: %s\n", what, g->err.msg);
	exit(1);
}

static void put(struct gen *g, const void *rec, uint64_t t)
{
	if (capture_writer__record(g->w, rec, t, &g->err))
		die(g, "writing");
}

static uint32_t id_of(struct gen *g, const char *symbol)
{
	for (uint32_t i = 0; i < apitab__size(g->tab); i++)
		if (strcmp(apitab__get(g->tab, i)->symbol, symbol) == 0)
			return i;
	die(g, symbol);
	return 0;
}

static bool one_of(uint64_t number, uint64_t n)
{
	return n && number % n == n - 1;
}

static void hand_over(struct gen *g, unsigned process, const struct worker *w, unsigned probe,
		      const void *items, size_t size, unsigned n)
{
	union {
		struct gpubpf_shim head;
		uint8_t room[sizeof(struct gpubpf_shim) + BATCH * sizeof(struct gpubpf_activity)];
	} b;

	if (!n)
		return;
	memset(&b.head, 0, sizeof(b.head));
	b.head = (struct gpubpf_shim){ .kind = GPUBPF_REC_SHIM,
				       .size = (uint16_t)((sizeof(b.head) + size * n + 7) & ~(size_t)7),
				       .tgid = w->tgid,
				       .tid = w->tid,
				       .time = w->now,
				       .sequence = g->sequence[process][probe]++,
				       .probe = (uint16_t)probe,
				       .item_size = (uint16_t)size,
				       .count = n,
				       .sent = n };
	g->probe[probe].hits++;
	g->probe[probe].items += n;
	if (probe == GPUBPF_PROBE_ACTIVITY && one_of(g->batches++, g->o.gap)) {
		g->probe[probe].lost_hits++;
		g->probe[probe].lost_items += n;
		g->gone += n;
		return;
	}
	memcpy(b.room + sizeof(b.head), items, size * n);
	put(g, &b, w->now);
}

static void flush_calls(struct gen *g, unsigned process, struct worker *w)
{
	hand_over(g, process, w, GPUBPF_PROBE_CALLS, w->calls.items, sizeof(struct gpubpf_shim_call),
		  w->calls.n);
	w->calls.n = 0;
}

static void flush_ran(struct gen *g, unsigned process, const struct worker *w)
{
	hand_over(g, process, w, GPUBPF_PROBE_ACTIVITY, g->ran[process].items, sizeof(struct gpubpf_activity),
		  g->ran[process].n);
	g->ran[process].n = 0;
}

static void status(struct gen *g, unsigned process, const struct worker *w, unsigned kind, unsigned code,
		   uint64_t a, uint64_t d)
{
	struct gpubpf_status s = { .kind = (uint16_t)kind,
				   .code = (uint16_t)code,
				   .session = 1,
				   .time = w->now,
				   .a = a,
				   .d = d,
				   .e = 40 };

	hand_over(g, process, w, GPUBPF_PROBE_STATUS, &s, sizeof(s), 1);
}

static void task(struct gen *g, const struct worker *w, uint32_t event)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .event = event,
				 .tgid = w->tgid,
				 .tid = w->tid,
				 .ns_tgid = w->tgid,
				 .ns_tid = w->tid,
				 .time = w->now,
				 .start_time = w->tgid,
				 .comm = "device" };

	put(g, &t, w->now);
}

static void arm(struct gen *g, unsigned process, struct worker *w)
{
	struct gpubpf_hello h = { .abi = GPUBPF_SHIM_ABI,
				  .session = 1,
				  .pid = w->tgid,
				  .worker_tid = w->tgid + 500,
				  .time = w->now,
				  .cupti_version = 130000,
				  .driver_version = 13000,
				  .time_source = GPUBPF_TIME_MONOTONIC,
				  .arming = GPUBPF_ARMED_INLINE,
				  .version = GPUBPF_VERSION };
	struct gpubpf_name n = { .id = 1, .parts = 1, .len = 13, .text = "_Z6kernelPfi" };

	hand_over(g, process, w, GPUBPF_PROBE_HELLO, &h, sizeof(h), 1);
	if (g->o.fail) {
		status(g, process, w, GPUBPF_STATUS_FAILED, g->o.fail, 0, 0);
		return;
	}
	for (unsigned f = GPUBPF_FACILITY_SUBSCRIBE; f <= GPUBPF_FACILITY_CALLBACKS; f++)
		status(g, process, w, GPUBPF_STATUS_FACILITY, f, 0, 0);
	status(g, process, w, GPUBPF_STATUS_ARMED, 0, w->now, 0);
	status(g, process, w, GPUBPF_STATUS_CLOCK, 0, w->now, w->now + 10);
	hand_over(g, process, w, GPUBPF_PROBE_NAMES, &n, sizeof(n), 1);
	w->now += 1000;
}

static void host(struct gen *g, const struct worker *w, unsigned what, uint64_t number)
{
	static const uint64_t words[GPUBPF_WORDS_MAX] = { 0x5000, 256, 256, 1, 128, 1, 1, 0, 0xa0 };
	union {
		struct gpubpf_call c;
		uint8_t room[sizeof(struct gpubpf_call) + sizeof(words)];
	} r = { .c = { .kind = GPUBPF_REC_CALL,
		       .size = sizeof(r),
		       .flags = GPUBPF_CALL_RETURNED,
		       .tgid = w->tgid,
		       .tid = w->tid,
		       .t_entry = w->now,
		       .t_return = w->now + 1000,
		       .api = (uint16_t)g->counts[what].api,
		       .nwords = GPUBPF_WORDS_MAX } };
	Gpubpf__ApiCounts *n = &g->counts[what];

	memcpy(r.c.words, words, sizeof(words));
	n->entered++;
	n->recorded++;
	if (what == 0 && g->o.unmeasured && number % 8) {
		r.c.flags = GPUBPF_CALL_UNMEASURED;
		r.c.t_return = 0;
		n->unmeasured++;
	} else {
		n->returned++;
	}
	put(g, &r, w->now);
}

static void ran(struct gen *g, unsigned process, const struct worker *w, unsigned what, uint32_t id)
{
	struct gpubpf_activity a = { .kind = (uint16_t)works[what].kind,
				     .correlation = id,
				     .context = 1,
				     .stream = 7 + w->tid % 4,
				     .session = 1 };
	uint64_t number = g->executions++, start = w->now + 1500;

	if (what == 0) {
		a.name = 1;
		a.u.kernel.grid[0] = 256 + (uint32_t)number % 7;
		a.u.kernel.block[0] = 128;
		a.u.kernel.registers = 32;
	} else {
		a.u.copy.bytes = 256;
		a.u.copy.copy_kind = GPUBPF_COPY_HTOD;
	}
	if (one_of(number, g->o.drop)) {
		g->dropped++;
		return;
	}
	if (one_of(number, g->o.early)) {
		start = w->now - 700;
		g->early++;
	}
	a.start = start;
	a.end = start + 2000;
	if (one_of(number, g->o.zero)) {
		a.start = a.end = 0;
		g->zero++;
	}
	memcpy(g->ran[process].items + g->ran[process].n++ * sizeof(a), &a, sizeof(a));
	if (g->ran[process].n == BATCH)
		flush_ran(g, process, w);
}

static void step(struct gen *g, unsigned process, struct worker *w, uint64_t number)
{
	unsigned what = number % 20 == 18 ? 1 : number % 20 == 19 ? 2 : 0;
	uint32_t id = ++g->correlation[process];
	struct gpubpf_shim_call c = { .start = w->now + 100,
				      .end = w->now + 900,
				      .correlation = id,
				      .tid = w->tid,
				      .domain = GPUBPF_DOMAIN_DRIVER,
				      .work = (uint8_t)works[what].work,
				      .session = 1 };

	if (!g->o.alone)
		host(g, w, what, number);
	if (!g->o.fail) {
		memcpy(w->calls.items + w->calls.n++ * sizeof(c), &c, sizeof(c));
		if (w->calls.n == BATCH)
			flush_calls(g, process, w);
		if (!g->o.silent)
			ran(g, process, w, what, id);
	}
	w->now += 4000;
}

static void write_meta(struct gen *g)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Shim shim = GPUBPF__SHIM__INIT, *shims[] = { &shim };
	Gpubpf__ClockPair pair = GPUBPF__CLOCK_PAIR__INIT, *pairs[] = { &pair };

	if (meta_apis(&m, g->tab))
		die(g, "memory");
	shim.path = "/usr/lib/libgpubpf-shim.so";
	shim.origin = "launched";
	m.gpubpf_version = GPUBPF_VERSION;
	m.has_start_ns = true;
	m.start_ns = T0;
	m.mode = "launch";
	m.attach = "session";
	m.n_shim = g->o.bare ? 0 : 1;
	m.has_host_left_out = m.host_left_out = g->o.alone;
	if (g->o.alone)
		m.n_api = 0;
	m.shim = shims;
	pair.monotonic_ns = T0;
	pair.has_realtime_ns = true;
	pair.realtime_ns = 1700000000000000000;
	m.n_clock = g->o.wall;
	m.clock = pairs;
	if (capture_writer__meta(g->w, &m, &g->err))
		die(g, "meta");
	meta_apis_free(&m);
}

static void write_end(struct gen *g, uint64_t t)
{
	Gpubpf__ApiCounts *api[3];
	Gpubpf__ProbeCounts *probe[GPUBPF_PROBES];
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;

	counts.time_ns = f.end_ns = t;
	counts.api = api;
	counts.probe = probe;
	for (unsigned i = 0; i < 3 && !g->o.alone; i++)
		api[counts.n_api++] = &g->counts[i];
	for (unsigned i = 0; i < GPUBPF_PROBES; i++)
		probe[counts.n_probe++] = &g->probe[i];
	if (capture_writer__flush(g->w, &g->err) ||
	    (!g->o.bare && capture_writer__counts(g->w, &counts, &g->err)))
		die(g, "counts");
	f.end_reason = "target exited";
	f.counts = &counts;
	f.has_stopped_ns = true;
	f.stopped_ns = t;
	if (!g->o.no_footer && capture_writer__finish(g->w, &f, &g->err))
		die(g, "footer");
}

static void workload(struct gen *g)
{
	unsigned nworkers = g->o.processes * g->o.threads;
	uint64_t last = T0;

	for (unsigned i = 0; i < nworkers; i++) {
		struct worker *w = &g->worker[i];

		w->tgid = 1000 + 100 * (i / g->o.threads);
		w->tid = w->tgid + i % g->o.threads;
		w->now = T0 + i;
		task(g, w, GPUBPF_TASK_SEEN);
		if (i % g->o.threads == 0)
			arm(g, i / g->o.threads, w);
		else
			w->now += 2000;
	}
	for (uint64_t i = 0; i < g->o.calls; i++) /* a thread makes twenty calls, then the next one does */
		step(g, (unsigned)(i / 20 % nworkers) / g->o.threads, &g->worker[i / 20 % nworkers], i);
	for (unsigned i = 0; i < nworkers; i++) {
		flush_calls(g, i / g->o.threads, &g->worker[i]);
		last = g->worker[i].now > last ? g->worker[i].now : last;
	}
	for (unsigned p = 0; p < g->o.processes && !g->o.fail; p++) {
		struct worker *w = &g->worker[p * g->o.threads];

		w->now = last + 10000;
		flush_ran(g, p, w);
		if (p == 0 && g->dropped)
			status(g, p, w, GPUBPF_STATUS_LOSS, GPUBPF_LOSS_CUPTI_DROPPED, g->dropped, 0);
		status(g, p, w, GPUBPF_STATUS_CLOCK, 0, w->now, w->now + 25);
		status(g, p, w, GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, last, 0);
	}
	write_end(g, last + 20000);
}

static int parse(struct gen *g, int argc, char **argv)
{
	struct options *o = &g->o;
	const struct {
		const char *name;
		uint64_t *to;
	} numbers[] = { { "calls", &o->calls },
			{ "drop", &o->drop },
			{ "zero", &o->zero },
			{ "gap", &o->gap },
			{ "early", &o->early } };
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		const char *word = argv[i] + 2;
		bool more = i + 1 < argc;
		size_t k = 0;

		while (k < 5 && strcmp(word, numbers[k].name) != 0)
			k++;
		if (k < 5 && more)
			*numbers[k].to = strtoull(argv[++i], NULL, 0);
		else if (strcmp(word, "processes") == 0 && more)
			o->processes = (unsigned)atoi(argv[++i]);
		else if (strcmp(word, "threads") == 0 && more)
			o->threads = (unsigned)atoi(argv[++i]);
		else if (strcmp(word, "level") == 0 && more)
			o->level = (unsigned)atoi(argv[++i]);
		else if (strcmp(word, "fail") == 0 && more)
			o->fail = (unsigned)atoi(argv[++i]);
		else if (strcmp(word, "no-footer") == 0)
			o->no_footer = true;
		else if (strcmp(word, "bare") == 0)
			o->bare = o->no_footer = true;
		else if (strcmp(word, "silent") == 0)
			o->silent = true;
		else if (strcmp(word, "alone") == 0)
			o->alone = true;
		else if (strcmp(word, "wall") == 0)
			o->wall = true;
		else if (strcmp(word, "unmeasured") == 0)
			o->unmeasured = true;
		else
			return -1;
	}
	o->path = argv[i];
	return !o->path || !o->processes || !o->threads || o->processes * o->threads > WORKERS_MAX ? -1 : 0;
}

int main(int argc, char **argv)
{
	static struct gen g = { .o = { .calls = 10000, .processes = 1, .threads = 4, .level = 1 } };

	if (parse(&g, argc, argv)) {
		fputs("mkdevice [--calls N] [--processes N] [--threads N] [--unmeasured] [--alone] [--drop N] [--zero N] [--gap N]\n"
		      "         [--early N] [--silent] [--fail REASON] [--no-footer] [--bare] [--wall] [--level ZSTD] FILE\n",
		      stderr);
		return 2;
	}
	if (apitab__builtin(&g.tab) ||
	    capture_writer__open(g.o.path,
				 &(struct capture_writer_opts){ .force = true, .zstd_level = (int)g.o.level },
				 &g.w, &g.err))
		die(&g, g.o.path);
	for (unsigned i = 0; i < 3; i++) {
		gpubpf__api_counts__init(&g.counts[i]);
		g.counts[i].api = id_of(&g, works[i].symbol);
		g.counts[i].has_entered = g.counts[i].has_returned = g.counts[i].has_recorded = true;
		g.counts[i].has_unmeasured = true;
	}
	for (unsigned i = 0; i < GPUBPF_PROBES; i++) {
		gpubpf__probe_counts__init(&g.probe[i]);
		g.probe[i].probe = (char *)usdt_contract_probes[i];
		g.probe[i].has_hits = g.probe[i].has_items = true;
		g.probe[i].has_lost_hits = g.probe[i].has_lost_items = true;
	}
	write_meta(&g);
	workload(&g);
	printf("calls %" PRIu64 "\nexecutions %" PRIu64 "\ndropped %" PRIu64 "\nzero %" PRIu64
	       "\nearly %" PRIu64 "\ngone %" PRIu64 "\n",
	       g.o.calls, g.executions, g.dropped, g.zero, g.early, g.gone);
	capture_writer__close(g.w);
	apitab__free(g.tab);
	return 0;
}
