/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small world with two observers. Every step is a call that asks for work: what the host records of it, what the shim
 * records, and what runs. Records are kept and fed at the end, in any order.
 */
#ifndef GPUBPF_JOIN_FIXTURE_H
#define GPUBPF_JOIN_FIXTURE_H

#include <stdlib.h>

#include "join/join.h"
#include "model/ledger.h"
#include "model/model.h"

#define MAYBE __attribute__((unused)) static
#define RECORDS_MAX 4096
#define PIDS 4 /* 100 … 103 */

struct world {
	struct apitab *tab;
	struct model *m;
	struct join *j;
	struct gpubpf_rec *rec[RECORDS_MAX];
	unsigned n;
	uint32_t tgid, tid; /* of the host's records */
	uint32_t ns_tid;    /* of the shim's; 0: tid */
	uint32_t session;
	uint64_t now;
	uint64_t sequence[PIDS][GPUBPF_PROBES];
	struct join_end end;
	Gpubpf__ApiCounts counts[GPUBPF_API_MAX], *apis[GPUBPF_API_MAX];
	Gpubpf__Counts message;
	Gpubpf__Footer footer;
	struct capture_status status;
	uint64_t in_file[GPUBPF_API_MAX];
	struct ledger l;
};

static struct world w;

MAYBE void begin(void)
{
	memset(&w, 0, sizeof(w));
	CHECK(apitab__builtin(&w.tab) == 0);
	w.tgid = w.tid = 100;
	w.session = 1;
	w.now = 1000000;
	for (unsigned i = 0; i < GPUBPF_API_MAX; i++) {
		gpubpf__api_counts__init(&w.counts[i]);
		w.counts[i].api = i;
	}
	gpubpf__counts__init(&w.message);
	gpubpf__footer__init(&w.footer);
	w.status.has_footer = true;
}

MAYBE void keep(const void *rec, size_t size)
{
	struct gpubpf_rec *copy = calloc(1, (size + 7) & ~(size_t)7);

	if (!copy || w.n == RECORDS_MAX)
		abort();
	memcpy(copy, rec, size);
	w.rec[w.n++] = copy;
}

MAYBE uint32_t api_id(const char *symbol)
{
	for (uint32_t i = 0; i < apitab__size(w.tab); i++)
		if (strcmp(apitab__get(w.tab, i)->symbol, symbol) == 0)
			return i;
	CHECKF(0, "no entry point %s", symbol);
	return 0;
}

/* ---- The shim ---- */

MAYBE void batch_of(unsigned probe, const void *items, size_t item_size, unsigned count)
{
	union {
		struct gpubpf_shim head;
		uint8_t room[sizeof(struct gpubpf_shim) + GPUBPF_BATCH_MAX];
	} *b = calloc(1, sizeof(*b));
	uint64_t *sequence = &w.sequence[w.tgid % PIDS][probe];

	b->head = (struct gpubpf_shim){ .kind = GPUBPF_REC_SHIM,
					.size = (uint16_t)((sizeof(b->head) + item_size * count + 7) & ~7u),
					.tgid = w.tgid,
					.tid = w.tid,
					.time = w.now,
					.sequence = (*sequence)++,
					.probe = (uint16_t)probe,
					.item_size = (uint16_t)item_size,
					.count = count,
					.sent = count };
	memcpy(b->head.items, items, item_size * count);
	keep(b, b->head.size);
	free(b);
}

MAYBE void status(unsigned kind, unsigned code, int value, uint64_t a, uint64_t b)
{
	struct gpubpf_status s = { .kind = (uint16_t)kind,
				   .code = (uint16_t)code,
				   .value = value,
				   .session = w.session,
				   .time = w.now,
				   .a = a,
				   .b = b };

	batch_of(GPUBPF_PROBE_STATUS, &s, sizeof(s), 1);
}

MAYBE void clock_pair(uint64_t mono, uint64_t cupti, uint64_t error)
{
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_CLOCK,
				   .session = w.session,
				   .time = w.now,
				   .a = mono,
				   .d = cupti,
				   .e = error };

	batch_of(GPUBPF_PROBE_STATUS, &s, sizeof(s), 1);
}

MAYBE void match(uint64_t time, uint64_t error, uint64_t before, uint64_t its_error)
{
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_MATCH,
				   .session = w.session,
				   .time = w.now,
				   .a = time,
				   .b = error,
				   .c = before,
				   .d = its_error };

	batch_of(GPUBPF_PROBE_STATUS, &s, sizeof(s), 1);
}

MAYBE void hello(uint32_t time_source)
{
	struct gpubpf_hello h = { .abi = GPUBPF_SHIM_ABI,
				  .session = w.session,
				  .pid = w.tgid,
				  .worker_tid = 9,
				  .time = w.now,
				  .cupti_version = 130000,
				  .time_source = time_source,
				  .arming = GPUBPF_ARMED_INLINE,
				  .version = "0.1.0" };

	batch_of(GPUBPF_PROBE_HELLO, &h, sizeof(h), 1);
}

