/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every call of the host in exactly one term. A term needs evidence of its own: a result, a stream in capture, an
 * execution; or a loss that somebody counted. Losses come as totals per session, so they explain at most as many calls as they count.
 */
#include "join/priv.h"

#include <stdlib.h>
#include <string.h>

/* Batches of a probe hold no more items than this: what a gap in the sequence can have cost. */
static const uint64_t batch_items[GPUBPF_PROBES] = {
	[GPUBPF_PROBE_CALLS] = GPUBPF_BATCH_MAX / sizeof(struct gpubpf_shim_call),
	[GPUBPF_PROBE_ACTIVITY] = GPUBPF_BATCH_MAX / sizeof(struct gpubpf_activity),
};

/* ---- Sequences ---- */

static int run_order(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->first != y->first ? (x->first < y->first ? -1 : 1)
				    : (x->last > y->last) - (x->last < y->last);
}

static void count_gaps(struct join *j, struct jproc *p, unsigned probe)
{
	struct join_gap *gap = &j->totals.probe[probe];
	struct runs *r = &p->runs[probe];
	uint64_t last;

	if (!r->n)
		return;
	qsort(r->v, r->n, sizeof(*r->v), run_order);
	last = r->v[0].last;
	for (size_t i = 1; i < r->n; i++) {
		const struct run *v = &r->v[i];

		if (v->first > last) {
			p->missing[probe] = add_clamped(p->missing[probe], v->first - last - 1);
		} else {
			uint64_t both = (v->last < last ? v->last : last) - v->first + 1;

			gap->repeated = add_clamped(gap->repeated, both);
		}
		last = v->last > last ? v->last : last;
	}
	gap->lost_batches = add_clamped(gap->lost_batches, p->missing[probe]);
}

/* ---- Calls ---- */

#define DESCHEDULED_NS 1000000000

/*
 * Entered in time, and not yet at CUPTI's callback when that took no more calls: a thread can be descheduled between the
 * two. Nothing says so of a single call, but a thread has at most one of them, and not for long.
 */
static bool still_open_at(const struct bcall *b, uint64_t stop)
{
	if (stop == UINT64_MAX)
		return false;
	if (b->info & BCALL_OPEN)
		return true;
	if (!(b->info & BCALL_RETURNED) && !b->dur)
		return stop - b->entry < DESCHEDULED_NS;
	return add_clamped(b->entry, unpack_dur(b->dur)) > stop;
}

/* With a call of the shim, and nothing ran. */
static enum join_fate judge_silent(const struct join *j, const struct bcall *b, struct session **session)
{
	const struct scall *sc = scall_at(j, b->scall - 1);
	struct session *s = *session = session_of_call(j, sc);

	if (sc->info & SCALL_FAILED)
		return JOIN_FATE_FAILED;
	if (b->info & BCALL_CAPTURED)
		return JOIN_FATE_CAPTURED;
	if (b->info & BCALL_NO_WORK)
		return JOIN_FATE_NO_WORK;
	if (s->pub.state == JOIN_SESSION_OPEN && b->entry > s->last_start)
		return JOIN_FATE_IN_FLIGHT; /* no end was seen, and nothing later ran either */
	return JOIN_FATE_NOTHING_RAN;
}

static enum join_fate judge_unseen(const struct join *j, const struct bcall *b, struct session **session)
{
	const struct bthread *th = hmap__at(&j->bthreads, b->thread);
	const struct jproc *p = hmap__get(&j->procs, &th->key[0]);
	struct session *s = *session = p ? session_watching(j, p, b->entry) : NULL;

	if (b->info & BCALL_CAPTURED)
		return JOIN_FATE_CAPTURED; /* the host's word is enough: nothing ran, whoever watched */
	if (!s || still_open_at(b, s->stop))
		return JOIN_FATE_OUTSIDE;
	if (b->info & BCALL_OPEN)
		return JOIN_FATE_IN_FLIGHT;
	if (s->pub.state == JOIN_SESSION_OPEN && b->entry > s->last_call)
		return JOIN_FATE_IN_FLIGHT;
	return JOIN_FATE_UNSEEN;
}

enum join_fate judge_call(const struct join *j, const struct bcall *b, struct session **session)
{
	*session = NULL;
	if (b->info & BCALL_FAILED)
		return JOIN_FATE_FAILED;
	if (b->info & BCALL_AMBIGUOUS)
		return JOIN_FATE_AMBIGUOUS;
	if (b->info & BCALL_VALID)
		return JOIN_FATE_RAN;
	if (b->info & BCALL_ACTS)
		return JOIN_FATE_INVALID_TIME;
	return b->scall ? judge_silent(j, b, session) : judge_unseen(j, b, session);
}

