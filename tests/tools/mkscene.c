/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the capture that the lines on standard input describe, with counters and footer that agree:
 *
 *   pid P        tid T        depth D     what the calls that follow have (pid sets tid too)
 *   took NS      result N                 of the next call only; took "open" or "entry" instead of NS
 *   out V        text S       bytes HEX       trunc       of the next call only
 *   stack A;B;C                           of the next call only: who made it, from the outermost
 *   lacks SYMBOL                          the driver does not have it
 *   inside CAUSE NS · between CAUSE NS    of the next call only, with a breakdown of its time and of that since its thread's
 *                                         call before it: so much of the cause (breakdown_names[]), the rest on_cpu
 *   SYMBOL [ARG …]                        a call: argument words in order
 *   fork CHILD · exit                     of the process in `pid`
 *   lose SYMBOL                           a call that was counted and found no room in the ring
 *   wait NS                               nothing happens
 *   back NS                               what follows began so long before: records come when calls return
 *   one-gpu                               the machine has so many
 *   wall NS [ERROR [UTC]]                 a clock pair: the wall clock shows this now, give or take; so far it is off UTC at most
 *   machine HOST BOOT                     where it was recorded
 *   fact GROUP NAME = VALUE               of the environment; a VALUE of "?": not known
 *   mode WORD · refuse SYMBOL             launch (if it is not said), attach; the kernel let no probe stand there
 *   ready WORD ORDER [REASON]             readiness of the process in `pid`
 *   alone                                 no probe stands in libcuda: calls leave no record, and the capture says so
 *
 * The device observer:
 *
 *   attached                              the probes of a shim were attached to in time, whether it speaks or not
 *   arm · disarm                          a session of the process in `pid` begins, ends
 *   clock NS                              a clock pair with this error
 *   name ID TEXT                          of a kernel, of a marker
 *   marker KIND RANGE NAME [TIME]         of NVTX, now: enum gpubpf_marker, CUPTI's id of the range, id of the name
 *   module ID CRC BYTES NS                loaded, in so many ns; unload ID
 *   seen WORK [FROM TO]                   it saw the call before: launch, graph, copy, set, alloc or sync; since its entry
 *   ran KIND AFTER NS [WORD VALUE] …      what that call started (kernel, copy, set; memory; overhead, with its kind), so long after its
 *                                         entry, for NS
 *       stream S  device D  name ID  grid X  block X  cluster X  registers N  static B  dynamic B  bytes B
 *       copy K (enum gpubpf_copy_kind)  from K  to K (CUpti_ActivityMemoryKind)  peer D  graph G  node N
 *       id N: of a call that nobody saw  start T  end T: these times instead
 *   loss N COUNT · refused N RESULT       enum gpubpf_shim_loss, gpubpf_facility
 *   failed N                              instead of arm: enum gpubpf_reason
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "cmd.h"
#include "events.h"
#include "model/apitab.h"
#include "made_meta.h"
#include "made_place.h"
#include "meta_apis.h"
#include "ran_words.h"
#include "spent.h"
#include "usdt/contract.h"
#include "util/err.h"

#define OBSERVED_MAX 16

struct observed { /* a process with the shim in it */
	uint32_t pid, session, correlation;
	uint64_t sequence[GPUBPF_PROBES];
};

struct scene {
	struct apitab *tab;
	struct capture_writer *w;
	struct err err;
	uint32_t pid, tid;
	uint8_t depth;
	uint64_t now, took, out;
	uint32_t flags;
	int32_t result;
	bool has_out, entry_only, alone, attached, one_gpu;
	struct spent spent;
	struct made_meta meta;
	char text[256];
	size_t ntext; /* bytes of it */
	struct intern *stacks;
	struct gpubpf_stack stack;
	bool has_stack, lacks[GPUBPF_API_MAX];
	Gpubpf__ApiCounts counts[GPUBPF_API_MAX];

	/* of the device observer */
	struct observed observed[OBSERVED_MAX];
	unsigned nobserved;
	uint64_t entry, took_last; /* of the call before */
	Gpubpf__ProbeCounts probe[GPUBPF_PROBES];
};

