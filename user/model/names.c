/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/names.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct owner { /* a module or library */
	uint64_t key[2];
	uint64_t unloaded; /* entry time of the latest unload */
};

struct epoch {
	uint64_t from;
	struct func_ref alias; /* means what that means: a kernel's function, a parent's handle */
	uint32_t name;
	struct owner *owner;
};

struct handle {
	uint64_t key[2]; /* process, value */
	struct proc *proc;
	struct epoch *epochs; /* by time; the first holds from the beginning */
	uint32_t n;
};

struct name {
	char *text;
	uint32_t id;
	UT_hash_handle hh;
};

struct names {
	struct hmap handles, owners;
	struct name *by_text, **list;
	uint32_t n;
	struct handle *last;
};

int names__new(struct names **out)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return -ENOMEM;
	hmap__init(&n->handles, 16, sizeof(struct handle));
	hmap__init(&n->owners, 16, sizeof(struct owner));
	*out = n;
	return 0;
}

void names__free(struct names *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->handles.n; i++)
		free(((struct handle *)hmap__at(&n->handles, i))->epochs);
	hmap__clear(&n->handles);
	hmap__clear(&n->owners);
	HASH_CLEAR(hh, n->by_text);
	for (uint32_t i = 0; i < n->n; i++) {
		free(n->list[i]->text);
		free(n->list[i]);
	}
	free(n->list);
	free(n);
}

size_t names__size(const struct names *n)
{
	return n->handles.n + n->owners.n + n->n;
}

static int intern(struct names *n, const char *text, bool cut, uint32_t *id)
{
	struct name *e, **list;
	char *copy;
	unsigned before;

	if (asprintf(&copy, "%s%s", text, cut ? "…" : "") < 0)
		return -ENOMEM;
	HASH_FIND_STR(n->by_text, copy, e);
	if (e) {
		free(copy);
		*id = e->id;
		return 0;
	}
	e = calloc(1, sizeof(*e));
	list = realloc(n->list, (n->n + 1) * sizeof(*list));
	if (list)
		n->list = list;
	if (!e || !list)
		goto fail;
	e->text = copy;
	e->id = n->n + 1;
	before = HASH_COUNT(n->by_text);
	HASH_ADD_KEYPTR(hh, n->by_text, e->text, strlen(e->text), e);
	if (HASH_COUNT(n->by_text) == before)
		goto fail;
	n->list[n->n++] = e;
	*id = e->id;
	return 0;
fail:
	free(copy);
	free(e);
	return -ENOMEM;
}

static int epoch_insert(struct handle *h, const struct epoch *e)
{
	struct epoch *epochs = realloc(h->epochs, (h->n + 1) * sizeof(*epochs));
	uint32_t at = h->n;

	if (!epochs)
		return -ENOMEM;
	h->epochs = epochs;
	/* launches refer to epochs by number, so a late record can only go behind the newest */
	if (at && epochs[at - 1].from > e->from)
		return 0;
	epochs[at] = *e;
	h->n++;
	return 0;
}

static bool bound(const struct epoch *e)
{
	return e->name || e->alias.handle;
}

/* Ends the newest epoch where the function may not have lived on. */
static int settle(struct handle *h, uint64_t t)
{
	const struct epoch *newest = &h->epochs[h->n - 1];
	uint64_t end = !bound(newest) ? h->proc->last_unload : newest->owner ? newest->owner->unloaded : 0;

	if (end <= newest->from || end > t)
		return 0;
	return epoch_insert(h, &(struct epoch){ .from = end });
}

static uint32_t epoch_at(const struct handle *h, uint64_t t)
{
	uint32_t i = h->n - 1;

	while (i && h->epochs[i].from > t)
		i--;
	return i;
}

/* The same handle in the process that `p` was forked from, as it stood then. */
static struct func_ref inherited(struct names *n, const struct proc *p, uint64_t value)
{
	struct func_ref none = { 0 };
	uint64_t t = UINT64_MAX;

	for (int depth = 0; p->parent && depth < 16; depth++) {
		uint64_t key[2] = { (uintptr_t)p->parent, value };
		struct handle *h = hmap__get(&n->handles, key);

		if (p->forked_at < t)
			t = p->forked_at;
		if (h)
			return (struct func_ref){ h, epoch_at(h, t) };
		p = p->parent;
	}
	return none;
}

static struct handle *handle_of(struct names *n, struct proc *p, uint64_t value)
{
	uint64_t key[2] = { (uintptr_t)p, value };
	struct handle *h = n->last;

	if (h && h->proc == p && h->key[1] == value)
		return h;
	h = hmap__put(&n->handles, key);
	if (!h)
		return NULL;
	if (!h->proc) {
		struct epoch first = { .alias = inherited(n, p, value) };

		if (epoch_insert(h, &first))
			return NULL;
		h->proc = p;
	}
	n->last = h;
	return h;
}

uint32_t names__name(const struct func_ref *ref)
{
	struct func_ref r = *ref;

	for (int depth = 0; r.handle && depth < 16; depth++) {
		const struct epoch *e = &r.handle->epochs[r.epoch];

		if (e->name)
			return e->name;
		r = e->alias;
	}
	return 0;
}

