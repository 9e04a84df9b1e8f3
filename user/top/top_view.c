/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The window of an interval becomes rows, the largest first. */
#include "top/top_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "join/join.h"

enum { T_CALLS, T_FAILED, T_LAUNCHES, T_GRAPHS, T_COPIES, T_SETS, T_BYTES, T_EXECUTIONS };

static struct top_count counted(struct top_feed *f, int what, uint64_t n)
{
	f->totals[what] += n;
	return (struct top_count){ n, f->totals[what] };
}

static bool view_api(struct top_feed *f, struct top_api *row, const struct api *a, uint64_t calls,
		     uint64_t failed)
{
	if (!calls && !failed)
		return false;
	snprintf(row->symbol, sizeof(row->symbol), "%s", a->symbol);
	row->calls += calls;
	row->failed += failed;
	(void)f;
	return true;
}

/* By the counters: what was called in the interval, and how often. */
static void count_apis(struct top_feed *f, const Gpubpf__Counts *c, struct top_api *rows, uint64_t sum[8])
{
	for (size_t i = 0; i < c->n_api; i++) {
		const Gpubpf__ApiCounts *n = c->api[i];
		const struct api *a = n->api < GPUBPF_API_MAX ? f->plans[n->api].api : NULL;
		uint64_t calls, failed;

		if (!a)
			continue;
		calls = n->entered - f->prev[n->api].entered;
		failed = n->failed - f->prev[n->api].failed;
		f->prev[n->api] = (struct top_prev){ n->entered, n->failed };
		if (!view_api(f, &rows[f->canonical[n->api]], a, calls, failed))
			continue;
		sum[T_CALLS] += calls;
		sum[T_FAILED] += failed;
		if (f->plans[n->api].population < 4)
			sum[T_LAUNCHES + f->plans[n->api].population] += calls;
	}
}

static void time_api(const struct top_stat *s, struct top_api *row)
{
	row->timed = s->time.n;
	row->ns = s->time.sum;
	row->mean = s->time.n ? s->time.sum / s->time.n : 0;
	row->max = s->time.n ? s->time.max : 0;
	hist__quantile(&s->time, 0.99, &row->p99);
	for (unsigned c = 0; c < BREAKDOWN_CAUSES; c++)
		row->waited += c == BREAKDOWN_ON_CPU ? 0 : s->wait[c];
}

static int by_ns(const void *a, const void *b)
{
	const struct top_api *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->calls != y->calls ? (x->calls < y->calls ? 1 : -1) : strcmp(x->symbol, y->symbol);
}

static void keep_apis(struct top_feed *f, struct top_api *rows)
{
	struct top_view *v = &f->view;
	size_t n = 0;

	for (size_t i = 0; i < GPUBPF_API_MAX; i++) {
		if (f->stat[i] && f->stat[i]->calls) {
			snprintf(rows[i].symbol, sizeof(rows[i].symbol), "%s", f->plans[i].api->symbol);
			time_api(f->stat[i], &rows[i]);
		}
		if (rows[i].symbol[0])
			rows[n++] = rows[i];
	}
	qsort(rows, n, sizeof(*rows), by_ns);
	for (size_t i = TOP_ROWS - 1; n > TOP_ROWS && i + 1 < n; i++) {
		struct top_api *rest = &rows[TOP_ROWS - 1], *more = &rows[i + 1];

		rest->symbol[0] = '\0';
		rest->calls += more->calls;
		rest->failed += more->failed;
		rest->timed += more->timed;
		rest->ns += more->ns;
		rest->waited += more->waited;
	}
	v->napis = n > TOP_ROWS ? TOP_ROWS : n;
	memcpy(v->api, rows, v->napis * sizeof(*rows));
}