static void die(struct scene *s, const char *what)
{
	fprintf(stderr, "mkscene: %s: %s\n", what, s->err.msg);
	exit(1);
}

static uint32_t id_of(struct scene *s, const char *symbol)
{
	for (uint32_t i = 0; i < apitab__size(s->tab); i++)
		if (strcmp(apitab__get(s->tab, i)->symbol, symbol) == 0)
			return i;
	die(s, symbol);
	return 0;
}

static void next_call(struct scene *s)
{
	s->took = 1000;
	s->flags = GPUBPF_CALL_RETURNED;
	s->result = 0;
	s->has_out = false;
	s->ntext = 0;
	s->has_stack = false;
	spent__next(&s->spent);
}

static void breakdown(struct scene *s)
{
	struct gpubpf_latency_long l;

	spent__record(&s->spent, s->pid, s->tid, s->now, s->took, &l);
	if (capture_writer__record(s->w, (struct gpubpf_rec *)&l, s->now, &s->err))
		die(s, "record");
}

static void count(struct scene *s, uint32_t api)
{
	Gpubpf__ApiCounts *n = &s->counts[api];

	*(s->depth ? &n->nested : &n->entered) += 1;
	if (s->flags & GPUBPF_CALL_OPEN) {
		n->in_flight++;
		return;
	}
	n->returned += s->flags & GPUBPF_CALL_RETURNED;
	n->failed += !s->depth && s->result && s->result != 600;
	n->recorded++;
}

static int put_stack(const struct gpubpf_rec *rec, void *scene)
{
	struct scene *s = scene;

	if (capture_writer__record(s->w, rec, s->now, &s->err))
		die(s, "record");
	return 0;
}

static void stack(struct scene *s, char *text)
{
	if (!s->stacks && intern__new(put_stack, s, &s->stacks))
		die(s, "memory");
	s->has_stack = true;
	if (stack_words(s->stacks, text, &s->stack))
		die(s, "stack");
}

static void call(struct scene *s, const char *symbol, char *args)
{
	union {
		struct gpubpf_call c;
		uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX + sizeof(s->text)];
	} u;
	char *word, *save;

	memset(&u, 0, sizeof(u));
	u.c.kind = GPUBPF_REC_CALL;
	u.c.flags = s->flags | (s->has_out ? GPUBPF_CALL_HAS_OUT : 0);
	u.c.tgid = s->pid;
	u.c.tid = s->tid;
	u.c.t_entry = s->now;
	u.c.t_return = s->flags & GPUBPF_CALL_RETURNED ? s->now + s->took : 0;
	u.c.result = s->result;
	u.c.api = (uint16_t)id_of(s, symbol);
	u.c.depth = s->depth;
	u.c.nwords = GPUBPF_WORDS_MAX;
	u.c.out = s->has_out ? s->out : 0;
	word = strtok_r(args, " ", &save);
	for (int i = 0; word && i < GPUBPF_WORDS_MAX; i++, word = strtok_r(NULL, " ", &save))
		u.c.words[i] = strtoull(word, NULL, 0);
	u.c.nblob = (uint32_t)s->ntext;
	memcpy(u.c.words + GPUBPF_WORDS_MAX, s->text, u.c.nblob);
	u.c.size = (uint16_t)(sizeof(u.c) + 8 * GPUBPF_WORDS_MAX + ((u.c.nblob + 7) & ~7u));
	s->entry = s->now;
	s->took_last = s->took;
	if (!s->alone)
		count(s, u.c.api);
	if (s->spent.there)
		breakdown(s);
	if (!s->alone && capture_writer__record(s->w, (struct gpubpf_rec *)&u.c, s->now, &s->err))
		die(s, "record");
	if (s->has_stack) {
		s->stack = (struct gpubpf_stack){ .kind = GPUBPF_REC_STACK,
						  .size = sizeof(s->stack),
						  .flags = GPUBPF_STACK_CALL | GPUBPF_STACK_ENTRY,
						  .tgid = s->pid,
						  .tid = s->tid,
						  .t_entry = s->now,
						  .chain = s->stack.chain,
						  .api = u.c.api,
						  .quality = GPUBPF_STACK_COMPLETE };
		put_stack((struct gpubpf_rec *)&s->stack, s);
	}
	s->now += s->took + 500;
	next_call(s);
}