MAYBE void arm(void)
{
	hello(GPUBPF_TIME_MONOTONIC);
	status(GPUBPF_STATUS_ARMED, 0, 0, w.now, 0);
	w.now += 1000;
}

MAYBE void disarm(void)
{
	w.now += 10000;
	status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0, w.now, 0);
	w.now += 1000;
}

MAYBE void name_part(uint32_t id, unsigned part, unsigned parts, const char *text)
{
	struct gpubpf_name n = { .id = id, .part = (uint16_t)part, .parts = (uint16_t)parts };

	n.len = (uint16_t)strnlen(text, sizeof(n.text));
	memcpy(n.text, text, n.len);
	batch_of(GPUBPF_PROBE_NAMES, &n, sizeof(n), 1);
}

MAYBE void shim_call(unsigned work, uint32_t correlation, uint64_t start, uint64_t end, int32_t result)
{
	struct gpubpf_shim_call c = { .start = start,
				      .end = end,
				      .correlation = correlation,
				      .tid = w.ns_tid ? w.ns_tid : w.tid,
				      .result = result,
				      .domain = GPUBPF_DOMAIN_DRIVER,
				      .work = (uint8_t)work,
				      .session = w.session };

	batch_of(GPUBPF_PROBE_CALLS, &c, sizeof(c), 1);
}

static struct gpubpf_activity act; /* of the next step; made anew after each */

MAYBE void fresh_activity(void)
{
	memset(&act, 0, sizeof(act));
	act.stream = 7;
}

MAYBE void activity(unsigned kind, uint32_t correlation, uint64_t start, uint64_t end)
{
	struct gpubpf_activity a = act;

	a.kind = (uint16_t)kind;
	a.correlation = correlation;
	a.start = start;
	a.end = end;
	a.session = w.session;
	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
}

/* ---- The host ---- */

MAYBE void task(uint32_t event, uint32_t ns_tgid, uint32_t ns_tid)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .event = event,
				 .tgid = w.tgid,
				 .tid = w.tid,
				 .ns_tgid = ns_tgid,
				 .ns_tid = ns_tid,
				 .time = w.now,
				 .comm = "test" };

	keep(&t, sizeof(t));
}

static struct {
	uint32_t flags; /* 0: returned */
	uint8_t depth;
	uint64_t words[GPUBPF_WORDS_MAX];
	bool lost; /* counted, no room in the ring */
} hostly;          /* of the next step; made anew after each */

MAYBE void host_call(const char *symbol, uint64_t entry, uint64_t ret, int32_t result)
{
	union {
		struct gpubpf_call c;
		uint8_t room[sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX];
	} r = { .c = { .kind = GPUBPF_REC_CALL,
		       .size = sizeof(r),
		       .flags = hostly.flags ? hostly.flags : GPUBPF_CALL_RETURNED,
		       .tgid = w.tgid,
		       .tid = w.tid,
		       .t_entry = entry,
		       .api = (uint16_t)api_id(symbol),
		       .depth = hostly.depth,
		       .nwords = GPUBPF_WORDS_MAX } };
	Gpubpf__ApiCounts *n = &w.counts[r.c.api];

	if (r.c.flags & GPUBPF_CALL_RETURNED) {
		r.c.t_return = ret;
		r.c.result = result;
	}
	memcpy(r.c.words, hostly.words, sizeof(hostly.words));
	*(hostly.depth ? &n->nested : &n->entered) += 1;
	if (hostly.lost) {
		n->lost_ring++;
	} else if (r.c.flags & GPUBPF_CALL_OPEN) {
		n->in_flight++;
		keep(&r, sizeof(r));
	} else {
		n->recorded++;
		w.in_file[r.c.api]++;
		keep(&r, sizeof(r));
	}
	memset(&hostly, 0, sizeof(hostly));
	hostly.words[2] = 64; /* copies: bytes; sets: elements */
}

/* ---- Steps ---- */

enum { HOST = 1, SHIM = 2, RAN = 4, ALL = 7 };

static const struct {
	const char *symbol;
	unsigned kind;
} works[] = {
	[GPUBPF_WORK_LAUNCH] = { "cuLaunchKernel", GPUBPF_ACTIVITY_KERNEL },
	[GPUBPF_WORK_GRAPH] = { "cuGraphLaunch", GPUBPF_ACTIVITY_KERNEL },
	[GPUBPF_WORK_COPY] = { "cuMemcpyHtoDAsync_v2", GPUBPF_ACTIVITY_COPY },
	[GPUBPF_WORK_SET] = { "cuMemsetD32Async", GPUBPF_ACTIVITY_SET },
};

