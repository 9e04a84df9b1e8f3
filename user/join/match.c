/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Host calls ↔ the shim's calls, thread by thread. Both come from one thread and one clock, so a shim's call belongs to
 * the host call that was entered last before it, of the same kind of work, when it ends before that returns. Where
 * only the entry was recorded, the next entry takes the return's place.
 */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct sweep { /* one thread's calls, by entry */
	const struct join *j;
	const uint32_t *b;
	uint32_t nb;
	uint32_t at;                       /* calls entered so far */
	uint32_t last;                     /* at depth 0, of any population */
	uint32_t outer[JOIN_POPULATIONS];  /* at depth 0 */
	uint32_t inner[JOIN_POPULATIONS];  /* nested */
	uint32_t around[JOIN_POPULATIONS]; /* at depth 0: returns last of all so far */
};

static uint64_t return_of(const struct bcall *b)
{
	return b->info & BCALL_RETURNED ? add_clamped(b->entry, unpack_dur(b->dur)) : UINT64_MAX;
}

static uint64_t end_of(const struct scall *s)
{
	return add_clamped(s->start, unpack_dur(s->dur));
}

static void advance(struct sweep *w, uint64_t t)
{
	for (; w->at < w->nb && bcall_at(w->j, w->b[w->at])->entry <= t; w->at++) {
		uint32_t i = w->b[w->at];
		const struct bcall *b = bcall_at(w->j, i);
		unsigned p = BCALL_POPULATION(b->info);

		if (b->info & BCALL_NESTED) {
			w->inner[p] = i;
			continue;
		}
		w->last = w->outer[p] = i;
		if (b->info & BCALL_RETURNED &&
		    (w->around[p] == NONE || return_of(b) > return_of(bcall_at(w->j, w->around[p]))))
			w->around[p] = i;
	}
}

static bool fits(const struct sweep *w, uint32_t i, const struct scall *s)
{
	const struct bcall *b;

	if (i == NONE)
		return false;
	b = bcall_at(w->j, i);
	if (b->info & (BCALL_RETURNED | BCALL_OPEN))
		return end_of(s) <= return_of(b);
	return i == w->last; /* entry alone: nothing else was entered since */
}

static void ambiguous(struct join *j, struct bcall *b, struct scall *s)
{
	if (b->scall) {
		struct scall *first = scall_at(j, b->scall - 1);

		first->bcall = 0;
		first->info |= SCALL_AMBIGUOUS;
	}
	b->scall = 0;
	b->info |= BCALL_AMBIGUOUS;
	s->info |= SCALL_AMBIGUOUS;
}

static bool inside(const struct scall *in, const struct scall *out)
{
	return !(out->info & SCALL_NO_END) && in->start >= out->start && end_of(in) <= end_of(out);
}

static void pair_up(struct join *j, uint32_t bi, uint32_t si)
{
	struct bcall *b = bcall_at(j, bi);
	struct scall *s = scall_at(j, si), *first;

	if (b->info & BCALL_AMBIGUOUS) {
		s->info |= SCALL_AMBIGUOUS;
		return;
	}
	if (!b->scall) {
		b->scall = si + 1;
		s->bcall = bi + 1;
		return;
	}
	/* what CUPTI reports inside the same call is a part of it: what it ran, the call ran */
	first = scall_at(j, b->scall - 1);
	if (inside(s, first)) {
		s->bcall = bi + 1;
	} else if (inside(first, s)) {
		s->bcall = bi + 1;
		b->scall = si + 1;
	} else {
		ambiguous(j, b, s);
	}
}

static void match_one(struct join *j, struct sweep *w, uint32_t si)
{
	struct scall *s = scall_at(j, si);
	unsigned p = population_of_work(SCALL_WORK(s->info));
	uint32_t outer, around;

	if (p >= JOIN_POPULATIONS)
		return;
	advance(w, s->start);
	outer = w->outer[p];
	around = w->around[p];
	if (!fits(w, outer, s))
		outer = NONE;
	/* one call open around another of the same thread: a signal handler's, or another stack's */
	if (around == w->outer[p] || !fits(w, around, s))
		around = NONE;
	if (outer != NONE && around != NONE) {
		ambiguous(j, bcall_at(j, outer), s);
		ambiguous(j, bcall_at(j, around), s);
	} else if (outer != NONE) {
		pair_up(j, outer, si);
	} else if (around != NONE) {
		pair_up(j, around, si);
	} else if (fits(w, w->inner[p], s)) {
		pair_up(j, w->inner[p], si);
	}
}

