/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a sidecar says that calls and executions meant (R53): a track per kind of node, the nodes of a linked event among
 * its arguments, and what was used and what was not.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/sidecar.h"
#include "timeline/priv.h"
#include "util/fmt.h"

struct bound { /* an event that nodes are tied to */
	uint64_t id;
	uint32_t nodes;
	uint32_t value; /* their ids */
};

struct bounds {
	struct bound *v;
	size_t n, at;
};

struct node { /* that is shown */
	size_t number;
	uint32_t name, row; /* row: of the kind */
};

struct tl_semantic {
	const struct sidecar *s;
	struct bounds calls, execs; /* by number of the call in the file, of the execution from 1 */
	struct node *node;          /* by time, outer ones first */
	size_t nnodes;
	struct tl_texts kinds;
	struct tl_rows *rows; /* by kind */
	uint64_t call;
	uint32_t group, report; /* tracks; report: + 1 */
	uint32_t unmatched_name, unused_name, withheld_name;
};

/* ---- What nodes an event has ---- */

struct tie {
	uint64_t id;
	size_t node;
};

static int by_id(const void *a, const void *b)
{
	const struct tie *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

#define IDS_MAX 200

/* How many they are stands beside it. */
static void add_id(char *text, const char *id, bool *cut)
{
	size_t n = strlen(text);
	bool fits = !*cut && n + strlen(id) + 8 < IDS_MAX;

	if (!*cut)
		snprintf(text + n, IDS_MAX - n, "%s%s", n ? ", " : "", fits ? id : "\xe2\x80\xa6");
	*cut = !fits;
}

static int add_bounds(struct tl *tl, struct bounds *b, struct tie *tie, size_t n)
{
	const struct sidecar *s = tl->semantic->s;

	if (n)
		qsort(tie, n, sizeof(*tie), by_id);
	b->v = calloc(n + 1, sizeof(*b->v));
	if (!b->v)
		return -ENOMEM;
	for (size_t i = 0; i < n;) {
		struct bound *to = &b->v[b->n++];
		char ids[IDS_MAX] = "";
		size_t last = SIZE_MAX;
		bool cut = false;

		to->id = tie[i].id;
		for (; i < n && tie[i].id == to->id; i++) {
			if (tie[i].node == last)
				continue;
			last = tie[i].node;
			to->nodes++;
			add_id(ids, sidecar__node(s, last)->id, &cut);
		}
		to->value = tl_texts__add(&tl->values, ids);
		if (!to->value)
			return -ENOMEM;
	}
	return 0;
}

static int find_bounds(struct tl *tl, enum sidecar_kind kind, struct bounds *b)
{
	const struct sidecar *s = tl->semantic->s;
	size_t all = sidecar__targets(s), n = 0;
	struct tie *tie = calloc(all + 1, sizeof(*tie));
	int rc;

	if (!tie)
		return -ENOMEM;
	for (size_t i = 0; i < all; i++) {
		const struct sidecar_target *t = sidecar__target(s, i);

		if (t->kind == kind)
			tie[n++] = (struct tie){ t->id, sidecar__link(s, t->link)->node };
	}
	rc = add_bounds(tl, b, tie, n);
	free(tie);
	return rc;
}

static void arguments(struct bounds *b, struct tl_event *e, uint64_t id)
{
	while (b->at < b->n && b->v[b->at].id < id)
		b->at++;
	if (b->at == b->n || b->v[b->at].id != id)
		return;
	tl_arg(e, TL_KEY_SEMANTIC, TL_VALUE, b->v[b->at].value);
	if (b->v[b->at].nodes > 1)
		tl_arg(e, TL_KEY_SEMANTIC_NODES, TL_UINT, b->v[b->at].nodes);
}

void tl_semantic__seen(struct tl *tl)
{
	tl->semantic->call++;
}

void tl_semantic__call(struct tl *tl, struct tl_event *e)
{
	arguments(&tl->semantic->calls, e, tl->semantic->call);
}

void tl_semantic__exec(struct tl *tl, struct tl_event *e, size_t index)
{
	arguments(&tl->semantic->execs, e, index + 1);
}

/* ---- Nodes ---- */

static int by_time(const void *a, const void *b, void *sidecar)
{
	const struct node *x = a, *y = b;
	const struct sidecar_span *s = &sidecar__node(sidecar, x->number)->span,
				  *t = &sidecar__node(sidecar, y->number)->span;

	if (s->start != t->start)
		return s->start < t->start ? -1 : 1;
	if (s->end != t->end)
		return s->end > t->end ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int add_node(struct tl *tl, size_t number)
{
	struct tl_semantic *m = tl->semantic;
	const struct sidecar_node *from = sidecar__node(m->s, number);
	struct node *to = &m->node[m->nnodes];
	uint32_t kind;

	if (!from->span.there)
		return 0;
	kind = tl_texts__add(&m->kinds, from->kind ? from->kind : "nodes without a kind");
	*to = (struct node){ number, tl_texts__add(&tl->names, from->label), kind - 1 };
	m->nnodes++;
	return kind && to->name ? 0 : -ENOMEM;
}

static int add_rows(struct tl *tl)
{
	struct tl_semantic *m = tl->semantic;

	m->rows = calloc(m->kinds.n + 1, sizeof(*m->rows));
	m->group = tl_tracks__add(&tl->tracks, TL_GROUP, 0, "Semantics, by the sidecar");
	if (!m->rows || m->group == TL_NO_TRACK)
		return -ENOMEM;
	for (size_t i = 0; i < m->kinds.n; i++) {
		m->rows[i].track = tl_tracks__add(&tl->tracks, TL_LANE, m->group + 1, m->kinds.text[i]);
		if (m->rows[i].track == TL_NO_TRACK)
			return -ENOMEM;
	}
	return 0;
}

int tl_semantic__prepare(struct tl *tl)
{
	const struct sidecar *s = tl->t->sidecar;
	size_t n = s ? sidecar__nodes(s) : 0;
	struct tl_semantic *m;
	int rc;

	tl->coverage_name = tl_texts__add(&tl->names, "semantic coverage");
	if (!tl->coverage_name)
		return -ENOMEM;
	if (!s)
		return 0;
	m = tl->semantic = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->s = s;
	m->unmatched_name = tl_texts__add(&tl->names, "link of the sidecar not matched");
	m->unused_name = tl_texts__add(&tl->names, "node of the sidecar not used");
	m->withheld_name = tl_texts__add(&tl->names, "interval of the sidecar withheld");
	m->node = calloc(n + 1, sizeof(*m->node));
	if (!m->unmatched_name || !m->unused_name || !m->withheld_name || !m->node)
		return -ENOMEM;
	rc = find_bounds(tl, SIDECAR_CALL, &m->calls);
	if (!rc)
		rc = find_bounds(tl, SIDECAR_EXECUTION, &m->execs);
	for (size_t i = 0; !rc && i < n; i++)
		rc = add_node(tl, i);
	if (!rc && m->nnodes)
		qsort_r(m->node, m->nnodes, sizeof(*m->node), by_time, (void *)s);
	return rc ? rc : add_rows(tl);
}

void tl_semantic__restart(struct tl *tl)
{
	struct tl_semantic *m = tl->semantic;

	if (!m)
		return;
	m->call = 0;
	m->calls.at = m->execs.at = 0;
	for (size_t i = 0; i < m->kinds.n; i++)
		tl_rows__restart(&m->rows[i]);
}

static void node_args(struct tl *tl, struct tl_event *e, const struct sidecar_node *n)
{
	const struct sidecar *s = tl->semantic->s;
	size_t targets = 0;

	for (size_t i = 0; i < n->nlinks; i++)
		targets += sidecar__link(s, n->first_link + i)->ntargets;
	tl_text(e, TL_KEY_NODE, n->id);
	if (n->kind)
		tl_text(e, TL_KEY_NODE_KIND, n->kind);
	if (n->parent)
		tl_text(e, TL_KEY_PARENT, sidecar__node(s, n->parent - 1)->id);
	if (n->attributes)
		tl_text(e, TL_KEY_ATTRIBUTES, n->attributes);
	tl_arg(e, TL_KEY_LINKS, TL_UINT, n->nlinks);
	tl_arg(e, TL_KEY_LINKS_MATCHED, TL_UINT, n->matched);
	tl_arg(e, TL_KEY_TARGETS, TL_UINT, targets);
	if (n->untimed)
		tl_arg(e, TL_KEY_TARGETS_UNTIMED, TL_UINT, n->untimed);
}

static int show(struct tl *tl, const struct node *from)
{
	struct tl_semantic *m = tl->semantic;
	const struct sidecar_node *n = sidecar__node(m->s, from->number);
	struct tl_rows *rows = &m->rows[from->row];
	struct tl_event *e = tl__new(tl, TL_SLICE, TIMELINE_SEMANTIC, rows->track, n->span.start);
	int rc = 0;

	e->name = from->name;
	e->end = n->span.end;
	e->timing = !n->own.there ? TL_DERIVED : n->realtime ? TL_SIDECAR_WALL : TL_SIDECAR;
	if (n->span.closed)
		e->track = tl_rows__place(tl, rows, n->span.start, n->span.end, &rc);
	else
		e->type = TL_INSTANT; /* no end is known */
	if (rc)
		return rc;
	if (e->track == TL_NO_TRACK) {
		e->track = rows->track;
		e->type = TL_INSTANT;
		tl_arg(e, TL_KEY_NO_ROW, TL_BOOL, 1);
		tl_arg(e, TL_KEY_DURATION, TL_UINT, n->span.end - n->span.start);
	}
	node_args(tl, e, n);
	return tl__event(tl, e);
}

/* ---- What was not used ---- */

static struct tl_event *report(struct tl *tl, uint32_t name)
{
	struct tl_semantic *m = tl->semantic;
	struct tl_event *e;

	if (!m->report)
		m->report = tl_tracks__add(&tl->tracks, TL_LANE, 0,
					   "gpubpf: what of the sidecar was not used") +
			    1;
	if (!m->report)
		return NULL;
	e = tl__new(tl, TL_INSTANT, TIMELINE_MARK, m->report - 1, tl->t->start);
	e->name = name;
	e->timing = TL_WHOLE;
	return e;
}

static int put_unmatched(struct tl *tl)
{
	const struct sidecar *s = tl->semantic->s;
	int rc = 0;

	for (size_t i = 0; !rc && i < sidecar__links(s); i++) {
		const struct sidecar_link *l = sidecar__link(s, i);
		struct tl_event *e;
		char text[256];

		if (l->status == SIDECAR_MATCHED)
			continue;
		e = report(tl, tl->semantic->unmatched_name);
		if (!e)
			return -ENOMEM;
		tl_text(e, TL_KEY_NODE, sidecar__node(s, l->node)->id);
		tl_text(e, TL_KEY_LINK, sidecar__describe(s, l, text, sizeof(text)));
		tl_text(e, TL_KEY_TEXT, sidecar_status_text(l->status));
		rc = tl__event(tl, e);
	}
	return rc;
}

static int put_node(struct tl *tl, uint32_t name, const struct sidecar_node *n, const char *why)
{
	struct tl_event *e = report(tl, name);

	if (!e)
		return -ENOMEM;
	tl_text(e, TL_KEY_NODE, n->id);
	tl_text(e, TL_KEY_TEXT, why);
	return tl__event(tl, e);
}

static int put_unused(struct tl *tl)
{
	const struct tl_semantic *m = tl->semantic;
	int rc = 0;

	for (size_t i = 0; !rc && i < sidecar__nodes(m->s); i++) {
		const struct sidecar_node *n = sidecar__node(m->s, i);

		if (n->use != SIDECAR_USED)
			rc = put_node(tl, m->unused_name, n, sidecar_use_name(n->use));
		if (!rc && n->has_interval && n->interval != SIDECAR_INSIDE)
			rc = put_node(tl, m->withheld_name, n, sidecar_interval_name(n->interval));
	}
	return rc;
}

int tl_semantic__walk(struct tl *tl)
{
	struct tl_semantic *m = tl->semantic;
	int rc = 0;

	for (size_t i = 0; m && !rc && i < m->nnodes; i++)
		rc = show(tl, &m->node[i]);
	if (m && !rc)
		rc = put_unmatched(tl);
	return m && !rc ? put_unused(tl) : rc;
}

/* ---- Coverage ---- */

static int put_coverage(struct tl *tl, enum sidecar_carrier carrier, const struct sidecar_coverage *c)
{
	struct tl_event *e = tl__new(tl, TL_INSTANT, TIMELINE_SKELETON, tl->manifest_track, tl->t->start);

	e->name = tl->coverage_name;
	e->timing = TL_WHOLE;
	tl_text(e, TL_KEY_CARRIER, sidecar_carrier_name(carrier));
	if (carrier == SIDECAR_CARRIER_FILE)
		tl_text(e, TL_KEY_SCHEMA, SIDECAR_SCHEMA);
	tl_arg(e, TL_KEY_NODES, TL_UINT, c->nodes);
	tl_arg(e, TL_KEY_NODES_USED, TL_UINT, c->used);
	tl_arg(e, TL_KEY_NODES_UNUSED, TL_UINT, c->nodes - c->used);
	if (c->has_links) {
		tl_arg(e, TL_KEY_LINKS, TL_UINT, c->links);
		tl_arg(e, TL_KEY_LINKS_MATCHED, TL_UINT, c->matched);
		tl_arg(e, TL_KEY_LINKS_UNMATCHED, TL_UINT, c->links - c->matched);
		tl_arg(e, TL_KEY_TARGETS, TL_UINT, c->targets);
	}
	if (c->has_intervals) {
		tl_arg(e, TL_KEY_INTERVALS, TL_UINT, c->intervals);
		tl_arg(e, TL_KEY_INTERVALS_WITHHELD, TL_UINT, c->withheld);
	}
	return tl->f->event(tl, e);
}

int tl_semantic__coverage(struct tl *tl)
{
	struct sidecar_coverage c[SIDECAR_CARRIERS];
	int rc = 0;

	sidecar_coverage(tl->t->sidecar, tl->t, c);
	for (unsigned i = 0; !rc && i < SIDECAR_CARRIERS; i++)
		if (c[i].asked)
			rc = put_coverage(tl, (enum sidecar_carrier)i, &c[i]);
	return rc;
}

void tl_semantic__clear(struct tl *tl)
{
	struct tl_semantic *m = tl->semantic;

	if (!m)
		return;
	for (size_t i = 0; m->rows && i < m->kinds.n; i++)
		tl_rows__clear(&m->rows[i]);
	free(m->rows);
	tl_texts__clear(&m->kinds);
	free(m->calls.v);
	free(m->execs.v);
	free(m->node);
	free(m);
}
