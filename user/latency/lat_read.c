/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls of a capture, one by one as the model understands them. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "latency/lat.h"
#include "util/err.h"

/* ---- Groups ---- */

int lat_group__add(struct lat_group *g, enum lat_measure m, uint64_t ns)
{
	if (!g->d[m])
		g->d[m] = calloc(1, sizeof(*g->d[m]));
	return g->d[m] ? lat_dist__add(g->d[m], ns) : -ENOMEM;
}

int lat_group__merge(struct lat_group *into, const struct lat_group *from)
{
	int rc = 0;

	into->calls += from->calls;
	into->measured += from->measured;
	into->entry_only += from->entry_only;
	into->open += from->open;
	into->bad_time += from->bad_time;
	into->failed += from->failed;
	for (int m = 0; !rc && m < LAT_MEASURES; m++) {
		if (!from->d[m])
			continue;
		if (!into->d[m])
			into->d[m] = calloc(1, sizeof(*into->d[m]));
		rc = into->d[m] ? lat_dist__merge(into->d[m], from->d[m]) : -ENOMEM;
	}
	return rc;
}

void lat_group__clear(struct lat_group *g)
{
	for (int m = 0; m < LAT_MEASURES; m++) {
		if (g->d[m])
			lat_dist__clear(g->d[m]);
		free(g->d[m]);
	}
	*g = (struct lat_group){ 0 };
}

static int count_call(struct lat_group *g, const struct view *v)
{
	g->calls++;
	if (v->outcome == OUTCOME_FAILED)
		g->failed++;
	if (v->outcome == OUTCOME_OPEN) {
		g->open++;
	} else if (v->outcome == OUTCOME_UNKNOWN) {
		g->entry_only++;
	} else if (!v->timed) {
		g->bad_time++;
	} else {
		g->measured++;
		return lat_group__add(g, LAT_OWN, v->ns);
	}
	return 0;
}

/* ---- Who asked ---- */

struct lat_thread *lat_thread_of(struct latency *l, uint32_t tgid, uint64_t life, uint32_t tid)
{
	uint64_t key[2] = { (uint64_t)tgid << 32 | tid, life };
	size_t before = l->threads.n;
	struct lat_thread *th = hmap__put(&l->threads, key);

	if (th && l->threads.n != before) {
		th->tgid = tgid;
		th->tid = tid;
		th->number = (uint32_t)before;
	}
	return th;
}

bool lat_time_wanted(const struct latency *l, uint64_t entry)
{
	uint64_t since = latency__since(l, entry);

	return (!l->o.has_from || since >= l->o.from) && (!l->o.has_to || since < l->o.to);
}

static bool wanted(const struct latency *l, const struct view *v, uint32_t kernel)
{
	if (v->c->depth || !v->thread->selected || !l->api_wanted[v->c->api] ||
	    !lat_time_wanted(l, v->c->t_entry))
		return false;
	return !l->o.nkernels || !l->counting || (kernel && lat_kernel__row(l, kernel)->wanted);
}

/* ---- The slowest ---- */

struct lat_pick *lat_pick_of(struct latency *l, enum lat_measure m, unsigned population, uint64_t ns, int *rc)
{
	struct lat_picks *p = &l->picks[m][population];
	size_t at;

	*rc = 0;
	if (!l->o.slowest || (p->n == l->o.slowest && ns <= p->v[p->n - 1].ns))
		return NULL;
	if (!p->v)
		p->v = calloc(l->o.slowest, sizeof(*p->v));
	if (!p->v) {
		*rc = -ENOMEM;
		return NULL;
	}
	if (p->n < l->o.slowest)
		p->n++;
	for (at = p->n - 1; at && p->v[at - 1].ns < ns; at--)
		p->v[at] = p->v[at - 1];
	p->v[at] = (struct lat_pick){ .ns = ns };
	return &p->v[at];
}

static int pick(struct latency *l, const struct view *v, uint32_t kernel, uint32_t number)
{
	int rc;
	struct lat_pick *p = lat_pick_of(l, LAT_OWN, v->p->population, v->ns, &rc);

	if (!p)
		return rc;
	p->entry = v->c->t_entry;
	p->ret = v->c->t_return;
	p->has_ret = true;
	p->tgid = v->c->tgid;
	p->tid = v->c->tid;
	p->api = v->c->api;
	p->kernel = kernel;
	p->number = number;
	return 0;
}

