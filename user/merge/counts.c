// SPDX-License-Identifier: GPL-2.0-or-later
/* The counters of all members, added up, and what ends the file. */
#include <errno.h>
#include <string.h>

#include "merge/priv.h"
#include "util/err.h"

struct sum {
	Gpubpf__Counts counts;
	size_t results_room;
};

/* NULL: no memory. */
static void *grown(struct merge *m, void *list, size_t n, size_t room)
{
	void **to = merge_keep(m, room * sizeof(*to));

	if (to && n)
		memcpy(to, list, n * sizeof(*to));
	return to;
}

#define ADD(to, from, field)                                                                                 \
	((from)->has_##field ? (void)((to)->field += (from)->field, (to)->has_##field = true) : (void)0)

static int add_apis(struct merge *m, struct merge_member *at, Gpubpf__Counts *c, Gpubpf__ApiCounts **by_api)
{
	for (size_t i = 0; i < at->counts->n_api; i++) {
		const Gpubpf__ApiCounts *from = at->counts->api[i];
		Gpubpf__ApiCounts *to;
		uint16_t number = 0;
		int rc = 0;

		if (from->api >= GPUBPF_API_MAX) { /* no entry point's, and a part of the sums all the same */
			c->api[c->n_api++] = (Gpubpf__ApiCounts *)from;
			continue;
		}
		rc = merge_api(m, at, from->api, &number);
		if (rc)
			return rc;
		to = by_api[number];
		if (!to) {
			to = by_api[number] = merge_keep(m, sizeof(*to));
			if (!to)
				return -ENOMEM;
			gpubpf__api_counts__init(to);
			to->api = number;
			c->api[c->n_api++] = to;
		}
		ADD(to, from, entered);
		ADD(to, from, nested);
		ADD(to, from, returned);
		ADD(to, from, failed);
		ADD(to, from, recorded);
		ADD(to, from, lost_ring);
		ADD(to, from, lost_thread);
		ADD(to, from, lost_depth);
		ADD(to, from, abandoned);
		ADD(to, from, orphan_return);
		ADD(to, from, in_flight);
		ADD(to, from, unmeasured);
	}
	return 0;
}

static int add_result(struct merge *m, struct merge_member *at, struct sum *s,
		      const Gpubpf__ResultCount *from)
{
	Gpubpf__Counts *c = &s->counts;
	Gpubpf__ResultCount *to;
	uint16_t number;
	int rc = 0;

	if (from->api >= GPUBPF_API_MAX) /* of no entry point */
		return 0;
	rc = merge_api(m, at, from->api, &number);
	if (rc)
		return rc;
	for (size_t i = 0; i < c->n_result; i++)
		if (c->result[i]->api == number && c->result[i]->result == from->result) {
			c->result[i]->count += from->count;
			return 0;
		}
	if (c->n_result == s->results_room) {
		s->results_room = s->results_room ? s->results_room * 2 : 64;
		c->result = grown(m, c->result, c->n_result, s->results_room);
	}
	to = c->result ? merge_copy(m, from, sizeof(*to)) : NULL;
	if (!to)
		return -ENOMEM;
	to->api = number;
	c->result[c->n_result++] = to;
	return 0;
}

static int add_global(struct merge *m, Gpubpf__Counts *c, const Gpubpf__GlobalCount *from)
{
	Gpubpf__GlobalCount *to;

	for (size_t i = 0; i < c->n_global; i++)
		if (strcmp(c->global[i]->name, from->name) == 0) {
			c->global[i]->count += from->count;
			return 0;
		}
	c->global = grown(m, c->global, c->n_global, c->n_global + 1);
	to = c->global ? merge_copy(m, from, sizeof(*to)) : NULL;
	if (!to)
		return -ENOMEM;
	c->global[c->n_global++] = to;
	return 0;
}

static int add_probe(struct merge *m, Gpubpf__Counts *c, const Gpubpf__ProbeCounts *from)
{
	Gpubpf__ProbeCounts *to;

	for (size_t i = 0; i < c->n_probe; i++) {
		to = c->probe[i];
		if (strcmp(to->probe, from->probe) != 0)
			continue;
		ADD(to, from, hits);
		ADD(to, from, items);
		ADD(to, from, lost_hits);
		ADD(to, from, lost_items);
		ADD(to, from, faults);
		ADD(to, from, cut_items);
		ADD(to, from, lost_writer_items);
		return 0;
	}
	c->probe = grown(m, c->probe, c->n_probe, c->n_probe + 1);
	to = c->probe ? merge_copy(m, from, sizeof(*to)) : NULL;
	if (!to)
		return -ENOMEM;
	c->probe[c->n_probe++] = to;
	return 0;
}

static int add_up(struct merge *m, struct sum *s)
{
	Gpubpf__ApiCounts **by_api = merge_keep(m, GPUBPF_API_MAX * sizeof(*by_api));
	Gpubpf__Counts *c = &s->counts;
	size_t apis = 1;
	int rc = 0;

	gpubpf__counts__init(c);
	for (size_t i = 0; i < m->n; i++)
		apis += m->member[i].counts ? m->member[i].counts->n_api : 0;
	c->api = merge_keep(m, apis * sizeof(*c->api));
	if (!by_api || !c->api)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < m->n; i++) {
		struct merge_member *at = &m->member[i];
		const Gpubpf__Counts *of = at->counts;
		uint64_t time;

		if (!of)
			continue;
		time = merge_time(at, of->time_ns);
		c->time_ns = time > c->time_ns ? time : c->time_ns;
		rc = add_apis(m, at, c, by_api);
		for (size_t k = 0; !rc && k < of->n_result; k++)
			rc = add_result(m, at, s, of->result[k]);
		for (size_t k = 0; !rc && k < of->n_global; k++)
			rc = add_global(m, c, of->global[k]);
		for (size_t k = 0; !rc && k < of->n_probe; k++)
			rc = add_probe(m, c, of->probe[k]);
	}
	return rc;
}

