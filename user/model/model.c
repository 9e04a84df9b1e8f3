/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/cuda_abi.h"

int model__new(const struct apitab *tab, const struct model_opts *o, struct model **out)
{
	struct model *m = calloc(1, sizeof(*m));
	size_t n = apitab__size(tab);

	*out = NULL;
	if (!m)
		return -ENOMEM;
	procs__init(&m->procs, &o->filter);
	graphs__init(&m->graphs);
	launches__init(&m->launches);
	copies__init(&m->copies);
	syncs__init(&m->syncs);
	allocs__init(&m->allocs);
	hmap__init(&m->failures, 16, sizeof(struct failure));
	breakdowns__init(&m->breakdowns);
	futex_waits__init(&m->waits);
	m->tab = tab;
	m->threads = o->threads;
	m->again = o->again;
	m->nplans = n;
	m->plans = calloc(n + 1, sizeof(*m->plans));
	m->apis = calloc(n + 1, sizeof(*m->apis));
	m->in_file = calloc(n + 1, sizeof(*m->in_file));
	if (!m->plans || !m->apis || !m->in_file || names__new(&m->names) ||
	    (o->memory && memory__new(o->stacks, &m->memory)) ||
	    (o->modules && modloads__new(&m->modloads))) {
		model__free(m);
		return -ENOMEM;
	}
	m->allocs.memory = m->memory;
	for (size_t i = 0; i < n; i++)
		if (apitab__get(tab, (uint32_t)i))
			plan__init(&m->plans[i], apitab__get(tab, (uint32_t)i));
	*out = m;
	return 0;
}

static void free_thread_stats(struct model *m)
{
	for (size_t i = 0; i < m->procs.threads.n; i++) {
		struct thread *th = hmap__at(&m->procs.threads, i);

		for (size_t a = 0; th->stats && a < m->nplans; a++) {
			if (th->stats[a])
				hist__clear(&th->stats[a]->time);
			free(th->stats[a]);
		}
	}
}

void model__free(struct model *m)
{
	if (!m)
		return;
	free_thread_stats(m);
	for (size_t i = 0; m->apis && i < m->nplans; i++)
		hist__clear(&m->apis[i].time);
	for (size_t i = 0; i < m->procs.lives.n; i++)
		allocs__drop(hmap__at(&m->procs.lives, i));
	launches__clear(&m->launches);
	copies__clear(&m->copies);
	syncs__clear(&m->syncs);
	graphs__clear(&m->graphs);
	hmap__clear(&m->failures);
	breakdowns__clear(&m->breakdowns);
	futex_waits__clear(&m->waits);
	memory__free(m->memory);
	modloads__free(m->modloads);
	names__free(m->names);
	procs__clear(&m->procs);
	free(m->plans);
	free(m->apis);
	free(m->in_file);
	free(m);
}

static int stat_add(struct apistat *s, const struct view *v)
{
	if (v->c->depth) {
		s->nested++;
		return 0;
	}
	s->calls++;
	if (v->outcome == OUTCOME_OPEN)
		s->open++;
	if (v->outcome == OUTCOME_UNKNOWN)
		s->unmeasured++;
	if (!(v->c->flags & GPUBPF_CALL_RETURNED))
		return 0;
	s->returned++;
	if (v->c->result == CUDA_RESULT_NOT_READY)
		s->not_ready++;
	else if (v->c->result)
		s->failed++;
	if (v->timed)
		return hist__add(&s->time, v->ns);
	s->bad_time++;
	return 0;
}

static int thread_stat_add(struct model *m, const struct view *v)
{
	struct thread *th = v->thread;

	if (!th->stats)
		th->stats = calloc(m->nplans, sizeof(*th->stats));
	if (!th->stats)
		return -ENOMEM;
	if (!th->stats[v->c->api])
		th->stats[v->c->api] = calloc(1, sizeof(**th->stats));
	if (!th->stats[v->c->api])
		return -ENOMEM;
	return stat_add(th->stats[v->c->api], v);
}

static int failure_add(struct model *m, const struct view *v)
{
	uint64_t key[2] = { v->c->api, (uint32_t)v->c->result };
	struct failure *f;

	if (v->c->result == CUDA_RESULT_NOT_READY)
		return 0;
	f = hmap__put(&m->failures, key);
	if (!f)
		return -ENOMEM;
	f->calls++;
	return 0;
}

static int count_api(struct model *m, const struct view *v)
{
	int rc = stat_add(&m->apis[v->c->api], v);

	if (!rc && m->threads)
		rc = thread_stat_add(m, v);
	if (!rc && !v->c->depth && v->outcome == OUTCOME_FAILED)
		rc = failure_add(m, v);
	if (!v->c->depth) {
		v->thread->calls++;
		v->proc->calls++;
	}
	return rc;
}