/* A call whose return was not measured was over when its thread entered the next one. */
static void bound_entries(struct join *j, const uint32_t *b, uint32_t nb)
{
	for (uint32_t i = 0; i < nb; i++) {
		struct bcall *c = bcall_at(j, b[i]);

		if (!(c->info & BCALL_RETURNED))
			c->dur = i + 1 < nb ? pack_dur(bcall_at(j, b[i + 1])->entry - c->entry, true) : 0;
	}
}

static void match_thread(struct join *j, const uint32_t *b, uint32_t nb, const uint32_t *s, uint32_t ns)
{
	struct sweep w = { .j = j, .b = b, .nb = nb, .last = NONE };

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++)
		w.outer[p] = w.inner[p] = w.around[p] = NONE;
	for (uint32_t i = 0; i < ns; i++)
		match_one(j, &w, s[i]);
	/* A thread can be inside one call when the probes come, past their place and before CUPTI's. */
	if (ns && nb && !scall_at(j, s[0])->bcall && scall_at(j, s[0])->start < bcall_at(j, b[0])->entry)
		scall_at(j, s[0])->info |= SCALL_EARLY;
	bound_entries(j, b, nb);
}

/* The host's thread of a shim's: by the ids of a task record, else by the id itself where both are in one namespace. */
static void find_thread(struct join *j, struct sthread *th)
{
	const struct session *s = session_at(j, th->key[0]);
	uint64_t key[2] = { s->proc->key, th->key[1] };
	const struct ns_thread *ns = hmap__get(&j->ns_threads, key);
	const struct bthread *b;

	if (ns)
		key[1] = ns->tid;
	else if (s->proc->own_ids)
		return;
	b = hmap__get(&j->bthreads, key);
	th->bthread = b ? b->number + 1 : 0;
}

static struct bthread *thread_of_scall(const struct join *j, const struct scall *s)
{
	const struct sthread *th = hmap__at(&j->sthreads, s->thread);

	return th->bthread ? hmap__at(&j->bthreads, th->bthread - 1) : NULL;
}

/* Both kinds of calls by thread; inside a thread as they came. */
static void group(struct join *j, uint32_t *b, uint32_t *s)
{
	uint32_t nb = 0, ns = 0;

	for (uint32_t i = 0; i < j->bcalls.n; i++)
		((struct bthread *)hmap__at(&j->bthreads, bcall_at(j, i)->thread))->ncalls++;
	for (uint32_t i = 0; i < j->scalls.n; i++) {
		struct bthread *th = thread_of_scall(j, scall_at(j, i));

		if (th)
			th->nscalls++;
	}
	for (size_t i = 0; i < j->bthreads.n; i++) {
		struct bthread *th = hmap__at(&j->bthreads, i);

		th->first = nb;
		th->sfirst = ns;
		nb += th->ncalls;
		ns += th->nscalls;
		th->ncalls = th->nscalls = 0;
	}
	for (uint32_t i = 0; i < j->bcalls.n; i++) {
		struct bthread *th = hmap__at(&j->bthreads, bcall_at(j, i)->thread);

		b[th->first + th->ncalls++] = i;
	}
	for (uint32_t i = 0; i < j->scalls.n; i++) {
		struct bthread *th = thread_of_scall(j, scall_at(j, i));

		if (th)
			s[th->sfirst + th->nscalls++] = i;
	}
}

int match_calls(struct join *j)
{
	size_t most = j->bcalls.n > j->scalls.n ? j->bcalls.n : j->scalls.n;
	uint32_t *b = malloc((j->bcalls.n + 1) * sizeof(*b)), *s = malloc((j->scalls.n + 1) * sizeof(*s));
	uint32_t *room = malloc((most + 1) * sizeof(*room));
	int rc = b && s && room ? 0 : -ENOMEM;

	for (size_t i = 0; i < j->sthreads.n; i++)
		find_thread(j, hmap__at(&j->sthreads, i));
	if (!rc)
		group(j, b, s);
	for (size_t i = 0; !rc && i < j->bthreads.n; i++) {
		const struct bthread *th = hmap__at(&j->bthreads, i);

		order_bcalls(j, b + th->first, room, th->ncalls);
		order_scalls(j, s + th->sfirst, room, th->nscalls);
		match_thread(j, b + th->first, th->ncalls, s + th->sfirst, th->nscalls);
	}
	free(b);
	free(s);
	free(room);
	return rc;
}
