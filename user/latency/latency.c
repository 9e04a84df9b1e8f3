/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "latency/lat.h"
#include "model/names.h"
#include "util/err.h"

int latency__open(struct latency *l, const char *path, const struct latency_opts *o, struct err *err)
{
	int rc;

	memset(l, 0, sizeof(*l));
	l->o = *o;
	rc = inspection__open(&l->in, path, err);
	if (!rc)
		rc = lat_stacks__open(l, err);
	if (!rc)
		rc = lat_read(l, err);
	if (rc)
		return rc;
	rc = lat_walk(l);
	if (!rc)
		rc = lat_kernels__merge(l);
	return rc ? err_set(err, rc, "%s: out of memory", path) : lat_stories(l, err);
}

void latency__close(struct latency *l)
{
	for (int m = 0; m < LAT_MEASURES; m++) {
		for (unsigned p = 0; p < LAT_POPULATIONS; p++) {
			lat_study__clear(&l->study[m][p]);
			free(l->picks[m][p].v);
		}
	}
	for (unsigned i = 0; l->api && i < l->napis + JOIN_POPULATIONS; i++)
		lat_group__clear(&l->api[i]);
	lat_kernels__clear(l);
	lat_streams__free(l->streams);
	lat_locks__clear(&l->locks);
	lat_idle__clear(&l->idle);
	lat_stacks__free(l->stacks);
	hmap__clear(&l->threads);
	free(l->api);
	free(l->api_wanted);
	free(l->call_kernel);
	free(l->call_stream);
	free(l->call_flags);
	free(l->seen);
	free(l->story);
	inspection__close(&l->in);
	model__free(l->m);
}

const char *latency__api_name(const struct latency *l, unsigned api)
{
	const struct api *a = api < l->napis ? apitab__get(l->in.tab, api) : NULL;

	if (api >= l->napis && api - l->napis < JOIN_POPULATIONS)
		return api_population_names[api - l->napis];
	return a ? a->symbol : "?";
}

const char *latency__no_device(const struct latency *l)
{
	if (!l->in.join)
		return "no device observer in this capture";
	if (!join__totals(l->in.join)->armed_sessions && !join__activities(l->in.join))
		return "the device observer was never armed";
	return NULL;
}

const char *latency__no_inside(const struct latency *l)
{
	if (l->in.host_left_out)
		return "host observer: left out";
	if (!l->in.breakdowns)
		return "recorded without --latency";
	return NULL;
}

const char *latency__no_wakers(const struct latency *l)
{
	const Gpubpf__Latency *m = l->in.meta->latency;

	if (latency__no_inside(l) || l->in.waits)
		return latency__no_inside(l);
	for (size_t i = 0; m && i < m->n_absent; i++)
		if (!strcmp(m->absent[i]->what, "wakers"))
			return m->absent[i]->why;
	for (size_t i = 0; m && i < m->n_cause; i++)
		if (!strcmp(m->cause[i], "wakers"))
			return NULL;
	return "recorded by a gpubpf that did not ask";
}

static bool has_calls(const struct latency *l, unsigned population)
{
	for (int m = 0; m < LAT_MEASURES; m++)
		if (l->study[m][population].dist.h.n)
			return true;
	return false;
}

bool latency__shown(const struct latency *l, unsigned population)
{
	unsigned first = 0;

	if (l->o.napis)
		return has_calls(l, population);
	while (first < LAT_POPULATIONS && !has_calls(l, first))
		first++;
	return first == population;
}

char *latency__activity_name(const struct latency *l, const struct join_key *key)
{
	char *s;

	if (key->kind == GPUBPF_ACTIVITY_KERNEL)
		return names__display(join__name(l->in.join, key->name), key->name_id);
	return asprintf(&s, "%s", join_kind_name(key->kind) ? join_kind_name(key->kind) : "activity") < 0
		       ? NULL
		       : s;
}
