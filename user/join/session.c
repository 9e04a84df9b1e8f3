/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions: what the shim says of itself, and how the times of a session become CLOCK_MONOTONIC. */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct session *join_session(struct join *j, struct jproc *p, uint32_t number, bool *full)
{
	uint64_t key[2] = { p->key, number };
	struct session *s = j->last_session;
	size_t before = j->sessions.n;

	if (s && s->key[0] == key[0] && s->key[1] == key[1])
		return s;
	s = before < SESSIONS_MAX ? hmap__put(&j->sessions, key) : hmap__get(&j->sessions, key);
	*full = !s && before >= SESSIONS_MAX;
	if (s && j->sessions.n != before) {
		s->number = (uint32_t)before;
		s->proc = p;
		s->first = UINT64_MAX;
		s->pub.proc = (const struct proc *)(uintptr_t)p->key;
		s->pub.number = number;
	}
	j->last_session = s;
	return s;
}

void session_hello(struct session *s, const struct gpubpf_hello *h)
{
	s->pub.has_hello = true;
	s->pub.hello = *h;
	s->pub.hello.version[sizeof(h->version) - 1] = '\0';
	s->pub.hello.cupti_path[sizeof(h->cupti_path) - 1] = '\0';
}

static void on_armed(struct session *s, const struct gpubpf_status *st)
{
	uint64_t from = st->a && st->a <= st->time ? st->a : st->time;

	if (s->armed_seen && st->time >= s->pub.armed_at)
		return;
	s->armed_seen = true;
	s->pub.armed_from = from;
	s->pub.armed_at = st->time;
}

static void on_disarmed(struct session *s, const struct gpubpf_status *st)
{
	if (s->ended_seen && st->time <= s->pub.ended)
		return;
	s->ended_seen = true;
	s->pub.ended = st->time;
	s->pub.disarm = st->code;
	s->stop = st->a && st->a <= st->time ? st->a : 0;
}

