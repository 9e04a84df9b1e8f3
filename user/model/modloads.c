/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/modloads.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const mod_image_names[MOD_IMAGES] = { NULL, "cubin", "PTX", "fat binary", "other" };

struct load {            /* what a handle stands for now */
	uint64_t key[2]; /* process, module or library */
	uint32_t row;
	bool timed;
	uint64_t entry, ns;
};

struct function {
	uint64_t key[2]; /* process, function or kernel */
	bool has_load, launched;
	struct load load;
	uint64_t lookups, ns, entry, ret;
};

struct inside {          /* module calls inside a call of a thread that has not returned yet */
	uint64_t key[2]; /* process, thread */
	uint64_t n, ns, entry;
};

int modloads__new(struct modloads **out)
{
	struct modloads *m = *out = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	hmap__init(&m->rows, 16, sizeof(struct mod_row));
	hmap__init(&m->loads, 16, sizeof(struct load));
	hmap__init(&m->functions, 16, sizeof(struct function));
	hmap__init(&m->threads, 16, sizeof(struct inside));
	hmap__init(&m->kernels, sizeof(((struct mod_kernel *)0)->key), sizeof(struct mod_kernel));
	hmap__init(&m->merged, sizeof(((struct mod_kernel *)0)->key), sizeof(struct mod_kernel));
	return 0;
}

void modloads__free(struct modloads *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->rows.n; i++)
		hist__clear(&((struct mod_row *)hmap__at(&m->rows, i))->time);
	hmap__clear(&m->rows);
	hmap__clear(&m->loads);
	hmap__clear(&m->functions);
	hmap__clear(&m->threads);
	hmap__clear(&m->kernels);
	hmap__clear(&m->merged);
	free(m->spans);
	free(m);
}

/*
 * The first bytes of an image as the record has them: ELF, the two words that nvcc and fatbinary put in front (fatbinary.h),
 * or text. PTX may begin with any comment, directive or white space.
 */
static enum mod_image image_of(const struct view *v)
{
	static const uint8_t elf[] = { 0x7f, 'E', 'L', 'F' }, wrapper[] = { 0xb1, 0x43, 0x62, 0x46 },
			     container[] = { 0x50, 0xed, 0x55, 0xba };
	size_t n;
	const uint8_t *p = api_call_blob(v->c, &n);
	bool of_image = false;

	for (unsigned i = 0; i < v->p->api->nargs; i++)
		of_image |= v->p->api->args[i].type == 'm';
	if (!of_image || !p || n < 8 || (v->c->flags & GPUBPF_CALL_BLOB_FAULT))
		return MOD_IMAGE_UNREAD;
	if (memcmp(p, elf, 4) == 0)
		return MOD_IMAGE_CUBIN;
	if (memcmp(p, wrapper, 4) == 0 || memcmp(p, container, 4) == 0)
		return MOD_IMAGE_FATBIN;
	for (size_t i = 0; i < 4; i++)
		if ((p[i] < ' ' || p[i] > '~') && p[i] != '\n' && p[i] != '\r' && p[i] != '\t')
			return MOD_IMAGE_OTHER;
	return MOD_IMAGE_PTX;
}

static struct mod_row *row_of(struct modloads *m, const struct view *v, enum mod_image image,
			      uint32_t *number)
{
	uint64_t key[2] = { (uintptr_t)v->proc, (uint64_t)v->c->api << 8 | image };
	size_t before = m->rows.n;
	struct mod_row *r = hmap__put(&m->rows, key);

	if (!r)
		return NULL;
	if (m->rows.n != before) {
		r->proc = v->proc;
		r->api = v->p->api;
		r->image = image;
		r->number = (uint32_t)before;
	}
	*number = r->number;
	return r;
}

static int keep_span(struct modloads *m, const struct view *v, uint32_t row)
{
	if (m->nspans == MOD_SPANS) {
		m->too_many = true;
		return 0;
	}
	if (m->nspans == m->cap) {
		size_t cap = m->cap ? m->cap * 2 : 64;
		struct mod_span *s = realloc(m->spans, cap * sizeof(*s));

		if (!s)
			return -ENOMEM;
		m->spans = s;
		m->cap = cap;
	}
	m->spans[m->nspans++] = (struct mod_span){
		.proc = v->proc, .entry = v->c->t_entry, .ret = v->c->t_return, .row = row
	};
	return 0;
}

