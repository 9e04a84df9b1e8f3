// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/cost.h"

#include <string.h>

#include "events.h"
#include "join/join.h"
#include "model/costkind.h"

const char cost_note[] =
	"probes: a function of gpubpf's own, bare and probed behind the end of the recording: the median, and what one batch in ten "
	"stayed below and one went beyond; its caches are warm, other calls cost more. shim: timed by itself, one callback in 64. "
	"CUPTI: by its own word. Shares are of one thread's time";

/* Of a call: by enum cost_kind. */
static const char *const kind_texts[COST_KINDS] = {
	[COST_CALL] = "calls recorded to their return",
	[COST_ENTRY] = "calls recorded at their entry",
	[COST_ROW] = "launches in a row, return left out",
	[COST_ALONE] = "launches in a row that pass a configuration, return left out",
	[COST_OTHER] = "calls of processes that are not recorded",
};

static const struct {
	const char *what, *text;
} callbacks[GPUBPF_CALLBACKS] = {
	[GPUBPF_CALLBACK_ENTER] = { "enter", "callbacks at the entry of driver calls" },
	[GPUBPF_CALLBACK_LEAVE] = { "leave", "callbacks at their return, with the hand-over" },
	[GPUBPF_CALLBACK_MODULE] = { "module", "callbacks of modules, with the copy of the cubin" },
};

static const char *const overhead_texts[JOIN_OVERHEADS] = {
	"of kinds that are not known",
	"the driver's compiler",
	"its buffers given back",
	"instrumentation",
	"its resources made and taken away",
	"modules loaded for the runtime",
	"functions loaded at first use",
	"the command buffer was full",
	"its buffers asked for",
	"unified memory set up",
};

static struct cost_line *add(struct cost *c, const char *part, const char *what, const char *text)
{
	struct cost_line *l;

	if (c->n == sizeof(c->line) / sizeof(c->line[0]))
		return NULL;
	l = &c->line[c->n++];
	*l = (struct cost_line){ .part = part, .what = what, .text = text };
	return l;
}

static void absent(struct cost *c, const char *part, const char *what, const char *text, const char *why)
{
	struct cost_line *l = add(c, part, what, text);

	if (l)
		l->absent = why;
}

static uint64_t scaled(uint64_t ns, uint64_t calls, uint64_t of)
{
	__uint128_t r = (__uint128_t)ns * calls / of;

	return r > UINT64_MAX ? UINT64_MAX : (uint64_t)r;
}

