/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the capture says of itself: its ledger, readiness, and what fails whatever is asked. */
#include <inttypes.h>
#include <string.h>

#include "check/priv.h"
#include "gate/stored.h"

static const char ledger_source[] = "ledger: counters of both observers in the capture";
static const char ledger_grain[] = "one count per call";

static void note_counts(struct check_cx *x, struct check_result *r)
{
	const struct ledger *l = &x->t.in.ledger;

	check_source(x, r, ledger_source, ledger_grain);
	check_figure(r, "calls", l->total.calls);
	if (x->t.in.join)
		check_figure(r, "executions", l->device.total.executions);
}

/* Launches and graph launches that nothing explains, by one observer's counters or by the other's records (R32). */
static uint64_t unexplained(const struct ledger *l)
{
	uint64_t n = 0;

	for (unsigned p = 0; p < 2; p++) {
		int64_t host = l->line[p].unexplained;

		n += host < 0 ? -(uint64_t)host : (uint64_t)host;
		n += l->device.line[p].unexplained > 0 ? (uint64_t)l->device.line[p].unexplained : 0;
	}
	return n;
}

void check_evidence(struct check_cx *x)
{
	const struct ledger *l = &x->t.in.ledger;
	uint64_t n = l->has_counts ? unexplained(l) : 0;
	uint64_t nodes = x->t.in.join ? join__totals(x->t.in.join)->graph_shortfall : 0;
	struct check_result *r;

	if (n) {
		r = check_add(x, "unexplained launches", NULL);
		check_say(x, r, "%" PRIu64 " launches left no trace, and nothing explains it", n);
		note_counts(x, r);
		check_figure(r, "unexplained", n);
		/* without the host observer those that were captured into a graph cannot be told from lost ones */
		r->state = l->host_left_out ? CHECK_NOT_EVALUABLE : CHECK_FAILED;
		check_advise(x, r, l->host_left_out ? CHECK_ADVICE_HOST : CHECK_ADVICE_WHICH_LAUNCH);
	}
	if (nodes) {
		r = check_add(x, "graph shortfall", NULL);
		check_say(x, r,
			  "launches of graphs ran %" PRIu64
			  " nodes less than the launch of the same graph that ran most",
			  nodes);
		check_source(x, r, "device observer: records of the nodes of each graph launch",
			     "one record per node");
		check_figure(r, "graph_shortfall", nodes);
		r->state = CHECK_FAILED;
		check_advise(x, r, CHECK_ADVICE_WHICH_GRAPH);
	}
}

static enum check_state ledger_state(struct check_cx *x, struct check_result *r, bool reconciled)
{
	const struct ledger *l = &x->t.in.ledger;

	switch (l->verdict) {
	case LEDGER_RECONCILED:
		return CHECK_PASSED;
	case LEDGER_UNCONTRADICTED:
		if (!reconciled)
			return CHECK_PASSED;
		if (l->host_left_out) {
			check_advise(x, r, CHECK_ADVICE_HOST);
			return CHECK_NOT_EVALUABLE;
		}
		if (!check_has_device(x)) {
			check_advise(x, r, CHECK_ADVICE_DEVICE);
			return CHECK_NOT_EVALUABLE;
		}
		for (unsigned i = 0; i < l->nfacts; i++)
			check_advise_text(x, r, l->fact[i].text, l->fact[i].remedy);
		return CHECK_FAILED;
	case LEDGER_INCOMPLETE:
		check_advise_ledger(x, r);
		return CHECK_FAILED;
	default:
		check_advise_ledger(x, r);
		return CHECK_NOT_EVALUABLE;
	}
}

void check_ledger(struct check_cx *x)
{
	struct check_result *r;

	if (!x->c->ledger)
		return;
	r = check_add(x, "ledger", NULL);
	check_say(x, r, "%s; at least %s is wanted", x->to->headline ? x->to->headline : "", x->c->ledger);
	note_counts(x, r);
	json_object_set_new(r->figures, "verdict", json_string(ledger_verdict_name(x->t.in.ledger.verdict)));
	r->state = ledger_state(x, r, !strcmp(x->c->ledger, "reconciled"));
}

void check_readiness(struct check_cx *x)
{
	struct check_result *r;
	struct gate_sum sum;
	const char *remedy = "";
	char text[320];
	bool proven;

	if (!x->c->readiness)
		return;
	proven = !strcmp(x->c->readiness, "proven");
	r = check_add(x, "readiness", NULL);
	gate_sum(x->t.in.meta, &sum);
	if (!sum.stated) {
		check_say(x, r, "the capture says nothing of readiness");
		check_advise(x, r, CHECK_ADVICE_READINESS);
		return;
	}
	gate_sum_text(&sum, text, sizeof(text));
	check_say(x, r, "%s", text);
	check_source(
		x, r,
		"the shim's word on its own capture, and the host observer's first context, module and work",
		"one word per process");
	check_figure(r, "processes", sum.processes);
	check_figure(r, "processes_ready", sum.ready_processes);
	check_figure(r, "processes_proven", sum.proven);
	if (!sum.ready) {
		const char *reason = sum.first->reason ? gate_stored_reason(sum.first->reason, &remedy)
						       : NULL;

		r->state = CHECK_FAILED;
		check_advise_text(x, r, reason ? reason : "capture that was ready", remedy);
	} else if (proven && sum.contradicted) {
		r->state = CHECK_FAILED;
		check_say(x, r, "; that it came before CUDA was used is contradicted in %zu",
			  sum.contradicted);
	} else if (proven && sum.proven < sum.processes) {
		check_say(x, r, "; the order is proven in %zu of %zu processes", sum.proven, sum.processes);
		check_advise(x, r, CHECK_ADVICE_ORDER);
	} else {
		r->state = CHECK_PASSED;
	}
}
