// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the ledger: what was counted against what was recorded, and what is known to be lost. */
#include <stddef.h>

#include "export/tables.h"
#include "inspect/device.h"
#include "model/ledger.h"
#include "usdt/contract.h"

/* ---- reasons ---- */

static const struct tcol reason_cols[] = {
	TCOL_W("kind", "reason|fact", "reason: why the verdict is no better; fact: true and no loss"),
	TCOL("code", TEXT, "a machine's word"),
	TCOL_A("count", COUNT, "the number in the text"),
	TCOL("text", TEXT, "what is missing"),
	TCOL_A("remedy", TEXT, "what to do about this cause"),
	{ 0 },
};

static int reason_list(struct tables *x, const struct table *t, const char *kind,
		       const struct ledger_reason *list, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++) {
		struct trow *r = tables__begin(x, t);

		trow__text(r, kind);
		trow__text(r, list[i].code);
		trow__if(r, list[i].count, list[i].count);
		trow__text(r, list[i].text);
		trow__text(r, list[i].remedy[0] ? list[i].remedy : NULL);
		rc = tables__put(x);
	}
	return rc;
}

static int reason_rows(struct tables *x, const struct table *t)
{
	const struct ledger *l = &x->t->in.ledger;
	int rc = reason_list(x, t, "reason", l->reason, l->nreasons);

	return rc ? rc : reason_list(x, t, "fact", l->fact, l->nfacts);
}

const struct table table_reasons = { .name = "reasons",
				     .meaning = "one row per reason for the verdict, and per fact beside it",
				     .cols = reason_cols,
				     .rows = reason_rows };

/* ---- The host's lines ---- */

static const struct tcol ledger_host_cols[] = {
	TCOL("population", TEXT, "launches, graph launches, copies, sets, other calls"),
	TCOL("calls", COUNT,
	     "entered, by counters that never lose; = recorded + lost_ring + lost_thread + lost_depth + abandoned + in_flight + unexplained"),
	TCOL("nested", COUNT, "of calls: made inside another traced call"),
	TCOL("failed", COUNT, "of calls by the application: returned an error; explains nothing"),
	TCOL("recorded", COUNT, "records handed over"),
	TCOL("lost_ring", COUNT, "no room in the ring"),
	TCOL("lost_thread", COUNT, "no room for one more thread"),
	TCOL("lost_depth", COUNT, "nested too deep"),
	TCOL("lost_writer", COUNT, "of recorded: did not reach the file"),
	TCOL("abandoned", COUNT, "their thread ended or jumped out"),
	TCOL("in_flight", COUNT, "had not returned at the end"),
	TCOL("unexplained", SIGNED, "what nothing explains"),
	TCOL("orphan_returns", COUNT, "open when tracing began; not in calls"),
	TCOL_U("in_file", COUNT, "records of returned calls in the file"),
	{ 0 },
};

static int ledger_host_rows(struct tables *x, const struct table *t)
{
	const struct ledger *l = &x->t->in.ledger;
	int rc = 0;

	if (!l->has_counts || l->host_left_out)
		return 0;
	for (unsigned p = 0; !rc && p < API_POPULATIONS; p++) {
		const struct ledger_line *n = &l->line[p];
		struct trow *r = tables__begin(x, t);

		trow__text(r, n->population);
		trow__number(r, n->calls);
		trow__number(r, n->nested);
		trow__number(r, n->failed);
		trow__number(r, n->recorded);
		trow__number(r, n->lost_ring);
		trow__number(r, n->lost_thread);
		trow__number(r, n->lost_depth);
		trow__number(r, n->lost_writer);
		trow__number(r, n->abandoned);
		trow__number(r, n->in_flight);
		trow__signed(r, n->unexplained);
		trow__number(r, n->orphan_returns);
		trow__seen(r, l->has_in_file, n->in_file);
		rc = tables__put(x);
	}
	return rc;
}

static const char *no_counts(const struct trace *t)
{
	return table_no_host(t)          ? table_no_host(t)
	       : t->in.ledger.has_counts ? NULL
					 : "no counters in this capture";
}