static void task(struct scene *s, uint32_t event, uint32_t pid, uint32_t peer)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .event = event,
				 .tgid = pid,
				 .tid = pid,
				 .peer = peer,
				 .time = s->now,
				 .start_time = pid,
				 .comm = "scene" };

	if (capture_writer__record(s->w, (struct gpubpf_rec *)&t, s->now, &s->err))
		die(s, "record");
	s->now += 100;
}

static struct observed *observed(struct scene *s)
{
	for (unsigned i = 0; i < s->nobserved; i++)
		if (s->observed[i].pid == s->pid)
			return &s->observed[i];
	if (s->nobserved == OBSERVED_MAX)
		die(s, "processes");
	s->observed[s->nobserved].pid = s->pid;
	return &s->observed[s->nobserved++];
}

static void batch(struct scene *s, unsigned probe, const void *item, size_t size)
{
	union {
		struct gpubpf_shim head;
		uint8_t room[sizeof(struct gpubpf_shim) + sizeof(struct gpubpf_hello)];
	} b = { .head = { .kind = GPUBPF_REC_SHIM,
			  .size = (uint16_t)((sizeof(b.head) + size + 7) & ~(size_t)7),
			  .tgid = s->pid,
			  .tid = s->tid,
			  .time = s->now,
			  .sequence = observed(s)->sequence[probe]++,
			  .probe = (uint16_t)probe,
			  .item_size = (uint16_t)size,
			  .count = 1,
			  .sent = 1 } };

	memcpy(b.head.items, item, size);
	s->probe[probe].hits++;
	s->probe[probe].items++;
	if (capture_writer__record(s->w, (struct gpubpf_rec *)&b, s->now, &s->err))
		die(s, "record");
}

static void status(struct scene *s, unsigned kind, unsigned code, int32_t value, uint64_t a, uint64_t e)
{
	struct gpubpf_status t = { .kind = (uint16_t)kind,
				   .code = (uint16_t)code,
				   .value = value,
				   .session = observed(s)->session,
				   .time = s->now,
				   .a = a,
				   .b = a,
				   .c = a,
				   .d = a,
				   .e = e };

	batch(s, GPUBPF_PROBE_STATUS, &t, sizeof(t));
}

static void arm(struct scene *s, unsigned failure)
{
	struct gpubpf_hello h = { .abi = GPUBPF_SHIM_ABI,
				  .session = ++observed(s)->session,
				  .pid = s->pid,
				  .worker_tid = s->pid + 9,
				  .time = s->now,
				  .cupti_version = 130000,
				  .driver_version = 13000,
				  .time_source = failure ? 0 : GPUBPF_TIME_MONOTONIC,
				  .arming = GPUBPF_ARMED_INLINE,
				  .version = GPUBPF_VERSION,
				  .cupti_path = "/usr/lib/libcupti.so.13" };

	batch(s, GPUBPF_PROBE_HELLO, &h, sizeof(h));
	s->now += 2000;
	if (failure)
		status(s, GPUBPF_STATUS_FAILED, failure, 0, 0, 0);
	else
		status(s, GPUBPF_STATUS_ARMED, 0, 0, s->now - 2000, 0);
	s->now += 100;
}

static void seen(struct scene *s, char *text)
{
	static const char *const works[] = { "", "launch", "graph", "copy", "set", "alloc", "sync" };
	struct gpubpf_shim_call c = { .start = s->entry + s->took_last / 10,
				      .end = s->entry + s->took_last - s->took_last / 10,
				      .correlation = ++observed(s)->correlation,
				      .tid = s->tid,
				      .domain = GPUBPF_DOMAIN_DRIVER,
				      .session = observed(s)->session };
	const char *work = strsep(&text, " "), *from = strsep(&text, " ");

	if (from && text) {
		c.start = s->entry + strtoull(from, NULL, 0);
		c.end = s->entry + strtoull(text, NULL, 0);
	}
	for (uint8_t i = 1; i < sizeof(works) / sizeof(works[0]); i++)
		if (strcmp(work, works[i]) == 0)
			c.work = i;
	batch(s, GPUBPF_PROBE_CALLS, &c, sizeof(c));
}

