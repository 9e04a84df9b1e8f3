// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes a synthetic capture: what a training-like process asks of the driver, with counters, ledger and
 * footer that agree with the records. The same options give the same file. What is true of it is printed:
 * one line "SYMBOL CALLS FAILED LOST" per entry point that was called.
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
#include "model/costkind.h"
#include "made_stacks.h"
#include "meta_apis.h"
#include "model/ledger.h"
#include "util/err.h"

#define THREADS_MAX 64
#define KEYS_MAX 100000
#define LIVE_MAX 64 /* allocations waiting for their free */
#define T0 1000000000000ull
#define TGID 4242

struct options {
	uint64_t calls, lose;
	unsigned threads, keys, level, machine;
	bool no_footer, no_counts, force, cost, stacks;
	const char *apis, *text, *path;
};

struct gen {
	struct options o;
	struct apitab *tab;
	struct capture_writer *w;
	struct intern *stacks;
	struct err err;
	uint64_t random, made, lost;
	bool failed;
	uint64_t now[THREADS_MAX];
	uint64_t live[LIVE_MAX], live_since[LIVE_MAX], next_ptr;
	unsigned nlive;
	Gpubpf__ApiCounts counts[GPUBPF_API_MAX];
	uint32_t only[GPUBPF_API_MAX];
	unsigned nonly;
};

union record {
	struct gpubpf_rec head;
	struct gpubpf_call call;
	struct gpubpf_task task;
	uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX + 256];
};

static void die(struct gen *g, const char *what)
{
	fprintf(stderr, "mkcapture: %s: %s\n", what, g->err.msg);
	exit(1);
}

static uint64_t rnd(struct gen *g)
{
	g->random ^= g->random << 13;
	g->random ^= g->random >> 7;
	g->random ^= g->random << 17;
	return g->random;
}

static uint32_t id_of(struct gen *g, const char *symbol)
{
	for (uint32_t i = 0; i < apitab__size(g->tab); i++)
		if (strcmp(apitab__get(g->tab, i)->symbol, symbol) == 0)
			return i;
	snprintf(g->err.msg, sizeof(g->err.msg), "no such entry point");
	die(g, symbol);
	return 0;
}

struct call {
	uint32_t api;
	unsigned thread;
	int32_t result;
	uint64_t out; /* 0: none */
	const char *text;
	uint64_t words[GPUBPF_WORDS_MAX];
};

static void emit(struct gen *g, const struct call *in)
{
	const struct api *a = apitab__get(g->tab, in->api);
	Gpubpf__ApiCounts *n = &g->counts[in->api];
	union record r;
	struct gpubpf_call *c = &r.call;
	uint64_t ns = 900 + rnd(g) % 4000, due;

	if (rnd(g) % 1000 == 0) /* the long tail of real drivers */
		ns *= 100;
	memset(&r, 0, sizeof(*c) + 8 * GPUBPF_WORDS_MAX);
	c->kind = GPUBPF_REC_CALL;
	c->flags = GPUBPF_CALL_RETURNED;
	c->tgid = TGID;
	c->tid = TGID + in->thread;
	c->t_entry = g->now[in->thread] += 200 + rnd(g) % 2000;
	c->t_return = g->now[in->thread] += ns;
	c->result = in->result;
	c->api = (uint16_t)in->api;
	c->nwords = a->nargs > GPUBPF_WORDS_SHORT || in->text ? GPUBPF_WORDS_MAX : GPUBPF_WORDS_SHORT;
	memcpy(c->words, in->words, 8u * c->nwords);
	if (in->out && !in->result) {
		c->flags |= GPUBPF_CALL_HAS_OUT;
		c->out = in->out;
	}
	c->size = (uint16_t)(sizeof(*c) + 8u * c->nwords);
	if (in->text) {
		c->nblob = (uint32_t)strlen(in->text) + 1;
		memset(r.room + c->size, 0, (c->nblob + 7) & ~7u);
		memcpy(r.room + c->size, in->text, c->nblob);
		c->size = (uint16_t)(c->size + ((c->nblob + 7) & ~7u));
	}
	g->made++;
	n->entered++;
	n->returned++;
	n->failed += in->result && in->result != 600;
	due = (uint64_t)((__uint128_t)g->made * g->o.lose / (g->o.calls ? g->o.calls : 1));
	if (due > g->lost) {
		g->lost++;
		n->lost_ring++;
		return;
	}
	n->recorded++;
	/* A full disk does not end a recording: what is dropped from here on is counted. */
	if (capture_writer__record(g->w, &r.head, c->t_return, &g->err))
		g->failed = true;
	if (g->stacks)
		made_stack(g->stacks, g->w, c, g->o.machine);
}

