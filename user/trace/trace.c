/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"

static struct trace_kernel *add_kernel(struct trace *t)
{
	if (t->nkernels == t->kernel_room) {
		size_t room = t->kernel_room ? t->kernel_room * 2 : 64;
		struct trace_kernel *k = realloc(t->kernel, room * sizeof(*k));

		if (!k)
			return NULL;
		t->kernel = k;
		t->kernel_room = room;
	}
	t->kernel[t->nkernels] = (struct trace_kernel){ 0 };
	return &t->kernel[t->nkernels++];
}

/* *number is SIZE_MAX for what is no launch. */
static int number_of(struct trace *t, struct names *names, const struct view *v, size_t *number)
{
	const struct launch_number *there;
	bool first;
	int rc = launch_numbers__put(&t->raw, names, v, &there, &first);

	*number = there ? there->number : SIZE_MAX;
	return rc;
}

static void begin_numbers(struct trace *t)
{
	launch_numbers__begin(&t->raw);
	t->work = 0;
}

/* ---- The first pass ---- */

static int remember(struct trace *t, size_t number)
{
	if (t->work == t->kernel_of_room) {
		size_t room = t->kernel_of_room ? t->kernel_of_room * 2 : 4096;
		uint32_t *k = realloc(t->kernel_of, room * sizeof(*k));

		if (!k)
			return -ENOMEM;
		t->kernel_of = k;
		t->kernel_of_room = room;
	}
	t->kernel_of[t->work++] = (uint32_t)(number + 1); /* SIZE_MAX: 0 */
	return 0;
}

static int first_call(const struct view *v, void *arg)
{
	struct trace *t = arg;
	struct trace_kernel *k;
	size_t number;
	int rc = number_of(t, t->m->names, v, &number);

	if (!rc && t->in.join && v->p->population < JOIN_POPULATIONS)
		rc = remember(t, number);
	if (rc || number == SIZE_MAX)
		return rc;
	if (number == t->nkernels) {
		k = add_kernel(t);
		if (!k)
			return -ENOMEM;
		memcpy(&k->key, &((struct launch_number *)hmap__at(&t->raw, number))->key, sizeof(k->key));
	}
	t->kernel[number].calls += v->thread->selected;
	return 0;
}

/* What ran for a key's calls; graphs have calls of their own. */
static void learn_from_device(struct trace *t)
{
	struct join_activity a;

	for (size_t i = 0; i < trace__execs(t); i++) {
		struct trace_kernel *k;

		join__activity(t->in.join, i, &a);
		if (!a.has_call || a.kind != GPUBPF_ACTIVITY_KERNEL || a.call.of_shim ||
		    a.call.number >= t->work || !t->kernel_of[a.call.number])
			continue;
		k = &t->kernel[t->kernel_of[a.call.number] - 1];
		if (!k->name)
			k->name = join__name(t->in.join, join__key(t->in.join, a.key)->name);
	}
}

static int name_kernels(struct trace *t)
{
	bool all = true;

	for (size_t i = 0; i < t->nkernels; i++) {
		struct trace_kernel *k = &t->kernel[i];
		struct proc *proc = NULL;
		uint32_t name = launch_key__resolve(&k->key, &k->handle, &proc);

		k->proc = proc;
		k->name = name ? names__text(t->m->names, name) : NULL;
		all = all && k->name;
	}
	if (!all && t->kernel_of)
		learn_from_device(t);
	for (size_t i = 0; i < t->nkernels; i++) {
		t->kernel[i].display = names__display(t->kernel[i].name, t->kernel[i].handle);
		if (!t->kernel[i].display)
			return -ENOMEM;
	}
	free(t->kernel_of);
	t->kernel_of = NULL;
	return 0;
}

static int name_keys(struct trace *t)
{
	size_t n = t->in.join ? join__keys(t->in.join) : 0;

	t->key_display = calloc(n + 1, sizeof(*t->key_display));
	if (!t->key_display)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct join_key *k = join__key(t->in.join, (uint32_t)i);

		if (k->kind != GPUBPF_ACTIVITY_KERNEL)
			continue;
		t->key_display[i] = names__display(join__name(t->in.join, k->name), k->name_id);
		if (!t->key_display[i])
			return -ENOMEM;
	}
	return 0;
}