/* ---- Calls ---- */

static int remember(struct latency *l, uint32_t kernel, uint32_t stream, uint8_t flags)
{
	if (l->ncalls > l->call_room) {
		size_t room = l->call_room ? l->call_room * 2 : 4096;
		uint32_t *k = realloc(l->call_kernel, room * sizeof(*k));
		uint32_t *s = k ? realloc(l->call_stream, room * sizeof(*s)) : NULL;
		uint8_t *f = s ? realloc(l->call_flags, room * sizeof(*f)) : NULL;

		l->call_kernel = k ? k : l->call_kernel;
		l->call_stream = s ? s : l->call_stream;
		if (!f)
			return -ENOMEM;
		l->call_flags = f;
		l->call_room = room;
	}
	l->call_kernel[l->ncalls - 1] = kernel;
	l->call_stream[l->ncalls - 1] = stream;
	l->call_flags[l->ncalls - 1] = flags;
	return 0;
}

static void count_state(struct latency *l, const struct view *v)
{
	struct lat_states *s;

	if (v->p->population >= JOIN_POPULATIONS)
		return;
	s = &l->states[v->p->population];
	s->calls++;
	if (v->outcome == OUTCOME_FAILED)
		s->failed++;
	else if (v->captured)
		s->captured++;
	else if (v->outcome == OUTCOME_OPEN)
		s->open++;
}

static int study(struct latency *l, const struct view *v, const struct lat_thread *th, uint32_t kernel,
		 bool first)
{
	struct breakdown b = { 0 };
	struct lat_facts f = { .n = 0 };

	if (v->latency) {
		breakdown_of_call(v->latency, &b);
		l->excess += b.excess != 0;
	}
	lat_facts_of_call(&f, l, v, th, v->latency ? &b : NULL, kernel, first);
	return lat_study__add(&l->study[LAT_OWN][v->p->population], v->ns, v->latency ? b.ns : NULL,
			      BREAKDOWN_CAUSES, &f);
}

static int count(struct latency *l, const struct view *v, const struct lat_thread *th, uint32_t kernel,
		 bool first, uint32_t number)
{
	int rc = count_call(&l->api[v->c->api], v);

	l->selected++;
	count_state(l, v);
	if (!rc && kernel)
		rc = count_call(&l->kernel[kernel - 1].group, v);
	if (!rc)
		rc = lat_stacks__call(l, v);
	if (!rc && v->timed)
		rc = study(l, v, th, kernel, first);
	if (!rc)
		rc = lat_locks__call(l, v);
	return rc || !v->timed ? rc : pick(l, v, kernel, number);
}

static int on_call(const struct view *v, void *arg)
{
	struct latency *l = arg;
	uint32_t kernel = 0, stream = 0, number = 0;
	struct lat_thread *th;
	uint8_t flags = 0;
	bool first = false;
	int rc;

	if (!l->start_is_known && (!l->start || v->c->t_entry < l->start))
		l->start = v->c->t_entry;
	th = lat_thread_of(l, v->c->tgid, v->proc->key[1], v->c->tid);
	rc = th ? lat_kernel__number(l, v, &kernel, &first) : -ENOMEM;
	if (!rc && !l->again)
		rc = lat_streams__call(l->streams, v, &stream);
	if (rc)
		return rc;
	if (v->c->depth)
		th->nested++;
	if (wanted(l, v, kernel))
		flags = LAT_CALL_WANTED;
	if (v->p->population < JOIN_POPULATIONS)
		number = ++l->ncalls;
	if (flags && l->counting)
		rc = count(l, v, th, kernel, first, number);
	flags |= (first ? LAT_CALL_FIRST_OF_KERNEL : 0) | (th->calls ? 0 : LAT_CALL_FIRST_OF_THREAD) |
		 (v->outcome == OUTCOME_OPEN ? LAT_CALL_OPEN : 0);
	if (!rc && number && l->numbering && !l->again)
		rc = remember(l, kernel, stream, flags);
	if (v->c->depth)
		return rc;
	th->nested = 0;
	th->calls++;
	th->last_return = v->timed ? v->c->t_return : v->c->t_entry;
	return rc;
}

