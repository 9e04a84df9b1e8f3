/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The shim's calls ↔ what ran, by session and correlation id. The index keeps sixteen ids that follow each other side by
 * side, since that is how they come. Calls with one id hang on one another, whatever a hostile file does.
 */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static uint64_t hash_of(uint64_t session, uint32_t correlation)
{
	uint64_t h = (session << 32 | correlation >> 4) * UINT64_C(0x9e3779b97f4a7c15);

	h ^= h >> 32;
	return h * UINT64_C(0xd6e8feb86659fd93) >> 28;
}

static uint64_t session_number(const struct join *j, const struct scall *s)
{
	return ((struct sthread *)hmap__at(&j->sthreads, s->thread))->key[0];
}

/*
 * The places to look for an id, in order: its own one of the sixteen of a line, in eight lines; then the next one's,
 * since ids that go up by two leave half of them free; after all sixteen whatever follows, so that it ends.
 */
static uint32_t place(uint32_t line, uint32_t correlation, uint32_t probe)
{
	uint32_t step = probe & 7;

	if (probe < 128)
		return (line + step * (step + 1) / 2) << 4 | ((correlation + (probe >> 3)) & 15);
	return (line << 4) + probe;
}

/* Where the id stands, or the free place where it would. */
static struct index_slot *find(const struct join *j, uint64_t session, uint32_t correlation)
{
	uint32_t line = (uint32_t)hash_of(session, correlation);

	for (uint32_t probe = 0;; probe++) {
		struct index_slot *s = &j->index[place(line, correlation, probe) & j->index_mask];

		if (!s->call ||
		    (s->correlation == correlation && session_number(j, scall_at(j, s->call - 1)) == session))
			return s;
	}
}

static int make_index(struct join *j)
{
	uint64_t slots = 256;

	while (slots * 3 < (uint64_t)j->scalls.n * 4)
		slots *= 2;
	j->index = large_pages(slots * sizeof(*j->index));
	if (!j->index)
		return -ENOMEM;
	j->index_mask = (uint32_t)(slots - 1);
	for (uint32_t i = 0; i < j->scalls.n; i++) {
		struct scall *s = scall_at(j, i);
		struct index_slot *slot = find(j, session_number(j, s), s->correlation);

		s->next = slot->call;
		*slot = (struct index_slot){ i + 1, s->correlation };
	}
	return 0;
}

void drop_index(struct join *j)
{
	if (j->index)
		munmap(j->index, ((size_t)j->index_mask + 1) * sizeof(*j->index));
	j->index = NULL;
}

/* ms of arrival on the wire's own scale, which wraps: later ones are less than half of it ahead. */
static bool begun_by(const struct scall *s, uint32_t arrival)
{
	return (int32_t)(arrival - (uint32_t)(s->start / 1000000)) >= 0;
}

#define ROUNDS_MAX 64 /* 2^38 calls in one session; more is a hostile file */
#define ROUND_NS 1000000000

/* Not two rounds of the counter, and not one call reported twice. */
static bool same_round(const struct scall *a, const struct scall *b)
{
	uint64_t apart = a->start > b->start ? a->start - b->start : b->start - a->start;

	return apart < ROUND_NS && (a->bcall != b->bcall || !a->bcall);
}

/*
 * Ids come round after 2^32 calls, hours apart: an activity belongs to the last call with its id that had begun when it
 * arrived. Two such calls at one time are not two rounds, and nothing tells which.
 */
static uint32_t call_of(const struct join *j, uint32_t first, uint32_t arrival)
{
	const struct scall *best = NULL, *s;
	uint32_t found = 0;
	bool tie = false;
	unsigned rounds = 0;

	if (!scall_at(j, first - 1)->next)
		return first;
	for (uint32_t r = first; r; r = s->next) {
		s = scall_at(j, r - 1);
		if (++rounds > ROUNDS_MAX)
			return ACT_AMBIGUOUS;
		if (!begun_by(s, arrival))
			continue;
		if (!best || s->start > best->start) {
			tie = best && same_round(best, s);
			best = s;
			found = r;
		} else if (same_round(best, s)) {
			tie = true;
		}
	}
	return tie ? ACT_AMBIGUOUS : found;
}

/* ---- Times ---- */

enum join_time judge_time(const struct join *j, const struct act *a)
{
	const struct session *s = session_of(j, a);
	uint64_t err = s->pub.clock_error_ns;

	if (!a->start && !a->end)
		return JOIN_TIME_ZERO;
	if (a->end < a->start)
		return JOIN_TIME_END_FIRST;
	if (!session_anchored(s))
		return JOIN_TIME_UNANCHORED;
	if (s->pub.state == JOIN_SESSION_FAILED || add_clamped(a->start, err) < s->pub.armed_from ||
	    (s->ended_seen && a->end > add_clamped(s->pub.ended, err)))
		return JOIN_TIME_OUTSIDE;
	return JOIN_TIME_VALID;
}

