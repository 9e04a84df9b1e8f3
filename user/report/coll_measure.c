// SPDX-License-Identifier: GPL-2.0-or-later
/* Arrivals at matched collectives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/member.h"
#include "report/coll_priv.h"

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t size_of(int64_t v)
{
	return v < 0 ? -(uint64_t)v : (uint64_t)v;
}

/* ---- Clocks, by what the collectives allow ---- */

/* NULL: a file that says it has more members than can be merged. */
static struct coll_clocks *pair_of(const struct collectives *c, unsigned a, unsigned b)
{
	return c->npairs ? &c->pair[a * (2 * c->nclocks - a - 1) / 2 + (b - a - 1)] : NULL;
}

static int make_pairs(struct collectives *c)
{
	if (c->nclocks < 2 || c->nclocks > MEMBERS_MAX)
		return 0;
	c->pair = calloc(c->nclocks * (c->nclocks - 1) / 2, sizeof(*c->pair));
	if (!c->pair)
		return -ENOMEM;
	for (unsigned a = 0; a < c->nclocks; a++)
		for (unsigned b = a + 1; b < c->nclocks; b++)
			c->pair[c->npairs++] = (struct coll_clocks){ a, b, INT64_MIN, INT64_MAX, 0 };
	return 0;
}

/* A difference of two times, as far as that is one. */
static int64_t difference(uint64_t later, uint64_t earlier)
{
	uint64_t d = later > earlier ? later - earlier : earlier - later;

	d = d > INT64_MAX ? INT64_MAX : d;
	return later > earlier ? (int64_t)d : -(int64_t)d;
}

struct clock_span { /* of one collective, in the ranks of one clock */
	bool there;
	uint64_t start, end; /* the last start, the first end */
};

/* b ahead by x: what began there at s began at s - x, and a has not ended by then. */
static void narrow(struct coll_clocks *p, const struct clock_span *a, const struct clock_span *b)
{
	int64_t low = difference(b->start, a->end), high = difference(b->end, a->start);

	p->low = low > p->low ? low : p->low;
	p->high = high < p->high ? high : p->high;
	p->n++;
}

static void narrow_all(struct collectives *c, const struct coll_group *g, size_t i)
{
	struct clock_span span[MEMBERS_MAX] = { 0 };

	for (unsigned k = 0; k < g->n; k++) {
		const struct coll_kernel *v = &g->seq[k]->v[i];
		struct clock_span *s = &span[c->rank[g->seq[k]->rank].clock];

		s->start = !s->there || v->start > s->start ? v->start : s->start;
		s->end = !s->there || v->end < s->end ? v->end : s->end;
		s->there = true;
	}
	for (unsigned a = 0; a < c->nclocks; a++)
		for (unsigned b = a + 1; span[a].there && b < c->nclocks; b++)
			if (span[b].there)
				narrow(pair_of(c, a, b), &span[a], &span[b]);
}

/* Between two machines: the smaller of what is known of the clocks and what the collectives leave. */
static bool clocks_error(const struct collectives *c, const struct coll_rank *a, const struct coll_rank *b,
			 uint64_t devices, uint64_t *ns)
{
	const struct coll_clocks *p = pair_of(c, a->clock < b->clock ? a->clock : b->clock,
					      a->clock < b->clock ? b->clock : a->clock);
	bool known = a->member && b->member && member_error(a->member, b->member, ns);
	uint64_t held;

	if (!p || !p->n || p->low > p->high)
		return known;
	held = size_of(p->low) > size_of(p->high) ? size_of(p->low) : size_of(p->high);
	held = sum(held, devices); /* the ends and beginnings are as good as that */
	if (!known || held < *ns)
		*ns = held;
	return true;
}

bool collectives__error(const struct collectives *c, const struct coll_rank *a, const struct coll_rank *b,
			uint64_t *ns)
{
	uint64_t devices = sum(a->error_ns, b->error_ns), clocks = 0;

	*ns = 0;
	if (a == b)
		return true;
	if (!a->has_error || !b->has_error)
		return false;
	if (a->clock != b->clock && !clocks_error(c, a, b, devices, &clocks))
		return false;
	*ns = sum(devices, clocks);
	return true;
}

/* ---- One collective ---- */

struct arrivals {
	const struct coll_rank *first, *last, *second; /* second: to last */
	uint64_t begun, last_start, second_start, sum; /* sum: of what each waited for the last */
	const struct coll_rank *ended;                 /* before all others … */
	uint64_t end;                                  /* … at */
};

static void look(const struct collectives *c, const struct coll_group *g, size_t i, struct arrivals *a)
{
	memset(a, 0, sizeof(*a));
	for (unsigned k = 0; k < g->n; k++) {
		const struct coll_kernel *v = &g->seq[k]->v[i];
		const struct coll_rank *rank = &c->rank[g->seq[k]->rank];

		if (!a->first || v->start < a->begun) {
			a->first = rank;
			a->begun = v->start;
		}
		if (!a->last || v->start > a->last_start) {
			a->second = a->last;
			a->second_start = a->last_start;
			a->last = rank;
			a->last_start = v->start;
		} else if (!a->second || v->start > a->second_start) {
			a->second = rank;
			a->second_start = v->start;
		}
		if (!a->ended || v->end < a->end) {
			a->ended = rank;
			a->end = v->end;
		}
	}
	for (unsigned k = 0; k < g->n; k++)
		a->sum = sum(a->sum, a->last_start - g->seq[k]->v[i].start);
}

static bool contradicts(const struct collectives *c, const struct arrivals *a)
{
	uint64_t error;

	return a->last != a->ended && a->last_start > a->end &&
	       collectives__error(c, a->last, a->ended, &error) && a->last_start - a->end > error;
}

