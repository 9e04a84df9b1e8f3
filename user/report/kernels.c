/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about what ran on the devices, by what it was. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/groups.h"
#include "report/report.h"

static const char *memory_word(uint8_t kind, char *buf, size_t n)
{
	const char *name = join_memory_name(kind);

	if (kind && !name) {
		snprintf(buf, n, "<unknown kind %u>", kind);
		return buf;
	}
	return name;
}

static const char *copy_word(uint8_t kind, int text, char *buf, size_t n)
{
	const char *name = text ? join_copy_text(kind) : join_copy_name(kind);

	if (!name)
		snprintf(buf, n, "<unknown kind %u>", kind);
	return name ? name : buf;
}

char *report__display(const struct report *r, const struct join_key *key)
{
	char unknown[32], *s;

	switch (key->kind) {
	case GPUBPF_ACTIVITY_KERNEL:
		return names__display(join__name(r->in.join, key->name), key->name_id);
	case GPUBPF_ACTIVITY_COPY:
		if (asprintf(&s, "copy %s", copy_word(key->copy_kind, 1, unknown, sizeof(unknown))) < 0)
			return NULL;
		return s;
	default:
		return asprintf(&s, key->kind == GPUBPF_ACTIVITY_SET ? "set" : "other activity") < 0 ? NULL
												     : s;
	}
}

static int display_cell(const struct report *r, struct rows *rows, const struct join_key *key)
{
	char *name = report__display(r, key);
	int rc = name ? row__text(rows, name) : -ENOMEM;

	free(name);
	return rc;
}

static void total_cells(const struct report *r, struct rows *rows, const struct group *g)
{
	uint64_t all = r->dev->kernel_ns;

	row__number(rows, g->records - g->nodes);
	row__number(rows, g->nodes);
	row__number(rows, g->untimed);
	row__maybe(rows, g->time.n, true, g->time.sum);
	row__real(rows, g->time.n && all, true, all ? (double)g->time.sum / (double)all : 0);
}

static int dim_cell(struct rows *rows, uint64_t x, uint64_t y, uint64_t z, bool there)
{
	char buf[72];

	snprintf(buf, sizeof(buf), "%lux%lux%lu", (unsigned long)x, (unsigned long)y, (unsigned long)z);
	return row__text(rows, there ? buf : NULL);
}

static int device_kind_cells(const struct report *r, struct rows *rows, const struct group *g)
{
	const char *kind = report__device_kind(r);
	const struct place *dev = g->device ? hmap__at(&r->dev->devices, g->device - 1) : NULL;

	if (kind && row__text(rows, kind))
		return -ENOMEM;
	if (!kind)
		row__maybe(rows, false, true, 0);
	row__maybe(rows, dev, false, dev ? dev->proc->tgid : 0);
	row__maybe(rows, dev, false, dev ? dev->device : 0);
	return 0;
}

static int kernel_cells(const struct report *r, struct rows *rows, const struct group *g)
{
	const struct join_key *k = g->key;
	uint64_t blocks = (uint64_t)k->grid[0] * k->grid[1];
	bool fits = !__builtin_mul_overflow(blocks, k->grid[2], &blocks);

	total_cells(r, rows, g);
	row__maybe(rows, g->time.n, true, g->time.n ? g->time.sum / g->time.n : 0);
	row__quantiles(rows, &g->time, true);
	row__maybe(rows, g->time.n, true, g->time.min);
	row__maybe(rows, g->time.n, true, g->time.max);
	row__quantiles(rows, &g->delay, g->records > g->nodes);
	row__maybe(rows, fits, false, blocks);
	if (dim_cell(rows, k->grid[0], k->grid[1], k->grid[2], true) ||
	    dim_cell(rows, k->block[0], k->block[1], k->block[2], true) ||
	    dim_cell(rows, k->cluster[0], k->cluster[1], k->cluster[2], k->has_cluster))
		return -ENOMEM;
	row__number(rows, k->registers);
	row__number(rows, k->static_shared);
	row__number(rows, k->dynamic_shared);
	row__number(rows, k->local_per_thread);
	if (device_kind_cells(r, rows, g) || row__text(rows, join__name(r->in.join, k->name)))
		return -ENOMEM;
	return display_cell(r, rows, k);
}