static void make_view(struct view *v, const struct gpubpf_call *c, const struct plan *p, struct thread *th)
{
	*v = (struct view){ .c = c, .p = p, .proc = th->proc, .thread = th };
	if (c->flags & GPUBPF_CALL_OPEN) {
		v->outcome = OUTCOME_OPEN;
	} else if (!(c->flags & GPUBPF_CALL_RETURNED)) {
		v->outcome = OUTCOME_UNKNOWN;
	} else {
		v->outcome = c->result ? OUTCOME_FAILED : OUTCOME_OK;
		v->timed = c->t_return >= c->t_entry;
		v->ns = v->timed ? c->t_return - c->t_entry : 0;
	}
}

static int by_class(struct model *m, const struct view *v)
{
	switch (v->p->api->cls) {
	case API_LAUNCH:
		return v->thread->selected && !m->again ? launches__call(&m->launches, m->names, v) : 0;
	case API_COPY:
	case API_SET:
		if (!v->thread->selected || m->again)
			return 0;
		return copies__call(&m->copies, v) || syncs__call(&m->syncs, v) ? -ENOMEM : 0;
	case API_SYNC:
		return v->thread->selected && !m->again ? syncs__call(&m->syncs, v) : 0;
	case API_ALLOC:
	case API_FREE:
		return v->proc->selected ? allocs__call(&m->allocs, v) : 0;
	case API_GRAPHLAUNCH:
	case API_GRAPH:
	case API_CAPTURE:
		return graphs__call(&m->graphs, v);
	case API_EVENT:
	case API_STREAM:
		return graphs__event(&m->graphs, v);
	case API_POOL:
	case API_PLACE:
	case API_VIRTUAL:
		return m->memory && v->proc->selected ? memory__call(m->memory, v) : 0;
	default:
		return 0;
	}
}

static int on_call(struct model *m, const struct gpubpf_call *c)
{
	struct thread *th;
	struct view v;
	int rc;

	m->calls++;
	if (c->api >= m->nplans || !m->plans[c->api].api) {
		m->unknown_api++;
		return 0;
	}
	if (!(c->flags & GPUBPF_CALL_OPEN))
		m->in_file[c->api]++;
	th = procs__thread(&m->procs, c);
	if (!th)
		return -ENOMEM;
	make_view(&v, c, &m->plans[c->api], th);
	v.latency = breakdowns__of(&m->breakdowns, c);
	v.waits = futex_waits__of(&m->waits, c, &v.nwaits);
	rc = names__call(m->names, &v);
	if (rc)
		return rc;
	if (th->selected) {
		if (m->first_ns == 0 || c->t_entry < m->first_ns)
			m->first_ns = c->t_entry;
		if (c->t_entry > m->last_ns)
			m->last_ns = c->t_entry;
		if (c->t_return > m->last_ns)
			m->last_ns = c->t_return;
		rc = m->again ? 0 : count_api(m, &v);
	} else {
		m->filtered++;
	}
	if (!rc && !c->depth)
		graphs__mark(&m->graphs, &v);
	if (!rc && m->watch)
		rc = m->watch(&v, m->watch_arg);
	if (!rc && m->modloads && th->selected)
		rc = modloads__call(m->modloads, m->names, &v);
	return rc || c->depth ? rc : by_class(m, &v);
}

void model__watch(struct model *m, model_call_fn *fn, void *arg)
{
	m->watch = fn;
	m->watch_arg = arg;
}

static int on_task(struct model *m, const struct gpubpf_task *t)
{
	struct proc *over;
	int rc = procs__task(&m->procs, t, &over);

	m->tasks++;
	if (rc || !over)
		return rc;
	graphs__process_over(&m->graphs, over);
	return allocs__process_over(&m->allocs, over);
}

int model__add(struct model *m, const struct gpubpf_rec *rec)
{
	m->records++;
	switch (rec->kind) {
	case GPUBPF_REC_CALL:
		return on_call(m, (const struct gpubpf_call *)rec);
	case GPUBPF_REC_TASK:
		return on_task(m, (const struct gpubpf_task *)rec);
	case GPUBPF_REC_XID:
		m->xids++;
		return 0;
	case GPUBPF_REC_SHIM:
		m->batches++;
		return 0;
	case GPUBPF_REC_LATENCY:
		return breakdowns__add(&m->breakdowns, (const struct gpubpf_latency *)rec);
	case GPUBPF_REC_WAKER:
		return futex_waits__add(&m->waits, (const struct gpubpf_waker *)rec);
	default:
		m->others++;
		return 0;
	}
}

int model__finish(struct model *m)
{
	int rc = 0;

	for (size_t i = 0; i < m->procs.lives.n; i++)
		graphs__process_over(&m->graphs, hmap__at(&m->procs.lives, i));
	for (size_t i = 0; !rc && i < m->procs.lives.n; i++)
		rc = allocs__finish(&m->allocs, hmap__at(&m->procs.lives, i));
	if (!rc && m->modloads)
		rc = modloads__finish(m->modloads);
	return rc ? rc : launches__finish(&m->launches);
}
