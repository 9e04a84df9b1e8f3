// SPDX-License-Identifier: GPL-2.0-or-later
/* R29, R30: what may be called a cause. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"

/* Evidence of each has to be there and the same. "host" is judged by itself. */
static const char *const required[] = { "workload", "device", "driver", "runtime", "capture", "timing" };
#define REQUIRED (sizeof(required) / sizeof(required[0]))

int compare_reason(struct compare *c, const char *fmt, ...)
{
	char **grown = realloc(c->reason, (c->nreasons + 1) * sizeof(*grown));
	va_list ap;
	int n;

	if (!grown)
		return -ENOMEM;
	c->reason = grown;
	va_start(ap, fmt);
	n = vasprintf(&c->reason[c->nreasons], fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	c->nreasons++;
	return 0;
}

static int add_place(char **to, const char *s, bool *unknown)
{
	char *all;

	*unknown |= !s;
	if (!s)
		return 0;
	if (asprintf(&all, "%s%s%s", *to ? *to : "", *to ? ", " : "", s) < 0)
		return -ENOMEM;
	free(*to);
	*to = all;
	return 0;
}

int compare_place(const Gpubpf__Meta *m, char **host, char **boot)
{
	bool no_host = false, no_boot = false;

	*host = *boot = NULL;
	if (!m->n_member && m->host &&
	    (add_place(host, m->host->hostname, &no_host) || add_place(boot, m->host->boot_id, &no_boot)))
		return -ENOMEM;
	for (size_t i = 0; i < m->n_member; i++) {
		const Gpubpf__Host *h = m->member[i]->host;

		if (add_place(host, h ? h->hostname : NULL, &no_host) ||
		    add_place(boot, h ? h->boot_id : NULL, &no_boot))
			return -ENOMEM;
	}
	if (no_host) {
		free(*host);
		*host = NULL;
	}
	if (no_boot) {
		free(*boot);
		*boot = NULL;
	}
	return 0;
}

#define DIFFERS "(differs)"

/* A kind of work that an arm has none of says nothing of the quality of its times: it appeared, or vanished. */
static bool same_fact(const struct env_fact *f, const char *a, const char *b)
{
	if (!strcmp(a, b))
		return true;
	return !strncmp(f->name, "times of ", 9) && (!strcmp(a, "no record") || !strcmp(b, "no record"));
}

/* Of an arm: NULL in *value where a capture of it does not know; DIFFERS where its captures do. */
static void value_in(const struct compare *c, unsigned arm, const struct env_fact *f, const char **value)
{
	bool missing = false;

	*value = NULL;
	for (size_t i = 0; i < c->n; i++) {
		const struct env_fact *g;

		if (c->d[i].arm != arm)
			continue;
		g = environment__find(c->d[i].env, f->group, f->name);
		if (!g || !g->value)
			missing = true;
		else if (*value && !same_fact(f, *value, g->value))
			*value = DIFFERS;
		else if (!*value)
			*value = g->value;
	}
	if (missing)
		*value = NULL;
}

/* In all captures that have it: what one of them does not vary is evidence. */
static bool per_run(const struct compare *c, const struct env_fact *f)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct env_fact *g = environment__find(c->d[i].env, f->group, f->name);

		if (g && !g->per_run)
			return false;
	}
	return true;
}

static bool seen_before(const struct compare *c, size_t capture, const struct env_fact *f)
{
	for (size_t i = 0; i < capture; i++)
		if (environment__find(c->d[i].env, f->group, f->name))
			return true;
	return false;
}

int compare_facts(const struct compare *c, fact_fn *fn, void *arg)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < c->n; i++) {
		for (size_t k = 0; !rc && k < environment__facts(c->d[i].env); k++) {
			const struct env_fact *f = environment__fact(c->d[i].env, k);
			enum fact_state s;
			const char *a, *b;

			if (seen_before(c, i, f))
				continue;
			value_in(c, 0, f, &a);
			value_in(c, 1, f, &b);
			s = per_run(c, f)                                ? FACT_PER_RUN
			    : !a || !b                                   ? FACT_MISSING
			    : !strcmp(a, DIFFERS) || !same_fact(f, a, b) ? FACT_UNEQUAL
									 : FACT_EQUAL;
			rc = fn(f->group, f->name, a, b, s, arg);
		}
	}
	return rc;
}