static int add_ledger(struct merge *m, Gpubpf__Footer *f, const Gpubpf__LedgerLine *from)
{
	Gpubpf__LedgerLine *to;

	for (size_t i = 0; i < f->n_ledger; i++) {
		to = f->ledger[i];
		if (strcmp(to->population, from->population) != 0)
			continue;
		to->calls += from->calls;
		to->recorded += from->recorded;
		to->lost_ring += from->lost_ring;
		to->lost_thread += from->lost_thread;
		to->lost_depth += from->lost_depth;
		to->lost_writer += from->lost_writer;
		to->abandoned += from->abandoned;
		to->in_flight += from->in_flight;
		to->unexplained = (int64_t)((uint64_t)to->unexplained + (uint64_t)from->unexplained);
		to->failed += from->failed;
		ADD(to, from, nested);
		return 0;
	}
	f->ledger = grown(m, f->ledger, f->n_ledger, f->n_ledger + 1);
	to = f->ledger ? merge_copy(m, from, sizeof(*to)) : NULL;
	if (!to)
		return -ENOMEM;
	f->ledger[f->n_ledger++] = to;
	return 0;
}

/* -ENODATA: a member has no footer, and what it would have said is not known of the whole either. */
static int footer_of(struct merge *m, Gpubpf__Footer *f)
{
	enum ledger_verdict worst = LEDGER_RECONCILED;
	int rc = 0;

	f->end_reason = "merged";
	for (size_t i = 0; !rc && i < m->n; i++) {
		const struct merge_member *at = &m->member[i];
		uint64_t end;

		if (!at->footer)
			return -ENODATA;
		end = merge_time(at, at->footer->end_ns);
		f->end_ns = end > f->end_ns ? end : f->end_ns;
		worst = at->verdict < worst ? at->verdict : worst;
		for (size_t k = 0; !rc && k < at->footer->n_ledger; k++)
			rc = add_ledger(m, f, at->footer->ledger[k]);
	}
	f->verdict = (char *)ledger_verdict_name(worst);
	return rc;
}

int merge_write_end(struct merge *m, struct capture_writer *w, struct err *err)
{
	Gpubpf__Footer f = GPUBPF__FOOTER__INIT;
	struct sum s = { 0 };
	int rc = add_up(m, &s);
	bool counted = false;

	for (size_t i = 0; i < m->n; i++)
		counted |= m->member[i].counts != NULL;
	if (!rc)
		rc = footer_of(m, &f);
	if (rc == -ENODATA) {
		rc = capture_writer__flush(w, err);
		return rc || !counted ? rc : capture_writer__counts(w, &s.counts, err);
	}
	if (rc == -E2BIG)
		return err_set(
			err, rc,
			"more than %d different entry points in all captures together: merge fewer, or such of one "
			"driver version",
			GPUBPF_API_MAX);
	if (rc)
		return err_set(err, rc, "out of memory");
	f.counts = &s.counts;
	return capture_writer__finish(w, &f, err);
}
