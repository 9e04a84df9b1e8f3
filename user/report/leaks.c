/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that no recorded call freed, by the stack of its allocation where one was taken (record --stacks). */
#include <errno.h>
#include <string.h>

#include "report/leaks.h"
#include "report/more.h"
#include "stacks/folds.h"
#include "util/err.h"

struct wanted {
	uint64_t key[2]; /* process and thread, entry: as in stack_call */
};

static uint64_t who(uint32_t tgid, uint32_t tid)
{
	return (uint64_t)tgid << 32 | tid;
}

/* Of the calls only those that are asked for; what stacks are made of stands before them. */
static int take(struct stack_table *t, const struct hmap *wanted, const struct gpubpf_rec *rec)
{
	const struct gpubpf_stack *s = (const struct gpubpf_stack *)rec;
	uint64_t key[2];

	if (rec->kind != GPUBPF_REC_STACK)
		return 0;
	if (rec->flags & GPUBPF_STACK_CALL) {
		if (rec->size < sizeof(*s))
			return 0;
		key[0] = who(s->tgid, s->tid);
		key[1] = s->t_entry;
		if (!hmap__get(wanted, key))
			return 0;
	}
	return stack_table__add(t, rec);
}

int leaks__read(struct report *r, struct err *err)
{
	const struct memory *m = r->m->memory;
	const struct gpubpf_rec *rec;
	struct hmap wanted;
	int rc = 0;

	if (!m || !m->each_left || !m->left.n)
		return 0;
	hmap__init(&wanted, sizeof(((struct wanted *)0)->key), sizeof(struct wanted));
	for (size_t i = 0; !rc && i < m->left.n; i++) {
		const struct memory_left *l = hmap__at(&m->left, i);

		if (!hmap__put(&wanted, (uint64_t[2]){ who(l->proc->tgid, l->tid), l->entry }))
			rc = -ENOMEM;
	}
	if (!rc)
		rc = capture_reader__rewind(r->in.reader);
	while (!rc && (rc = capture_reader__next(r->in.reader, &rec, err)) > 0)
		rc = take(&r->stacks, &wanted, rec);
	hmap__clear(&wanted);
	if (rc == -ENOMEM)
		return err_set(err, rc, "%s: out of memory", r->in.path);
	return rc < 0 ? err_prefix(err, rc, "%s", r->in.path) : 0;
}

struct leak {
	uint64_t key[3]; /* process; kind, sized; size or stack */
	const struct memory_left *oldest;
	const struct fold *fold; /* NULL: none was taken */
	uint64_t n, bytes, each;
	bool differ;
};

static int add(const struct report *r, struct folds *folds, struct hmap *leaks, const struct memory_left *l)
{
	const struct stack_call *call = r->m->memory->each_left ? stack_table__call(&r->stacks, l->proc->tgid,
										    l->tid, l->entry)
								: NULL;
	const struct fold *fold = call ? folds__of(folds, &r->stacks, call->chain) : NULL;
	uint64_t key[3] = { (uintptr_t)l->proc,
			    (uint64_t)l->kind << 2 | (uint64_t)l->sized << 1 | (fold != NULL),
			    fold ? fold__id(fold) : l->bytes };
	struct leak *x = hmap__put(leaks, key);

	if (!x || (call && !fold))
		return -ENOMEM;
	if (!x->n || l->oldest < x->oldest->oldest)
		x->oldest = l;
	x->differ |= x->n && x->each != l->bytes;
	x->each = l->bytes;
	x->fold = fold;
	x->n += l->n;
	if (__builtin_add_overflow(x->bytes, l->n * l->bytes, &x->bytes))
		x->bytes = UINT64_MAX;
	return 0;
}

static uint64_t end_of(const struct report *r, const struct proc *p)
{
	const Gpubpf__Footer *f = r->in.footer;

	if (p->end != PROC_RUNNING)
		return p->ended;
	return f && f->end_ns > r->m->last_ns ? f->end_ns : r->m->last_ns;
}

static int leak_row(const struct report *r, struct rows *rows, const struct leak *x)
{
	const struct memory_left *l = x->oldest;
	uint64_t end = end_of(r, l->proc);

	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, x->n);
	row__maybe(rows, l->sized, true, x->bytes);
	row__maybe(rows, l->sized && !x->differ, !l->sized, x->each);
	row__maybe(rows, end >= l->oldest, true, end - l->oldest);
	row__number(rows, l->proc->tgid);
	row__number(rows, l->tid);
	if (row__text(rows, l->proc->end == PROC_RUNNING    ? "at the end"
			    : l->proc->end == PROC_EXECED   ? "at exec"
			    : l->proc->end == PROC_REPLACED ? "at an exit that was not seen"
							    : "at exit") ||
	    row__text(rows, mem_kind_names[l->kind]))
		return -ENOMEM;
	if (!x->fold) {
		row__maybe(rows, false, true, 0);
		return 0;
	}
	return row__text(rows, fold__text(x->fold)[0] ? fold__text(x->fold) : "<no frame is known>");
}

int build_leaks(const struct report *r, struct rows *rows)
{
	const struct memory *m = r->m->memory;
	struct folds folds;
	struct hmap leaks;
	int rc = 0;

	if (!m || r->o.model.filter.ntids)
		return 0;
	folds__init(&folds);
	hmap__init(&leaks, sizeof(((struct leak *)0)->key), sizeof(struct leak));
	for (size_t i = 0; !rc && i < m->left.n; i++)
		rc = add(r, &folds, &leaks, hmap__at(&m->left, i));
	for (size_t i = 0; !rc && i < leaks.n; i++)
		rc = leak_row(r, rows, hmap__at(&leaks, i));
	hmap__clear(&leaks);
	folds__clear(&folds);
	return rc;
}