static uint64_t clamped(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static void total(const struct cost *c, struct cost_line *l, uint64_t ns)
{
	l->has_total = true;
	l->total_ns = ns;
	l->has_share = c->has_wall && c->wall_ns;
	l->share = l->has_share ? (double)ns / (double)c->wall_ns : 0;
}

/* ---- Probes ---- */

static void add_kind(struct cost *c, const Gpubpf__CostKind *k, const char *why)
{
	const char *text = k->kind;
	struct cost_line *l;

	for (unsigned i = 0; i < COST_KINDS; i++)
		if (!strcmp(k->kind, cost_kind_names[i]))
			text = kind_texts[i];
	l = add(c, "probes", k->kind, text);
	if (!l)
		return;
	l->has_calls = k->has_calls;
	l->calls = k->calls;
	l->has_each = k->has_ns;
	l->each_ns = k->ns;
	l->has_spread = k->has_ns && k->has_low_ns && k->has_high_ns && k->low_ns <= k->ns &&
			k->ns <= k->high_ns;
	l->low_ns = k->low_ns;
	l->high_ns = k->high_ns;
	l->has_timed = k->has_measured;
	l->timed = k->measured;
	if (k->has_ns && k->has_calls)
		total(c, l, scaled(k->ns, k->calls, 1));
	if (!k->has_ns)
		l->absent = why ? why : "such calls were not measured";
}

/* Calls at entry points that begin with what the kernel cannot emulate. */
static void count_stepped(const struct inspection *s, const Gpubpf__Cost *m, struct cost *c)
{
	bool stepped[GPUBPF_API_MAX] = { false };

	if (!m->probe || !strcmp(m->probe, "stepped"))
		return;
	for (size_t i = 0; i < s->meta->n_api; i++) {
		const Gpubpf__Api *a = s->meta->api[i];

		if (a->id < GPUBPF_API_MAX && a->probe && !strcmp(a->probe, "stepped"))
			stepped[a->id] = true;
	}
	for (size_t i = 0; s->counts && i < s->counts->n_api; i++) {
		const Gpubpf__ApiCounts *n = s->counts->api[i];

		if (n->api < GPUBPF_API_MAX && stepped[n->api])
			c->stepped = clamped(c->stepped, clamped(n->entered, n->nested));
	}
	c->has_stepped = c->stepped != 0;
}

static void read_probes(const struct inspection *s, struct cost *c)
{
	const Gpubpf__Cost *m = s->meta->cost;

	if (!m) {
		absent(c, "probes", "call", "recorded calls",
		       s->footer ? "the recorder did not measure it"
				 : "the recorder did not come to its end");
		return;
	}
	/* room is left for the other parts */
	for (size_t i = 0; i < m->n_kind && i < 8; i++)
		add_kind(c, m->kind[i], m->absent);
	if (!m->n_kind)
		absent(c, "probes", "call", "recorded calls",
		       m->absent ? m->absent : "the recorder did not measure it");
	count_stepped(s, m, c);
	if (s->meta->latency)
		absent(c, "probes", "switch", "switches between threads, of the whole machine (--latency)",
		       "nothing is asked of threads that are not recorded");
}

/* ---- The device observer ---- */

static void read_callbacks(const struct inspection *s, struct cost *c)
{
	for (unsigned k = 1; k < GPUBPF_CALLBACKS; k++) {
		struct join_cost sum = { 0 };
		struct cost_line *l;

		for (size_t i = 0; i < join__sessions(s->join); i++) {
			const struct join_cost *one = &join__session(s->join, i)->cost[k];

			sum.there |= one->there;
			sum.seen = clamped(sum.seen, one->seen);
			sum.timed = clamped(sum.timed, one->timed);
			sum.ns = clamped(sum.ns, one->ns);
			sum.longest = one->longest > sum.longest ? one->longest : sum.longest;
		}
		l = sum.there ? add(c, "shim", callbacks[k].what, callbacks[k].text) : NULL;
		if (!l)
			continue;
		l->has_calls = l->has_timed = true;
		l->calls = sum.seen;
		l->timed = sum.timed;
		l->absent = sum.timed ? NULL : "none of so few was timed";
		if (!sum.timed)
			continue;
		l->has_each = true;
		l->each_ns = sum.ns / sum.timed;
		total(c, l, scaled(sum.ns, sum.seen, sum.timed));
	}
}

const char *cost_no_overhead(const struct inspection *s)
{
	bool tried = false;

	for (size_t i = 0; i < join__sessions(s->join); i++) {
		const struct join_facility *f = &join__session(s->join, i)
							 ->facility[GPUBPF_FACILITY_OVERHEAD];

		if (f->tried && !f->result)
			return NULL;
		tried |= f->tried;
	}
	return tried ? "CUPTI refused it" : "not asked for (record --cupti overhead)";
}

static void read_overhead(const struct inspection *s, struct cost *c)
{
	const struct join_totals *t = join__totals(s->join);
	const char *why = cost_no_overhead(s);
	bool any = false;

	for (unsigned i = 0; i < JOIN_OVERHEADS; i++) {
		const struct join_overhead *o = &t->overhead[i];
		struct cost_line *l = o->records ? add(c, join_overhead_is_cuptis(i) ? "CUPTI" : "driver",
						       join_overhead_name(i), overhead_texts[i])
						 : NULL;

		if (!l)
			continue;
		any = true;
		l->has_calls = true;
		l->calls = o->records;
		l->absent = o->untimed == o->records ? "without times" : NULL;
		if (l->absent)
			continue;
		l->has_each = true;
		l->each_ns = o->ns / (o->records - o->untimed);
		total(c, l, o->ns);
	}
	if (why && !any)
		absent(c, "CUPTI", "overhead", "what it says of its own overhead", why);
	else if (!any)
		absent(c, "CUPTI", "overhead", "what it says of its own overhead", "it gave no record");
	if (t->armed_sessions)
		absent(c, "CUPTI", "calls", "its own time in each call, around the shim's callbacks",
		       "no clock of gpubpf's stands around it");
}

/* ---- All ---- */

static void read_wall(const struct inspection *s, struct cost *c)
{
	uint64_t end = s->footer ? s->footer->has_stopped_ns ? s->footer->stopped_ns : s->footer->end_ns : 0;

	c->has_wall = s->meta->has_start_ns && end > s->meta->start_ns;
	c->wall_ns = c->has_wall ? end - s->meta->start_ns : 0;
}

static bool shim_says(const struct inspection *s)
{
	for (size_t i = 0; s->join && i < join__sessions(s->join); i++)
		for (unsigned k = 0; k < GPUBPF_CALLBACKS; k++)
			if (join__session(s->join, i)->cost[k].there)
				return true;
	return false;
}

/* Of the threads that were recorded. */
static void sum(struct cost *c)
{
	uint64_t ns = 0;
	bool any = false;
	struct cost_line *l;

	for (unsigned i = 0; i < c->n; i++) {
		const struct cost_line *one = &c->line[i];
		bool ours = !strcmp(one->part, "probes") || !strcmp(one->part, "shim");

		if (!ours || !one->has_total || !strcmp(one->what, cost_kind_names[COST_OTHER]))
			continue;
		any = true;
		ns = clamped(ns, one->total_ns);
	}
	l = any ? add(c, "all", "threads", "probes and shim, of the threads that are recorded") : NULL;
	if (l)
		total(c, l, ns);
}

const char *cost_unknown(const struct inspection *s)
{
	return s->meta->cost || shim_says(s) ? NULL : "the capture does not say";
}

void cost_read(const struct inspection *s, struct cost *c)
{
	const Gpubpf__Cost *m = s->meta->cost;
	struct cost_line *l;

	memset(c, 0, sizeof(*c));
	read_wall(s, c);
	read_probes(s, c);
	if (s->join) {
		read_callbacks(s, c);
		read_overhead(s, c);
	}
	sum(c);
	l = m && m->has_recorder_cpu_ns ? add(c, "recorder", "process", "gpubpf's own processor time") : NULL;
	if (l)
		total(c, l, m->recorder_cpu_ns);
}
