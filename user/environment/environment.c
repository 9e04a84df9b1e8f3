// SPDX-License-Identifier: GPL-2.0-or-later
#include "environment/environment.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment/list.h"
#include "inspect/inspect.h"

#define FACTS_MAX 2000 /* of one capture: more than twice what a recorder can find */

const char *const environment_groups[] = { "workload", "device",  "driver", "runtime",
					   "host",     "capture", "timing", NULL };

static struct fact *find(const struct environment *e, const char *group, const char *name)
{
	size_t skip = strlen(e->prefix);

	for (size_t i = e->from; i < e->n; i++) {
		const struct env_fact *f = &e->fact[i].pub;

		if (!strncmp(f->name, e->prefix, skip) && !strcmp(f->name + skip, name) &&
		    !strcmp(f->group, group))
			return &e->fact[i];
	}
	return NULL;
}

bool environment__has(const struct environment *e, const char *group, const char *name)
{
	return find(e, group, name) != NULL;
}

static void clear(struct fact *f)
{
	free((char *)f->pub.name);
	free((char *)f->pub.value);
	free((char *)f->pub.why_absent);
}

/* A group that this version does not know is none of its facts. */
static const char *known_group(const char *group, unsigned *number)
{
	for (*number = 0; environment_groups[*number]; ++*number)
		if (!strcmp(environment_groups[*number], group))
			return environment_groups[*number];
	return NULL;
}

static struct fact *place(struct environment *e, const char *group, const char *name)
{
	struct fact *f = find(e, group, name), *grown;
	unsigned order = (unsigned)e->n;

	if (f) {
		order = f->order;
		clear(f);
	} else if (e->n == e->room) {
		grown = realloc(e->fact, (e->room * 2 + 64) * sizeof(*f));
		if (!grown)
			return NULL;
		e->fact = grown;
		e->room = e->room * 2 + 64;
	}
	if (!f)
		f = &e->fact[e->n++];
	memset(f, 0, sizeof(*f));
	f->order = order;
	return f;
}

void environment__add(struct environment *e, const char *group, const char *name, const char *value,
		      const char *why, bool per_run)
{
	unsigned number;
	struct fact *f;
	char *full;

	group = known_group(group, &number);
	if (e->error || !group)
		return;
	f = place(e, group, name);
	if (!f) {
		e->error = -ENOMEM;
		return;
	}
	if (asprintf(&full, "%s%s", e->prefix, name) < 0)
		full = NULL;
	f->group = number;
	f->pub = (struct env_fact){
		.group = group,
		.name = full ? full : strdup(""),
		.value = value ? strdup(value) : NULL,
		.why_absent = value ? NULL : strdup(why && *why ? why : "not known"),
		.per_run = per_run,
	};
	if (!full || !f->pub.name || (value ? !f->pub.value : !f->pub.why_absent))
		e->error = -ENOMEM;
}

void environment__addf(struct environment *e, const char *group, const char *name, bool per_run,
		       const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		e->error = -ENOMEM;
	}
	va_end(ap);
	environment__add(e, group, name, text, NULL, per_run);
	free(text);
}

static int by_group(const void *a, const void *b)
{
	const struct fact *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void stored(struct environment *e, Gpubpf__Fact **fact, size_t n)
{
	if (n > FACTS_MAX)
		environment__addf(e, "capture", "facts that were read", false, "%d of %zu", FACTS_MAX, n);
	for (size_t i = 0; i < n && i < FACTS_MAX; i++)
		environment__add(e, fact[i]->group, fact[i]->name, fact[i]->value, fact[i]->absent,
				 fact[i]->has_per_run && fact[i]->per_run);
}

static void of_scope(struct environment *e, const struct env_scope *s)
{
	environment__known(e, s);
	environment__observers(e, s);
	if (s->member)
		stored(e, s->member->fact, s->member->n_fact);
	else
		stored(e, s->in->meta->fact, s->in->meta->n_fact);
}

int environment__of(const struct inspection *in, struct environment **env)
{
	struct environment *e = calloc(1, sizeof(*e));
	const Gpubpf__Meta *m = in->meta;
	int error;

	*env = NULL;
	if (!e)
		return -ENOMEM;
	if (!m->n_member)
		of_scope(e, &(struct env_scope){ in, NULL });
	for (size_t i = 0; i < m->n_member; i++) {
		snprintf(e->prefix, sizeof(e->prefix), "member %u: ", m->member[i]->index);
		e->from = e->n;
		of_scope(e, &(struct env_scope){ in, m->member[i] });
	}
	e->prefix[0] = 0;
	e->from = 0;
	if (e->n)
		qsort(e->fact, e->n, sizeof(*e->fact), by_group);
	error = e->error;
	if (error) {
		environment__free(e);
		return error;
	}
	*env = e;
	return 0;
}

size_t environment__facts(const struct environment *e)
{
	return e->n;
}

const struct env_fact *environment__fact(const struct environment *e, size_t i)
{
	return &e->fact[i].pub;
}

const struct env_fact *environment__find(const struct environment *e, const char *group, const char *name)
{
	const struct fact *f = find(e, group, name);

	return f ? &f->pub : NULL;
}

void environment__clear(struct environment *e)
{
	for (size_t i = 0; i < e->n; i++)
		clear(&e->fact[i]);
	e->n = 0;
}

void environment__free(struct environment *e)
{
	if (!e)
		return;
	environment__clear(e);
	free(e->fact);
	free(e);
}
