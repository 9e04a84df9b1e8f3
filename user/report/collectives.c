// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernels of NCCL by rank and stream, and which streams of which ranks are alike. */
#include "report/collectives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/member.h"
#include "model/names.h"
#include "model/procs.h"
#include "report/coll_priv.h"
#include "util/hmap.h"

struct rank_entry {
	uint64_t key[2]; /* struct proc *, device */
	struct coll_rank pub;
	bool seen_session;
	uint32_t number;
};

struct reader {
	const struct join *j;
	const Gpubpf__Meta *meta;
	const struct nccl_kind **kinds; /* by key of the join; NULL: none of NCCL */
	struct hmap ranks, seqs;
	struct collectives *c;
};

static int read_kinds(struct reader *r)
{
	size_t n = join__keys(r->j);

	r->kinds = calloc(n + 1, sizeof(*r->kinds));
	if (!r->kinds)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct join_key *k = join__key(r->j, (uint32_t)i);
		const char *text = k->kind == GPUBPF_ACTIVITY_KERNEL ? join__name(r->j, k->name) : NULL;
		char *display;

		if (!text || !strstr(text, "nccl"))
			continue;
		display = names__display(text, 0);
		if (!display)
			return -ENOMEM;
		r->kinds[i] = nccl_kernel(display);
		free(display);
	}
	return 0;
}

/* Times of a rank are as good as the worst of its sessions. */
static void add_session(struct rank_entry *e, const struct join_session *s)
{
	struct coll_rank *p = &e->pub;

	p->has_error = s->has_clock_error && (!e->seen_session || p->has_error);
	if (s->clock_error_ns > p->error_ns)
		p->error_ns = s->clock_error_ns;
	e->seen_session = true;
}

static struct coll_seq *seq_of(struct reader *r, const struct join_lane *lane, struct rank_entry **rank)
{
	struct rank_entry *e = hmap__put(&r->ranks,
					 (uint64_t[2]){ (uintptr_t)lane->session->proc, lane->device });
	struct coll_seq *s;

	if (!e)
		return NULL;
	if (!e->pub.proc) {
		e->pub.proc = lane->session->proc;
		e->pub.device = lane->device;
		e->pub.member = member_of(r->meta, e->pub.proc->tgid);
	}
	add_session(e, lane->session);
	*rank = e;
	s = hmap__put(&r->seqs, (uint64_t[3]){ (uintptr_t)e, lane->context, lane->stream });
	return s;
}

static int add_kernel(struct coll_seq *s, const struct join_activity *a, uint32_t name)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		struct coll_kernel *grown = realloc(s->v, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		s->v = grown;
		s->room = room;
	}
	s->v[s->n++] = (struct coll_kernel){ a->start, a->end, name, a->key };
	s->hash[0] = (s->hash[0] ^ name) * UINT64_C(0x100000001b3) + 1;
	s->hash[1] = (s->hash[1] + name + 1) * UINT64_C(0x9e3779b97f4a7c15);
	s->hash[1] ^= s->hash[1] >> 29;
	return 0;
}

static int read_kernels(struct reader *r)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < join__activities(r->j); i++) {
		struct join_activity a;
		const struct join_lane *lane;
		struct rank_entry *rank;
		struct coll_seq *s;

		join__activity_brief(r->j, i, &a);
		lane = join__lane(r->j, a.lane);
		if (!r->kinds[a.key] || !lane->session->proc->selected)
			continue;
		s = seq_of(r, lane, &rank);
		if (!s)
			return -ENOMEM;
		rank->pub.kernels++;
		if (r->kinds[a.key]->pairs)
			rank->pub.pairs++;
		else if (a.time != JOIN_TIME_VALID)
			s->untimed++;
		else
			rc = add_kernel(s, &a, join__key(r->j, a.key)->name);
	}
	return rc;
}

static bool one_clock(const Gpubpf__Member *a, const Gpubpf__Member *b)
{
	return a && b ? member_same_clock(a, b) : a == b;
}

/* Numbers instead of addresses, in an order that is the capture's. */
static int place_ranks(struct reader *r)
{
	struct collectives *c = r->c;

	c->nranks = r->ranks.n;
	c->rank = calloc(c->nranks + 1, sizeof(*c->rank));
	if (!c->rank)
		return -ENOMEM;
	for (size_t i = 0; i < c->nranks; i++) {
		struct rank_entry *e = hmap__at(&r->ranks, i);
		struct coll_rank *k = &c->rank[i];
		size_t like = 0;

		e->number = (uint32_t)i;
		*k = e->pub;
		while (like < i && !one_clock(c->rank[like].member, k->member))
			like++;
		k->clock = like < i ? c->rank[like].clock : (unsigned)c->nclocks++;
		c->kernels += k->kernels;
		c->pairs += k->pairs;
	}
	for (size_t i = 0; i < r->seqs.n; i++) {
		struct coll_seq *s = hmap__at(&r->seqs, i);

		s->number = (uint32_t)i;
		s->rank = ((const struct rank_entry *)(uintptr_t)s->key[0])->number;
		c->rank[s->rank].untimed += s->untimed;
		c->untimed += s->untimed;
	}
	return 0;
}