void top_view__host(struct top_feed *f, const Gpubpf__Counts *c, uint64_t now)
{
	struct top_view *v = &f->view;
	struct top_api *rows = calloc(GPUBPF_API_MAX, sizeof(*rows));
	uint64_t sum[8] = { 0 }, bytes = 0;

	v->number = f->number;
	v->at = f->last - f->start;
	v->length = now - f->last;
	if (rows) {
		count_apis(f, c, rows, sum);
		keep_apis(f, rows);
	}
	free(rows);
	for (size_t i = 0; i < f->copies.rows.n; i++) {
		const struct copy_row *r = hmap__at(&f->copies.rows, i);

		bytes += r->bytes;
		v->bytes_unknown += r->elements_unknown;
	}
	v->calls = counted(f, T_CALLS, sum[T_CALLS]);
	v->failed = counted(f, T_FAILED, sum[T_FAILED]);
	v->launches = counted(f, T_LAUNCHES, sum[T_LAUNCHES]);
	v->graphs = counted(f, T_GRAPHS, sum[T_GRAPHS]);
	v->copies = counted(f, T_COPIES, sum[T_COPIES]);
	v->sets = counted(f, T_SETS, sum[T_SETS]);
	v->bytes = counted(f, T_BYTES, bytes);
}

/* ---- Kernels ---- */

struct named {
	const char *text;
	char *own; /* to be freed; else NULL */
	uint64_t launches, ns;
};

static int by_text(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->text, y->text);
}

static int by_time(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return x->launches != y->launches ? (x->launches < y->launches ? 1 : -1) : strcmp(x->text, y->text);
}

static int by_launches(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return x->launches != y->launches ? (x->launches < y->launches ? 1 : -1) : strcmp(x->text, y->text);
}

static void put_name(char *to, const char *text)
{
	size_t n = strlen(text), room = TOP_NAME - 1;

	if (n > room) { /* at a whole character */
		n = room - 3;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(to, text, n);
	memcpy(to + n, strlen(text) > room ? "…" : "", strlen(text) > room ? 4 : 1);
}

/* One row for each name, the largest first. */
static void keep_kernels(struct top_view *v, struct named *rows, size_t n,
			 int (*order)(const void *, const void *))
{
	size_t to = 0;

	qsort(rows, n, sizeof(*rows), by_text);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(rows[i].text, rows[to].text) != 0) {
			struct named swap = rows[++to];

			rows[to] = rows[i];
			rows[i] = swap;
			continue;
		}
		rows[to].launches += rows[i].launches;
		rows[to].ns += rows[i].ns;
	}
	n = n ? to + 1 : 0;
	qsort(rows, n, sizeof(*rows), order);
	for (size_t i = 0; i < n; i++) {
		struct top_kernel *k = i < TOP_ROWS ? &v->kernel[i] : &v->other_kernels;

		if (i < TOP_ROWS)
			memset(k, 0, sizeof(*k));
		k->launches += rows[i].launches;
		k->ns += rows[i].ns;
		if (i < TOP_ROWS)
			put_name(k->name, rows[i].text);
	}
	v->nkernels = n < TOP_ROWS ? n : TOP_ROWS;
}

static void free_names(struct named *rows, size_t n)
{
	for (size_t i = 0; rows && i < n; i++)
		free(rows[i].own);
	free(rows);
}

static int gpu_kernels(struct top_view *v, struct top_window *w)
{
	struct named *rows = calloc(w->runs.n + 1, sizeof(*rows));
	size_t n = w->runs.n;
	int e = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !e; i++) {
		const struct top_run *r = hmap__at(&w->runs, i);
		const struct top_shim *s = (const void *)(uintptr_t)r->key[0];

		rows[i].launches = r->launches;
		rows[i].ns = r->ns;
		rows[i].text = r->key[1] == UINT64_MAX ? "<a whole graph>"
						       : top_shim__name(s, (uint32_t)r->key[1]);
		if (rows[i].text)
			continue;
		if (asprintf(&rows[i].own, "<no name yet: %u of process %u>", (unsigned)r->key[1], s->tgid) <
		    0) {
			rows[i].own = NULL;
			e = -ENOMEM;
		}
		rows[i].text = rows[i].own;
	}
	v->other_kernels = (struct top_kernel){ .launches = w->others.launches, .ns = w->others.ns };
	if (!e)
		keep_kernels(v, rows, n, by_time);
	free_names(rows, n);
	return e;
}

