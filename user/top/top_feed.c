/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records become the window of an interval. */
#include "top/top_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/cuda_abi.h"

static void window_init(struct top_feed *f)
{
	if (!f->held)
		hmap__init(&f->funcs, 16, sizeof(struct top_func));
	hmap__init(&f->threads, 16, sizeof(struct top_thread));
	copies__init(&f->copies);
}

static void window_clear(struct top_feed *f)
{
	for (size_t i = 0; i < GPUBPF_API_MAX; i++) {
		struct top_stat *s = f->stat[i];

		if (!s || !s->calls)
			continue;
		hist__clear(&s->time);
		memset(s, 0, sizeof(*s));
	}
	if (!f->held) {
		hmap__clear(&f->funcs);
		memset(&f->other_funcs, 0, sizeof(f->other_funcs));
	}
	hmap__clear(&f->threads);
	copies__clear(&f->copies);
	memset(f->wait, 0, sizeof(f->wait));
	memset(f->waits, 0, sizeof(f->waits));
	f->other_threads = 0;
}

static int memory_init(struct top_feed *f)
{
	procs__init(&f->procs, &(struct procs_filter){ 0 });
	breakdowns__init(&f->breakdowns);
	return names__new(&f->names);
}

static void memory_clear(struct top_feed *f)
{
	names__free(f->names);
	f->names = NULL;
	breakdowns__clear(&f->breakdowns);
	procs__clear(&f->procs);
}

/* What processes and functions are called is kept between windows, and may not grow for ever. */
static int forget(struct top_feed *f)
{
	if (f->held) /* its names are */
		return 0;
	if (f->procs.threads.n + f->procs.lives.n + names__size(f->names) < TOP_FORGET)
		return 0;
	memory_clear(f);
	f->forgotten++;
	return memory_init(f);
}

int top_feed__new(const struct top_feed_opts *o, struct top_feed **out)
{
	struct top_feed *f = calloc(1, sizeof(*f));
	int e = -ENOMEM;

	*out = NULL;
	if (!f)
		return e;
	f->o = *o;
	window_init(f);
	f->plans = calloc(GPUBPF_API_MAX, sizeof(*f->plans));
	f->canonical = calloc(GPUBPF_API_MAX, sizeof(*f->canonical));
	f->prev = calloc(GPUBPF_API_MAX, sizeof(*f->prev));
	f->stat = calloc(GPUBPF_API_MAX, sizeof(*f->stat));
	if (f->plans && f->canonical && f->prev && f->stat)
		e = memory_init(f);
	if (!e)
		e = apitab__new(&f->tab);
	if (e) {
		top_feed__free(f);
		return e;
	}
	*out = f;
	return 0;
}

void top_feed__begin(struct top_feed *f, uint64_t now)
{
	f->start = f->last = now;
}

void top_feed__free(struct top_feed *f)
{
	struct top_window *w;

	if (!f)
		return;
	f->held = false;
	if (f->stat)
		window_clear(f);
	while ((w = f->windows)) {
		f->windows = w->next;
		top_window__drop(w);
	}
	for (size_t i = 0; f->stat && i < GPUBPF_API_MAX; i++)
		free(f->stat[i]);
	top_shims_sweep(f, true);
	memory_clear(f);
	apitab__free(f->tab);
	free(f->plans);
	free(f->canonical);
	free(f->prev);
	free(f->stat);
	free(f);
}

static int add_api(struct top_feed *f, const Gpubpf__Api *a)
{
	const struct api *api;
	int e;

	if (a->id >= GPUBPF_API_MAX)
		return 0;
	f->refused += a->has_error && a->error && !a->missing;
	e = apitab__add(f->tab, a->id, a->symbol, a->kind, a->signature, a->legacy32);
	if (e)
		return e == -EINVAL ? 0 : e;
	api = apitab__get(f->tab, a->id);
	plan__init(&f->plans[a->id], api);
	f->canonical[a->id] = (uint16_t)a->id;
	for (uint32_t i = 0; i < a->id; i++) {
		if (!f->plans[i].api || strcmp(f->plans[i].api->symbol, api->symbol) != 0)
			continue;
		f->canonical[a->id] = (uint16_t)i;
		break;
	}
	return 0;
}

int top_feed__meta(struct top_feed *f, const Gpubpf__Meta *m)
{
	/* of the recorder's notes those that say why the GPU's side is missing */
	static const char *const absent[] = {
		"no_shim",           "injection_taken",     "shim_refused",
		"shim_unheard",      "callback_missing",    "cupti_missing",
		"second_subscriber", "cupti_not_permitted", "facility_enable_failed",
		"subscribe_failed",  "shim_memory",         "forked_child",
		"shim_failed"
	};
	int e = 0;

	for (size_t i = 0; i < m->n_api && !e; i++)
		e = add_api(f, m->api[i]);
	f->shim_there |= m->n_shim != 0;
	for (size_t i = 0; i < m->n_note; i++) {
		const char *code = m->note[i]->code;

		f->late_libraries += !strcmp(code, "late_library") || !strcmp(code, "library_missed");
		for (size_t k = 0; k < sizeof(absent) / sizeof(absent[0]); k++)
			if (!strcmp(code, absent[k]))
				snprintf(f->note, sizeof(f->note), "%s", m->note[i]->text);
	}
	return e;
}

static struct top_stat *stat_of(struct top_feed *f, uint32_t id)
{
	id = f->canonical[id];
	if (!f->stat[id])
		f->stat[id] = calloc(1, sizeof(*f->stat[id]));
	return f->stat[id];
}

static void view_of(struct view *v, const struct gpubpf_call *c, const struct plan *p, struct thread *th)
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