const struct table table_ledger_host = {
	.name = "ledger_host",
	.meaning = "one row per population: calls counted against calls recorded",
	.cols = ledger_host_cols,
	.rows = ledger_host_rows,
	.unobserved = no_counts
};

/* ---- The device's lines ---- */

static const struct tcol ledger_device_cols[] = {
	TCOL("population", TEXT, "launches, graph launches, copies, sets"),
	TCOL("calls", COUNT, "by the application; = all terms + unexplained"),
	TCOL_U("matched", COUNT, "joined to at least one execution with valid times"),
	TCOL_U("failed", COUNT, "returned an error: nothing ran"),
	TCOL_U("captured", COUNT, "recorded into a graph: nothing ran"),
	TCOL_U("no_work", COUNT, "of zero bytes or elements"),
	TCOL_U("outside", COUNT, "not watched by the device observer"),
	TCOL_U("invalid_time", COUNT, "joined, but without valid times"),
	TCOL_U("in_flight", COUNT, "had not run, or was not handed over, at the end"),
	TCOL_U("abandoned", COUNT, "their thread ended or jumped out"),
	TCOL_U("lost_ring", COUNT, "records that found no way into the file"),
	TCOL_U("lost_shim", COUNT, "lost inside the process"),
	TCOL_U("dropped", COUNT, "records that CUPTI counted as dropped"),
	TCOL_U("ambiguous", COUNT, "more than one call of the shim fits"),
	TCOL_U("device_launched", COUNT, "graph launches whose work the device launched itself"),
	TCOL("unexplained", SIGNED, "what nothing explains"),
	TCOL("executions", COUNT, "on the device, of these calls; explains nothing"),
	{ 0 },
};

