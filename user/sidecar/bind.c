// SPDX-License-Identifier: GPL-2.0-or-later
/* A sidecar against its capture: by identity alone, and by all of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/priv.h"
#include "trace/identity.h"
#include "trace/trace.h"
#include "util/err.h"

struct want { /* a row that a link asks for */
	uint64_t number;
	size_t link;
};

struct pair { /* a correlation id that a link asks for */
	const struct join_session *session;
	uint32_t correlation;
	size_t link;
	uint32_t calls; /* that have it */
};

struct bind {
	struct sidecar *s;
	struct trace *t;
	struct err *err;
	struct want *call, *work; /* by number: of the file, of calls for work */
	size_t ncall, nwork, call_room, work_room;
	struct pair *pair; /* by session and correlation id */
	size_t npair, pair_room;
	size_t *external; /* links, by what they name */
	size_t nexternal, external_room;
	/* of the pass */
	uint64_t calls;
	size_t at_call, at_work;
};

/* ---- Lists ---- */

static int grow(void **v, size_t n, size_t *room, size_t size)
{
	size_t want = *room ? *room * 2 : 64;
	void *grown;

	if (n < *room)
		return 0;
	grown = realloc(*v, want * size);
	if (!grown)
		return -ENOMEM;
	*v = grown;
	*room = want;
	return 0;
}

static int want_row(struct want **v, size_t *n, size_t *room, uint64_t number, size_t link)
{
	int rc = grow((void **)v, *n, room, sizeof(**v));

	if (!rc)
		(*v)[(*n)++] = (struct want){ number, link };
	return rc;
}

static int too_much(const struct bind *b)
{
	return err_set(b->err, -E2BIG,
		       "%s: its links are tied to more than %u calls and executions: split it", b->s->name,
		       SIDECAR_TARGETS_MAX);
}

static int want_id(struct bind *b, const struct join_session *session, uint64_t correlation, size_t link)
{
	int rc = grow((void **)&b->pair, b->npair, &b->pair_room, sizeof(*b->pair));

	if (!rc && b->npair == SIDECAR_TARGETS_MAX)
		rc = too_much(b);
	if (!rc)
		b->pair[b->npair++] = (struct pair){ session, (uint32_t)correlation, link, 0 };
	return rc;
}

