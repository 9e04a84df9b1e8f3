// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "events.h"
#include "gate/stored.h"
#include "model/ledger_priv.h"

static const char *const global_names[] = {
	[GPUBPF_G_TASK_LOST] = "task_lost",
	[GPUBPF_G_TARGETS_FULL] = "targets_full",
	[GPUBPF_G_XID_LOST] = "xid_lost",
	[GPUBPF_G_OTHER_PROCESS] = "other_process",
	[GPUBPF_G_RESULT_FULL] = "result_full",
	[GPUBPF_G_TRACER_CALLS] = "tracer_calls",
	[GPUBPF_G_LATENCY_LOST] = "latency_lost",
	[GPUBPF_G_LATENCY_FULL] = "latency_full",
	[GPUBPF_G_WAKER_LOST] = "waker_lost",
	[GPUBPF_G_STACK_LOST] = "stack_lost",
	[GPUBPF_G_STACK_UNRESOLVED] = "stack_unresolved",
};

#define NGLOBALS (sizeof(global_names) / sizeof(global_names[0]))

const char *ledger_global_name(unsigned global)
{
	return global < NGLOBALS ? global_names[global] : NULL;
}

/* A list that is full says so in its last line. */
void ledger_say(struct ledger_reason *list, unsigned *n, const char *code, uint64_t count, const char *remedy,
		const char *fmt, ...)
{
	struct ledger_reason *r = &list[*n < LEDGER_REASONS_MAX ? *n : LEDGER_REASONS_MAX - 1];
	va_list ap;

	if (*n == LEDGER_REASONS_MAX) {
		r->count = strcmp(r->code, "more") == 0 ? r->count + 1 : 2;
		r->code = "more";
		snprintf(r->text, sizeof(r->text), "%" PRIu64 " more reasons", r->count);
		r->remedy[0] = '\0';
		return;
	}
	++*n;
	r->code = code;
	r->count = count;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	snprintf(r->remedy, sizeof(r->remedy), "%s", remedy);
}

static struct ledger_line *line_of(const struct ledger_input *in, struct ledger *l, uint32_t api)
{
	const struct api *a = in->tab ? apitab__get(in->tab, api) : NULL;

	/* An id with no description is still a call (R18). */
	return &l->line[a ? api_population_index(a) : API_POPULATIONS - 1];
}

static void add_counts(const struct ledger_input *in, struct ledger *l)
{
	for (size_t i = 0; i < in->counts->n_api; i++) {
		const Gpubpf__ApiCounts *c = in->counts->api[i];
		struct ledger_line *line = line_of(in, l, c->api);

		line->calls += c->entered + c->nested;
		line->nested += c->nested;
		line->failed += c->failed;
		line->recorded += c->recorded;
		line->lost_ring += c->lost_ring;
		line->lost_thread += c->lost_thread;
		line->lost_depth += c->lost_depth;
		line->abandoned += c->abandoned;
		line->in_flight += c->in_flight;
		line->orphan_returns += c->orphan_return;
		line->unmeasured += c->unmeasured;
	}
}

static void add_writer(const struct ledger_input *in, struct ledger *l)
{
	for (size_t i = 0; in->dropped && i < in->ndropped; i++)
		if (in->dropped[i])
			line_of(in, l, (uint32_t)i)->lost_writer += in->dropped[i];
	for (size_t i = 0; in->footer && i < in->footer->n_ledger; i++)
		for (unsigned p = 0; p < API_POPULATIONS; p++)
			if (strcmp(in->footer->ledger[i]->population, api_population_names[p]) == 0)
				l->line[p].lost_writer = in->footer->ledger[i]->lost_writer;
	for (size_t i = 0; in->in_file && i < in->nin_file; i++)
		if (in->in_file[i])
			line_of(in, l, (uint32_t)i)->in_file += in->in_file[i];
}