static void ran(struct scene *s, char *text)
{
	struct gpubpf_activity a = { .correlation = observed(s)->correlation,
				     .context = 1,
				     .stream = 7,
				     .session = observed(s)->session };
	char *kind = strsep(&text, " "), *after = strsep(&text, " "), *took = strsep(&text, " "), *word,
	     *value;

	a.kind = (uint16_t)kind_word(kind);
	if (a.kind == GPUBPF_ACTIVITY_KERNEL)
		for (int i = 0; i < 3; i++)
			a.u.kernel.grid[i] = a.u.kernel.block[i] = 1;
	a.start = s->entry + (uint64_t)strtoll(after ? after : "0", NULL, 0);
	a.end = a.start + strtoull(took ? took : "0", NULL, 0);
	while ((word = strsep(&text, " ")) && (value = strsep(&text, " ")))
		any_word(&a, word, strtoull(value, NULL, 0));
	batch(s, GPUBPF_PROBE_ACTIVITY, &a, sizeof(a));
}

static void name(struct scene *s, char *text)
{
	struct gpubpf_name n = { .id = (uint32_t)strtoul(strsep(&text, " "), NULL, 0), .parts = 1 };

	n.len = (uint16_t)strnlen(text ? text : "", sizeof(n.text));
	memcpy(n.text, text ? text : "", n.len);
	batch(s, GPUBPF_PROBE_NAMES, &n, sizeof(n));
}

static void marker(struct scene *s, char *text)
{
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_MARKER, .session = observed(s)->session };

	a.u.raw[1] = strtoull(text, &text, 0);
	a.u.raw[0] = strtoull(text, &text, 0);
	a.name = (uint32_t)strtoull(text, &text, 0);
	a.u.raw[3] = s->pid;
	a.start = a.end = *text ? strtoull(text, NULL, 0) : s->now;
	batch(s, GPUBPF_PROBE_ACTIVITY, &a, sizeof(a));
}

static void module(struct scene *s, char *text, bool unload)
{
	struct gpubpf_module m = { .session = observed(s)->session,
				   .flags = unload ? GPUBPF_MODULE_UNLOADED : 0 };
	uint64_t v[4] = { 0 };

	for (int i = 0; text && i < 4; i++)
		v[i] = strtoull(strsep(&text, " "), NULL, 0);
	m.id = (uint32_t)v[0];
	m.crc = (uint32_t)v[1];
	m.bytes = v[2];
	if (v[3]) {
		m.start = s->now;
		m.end = s->now += v[3];
	}
	batch(s, GPUBPF_PROBE_MODULES, &m, sizeof(m));
}

/* False: none of the device observer's. */
static bool device_line(struct scene *s, const char *verb, char *text)
{
	unsigned long long n = strtoull(text, NULL, 0);

	if (strcmp(verb, "arm") == 0) {
		arm(s, 0);
	} else if (strcmp(verb, "failed") == 0) {
		arm(s, (unsigned)n);
	} else if (strcmp(verb, "disarm") == 0) {
		s->now += 1000;
		status(s, GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0, s->now, 0);
	} else if (strcmp(verb, "clock") == 0) {
		status(s, GPUBPF_STATUS_CLOCK, 0, 0, s->now, n);
	} else if (strcmp(verb, "name") == 0) {
		name(s, text);
	} else if (strcmp(verb, "marker") == 0) {
		marker(s, text);
	} else if (strcmp(verb, "module") == 0 || strcmp(verb, "unload") == 0) {
		module(s, text, verb[0] == 'u');
	} else if (strcmp(verb, "seen") == 0) {
		seen(s, text);
	} else if (strcmp(verb, "ran") == 0) {
		ran(s, text);
	} else if (strcmp(verb, "loss") == 0 || strcmp(verb, "refused") == 0) {
		char *second = strchr(text, ' ');
		uint64_t v = second ? strtoull(second, NULL, 0) : 0;

		if (verb[0] == 'l')
			status(s, GPUBPF_STATUS_LOSS, (unsigned)n, 0, v, 0);
		else
			status(s, GPUBPF_STATUS_FACILITY, (unsigned)n, (int32_t)v, 0, 0);
	} else {
		return false;
	}
	return true;
}