/* ---- Reading ---- */

static bool matches(const char *pattern, const char *symbol)
{
	return strpbrk(pattern, "*?[") ? fnmatch(pattern, symbol, 0) == 0 : strcmp(pattern, symbol) == 0;
}

static int choose_apis(struct latency *l, struct err *err)
{
	const char *names[GPUBPF_API_MAX], *nearest;
	size_t n = 0;

	for (unsigned i = 0; i < l->napis; i++) {
		const struct api *a = apitab__get(l->in.tab, i);

		if (a)
			names[n++] = a->symbol;
		l->api_wanted[i] = !l->o.napis;
	}
	for (size_t k = 0; k < l->o.napis; k++) {
		const char *pattern = l->o.apis[k];
		bool there = false;

		for (unsigned i = 0; i < l->napis; i++) {
			const struct api *a = apitab__get(l->in.tab, i);

			if (a && matches(pattern, a->symbol))
				l->api_wanted[i] = there = true;
		}
		if (there)
			continue;
		nearest = opts_nearest(pattern, names, n);
		if (nearest)
			return err_set(err, -ESRCH,
				       "%s: no entry point '%s' in this capture; did you mean '%s'?",
				       l->in.path, pattern, nearest);
		return err_set(err, -ESRCH,
			       "%s: no entry point '%s' in this capture; `gpubpf inspect --apis` lists them",
			       l->in.path, pattern);
	}
	return 0;
}

static int prepare(struct latency *l, struct err *err)
{
	l->napis = (unsigned)apitab__size(l->in.tab);
	l->api = calloc(l->napis + JOIN_POPULATIONS, sizeof(*l->api));
	l->api_wanted = calloc(l->napis + 1, sizeof(*l->api_wanted));
	lat_locks__init(&l->locks);
	hmap__init(&l->threads, 2 * sizeof(uint64_t), sizeof(struct lat_thread));
	if (!l->api || !l->api_wanted || lat_streams__new(&l->streams))
		return err_set(err, -ENOMEM, "%s: out of memory", l->in.path);
	l->start_is_known = l->in.meta->has_start_ns;
	l->start = l->start_is_known ? l->in.meta->start_ns : 0;
	/* without a footer nobody says whether a shim's records follow */
	l->numbering = l->in.meta->n_shim || !l->in.footer;
	l->counting = !l->o.nkernels;
	return choose_apis(l, err);
}

/* Once more, now that it is known which kernels are wanted. */
static int read_again(struct latency *l, struct err *err)
{
	const struct gpubpf_rec *rec;
	struct model *m = NULL;
	int rc = model__new(l->in.tab, &l->o.model, &m);

	l->again = l->counting = true;
	l->ncalls = 0;
	for (size_t i = 0; i < l->threads.n; i++) {
		struct lat_thread *th = hmap__at(&l->threads, i);

		th->calls = th->nested = th->last_return = 0;
	}
	lat_kernels__begin(l); /* the same keys come in the same order */
	if (!rc) {
		l->names = m->names;
		model__watch(m, on_call, l);
		rc = capture_reader__rewind(l->in.reader);
	}
	while (!rc && (rc = capture_reader__next(l->in.reader, &rec, err)) > 0)
		rc = model__add(m, rec);
	model__free(m);
	l->names = l->m->names;
	return rc;
}

int lat_read(struct latency *l, struct err *err)
{
	int rc = prepare(l, err);

	if (rc)
		return rc;
	rc = model__new(l->in.tab, &l->o.model, &l->m);
	if (rc)
		return err_set(err, rc, "%s: out of memory", l->in.path);
	l->names = l->m->names;
	lat_kernels__begin(l);
	l->in.tap = on_call;
	l->in.tap_arg = l;
	rc = inspection__read_model(&l->in, l->m, err);
	if (!rc)
		rc = inspection__check_filter(&l->in, l->m, err);
	if (!rc)
		rc = lat_kernels__resolve(l, err);
	if (!rc && l->o.nkernels)
		rc = read_again(l, err);
	return rc;
}