static void add_up(struct ledger *l)
{
	struct ledger_line *t = &l->total;

	for (unsigned p = 0; p < API_POPULATIONS; p++) {
		struct ledger_line *n = &l->line[p];

		/* Unsigned arithmetic wraps by definition; hostile counters must not trap. */
		n->unexplained = (int64_t)(n->calls - n->recorded - n->lost_ring - n->lost_thread -
					   n->lost_depth - n->abandoned - n->in_flight);
		t->calls += n->calls;
		t->nested += n->nested;
		t->failed += n->failed;
		t->recorded += n->recorded;
		t->lost_ring += n->lost_ring;
		t->lost_thread += n->lost_thread;
		t->lost_depth += n->lost_depth;
		t->lost_writer += n->lost_writer;
		t->abandoned += n->abandoned;
		t->in_flight += n->in_flight;
		t->orphan_returns += n->orphan_returns;
		t->unmeasured += n->unmeasured;
		t->in_file += n->in_file;
		t->unexplained = (int64_t)((uint64_t)t->unexplained + (uint64_t)n->unexplained);
	}
}

static void name_losses(struct ledger *l)
{
	const struct ledger_line *t = &l->total;

	if (t->lost_ring)
		REASON(l, "lost_ring", t->lost_ring,
		       "record with a bigger ring: gpubpf record --ring-size SIZE",
		       "%" PRIu64 " records of calls found no room in the ring", t->lost_ring);
	if (t->lost_thread)
		REASON(l, "lost_thread", t->lost_thread,
		       "trace fewer processes at once: gpubpf record -p PID",
		       "%" PRIu64 " calls came from threads beyond the number that is followed at once",
		       t->lost_thread);
	if (t->lost_depth)
		REASON(l, "lost_depth", t->lost_depth, "",
		       "%" PRIu64 " calls were nested deeper than the stack of open calls", t->lost_depth);
	if (t->lost_writer)
		REASON(l, "lost_writer", t->lost_writer,
		       "make room on the disk, or write elsewhere: gpubpf record -o FILE",
		       "%" PRIu64 " records of calls could not be written to the file", t->lost_writer);
	for (unsigned p = 0; p < API_POPULATIONS; p++) {
		const struct ledger_line *n = &l->line[p];

		if (n->unexplained > 0)
			REASON(l, "unexplained", (uint64_t)n->unexplained, "",
			       "%s: %" PRId64 " of %" PRIu64 " calls are unexplained", n->population,
			       n->unexplained, n->calls);
		else if (n->unexplained < 0)
			REASON(l, "unexplained", -(uint64_t)n->unexplained, "",
			       "%s: %" PRIu64 " more records, losses and open calls than calls (%" PRIu64 ")",
			       n->population, -(uint64_t)n->unexplained, n->calls);
	}
}

