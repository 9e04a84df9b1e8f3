/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/allocs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/allocs_priv.h"
#include "model/memory.h"

#define SUPERSEDED_MAX 8 /* frees in flight of one address */

/* Numbers of different spaces may be equal and mean different things. */
enum space { SPACE_ADDRESS, SPACE_REGISTERED, SPACE_HANDLE };

void allocs__init(struct allocs *a)
{
	memset(a, 0, sizeof(*a));
	a->seed = UINT64_C(0x2545f4914f6cdd1d);
}

static enum space space_of(enum mem_kind kind)
{
	switch (kind) {
	case MEM_REGISTERED:
		return SPACE_REGISTERED;
	case MEM_VIRTUAL:
	case MEM_ARRAY:
		return SPACE_HANDLE;
	default:
		return SPACE_ADDRESS;
	}
}

static struct alloc **slot_of(struct alloc **root, uint64_t base)
{
	while (*root && (*root)->base != base)
		root = base < (*root)->base ? &(*root)->left : &(*root)->right;
	return root;
}

static void split(struct alloc *t, uint64_t base, struct alloc **left, struct alloc **right)
{
	while (t) {
		if (t->base < base) {
			*left = t;
			left = &t->right;
			t = t->right;
		} else {
			*right = t;
			right = &t->left;
			t = t->left;
		}
	}
	*left = *right = NULL;
}

static void insert(struct alloc **root, struct alloc *n)
{
	while (*root && (*root)->priority >= n->priority)
		root = n->base < (*root)->base ? &(*root)->left : &(*root)->right;
	split(*root, n->base, &n->left, &n->right);
	*root = n;
}

static void take_out(struct alloc **slot)
{
	struct alloc *l = (*slot)->left, *r = (*slot)->right;

	while (l && r) {
		if (l->priority >= r->priority) {
			*slot = l;
			slot = &l->right;
			l = l->right;
		} else {
			*slot = r;
			slot = &r->left;
			r = r->left;
		}
	}
	*slot = l ? l : r;
}

static void sum_add(struct mem_sum *s, uint64_t bytes)
{
	s->n++;
	if (__builtin_add_overflow(s->bytes, bytes, &s->bytes))
		s->bytes = UINT64_MAX;
}

static void sum_sub(struct mem_sum *s, uint64_t bytes)
{
	s->n--;
	s->bytes = s->bytes >= bytes ? s->bytes - bytes : 0;
}

static void live_add(struct allocs *a, enum mem_kind kind, uint64_t bytes)
{
	struct mem_row *r = &a->row[kind];

	sum_add(&r->live, bytes);
	sum_add(&a->total_live, bytes);
	if (r->live.bytes > r->peak_bytes)
		r->peak_bytes = r->live.bytes;
	if (a->total_live.bytes > a->total_peak)
		a->total_peak = a->total_live.bytes;
}

/* What stopped being live is freed, ended with its process, or was lost track of. */
static void live_end(struct allocs *a, const struct alloc *n, struct mem_sum *as)
{
	sum_sub(&a->row[n->kind].live, n->bytes);
	sum_sub(&a->total_live, n->bytes);
	sum_add(as, n->bytes);
}

bool alloc_bytes(const struct view *v, uint64_t *bytes)
{
	uint64_t height, pitch;
	const void *blob;
	size_t n;

	if (plan_arg(v->p, v->c, PLAN_BYTES, bytes))
		return true;
	if (v->p->mem != MEM_PITCH || !plan_arg(v->p, v->c, PLAN_HEIGHT, &height))
		return false;
	blob = api_call_blob(v->c, &n);
	if (!blob || n < 8 || (v->c->flags & GPUBPF_CALL_BLOB_FAULT))
		return false;
	memcpy(&pitch, blob, 8);
	if (v->p->api->legacy32)
		pitch = (uint32_t)pitch;
	return !__builtin_mul_overflow(pitch, height, bytes);
}

