/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/allocs.h"
#include "model/allocs_priv.h"

const char *const memory_op_names[MEMORY_OPS] = { "prefetch",  "advise", "attach", "reserve",
						  "unreserve", "map",    "unmap",  "access" };

int memory__new(bool each_left, struct memory **out)
{
	struct memory *m = *out = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->each_left = each_left;
	m->shift = 10;
	hmap__init(&m->left, sizeof(((struct memory_left *)0)->key), sizeof(struct memory_left));
	hmap__init(&m->matches, sizeof(((struct memory_match *)0)->key), sizeof(struct memory_match));
	hmap__init(&m->pools, sizeof(((struct memory_pool *)0)->key), sizeof(struct memory_pool));
	hmap__init(&m->places, sizeof(((struct memory_place *)0)->key), sizeof(struct memory_place));
	return 0;
}

void memory__free(struct memory *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->matches.n; i++)
		hist__clear(&((struct memory_match *)hmap__at(&m->matches, i))->life);
	for (size_t i = 0; i < m->pools.n; i++)
		free(((struct memory_pool *)hmap__at(&m->pools, i))->stretches);
	hmap__clear(&m->left);
	hmap__clear(&m->matches);
	hmap__clear(&m->pools);
	hmap__clear(&m->places);
	free(m);
}

/* ---- Over time ---- */

static void halve(struct memory *m)
{
	for (unsigned i = 0; i < MEMORY_POINTS / 2; i++) {
		const struct memory_point *a = &m->point[2 * i], *b = &m->point[2 * i + 1];
		struct memory_point p = b->changes ? *b : *a;

		p.changes = a->changes + b->changes;
		p.peak = a->peak > b->peak ? a->peak : b->peak;
		m->point[i] = p;
	}
	memset(m->point + MEMORY_POINTS / 2, 0, sizeof(m->point) / 2);
	m->points = (m->points + 1) / 2;
	m->shift++;
}

/* In the order of records: what comes a little late belongs to the newest point. */
static void change(struct memory *m, const struct allocs *a, uint64_t t)
{
	struct memory_point *p;
	uint64_t i, before;

	if (!m->points)
		m->first = t;
	while ((i = t > m->first ? (t - m->first) >> m->shift : 0) >= MEMORY_POINTS)
		halve(m);
	if (m->points && i < m->points - 1)
		i = m->points - 1;
	before = m->points ? m->point[m->points - 1].bytes : 0;
	p = &m->point[i];
	if (!p->changes)
		p->peak = before;
	p->changes++;
	p->n = a->total_live.n;
	p->bytes = a->total_live.bytes;
	for (int k = 0; k < MEM_KINDS; k++)
		p->kind[k] = a->row[k].live.bytes;
	if (p->bytes > p->peak)
		p->peak = p->bytes;
	m->points = (unsigned)i + 1;
}

static void peak(struct memory_peak *p, const struct mem_sum *live, uint64_t t)
{
	if (live->bytes > p->bytes || !p->n)
		*p = (struct memory_peak){ live->bytes, live->n, t };
}

/* ---- Pools ---- */

static struct memory_pool *pool_of(struct memory *m, const struct view *v, bool by_handle, uint64_t handle)
{
	uint64_t key[3] = { (uintptr_t)v->proc, handle, by_handle };
	struct memory_pool *p = hmap__put(&m->pools, key);

	if (p && !p->proc) {
		p->proc = v->proc;
		p->number = (uint32_t)(m->pools.n - 1);
	}
	return p;
}

/* Addresses that were handed out, joined with those beside them. 0 or -ENOMEM. */
static int touch(struct memory_pool *p, uint64_t from, uint64_t to)
{
	struct memory_stretch *s = p->stretches;
	uint32_t lo = 0, hi = p->nstretches, end;

	if (p->scattered || to <= from)
		return 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (s[mid].to < from && from - s[mid].to >= MEMORY_PADDING)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (end = lo; end < p->nstretches && (s[end].from <= to || s[end].from - to < MEMORY_PADDING);
	     end++) {
		from = s[end].from < from ? s[end].from : from;
		to = s[end].to > to ? s[end].to : to;
	}
	if (end == lo) {
		if (p->nstretches == MEMORY_STRETCHES) {
			p->scattered = true;
			return 0;
		}
		if (!(p->nstretches & (p->nstretches - 1))) {
			size_t cap = p->nstretches ? 2 * (size_t)p->nstretches : 1;

			s = realloc(s, cap * sizeof(*s));
			if (!s)
				return -ENOMEM;
			p->stretches = s;
		}
		memmove(&s[lo + 1], &s[lo], (p->nstretches - lo) * sizeof(*s));
		p->nstretches++;
	} else {
		memmove(&s[lo + 1], &s[end], (p->nstretches - end) * sizeof(*s));
		p->nstretches -= end - lo - 1;
	}
	s[lo] = (struct memory_stretch){ from, to };
	return 0;
}

