/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/launches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/cuda_abi.h"

struct stream_entry {
	struct stream_id id;
	uint64_t number;
};

void launches__init(struct launches *l)
{
	memset(l, 0, sizeof(*l));
	hmap__init(&l->rows, sizeof(struct launch_key), sizeof(struct launch_row));
	hmap__init(&l->merged, sizeof(struct launch_key), sizeof(struct launch_row));
	hmap__init(&l->streams, sizeof(struct stream_id), sizeof(struct stream_entry));
}

static void clear_rows(struct hmap *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		free(((struct launch_row *)hmap__at(rows, i))->streams);
	hmap__clear(rows);
}

void launches__clear(struct launches *l)
{
	clear_rows(&l->rows);
	clear_rows(&l->merged);
	hmap__clear(&l->streams);
}

static void cluster_of(struct launch_key *k, const struct cuda_launch_config *config, const char *attrs,
		       size_t n, uint32_t flags)
{
	struct cuda_launch_attribute a;
	size_t held = n / sizeof(a);

	for (size_t i = 0; i < held && i < config->nattrs; i++) {
		memcpy(&a, attrs + i * sizeof(a), sizeof(a));
		if (a.id != CUDA_LAUNCH_ATTRIBUTE_CLUSTER)
			continue;
		memcpy(k->cluster, a.value, sizeof(k->cluster));
		k->has |= LAUNCH_HAS_CLUSTER;
		return;
	}
	if (held < config->nattrs || (flags & GPUBPF_CALL_BLOB_FAULT))
		k->has |= LAUNCH_CLUSTER_UNREAD;
}

static void shape_of_config(struct launch_key *k, const struct gpubpf_call *c)
{
	struct cuda_launch_config config;
	size_t n;
	const char *blob = api_call_blob(c, &n);

	if (!blob || n < sizeof(config)) {
		k->has |= LAUNCH_CLUSTER_UNREAD;
		return;
	}
	memcpy(&config, blob, sizeof(config));
	memcpy(k->grid, config.grid, sizeof(k->grid));
	memcpy(k->block, config.block, sizeof(k->block));
	k->shared = config.shared;
	k->has |= LAUNCH_HAS_GRID | LAUNCH_HAS_BLOCK | LAUNCH_HAS_SHARED;
	cluster_of(k, &config, blob + sizeof(config), n - sizeof(config), c->flags);
}

static bool arg32(const struct view *v, enum plan_role role, uint32_t *out)
{
	uint64_t x;

	if (!plan_arg(v->p, v->c, role, &x))
		return false;
	*out = (uint32_t)x;
	return true;
}

/* What arg32() would say of each, where all are there. */
static bool whole_shape(struct launch_key *k, const struct view *v)
{
	const struct gpubpf_call *c = v->c;
	const __u64 *w = c->words + v->p->arg[PLAN_GX];

	if (v->p->arg[PLAN_SMEM] >= c->nwords || c->flags & GPUBPF_CALL_STACK_FAULT)
		return false;
	for (unsigned i = 0; i < 3; i++) {
		k->grid[i] = (uint32_t)w[i];
		k->block[i] = (uint32_t)w[3 + i];
	}
	k->shared = (uint32_t)w[6];
	k->has |= LAUNCH_HAS_GRID | LAUNCH_HAS_BLOCK | LAUNCH_HAS_SHARED;
	return true;
}

static void shape_of(struct launch_key *k, const struct view *v)
{
	if (v->p->config) {
		shape_of_config(k, v->c);
		return;
	}
	if (v->p->shape && whole_shape(k, v))
		return;
	if (arg32(v, PLAN_GX, &k->grid[0]) && arg32(v, PLAN_GY, &k->grid[1])) {
		/* cuLaunchGrid() has two dimensions */
		if (v->p->arg[PLAN_GZ] < 0)
			k->grid[2] = 1;
		if (v->p->arg[PLAN_GZ] < 0 || arg32(v, PLAN_GZ, &k->grid[2]))
			k->has |= LAUNCH_HAS_GRID;
	}
	if (arg32(v, PLAN_BX, &k->block[0]) && arg32(v, PLAN_BY, &k->block[1]) &&
	    arg32(v, PLAN_BZ, &k->block[2]))
		k->has |= LAUNCH_HAS_BLOCK;
	if (arg32(v, PLAN_SMEM, &k->shared))
		k->has |= LAUNCH_HAS_SHARED;
	/* half a shape is no shape */
	if (!(k->has & LAUNCH_HAS_GRID))
		memset(k->grid, 0, sizeof(k->grid));
	if (!(k->has & LAUNCH_HAS_BLOCK))
		memset(k->block, 0, sizeof(k->block));
}

static int func_of(struct launch_key *k, struct names *names, const struct view *v)
{
	struct func_ref ref;
	uint64_t func;
	int rc;

	if (!plan_arg(v->p, v->c, PLAN_FUNC, &func))
		return 0;
	rc = names__ref(names, v->proc, func, v->c->t_entry, &ref);
	if (rc)
		return rc;
	k->has |= LAUNCH_HAS_FUNC;
	k->func = names__name(&ref);
	k->named = k->func != 0;
	if (!k->named) {
		k->func = (uintptr_t)ref.handle;
		k->epoch = ref.epoch;
	}
	return 0;
}