bool alloc_address(const struct view *v, uint64_t *base)
{
	if (v->outcome != OUTCOME_OK && v->p->mem != MEM_REGISTERED)
		return false;
	if (v->p->mem == MEM_REGISTERED)
		return plan_arg(v->p, v->c, PLAN_PTR, base);
	return api_call_out(v->p->api, v->c, base) && *base;
}

/* Puts `by`, which may be nothing, where the node of a slot stands. */
static void replace(struct alloc **slot, struct alloc *by)
{
	if (!by) {
		take_out(slot);
		return;
	}
	by->left = (*slot)->left;
	by->right = (*slot)->right;
	by->priority = (*slot)->priority;
	*slot = by;
}

/*
 * The address is given out again, so its former holder was freed; the record of that free may still come, since it
 * is written when the call returns. Until then the holder counts as lost track of.
 */
static void supersede(struct allocs *a, struct proc *p, struct alloc **slot, enum space space, uint64_t t)
{
	struct alloc *n = *slot, **ghost, *o;
	unsigned kept = 1;

	take_out(slot);
	live_end(a, n, &a->row[n->kind].lost_track);
	if (a->memory)
		memory__gone(a->memory, a, n, t);
	ghost = slot_of(&p->superseded[space], n->base);
	o = *ghost;
	if (!o) {
		insert(&p->superseded[space], n);
		return;
	}
	replace(ghost, n);
	n->older = o;
	while (o->older && ++kept < SUPERSEDED_MAX)
		o = o->older;
	free(o->older); /* chains grow by one: there is one at most */
	o->older = NULL;
}

static int on_alloc(struct allocs *a, const struct view *v)
{
	struct mem_row *r = &a->row[v->p->mem];
	struct alloc *n, **slot;
	uint64_t base, bytes = 0;
	bool sized;

	tally__add(&r->calls, v);
	if (v->captured || (v->outcome != OUTCOME_OK && v->outcome != OUTCOME_UNKNOWN))
		return 0;
	sized = alloc_bytes(v, &bytes);
	sum_add(&r->allocated, bytes);
	r->bytes_unknown += !sized;
	if (!alloc_address(v, &base)) {
		sum_add(&r->no_address, bytes);
		return 0;
	}
	n = calloc(1, sizeof(*n));
	if (!n)
		return -ENOMEM;
	a->seed ^= a->seed << 13;
	a->seed ^= a->seed >> 7;
	a->seed ^= a->seed << 17;
	n->base = base;
	n->bytes = bytes;
	n->since = v->outcome == OUTCOME_OK ? v->c->t_return : v->c->t_entry;
	n->priority = (uint32_t)(a->seed >> 32);
	n->kind = (uint8_t)v->p->mem;
	n->sized = sized;
	n->entry = v->c->t_entry;
	n->tid = v->c->tid;
	slot = slot_of(&v->proc->mem[space_of(v->p->mem)], base);
	if (*slot)
		supersede(a, v->proc, slot, space_of(v->p->mem), n->since);
	insert(&v->proc->mem[space_of(v->p->mem)], n);
	live_add(a, v->p->mem, bytes);
	return a->memory ? memory__allocated(a->memory, a, n, v) : 0;
}

/* The free of a superseded allocation, whose record came later than that of the next one's allocation. */
static struct alloc *take_superseded(struct allocs *a, struct alloc **slot, uint64_t t)
{
	struct alloc **o = slot, *n;

	while (*o && (*o)->since > t)
		o = &(*o)->older;
	n = *o;
	if (!n)
		return NULL;
	sum_sub(&a->row[n->kind].lost_track, n->bytes);
	sum_add(&a->row[n->kind].freed, n->bytes);
	if (o != slot)
		*o = n->older;
	else
		replace(slot, n->older);
	return n;
}

/* The allocation that a free can mean: the newest one that had been handed out when it was entered. The caller's; NULL: none. */
static struct alloc *take_matching(struct allocs *a, const struct view *v, enum space space, uint64_t base)
{
	struct alloc **slot = slot_of(&v->proc->mem[space], base), *n = *slot;
	uint64_t t = v->c->t_entry;