static int by_number(const void *a, const void *b)
{
	const struct want *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

static int by_id(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	if (x->session != y->session)
		return (uintptr_t)x->session < (uintptr_t)y->session ? -1 : 1;
	if (x->correlation != y->correlation)
		return x->correlation < y->correlation ? -1 : 1;
	return (x->link > y->link) - (x->link < y->link);
}

static int add_target(struct bind *b, size_t link, enum sidecar_kind kind, uint64_t id,
		      struct sidecar_span span)
{
	struct sidecar *s = b->s;
	int rc;

	if (s->ntargets == SIDECAR_TARGETS_MAX)
		return too_much(b);
	rc = grow((void **)&s->target, s->ntargets, &s->target_room, sizeof(*s->target));
	if (!rc)
		s->target[s->ntargets++] = (struct sidecar_target){ link, kind, id, span };
	return rc;
}

/* ---- Executions and calls that the shim saw ---- */

/* Of a process that was not asked for it is a target without a time. */
static struct sidecar_span span_of(const struct join_session *session, bool timed, bool closed,
				   uint64_t start, uint64_t end)
{
	bool there = timed && session->proc && session->proc->selected;

	return (struct sidecar_span){ there, there && closed, start, closed ? end : start };
}

static int exec_target(struct bind *b, size_t link, size_t i, const struct join_activity *a)
{
	return add_target(b, link, SIDECAR_EXECUTION, i + 1,
			  span_of(join__lane(b->t->in.join, a->lane)->session, a->time == JOIN_TIME_VALID,
				  true, a->start, a->end));
}

static int shim_target(struct bind *b, size_t link, size_t i, const struct join_shim_call *c)
{
	return add_target(b, link, SIDECAR_DEVICE_CALL, i + 1,
			  span_of(c->session, true, c->has_end, c->start, c->end));
}

static int exec_link(struct bind *b, size_t i, struct sidecar_link *l)
{
	struct join_activity a;

	l->status = SIDECAR_NONE;
	if (l->id > join__activities(b->t->in.join))
		return 0;
	join__activity_brief(b->t->in.join, l->id - 1, &a);
	l->status = a.correlation == l->proof ? SIDECAR_MATCHED : SIDECAR_DIFFERS;
	return l->status ? 0 : exec_target(b, i, l->id - 1, &a);
}

static int shim_link(struct bind *b, size_t i, struct sidecar_link *l)
{
	struct join_shim_call c;

	l->status = SIDECAR_NONE;
	if (l->id > join__shim_calls(b->t->in.join))
		return 0;
	join__shim_call(b->t->in.join, l->id - 1, &c);
	l->status = c.correlation == l->proof ? SIDECAR_MATCHED : SIDECAR_DIFFERS;
	return l->status ? 0 : shim_target(b, i, l->id - 1, &c);
}

/* ---- By correlation id ---- */

static int by_external(const struct sidecar_link *x, const struct sidecar_link *y)
{
	if (x->proof != y->proof)
		return x->proof < y->proof ? -1 : 1;
	if (x->custom != y->custom)
		return x->custom < y->custom ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static int by_external_of(const void *a, const void *b, void *links)
{
	const struct sidecar_link *link = links;
	const size_t *x = a, *y = b;
	int c = by_external(&link[*x], &link[*y]);

	return c ? c : (*x > *y) - (*x < *y);
}

static size_t session_number(const struct join *j, const struct join_session *session)
{
	size_t n = join__sessions(j);

	for (size_t i = 0; i < n; i++)
		if (join__session(j, i) == session)
			return i + 1;
	return 0;
}

static int correlated_by(struct bind *b, const struct join_external *e, size_t session)
{
	const struct sidecar_link key = { .id = e->id, .custom = e->kind, .proof = session },
				  *link = b->s->link;
	size_t low = 0, high = b->nexternal;
	int rc = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_external(&link[b->external[middle]], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; !rc && low < b->nexternal && by_external(&link[b->external[low]], &key) == 0; low++)
		rc = want_id(b, e->session, e->correlation, b->external[low]);
	return rc;
}

static int find_externals(struct bind *b)
{
	const struct join *j = b->t->in.join;
	const struct join_session *last = NULL;
	size_t number = 0;
	int rc = 0;

	if (!b->nexternal)
		return 0;
	qsort_r(b->external, b->nexternal, sizeof(*b->external), by_external_of, b->s->link);
	for (size_t i = 0; !rc && i < join__externals(j); i++) {
		struct join_external e;

		join__external(j, i, &e);
		if (e.session != last) {
			last = e.session;
			number = session_number(j, last);
		}
		rc = correlated_by(b, &e, number);
	}
	return rc;
}

static struct pair *pairs_of(const struct bind *b, const struct join_session *session, uint32_t correlation)
{
	const struct pair key = { session, correlation, 0, 0 };
	size_t low = 0, high = b->npair;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_id(&b->pair[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == b->npair || b->pair[low].session != session || b->pair[low].correlation != correlation)
		return NULL;
	return &b->pair[low];
}

static bool same_id(const struct bind *b, const struct pair *p, const struct pair *first)
{
	return p < b->pair + b->npair && p->session == first->session && p->correlation == first->correlation;
}

/* An external id may have been pushed for one call twice. */
static void sort_pairs(struct bind *b)
{
	size_t n = 0;

	if (b->npair)
		qsort(b->pair, b->npair, sizeof(*b->pair), by_id);
	for (size_t i = 0; i < b->npair; i++)
		if (!n || by_id(&b->pair[n - 1], &b->pair[i]) != 0)
			b->pair[n++] = b->pair[i];
	b->npair = n;
}

static int correlated_calls(struct bind *b)
{
	const struct join *j = b->t->in.join;
	size_t n = join__shim_calls(j);
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		struct join_shim_call c;
		struct pair *first;

		join__shim_call(j, i, &c);
		first = pairs_of(b, c.session, c.correlation);
		for (struct pair *p = first; !rc && first && same_id(b, p, first); p++) {
			p->calls++;
			rc = shim_target(b, p->link, i, &c);
			if (!rc && c.link == JOIN_SHIM_JOINED)
				rc = want_row(&b->work, &b->nwork, &b->work_room, c.host_call, p->link);
		}
	}
	return rc;
}

static int correlated(struct bind *b)
{
	const struct join *j = b->t->in.join;
	size_t n = join__activities(j);
	int rc = find_externals(b);

	sort_pairs(b);
	if (rc || !b->npair)
		return rc;
	rc = correlated_calls(b);
	for (size_t i = 0; !rc && i < n; i++) {
		struct join_activity a;
		struct pair *first;

		join__activity_brief(j, i, &a);
		first = pairs_of(b, join__lane(j, a.lane)->session, a.correlation);
		for (struct pair *p = first; !rc && first && same_id(b, p, first); p++)
			rc = exec_target(b, p->link, i, &a);
	}
	for (size_t i = 0; i < b->npair; i++)
		if (b->pair[i].calls > 1)
			b->s->link[b->pair[i].link].status = SIDECAR_AMBIGUOUS;
	return rc;
}

static bool asked_for_externals(const struct join *j)
{
	for (size_t i = 0; i < join__sessions(j); i++) {
		const struct join_facility *f = &join__session(j, i)->facility[GPUBPF_FACILITY_EXTERNAL];

		if (f->tried && !f->result)
			return true;
	}
	return join__externals(j);
}

static int device_link(struct bind *b, size_t i, struct sidecar_link *l)
{
	const struct join *j = b->t->in.join;

	l->status = SIDECAR_UNOBSERVED;
	if (!j || (l->kind == SIDECAR_EXTERNAL && !asked_for_externals(j)))
		return 0;
	if (l->kind == SIDECAR_EXECUTION)
		return exec_link(b, i, l);
	if (l->kind == SIDECAR_DEVICE_CALL)
		return shim_link(b, i, l);
	l->status = SIDECAR_NONE;
	if (l->proof > join__sessions(j))
		return 0;
	if (l->kind == SIDECAR_EXTERNAL) {
		int rc = grow((void **)&b->external, b->nexternal, &b->external_room, sizeof(*b->external));

		if (!rc)
			b->external[b->nexternal++] = i;
		return rc;
	}
	return want_id(b, join__session(j, l->proof - 1), l->id, i);
}

/* ---- Calls, by a pass over the file ---- */

static struct sidecar_span span_of_call(const struct view *v)
{
	bool there = v->thread->selected;

	return (struct sidecar_span){ there, there && v->timed, v->c->t_entry,
				      v->timed ? v->c->t_return : v->c->t_entry };
}

static int on_call(const struct trace_call *c, void *arg)
{
	struct bind *b = arg;
	struct sidecar_span span = span_of_call(c->v);
	int rc = 0;

	b->calls++;
	for (; !rc && b->at_call < b->ncall && b->call[b->at_call].number == b->calls; b->at_call++) {
		struct sidecar_link *l = &b->s->link[b->call[b->at_call].link];

		l->status = c->v->c->t_entry == l->proof ? SIDECAR_MATCHED : SIDECAR_DIFFERS;
		if (!l->status)
			rc = add_target(b, b->call[b->at_call].link, SIDECAR_CALL, b->calls, span);
	}
	if (!c->has_work)
		return rc;
	for (; !rc && b->at_work < b->nwork && b->work[b->at_work].number <= c->work; b->at_work++)
		if (b->work[b->at_work].number == c->work)
			rc = add_target(b, b->work[b->at_work].link, SIDECAR_CALL, b->calls, span);
	return rc;
}

static int find_calls(struct bind *b)
{
	const struct trace_visitor v = { .call = on_call, .arg = b };

	if (b->t->in.host_left_out || (!b->ncall && !b->nwork))
		return 0;
	if (b->ncall)
		qsort(b->call, b->ncall, sizeof(*b->call), by_number);
	if (b->nwork)
		qsort(b->work, b->nwork, sizeof(*b->work), by_number);
	return trace__pass(b->t, &v, b->err);
}

static int find_links(struct bind *b)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < b->s->nlinks; i++) {
		struct sidecar_link *l = &b->s->link[i];

		if (l->kind != SIDECAR_CALL) {
			rc = device_link(b, i, l);
			continue;
		}
		l->status = b->t->in.host_left_out ? SIDECAR_UNOBSERVED : SIDECAR_NONE;
		rc = want_row(&b->call, &b->ncall, &b->call_room, l->id, i);
	}
	if (!rc && b->t->in.join)
		rc = correlated(b);
	return rc ? rc : find_calls(b);
}

