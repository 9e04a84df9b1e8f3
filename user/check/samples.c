/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "check/samples.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void check_samples__free(struct check_samples *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++) {
		free(s->s[i].key);
		free(s->s[i].ns);
	}
	free(s->s);
	free(s);
}

/* "key\0raw\0display": one allocation. */
static int name_sample(struct check_sample *s, const struct join_key *k, const char *raw, const char *display)
{
	char cluster[32] = "-";

	if (k->has_cluster)
		snprintf(cluster, sizeof(cluster), "%ux%ux%u", k->cluster[0], k->cluster[1], k->cluster[2]);
	if (asprintf(&s->key,
		     "%s grid %ux%ux%u block %ux%ux%u cluster %s registers %u static %u dynamic %u%c%s%c%s",
		     raw, k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1], k->block[2], cluster,
		     k->registers, k->static_shared, k->dynamic_shared, 0, raw, 0, display) < 0) {
		s->key = NULL;
		return -ENOMEM;
	}
	s->raw = s->key + strlen(s->key) + 1;
	s->display = s->raw + strlen(s->raw) + 1;
	return 0;
}

static int add(struct check_sample *s, uint64_t ns)
{
	if (s->n == s->room) {
		size_t room = s->room ? s->room * 2 : 64;
		uint64_t *more = realloc(s->ns, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->ns = more;
		s->room = room;
	}
	s->ns[s->n++] = ns;
	s->sum += ns;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct check_sample *)a)->key, ((const struct check_sample *)b)->key);
}

static int read_times(const struct trace *t, struct check_samples *s, const uint32_t *of)
{
	struct join_activity a;
	int rc = 0;

	for (size_t i = 0; !rc && i < trace__execs(t); i++) {
		join__activity_brief(t->in.join, i, &a);
		if (a.kind != GPUBPF_ACTIVITY_KERNEL)
			continue;
		if (a.time == JOIN_TIME_VALID)
			s->sum += a.end - a.start;
		if (!of[a.key]) { /* a name that is not known is no other capture's (R9) */
			s->unresolved++;
			continue;
		}
		if (a.time == JOIN_TIME_VALID)
			rc = add(&s->s[of[a.key] - 1], a.end - a.start);
		else
			s->s[of[a.key] - 1].untimed++;
	}
	return rc;
}

/* Keys that differ in what is no part of a launch key are one. */
static int find_keys(const struct trace *t, struct check_samples *s, uint32_t *of)
{
	size_t keys = t->in.join ? join__keys(t->in.join) : 0;

	s->s = calloc(keys + 1, sizeof(*s->s));
	if (!s->s)
		return -ENOMEM;
	for (size_t i = 0; i < keys; i++) {
		const struct join_key *k = join__key(t->in.join, (uint32_t)i);
		const char *raw = k->kind == GPUBPF_ACTIVITY_KERNEL ? join__name(t->in.join, k->name) : NULL;

		if (!raw)
			continue;
		if (name_sample(&s->s[s->n], k, raw, t->key_display[i]))
			return -ENOMEM;
		s->n++;
	}
	qsort(s->s, s->n, sizeof(*s->s), by_key);
	for (size_t i = 0; i < keys; i++) {
		const struct join_key *k = join__key(t->in.join, (uint32_t)i);
		const char *raw = k->kind == GPUBPF_ACTIVITY_KERNEL ? join__name(t->in.join, k->name) : NULL;
		struct check_sample want = { 0 };

		if (!raw)
			continue;
		if (name_sample(&want, k, raw, t->key_display[i]))
			return -ENOMEM;
		of[i] = (uint32_t)(check_samples__find(s, want.key) - s->s) + 1;
		free(want.key);
	}
	return 0;
}

bool check_several_kinds(const Gpubpf__Meta *m)
{
	for (size_t i = 1; i < m->n_gpu; i++)
		if (m->gpu[i]->name && m->gpu[0]->name && strcmp(m->gpu[i]->name, m->gpu[0]->name) != 0)
			return true;
	return false;
}

int check_samples__of(const struct trace *t, struct check_samples **out)
{
	size_t keys = t->in.join ? join__keys(t->in.join) : 0;
	struct check_samples *s = calloc(1, sizeof(*s));
	uint32_t *of = calloc(keys + 1, sizeof(*of));
	int rc = s && of ? find_keys(t, s, of) : -ENOMEM;

	if (!rc)
		rc = read_times(t, s, of);
	free(of);
	if (s)
		s->several_kinds = check_several_kinds(t->in.meta);
	if (rc) {
		check_samples__free(s);
		s = NULL;
	}
	*out = s;
	return rc;
}

const struct check_sample *check_samples__find(const struct check_samples *s, const char *key)
{
	struct check_sample want = { .key = (char *)key };
	const struct check_sample *found = bsearch(&want, s->s, s->n, sizeof(*s->s), by_key);

	while (found && found > s->s && !strcmp(found[-1].key, key)) /* equal ones: the first has the times */
		found--;
	return found;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t check_sample__median(const struct check_sample *s, uint64_t *room)
{
	memcpy(room, s->ns, s->n * sizeof(*room));
	qsort(room, s->n, sizeof(*room), by_value);
	return s->n % 2 ? room[s->n / 2] : room[s->n / 2 - 1] + (room[s->n / 2] - room[s->n / 2 - 1]) / 2;
}