struct group {
	unsigned equal, unequal, missing;
	char unequal_names[160], missing_names[160];
};

struct look {
	struct group group[REQUIRED];
	bool uuid, uuid_differs;
};

static void name_in(char *list, size_t n, unsigned already, const char *name)
{
	size_t len = strlen(list);

	if (already < 3)
		snprintf(list + len, n - len, "%s%s", already ? ", " : "", name);
	else if (already == 3)
		snprintf(list + len, n - len, " …");
}

static int on_fact(const char *group, const char *name, const char *a, const char *b, enum fact_state s,
		   void *arg)
{
	struct look *l = arg;
	size_t len = strlen(name);

	(void)a, (void)b;
	if (!strcmp(group, "device") && len > 4 && !strcmp(name + len - 4, "UUID")) {
		l->uuid = true;
		l->uuid_differs |= s != FACT_EQUAL;
	}
	for (size_t i = 0; i < REQUIRED; i++) {
		struct group *g = &l->group[i];

		if (strcmp(required[i], group) != 0)
			continue;
		if (s == FACT_UNEQUAL)
			name_in(g->unequal_names, sizeof(g->unequal_names), g->unequal++, name);
		else if (s == FACT_MISSING)
			name_in(g->missing_names, sizeof(g->missing_names), g->missing++, name);
		g->equal += s == FACT_EQUAL;
	}
	return 0;
}

static int judge_groups(struct compare *c, const struct look *l)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < REQUIRED; i++) {
		const struct group *g = &l->group[i];

		if (g->unequal) {
			rc = compare_reason(c, "%s: not the same: %s", required[i], g->unequal_names);
			c->unequal = true;
		}
		if (!rc && g->missing) {
			rc = compare_reason(c, "%s: cannot be verified: %s", required[i], g->missing_names);
			c->unequal = true;
		}
		if (!rc && !g->unequal && !g->missing && !g->equal) {
			rc = compare_reason(c, "%s: cannot be verified: nothing is known of it", required[i]);
			c->unequal = true;
		}
	}
	return rc;
}

static bool same(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* The same boot is the same machine; so is the same name with the same devices. */
static int judge_host(struct compare *c, const struct look *l)
{
	const struct digest *first = &c->d[0];

	for (size_t i = 1; i < c->n; i++) {
		const struct digest *d = &c->d[i];

		if (same(first->boot, d->boot) && same(first->host, d->host))
			continue;
		c->unequal = true;
		if (!first->host || !d->host || !first->boot || !d->boot)
			return compare_reason(
				c, "host: cannot be verified: %s does not say where it was recorded",
				first->host && first->boot ? d->path : first->path);
		if (same(first->host, d->host) && l->uuid && !l->uuid_differs)
			return compare_reason(c, "host: %s was started anew in between", d->host);
		c->cross_host = true;
		return compare_reason(c, "host: %s and %s%s", first->host, d->host,
				      same(first->host, d->host)
					      ? ": the same name, another boot and other devices"
					      : " are not the same");
	}
	return 0;
}

static int judge_arms(struct compare *c, bool *incomplete)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct digest *d = &c->d[i];

		if (!d->incomplete)
			continue;
		*incomplete = true;
		if (compare_reason(c, "%s: %s", d->path, d->incomplete))
			return -ENOMEM;
	}
	return 0;
}

int compare_judge(struct compare *c)
{
	struct look l = { 0 };
	bool incomplete = false;
	int rc = judge_arms(c, &incomplete);

	if (!rc)
		rc = compare_facts(c, on_fact, &l);
	if (!rc)
		rc = judge_host(c, &l);
	if (!rc)
		rc = judge_groups(c, &l);
	if (incomplete || (c->unequal && !c->o.allow_cross))
		c->verdict = COMPARE_INCONCLUSIVE;
	else if (c->cross_host)
		c->verdict = COMPARE_CROSS_HOST;
	else
		c->verdict = c->unequal ? COMPARE_CROSS_ENVIRONMENT : COMPARE_CONTROLLED;
	return rc;
}

const char *compare_verdict_name(enum compare_verdict v)
{
	static const char *const names[] = { "inconclusive", "cross_environment", "cross_host",
					     "controlled" };

	return names[v];
}
