/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A feed of the live view that is given records and counters by hand. Times in calls are ns since the beginning unless they say ms. */
#ifndef GPUBPF_TOP_FIXTURE_H
#define GPUBPF_TOP_FIXTURE_H

#include <stdlib.h>

#include "events.h"
#include "top/top.h"
#include "top/top_layout.h"
#include "top/top_lines.h"

#define MAYBE __attribute__((unused)) static
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

MAYBE void on_view(const struct top_view *v, void *arg)
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

MAYBE void begin_with(struct top_feed_opts o)
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

MAYBE void begin(void)
{
	begin_with((struct top_feed_opts){ .interval = S, .lag = S });
}

MAYBE void end(uint64_t at)
{
	w.counts.time_ns = START + at;
	CHECK(top_feed__end(w.f, &w.counts) == 0);
	CHECK(w.view->last);
	top_feed__free(w.f);
	w.f = NULL;
}

MAYBE void tick(uint64_t at)
{
	w.counts.time_ns = START + at;
	CHECK(top_feed__counts(w.f, &w.counts) == 0);
}

MAYBE void called(unsigned api, uint64_t n)
{
	w.api[api].entered += n;
	w.api[api].recorded += n;
	w.api[api].returned += n;
}

MAYBE void call(unsigned api, uint32_t tgid, uint32_t tid, uint64_t at, uint64_t took, uint64_t a, uint64_t b,
		uint64_t c, const char *text)
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

MAYBE void task(uint32_t event, uint32_t tgid, uint64_t at)
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

MAYBE void batch_at(unsigned probe, uint32_t tgid, uint64_t at, const void *items, size_t size, unsigned n,
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

MAYBE void batch(unsigned probe, uint32_t tgid, uint64_t at, const void *items, size_t size, unsigned n)
{
	batch_at(probe, tgid, at, items, size, n, w.sequence[probe]++);
}

MAYBE void arm(uint32_t tgid, uint64_t at)
{
	struct gpubpf_hello h = { .session = 1, .time_source = GPUBPF_TIME_MONOTONIC, .start_time = tgid };
	struct gpubpf_status s = { .kind = GPUBPF_STATUS_ARMED, .session = 1 };

	batch(GPUBPF_PROBE_HELLO, tgid, at, &h, sizeof(h), 1);
	batch(GPUBPF_PROBE_STATUS, tgid, at, &s, sizeof(s), 1);
}

MAYBE void named(uint32_t tgid, uint32_t id, const char *text)
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
MAYBE void ran(uint32_t tgid, uint64_t start, uint64_t stop, uint32_t stream, uint32_t name, uint64_t at)
{
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_KERNEL,
				     .start = START + start * MS,
				     .end = START + stop * MS,
				     .stream = stream,
				     .name = name,
				     .session = 1 };

	batch(GPUBPF_PROBE_ACTIVITY, tgid, at * MS, &a, sizeof(a), 1);
}

MAYBE const struct top_loss *loss(const char *reason)
{
	for (size_t i = 0; i < w.view->nlosses; i++)
		if (!strcmp(w.view->loss[i].reason, reason))
			return &w.view->loss[i];
	return NULL;
}

MAYBE bool has(const char *part)
{
	return w.text && strstr(w.text, part);
}

MAYBE const char *line(unsigned rows, unsigned columns, unsigned i)
{
	static struct top_text t;
	static struct top_state st;

	top_layout(w.view, &st, rows, columns, &t);
	return i < t.n ? t.line[i].text : "";
}

#endif