static int pool_allocated(struct memory *m, struct alloc *n, const struct view *v)
{
	uint64_t handle = 0;
	bool by_handle = plan_arg(v->p, v->c, PLAN_POOL, &handle);
	struct memory_pool *p = pool_of(m, v, by_handle, handle);

	if (!p)
		return -ENOMEM;
	n->pool = p->number + 1;
	p->n++;
	p->bytes += n->bytes;
	p->live++;
	p->live_bytes += n->bytes;
	peak(&p->peak, &(struct mem_sum){ p->live, p->live_bytes }, n->since);
	return touch(p, n->base, n->base + n->bytes);
}

/* ---- From allocs.c ---- */

int memory__allocated(struct memory *m, const struct allocs *a, struct alloc *n, const struct view *v)
{
	peak(&m->peak[n->kind], &a->row[n->kind].live, n->since);
	peak(&m->total, &a->total_live, n->since);
	change(m, a, n->since);
	return n->kind == MEM_POOL ? pool_allocated(m, n, v) : 0;
}

void memory__gone(struct memory *m, const struct allocs *a, const struct alloc *n, uint64_t t)
{
	change(m, a, t);
	if (n->pool) {
		struct memory_pool *p = hmap__at(&m->pools, n->pool - 1);

		p->live--;
		p->live_bytes -= n->bytes;
	}
}

int memory__freed(struct memory *m, const struct alloc *n, const struct view *v)
{
	bool other = n->tid != v->c->tid;
	uint64_t key[2] = { (uint64_t)n->kind << 8 | v->p->mem, other };
	struct memory_match *x = hmap__put(&m->matches, key);

	if (!x)
		return -ENOMEM;
	if (n->pool) {
		struct memory_pool *p = hmap__at(&m->pools, n->pool - 1);

		p->freed++;
		p->freed_bytes += n->bytes;
		p->other_thread += other;
		p->other_call += v->p->mem != MEM_POOL;
	}
	x->n++;
	x->bytes += n->bytes;
	x->unsized += !n->sized;
	return v->c->t_entry >= n->since ? hist__add(&x->life, v->c->t_entry - n->since) : 0;
}

int memory__left(struct memory *m, const struct allocs *a, const struct proc *p, const struct alloc *n,
		 uint64_t t)
{
	uint64_t key[3] = { (uintptr_t)p, (uint64_t)n->kind << 1 | n->sized, n->bytes };
	struct memory_left *l;

	if (n->pool) {
		struct memory_pool *pool = hmap__at(&m->pools, n->pool - 1);
		uint64_t hole = pool->measured && n->base > pool->last_end ? n->base - pool->last_end : 0;

		pool->measured = true;
		pool->end_live++;
		pool->end_bytes += n->bytes;
		pool->last_end = n->base + n->bytes;
		if (hole >= MEMORY_PADDING) {
			pool->holes++;
			pool->hole_bytes += hole;
			pool->largest_hole = hole > pool->largest_hole ? hole : pool->largest_hole;
		}
	}
	if (t)
		memory__gone(m, a, n, t);
	if (m->each_left) {
		key[1] = n->tid;
		key[2] = n->entry;
	}
	l = hmap__put(&m->left, key);
	if (!l)
		return -ENOMEM;
	if (!l->n || n->since < l->oldest) {
		l->oldest = n->since;
		l->tid = n->tid;
		l->entry = n->entry;
	}
	l->proc = p;
	l->kind = (enum mem_kind)n->kind;
	l->sized = n->sized;
	l->bytes = n->bytes;
	l->n++;
	return 0;
}

/* ---- Placement ---- */