/* A mean over several shapes says nothing of any of them: their number stands in its place (R25). */
static int name_cells(const struct report *r, struct rows *rows, const struct group *g)
{
	char shapes[32];

	total_cells(r, rows, g);
	row__number(rows, g->shapes);
	if (g->shapes == 1) {
		row__maybe(rows, g->time.n, true, g->time.n ? g->time.sum / g->time.n : 0);
	} else {
		snprintf(shapes, sizeof(shapes), "%zu shapes", g->shapes);
		if (row__text(rows, shapes))
			return -ENOMEM;
	}
	row__maybe(rows, g->time.n, true, g->time.min);
	row__maybe(rows, g->time.n, true, g->time.max);
	if (row__text(rows, join__name(r->in.join, g->key->name)))
		return -ENOMEM;
	return display_cell(r, rows, g->key);
}

static void moved_cells(struct rows *rows, const struct group *g, uint64_t n)
{
	bool rate = g->time.n && g->time.sum;
	uint64_t median = 0;

	row__number(rows, n);
	row__number(rows, g->nodes);
	row__number(rows, g->untimed);
	row__number(rows, g->bytes);
	row__maybe(rows, g->time.n, true, g->time.sum);
	row__maybe(rows, rate, true,
		   rate ? (uint64_t)((double)g->timed_bytes * 1e9 / (double)g->time.sum) : 0);
	row__maybe(rows, g->time.n, true, g->time.n ? g->time.sum / g->time.n : 0);
	row__quantiles(rows, &g->time, true);
	row__maybe(rows, g->time.n, true, g->time.max);
	hist__quantile(&g->sizes, 0.5, &median);
	row__maybe(rows, g->sizes.n, false, g->sizes.min);
	row__maybe(rows, g->sizes.n, false, median);
	row__maybe(rows, g->sizes.n, false, g->sizes.max);
}

static int memory_cell(struct rows *rows, uint8_t kind)
{
	char unknown[32];
	const char *word = memory_word(kind, unknown, sizeof(unknown));

	if (word)
		return row__text(rows, word);
	row__maybe(rows, false, true, 0);
	return 0;
}

static int copy_cells(const struct report *r, struct rows *rows, const struct group *g)
{
	const struct join_key *k = g->key;
	char unknown[32];

	(void)r;
	moved_cells(rows, g, g->records);
	row__number(rows, g->async);
	row__maybe(rows, k->has_peer, k->copy_kind == GPUBPF_COPY_PTOP, k->src_device);
	row__maybe(rows, k->has_peer, k->copy_kind == GPUBPF_COPY_PTOP, k->dst_device);
	if (memory_cell(rows, k->src_kind) || memory_cell(rows, k->dst_kind) ||
	    row__text(rows, copy_word(k->copy_kind, 0, unknown, sizeof(unknown))))
		return -ENOMEM;
	return row__text(rows, copy_word(k->copy_kind, 1, unknown, sizeof(unknown)));
}

static int set_cells(const struct report *r, struct rows *rows, const struct group *g)
{
	(void)r;
	moved_cells(rows, g, g->records);
	return memory_cell(rows, g->key->src_kind);
}

typedef int cells_fn(const struct report *r, struct rows *rows, const struct group *g);

static int build(const struct report *r, struct rows *rows, enum group_by by, cells_fn *cells)
{
	struct groups g;
	int rc = groups__make(r->dev, r->in.join, by, &g);

	for (size_t i = 0; !rc && i < g.n; i++) {
		rc = rows__add(rows);
		if (!rc)
			rc = cells(r, rows, &g.group[i]);
	}
	groups__clear(&g);
	return rc;
}

int build_kernels(const struct report *r, struct rows *rows)
{
	return build(r, rows, GROUP_LAUNCH_KEY, kernel_cells);
}

int build_kernel_names(const struct report *r, struct rows *rows)
{
	return build(r, rows, GROUP_NAME, name_cells);
}

int build_device_copies(const struct report *r, struct rows *rows)
{
	return build(r, rows, GROUP_DIRECTION, copy_cells);
}

int build_device_sets(const struct report *r, struct rows *rows)
{
	return build(r, rows, GROUP_MEMORY, set_cells);
}