	if (!n || n->since > t)
		return take_superseded(a, slot_of(&v->proc->superseded[space], base), t);
	take_out(slot);
	live_end(a, n, &a->row[n->kind].freed);
	if (a->memory)
		memory__gone(a->memory, a, n, v->outcome == OUTCOME_OK ? v->c->t_return : t);
	return n;
}

static int on_free(struct allocs *a, const struct view *v)
{
	struct free_row *f = &a->frees[v->p->mem];
	struct alloc *n;
	uint64_t base;
	int rc;

	tally__add(&f->calls, v);
	if (v->captured || v->outcome == OUTCOME_FAILED || v->outcome == OUTCOME_OPEN)
		return 0;
	if (!plan_arg(v->p, v->c, PLAN_PTR, &base)) {
		f->unmatched++;
		return 0;
	}
	if (!base) {
		f->null++;
		return 0;
	}
	if (v->outcome == OUTCOME_UNKNOWN) {
		f->unmatched++;
		return 0;
	}
	n = take_matching(a, v, space_of(v->p->mem), base);
	if (!n) {
		f->unknown++;
		return 0;
	}
	f->matched++;
	rc = a->memory ? memory__freed(a->memory, n, v) : 0;
	free(n);
	return rc;
}

int allocs__call(struct allocs *a, const struct view *v)
{
	return v->p->api->cls == API_ALLOC ? on_alloc(a, v) : on_free(a, v);
}

/* Takes node after node off the tree, whatever its depth. */
static struct alloc *pop_any(struct alloc **root)
{
	struct alloc *n = *root;

	if (n)
		take_out(root);
	return n;
}

static struct alloc *pop_lowest(struct alloc **root)
{
	struct alloc *n;

	while (*root && (*root)->left)
		root = &(*root)->left;
	n = *root;
	if (n)
		take_out(root);
	return n;
}

int allocs__process_over(struct allocs *a, struct proc *p)
{
	struct alloc *n;
	int rc = 0;

	for (int s = 0; s < PROC_MEM_SPACES; s++) {
		while ((n = pop_lowest(&p->mem[s]))) {
			live_end(a, n, &a->row[n->kind].exited);
			if (a->memory && !rc)
				rc = memory__left(a->memory, a, p, n, p->ended);
			free(n);
		}
	}
	allocs__drop(p);
	return rc;
}

int allocs__finish(struct allocs *a, struct proc *p)
{
	struct alloc *n;
	int rc = 0;

	for (int s = 0; s < PROC_MEM_SPACES && a->memory; s++) {
		while ((n = pop_lowest(&p->mem[s]))) {
			if (!rc)
				rc = memory__left(a->memory, a, p, n, 0);
			free(n);
		}
	}
	return rc;
}

void allocs__drop(struct proc *p)
{
	struct alloc *n, *o;

	for (int s = 0; s < PROC_MEM_SPACES; s++) {
		while ((n = pop_any(&p->mem[s])))
			free(n);
		while ((n = pop_any(&p->superseded[s]))) {
			for (; n; n = o) {
				o = n->older;
				free(n);
			}
		}
	}
}

static const struct alloc *holding(const struct alloc *t, uint64_t address)
{
	const struct alloc *below = NULL;

	while (t) {
		if (t->base > address) {
			t = t->left;
		} else {
			below = t;
			t = t->right;
		}
	}
	return below && (address - below->base < below->bytes || address == below->base) ? below : NULL;
}

bool allocs__find(const struct proc *p, uint64_t address, enum mem_kind *kind)
{
	const struct alloc *n = holding(p->mem[SPACE_ADDRESS], address);

	if (!n)
		n = holding(p->mem[SPACE_REGISTERED], address);
	if (!n)
		return false;
	*kind = (enum mem_kind)n->kind;
	return true;
}