/* ---- Which are alike ---- */

static int alike(const struct coll_seq *a, const struct coll_seq *b)
{
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return memcmp(a->hash, b->hash, sizeof(a->hash));
}

static int by_names(const void *x, const void *y)
{
	const struct coll_seq *a = *(struct coll_seq *const *)x, *b = *(struct coll_seq *const *)y;
	int c = alike(a, b);

	if (!c && a->rank != b->rank)
		c = a->rank < b->rank ? -1 : 1;
	return c ? c : (a->number > b->number) - (a->number < b->number);
}

static int by_set(const void *x, const void *y)
{
	const struct coll_seq *a = *(struct coll_seq *const *)x, *b = *(struct coll_seq *const *)y;
	int c = alike(a, b);

	if (!c && a->nth != b->nth)
		c = a->nth < b->nth ? -1 : 1;
	return c ? c : (a->rank > b->rank) - (a->rank < b->rank);
}

static unsigned make_groups(struct coll_seq **all, size_t n, struct coll_group *groups)
{
	unsigned ngroups = 0;

	if (n)
		qsort(all, n, sizeof(*all), by_names);
	for (size_t i = 1; i < n; i++)
		if (!alike(all[i], all[i - 1]) && all[i]->rank == all[i - 1]->rank)
			all[i]->nth = all[i - 1]->nth + 1;
	if (n)
		qsort(all, n, sizeof(*all), by_set);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n; to++)
			if (alike(all[to], all[from]) || all[to]->nth != all[from]->nth)
				break;
		if (to - from > 1)
			groups[ngroups++] = (struct coll_group){ &all[from], (unsigned)(to - from), false };
	}
	return ngroups;
}

static void count_matched(struct collectives *c, const struct coll_group *groups, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; k < groups[i].n; k++)
			c->rank[groups[i].seq[k]->rank].matched += groups[i].seq[k]->n;
	for (size_t i = 0; i < c->nranks; i++) {
		struct coll_rank *k = &c->rank[i];

		k->unmatched = k->kernels - k->pairs - k->matched;
		c->unmatched += k->unmatched;
	}
}

static int match(struct reader *r)
{
	size_t n = 0;
	struct coll_seq **all = calloc(r->seqs.n + 1, sizeof(struct coll_seq *));
	struct coll_group *groups = calloc(r->seqs.n + 1, sizeof(*groups));
	int rc = all && groups ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < r->seqs.n; i++) {
		struct coll_seq *s = hmap__at(&r->seqs, i);

		/* one without a time has no place in the order */
		if (s->n && !s->untimed)
			all[n++] = s;
	}
	if (!rc) {
		r->c->groups = make_groups(all, n, groups);
		count_matched(r->c, groups, r->c->groups);
		rc = coll_measure(r->c, groups, r->c->groups, r->kinds);
	}
	free(groups);
	free(all);
	return rc;
}

int collectives__read(const struct join *j, const Gpubpf__Meta *meta, struct collectives **out)
{
	struct reader r = { .j = j, .meta = meta };
	int rc;

	*out = NULL;
	hmap__init(&r.ranks, sizeof(uint64_t[2]), (sizeof(struct rank_entry) + 7) & ~(size_t)7);
	hmap__init(&r.seqs, sizeof(uint64_t[3]), sizeof(struct coll_seq));
	rc = read_kinds(&r);
	if (!rc)
		rc = read_kernels(&r);
	if (!rc && r.ranks.n) {
		r.c = calloc(1, sizeof(*r.c));
		rc = r.c ? place_ranks(&r) : -ENOMEM;
		if (!rc)
			rc = match(&r);
		if (rc)
			collectives__free(r.c);
		else
			*out = r.c;
	}
	for (size_t i = 0; i < r.seqs.n; i++)
		free(((struct coll_seq *)hmap__at(&r.seqs, i))->v);
	hmap__clear(&r.seqs);
	hmap__clear(&r.ranks);
	free(r.kinds);
	return rc;
}

void collectives__free(struct collectives *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->nrows; i++) {
		hist__clear(&c->row[i].skew);
		free(c->row[i].last);
		free(c->row[i].blamed);
	}
	free(c->row);
	free(c->rank);
	free(c->pair);
	free(c);
}