static void line(struct scene *s, char *text)
{
	char *verb = strsep(&text, " "), none[] = "";
	unsigned long long n;

	text = text ? text : none;
	n = strtoull(text, NULL, 0);
	if (strcmp(verb, "pid") == 0) {
		s->pid = s->tid = (uint32_t)n;
	} else if (strcmp(verb, "tid") == 0) {
		s->tid = (uint32_t)n;
	} else if (strcmp(verb, "depth") == 0) {
		s->depth = (uint8_t)n;
	} else if (strcmp(verb, "took") == 0) {
		s->took = n;
		if (strcmp(text, "open") == 0)
			s->flags = GPUBPF_CALL_OPEN;
		else if (strcmp(text, "entry") == 0)
			s->flags = 0;
		s->entry_only |= !s->flags;
	} else if (strcmp(verb, "result") == 0) {
		s->result = (int32_t)n;
	} else if (strcmp(verb, "out") == 0) {
		s->has_out = true;
		s->out = n;
	} else if (strcmp(verb, "text") == 0) {
		snprintf(s->text, sizeof(s->text), "%s", text);
		s->ntext = strlen(s->text) + 1;
	} else if (strcmp(verb, "bytes") == 0) {
		s->ntext = hex_words(text, (uint8_t *)s->text, sizeof(s->text));
	} else if (strcmp(verb, "stack") == 0) {
		stack(s, text);
	} else if (strcmp(verb, "lacks") == 0) {
		s->lacks[id_of(s, text)] = true;
	} else if (strcmp(verb, "inside") == 0 || strcmp(verb, "between") == 0) {
		spent__add(&s->spent, verb[0] == 'b', text);
	} else if (strcmp(verb, "trunc") == 0) {
		s->flags |= GPUBPF_CALL_BLOB_TRUNC;
	} else if (strcmp(verb, "fork") == 0) {
		task(s, GPUBPF_TASK_FORK, (uint32_t)n, s->pid);
	} else if (strcmp(verb, "exit") == 0) {
		task(s, GPUBPF_TASK_EXIT, s->pid, 0);
	} else if (strcmp(verb, "lose") == 0) {
		s->counts[id_of(s, text)].entered++;
		s->counts[id_of(s, text)].returned++;
		s->counts[id_of(s, text)].lost_ring++;
	} else if (strcmp(verb, "back") == 0) {
		s->now -= n;
	} else if (strcmp(verb, "wait") == 0) {
		s->now += n;
	} else if (strcmp(verb, "one-gpu") == 0) {
		s->one_gpu = true;
	} else if (made_place(s->w, verb, text, s->now, &s->err)) {
		if (s->err.msg[0])
			die(s, "meta");
	} else if (strcmp(verb, "mode") == 0) {
		snprintf(s->meta.mode, sizeof(s->meta.mode), "%s", text);
	} else if (strcmp(verb, "refuse") == 0 && s->meta.nrefused < MADE_REFUSED_MAX) {
		s->meta.refused[s->meta.nrefused++] = id_of(s, text);
	} else if (strcmp(verb, "ready") == 0) {
		if (made_ready(s->pid, text, s->w, &s->err))
			die(s, "meta");
	} else if (strcmp(verb, "alone") == 0) {
		s->alone = true;
	} else if (strcmp(verb, "attached") == 0) {
		s->attached = true;
	} else if (!device_line(s, verb, text)) {
		call(s, verb, text);
	}
}