static bool more(const struct gen *g)
{
	return g->made < g->o.calls;
}

#define CALL(g, symbol_id, ...)                                                                              \
	do {                                                                                                 \
		if (more(g))                                                                                 \
			emit(g, &(struct call){ .api = (symbol_id), __VA_ARGS__ });                          \
	} while (0)

static void kernel_name(char *buf, size_t n, unsigned key)
{
	static const char *const plain[] = { "saxpy", "reduce_final", "transpose_tile", "init_weights" };
	static const char *const mangled[] = { "gemm_f16", "layer_norm", "softmax", "gelu_backward",
					       "adam_step" };

	if (key % 3 == 0)
		snprintf(buf, n, "%s_%u", plain[key / 3 % 4], key);
	else
		snprintf(buf, n, "_Z%zu%s_%uIfLi%uEEvPT_PKS0_i",
			 strlen(mangled[key % 5]) + 1 + (size_t)snprintf(NULL, 0, "%u", key),
			 mangled[key % 5], key, 32u << key % 4);
}

static uint64_t function_of(unsigned key)
{
	return 0x560000000000ull + key * 0x40ull;
}

static void start_up(struct gen *g)
{
	uint32_t get = id_of(g, "cuModuleGetFunction"), stream = id_of(g, "cuStreamCreate");
	char name[96];

	CALL(g, id_of(g, "cuInit"));
	CALL(g, id_of(g, "cuDevicePrimaryCtxRetain"), .out = 0x7001000, .words = { 0x7ffc0000 });
	CALL(g, id_of(g, "cuCtxSetCurrent"), .words = { 0x7001000 });
	CALL(g, id_of(g, "cuModuleLoadData"), .out = 0x7002000, .words = { 0x7ffc0008, 0x400000 });
	for (unsigned k = 0; k < g->o.keys; k++) {
		kernel_name(name, sizeof(name), k);
		CALL(g, get, .out = function_of(k), .text = name,
		     .words = { 0x7ffc0010, 0x7002000, 0x401000 });
	}
	for (unsigned t = 0; t < g->o.threads; t++)
		CALL(g, stream, .thread = t, .out = 0x7100000 + t * 0x100ull, .words = { 0x7ffc0018, 1 });
	CALL(g, id_of(g, "cuStreamBeginCapture_v2"), .words = { 0x7100000, 1 });
	CALL(g, id_of(g, "cuStreamEndCapture"), .out = 0x7200000, .words = { 0x7100000, 0x7ffc0020 });
	CALL(g, id_of(g, "cuGraphInstantiateWithFlags"), .out = 0x7200100,
	     .words = { 0x7ffc0028, 0x7200000 });
}

struct ids {
	uint32_t launch, h2d, d2h, d2d, set, alloc, release, sync, query, record, graph, bigalloc;
};