/* ---- What the links are tied to ---- */

static int by_link(const void *a, const void *b)
{
	const struct sidecar_target *x = a, *y = b;

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

static void widen(struct sidecar_span *to, const struct sidecar_span *by)
{
	if (!by->there)
		return;
	if (!to->there) {
		*to = *by;
		return;
	}
	to->closed |= by->closed;
	to->start = by->start < to->start ? by->start : to->start;
	to->end = by->end > to->end ? by->end : to->end;
}

static void settle_links(struct sidecar *s)
{
	size_t n = 0;

	if (s->ntargets)
		qsort(s->target, s->ntargets, sizeof(*s->target), by_link);
	for (size_t i = 0; i < s->ntargets; i++)
		if (s->link[s->target[i].link].status != SIDECAR_AMBIGUOUS)
			s->target[n++] = s->target[i];
	s->ntargets = n;
	for (size_t i = 0; i < n; i++) {
		struct sidecar_link *l = &s->link[s->target[i].link];
		struct sidecar_node *node = &s->node[l->node];

		if (!l->ntargets++)
			l->first_target = i;
		l->status = SIDECAR_MATCHED;
		widen(&node->span, &s->target[i].span);
		node->untimed += !s->target[i].span.closed;
	}
	for (size_t i = 0; i < s->nlinks; i++)
		s->node[s->link[i].node].matched += s->link[i].status == SIDECAR_MATCHED;
}

static enum sidecar_use use_of(const struct sidecar_node *node, bool below)
{
	if (below || node->matched || node->interval == SIDECAR_INSIDE)
		return SIDECAR_USED;
	if (node->nlinks)
		return SIDECAR_UNMATCHED;
	return node->interval ? SIDECAR_WITHHELD : SIDECAR_UNUSED;
}

/* Parents stand before their children, so that from the end a node is whole when its turn comes. */
static void settle_nodes(struct sidecar *s)
{
	for (size_t i = 0; i < s->nnodes; i++)
		s->node[i].use = SIDECAR_UNUSED;
	for (size_t i = s->nnodes; i-- > 0;) {
		struct sidecar_node *node = &s->node[i],
				    *above = node->parent ? &s->node[node->parent - 1] : NULL;

		node->use = use_of(node, node->use == SIDECAR_USED);
		if (node->own.there)
			node->span = node->own;
		if (!above)
			continue;
		widen(&above->span, &node->span);
		if (node->use == SIDECAR_USED)
			above->use = SIDECAR_USED;
	}
}

/* ---- */

int sidecar__bind(struct sidecar *s, struct trace *t, struct err *err)
{
	struct bind b = { .s = s, .t = t, .err = err };
	struct identity id;
	int rc;

	identity__of(t->in.meta, &id);
	if (strcmp(id.text, s->capture) != 0)
		return err_set(
			err, -EXDEV,
			"%s is of capture %s, and %s is %s: nothing of it was bound; give it with the capture that "
			"it was made from",
			s->name, s->capture, t->in.path, id.text);
	rc = sidecar_place_intervals(s, t);
	if (!rc)
		rc = find_links(&b);
	if (!rc) {
		settle_links(s);
		settle_nodes(s);
		t->sidecar = s;
	}
	free(b.call);
	free(b.work);
	free(b.pair);
	free(b.external);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", s->name) : rc;
}