static void write_meta(struct scene *s)
{
	static char *command[] = { "./scene" };
	Gpubpf__Meta m = GPUBPF__META__INIT;
	Gpubpf__Shim shim = GPUBPF__SHIM__INIT, *shims[] = { &shim };
	Gpubpf__Gpu gpu = GPUBPF__GPU__INIT, *gpus[] = { &gpu };
	Gpubpf__Stacks stacks = GPUBPF__STACKS__INIT;

	if (meta_apis(&m, s->tab))
		die(s, "memory");
	for (size_t i = 0; i < m.n_api; i++)
		m.api[i]->has_missing = m.api[i]->missing = s->lacks[i];
	stacks.how = "fp";
	m.stacks = s->stacks ? &stacks : NULL;
	m.has_start_ns = true;
	m.start_ns = 1000000;
	m.attach = "session";
	m.has_entry_only = m.entry_only = s->entry_only;
	m.has_host_left_out = m.host_left_out = s->alone;
	made_meta__apply(&s->meta, &m);
	if (s->alone)
		m.n_api = 0;
	m.n_command = 1;
	m.command = command;
	shim.path = "/usr/lib/libgpubpf-shim.so";
	shim.origin = "launched";
	m.n_shim = s->attached || s->nobserved;
	m.shim = shims;
	m.n_gpu = s->one_gpu;
	m.gpu = gpus;
	if (capture_writer__meta(s->w, &m, &s->err))
		die(s, "meta");
	meta_apis_free(&m);
}

static void write_end(struct scene *s)
{
	Gpubpf__ApiCounts *api[GPUBPF_API_MAX];
	Gpubpf__ProbeCounts *probe[GPUBPF_PROBES];
	Gpubpf__Counts counts = GPUBPF__COUNTS__INIT;
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;

	counts.time_ns = f.end_ns = s->now;
	counts.api = api;
	for (uint32_t i = 0; i < apitab__size(s->tab); i++)
		if (s->counts[i].entered || s->counts[i].nested)
			api[counts.n_api++] = &s->counts[i];
	counts.probe = probe;
	counts.n_probe = s->nobserved ? GPUBPF_PROBES : 0;
	for (unsigned i = 0; i < counts.n_probe; i++) {
		probe[i] = &s->probe[i];
		probe[i]->probe = (char *)usdt_contract_probes[i];
	}
	f.end_reason = "target exited";
	f.counts = &counts;
	if (capture_writer__finish(s->w, &f, &s->err))
		die(s, "finish");
}

int main(int argc, char **argv)
{
	struct scene *s = calloc(1, sizeof(*s));
	char text[1024];
	if (!s || argc != 2 || apitab__builtin(&s->tab)) {
		fputs("mkscene FILE <LINES\n", stderr);
		return 2;
	}
	s->pid = s->tid = 100;
	s->now = 1000000;
	next_call(s);
	for (uint32_t i = 0; i < apitab__size(s->tab); i++) {
		gpubpf__api_counts__init(&s->counts[i]);
		s->counts[i].api = i;
		s->counts[i].has_entered = s->counts[i].has_nested = s->counts[i].has_returned = true;
		s->counts[i].has_failed = s->counts[i].has_recorded = s->counts[i].has_lost_ring = true;
		s->counts[i].has_in_flight = true;
	}
	for (unsigned i = 0; i < GPUBPF_PROBES; i++) {
		gpubpf__probe_counts__init(&s->probe[i]);
		s->probe[i].has_hits = s->probe[i].has_items = true;
	}
	if (capture_writer__open(argv[1], &(struct capture_writer_opts){ .force = true }, &s->w, &s->err))
		die(s, argv[1]);
	while (fgets(text, sizeof(text), stdin)) {
		text[strcspn(text, "\n")] = '\0';
		if (text[0] && text[0] != '#')
			line(s, text);
	}
	write_meta(s);
	write_end(s);
	capture_writer__close(s->w);
	apitab__free(s->tab);
	intern__free(s->stacks);
	free(s);
	return 0;
}