static void launch(struct gen *g, const struct ids *id, unsigned thread)
{
	unsigned key = (unsigned)(rnd(g) % g->o.keys), shape = (unsigned)(rnd(g) % 2);

	CALL(g, id->launch, .thread = thread,
	     .words = { function_of(key), (uint64_t)(key + 1) * 16 << shape, 1 + key % 3, 1, 128u << key % 3,
			1, 1, key % 4 * 1024, 0x7100000 + thread * 0x100ull, 0x7ffc1000 });
}

static void allocate_or_free(struct gen *g, const struct ids *id, unsigned thread)
{
	uint64_t stream = 0x7100000 + thread * 0x100ull;

	if (g->nlive < LIVE_MAX && (g->nlive == 0 || rnd(g) % 2)) {
		g->live[g->nlive] = g->next_ptr += 0x100000;
		CALL(g, id->alloc, .thread = thread, .out = g->live[g->nlive],
		     .words = { 0x7ffc0030, 4096 << rnd(g) % 10, stream });
		g->live_since[g->nlive++] = g->now[thread];
	} else {
		/* nobody frees what was not handed out yet, whichever thread it is */
		if (g->now[thread] < g->live_since[g->nlive - 1])
			g->now[thread] = g->live_since[g->nlive - 1];
		CALL(g, id->release, .thread = thread, .words = { g->live[--g->nlive], stream });
	}
}

static void step(struct gen *g, const struct ids *id)
{
	unsigned thread = (unsigned)(rnd(g) % g->o.threads), dice = (unsigned)(rnd(g) % 100);
	uint64_t stream = 0x7100000 + thread * 0x100ull, bytes = 256ull << rnd(g) % 16;

	if (dice < 68)
		launch(g, id, thread);
	else if (dice < 72)
		CALL(g, id->h2d, .thread = thread, .words = { 0x7f0000000000, 0x600000, bytes, stream });
	else if (dice < 75)
		CALL(g, id->d2h, .thread = thread, .words = { 0x600000, 0x7f0000000000, bytes, stream });
	else if (dice < 77)
		CALL(g, id->d2d, .thread = thread,
		     .words = { 0x7f0000000000, 0x7f0000100000, bytes, stream });
	else if (dice < 80)
		CALL(g, id->set, .thread = thread, .words = { 0x7f0000000000, 0, bytes, stream });
	else if (dice < 88)
		allocate_or_free(g, id, thread);
	else if (dice < 91)
		CALL(g, id->graph, .thread = thread, .words = { 0x7200100, stream });
	else if (dice < 94)
		CALL(g, id->sync, .thread = thread, .words = { stream });
	else if (dice < 96)
		CALL(g, id->query, .thread = thread, .result = 600, .words = { stream });
	else if (dice < 99)
		CALL(g, id->record, .thread = thread, .words = { 0x7300000, stream });
	else
		CALL(g, id->bigalloc, .thread = thread, .result = 2, .words = { 0x7ffc0030, 1ull << 42 });
}

static void workload(struct gen *g)
{
	struct ids id = {
		.launch = id_of(g, "cuLaunchKernel"),
		.h2d = id_of(g, "cuMemcpyHtoDAsync_v2"),
		.d2h = id_of(g, "cuMemcpyDtoHAsync_v2"),
		.d2d = id_of(g, "cuMemcpyDtoDAsync_v2"),
		.set = id_of(g, "cuMemsetD8Async"),
		.alloc = id_of(g, "cuMemAllocAsync"),
		.release = id_of(g, "cuMemFreeAsync"),
		.sync = id_of(g, "cuStreamSynchronize"),
		.query = id_of(g, "cuStreamQuery"),
		.record = id_of(g, "cuEventRecord"),
		.graph = id_of(g, "cuGraphLaunch"),
		.bigalloc = id_of(g, "cuMemAlloc_v2"),
	};

	start_up(g);
	while (more(g))
		step(g, &id);
}