static int host_kernels(struct top_feed *f)
{
	struct named *rows = calloc(f->funcs.n + 1, sizeof(*rows));
	size_t n = f->funcs.n;
	int e = rows ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !e; i++) {
		const struct top_func *fn = hmap__at(&f->funcs, i);
		struct proc *p;
		uint64_t handle = fn->ref.handle ? names__value(&fn->ref, &p) : 0;

		rows[i].launches = fn->calls;
		rows[i].ns = fn->ns;
		rows[i].own = names__display(names__text(f->names, names__name(&fn->ref)), handle);
		rows[i].text = rows[i].own;
		e = rows[i].own ? 0 : -ENOMEM;
	}
	f->view.other_kernels = (struct top_kernel){ .launches = f->other_funcs.calls,
						     .ns = f->other_funcs.ns };
	if (!e)
		keep_kernels(&f->view, rows, n, by_launches);
	free_names(rows, n);
	return e;
}

/* ---- The device ---- */

static uint32_t view_pid(struct top_feed *f, const struct top_shim *s)
{
	const struct proc *p = procs__at(&f->procs, s->tgid, s->born);

	return p && p->view_tgid ? p->view_tgid : s->tgid;
}

static void add_gpu(struct top_feed *f, const struct top_window *w, const struct top_shim *s, uint32_t device)
{
	struct top_view *v = &f->view;
	uint64_t key[2] = { (uintptr_t)s, device };
	struct top_dev *d = hmap__get(&w->devs, key);
	struct top_gpu *g = &v->gpu[v->ngpus];

	if (v->ngpus == TOP_ROWS)
		return;
	v->ngpus++;
	*g = (struct top_gpu){ .pid = view_pid(f, s), .device = device };
	if (!d)
		return;
	g->busy = top_dev__busy(d);
	g->unsure = d->unsure;
	g->kernels = d->kernels;
	g->copies = d->copies;
	g->sets = d->sets;
}

static int gpu_order(const void *a, const void *b)
{
	const struct top_gpu *x = a, *y = b;

	return x->pid != y->pid ? (x->pid < y->pid ? -1 : 1)
				: (x->device > y->device) - (x->device < y->device);
}

static void view_gpus(struct top_feed *f, const struct top_window *w)
{
	struct top_view *v = &f->view;

	v->ngpus = 0;
	for (size_t i = 0; i < w->devs.n; i++) {
		const struct top_dev *d = hmap__at(&w->devs, i);

		add_gpu(f, w, (const void *)(uintptr_t)d->key[0], (uint32_t)d->key[1]);
	}
	/* nothing ran there in this window, and did before */
	for (const struct top_shim *s = f->shims; s; s = s->next_live) {
		for (uint32_t device = 0; device < 64; device++) {
			uint64_t key[2] = { (uintptr_t)s, device };

			if ((s->devices >> device & 1) && !hmap__get(&w->devs, key))
				add_gpu(f, w, s, device);
		}
	}
	qsort(v->gpu, v->ngpus, sizeof(v->gpu[0]), gpu_order);
}

/* False: the device's figures may yet come. */
static bool view_absence(struct top_feed *f)
{
	struct top_view *v = &f->view;
	const struct top_shim *bad = NULL;
	size_t armed = 0;
	const char *why;

	for (const struct top_shim *s = f->shims; s; s = s->next_live) {
		armed += s->armed;
		if (s->failed)
			bad = s;
	}
	v->has_device = armed || f->executions;
	why = bad ? join_reason_text(bad->reason) : NULL;
	if (v->has_device && bad)
		snprintf(v->device_absent, sizeof(v->device_absent), "of process %u: %s", view_pid(f, bad),
			 why ? why : "CUPTI could not be used");
	if (v->has_device)
		return true;
	if (f->o.no_shim)
		why = "left out (--no-shim)";
	else if (!why && f->note[0])
		why = f->note;
	else if (!why && !f->shim_there)
		why = "no process has the shim: `gpubpf shim env` says how one is started with it";
	snprintf(v->device_absent, sizeof(v->device_absent), "%s",
		 why ? why : "the shim in the process has not answered yet");
	return why;
}

static bool hold(struct top_feed *f, bool is_final)
{
	if (!f->held_from && f->funcs.n)
		f->held_from = f->last;
	return !is_final && !f->over && (!f->held_from || f->last - f->held_from < f->o.lag);
}