/* ---- Rows ---- */

static struct coll_row *row_of(struct collectives *c, unsigned group, unsigned ranks, size_t from,
			       const struct nccl_kind *kind, uint32_t name)
{
	struct coll_row *row;

	for (size_t i = from; i < c->nrows; i++)
		if (c->row[i].name == name)
			return &c->row[i];
	if (c->nrows == c->row_room) {
		size_t room = c->row_room ? c->row_room * 2 : 16;

		row = realloc(c->row, room * sizeof(*row));
		if (!row)
			return NULL;
		c->row = row;
		c->row_room = room;
	}
	row = &c->row[c->nrows];
	*row = (struct coll_row){ .kind = kind, .name = name, .group = group, .ranks = ranks };
	row->last = calloc(c->nranks, sizeof(*row->last));
	row->blamed = calloc(c->nranks, sizeof(*row->blamed));
	c->nrows++; /* what is there of it is freed with the others */
	return row->last && row->blamed ? row : NULL;
}

static void keep_top(struct collectives *c, const struct coll_skew *s)
{
	size_t at = c->ntop;

	while (at && c->top[at - 1].skew_ns < s->skew_ns)
		at--;
	if (at == COLL_TOP)
		return;
	if (c->ntop < COLL_TOP)
		c->ntop++;
	memmove(&c->top[at + 1], &c->top[at], (c->ntop - 1 - at) * sizeof(*s));
	c->top[at] = *s;
}

/* Who waited for whom: a collective of all, whose last rank is beyond doubt. */
static void blame(struct collectives *c, const struct coll_group *g, size_t i, const struct arrivals *a)
{
	struct coll_rank *last = &c->rank[a->last - c->rank];

	last->last++;
	last->made_wait_ns = sum(last->made_wait_ns, a->sum);
	for (unsigned k = 0; k < g->n; k++) {
		struct coll_rank *rank = &c->rank[g->seq[k]->rank];

		rank->waited_ns = sum(rank->waited_ns, a->last_start - g->seq[k]->v[i].start);
	}
}

static int add_arrivals(struct collectives *c, struct coll_row *row, const struct coll_group *g, size_t i)
{
	struct coll_skew s = { .row = (uint32_t)(row - c->row), .index = i };
	struct arrivals a;
	uint64_t near;

	look(c, g, i, &a);
	s.start = a.begun;
	s.skew_ns = a.last_start - a.begun;
	s.first = (uint32_t)(a.first - c->rank);
	s.last = (uint32_t)(a.last - c->rank);
	s.has_error = collectives__error(c, a.first, a.last, &s.error_ns);
	if (!s.has_error) {
		row->unknown++;
		return 0;
	}
	row->has_error = true;
	row->error_ns = s.error_ns > row->error_ns ? s.error_ns : row->error_ns;
	for (unsigned k = 0; row->kind->of_all && k < g->n; k++)
		c->rank[g->seq[k]->rank].collectives++;
	if (s.skew_ns <= s.error_ns) {
		row->within++;
		keep_top(c, &s);
		return hist__add(&row->skew, s.skew_ns);
	}
	row->beyond++;
	if (row->kind->of_all)
		row->wait_ns = sum(row->wait_ns, a.sum);
	s.named = collectives__error(c, a.second, a.last, &near) && a.last_start - a.second_start > near;
	row->tied += !s.named;
	if (s.named) {
		row->last[s.last]++;
		if (row->kind->of_all) {
			row->blamed[s.last] = sum(row->blamed[s.last], a.sum);
			blame(c, g, i, &a);
		}
	}
	keep_top(c, &s);
	return hist__add(&row->skew, s.skew_ns);
}

/* What contradicts the match of one kernel contradicts that of all. */
static void doubt(const struct collectives *c, struct coll_group *g, const struct nccl_kind *const *kinds)
{
	struct arrivals a;

	for (size_t i = 0; !g->doubt && i < g->seq[0]->n; i++)
		if (kinds[g->seq[0]->v[i].kind]->of_all) {
			look(c, g, i, &a);
			g->doubt = contradicts(c, &a);
		}
}

static int measure(struct collectives *c, const struct coll_group *g, unsigned number,
		   const struct nccl_kind *const *kinds)
{
	size_t from = c->nrows;
	struct arrivals a;
	int rc = 0;

	for (size_t i = 0; !rc && i < g->seq[0]->n; i++) {
		const struct coll_kernel *v = &g->seq[0]->v[i];
		struct coll_row *row = row_of(c, number, g->n, from, kinds[v->kind], v->name);

		if (!row)
			return -ENOMEM;
		row->n++;
		row->doubt = g->doubt;
		if (!g->doubt) {
			rc = add_arrivals(c, row, g, i);
		} else if (row->kind->of_all) {
			look(c, g, i, &a);
			row->contradicted += contradicts(c, &a);
		}
	}
	return rc;
}

int coll_measure(struct collectives *c, struct coll_group *groups, unsigned ngroups,
		 const struct nccl_kind *const *kinds)
{
	int rc = make_pairs(c);

	for (unsigned k = 0; !rc && c->npairs && k < ngroups; k++)
		for (size_t i = 0; i < groups[k].seq[0]->n; i++)
			if (kinds[groups[k].seq[0]->v[i].kind]->of_all)
				narrow_all(c, &groups[k], i);
	for (unsigned k = 0; !rc && k < ngroups; k++)
		doubt(c, &groups[k], kinds);
	for (unsigned k = 0; !rc && k < ngroups; k++)
		rc = measure(c, &groups[k], k + 1, kinds);
	return rc;
}