static int on_load(struct modloads *m, const struct view *v)
{
	uint64_t out, key[2] = { (uintptr_t)v->proc, 0 };
	struct load *l;
	struct mod_row *r;
	uint32_t row;

	r = row_of(m, v, image_of(v), &row);
	if (!r)
		return -ENOMEM;
	if (v->c->depth) {
		r->nested++;
	} else {
		tally__add(&r->calls, v);
		if (v->timed && hist__add(&r->time, v->ns))
			return -ENOMEM;
	}
	if (v->outcome != OUTCOME_OK || !api_call_out(v->p->api, v->c, &out) || !out ||
	    strcmp(v->p->api->detail, "load") != 0)
		return 0;
	key[1] = out;
	l = hmap__put(&m->loads, key);
	if (!l)
		return -ENOMEM;
	l->row = row;
	l->timed = v->timed;
	l->entry = v->c->t_entry;
	l->ns = v->ns;
	return v->c->depth || !v->timed ? 0 : keep_span(m, v, row);
}

static const struct load *load_of(const struct modloads *m, const struct view *v, enum plan_role role)
{
	uint64_t key[2] = { (uintptr_t)v->proc, 0 };

	return plan_arg(v->p, v->c, role, &key[1]) ? hmap__get(&m->loads, key) : NULL;
}

static void looked_up(struct function *f, const struct view *v)
{
	f->lookups++;
	f->ns += v->ns;
	f->entry = v->c->t_entry;
	f->ret = v->c->t_return;
}

/* A handle may be given out again: then it starts anew. */
static int on_lookup(struct modloads *m, const struct view *v, const struct load *l)
{
	uint64_t key[2] = { (uintptr_t)v->proc, 0 };
	struct function *f;

	if (!api_call_out(v->p->api, v->c, &key[1]) || !key[1])
		return 0;
	f = hmap__put(&m->functions, key);
	if (!f)
		return -ENOMEM;
	if (l && (!f->has_load || f->load.entry != l->entry)) {
		memset((char *)f + sizeof(key), 0, sizeof(*f) - sizeof(key));
		f->has_load = true;
		f->load = *l;
		((struct mod_row *)hmap__at(&m->rows, l->row))->functions++;
	}
	looked_up(f, v);
	return 0;
}

/* A kernel's function: what was known of the kernel holds for it. */
static int on_kernel_function(struct modloads *m, const struct view *v)
{
	uint64_t key[2] = { (uintptr_t)v->proc, 0 }, of[2] = { (uintptr_t)v->proc, 0 };
	struct function *f, *kernel;

	if (!api_call_out(v->p->api, v->c, &key[1]) || !key[1] || !plan_arg(v->p, v->c, PLAN_KERNEL, &of[1]))
		return 0;
	f = hmap__put(&m->functions, key);
	if (!f)
		return -ENOMEM;
	kernel = hmap__get(&m->functions, of);
	if (kernel && (!f->lookups || f->load.entry != kernel->load.entry))
		memcpy((char *)f + sizeof(key), (char *)kernel + sizeof(key), sizeof(*f) - sizeof(key));
	looked_up(f, v);
	return 0;
}

static int on_module(struct modloads *m, const struct view *v)
{
	const char *what = v->p->api->detail;
	uint64_t key[2] = { (uintptr_t)v->proc, 0 };
	const struct load *l;
	struct function *f;
	struct load *module;

	if (strcmp(what, "load") == 0 || strcmp(what, "link") == 0)
		return on_load(m, v);
	if (v->outcome != OUTCOME_OK)
		return 0;
	if (v->p->name == PLAN_NAME_FUNCTION)
		return on_lookup(m, v, load_of(m, v, PLAN_MODULE));
	if (v->p->name == PLAN_NAME_KERNEL)
		return on_lookup(m, v, load_of(m, v, PLAN_LIBRARY));
	if (v->p->name == PLAN_NAME_KERNEL_FUNC)
		return on_kernel_function(m, v);
	if (strcmp(what, "funcload") == 0) {
		f = plan_arg(v->p, v->c, PLAN_FUNC, &key[1]) ? hmap__get(&m->functions, key) : NULL;
		if (f)
			looked_up(f, v);
		return 0;
	}
	/* the module of a library is what the library is (cuLibraryGetModule) */
	l = v->p->name == PLAN_NAME_NONE ? load_of(m, v, PLAN_LIBRARY) : NULL;
	if (!l || !api_call_out(v->p->api, v->c, &key[1]) || !key[1])
		return 0;
	module = hmap__put(&m->loads, key);
	if (!module)
		return -ENOMEM;
	memcpy((char *)module + sizeof(key), (const char *)l + sizeof(key), sizeof(*l) - sizeof(key));
	return 0;
}