/* Every word of every argument is another one, so that a decoder that takes a neighbour is seen. */
static void only_these(struct gen *g)
{
	for (uint64_t i = 0; more(g); i++) {
		struct call c = { .api = g->only[i % g->nonly], .thread = (unsigned)(i % g->o.threads) };

		for (unsigned w = 0; w < GPUBPF_WORDS_MAX; w++)
			c.words[w] = (i + 1) * 0x100 + w;
		c.out = 0x7f00000 + i;
		emit(g, &c);
	}
}

static void write_task(struct gen *g, uint32_t event, unsigned thread, uint64_t time)
{
	union record r = { .task = { .kind = GPUBPF_REC_TASK,
				     .size = sizeof(r.task),
				     .event = event,
				     .tgid = TGID,
				     .tid = TGID + thread,
				     .view_tgid = TGID,
				     .ns_tgid = 7,
				     .ns_tid = 7 + thread,
				     .time = time,
				     .start_time = 12345,
				     .comm = "" } };

	snprintf(r.task.comm, sizeof(r.task.comm), "%s", g->o.text);
	if (capture_writer__record(g->w, &r.head, time, &g->err))
		g->failed = true;
}

static void write_cost(struct gen *g)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Cost cost = GPUBPF__COST__INIT;
	Gpubpf__CostKind kind[COST_KINDS], *kinds[COST_KINDS];

	for (unsigned i = 0; i < COST_KINDS; i++) {
		gpubpf__cost_kind__init(&kind[i]);
		kind[i].kind = (char *)cost_kind_names[i];
		kind[i].has_calls = kind[i].has_ns = kind[i].has_low_ns = kind[i].has_high_ns = true;
		kind[i].calls = g->o.calls;
		kind[i].ns = 1000 + i;
		kind[i].low_ns = 900;
		kind[i].high_ns = 1200;
		kinds[i] = &kind[i];
	}
	cost.n_kind = COST_KINDS;
	cost.kind = kinds;
	cost.probe = "push";
	cost.has_recorder_cpu_ns = true;
	cost.recorder_cpu_ns = 5000000;
	m.cost = &cost;
	if (capture_writer__meta(g->w, &m, &g->err))
		die(g, "meta");
}

static void write_meta(struct gen *g)
{
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Host host = GPUBPF__HOST__INIT;
	Gpubpf__ClockPair clock = GPUBPF__CLOCK_PAIR__INIT, *clocks[] = { &clock };
	Gpubpf__Library lib = GPUBPF__LIBRARY__INIT, *libs[] = { &lib };
	Gpubpf__Process proc = GPUBPF__PROCESS__INIT, *procs[] = { &proc };
	Gpubpf__Option opt = GPUBPF__OPTION__INIT, *opts[] = { &opt };
	char *command[] = { (char *)g->o.text, "--epochs", "3" };
	char name[32];
	Gpubpf__Stacks stacks = GPUBPF__STACKS__INIT;

	if (meta_apis(&m, g->tab))
		die(g, "memory");
	for (size_t i = 0; i < m.n_api; i++) {
		Gpubpf__Api *a = m.api[i];

		a->has_library = true;
		a->has_missing = a->missing = a->legacy32; /* today's drivers keep few of these */
		if (a->legacy32)
			continue;
		a->has_offset = true;
		a->offset = 0x200000 + i * 0x100;
		a->probe = "push";
	}
	host.hostname = "node1";
	if (g->o.machine) { /* another one, whose clock was started later */
		snprintf(name, sizeof(name), "node%u", g->o.machine);
		host.hostname = host.boot_id = name;
	}
	host.kernel = "6.18.0";
	host.arch = "x86_64";
	host.driver_version = "580.159";
	host.has_cpus = true;
	host.cpus = 16;
	clock.monotonic_ns = T0;
	clock.has_realtime_ns = true;
	clock.realtime_ns = 1760000000000000000ull + g->o.machine * 1000000ull;
	clock.has_error_ns = true;
	clock.error_ns = 120;
	lib.path = "/usr/lib/x86_64-linux-gnu/libcuda.so.580.159";
	lib.version = "580.159";
	proc.tgid = TGID;
	proc.comm = "";
	proc.exe = "/usr/bin/trainer";
	proc.origin = "launched";
	proc.n_cmdline = 3;
	proc.cmdline = command;
	opt.name = "ring-size";
	opt.value = "16777216";
	m.gpubpf_version = GPUBPF_VERSION;
	m.has_wire_abi = true;
	m.wire_abi = GPUBPF_WIRE_ABI;
	m.has_start_ns = true;
	m.start_ns = T0;
	m.mode = "launch";
	m.attach = "session";
	m.n_command = 3;
	m.command = command;
	m.host = &host;
	m.n_clock = m.n_library = m.n_process = m.n_option = 1;
	m.clock = clocks;
	m.library = libs;
	m.process = procs;
	m.option = opts;
	stacks.how = "dwarf";
	stacks.has_one_of = true;
	stacks.one_of = 3;
	if (g->o.stacks)
		m.stacks = &stacks;
	if (capture_writer__meta(g->w, &m, &g->err))
		die(g, "meta");
	meta_apis_free(&m);
}

