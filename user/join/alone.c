/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shim's calls where the host observer was left out: they are then what is counted, each outermost one in exactly one
 * term. What only the host observer can tell is in no term: a call for which nothing ran, and that nothing else
 * explains, stays unexplained.
 */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>

struct scall *outermost(const struct join *j, struct scall *s)
{
	return s->info & SCALL_NESTED ? scall_at(j, s->bcall - 1) : s;
}

static uint64_t end_of(const struct scall *s)
{
	return add_clamped(s->start, unpack_dur(s->dur));
}

/* Calls of one thread by their start: each belongs to the outermost one that is around it. */
static void nest_thread(struct join *j, const uint32_t *v, uint32_t n)
{
	uint32_t around = 0; /* reference */

	for (uint32_t i = 0; i < n; i++) {
		struct scall *s = scall_at(j, v[i]), *out = around ? scall_at(j, around - 1) : NULL;

		if (out && !(out->info & SCALL_NO_END) && end_of(s) <= end_of(out)) {
			s->info |= SCALL_NESTED;
			s->bcall = around;
		} else {
			around = v[i] + 1;
		}
	}
}

static bool for_work(const struct scall *s)
{
	return population_of_work(SCALL_WORK(s->info)) < JOIN_POPULATIONS;
}

static void group(struct join *j, uint32_t *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->scalls.n; i++)
		if (for_work(scall_at(j, i)))
			((struct sthread *)hmap__at(&j->sthreads, scall_at(j, i)->thread))->ncalls++;
	for (size_t i = 0; i < j->sthreads.n; i++) {
		struct sthread *th = hmap__at(&j->sthreads, i);

		th->first = n;
		n += th->ncalls;
		th->ncalls = 0;
	}
	for (uint32_t i = 0; i < j->scalls.n; i++) {
		struct sthread *th = hmap__at(&j->sthreads, scall_at(j, i)->thread);

		if (for_work(scall_at(j, i)))
			v[th->first + th->ncalls++] = i;
	}
}

int nest_calls(struct join *j)
{
	uint32_t *v = malloc(((size_t)j->scalls.n + 1) * sizeof(*v));
	uint32_t *room = malloc(((size_t)j->scalls.n + 1) * sizeof(*room));
	int rc = v && room ? 0 : -ENOMEM;

	if (!rc)
		group(j, v);
	for (size_t i = 0; !rc && i < j->sthreads.n; i++) {
		const struct sthread *th = hmap__at(&j->sthreads, i);

		order_scalls(j, v + th->first, room, th->ncalls);
		nest_thread(j, v + th->first, th->ncalls);
	}
	free(v);
	free(room);
	return rc;
}

int place_alone(struct join *j, const struct scall *s)
{
	struct session *session = session_of_call(j, s);
	unsigned p = population_of_work(SCALL_WORK(s->info));
	struct join_line *l = &j->totals.line[p];

	session->proc->called = true;
	if (s->info & SCALL_NESTED) {
		const struct scall *out = scall_at(j, s->bcall - 1);

		l->nested++;
		j->totals.line[population_of_work(SCALL_WORK(out->info))].executions += s->info >>
											SCALL_ACTS_SHIFT;
		return 0;
	}
	l->calls++;
	l->executions += s->info >> SCALL_ACTS_SHIFT;
	if (s->info & SCALL_FAILED)
		l->failed++;
	else if (s->info & SCALL_VALID)
		l->matched++;
	else if (s->info & SCALL_RAN)
		l->invalid_time++;
	else if (session->pub.state == JOIN_SESSION_OPEN && s->start > session->last_start)
		l->in_flight++; /* no end was seen, and nothing later ran either */
	else
		return silent_call(j, session, p, s->start);
	return 0;
}
