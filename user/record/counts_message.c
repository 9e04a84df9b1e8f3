/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counters of the BPF side as a message for the file. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "usdt/contract.h"

struct recorder_counts {
	Gpubpf__Counts message;
	Gpubpf__ApiCounts *api, **apis;
	size_t napi;
	Gpubpf__ResultCount *result, **results;
	size_t nresult, room;
	Gpubpf__ProbeCounts probe[GPUBPF_PROBES], *probes[GPUBPF_PROBES];
	Gpubpf__GlobalCount global[GPUBPF_G_MAX], *globals[GPUBPF_G_MAX];
	int error;
};

static void fill_api(Gpubpf__ApiCounts *m, uint32_t id, const struct gpubpf_counts *c)
{
	gpubpf__api_counts__init(m);
	m->api = id;
	m->has_entered = m->has_nested = m->has_returned = m->has_failed = m->has_recorded = true;
	m->has_lost_ring = m->has_lost_thread = m->has_lost_depth = m->has_abandoned = m->has_orphan_return =
		true;
	m->entered = c->entered;
	m->nested = c->nested;
	m->returned = c->returned;
	m->failed = c->failed;
	m->recorded = c->recorded;
	m->lost_ring = c->lost_ring;
	m->lost_thread = c->lost_thread;
	m->lost_depth = c->lost_depth;
	m->abandoned = c->abandoned;
	m->orphan_return = c->orphan_return;
	m->has_unmeasured = c->unmeasured != 0;
	m->unmeasured = c->unmeasured;
}

static void add_result(uint32_t api, int32_t result, uint64_t count, void *arg)
{
	struct recorder_counts *c = arg;

	if (c->nresult == c->room) {
		size_t room = c->room ? c->room * 2 : 64;
		Gpubpf__ResultCount *grown = realloc(c->result, room * sizeof(*grown));

		if (!grown) {
			c->error = -ENOMEM;
			return;
		}
		c->result = grown;
		c->room = room;
	}
	gpubpf__result_count__init(&c->result[c->nresult]);
	c->result[c->nresult].api = api;
	c->result[c->nresult].result = result;
	c->result[c->nresult].count = count;
	c->nresult++;
}

static int read_apis(struct recorder *r, struct recorder_counts *c)
{
	size_t n = attach__api_ids(r->attach);
	struct gpubpf_counts *raw = calloc(n + 1, sizeof(*raw));
	int e = -ENOMEM;

	c->api = calloc(n + 1, sizeof(*c->api));
	c->apis = calloc(n + 1, sizeof(*c->apis));
	if (raw && c->api && c->apis)
		e = attach__counts(r->attach, raw, n);
	for (size_t i = 0; i < n && !e; i++) {
		/* most entry points are never called, and a slot of zeros says nothing that its absence does not */
		static const struct gpubpf_counts zero;

		if (!memcmp(&raw[i], &zero, sizeof(zero)))
			continue;
		fill_api(&c->api[c->napi], (uint32_t)i, &raw[i]);
		c->apis[c->napi] = &c->api[c->napi];
		c->napi++;
	}
	free(raw);
	return e;
}

static int read_globals(struct recorder *r, struct recorder_counts *c)
{
	uint64_t v[GPUBPF_G_MAX];
	int e = attach__globals(r->attach, v);

	v[GPUBPF_G_STACK_UNRESOLVED] = recorder_stacks_unresolved(r);
	for (unsigned i = 0; i < GPUBPF_G_MAX && !e; i++) {
		Gpubpf__GlobalCount *g = &c->global[c->message.n_global];

		if (!ledger_global_name(i))
			continue;
		gpubpf__global_count__init(g);
		g->name = (char *)ledger_global_name(i);
		g->count = v[i];
		c->globals[c->message.n_global++] = g;
	}
	return e;
}

static int read_probes(struct recorder *r, struct recorder_counts *c)
{
	const uint64_t *dropped = capture_writer__dropped_items(r->writer);
	struct gpubpf_probe_counts v[GPUBPF_PROBES];
	int e = attach__probe_counts(r->attach, v);

	for (unsigned i = 0; i < GPUBPF_PROBES && !e; i++) {
		Gpubpf__ProbeCounts *m = &c->probe[i];

		gpubpf__probe_counts__init(m);
		m->probe = (char *)usdt_contract_probes[i];
		m->has_hits = m->has_items = m->has_lost_hits = m->has_lost_items = m->has_faults =
			m->has_cut_items = true;
		m->hits = v[i].hits;
		m->items = v[i].items;
		m->lost_hits = v[i].lost_hits;
		m->lost_items = v[i].lost_items;
		m->faults = v[i].faults;
		m->cut_items = v[i].cut_items;
		m->has_lost_writer_items = dropped[i] != 0;
		m->lost_writer_items = dropped[i];
		c->probes[i] = m;
	}
	c->message.probe = c->probes;
	c->message.n_probe = e ? 0 : GPUBPF_PROBES;
	return e;
}

int recorder_counts_read(struct recorder *r, struct recorder_counts **out)
{
	struct recorder_counts *c = calloc(1, sizeof(*c));
	int e;

	if (!c)
		return -ENOMEM;
	gpubpf__counts__init(&c->message);
	c->message.time_ns = recorder_now();
	e = read_apis(r, c);
	if (!e)
		e = attach__results(r->attach, add_result, c);
	if (!e)
		e = c->error ? c->error : read_globals(r, c);
	if (!e && r->res->shims)
		e = read_probes(r, c);
	c->results = e ? NULL : calloc(c->nresult + 1, sizeof(*c->results));
	if (!e && !c->results)
		e = -ENOMEM;
	if (e) {
		recorder_counts_free(c);
		return e;
	}
	for (size_t i = 0; i < c->nresult; i++)
		c->results[i] = &c->result[i];
	c->message.api = c->apis;
	c->message.n_api = c->napi;
	c->message.result = c->results;
	c->message.n_result = c->nresult;
	c->message.global = c->globals;
	*out = c;
	return 0;
}

const Gpubpf__Counts *recorder_counts_message(const struct recorder_counts *c)
{
	return &c->message;
}

void recorder_counts_in_flight(struct recorder_counts *c, uint32_t api)
{
	for (size_t i = 0; i < c->napi; i++) {
		if (c->api[i].api != api)
			continue;
		c->api[i].has_in_flight = true;
		c->api[i].in_flight++;
		return;
	}
}

void recorder_counts_free(struct recorder_counts *c)
{
	free(c->api);
	free(c->apis);
	free(c->result);
	free(c->results);
	free(c);
}