static int ledger_device_rows(struct tables *x, const struct table *t)
{
	const struct ledger *l = &x->t->in.ledger;
	int rc = 0;

	if (!x->t->in.join)
		return 0;
	for (unsigned p = 0; !rc && p < JOIN_POPULATIONS; p++) {
		const struct ledger_device_line *n = &l->device.line[p];
		struct trow *r = tables__begin(x, t);

		trow__text(r, n->population);
		trow__number(r, n->calls);
		for (unsigned i = 0; i < DEVICE_TERMS; i++)
			trow__seen(r, ledger_device_measured(l, device_terms[i].offset),
				   *(const uint64_t *)((const char *)n + device_terms[i].offset));
		trow__signed(r, n->unexplained);
		trow__number(r, n->executions);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_ledger_device = {
	.name = "ledger_device",
	.meaning = "one row per population: what became of the calls that ask the device for work",
	.cols = ledger_device_cols,
	.rows = ledger_device_rows,
	.unobserved = table_no_device
};

/* ---- losses ---- */

static const struct tcol loss_cols[] = {
	TCOL_W("observer", "host|device", "whose"),
	TCOL("counter", TEXT,
	     "what was counted: a global counter of the host, a loss of a session, or of a probe's batches"),
	TCOL_A("probe", TEXT, "of the shim, where it is a probe's"),
	TCOL_RA("session", "sessions", "where it is a session's"),
	TCOL("count", COUNT, "how many"),
	{ 0 },
};

static int loss_row(struct tables *x, const struct table *t, const char *observer, const char *counter,
		    const char *probe, uint64_t session, uint64_t count)
{
	struct trow *r = tables__begin(x, t);

	trow__text(r, observer);
	trow__text(r, counter);
	trow__text(r, probe);
	trow__if(r, session, session);
	trow__number(r, count);
	return tables__put(x);
}

static int probe_losses(struct tables *x, const struct table *t)
{
	const struct join_totals *n = join__totals(x->t->in.join);
	int rc = 0;

	for (unsigned p = 0; !rc && p < GPUBPF_PROBES; p++) {
		const struct join_gap *g = &n->probe[p];
		const struct {
			const char *name;
			uint64_t n;
		} counters[] = { { "missing_batches", g->lost_batches },
				 { "repeated_batches", g->repeated },
				 { "faults", g->faults },
				 { "cut_items", g->cut_items },
				 { "bad_items", g->bad_items } };

		for (unsigned i = 0; !rc && i < sizeof(counters) / sizeof(counters[0]); i++)
			rc = loss_row(x, t, "device", counters[i].name, usdt_contract_probes[p], 0,
				      counters[i].n);
	}
	return rc ? rc : loss_row(x, t, "device", "names_incomplete", NULL, 0, n->names_incomplete);
}

static int session_losses(struct tables *x, const struct table *t, size_t i)
{
	const struct join_session *s = join__session(x->t->in.join, i);
	int rc = 0;

	for (unsigned k = 0; !rc && k < JOIN_LOSSES; k++)
		if (join_loss_name(k))
			rc = loss_row(x, t, "device", join_loss_name(k), NULL, i + 1, s->loss[k]);
	return rc;
}

static int loss_rows(struct tables *x, const struct table *t)
{
	const struct inspection *in = &x->t->in;
	int rc = 0;

	for (size_t i = 0; !rc && in->counts && i < in->counts->n_global; i++)
		rc = loss_row(x, t, "host", in->counts->global[i]->name, NULL, 0,
			      in->counts->global[i]->count);
	if (!rc && in->join)
		rc = probe_losses(x, t);
	for (size_t i = 0; !rc && in->join && i < join__sessions(in->join); i++)
		rc = session_losses(x, t, i);
	return rc;
}

const struct table table_losses = {
	.name = "losses",
	.meaning =
		"one row per counter of something that was lost; calls of the host by population stand in ledger_host",
	.cols = loss_cols,
	.rows = loss_rows
};

/* ---- timings ---- */

static const struct tcol timing_cols[] = {
	TCOL("id", ID, "number; the same in every export"),
	TCOL_W("of", "call|device call|execution", "what has such times"),
	TCOL("clock", TEXT, "the clock of the times"),
	TCOL("source", TEXT, "who took them"),
	TCOL("quality", TEXT, "what they are worth: valid, or what is wrong"),
	{ 0 },
};

struct timing_words {
	const char *of, *clock, *source, *quality;
};

static const struct timing_words call_timings[] = {
	{ "call", "CLOCK_MONOTONIC", "bpf_uprobe", "valid" },
	{ "call", "CLOCK_MONOTONIC", "bpf_uprobe", "entry_only" },
	{ "call", "CLOCK_MONOTONIC", "bpf_uprobe", "open_at_the_end" },
	{ "call", "CLOCK_MONOTONIC", "bpf_uprobe", "return_before_entry" },
	{ "device call", "CLOCK_MONOTONIC", "cupti_callback", "valid" },
	{ "device call", "CLOCK_MONOTONIC", "cupti_callback", "start_only" },
};

static int timing_row(struct tables *x, const struct table *t, uint64_t id, const struct timing_words *w)
{
	struct trow *r = tables__begin(x, t);

	trow__number(r, id);
	trow__text(r, w->of);
	trow__text(r, w->clock);
	trow__text(r, w->source);
	trow__text(r, w->quality);
	return tables__put(x);
}

static int timing_rows(struct tables *x, const struct table *t)
{
	static const char *const sources[] = { "cupti_timestamp_callback", "cupti_clock_pairs", "not_known" };
	uint64_t id = 0;
	int rc = 0;

	while (!rc && id < TIMING_EXEC - 1) {
		rc = timing_row(x, t, id + 1, &call_timings[id]);
		id++;
	}
	for (unsigned s = 0; s < 3; s++) {
		for (unsigned k = 0; !rc && k < JOIN_TIMES; k++) {
			struct timing_words w = { "execution", "CLOCK_MONOTONIC", sources[s],
						  join_time_name((enum join_time)k) };

			if (k == JOIN_TIME_UNANCHORED || (s == 1 && k == JOIN_TIME_END_FIRST))
				w.clock = "CUPTI";
			rc = timing_row(x, t, ++id, &w);
		}
	}
	return rc;
}

const struct table table_timings = {
	.name = "timings",
	.meaning = "one row per way in which a time was taken; other tables refer to it",
	.cols = timing_cols,
	.rows = timing_rows
};