static int place(struct join *j, const struct bcall *b)
{
	struct join_line *l = &j->totals.line[BCALL_POPULATION(b->info)];
	uint64_t *const terms[JOIN_FATES] = {
		[JOIN_FATE_RAN] = &l->matched,         [JOIN_FATE_INVALID_TIME] = &l->invalid_time,
		[JOIN_FATE_FAILED] = &l->failed,       [JOIN_FATE_CAPTURED] = &l->captured,
		[JOIN_FATE_NO_WORK] = &l->no_work,     [JOIN_FATE_OUTSIDE] = &l->outside,
		[JOIN_FATE_IN_FLIGHT] = &l->in_flight, [JOIN_FATE_AMBIGUOUS] = &l->ambiguous,
	};
	struct session *s;
	enum join_fate fate;

	if (b->info & BCALL_NESTED) {
		l->nested++;
		return 0;
	}
	l->calls++;
	fate = judge_call(j, b, &s);
	if (fate == JOIN_FATE_NOTHING_RAN)
		return silent_call(j, s, BCALL_POPULATION(b->info), b->entry);
	if (fate == JOIN_FATE_UNSEEN)
		s->unseen[BCALL_POPULATION(b->info)]++;
	else
		++*terms[fate];
	return 0;
}

/* ---- Losses ---- */

static void explain(uint64_t *term, uint64_t *open, uint64_t *evidence)
{
	uint64_t n = *open < *evidence ? *open : *evidence;

	*term += n;
	*open -= n;
	*evidence -= n;
}

static uint64_t more(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Items of a session that were handed over and are not here. */
static uint64_t lost_on_the_way(const struct join *j, const struct session *s, unsigned probe)
{
	uint64_t bound;

	if (s->pub.has_counts[probe])
		return more(s->pub.handed[probe], s->got[probe]);
	if (__builtin_mul_overflow(s->proc->missing[probe], batch_items[probe], &bound))
		bound = UINT64_MAX;
	if (j->end.has_lost_items && j->end.lost_items[probe] > bound)
		bound = j->end.lost_items[probe]; /* the last batches leave no gap */
	return bound;
}

static uint64_t lost_inside(const struct session *s, unsigned probe)
{
	return s->pub.has_counts[probe] ? more(s->pub.made[probe], s->pub.handed[probe]) : 0;
}

static void account_session(struct join *j, struct session *s)
{
	uint64_t shim_calls = lost_inside(s, GPUBPF_PROBE_CALLS),
		 shim_acts = lost_inside(s, GPUBPF_PROBE_ACTIVITY);
	uint64_t ring_calls = lost_on_the_way(j, s, GPUBPF_PROBE_CALLS);
	uint64_t ring_acts = lost_on_the_way(j, s, GPUBPF_PROBE_ACTIVITY);
	uint64_t dropped = s->pub.loss[GPUBPF_LOSS_CUPTI_DROPPED],
		 running = s->pub.loss[GPUBPF_LOSS_IN_FLIGHT];

	if (s->pub.loss[GPUBPF_LOSS_CALLS] > shim_calls)
		shim_calls = s->pub.loss[GPUBPF_LOSS_CALLS];
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		struct join_line *l = &j->totals.line[p];

		explain(&l->lost_shim, &s->unseen[p], &shim_calls);
		explain(&l->lost_ring, &s->unseen[p], &ring_calls);
		explain(&l->dropped, &s->silent[p], &dropped);
		explain(&l->lost_shim, &s->silent[p], &shim_acts);
		explain(&l->lost_ring, &s->silent[p], &ring_acts);
		explain(&l->in_flight, &s->silent[p], &running);
		l->unexplained += s->unseen[p] + s->silent[p];
	}
}

/* ---- The shim's side ---- */

static int count_scalls(struct join *j)
{
	struct join_totals *t = &j->totals;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < j->scalls.n; i++) {
		struct scall *s = scall_at(j, i);
		unsigned p = population_of_work(SCALL_WORK(s->info));

		if (p >= JOIN_POPULATIONS)
			continue;
		if (j->end.host_left_out)
			rc = place_alone(j, s);
		else if (s->info & SCALL_AMBIGUOUS)
			t->shim_calls_ambiguous++;
		else if (s->bcall)
			t->line[BCALL_POPULATION(bcall_at(j, s->bcall - 1)->info)]
				.executions += s->info >> SCALL_ACTS_SHIFT;
		else if (s->info & SCALL_EARLY)
			t->shim_calls_early++;
		else if (scall_late(j, s))
			t->shim_calls_late++;
		else
			t->shim_calls_no_host++;
	}
	return rc;
}

/* Launches of one graph run its nodes each time: the launch that ran most of them says how many there are. */
static void count_node(struct join *j, const struct act *a)
{
	struct scall *s = scall_at(j, a->call - 1);
	const struct node *n = hmap__at(&j->nodes, a->node - 1);
	uint64_t key[2] = { session_of(j, a)->number, n->key[0] };
	struct graph *g;
	uint32_t ran = s->info >> SCALL_ACTS_SHIFT;

	if (s->info & SCALL_COUNTED || SCALL_WORK(s->info) != GPUBPF_WORK_GRAPH)
		return;
	s->info |= SCALL_COUNTED;
	g = hmap__put(&j->graphs, key);
	if (!g)
		return;
	g->launches++;
	g->nodes += ran;
	g->most = ran > g->most ? ran : g->most;
}