static void came_from(struct modloads *m, struct mod_kernel *k, struct function *f)
{
	struct mod_row *r;

	k->lookups = f->lookups;
	k->lookup_ns = f->ns;
	k->lookup_entry = f->entry;
	k->lookup_return = f->ret;
	k->has_load = f->has_load;
	if (!f->has_load)
		return;
	k->load_row = f->load.row;
	k->load_timed = f->load.timed;
	k->load_entry = f->load.entry;
	k->load_ns = f->load.ns;
	r = hmap__at(&m->rows, k->load_row);
	r->kernels += !f->launched;
	f->launched = true;
}

static int on_launch(struct modloads *m, struct names *names, const struct view *v, const struct inside *in)
{
	struct mod_kernel *k, make = { 0 };
	struct launch_key whole;
	uint64_t key[2] = { (uintptr_t)v->proc, 0 };
	struct function *f;
	int rc;

	if (v->outcome == OUTCOME_FAILED || v->outcome == OUTCOME_OPEN ||
	    !plan_arg(v->p, v->c, PLAN_FUNC, &key[1]))
		return 0;
	rc = launch_key__of(&whole, names, v);
	if (rc)
		return rc;
	make.key.func = (struct launch_key){
		.func = whole.func, .epoch = whole.epoch, .named = whole.named, .has = LAUNCH_HAS_FUNC
	};
	make.key.proc = (uintptr_t)v->proc;
	k = hmap__put(&m->kernels, &make.key);
	if (!k)
		return -ENOMEM;
	k->launches += !v->captured;
	if (k->proc) {
		if (v->timed) {
			k->rest++;
			k->rest_ns += v->ns;
		}
		return 0;
	}
	k->proc = v->proc;
	k->tid = v->c->tid;
	k->timed = v->timed;
	k->first_entry = v->c->t_entry;
	k->first_ns = v->ns;
	k->nested = in ? in->n : 0;
	k->nested_ns = in ? in->ns : 0;
	f = hmap__get(&m->functions, key);
	if (f)
		came_from(m, k, f);
	return 0;
}

int modloads__call(struct modloads *m, struct names *names, const struct view *v)
{
	bool module = v->p->api->cls == API_MODULE;
	uint64_t key[2] = { (uintptr_t)v->proc, v->c->tid };
	struct inside *in = NULL;
	int rc = module ? on_module(m, v) : 0;

	if (rc)
		return rc;
	if (v->c->depth) {
		in = module ? hmap__put(&m->threads, key) : NULL;
		if (!in)
			return module ? -ENOMEM : 0;
		if (!in->n)
			in->entry = v->c->t_entry;
		in->n++;
		in->ns += v->ns;
		return 0;
	}
	in = m->threads.n ? hmap__get(&m->threads, key) : NULL;
	if (v->p->api->cls == API_LAUNCH)
		rc = on_launch(m, names, v,
			       in && in->n && in->entry >= v->c->t_entry && v->timed ? in : NULL);
	if (in)
		in->n = in->ns = 0;
	return rc;
}

static int merge(struct modloads *m, const struct mod_kernel *from)
{
	struct mod_kernel make = { .key = from->key }, *k;
	struct proc *proc = NULL;
	uint64_t handle = 0, launches, rest, rest_ns;
	uint32_t name = launch_key__resolve(&make.key.func, &handle, &proc);

	k = hmap__put(&m->merged, &make.key);
	if (!k)
		return -ENOMEM;
	launches = k->launches + from->launches;
	rest = k->rest + from->rest;
	rest_ns = k->rest_ns + from->rest_ns;
	if (k->proc) { /* the later one of two first launches is one of the rest */
		const struct mod_kernel *later = from->first_entry < k->first_entry ? k : from;

		rest += later->timed;
		rest_ns += later->timed ? later->first_ns : 0;
	}
	if (!k->proc || from->first_entry < k->first_entry) {
		*k = *from;
		k->key = make.key;
	}
	k->name = name;
	k->handle = handle;
	k->launches = launches;
	k->rest = rest;
	k->rest_ns = rest_ns;
	return 0;
}

int modloads__finish(struct modloads *m)
{
	int rc = 0;

	hmap__clear(&m->merged);
	hmap__init(&m->merged, sizeof(((struct mod_kernel *)0)->key), sizeof(struct mod_kernel));
	for (size_t i = 0; !rc && i < m->kernels.n; i++)
		rc = merge(m, hmap__at(&m->kernels, i));
	return rc;
}