int top_view__device(struct top_feed *f, struct top_window *w)
{
	struct top_view *v = &f->view;
	bool is_final;
	int e = 0;

	v->ngpus = v->nkernels = 0;
	f->executions += w ? w->executions : 0;
	v->executions = counted(f, T_EXECUTIONS, w ? w->executions : 0);
	is_final = view_absence(f);
	f->held = hold(f, is_final);
	v->by_gpu = v->has_device || f->held;
	memset(&v->other_kernels, 0, sizeof(v->other_kernels));
	if (f->held)
		return 0;
	if (!v->has_device)
		return v->more ? 0 : host_kernels(f);
	if (!w)
		return 0;
	v->gpu_at = w->start > f->start ? w->start - f->start : 0;
	v->gpu_length = w->end - (w->start > f->start ? w->start : f->start);
	view_gpus(f, w);
	e = gpu_kernels(v, w);
	return e;
}

/* ---- Waits and threads ---- */

static int by_wait(const void *a, const void *b)
{
	const struct top_wait *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->symbol, y->symbol);
}

static void view_waits(struct top_feed *f)
{
	struct top_view *v = &f->view;
	struct top_wait *rows = calloc((size_t)GPUBPF_API_MAX * BREAKDOWN_CAUSES, sizeof(*rows));
	size_t n = 0;

	v->has_waits = !f->o.no_waits;
	if (f->o.no_waits)
		snprintf(v->waits_absent, sizeof(v->waits_absent), "%s", f->o.no_waits);
	for (unsigned c = 0; c < BREAKDOWN_CAUSES; c++)
		if (f->wait[c])
			v->wait[v->nwaits++] = (struct top_wait){ f->wait[c], f->waits[c], c, "" };
	qsort(v->wait, v->nwaits, sizeof(v->wait[0]), by_wait);
	for (size_t i = 0; rows && i < GPUBPF_API_MAX; i++) {
		const struct top_stat *s = f->stat[i];

		for (unsigned c = 0; s && c < BREAKDOWN_CAUSES; c++) {
			if (c == BREAKDOWN_ON_CPU || !s->wait[c])
				continue;
			rows[n] = (struct top_wait){ s->wait[c], s->waits[c], c, "" };
			snprintf(rows[n++].symbol, sizeof(rows->symbol), "%s", f->plans[i].api->symbol);
		}
	}
	if (rows)
		qsort(rows, n, sizeof(*rows), by_wait);
	v->napi_waits = n < TOP_ROWS ? n : TOP_ROWS;
	if (rows)
		memcpy(v->api_wait, rows, v->napi_waits * sizeof(*rows));
	free(rows);
}

static int thread_order(const void *a, const void *b)
{
	const struct top_task *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (!x->tid != !y->tid)
		return x->tid ? 1 : -1;
	if (x->calls != y->calls)
		return x->calls < y->calls ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static void view_tasks(struct top_feed *f)
{
	struct top_view *v = &f->view;
	struct top_task *rows = calloc(2 * f->threads.n + 1, sizeof(*rows)), *p = NULL;
	size_t n = 0;

	v->other_tasks = f->other_threads;
	for (size_t i = 0; rows && i < f->threads.n; i++) {
		const struct top_thread *t = hmap__at(&f->threads, i);
		const struct proc *proc = (const void *)(uintptr_t)t->key[0];
		struct top_task *row = &rows[n++];

		*row = (struct top_task){ .pid = proc->view_tgid ? proc->view_tgid : proc->tgid,
					  .tid = (uint32_t)t->key[1],
					  .calls = t->calls,
					  .launches = t->launches,
					  .failed = t->failed,
					  .ns = t->ns,
					  .waited = t->waited };
		memcpy(row->comm, proc->comm, sizeof(row->comm) - 1);
		rows[n] = *row; /* and of its process, below */
		rows[n++].tid = 0;
	}
	if (rows)
		qsort(rows, n, sizeof(*rows), thread_order);
	for (size_t i = 0; rows && i < n; i++) {
		if (p && !rows[i].tid && p->pid == rows[i].pid) {
			p->calls += rows[i].calls;
			p->launches += rows[i].launches;
			p->failed += rows[i].failed;
			p->ns += rows[i].ns;
			p->waited += rows[i].waited;
			continue;
		}
		if (v->ntasks == TOP_ROWS) {
			v->other_tasks += rows[i].tid != 0;
			p = NULL;
			continue;
		}
		v->task[v->ntasks++] = rows[i];
		p = rows[i].tid ? NULL : &v->task[v->ntasks - 1];
	}
	free(rows);
}

int top_view__tables(struct top_feed *f)
{
	view_waits(f);
	view_tasks(f);
	return 0;
}