static void count_graphs(struct join *j)
{
	struct join_totals *t = &j->totals;

	for (uint32_t i = 0; j->nodes.n && i < j->acts.n; i++) {
		const struct act *a = act_at(j, i);

		if (a->node && a->call && a->call != ACT_AMBIGUOUS && is_execution(key_of(j, a)->kind))
			count_node(j, a);
	}
	for (size_t i = 0; i < j->graphs.n; i++) {
		const struct graph *g = hmap__at(&j->graphs, i);

		t->graphs++;
		t->graph_launches += g->launches;
		t->graph_nodes += g->nodes;
		t->graph_shortfall += g->launches * g->most - g->nodes;
	}
}

static void worst_first(struct join_totals *t, struct join_violation v)
{
	unsigned i = t->nviolations;

	if (i == JOIN_VIOLATIONS && v.early_ns <= t->violation[i - 1].early_ns)
		return;
	i = i == JOIN_VIOLATIONS ? i - 1 : i;
	for (; i && t->violation[i - 1].early_ns < v.early_ns; i--)
		t->violation[i] = t->violation[i - 1];
	t->violation[i] = v;
	if (t->nviolations < JOIN_VIOLATIONS)
		t->nviolations++;
}

static uint64_t entry_of(const struct join *j, struct scall *s)
{
	return j->end.host_left_out ? outermost(j, s)->start : bcall_at(j, s->bcall - 1)->entry;
}

/* In the order of time, so that a violation's number is an activity's. */
static void audit(struct join *j)
{
	struct join_totals *t = &j->totals;

	for (uint32_t i = 0; i < j->ntimed; i++) {
		const struct act *a = act_at(j, j->order[i]);
		const struct session *s = session_of(j, a);
		uint64_t entry;

		if (judge_link(j, a) != JOIN_JOINED || judge_time(j, a) != JOIN_TIME_VALID ||
		    !is_execution(key_of(j, a)->kind))
			continue;
		entry = entry_of(j, scall_at(j, a->call - 1));
		if (a->start >= entry)
			continue;
		t->early++;
		t->early_beyond += !s->pub.has_clock_error || entry - a->start > s->pub.clock_error_ns;
		if (entry - a->start > t->early_worst_ns)
			t->early_worst_ns = entry - a->start;
		worst_first(t, (struct join_violation){ i, entry - a->start });
	}
}

static bool has_armed(const struct join *j, const struct jproc *p)
{
	for (uint32_t i = 0; i < p->nsessions; i++)
		if (j->by_proc[p->first_session + i]->pub.state != JOIN_SESSION_FAILED)
			return true;
	return false;
}

static void count_unwatched(struct join *j)
{
	for (size_t i = 0; i < j->bthreads.n; i++) {
		const struct bthread *th = hmap__at(&j->bthreads, i);
		struct jproc *p = join_proc_of(j, (const struct proc *)(uintptr_t)th->key[0]);

		if (p)
			p->called = true;
	}
	for (size_t i = 0; i < j->procs.n; i++) {
		const struct jproc *p = hmap__at(&j->procs, i);

		j->totals.processes += p->called;
		j->totals.processes_unwatched += p->called && !has_armed(j, p);
	}
}

/* Of graphs that were instantiated before the capture nobody knows how many nodes they have. */
static void count_unknown_graphs(struct join *j)
{
	const struct graphs *g = &j->model->graphs;

	for (size_t i = 0; i < graphs__rows(g); i++)
		if (!graphs__row(g, i)->instantiated)
			j->totals.graph_unknown += tally__done(&graphs__row(g, i)->launches);
}

int account(struct join *j)
{
	int rc = 0;

	for (size_t i = 0; i < j->procs.n; i++)
		for (unsigned probe = 0; probe < GPUBPF_PROBES; probe++)
			count_gaps(j, hmap__at(&j->procs, i), probe);
	for (uint32_t i = 0; !rc && i < j->bcalls.n && !j->end.host_left_out; i++)
		rc = place(j, bcall_at(j, i));
	if (j->end.host_left_out) /* its calls come before what explains them */
		rc = count_scalls(j);
	if (!rc)
		rc = explain_by_device(j);
	if (rc)
		return rc;
	for (size_t i = 0; i < j->sessions.n; i++)
		account_session(j, session_at(j, i));
	if (!j->end.host_left_out)
		count_scalls(j);
	count_graphs(j);
	count_unknown_graphs(j);
	audit(j);
	count_unwatched(j);
	return 0;
}