/* Zeros are no times, and stay what they are. */
static void to_monotonic(const struct join *j, struct act *a)
{
	const struct session *s = session_of(j, a);

	if (!session_own_clock(s) || (!a->start && !a->end) || a->end < a->start)
		return;
	a->start = session_to_monotonic(s, a->start);
	a->end = session_to_monotonic(s, a->end);
}

enum join_link judge_link(const struct join *j, const struct act *a)
{
	const struct scall *s;

	if (a->call == ACT_AMBIGUOUS)
		return JOIN_AMBIGUOUS;
	if (!a->call)
		return a->correlation ? JOIN_ORPHAN : JOIN_DEVICE_LAUNCHED;
	s = scall_at(j, a->call - 1);
	if (population_of_work(SCALL_WORK(s->info)) >= JOIN_POPULATIONS)
		return JOIN_OTHER_CALL;
	if (s->info & SCALL_AMBIGUOUS)
		return JOIN_AMBIGUOUS;
	return s->bcall || j->end.host_left_out ? JOIN_JOINED : JOIN_NO_HOST_CALL;
}

static void mark_calls(struct join *j, const struct act *a, enum join_time time)
{
	struct scall *s;
	struct bcall *b;

	if (!a->call || a->call == ACT_AMBIGUOUS)
		return;
	s = scall_at(j, a->call - 1);
	if (s->info >> SCALL_ACTS_SHIFT < UINT32_MAX >> SCALL_ACTS_SHIFT)
		s->info += 1u << SCALL_ACTS_SHIFT;
	if (j->end.host_left_out) {
		s = outermost(j, s);
		s->info |= SCALL_RAN;
		if (time == JOIN_TIME_VALID || time == JOIN_TIME_UNANCHORED)
			s->info |= SCALL_VALID;
		return;
	}
	if (!s->bcall)
		return;
	b = bcall_at(j, s->bcall - 1);
	b->info |= BCALL_ACTS;
	/* a clock that nothing ties to ours says how long, which is all that a call asks for */
	if (time == JOIN_TIME_VALID || time == JOIN_TIME_UNANCHORED)
		b->info |= BCALL_VALID;
}

static void count(struct join *j, const struct act *a, unsigned kind, enum join_time time)
{
	struct join_totals *t = &j->totals;
	enum join_link link = judge_link(j, a);

	t->activities++;
	t->kernels += kind == GPUBPF_ACTIVITY_KERNEL;
	t->copies += kind == GPUBPF_ACTIVITY_COPY;
	t->sets += kind == GPUBPF_ACTIVITY_SET;
	t->times[kind].records++;
	t->times[kind].by[time]++;
	if (!is_execution(kind))
		return;
	t->links[link]++;
	if (link == JOIN_ORPHAN)
		t->orphans_by_kind[kind]++;
}

static void match_externals(struct join *j)
{
	for (uint32_t i = 0; i < j->externals.n; i++) {
		struct external *e = vec__at(&j->externals, i);
		uint32_t first = find(j, e->session, e->correlation)->call;

		e->call = first ? call_of(j, first, e->arrival) : 0;
	}
}

int match_activities(struct join *j)
{
	int rc = make_index(j);

	for (uint32_t i = 0; !rc && i < j->acts.n; i++) {
		struct act *a = act_at(j, i);
		unsigned kind = key_of(j, a)->kind;
		struct session *s = session_of(j, a);
		uint32_t first = find(j, s->number, a->correlation)->call;
		enum join_time time;

		a->call = first ? call_of(j, first, a->arrival) : 0;
		to_monotonic(j, a);
		time = judge_time(j, a);
		if (is_execution(kind))
			mark_calls(j, a, time);
		count(j, a, kind, time);
		if (time == JOIN_TIME_VALID && a->start > s->last_start)
			s->last_start = a->start;
	}
	if (!rc)
		match_externals(j);
	drop_index(j);
	return rc;
}

/* ---- In the order of time ---- */

static bool timed(enum join_time t)
{
	return t == JOIN_TIME_VALID || t == JOIN_TIME_OUTSIDE;
}

int sort_activities(struct join *j)
{
	uint32_t *room = malloc(((size_t)j->acts.n + 1) * sizeof(*room)), rest;

	j->order = malloc(((size_t)j->acts.n + 1) * sizeof(*j->order));
	if (!room || !j->order) {
		free(room);
		return -ENOMEM;
	}
	rest = j->acts.n;
	for (uint32_t i = 0; i < j->acts.n; i++)
		j->order[timed(judge_time(j, act_at(j, i))) ? j->ntimed++ : --rest] = i;
	for (uint32_t lo = j->ntimed, hi = j->acts.n; lo + 1 < hi; lo++) { /* as they came */
		uint32_t last = j->order[--hi];

		j->order[hi] = j->order[lo];
		j->order[lo] = last;
	}
	order_acts(j, j->order, room, j->ntimed);
	free(room);
	return 0;
}