static int set_bit(struct launch_row *r, uint64_t bit)
{
	uint32_t word = (uint32_t)(bit / 64);

	if (word >= r->stream_words) {
		uint64_t *streams = realloc(r->streams, (word + 1) * sizeof(*streams));

		if (!streams)
			return -ENOMEM;
		memset(streams + r->stream_words, 0, (word + 1 - r->stream_words) * sizeof(*streams));
		r->streams = streams;
		r->stream_words = word + 1;
	}
	r->streams[word] |= UINT64_C(1) << (bit % 64);
	return 0;
}

static int count_stream(struct launches *l, struct launch_row *r, const struct view *v)
{
	struct stream_entry *e;
	struct stream_id s;

	if (!stream_of(v, &s)) {
		r->streams_unknown = true;
		return 0;
	}
	if (!l->have_last || memcmp(&s, &l->last_stream, sizeof(s)) != 0) {
		size_t before = l->streams.n;

		e = hmap__put(&l->streams, &s);
		if (!e)
			return -ENOMEM;
		if (l->streams.n != before)
			e->number = before;
		l->last_stream = s;
		l->last_number = e->number;
		l->have_last = true;
	}
	return set_bit(r, l->last_number);
}

int launch_key__of(struct launch_key *k, struct names *names, const struct view *v)
{
	int rc;

	memset(k, 0, sizeof(*k));
	rc = func_of(k, names, v);
	if (!rc)
		shape_of(k, v);
	return rc;
}

void launch_numbers__begin(struct hmap *seen)
{
	hmap__clear(seen);
	hmap__init(seen, sizeof(struct launch_key), sizeof(struct launch_number));
}

int launch_numbers__put(struct hmap *seen, struct names *names, const struct view *v,
			const struct launch_number **there, bool *first)
{
	struct launch_key key;
	struct launch_number *n;
	size_t before = seen->n;
	int rc;

	*there = NULL;
	*first = false;
	if (v->c->depth || v->p->api->cls != API_LAUNCH)
		return 0;
	rc = launch_key__of(&key, names, v);
	if (rc)
		return rc;
	n = hmap__put(seen, &key);
	if (!n)
		return -ENOMEM;
	*first = seen->n != before;
	if (*first)
		n->number = before;
	*there = n;
	return 0;
}

int launches__call(struct launches *l, struct names *names, const struct view *v)
{
	struct launch_key key;
	struct launch_row *r;
	int rc;

	rc = launch_key__of(&key, names, v);
	if (rc)
		return rc;
	r = hmap__put(&l->rows, &key);
	if (!r)
		return -ENOMEM;
	tally__add(&r->calls, v);
	if (v->timed) {
		r->ns += v->ns;
		r->timed++;
	}
	if (v->captured || (v->outcome != OUTCOME_OK && v->outcome != OUTCOME_UNKNOWN))
		return 0;
	return count_stream(l, r, v);
}

uint32_t launch_key__resolve(struct launch_key *k, uint64_t *handle, struct proc **proc)
{
	struct func_ref ref = { 0 };

	if (k->named)
		return (uint32_t)k->func;
	if (!(k->has & LAUNCH_HAS_FUNC))
		return 0;
	ref = (struct func_ref){ (struct handle *)(uintptr_t)k->func, k->epoch };
	k->named = names__name(&ref) != 0;
	/* several unknown functions that had one handle are one row: nothing tells them apart */
	k->epoch = 0;
	if (k->named)
		k->func = names__name(&ref);
	else if (ref.handle)
		*handle = names__value(&ref, proc);
	return k->named ? (uint32_t)k->func : 0;
}

static int merge_row(struct launches *l, const struct launch_row *from)
{
	struct launch_key key = from->key;
	struct launch_row *r;
	struct proc *proc = NULL;
	uint64_t handle = 0;
	uint32_t name = launch_key__resolve(&key, &handle, &proc);
	int rc = 0;

	r = hmap__put(&l->merged, &key);
	if (!r)
		return -ENOMEM;
	r->name = name;
	if (proc) {
		r->handle = handle;
		r->proc = proc;
	}
	tally__merge(&r->calls, &from->calls);
	r->ns += from->ns;
	r->timed += from->timed;
	r->streams_unknown |= from->streams_unknown;
	for (uint64_t bit = 0; !rc && bit < (uint64_t)from->stream_words * 64; bit++)
		if (from->streams[bit / 64] >> (bit % 64) & 1)
			rc = set_bit(r, bit);
	return rc;
}

int launches__finish(struct launches *l)
{
	int rc = 0;

	clear_rows(&l->merged);
	for (size_t i = 0; !rc && i < l->rows.n; i++)
		rc = merge_row(l, hmap__at(&l->rows, i));
	return rc;
}

uint64_t launch_row__streams(const struct launch_row *r)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < r->stream_words; i++)
		n += (uint64_t)__builtin_popcountll(r->streams[i]);
	return n;
}

bool launch_row__blocks(const struct launch_row *r, uint64_t *blocks)
{
	const uint32_t *g = r->key.grid;

	return (r->key.has & LAUNCH_HAS_GRID) && !__builtin_mul_overflow((uint64_t)g[0], g[1], blocks) &&
	       !__builtin_mul_overflow(*blocks, g[2], blocks);
}