static void find_start(struct trace *t)
{
	struct join_activity a;

	t->start_is_known = t->in.meta->has_start_ns;
	t->start = t->start_is_known ? t->in.meta->start_ns : t->m->calls ? t->m->first_ns : 0;
	if (t->start || !trace__execs(t))
		return;
	join__activity_brief(t->in.join, 0, &a);
	t->start = a.start;
}

int trace__open(struct trace *t, const char *path, const struct model_opts *o, struct err *err)
{
	int rc;

	memset(t, 0, sizeof(*t));
	begin_numbers(t);
	rc = inspection__open(&t->in, path, err);
	if (rc)
		return rc;
	rc = model__new(t->in.tab, o, &t->m);
	if (!rc) {
		t->in.tap = first_call;
		t->in.tap_arg = t;
		rc = inspection__read_model(&t->in, t->m, err);
	}
	if (!rc)
		rc = inspection__check_filter(&t->in, t->m, err);
	if (!rc)
		rc = name_kernels(t);
	if (!rc)
		rc = name_keys(t);
	if (!rc)
		find_start(t);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", path) : rc;
}

void trace__close(struct trace *t)
{
	size_t n = t->in.join ? join__keys(t->in.join) : 0;

	for (size_t i = 0; i < t->nkernels; i++)
		free(t->kernel[i].display);
	for (size_t i = 0; t->key_display && i < n; i++)
		free(t->key_display[i]);
	free(t->kernel);
	free(t->kernel_of);
	free(t->key_display);
	hmap__clear(&t->raw);
	inspection__close(&t->in);
	model__free(t->m);
}

/* ---- The others ---- */

static int on_call(const struct view *v, void *arg)
{
	struct trace *t = arg;
	struct trace_call c = { .v = v };
	size_t number;
	int rc = number_of(t, t->again->names, v, &number);

	if (rc)
		return rc;
	if (number < t->nkernels)
		c.kernel = &t->kernel[number];
	c.has_work = v->p->population < JOIN_POPULATIONS;
	if (c.has_work)
		c.work = t->work++;
	return t->visitor->call ? t->visitor->call(&c, t->visitor->arg) : 0;
}

int trace__pass(struct trace *t, const struct trace_visitor *v, struct err *err)
{
	const struct gpubpf_rec *rec;
	struct model_opts o = { .filter = t->m->procs.filter, .again = true };
	int rc = model__new(t->in.tab, &o, &t->again);

	begin_numbers(t);
	t->visitor = v;
	if (!rc) {
		model__watch(t->again, on_call, t);
		rc = capture_reader__rewind(t->in.reader);
	}
	while (!rc && (rc = capture_reader__next(t->in.reader, &rec, err)) > 0) {
		rc = model__add(t->again, rec);
		if (!rc && v->record && rec->kind != GPUBPF_REC_CALL)
			rc = v->record(rec, v->arg);
	}
	model__free(t->again);
	t->again = NULL;
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}

/* ---- Looks ---- */

size_t trace__execs(const struct trace *t)
{
	return t->in.join ? join__activities(t->in.join) : 0;
}

void trace__exec(const struct trace *t, size_t i, struct trace_exec *e)
{
	e->index = i;
	join__activity(t->in.join, i, &e->a);
	e->key = join__key(t->in.join, e->a.key);
	e->lane = join__lane(t->in.join, e->a.lane);
	e->display = t->key_display[e->a.key];
}

const char *trace__symbol(const struct trace *t, uint32_t api)
{
	const struct api *a = apitab__get(t->in.tab, api);

	return a ? a->symbol : "unknown";
}

size_t trace__kernels(const struct trace *t)
{
	return t->nkernels;
}

const struct trace_kernel *trace__kernel(const struct trace *t, size_t i)
{
	return &t->kernel[i];
}
