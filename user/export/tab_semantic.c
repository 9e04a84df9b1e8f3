// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of what calls and executions meant: a sidecar's nodes and links, and what all carriers of meaning brought. */
#include <stdio.h>

#include "export/tables.h"
#include "join/join.h"
#include "sidecar/sidecar.h"

static const char *no_sidecar(const struct trace *t)
{
	return t->sidecar ? NULL : "exported without --sidecar";
}

/* ---- semantic_coverage ---- */

static const struct tcol coverage_cols[] = {
	TCOL_W("carrier", SIDECAR_CARRIER_WORDS,
	       "sidecar: `--sidecar`; nvtx, external_ids: recorded, rows of markers and of external_ids"),
	TCOL("asked", BOOL, "it was given, or recorded; else nothing of it was measured"),
	TCOL_U("nodes", COUNT, "that it has"),
	TCOL_U("nodes_used", COUNT, "with a time or a tie to calls and executions"),
	TCOL_U("nodes_unused", COUNT, "without"),
	TCOL_AU("links", COUNT,
		"that it has; absent: it has none of its own (ranges, by their thread and time)"),
	TCOL_AU("links_matched", COUNT, "tied to at least one row"),
	TCOL_AU("links_unmatched", COUNT, "tied to nothing"),
	TCOL_AU("targets", COUNT, "rows that they are tied to"),
	TCOL_AU("targets_untimed", COUNT,
		"of them: without a start and an end on this clock; absent: nobody asks that of it"),
	TCOL_AU("intervals", COUNT, "given by itself; absent: it gives none"),
	TCOL_AU("intervals_withheld", COUNT,
		"of them: not inside what the capture's clock covers, or not tied to it"),
	{ 0 },
};

static void counts(struct trow *r, const struct sidecar_coverage *c)
{
	trow__number(r, c->nodes);
	trow__number(r, c->used);
	trow__number(r, c->nodes - c->used);
	trow__if(r, c->has_links, c->links);
	trow__if(r, c->has_links, c->matched);
	trow__if(r, c->has_links, c->links - c->matched);
	trow__if(r, c->has_links, c->targets);
	trow__if(r, c->has_links && c->has_intervals, c->untimed);
	trow__if(r, c->has_intervals, c->intervals);
	trow__if(r, c->has_intervals, c->withheld);
}