/* One entry point of the workload fails and one is busy. */
static void add_result(Gpubpf__Counts *counts, Gpubpf__ResultCount *to, uint32_t api, int32_t result,
		       uint64_t n)
{
	to->api = api;
	to->result = result;
	to->count = n;
	counts->result[counts->n_result++] = to;
}

static void write_end(struct gen *g)
{
	Gpubpf__ApiCounts *api[GPUBPF_API_MAX];
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__ResultCount oom = GPUBPF__RESULT_COUNT__INIT, busy = oom, *results[2];
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;
	static struct ledger l;
	struct ledger_footer store;

	counts.api = api;
	counts.result = results;
	for (uint32_t i = 0; i < apitab__size(g->tab); i++) {
		if (g->counts[i].entered == 0)
			continue;
		api[counts.n_api++] = &g->counts[i];
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", apitab__get(g->tab, i)->symbol,
		       g->counts[i].entered, g->counts[i].failed, g->counts[i].lost_ring);
		if (strcmp(apitab__get(g->tab, i)->symbol, "cuStreamQuery") == 0 && !g->nonly)
			add_result(&counts, &busy, i, 600, g->counts[i].entered);
		else if (g->counts[i].failed)
			add_result(&counts, &oom, i, 2, g->counts[i].failed);
	}
	for (unsigned t = 0; t < g->o.threads; t++)
		counts.time_ns = g->now[t] > counts.time_ns ? g->now[t] : counts.time_ns;
	write_task(g, GPUBPF_TASK_EXIT, 0, counts.time_ns);
	if (capture_writer__flush(g->w, &g->err) ||
	    (!g->o.no_counts && capture_writer__counts(g->w, &counts, &g->err)))
		g->failed = true;
	if (g->o.no_footer)
		return;
	ledger_compute(&(struct ledger_input){ .tab = g->tab,
					       .counts = &counts,
					       .dropped = capture_writer__dropped_calls(g->w),
					       .ndropped = GPUBPF_API_MAX },
		       &l);
	ledger_fill_footer(&l, &store, &f);
	f.end_ns = counts.time_ns;
	f.end_reason = g->failed ? "write error" : "target exited";
	f.counts = &counts;
	f.has_exit_status = true;
	if (capture_writer__finish(g->w, &f, &g->err))
		g->failed = true;
}

static int usage(void)
{
	fputs("mkcapture [--calls N] [--threads N] [--keys N] [--apis SYMBOL,…] [--lose N] [--level ZSTD]\n"
	      "          [--text COMM] [--no-footer] [--no-counts] [--cost] [--stacks] [--machine N] [-f] FILE\n",
	      stderr);
	return 2;
}

