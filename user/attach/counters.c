/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What BPF counted, summed over processors. */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "gpubpf.skel.h"
#include "maps.h"

/* One increment in the kernel stands for three there: see row_add(). */
static void add_row(const struct attach *a, struct gpubpf_counts *c)
{
	c->entered += c->row;
	c->recorded += c->row - c->row_lost;
	c->lost_ring += c->row_lost;
	c->unmeasured += a->opts.entry_only ? 0 : c->row;
}

int attach__counts(struct attach *a, struct gpubpf_counts *out, size_t n)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(a->skel->maps.counts), e = 0;
	struct gpubpf_counts *per = cpus > 0 ? calloc((size_t)cpus, sizeof(*per)) : NULL;

	if (!per)
		return -ENOMEM;
	memset(out, 0, n * sizeof(*out));
	for (uint32_t i = 0; i < n && !e; i++) {
		uint64_t *sum = (uint64_t *)&out[i];

		if (bpf_map_lookup_elem(fd, &i, per)) {
			e = -errno;
			break;
		}
		for (int c = 0; c < cpus; c++) {
			const uint64_t *v = (const uint64_t *)&per[c];

			for (size_t k = 0; k < sizeof(*out) / sizeof(*sum); k++)
				sum[k] += v[k];
		}
		add_row(a, &out[i]);
	}
	free(per);
	return e;
}

static int percpu_sum(int fd, const void *key, int cpus, uint64_t *per, uint64_t *sum)
{
	*sum = 0;
	if (bpf_map_lookup_elem(fd, key, per))
		return -errno;
	for (int c = 0; c < cpus; c++)
		*sum += per[c];
	return 0;
}

int attach__globals(struct attach *a, uint64_t out[GPUBPF_G_MAX])
{
	int cpus = libbpf_num_possible_cpus(), e = 0;
	uint64_t *per = cpus > 0 ? calloc((size_t)cpus, sizeof(*per)) : NULL;

	if (!per)
		return -ENOMEM;
	for (uint32_t i = 0; i < GPUBPF_G_MAX && !e; i++)
		e = percpu_sum(bpf_map__fd(a->skel->maps.globals), &i, cpus, per, &out[i]);
	free(per);
	return e;
}

int attach__results(struct attach *a, void (*fn)(uint32_t api, int32_t result, uint64_t count, void *arg),
		    void *arg)
{
	int cpus = libbpf_num_possible_cpus(), fd = bpf_map__fd(a->skel->maps.results);
	uint64_t *per = cpus > 0 ? calloc((size_t)cpus, sizeof(*per)) : NULL, sum;
	struct result_key key, next, *prev = NULL;

	if (!per)
		return -ENOMEM;
	while (!bpf_map_get_next_key(fd, prev, &next)) {
		if (!percpu_sum(fd, &next, cpus, per, &sum))
			fn(next.api, next.result, sum, arg);
		key = next;
		prev = &key;
	}
	free(per);
	return 0;
}
