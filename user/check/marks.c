/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/marks.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

struct fits { /* by key: whether it is called so */
	bool *is;
	size_t n;
	const char **shown; /* of those that are */
	size_t names;
};

struct named {
	const char *raw, *shown; /* raw NULL: not known */
};
typedef struct named name_fn(const struct trace *t, size_t i);

static struct named device_name(const struct trace *t, size_t i)
{
	const struct join_key *k = join__key(t->in.join, (uint32_t)i);

	return (struct named){ k->kind == GPUBPF_ACTIVITY_KERNEL ? join__name(t->in.join, k->name) : NULL,
			       t->key_display[i] };
}

static struct named host_name(const struct trace *t, size_t i)
{
	return (struct named){ trace__kernel(t, i)->name, trace__kernel(t, i)->display };
}

static bool same(struct named n, const char *name, bool pattern)
{
	if (!n.raw)
		return false;
	if (pattern)
		return !fnmatch(name, n.shown, 0) || !fnmatch(name, n.raw, 0);
	return !strcmp(n.shown, name) || !strcmp(n.raw, name);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int fits__make(struct fits *f, const struct trace *t, size_t n, name_fn *named, const char *name)
{
	size_t found = 0;

	memset(f, 0, sizeof(*f));
	f->n = n;
	f->is = calloc(n + 1, sizeof(*f->is));
	f->shown = calloc(n + 1, sizeof(*f->shown));
	if (!f->is || !f->shown)
		return -ENOMEM;
	for (int pattern = 0; pattern < 2 && !found; pattern++)
		for (size_t i = 0; i < n; i++) {
			struct named k = named(t, i);

			f->is[i] = name ? same(k, name, pattern) : true;
			if (f->is[i] && k.raw)
				f->shown[found++] = k.shown;
		}
	qsort(f->shown, found, sizeof(*f->shown), by_text);
	for (size_t i = 0; i < found; i++)
		f->names += !i || strcmp(f->shown[i], f->shown[i - 1]) != 0;
	return 0;
}

static void fits__clear(struct fits *f)
{
	free(f->is);
	free(f->shown);
}

static int add(struct check_marks *m, const struct proc *proc, uint64_t t)
{
	if (m->n == m->room) {
		size_t room = m->room ? m->room * 2 : 1024;
		struct check_mark *more = realloc(m->m, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		m->m = more;
		m->room = room;
	}
	m->m[m->n++] = (struct check_mark){ { proc->key[0], proc->key[1] }, t };
	return 0;
}

static int executions(struct check_cx *x, const char *name, struct check_marks *m)
{
	const struct join *j = x->t.in.join;
	struct join_activity a;
	struct fits f;
	int rc;

	if (!j)
		return 0;
	rc = fits__make(&f, &x->t, join__keys(j), device_name, name);
	for (size_t i = 0; !rc && i < join__activities(j); i++) {
		join__activity_brief(j, i, &a);
		if (a.kind != GPUBPF_ACTIVITY_KERNEL)
			continue;
		m->unresolved += !join__name(j, join__key(j, a.key)->name);
		if (!f.is[a.key])
			continue;
		if (a.time == JOIN_TIME_VALID)
			rc = add(m, join__lane(j, a.lane)->session->proc, a.start);
		else
			m->unusable++;
	}
	m->names = f.names;
	fits__clear(&f);
	return rc;
}

struct pass {
	const struct trace *t;
	const struct fits *f;
	struct check_marks *m;
};

static int on_call(const struct trace_call *c, void *arg)
{
	struct pass *p = arg;
	size_t i;

	if (!c->kernel)
		return 0;
	i = (size_t)(c->kernel - trace__kernel(p->t, 0));
	p->m->unresolved += !c->kernel->name;
	if (!p->f->is[i])
		return 0;
	if (c->v->outcome == OUTCOME_FAILED || c->v->captured) {
		p->m->not_run++;
		return 0;
	}
	return add(p->m, c->v->proc, c->v->c->t_entry);
}

static int launches(struct check_cx *x, const char *name, struct check_marks *m)
{
	struct fits f;
	struct pass p = { .t = &x->t, .f = &f, .m = m };
	struct trace_visitor v = { .call = on_call, .arg = &p };
	int rc = fits__make(&f, &x->t, trace__kernels(&x->t), host_name, name);

	if (!rc)
		rc = trace__pass(&x->t, &v, x->err);
	m->names = f.names;
	fits__clear(&f);
	return rc;
}

static bool marker_is(const struct join *j, const struct join_marker *k, const char *name, bool pattern)
{
	const char *text = k->has_name ? join__name(j, k->name) : NULL;

	return text && same((struct named){ text, text }, name, pattern);
}

static int nvtx(struct check_cx *x, const char *name, struct check_marks *m)
{
	const struct join *j = x->t.in.join;
	struct join_marker k;
	int rc = 0;

	for (int pattern = 0; pattern < 2 && j && !m->n && !m->unusable; pattern++)
		for (size_t i = 0; !rc && i < join__markers(j); i++) {
			join__marker(j, i, &k);
			if (k.kind == GPUBPF_MARKER_END)
				continue;
			m->unresolved += !pattern && !(k.has_name && join__name(j, k.name));
			if (!marker_is(j, &k, name, pattern))
				continue;
			m->names = 1;
			if (k.has_time)
				rc = add(m, k.session->proc, k.time);
			else
				m->unusable++;
		}
	return rc;
}

static int by_time(const void *a, const void *b)
{
	const struct check_mark *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->proc[i] != y->proc[i])
			return x->proc[i] < y->proc[i] ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

int check_marks__read(struct check_cx *x, enum check_population p, const char *name, struct check_marks *m)
{
	int rc;

	memset(m, 0, sizeof(*m));
	rc = p == CHECK_LAUNCHES ? launches(x, name, m)
	     : p == CHECK_NVTX   ? nvtx(x, name, m)
				 : executions(x, name, m);
	if (!rc && m->n)
		qsort(m->m, m->n, sizeof(*m->m), by_time);
	if (rc)
		x->rc = rc;
	return rc;
}

void check_marks__clear(struct check_marks *m)
{
	free(m->m);
	memset(m, 0, sizeof(*m));
}

uint64_t check_marks__all(const struct check_marks *m)
{
	return m->n + m->unusable;
}

bool check_mark__same(const struct check_mark *a, const struct check_mark *b)
{
	return a->proc[0] == b->proc[0] && a->proc[1] == b->proc[1];
}

const struct check_mark *check_marks__next(const struct check_marks *m, size_t *at, size_t *n)
{
	size_t first = *at;

	if (first == m->n)
		return NULL;
	while (*at < m->n && check_mark__same(&m->m[*at], &m->m[first]))
		++*at;
	*n = *at - first;
	return m->m + first;
}