static int parse(struct gen *g, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "calls", 1, NULL, 'c' },     { "threads", 1, NULL, 't' },
		{ "keys", 1, NULL, 'k' },      { "apis", 1, NULL, 'a' },
		{ "lose", 1, NULL, 'l' },      { "level", 1, NULL, 'z' },
		{ "text", 1, NULL, 'x' },      { "no-footer", 0, NULL, 'n' },
		{ "no-counts", 0, NULL, 'N' }, { "cost", 0, NULL, 'C' },
		{ "stacks", 0, NULL, 's' },    { "machine", 1, NULL, 'm' },
		{ "force", 0, NULL, 'f' },     { 0 },
	};
	struct options *o = &g->o;
	int c;

	while ((c = getopt_long(argc, argv, "f", longs, NULL)) != -1) {
		unsigned long long n = optarg ? strtoull(optarg, NULL, 0) : 0;

		switch (c) {
		case 'c':
			o->calls = n;
			break;
		case 't':
			o->threads = (unsigned)n;
			break;
		case 'k':
			o->keys = (unsigned)n;
			break;
		case 'a':
			o->apis = optarg;
			break;
		case 'l':
			o->lose = n;
			break;
		case 'z':
			o->level = (unsigned)n;
			break;
		case 'x':
			o->text = optarg;
			break;
		case 'n':
			o->no_footer = true;
			break;
		case 'N':
			o->no_counts = o->no_footer = true;
			break;
		case 'C':
			o->cost = true;
			break;
		case 's':
			o->stacks = true;
			break;
		case 'm':
			o->machine = (unsigned)n;
			break;
		case 'f':
			o->force = true;
			break;
		default:
			return -1;
		}
	}
	o->path = argv[optind];
	return !o->path || o->threads < 1 || o->threads > THREADS_MAX || o->keys < 1 || o->keys > KEYS_MAX
		       ? -1
		       : 0;
}

int main(int argc, char **argv)
{
	static struct gen g = {
		.o = { .calls = 10000, .threads = 4, .keys = 24, .level = 1, .text = "trainer" },
		.random = 0x9e3779b97f4a7c15ull,
		.next_ptr = 0x7f8000000000ull
	};
	char *list, *word, *save = NULL;

	if (parse(&g, argc, argv))
		return usage();
	if (apitab__builtin(&g.tab))
		die(&g, "table of entry points");
	for (unsigned i = 0; i < GPUBPF_API_MAX; i++) {
		gpubpf__api_counts__init(&g.counts[i]);
		g.counts[i].api = i;
		g.counts[i].has_entered = g.counts[i].has_returned = g.counts[i].has_failed = true;
		g.counts[i].has_nested = g.counts[i].has_recorded = g.counts[i].has_lost_ring = true;
	}
	list = strdup(g.o.apis ? g.o.apis : "");
	for (word = strtok_r(list, ",", &save); word && g.nonly < GPUBPF_API_MAX;
	     word = strtok_r(NULL, ",", &save))
		g.only[g.nonly++] = id_of(&g, word);
	free(list);
	if (capture_writer__open(
		    g.o.path,
		    &(struct capture_writer_opts){ .force = g.o.force, .zstd_level = (int)g.o.level }, &g.w,
		    &g.err))
		die(&g, "open");
	write_meta(&g);
	if (g.o.cost)
		write_cost(&g);
	if (g.o.stacks && intern__new(made_stack_record, g.w, &g.stacks))
		die(&g, "memory");
	for (unsigned t = 0; t < g.o.threads; t++) {
		g.now[t] = T0 + t * 1000;
		write_task(&g, GPUBPF_TASK_SEEN, t, g.now[t]);
	}
	if (g.nonly)
		only_these(&g);
	else
		workload(&g);
	write_end(&g);
	if (g.failed)
		die(&g, "writing");
	capture_writer__close(g.w);
	intern__free(g.stacks);
	apitab__free(g.tab);
	return 0;
}