static int op_of(const char *kind)
{
	static const struct {
		const char *kind;
		enum memory_op op;
	} ops[] = {
		{ "place.prefetch", MEMORY_PREFETCH },     { "place.advise", MEMORY_ADVISE },
		{ "place.attach", MEMORY_ATTACH },         { "reserve.virtual", MEMORY_RESERVE },
		{ "unreserve.virtual", MEMORY_UNRESERVE }, { "map.virtual", MEMORY_MAP },
		{ "unmap.virtual", MEMORY_UNMAP },         { "map.access", MEMORY_ACCESS },
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (strcmp(ops[i].kind, kind) == 0)
			return (int)ops[i].op;
	return -1;
}

/* CUmemLocation: its type, then its id. A device that is -1 is the host (CU_DEVICE_CPU). */
static uint64_t where_of(const struct view *v)
{
	static const enum memory_where of_type[] = { MEMORY_WHERE_OTHER, MEMORY_DEVICE, MEMORY_HOST,
						     MEMORY_HOST_NODE, MEMORY_HOST_NODE_CURRENT };
	uint64_t x;

	if (v->p->arg[PLAN_LOCATION] >= 0) {
		uint32_t type;

		if (!plan_arg(v->p, v->c, PLAN_LOCATION, &x))
			return (uint64_t)MEMORY_WHERE_UNREAD << 32;
		type = (uint32_t)x;
		if (type == 0 || type >= sizeof(of_type) / sizeof(of_type[0]))
			return (uint64_t)MEMORY_WHERE_OTHER << 32 | type;
		x >>= 32;
		return (uint64_t)of_type[type] << 32 |
		       (of_type[type] == MEMORY_DEVICE || of_type[type] == MEMORY_HOST_NODE ? x : 0);
	}
	if (v->p->arg[PLAN_DEVICE] < 0)
		return 0;
	if (!plan_arg(v->p, v->c, PLAN_DEVICE, &x))
		return (uint64_t)MEMORY_WHERE_UNREAD << 32;
	return (int32_t)x == -1 ? (uint64_t)MEMORY_HOST << 32 : (uint64_t)MEMORY_DEVICE << 32 | (uint32_t)x;
}

/* CU_MEM_ADVISE_SET_PREFERRED_LOCATION, SET_ACCESSED_BY, UNSET_ACCESSED_BY: the others have no use for the place. */
static bool has_place(uint64_t advice)
{
	return advice == 3 || advice == 5 || advice == 6;
}

static int place(struct memory *m, const struct view *v, enum memory_op op)
{
	uint64_t key[3] = { (uintptr_t)v->proc, (uint64_t)op << 32, where_of(v) }, bytes, ptr, detail;
	struct memory_place *x;
	enum mem_kind kind;

	if (plan_arg(v->p, v->c, op == MEMORY_ADVISE ? PLAN_ADVICE : PLAN_FLAGS, &detail) &&
	    (op == MEMORY_ADVISE || op == MEMORY_ATTACH))
		key[1] |= (uint32_t)detail;
	if (op == MEMORY_ADVISE && !has_place((uint32_t)key[1]))
		key[2] = 0;
	x = hmap__put(&m->places, key);
	if (!x)
		return -ENOMEM;
	x->proc = v->proc;
	tally__add(&x->calls, v);
	if (v->captured || v->outcome == OUTCOME_FAILED || v->outcome == OUTCOME_OPEN)
		return 0;
	if (!plan_arg(v->p, v->c, PLAN_BYTES, &bytes))
		x->unsized++;
	else if (__builtin_add_overflow(x->bytes, bytes, &x->bytes))
		x->bytes = UINT64_MAX;
	if (op < MEMORY_RESERVE && plan_arg(v->p, v->c, PLAN_PTR, &ptr) &&
	    allocs__find(v->proc, ptr, &kind)) {
		x->managed += kind == MEM_MANAGED;
		x->elsewhere += kind != MEM_MANAGED;
	}
	return 0;
}

/* CUmemPool_attribute: RESERVED_MEM_CURRENT, RESERVED_MEM_HIGH, USED_MEM_CURRENT, USED_MEM_HIGH (cuda.h). */
static void told(struct memory_pool *p, const struct view *v)
{
	uint64_t attr, value;
	const void *blob;
	size_t n;

	blob = api_call_blob(v->c, &n);
	if (!plan_arg(v->p, v->c, PLAN_ATTR, &attr) || attr < 5 || attr > 8 || !blob || n < sizeof(value) ||
	    (v->c->flags & GPUBPF_CALL_BLOB_FAULT))
		return;
	memcpy(&value, blob, sizeof(value));
	if (attr == 5) {
		p->has_reserved = true;
		p->reserved = value;
	} else if (attr == 7) {
		p->has_used = true;
		p->used = value;
	}
	if (attr <= 6 && value > p->reserved_most)
		p->reserved_most = value;
	if (attr >= 7 && value > p->used_most)
		p->used_most = value;
}

static int pool_call(struct memory *m, const struct view *v)
{
	const char *what = v->p->api->detail;
	struct memory_pool *p;
	uint64_t handle;

	if (v->outcome != OUTCOME_OK)
		return 0;
	if (!(strcmp(what, "create") == 0 ? api_call_out(v->p->api, v->c, &handle)
					  : plan_arg(v->p, v->c, PLAN_POOL, &handle)))
		return 0;
	p = pool_of(m, v, true, handle);
	if (!p)
		return -ENOMEM;
	p->created |= strcmp(what, "create") == 0;
	p->destroyed |= strcmp(what, "destroy") == 0;
	p->trims += strcmp(what, "trim") == 0;
	if (strcmp(what, "attribute") == 0)
		told(p, v);
	return 0;
}

int memory__call(struct memory *m, const struct view *v)
{
	int op = op_of(v->p->api->kind);

	if (v->p->api->cls == API_POOL)
		return pool_call(m, v);
	return op < 0 ? 0 : place(m, v, (enum memory_op)op);
}
