/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct member {
	const struct ran *ran;
	const struct join_key *key;
};

#define BY(x, y)                                                                                             \
	do {                                                                                                 \
		if ((x) != (y))                                                                              \
			return (x) < (y) ? -1 : 1;                                                           \
	} while (0)

/* Ids of names that did not arrive mean nothing outside their process: no two keys of such are one (R9). */
static int by_name(const struct member *a, const struct member *b)
{
	BY(a->key->name, b->key->name);
	if (!a->key->name)
		BY(a->ran->key[0], b->ran->key[0]);
	return 0;
}

static int by_shape(const struct member *a, const struct member *b)
{
	const struct join_key *x = a->key, *y = b->key;

	for (int i = 0; i < 3; i++) {
		BY(x->grid[i], y->grid[i]);
		BY(x->block[i], y->block[i]);
	}
	BY(x->has_cluster, y->has_cluster);
	for (int i = 0; i < 3 && x->has_cluster; i++)
		BY(x->cluster[i], y->cluster[i]);
	BY(x->registers, y->registers);
	BY(x->static_shared, y->static_shared);
	BY(x->dynamic_shared, y->dynamic_shared);
	BY(a->ran->key[1], b->ran->key[1]);
	return 0;
}

static int compare(const struct member *a, const struct member *b, enum group_by by)
{
	const struct join_key *x = a->key, *y = b->key;
	int c;

	switch (by) {
	case GROUP_LAUNCH_KEY:
		c = by_name(a, b);
		return c ? c : by_shape(a, b);
	case GROUP_NAME:
		return by_name(a, b);
	case GROUP_DIRECTION:
		BY(x->copy_kind, y->copy_kind);
		BY(x->src_kind, y->src_kind);
		BY(x->dst_kind, y->dst_kind);
		BY(x->has_peer, y->has_peer);
		BY(x->has_peer ? x->src_device : 0, y->has_peer ? y->src_device : 0);
		BY(x->has_peer ? x->dst_device : 0, y->has_peer ? y->dst_device : 0);
		return 0;
	default:
		BY(x->src_kind, y->src_kind);
		return 0;
	}
}

static int sort_by(const void *a, const void *b, void *arg)
{
	const struct member *x = a, *y = b;
	int c = compare(x, y, *(const enum group_by *)arg);

	/* keys are numbered in the order of arrival, so equal files give equal tables */
	return c ? c : (x->ran->key[0] > y->ran->key[0]) - (x->ran->key[0] < y->ran->key[0]);
}

static int merge(struct group *g, const struct member *m)
{
	const struct ran *r = m->ran;

	g->records += r->records;
	g->nodes += r->nodes;
	g->untimed += r->untimed;
	g->async += m->key->async ? r->records : 0;
	g->bytes += r->bytes;
	g->timed_bytes += r->timed_bytes;
	if (hist__merge(&g->time, &r->time) || hist__merge(&g->delay, &r->delay) ||
	    hist__merge(&g->sizes, &r->sizes))
		return -ENOMEM;
	return 0;
}

static size_t members_of(const struct device *d, const struct join *j, enum gpubpf_activity_kind kind,
			 struct member *m)
{
	size_t n = 0;

	for (size_t i = 0; i < d->keys.n; i++) {
		const struct ran *r = hmap__at(&d->keys, i);
		const struct join_key *key = join__key(j, r->key[0]);

		if (key->kind == kind)
			m[n++] = (struct member){ r, key };
	}
	return n;
}

int groups__make(const struct device *d, const struct join *j, enum group_by by, struct groups *g)
{
	/* a name's members stand in the order of their shapes, so that the shapes can be counted */
	enum group_by order = by == GROUP_NAME ? GROUP_LAUNCH_KEY : by;
	enum gpubpf_activity_kind kind = by == GROUP_DIRECTION ? GPUBPF_ACTIVITY_COPY
					 : by == GROUP_MEMORY  ? GPUBPF_ACTIVITY_SET
							       : GPUBPF_ACTIVITY_KERNEL;
	struct member *m = calloc(d->keys.n + 1, sizeof(*m));
	size_t n;
	int rc = 0;

	memset(g, 0, sizeof(*g));
	g->group = calloc(d->keys.n + 1, sizeof(*g->group));
	if (!m || !g->group) {
		free(m);
		return -ENOMEM;
	}
	n = members_of(d, j, kind, m);
	if (n)
		qsort_r(m, n, sizeof(*m), sort_by, &order);
	for (size_t i = 0; !rc && i < n; i++) {
		struct group *at;

		if (!i || compare(&m[i - 1], &m[i], by))
			g->group[g->n++] = (struct group){ .key = m[i].key, .device = m[i].ran->key[1] };
		at = &g->group[g->n - 1];
		at->shapes += !i || compare(&m[i - 1], &m[i], order);
		rc = merge(at, &m[i]);
	}
	free(m);
	return rc;
}

void groups__clear(struct groups *g)
{
	for (size_t i = 0; i < g->n; i++) {
		hist__clear(&g->group[i].time);
		hist__clear(&g->group[i].delay);
		hist__clear(&g->group[i].sizes);
	}
	free(g->group);
	memset(g, 0, sizeof(*g));
}