/* Host [now, now + 1000], shim inside it, execution [now + 2000, now + 3000]. */
MAYBE void step_result(unsigned parts, unsigned work, uint32_t correlation, int32_t result)
{
	if (parts & HOST)
		host_call(works[work].symbol, w.now, w.now + 1000, result);
	if (parts & SHIM)
		shim_call(work, correlation, w.now + 100, w.now + 900, result);
	if (parts & RAN)
		activity(works[work].kind, correlation, w.now + 2000, w.now + 3000);
	fresh_activity();
	w.now += 5000;
}

MAYBE void step(unsigned parts, unsigned work, uint32_t correlation)
{
	step_result(parts, work, correlation, 0);
}

#define LAUNCH GPUBPF_WORK_LAUNCH
#define GRAPH GPUBPF_WORK_GRAPH
#define COPY GPUBPF_WORK_COPY
#define SET GPUBPF_WORK_SET

/* ---- The reading ---- */

MAYBE void feed(void)
{
	struct model_opts o = { 0 };
	int rc = 0;

	CHECK(model__new(w.tab, &o, &w.m) == 0);
	CHECK(join__new(w.m, &w.j) == 0);
	model__watch(w.m, join__call, w.j);
	for (unsigned i = 0; i < w.n; i++) {
		rc |= model__add(w.m, w.rec[i]);
		if (w.rec[i]->kind != GPUBPF_REC_CALL)
			rc |= join__record(w.j, w.rec[i]);
	}
	rc |= model__finish(w.m);
	rc |= join__finish(w.j, &w.end);
	CHECK(rc == 0);
	for (uint32_t i = 0; i < apitab__size(w.tab); i++)
		if (w.counts[i].entered || w.counts[i].nested)
			w.apis[w.message.n_api++] = &w.counts[i];
	w.message.api = w.apis;
	w.footer.records = w.status.records;
	ledger_compute(&(struct ledger_input){ .tab = w.tab,
					       .counts = &w.message,
					       .status = &w.status,
					       .host_left_out = w.end.host_left_out,
					       .footer = w.status.has_footer ? &w.footer : NULL,
					       .in_file = w.in_file,
					       .nin_file = GPUBPF_API_MAX,
					       .join = w.j },
		       &w.l);
}

/* Lets the same records be fed once more. */
MAYBE void unfeed(void)
{
	join__free(w.j);
	model__free(w.m);
	w.j = NULL;
	w.m = NULL;
	w.message.n_api = 0;
}

MAYBE void end(void)
{
	unfeed();
	for (unsigned i = 0; i < w.n; i++)
		free(w.rec[i]);
	apitab__free(w.tab);
}

MAYBE const struct join_line *line(unsigned population)
{
	return &join__totals(w.j)->line[population];
}

MAYBE struct join_activity nth(size_t i)
{
	struct join_activity a = { 0 };

	CHECKF(i < join__activities(w.j), "only %zu activities", join__activities(w.j));
	if (i < join__activities(w.j))
		join__activity(w.j, i, &a);
	return a;
}

/* The activity with this correlation id; the first of several. */
MAYBE struct join_activity with_id(uint32_t correlation)
{
	struct join_activity a = { 0 };

	for (size_t i = 0; i < join__activities(w.j); i++) {
		join__activity(w.j, i, &a);
		if (a.correlation == correlation)
			return a;
	}
	CHECKF(0, "no activity with id %u", correlation);
	return a;
}

MAYBE const struct ledger_reason *reason(const char *code)
{
	for (unsigned i = 0; i < w.l.nreasons; i++)
		if (strcmp(w.l.reason[i].code, code) == 0)
			return &w.l.reason[i];
	return NULL;
}

MAYBE const struct ledger_reason *fact(const char *code)
{
	for (unsigned i = 0; i < w.l.nfacts; i++)
		if (strcmp(w.l.fact[i].code, code) == 0)
			return &w.l.fact[i];
	return NULL;
}

/* Each in-file call stands in exactly one term. */
MAYBE void check_sums(void)
{
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		const struct join_line *l = line(p);
		const struct ledger_device_line *d = &w.l.device.line[p];

		CHECKF(l->calls == l->matched + l->failed + l->captured + l->invalid_time + l->no_work +
					   l->device_launched + l->outside + l->in_flight + l->lost_shim +
					   l->lost_ring + l->dropped + l->ambiguous + l->unexplained,
		       "population %u of the join does not add up", p);
		CHECKF((int64_t)d->calls == (int64_t)(d->matched + d->failed + d->captured + d->no_work +
						      d->device_launched + d->outside + d->invalid_time +
						      d->in_flight + d->abandoned + d->lost_ring +
						      d->lost_shim + d->dropped + d->ambiguous) +
						    d->unexplained,
		       "population %u of the ledger does not add up", p);
	}
}

MAYBE void ready(void)
{
	begin();
	fresh_activity();
	memset(&hostly, 0, sizeof(hostly));
	hostly.words[2] = 64;
}

#endif