static void name_globals(const struct ledger_input *in, struct ledger *l)
{
	static const struct {
		unsigned global;
		const char *text, *remedy;
	} known[] = {
		{ GPUBPF_G_TASK_LOST,
		  "records of processes and threads, or of calls left open, found no room in the ring",
		  "record with a bigger ring: gpubpf record --ring-size SIZE" },
		{ GPUBPF_G_TARGETS_FULL, "child processes were not followed: the list of targets was full",
		  "trace fewer processes at once: gpubpf record -p PID" },
		{ GPUBPF_G_XID_LOST, "records of GPU errors (Xid) found no room in the ring",
		  "record with a bigger ring: gpubpf record --ring-size SIZE" },
		{ GPUBPF_G_RESULT_FULL, "failed calls have no result code: the table of results was full",
		  "" },
		{ GPUBPF_G_LATENCY_LOST, "breakdowns of calls found no room in the ring",
		  "record with a bigger ring: gpubpf record --ring-size SIZE" },
		{ GPUBPF_G_LATENCY_FULL, "threads have no breakdowns: no room where their time is kept",
		  "record with more room: gpubpf record --max-threads N" },
		{ GPUBPF_G_WAKER_LOST, "waits in a futex, and who ended them, found no room in the ring",
		  "record with a bigger ring: gpubpf record --ring-size SIZE" },
		{ GPUBPF_G_STACK_LOST, "stacks of calls found no room in the ring",
		  "take fewer (gpubpf record --stacks-every N, --slow TIME), or record with a bigger ring: --ring-size SIZE" },
		{ GPUBPF_G_STACK_UNRESOLVED, "stacks of calls were not resolved in time",
		  "take fewer: gpubpf record --stacks-every N, --slow TIME" },
	};

	for (size_t i = 0; i < in->counts->n_global; i++) {
		const Gpubpf__GlobalCount *g = in->counts->global[i];
		size_t k;

		if (!g->count)
			continue;
		if (strcmp(g->name, global_names[GPUBPF_G_OTHER_PROCESS]) == 0) {
			FACT(l, "other_process", g->count, "",
			     "%" PRIu64
			     " calls came from processes that are no targets; they are not counted",
			     g->count);
			continue;
		}
		if (strcmp(g->name, global_names[GPUBPF_G_TRACER_CALLS]) == 0) {
			FACT(l, "tracer_calls", g->count, "",
			     "%" PRIu64
			     " calls were made by the device observer itself; they are not counted",
			     g->count);
			continue;
		}
		for (k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (strcmp(g->name, global_names[known[k].global]) == 0)
				break;
		if (k < sizeof(known) / sizeof(known[0]))
			REASON(l, global_names[known[k].global], g->count, known[k].remedy, "%" PRIu64 " %s",
			       g->count, known[k].text);
		else
			REASON(l, "unknown_counter", g->count, "read it with a newer gpubpf",
			       "a counter that this version does not know stands at %" PRIu64, g->count);
	}
}

/* What the counters could not see because no probe stood there. */
static void name_refused(const struct ledger_input *in, struct ledger *l)
{
	uint64_t refused = 0, lines = 0;
	const char *first = NULL;

	for (size_t i = 0; in->meta && i < in->meta->n_api; i++) {
		const Gpubpf__Api *a = in->meta->api[i];

		lines += !a->missing;
		if (!a->has_error || a->error == 0)
			continue;
		refused++;
		first = first ? first : a->symbol;
	}
	if (refused)
		REASON(l, "refused", refused, "gpubpf doctor says what the kernel refuses",
		       "%" PRIu64 " of %" PRIu64
		       " entry points could not be armed (%.64s%s): their calls were not counted",
		       refused, lines, first, refused > 1 ? " …" : "");
}

/* Calls before a library was probed are in no counter. */
static void name_late(const struct ledger_input *in, struct ledger *l)
{
	uint64_t late = in->late_libraries;

	for (size_t i = 0; in->meta && i < in->meta->n_note; i++) {
		const char *code = in->meta->note[i]->code;

		late += !strcmp(code, "late_library") || !strcmp(code, "library_missed");
	}
	if (late)
		REASON(l, "late_library", late, "gpubpf record --libcuda PATH names it in time",
		       "%" PRIu64
		       " processes loaded a libcuda before it was probed: their calls until then were not counted",
		       late);
}

static void name_file(const struct ledger_input *in, struct ledger *l)
{
	const struct capture_status *s = in->status;

	if (!s->has_footer)
		REASON(l, "no_footer", 0, "end a recording with Ctrl-C or SIGTERM, and keep room on the disk",
		       "it ended without a footer: the recorder was killed or the disk was full, what came last is not in it");
	if (s->tail_bytes)
		REASON(l, "tail", s->tail_bytes, "",
		       "its last block was cut short: %" PRIu64 " bytes behind the last whole one",
		       s->tail_bytes);
	if (s->damaged_bytes || s->damaged_blocks)
		REASON(l, "damage", s->damaged_blocks, "read an undamaged copy of the file",
		       "the file is damaged: %" PRIu64 " blocks do not decode, %" PRIu64
		       " bytes belong to no block",
		       s->damaged_blocks, s->damaged_bytes);
	if (s->bad_records)
		REASON(l, "bad_records", s->bad_records, "",
		       "%" PRIu64 " blocks hold a malformed record; the rest of each was skipped",
		       s->bad_records);
	if (s->unknown_records)
		REASON(l, "unknown_records", s->unknown_records, "read it with a newer gpubpf",
		       "%" PRIu64 " records are of kinds that this version does not know",
		       s->unknown_records);
	if (s->blocks[0])
		FACT(l, "unknown_blocks", s->blocks[0], "read it with a newer gpubpf",
		     "%" PRIu64 " blocks are of kinds that this version does not know; they were skipped",
		     s->blocks[0]);
	if (in->footer && in->footer->records != s->records)
		REASON(l, "records_missing", 0, "read an undamaged copy of the file",
		       "the footer counts %" PRIu64 " records, the file's blocks hold %" PRIu64,
		       in->footer->records, s->records);
}

/* The counters' records against the file's: only with a footer do both speak of the same moment. */
static void name_difference(const struct ledger_input *in, struct ledger *l)
{
	for (unsigned p = 0; in->footer && l->has_in_file && p < API_POPULATIONS; p++) {
		const struct ledger_line *n = &l->line[p];
		uint64_t written = n->recorded - n->lost_writer;

		if (n->in_file != written)
			REASON(l, "not_in_file",
			       n->in_file < written ? written - n->in_file : n->in_file - written, "",
			       "%s: %" PRIu64 " records were written by the counters, %" PRIu64
			       " are in the file",
			       n->population, written, n->in_file);
	}
}

static void name_facts(struct ledger *l)
{
	const struct ledger_line *t = &l->total;

	if (t->in_flight)
		FACT(l, "in_flight", t->in_flight, "",
		     "%" PRIu64 " calls had not returned when the capture ended", t->in_flight);
	if (t->abandoned)
		FACT(l, "abandoned", t->abandoned, "",
		     "%" PRIu64 " calls never returned: their thread ended, called exec or jumped out",
		     t->abandoned);
	if (t->unmeasured)
		FACT(l, "unmeasured", t->unmeasured, "gpubpf record --returns 1 measures each",
		     "%" PRIu64
		     " launches that followed another closely were recorded at their entry alone: durations and "
		     "failures are those of the measured ones",
		     t->unmeasured);
	if (t->orphan_returns)
		FACT(l, "orphan_return", t->orphan_returns, "",
		     "%" PRIu64
		     " calls were open when tracing began: their return was seen, they are in no count",
		     t->orphan_returns);
}

/* Captures of older versions say nothing of it, which is no failure. */
static void name_readiness(const struct ledger_input *in, struct ledger *l)
{
	const char *remedy = "";
	struct gate_sum sum;
	char text[320];

	if (!in->meta)
		return;
	gate_sum(in->meta, &sum);
	l->not_ready = sum.stated && !sum.ready;
	if (!l->not_ready || !l->device.agrees)
		return;
	gate_sum_text(&sum, text, sizeof(text));
	gate_stored_reason(sum.first->reason, &remedy);
	FACT(l, "not_ready", sum.processes - sum.ready_processes, remedy,
	     "both observers agree, which is no more than that: %.180s", text);
}

static enum ledger_verdict judge(const struct ledger_input *in, struct ledger *l)
{
	if (!in->counts) {
		REASON(l, "no_counters", 0,
		       "record again; a recording writes its counters about once a second",
		       "the capture holds no counters: what is missing cannot be known");
		return LEDGER_NOT_EVALUABLE;
	}
	if (in->host_left_out && !l->device.total.calls && !l->device.handed_calls && !l->device.activities) {
		REASON(l, "no_calls", 0,
		       "gpubpf doctor -p PID says whether the process has the shim, and whether CUPTI works",
		       "the device observer handed over nothing, and the host observer was left out");
		return LEDGER_EMPTY;
	}
	if (!in->host_left_out && l->total.calls == 0 && l->total.in_file == 0 && l->total.recorded == 0) {
		REASON(l, "no_calls", 0,
		       "gpubpf doctor -p PID says whether the process has loaded the driver",
		       "no call of a traced entry point was counted");
		return LEDGER_EMPTY;
	}
	if (l->nreasons)
		return LEDGER_INCOMPLETE;
	return l->device.agrees && !l->not_ready ? LEDGER_RECONCILED : LEDGER_UNCONTRADICTED;
}

void ledger_compute(const struct ledger_input *in, struct ledger *l)
{
	memset(l, 0, sizeof(*l));
	for (unsigned p = 0; p < API_POPULATIONS; p++)
		l->line[p].population = api_population_names[p];
	l->total.population = "all calls";
	l->has_counts = in->counts != NULL;
	l->host_left_out = in->host_left_out;
	l->has_in_file = in->in_file != NULL;
	if (in->counts)
		add_counts(in, l);
	add_writer(in, l);
	add_up(l);
	ledger_device(in, l); /* first: that the device was silent is said before anything else */
	if (in->counts) {
		name_losses(l);
		name_globals(in, l);
		name_refused(in, l);
		name_late(in, l);
	}
	if (in->status)
		name_file(in, l);
	if (in->counts)
		name_difference(in, l);
	name_readiness(in, l);
	name_facts(l);
	ledger_members(in->meta, l);
	l->verdict = ledger_members_bound(l, judge(in, l));
}

const char *ledger_verdict_name(enum ledger_verdict v)
{
	switch (v) {
	case LEDGER_EMPTY:
		return "empty";
	case LEDGER_INCOMPLETE:
		return "incomplete";
	case LEDGER_UNCONTRADICTED:
		return "uncontradicted";
	case LEDGER_RECONCILED:
		return "reconciled";
	default:
		return "not evaluable";
	}
}

void ledger_headline(const struct ledger *l, char *buf, size_t n)
{
	const char *name = ledger_verdict_name(l->verdict);
	char device[320];

	ledger_device_text(l, device, sizeof(device));
	switch (l->verdict) {
	case LEDGER_UNCONTRADICTED:
		if (l->host_left_out) {
			snprintf(buf, n, "%s: %s, and nothing contradicts it (host observer: left out)", name,
				 device);
			return;
		}
		snprintf(buf, n,
			 "%s: %" PRIu64
			 " calls counted by the host observer, and nothing contradicts it (%s)",
			 name, l->total.calls, device);
		return;
	case LEDGER_INCOMPLETE:
		snprintf(buf, n, "%s: %s%s (%s)", name,
			 l->nreasons ? l->reason[0].text : "something is missing",
			 l->nreasons > 1 ? "; more below" : "", device);
		return;
	case LEDGER_RECONCILED:
		snprintf(buf, n, "%s: %s", name, device);
		return;
	default:
		snprintf(buf, n, "%s: %s", name,
			 l->nreasons ? l->reason[l->nreasons - 1].text : "nothing was counted");
	}
}

void ledger_fill_footer(const struct ledger *l, struct ledger_footer *store, Gpubpf__Footer *footer)
{
	footer->verdict = (char *)ledger_verdict_name(l->verdict);
	if (l->host_left_out)
		return;
	for (unsigned p = 0; p < API_POPULATIONS; p++) {
		const struct ledger_line *n = &l->line[p];
		Gpubpf__LedgerLine *to = store->lines[p] = &store->line[p];

		gpubpf__ledger_line__init(to);
		to->population = (char *)n->population;
		to->calls = n->calls;
		to->recorded = n->recorded;
		to->lost_ring = n->lost_ring;
		to->lost_thread = n->lost_thread;
		to->lost_depth = n->lost_depth;
		to->lost_writer = n->lost_writer;
		to->abandoned = n->abandoned;
		to->in_flight = n->in_flight;
		to->unexplained = n->unexplained;
		to->failed = n->failed;
		to->has_nested = true;
		to->nested = n->nested;
	}
	footer->n_ledger = API_POPULATIONS;
	footer->ledger = store->lines;
}