uint64_t names__value(const struct func_ref *ref, struct proc **proc)
{
	*proc = ref->handle->proc;
	return ref->handle->key[1];
}

int names__ref(struct names *n, struct proc *p, uint64_t handle, uint64_t t, struct func_ref *ref)
{
	struct handle *h = handle_of(n, p, handle);

	if (!h || settle(h, t))
		return -ENOMEM;
	ref->handle = h;
	ref->epoch = epoch_at(h, t);
	return 0;
}

const char *names__text(const struct names *n, uint32_t name)
{
	return name && name <= n->n ? n->list[name - 1]->text : NULL;
}

static struct owner *owner_of(struct names *n, const struct proc *p, uint64_t value)
{
	uint64_t key[2] = { (uintptr_t)p, value };

	return hmap__put(&n->owners, key);
}

/* From t on the handle has this name, or means what `alias` means. */
static int bind(struct names *n, const struct view *v, uint64_t value, uint32_t name, struct func_ref alias,
		struct owner *owner)
{
	struct epoch next = { .from = v->c->t_entry, .name = name, .alias = alias, .owner = owner };
	struct func_ref now;
	struct epoch *e;
	uint32_t said = name ? name : names__name(&alias), known;
	int rc = names__ref(n, v->proc, value, v->c->t_entry, &now);

	if (rc)
		return rc;
	if (alias.handle == now.handle)
		return 0;
	e = &now.handle->epochs[now.epoch];
	known = names__name(&now);
	if (known && said && known != said)
		return epoch_insert(now.handle, &next);
	if (!e->name)
		e->name = name;
	if (!e->alias.handle && !e->name)
		e->alias = alias;
	if (owner)
		e->owner = owner;
	return 0;
}

static int bind_text(struct names *n, const struct view *v, uint64_t value, struct owner *owner)
{
	const char *text = api_call_string(v->p->api, v->c);
	uint32_t name;
	int rc;

	if (!text || !*text)
		return 0;
	rc = intern(n, text, v->c->flags & GPUBPF_CALL_BLOB_TRUNC, &name);
	return rc ? rc : bind(n, v, value, name, (struct func_ref){ 0 }, owner);
}

static int bind_new(struct names *n, const struct view *v, enum plan_role owner_role)
{
	uint64_t out, value;
	struct owner *owner = NULL;

	if (!api_call_out(v->p->api, v->c, &out) || !out)
		return 0;
	if (plan_arg(v->p, v->c, owner_role, &value)) {
		owner = owner_of(n, v->proc, value);
		if (!owner)
			return -ENOMEM;
	}
	return bind_text(n, v, out, owner);
}

static int bind_kernel_func(struct names *n, const struct view *v)
{
	struct func_ref kernel;
	uint64_t out, value;
	int rc;

	if (!api_call_out(v->p->api, v->c, &out) || !out || !plan_arg(v->p, v->c, PLAN_KERNEL, &value))
		return 0;
	rc = names__ref(n, v->proc, value, v->c->t_entry, &kernel);
	if (rc)
		return rc;
	return bind(n, v, out, 0, kernel, kernel.handle->epochs[kernel.epoch].owner);
}

int names__call(struct names *n, const struct view *v)
{
	struct owner *owner;
	uint64_t value;

	if (v->p->name == PLAN_NAME_NONE || v->outcome != OUTCOME_OK)
		return 0;
	switch (v->p->name) {
	case PLAN_NAME_FUNCTION:
		return bind_new(n, v, PLAN_MODULE);
	case PLAN_NAME_KERNEL:
		return bind_new(n, v, PLAN_LIBRARY);
	case PLAN_NAME_KERNEL_FUNC:
		return bind_kernel_func(n, v);
	case PLAN_NAME_OF_FUNC:
		return plan_arg(v->p, v->c, PLAN_FUNC, &value) ? bind_text(n, v, value, NULL) : 0;
	case PLAN_NAME_OF_KERNEL:
		return plan_arg(v->p, v->c, PLAN_KERNEL, &value) ? bind_text(n, v, value, NULL) : 0;
	case PLAN_NAME_UNLOAD:
		v->proc->last_unload = v->c->t_entry;
		if (!plan_arg(v->p, v->c, PLAN_MODULE, &value) && !plan_arg(v->p, v->c, PLAN_LIBRARY, &value))
			return 0;
		owner = owner_of(n, v->proc, value);
		if (!owner)
			return -ENOMEM;
		owner->unloaded = v->c->t_entry;
		return 0;
	case PLAN_NAME_CONTEXT_GONE:
		v->proc->last_unload = v->c->t_entry;
		return 0;
	default:
		return 0;
	}
}

char *names__display(const char *text, uint64_t handle)
{
	char *s;

	if (text) {
		s = cplus_demangle(text, DMGL_PARAMS | DMGL_ANSI);
		return s ? s : strdup(text);
	}
	return asprintf(&s, "<unresolved 0x%llx>", (unsigned long long)handle) < 0 ? NULL : s;
}