/* Full: what is there already, or NULL. */
static void *put(struct hmap *m, const uint64_t key[2], bool *full)
{
	*full = m->n >= TOP_KEYS;
	return *full ? hmap__get(m, key) : hmap__put(m, key);
}

static int on_wait(struct top_feed *f, const struct view *v, struct top_stat *s, struct top_thread *th)
{
	struct breakdown b;

	if (!v->latency)
		return 0;
	breakdown_of_call(v->latency, &b);
	for (unsigned c = 0; c < BREAKDOWN_CAUSES; c++) {
		if (!b.ns[c])
			continue;
		f->wait[c] += b.ns[c];
		f->waits[c]++;
		s->wait[c] += b.ns[c];
		s->waits[c]++;
		if (th && c != BREAKDOWN_ON_CPU)
			th->waited += b.ns[c];
	}
	return 0;
}

static int on_launch(struct top_feed *f, const struct view *v)
{
	struct func_ref ref = { 0 };
	uint64_t key[2], func;
	struct top_func *fn;
	bool full;
	int e = 0;

	if (plan_arg(v->p, v->c, PLAN_FUNC, &func))
		e = names__ref(f->names, v->proc, func, v->c->t_entry, &ref);
	if (e)
		return e;
	key[0] = (uintptr_t)ref.handle;
	key[1] = ref.epoch;
	fn = put(&f->funcs, key, &full);
	if (!fn && !full)
		return -ENOMEM;
	fn = fn ? fn : &f->other_funcs;
	fn->ref = ref;
	fn->calls++;
	fn->ns += v->ns;
	return 0;
}

static int on_call(struct top_feed *f, const struct gpubpf_call *c)
{
	struct top_thread *t;
	struct top_stat *s;
	struct thread *th;
	uint64_t key[2] = { 0, c->tid };
	struct view v;
	bool full;
	int e;

	if (!f->plans[c->api].api)
		return 0;
	th = procs__thread(&f->procs, c);
	s = stat_of(f, c->api);
	if (!th || !s)
		return -ENOMEM;
	view_of(&v, c, &f->plans[c->api], th);
	e = names__call(f->names, &v);
	if (e || c->depth || v.outcome == OUTCOME_OPEN)
		return e;
	key[0] = (uintptr_t)th->proc;
	t = put(&f->threads, key, &full);
	if (!t && !full)
		return -ENOMEM;
	f->other_threads += !t;
	v.latency = breakdowns__of(&f->breakdowns, c);
	s->calls++;
	if (v.timed)
		e = hist__add(&s->time, v.ns);
	if (t) {
		t->calls++;
		t->ns += v.ns;
		t->failed += v.outcome == OUTCOME_FAILED && c->result != CUDA_RESULT_NOT_READY;
		t->launches += v.p->population == 0;
	}
	if (!e)
		e = on_wait(f, &v, s, t);
	if (!e && v.p->api->cls == API_LAUNCH)
		e = on_launch(f, &v);
	if (!e && (v.p->api->cls == API_COPY || v.p->api->cls == API_SET))
		e = copies__call(&f->copies, &v);
	return e;
}

int top_feed__record(struct top_feed *f, const struct gpubpf_rec *rec)
{
	struct proc *over;

	switch (rec->kind) {
	case GPUBPF_REC_CALL:
		return on_call(f, (const void *)rec);
	case GPUBPF_REC_TASK:
		top_shim_task(f, (const void *)rec);
		return procs__task(&f->procs, (const void *)rec, &over);
	case GPUBPF_REC_LATENCY:
		return breakdowns__add(&f->breakdowns, (const void *)rec);
	case GPUBPF_REC_SHIM:
		return top_shim_batch(f, (const void *)rec);
	default:
		return 0;
	}
}

/* Views of windows behind the first one, of the same moment. */
static int more_windows(struct top_feed *f, uint64_t until, bool end)
{
	struct top_window *w = top_window__take(f, until), *next;
	int e = 0;

	for (; w && !e; w = next) {
		next = top_window__take(f, until);
		f->view.more = true;
		f->view.last = end && !next;
		e = top_view__device(f, w);
		top_window__drop(w);
		if (!e)
			f->o.view(&f->view, f->o.arg);
		if (e && next)
			top_window__drop(next);
	}
	return e;
}

static int tick(struct top_feed *f, const Gpubpf__Counts *c, bool end)
{
	uint64_t now = c->time_ns > f->last ? c->time_ns : f->last + 1;
	uint64_t until = end ? UINT64_MAX : now > f->o.lag ? now - f->o.lag : 0;
	struct top_window *w;
	int e;

	memset(&f->view, 0, sizeof(f->view));
	f->number++;
	if (end && top_device__close(f, now))
		return -ENOMEM;
	w = top_window__take(f, until);
	top_view__host(f, c, now);
	e = top_view__device(f, w);
	if (!e)
		e = top_view__tables(f);
	if (w)
		top_window__drop(w);
	if (e)
		return e;
	top_view__ledger(f, c, end);
	/* without the device's figures there is nothing to say of its other windows */
	while (!f->view.has_device && (w = top_window__take(f, until)))
		top_window__drop(w);
	f->view.last = end && !f->windows;
	f->o.view(&f->view, f->o.arg);
	window_clear(f);
	window_init(f);
	f->last = now;
	e = more_windows(f, until, end);
	top_shims_sweep(f, false);
	return e ? e : forget(f);
}

int top_feed__counts(struct top_feed *f, const Gpubpf__Counts *c)
{
	return tick(f, c, false);
}

int top_feed__end(struct top_feed *f, const Gpubpf__Counts *c)
{
	return tick(f, c, true);
}
