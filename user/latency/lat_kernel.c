/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launch keys. As calls come, each key gets a number; what it is called is asked at the end, when all that tells it was
 * seen: a call that names the function, or, where none does, what the device ran for it.
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latency/lat.h"
#include "util/err.h"

static struct lat_kernel *add(struct latency *l)
{
	struct lat_kernel *k;

	if (l->nkernels == l->kernel_room) {
		size_t room = l->kernel_room ? l->kernel_room * 2 : 64;

		k = realloc(l->kernel, room * sizeof(*k));
		if (!k)
			return NULL;
		l->kernel = k;
		l->kernel_room = room;
	}
	k = &l->kernel[l->nkernels];
	memset(k, 0, sizeof(*k));
	k->row = (uint32_t)l->nkernels++;
	return k;
}

void lat_kernels__begin(struct latency *l)
{
	launch_numbers__begin(&l->raw);
}

int lat_kernel__number(struct latency *l, const struct view *v, uint32_t *ref, bool *first)
{
	const struct launch_number *there;
	struct lat_kernel *k;
	int rc = launch_numbers__put(&l->raw, l->names, v, &there, first);

	*ref = 0;
	if (rc || !there)
		return rc;
	if (*first && !l->again) {
		k = add(l);
		if (!k)
			return -ENOMEM;
		k->key = there->key;
	}
	*ref = there->number < l->nkernels ? (uint32_t)there->number + 1 : 0;
	return 0;
}

int lat_kernel__of_device(struct latency *l, uint32_t key, uint32_t *ref)
{
	const struct join_key *d = join__key(l->in.join, key);
	struct lat_kernel *k;

	*ref = 0;
	if (d->kind != GPUBPF_ACTIVITY_KERNEL)
		return 0;
	if (!l->device_kernel)
		l->device_kernel = calloc(join__keys(l->in.join) + 1, sizeof(*l->device_kernel));
	if (!l->device_kernel)
		return -ENOMEM;
	if (!l->device_kernel[key]) {
		k = add(l);
		if (!k)
			return -ENOMEM;
		k->device_key = key + 1;
		l->device_kernel[key] = k->row + 1;
	}
	*ref = l->device_kernel[key];
	return 0;
}

/* ---- What they are ---- */

static void shape_of_device(struct launch_key *k, const struct join_key *d)
{
	if (!(k->has & LAUNCH_HAS_GRID))
		memcpy(k->grid, d->grid, sizeof(k->grid));
	if (!(k->has & LAUNCH_HAS_BLOCK))
		memcpy(k->block, d->block, sizeof(k->block));
	if (!(k->has & LAUNCH_HAS_SHARED))
		k->shared = d->dynamic_shared;
	k->has |= LAUNCH_HAS_GRID | LAUNCH_HAS_BLOCK | LAUNCH_HAS_SHARED;
}

static int name(struct latency *l, struct lat_kernel *k)
{
	const struct join_key *d = k->device_key ? join__key(l->in.join, k->device_key - 1) : NULL;
	struct proc *proc = NULL;
	uint32_t number = launch_key__resolve(&k->key, &k->handle, &proc);

	k->proc = proc;
	k->name = number ? names__text(l->m->names, number) : NULL;
	if (!k->name && d) {
		k->name = join__name(l->in.join, d->name);
		if (!k->name && !k->handle)
			k->handle = d->name_id;
	}
	if (d)
		shape_of_device(&k->key, d);
	k->display = names__display(k->name, k->handle);
	return k->display ? 0 : -ENOMEM;
}

static int compare(const struct lat_kernel *a, const struct lat_kernel *b)
{
	int c = strcmp(a->name ? a->name : "", b->name ? b->name : "");

	if (!c && !a->name && a->handle != b->handle)
		c = a->handle < b->handle ? -1 : 1;
	if (!c && !a->name && a->proc != b->proc)
		c = a->proc < b->proc ? -1 : 1;
	if (!c)
		c = memcmp(a->key.grid, b->key.grid, sizeof(a->key.grid));
	if (!c)
		c = memcmp(a->key.block, b->key.block, sizeof(a->key.block));
	if (!c)
		c = memcmp(a->key.cluster, b->key.cluster, sizeof(a->key.cluster));
	if (!c && a->key.shared != b->key.shared)
		c = a->key.shared < b->key.shared ? -1 : 1;
	return c;
}

static int by_identity(const void *x, const void *y, void *arg)
{
	const struct latency *l = arg;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	int c = compare(&l->kernel[a], &l->kernel[b]);

	return c ? c : (a > b) - (a < b);
}