static int add_pair(struct session *s, const struct gpubpf_status *st)
{
	struct pair *grown;

	s->pub.clock_pairs++;
	if (!st->d) /* the other clocks alone */
		return 0;
	if (s->npairs == s->room) {
		grown = realloc(s->pairs, (s->room ? s->room * 2 : 8) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->pairs = grown;
		s->room = s->room ? s->room * 2 : 8;
	}
	s->pairs[s->npairs++] = (struct pair){ st->a, st->d, st->e };
	return 0;
}

static int add_match(struct session *s, uint64_t time, uint64_t error)
{
	struct match *grown;

	if (!time || (s->nmatches && s->matches[s->nmatches - 1].time == time))
		return 0;
	if (s->nmatches == s->match_room) {
		grown = realloc(s->matches, (s->match_room ? s->match_room * 2 : 8) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		s->matches = grown;
		s->match_room = s->match_room ? s->match_room * 2 : 8;
	}
	s->matches[s->nmatches++] = (struct match){ time, error };
	return 0;
}

static int add_matches(struct session *s, const struct gpubpf_status *st)
{
	int rc = add_match(s, st->c, st->d);

	return rc ? rc : add_match(s, st->a, st->b);
}

void session_clear(struct session *s)
{
	free(s->pairs);
	free(s->matches);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What contradicts itself is not believed. */
static void on_cost(struct join_cost *c, const struct gpubpf_status *st)
{
	if (st->b > st->a || st->d > st->c || (!st->b && st->c) || (c->there && st->a < c->seen))
		return;
	*c = (struct join_cost){ true, st->a, st->b, st->c, st->d, st->e };
}

/* Counters are "so far": the largest is the last word, whatever came first. */
int session_status(struct session *s, const struct gpubpf_status *st)
{
	struct join_session *pub = &s->pub;

	switch (st->kind) {
	case GPUBPF_STATUS_ARMED:
		on_armed(s, st);
		return 0;
	case GPUBPF_STATUS_DISARMED:
		on_disarmed(s, st);
		return 0;
	case GPUBPF_STATUS_FACILITY:
		if (st->code < JOIN_FACILITIES && !pub->facility[st->code].result) /* a failure stays */
			pub->facility[st->code] = (struct join_facility){ true, st->value };
		return 0;
	case GPUBPF_STATUS_LOSS:
		if (st->code < JOIN_LOSSES)
			pub->loss[st->code] = larger(pub->loss[st->code], st->a);
		return 0;
	case GPUBPF_STATUS_CLOCK:
		return add_pair(s, st);
	case GPUBPF_STATUS_MATCH:
		return add_matches(s, st);
	case GPUBPF_STATUS_FAILED:
		if (!s->failed_seen) { /* the first reason stands */
			pub->reason = st->code;
			pub->reason_value = st->value;
		}
		s->failed_seen = true;
		return 0;
	case GPUBPF_STATUS_CUPTI_ERROR:
		/* by then all records were here */
		if (st->code != GPUBPF_FACILITY_UNSUBSCRIBE)
			pub->errors++;
		return 0;
	case GPUBPF_STATUS_COST:
		if (st->code && st->code < GPUBPF_CALLBACKS)
			on_cost(&pub->cost[st->code], st);
		return 0;
	case GPUBPF_STATUS_COUNTS:
		if (st->code < GPUBPF_PROBES) {
			pub->has_counts[st->code] = true;
			pub->made[st->code] = larger(pub->made[st->code], st->a);
			pub->handed[st->code] = larger(pub->handed[st->code], st->b);
		}
		return 0;
	default:
		return 0;
	}
}

/* ---- Clocks ---- */

bool session_own_clock(const struct session *s)
{
	return s->pub.has_hello && s->pub.hello.time_source == GPUBPF_TIME_CUPTI;
}

bool session_anchored(const struct session *s)
{
	return !session_own_clock(s) || s->npairs;
}

static uint64_t offset_of(const struct pair *p)
{
	return p->mono - p->cupti;
}

uint64_t session_to_monotonic(const struct session *s, uint64_t t)
{
	size_t lo = 0, hi = s->npairs;
	const struct pair *a, *b;
	int64_t drift;

	if (!session_own_clock(s) || !s->npairs)
		return t;
	while (lo < hi) { /* how many pairs stand at or before t */
		size_t mid = (lo + hi) / 2;

		if (s->pairs[mid].cupti <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == 0 || lo == s->npairs)
		return t + offset_of(&s->pairs[lo ? lo - 1 : 0]);
	a = &s->pairs[lo - 1];
	b = &s->pairs[lo];
	drift = (int64_t)(offset_of(b) - offset_of(a));
	return t + offset_of(a) + (uint64_t)((__int128)drift * (t - a->cupti) / (b->cupti - a->cupti));
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int pair_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->cupti < y->cupti ? -1 : x->cupti > y->cupti;
}

static int match_order(const void *a, const void *b)
{
	const struct match *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time ? -1 : 1)
				  : (x->error > y->error) - (x->error < y->error);
}

static uint64_t scaled(uint64_t error, uint64_t ns, uint64_t over)
{
	__uint128_t r = (__uint128_t)error * ns / (over ? over : 1);

	return r > UINT64_MAX ? UINT64_MAX : (uint64_t)r;
}

/*
 * Between its matches CUPTI goes by a rate that it has of the last two: off by as much as the errors of both over the time
 * between them. What came before the second it places between the two.
 */
static uint64_t bound_matches(struct session *s)
{
	uint64_t worst = 0, until = larger(s->pub.ended, s->last_call), from = s->pub.armed_from;

	if (s->nmatches)
		qsort(s->matches, s->nmatches, sizeof(*s->matches), match_order);
	for (size_t i = 1; i < s->nmatches; i++) {
		const struct match *a = &s->matches[i - 1], *b = &s->matches[i];
		uint64_t next = i + 1 < s->nmatches ? s->matches[i + 1].time : larger(until, b->time);

		if (b->time == a->time || next < from)
			continue;
		worst = larger(worst, add_clamped(larger(a->error, b->error),
						  scaled(add_clamped(a->error, b->error), next - b->time,
							 b->time - a->time)));
	}
	return worst;
}

/* A bound holds between pairs when the clocks part no further in between than from one pair to the next. */
static void bound_clock(struct session *s)
{
	uint64_t worst = 0, step = 0;

	if (s->npairs) /* qsort() of nothing is undefined */
		qsort(s->pairs, s->npairs, sizeof(*s->pairs), pair_order);
	for (size_t i = 0; i < s->npairs; i++) {
		const struct pair *p = &s->pairs[i];

		if (!session_own_clock(s)) {
			worst = larger(worst, add_clamped(p->error, distance(p->mono, p->cupti)));
			continue;
		}
		worst = larger(worst, p->error);
		if (i)
			step = larger(step, distance(offset_of(p), offset_of(p - 1)));
	}
	s->pub.has_clock_error = s->npairs != 0;
	s->pub.clock_error_ns = add_clamped(add_clamped(worst, step), bound_matches(s));
}

/* ---- The whole ---- */

static void settle(struct session *s)
{
	struct join_session *pub = &s->pub;
	bool did = pub->calls || pub->activities || s->ended_seen;

	bound_clock(s);
	if (!s->armed_seen && (!did || s->failed_seen)) {
		pub->state = JOIN_SESSION_FAILED;
		return;
	}
	if (!s->armed_seen) /* its status was lost: it was armed by the time of the first thing that it sent */
		pub->armed_from = pub->armed_at = s->first != UINT64_MAX ? s->first : 0;
	pub->state = s->ended_seen ? JOIN_SESSION_ENDED : JOIN_SESSION_OPEN;
	if (!s->ended_seen)
		s->stop = UINT64_MAX;
	else if (!s->stop)
		s->stop = s->last_call ? s->last_call : pub->ended;
}

static int session_order(const void *a, const void *b)
{
	const struct session *x = *(struct session *const *)a, *y = *(struct session *const *)b;
	const struct proc *p = x->pub.proc, *q = y->pub.proc;

	if (p != q)
		return p->tgid != q->tgid ? (p->tgid < q->tgid ? -1 : 1) : (p->key[1] < q->key[1] ? -1 : 1);
	if (x->pub.armed_at != y->pub.armed_at)
		return x->pub.armed_at < y->pub.armed_at ? -1 : 1;
	return x->pub.number < y->pub.number ? -1 : x->pub.number > y->pub.number;
}

static void count_session(struct join_totals *t, const struct join_session *s)
{
	t->armed_sessions += s->state != JOIN_SESSION_FAILED;
	t->failed_sessions += s->state == JOIN_SESSION_FAILED;
	t->open_sessions += s->state == JOIN_SESSION_OPEN;
	for (unsigned i = 0; i < JOIN_LOSSES; i++)
		t->loss[i] = add_clamped(t->loss[i], s->loss[i]);
	if (s->has_clock_error && (!t->has_clock_error || s->clock_error_ns > t->clock_error_ns)) {
		t->has_clock_error = true;
		t->clock_error_ns = s->clock_error_ns;
	}
}

int sessions_finish(struct join *j)
{
	size_t n = j->sessions.n;

	j->by_proc = calloc(n + 1, sizeof(*j->by_proc));
	if (!j->by_proc)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		j->by_proc[i] = session_at(j, i);
		settle(j->by_proc[i]);
		count_session(&j->totals, &j->by_proc[i]->pub);
	}
	qsort(j->by_proc, n, sizeof(*j->by_proc), session_order);
	for (size_t i = 0; i < n; i++) {
		struct jproc *p = j->by_proc[i]->proc;

		if (!p->nsessions++)
			p->first_session = (uint32_t)i;
	}
	return 0;
}

struct session *session_watching(const struct join *j, const struct jproc *p, uint64_t t)
{
	size_t lo = p->first_session, hi = lo + p->nsessions;
	struct session *s;

	while (lo < hi) { /* behind the last that was armed by then */
		size_t mid = (lo + hi) / 2;

		if (j->by_proc[mid]->pub.armed_at <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == p->first_session)
		return NULL;
	s = j->by_proc[lo - 1];
	return s->pub.state != JOIN_SESSION_FAILED && t <= s->stop ? s : NULL;
}