static int coverage_rows(struct tables *x, const struct table *t)
{
	struct sidecar_coverage c[SIDECAR_CARRIERS];
	int rc = 0;

	sidecar_coverage(x->t->sidecar, x->t, c);
	for (unsigned i = 0; !rc && i < SIDECAR_CARRIERS; i++) {
		struct trow *r = tables__begin(x, t);

		trow__text(r, sidecar_carrier_name((enum sidecar_carrier)i));
		trow__number(r, c[i].asked);
		if (c[i].asked)
			counts(r, &c[i]);
		else
			while (t->cols[r->n].key)
				trow__unmeasured(r);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_semantic_coverage = {
	.name = "semantic_coverage",
	.meaning = "one row per carrier of meaning: what it brought, and what of that is tied to the capture",
	.cols = coverage_cols,
	.rows = coverage_rows
};

/* ---- semantic_nodes ---- */

static const struct tcol node_cols[] = {
	TCOL("id", ID, "number, in the order of the sidecar"),
	TCOL("name", TEXT, "its id in the sidecar"),
	TCOL("label", TEXT, "for people; nothing is tied by it"),
	TCOL_A("kind", TEXT, "that the sidecar gives it"),
	TCOL_RA("parent", "semantic_nodes", "that it is a part of"),
	TCOL_A("attributes", TEXT, "that the sidecar gives it, as JSON"),
	TCOL_W("use", SIDECAR_USE_WORDS,
	       "used: tied to something, or with an interval, or a node below it is; empty: it has neither links, nor an interval, "
	       "nor such nodes; unmatched: none of its links; withheld: all that it has is an interval that is"),
	TCOL_WA("interval", SIDECAR_INTERVAL_WORDS,
		"of one that the sidecar gives: withheld when it is not inside what the capture's clock covers, or of the "
		"wall clock, which nothing ties to the capture there"),
	TCOL_WA("interval_clock", "monotonic|realtime", "that it is of"),
	TCOL_A("interval_start", NUMBER, "ns, as the sidecar gives it"),
	TCOL_A("interval_end", NUMBER, "likewise"),
	TCOL_AU("start_ns", TIME, "of what it spans; not measured: what it is tied to has no times"),
	TCOL_AU("end_ns", TIME, "likewise"),
	TCOL_AU("duration_ns", DURATION, "between the two"),
	TCOL_WA("times_from", "interval|targets",
		"the interval that the sidecar gives, or all that it and the nodes below it are tied to"),
	TCOL("links", COUNT, "that it has"),
	TCOL("links_matched", COUNT, "of them"),
	TCOL("targets_untimed", COUNT,
	     "rows that it is tied to and that have no start and end on this clock"),
	{ 0 },
};

static void span_cells(struct trow *r, const struct sidecar_node *n)
{
	const struct sidecar_span *s = &n->span;

	if (n->use != SIDECAR_USED) {
		for (unsigned i = 0; i < 4; i++)
			trow__absent(r);
		return;
	}
	trow__seen(r, s->there, s->start);
	trow__seen(r, s->there && s->closed, s->end);
	trow__seen(r, s->there && s->closed, s->end - s->start);
	trow__text(r, !s->there ? NULL : n->own.there ? "interval" : "targets");
}

static int node_rows(struct tables *x, const struct table *t)
{
	const struct sidecar *s = x->t->sidecar;
	int rc = 0;

	for (size_t i = 0; s && !rc && i < sidecar__nodes(s); i++) {
		const struct sidecar_node *n = sidecar__node(s, i);
		struct trow *r = tables__begin(x, t);

		trow__number(r, i + 1);
		trow__text(r, n->id);
		trow__text(r, n->label);
		trow__text(r, n->kind);
		trow__if(r, n->parent, n->parent);
		trow__text(r, n->attributes);
		trow__text(r, sidecar_use_name(n->use));
		trow__text(r, n->has_interval ? sidecar_interval_name(n->interval) : NULL);
		trow__text(r, !n->has_interval ? NULL : n->realtime ? "realtime" : "monotonic");
		trow__if(r, n->has_interval, n->start_ns);
		trow__if(r, n->has_interval, n->end_ns);
		span_cells(r, n);
		trow__number(r, n->nlinks);
		trow__number(r, n->matched);
		trow__number(r, n->untimed);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_semantic_nodes = { .name = "semantic_nodes",
					    .meaning = "one row per node of the sidecar",
					    .cols = node_cols,
					    .rows = node_rows,
					    .unobserved = no_sidecar };

/* ---- semantic_links ---- */

static const struct tcol link_cols[] = {
	TCOL("id", ID, "number, in the order of the sidecar"),
	TCOL_R("node", "semantic_nodes", "whose"),
	TCOL_W("kind", SIDECAR_KIND_WORDS, "what it names"),
	TCOL_W("status", SIDECAR_STATUS_WORDS,
	       "none: the capture has no such row or id; differs: it has the row with another value; ambiguous: a correlation id that "
	       "several calls have; not_observed: nobody saw what it names"),
	TCOL_A("named_row", NUMBER, "of a call, a device_call or an execution: the row's id that it gives"),
	TCOL_A("named_entry_ns", NUMBER, "of a call: the entry that it gives"),
	TCOL_A("named_correlation", NUMBER, "the correlation id that it gives"),
	TCOL_A("named_session", NUMBER, "of a correlation and an external id: the session that it gives"),
	TCOL_A("named_external_kind", TEXT, "of an external id: the kind that it gives"),
	TCOL_A("named_external", HEX, "of an external id: that id"),
	TCOL("targets", COUNT, "rows that it is tied to"),
	{ 0 },
};

static int link_rows(struct tables *x, const struct table *t)
{
	const struct sidecar *s = x->t->sidecar;
	int rc = 0;

	for (size_t i = 0; s && !rc && i < sidecar__links(s); i++) {
		const struct sidecar_link *l = sidecar__link(s, i);
		bool external = l->kind == SIDECAR_EXTERNAL, id = l->kind == SIDECAR_CORRELATION,
		     row = !external && !id, call = l->kind == SIDECAR_CALL;
		struct trow *r = tables__begin(x, t);

		trow__number(r, i + 1);
		trow__number(r, l->node + 1);
		trow__text(r, sidecar_kind_name(l->kind));
		trow__text(r, sidecar_status_name(l->status));
		trow__if(r, row, l->id);
		trow__if(r, call, l->proof);
		trow__if(r, !external && !call, id ? l->id : l->proof);
		trow__if(r, !row, l->proof);
		trow__text(r, external ? join_external_name(l->custom) : NULL);
		trow__if(r, external, l->id);
		trow__number(r, l->ntargets);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_semantic_links = { .name = "semantic_links",
					    .meaning = "one row per link of a node of the sidecar",
					    .cols = link_cols,
					    .rows = link_rows,
					    .unobserved = no_sidecar };

/* ---- semantic_targets ---- */

static const struct tcol target_cols[] = {
	TCOL_R("link", "semantic_links", "whose"),
	TCOL_R("node", "semantic_nodes", "whose link that is"),
	TCOL_RA("call", "calls", "that it is tied to; or"),
	TCOL_RA("device_call", "device_calls", "that it is tied to; or"),
	TCOL_RA("execution", "executions", "that it is tied to"),
	{ 0 },
};

static int target_rows(struct tables *x, const struct table *t)
{
	const struct sidecar *s = x->t->sidecar;
	int rc = 0;

	for (size_t i = 0; s && !rc && i < sidecar__targets(s); i++) {
		const struct sidecar_target *to = sidecar__target(s, i);
		struct trow *r = tables__begin(x, t);

		trow__number(r, to->link + 1);
		trow__number(r, sidecar__link(s, to->link)->node + 1);
		trow__if(r, to->kind == SIDECAR_CALL, to->id);
		trow__if(r, to->kind == SIDECAR_DEVICE_CALL, to->id);
		trow__if(r, to->kind == SIDECAR_EXECUTION, to->id);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_semantic_targets = {
	.name = "semantic_targets",
	.meaning = "one row per call, device_call and execution that a link of the sidecar is tied to",
	.cols = target_cols,
	.rows = target_rows,
	.unobserved = no_sidecar
};