static int find_rows(struct latency *l)
{
	uint32_t *order = malloc((l->nkernels + 1) * sizeof(*order)), row = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < l->nkernels; i++)
		order[i] = (uint32_t)i;
	if (l->nkernels)
		qsort_r(order, l->nkernels, sizeof(*order), by_identity, l);
	for (size_t i = 0; i < l->nkernels; i++) {
		if (!i || compare(&l->kernel[order[i - 1]], &l->kernel[order[i]]) != 0)
			row = order[i];
		l->kernel[order[i]].row = row;
	}
	free(order);
	return 0;
}

static bool matches(const char *pattern, const struct lat_kernel *k)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, k->display, 0) == 0 || (k->name && fnmatch(pattern, k->name, 0) == 0);
	return strstr(k->display, pattern) || (k->name && strstr(k->name, pattern));
}

static int choose(struct latency *l, struct err *err)
{
	for (size_t p = 0; p < l->o.nkernels; p++) {
		bool there = false;

		for (size_t i = 0; i < l->nkernels; i++)
			if (matches(l->o.kernels[p], &l->kernel[i]))
				l->kernel[i].wanted = there = true;
		if (!there)
			return err_set(
				err, -ESRCH,
				"%s: no kernel '%s' was launched in this capture; `gpubpf report -s launches` lists them",
				l->in.path, l->o.kernels[p]);
	}
	return 0;
}

/* What ran for a key's calls; graphs have calls of their own. */
static int learn_from_device(struct latency *l)
{
	struct join_activity a;
	uint32_t ref;
	int rc = 0;

	for (size_t i = 0; !rc && i < join__activities(l->in.join); i++) {
		join__activity(l->in.join, i, &a);
		if (!a.has_call || a.kind != GPUBPF_ACTIVITY_KERNEL)
			continue;
		if (a.call.of_shim)
			rc = a.has_node ? 0 : lat_kernel__of_device(l, a.key, &ref);
		else if (a.call.number < l->ncalls && l->call_kernel && l->call_kernel[a.call.number])
			l->kernel[l->call_kernel[a.call.number] - 1].device_key = a.key + 1;
	}
	return rc;
}

int lat_kernels__resolve(struct latency *l, struct err *err)
{
	int rc = l->in.join ? learn_from_device(l) : 0;

	for (size_t i = 0; !rc && i < l->nkernels; i++)
		rc = name(l, &l->kernel[i]);
	if (!rc)
		rc = find_rows(l);
	return rc ? err_set(err, rc, "%s: out of memory", l->in.path) : choose(l, err);
}

int lat_kernels__merge(struct latency *l)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->nkernels; i++) {
		struct lat_kernel *k = &l->kernel[i];
		struct lat_fact from = { LAT_F_KERNEL, i + 1 }, to = { LAT_F_KERNEL, k->row + 1 };

		if (k->row == i)
			continue;
		rc = lat_group__merge(&l->kernel[k->row].group, &k->group);
		lat_group__clear(&k->group);
		for (int m = 0; !rc && m < LAT_MEASURES; m++)
			for (unsigned p = 0; !rc && p < LAT_POPULATIONS; p++)
				if (l->study[m][p].ready && hmap__get(&l->study[m][p].features, &from))
					rc = lat_study__rename(&l->study[m][p], from, to);
	}
	return rc;
}

void lat_kernels__clear(struct latency *l)
{
	for (size_t i = 0; i < l->nkernels; i++) {
		free(l->kernel[i].display);
		lat_group__clear(&l->kernel[i].group);
	}
	free(l->kernel);
	free(l->device_kernel);
	hmap__clear(&l->raw);
}

static size_t put_dim(char *buf, size_t n, size_t at, const char *lead, const uint32_t d[3])
{
	int k = at < n ? snprintf(buf + at, n - at, "%s%" PRIu32 "x%" PRIu32 "x%" PRIu32, lead, d[0], d[1],
				  d[2])
		       : 0;

	return at + (k > 0 ? (size_t)k : 0);
}

const char *lat_kernel__shape(const struct lat_kernel *k, char *buf, size_t n)
{
	size_t at = 0;

	buf[0] = 0;
	if (k->key.has & LAUNCH_HAS_GRID)
		at = put_dim(buf, n, at, "", k->key.grid);
	if (k->key.has & LAUNCH_HAS_BLOCK)
		at = put_dim(buf, n, at, at ? " × " : "", k->key.block);
	if (k->key.has & LAUNCH_HAS_CLUSTER)
		at = put_dim(buf, n, at, ", cluster ", k->key.cluster);
	if ((k->key.has & LAUNCH_HAS_SHARED) && k->key.shared && at < n)
		snprintf(buf + at, n - at, ", %" PRIu32 " B", k->key.shared);
	return buf;
}
