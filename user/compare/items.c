// SPDX-License-Identifier: GPL-2.0-or-later
/* Things that are compared, by key, and what became of each in every capture. */
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"

struct text {
	char *s;
	uint32_t number;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct text *)a)->s, ((const struct text *)b)->s);
}

static int add_text(struct compare *c, struct text *t)
{
	if (c->ntexts == c->text_room) {
		uint32_t room = c->text_room ? c->text_room * 2 : 256;
		const char **grown = realloc(c->text, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		c->text = grown;
		c->text_room = room;
	}
	c->text[c->ntexts++] = t->s;
	t->number = c->ntexts;
	return 0;
}

int compare_intern(struct compare *c, const char *text, uint32_t *number)
{
	struct text want = { .s = (char *)text }, **there, *t;

	there = tfind(&want, &c->texts, by_text);
	if (there) {
		*number = (*there)->number;
		return 0;
	}
	t = malloc(sizeof(*t));
	if (!t)
		return -ENOMEM;
	t->s = strdup(text);
	if (!t->s || add_text(c, t)) {
		free(t->s);
		free(t);
		return -ENOMEM;
	}
	*number = t->number;
	return tsearch(t, &c->texts, by_text) ? 0 : -ENOMEM;
}

const char *compare_text_of(const struct compare *c, uint32_t number)
{
	return number ? c->text[number - 1] : "";
}

struct series *compare_series(struct compare *c, const struct item_key *key)
{
	size_t at = c->n - 1, before = c->items.n;
	struct item *it = hmap__put(&c->items, key);

	if (!it)
		return NULL;
	if (c->items.n != before)
		it->number = (uint32_t)before;
	if (at >= it->room) {
		struct series **of = realloc(it->of, (at + 1) * sizeof(struct series *));

		if (!of)
			return NULL;
		memset(of + it->room, 0, (at + 1 - it->room) * sizeof(struct series *));
		it->of = of;
		it->room = at + 1;
	}
	if (!it->of[at])
		it->of[at] = calloc(1, sizeof(struct series));
	it->there[c->d[at].arm] = true;
	return it->of[at];
}

struct series *compare_named(struct compare *c, enum item_kind kind, const char *name)
{
	struct item_key key = { .kind = kind };

	return compare_intern(c, name, &key.name) ? NULL : compare_series(c, &key);
}

int series__add(struct series *s, uint64_t ns)
{
	int rc = hist__add(&s->time, ns);

	return rc ? rc : stats_blocks__add(&s->blocks, ns);
}

int series__append(struct series *s, const struct series *from)
{
	s->n += from->n;
	s->nodes += from->nodes;
	s->untimed += from->untimed;
	s->bytes += from->bytes;
	s->has_n |= from->has_n;
	s->has_bytes |= from->has_bytes;
	if (hist__merge(&s->time, &from->time))
		return -ENOMEM;
	return stats_blocks__append(&s->blocks, &from->blocks);
}

void series__clear(struct series *s)
{
	hist__clear(&s->time);
	stats_blocks__clear(&s->blocks);
}

/* ---- Tests ---- */

static struct stats_arm arm_of(const struct compare *c, const struct item *it, unsigned arm,
			       const struct stats_blocks **v)
{
	struct stats_arm a = { .v = v };

	for (size_t i = 0; i < it->room; i++)
		if (c->d[i].arm == arm && it->of[i] && it->of[i]->blocks.n)
			v[a.n++] = &it->of[i]->blocks;
	return a;
}

static int test_one(const struct compare *c, struct item *it)
{
	const struct stats_blocks *va[COMPARE_CAPTURES], *vb[COMPARE_CAPTURES];
	struct stats_arm a = arm_of(c, it, 0, va), b = arm_of(c, it, 1, vb);
	int rc = stats_compare(&a, &b, &c->o.stats, &it->r);

	it->tested = !rc && it->r.unit != STATS_UNIT_NONE;
	return rc;
}

/* All tests of the comparison are one family. */
int compare_test(struct compare *c)
{
	double *p = malloc((c->items.n + 1) * sizeof(*p));
	size_t n = 0;
	int rc = p ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < c->items.n; i++) {
		struct item *it = hmap__at(&c->items, i);

		rc = test_one(c, it);
		if (!rc && it->tested)
			p[n++] = it->r.p;
	}
	if (!rc)
		rc = stats_holm(p, n);
	c->tests = n;
	n = 0;
	for (size_t i = 0; !rc && i < c->items.n; i++) {
		struct item *it = hmap__at(&c->items, i);

		if (!it->tested)
			continue;
		it->p = p[n++];
		it->finding = stats_judge(&it->r, it->p, &c->o.stats);
	}
	free(p);
	return rc;
}

/* ---- An arm ---- */

int side__of(const struct compare *c, const struct item *it, unsigned arm, struct side *s)
{
	uint64_t first = 0;

	*s = (struct side){ .captures = (unsigned)c->arm[arm] };
	for (size_t i = 0; i < it->room; i++) {
		const struct series *of = it->of[i];

		if (!of || c->d[i].arm != arm)
			continue;
		if (!s->with++)
			first = of->n;
		s->varies |= of->n != first;
		s->n += of->n;
		s->nodes += of->nodes;
		s->untimed += of->untimed;
		s->ran += of->ran;
		s->bytes += of->bytes;
		s->peak = of->peak > s->peak ? of->peak : s->peak;
		s->has_n |= of->has_n;
		s->has_ran |= of->has_ran;
		s->has_bytes |= of->has_bytes;
		s->has_peak |= of->has_peak;
		if (hist__merge(&s->time, &of->time))
			return -ENOMEM;
	}
	s->varies |= s->with && s->with != s->captures;
	return 0;
}

void side__clear(struct side *s)
{
	hist__clear(&s->time);
}

double side__n(const struct side *s)
{
	return (double)s->n / s->captures;
}

double side__ns(const struct side *s)
{
	return (double)s->time.sum / s->captures;
}

bool side__spread(const struct side *s, double *spread)
{
	uint64_t low, mid, high;

	if (!hist__quantile(&s->time, 0.25, &low) || !hist__quantile(&s->time, 0.5, &mid) ||
	    !hist__quantile(&s->time, 0.75, &high) || !mid)
		return false;
	*spread = (double)(high - low) / (double)mid;
	return true;
}

bool counts_differ(const struct side *a, const struct side *b)
{
	return a->varies || b->varies || (__uint128_t)a->n * b->captures != (__uint128_t)b->n * a->captures;
}

/* ---- Life ---- */

static void free_digest(struct digest *d)
{
	free(d->path);
	free(d->command);
	free(d->host);
	free(d->boot);
	free(d->incomplete);
	environment__free(d->env);
	order__clear(&d->order);
}

static void free_text(void *text)
{
	free(((struct text *)text)->s);
	free(text);
}

int compare__new(const struct compare_opts *o, struct compare **out)
{
	struct compare *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return -ENOMEM;
	c->o = *o;
	if (!c->o.join_bytes)
		c->o.join_bytes = COMPARE_JOIN_BYTES;
	hmap__init(&c->items, sizeof(struct item_key), sizeof(struct item));
	return 0;
}

void compare__free(struct compare *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->items.n; i++) {
		struct item *it = hmap__at(&c->items, i);

		for (size_t k = 0; k < it->room; k++) {
			if (it->of[k])
				series__clear(it->of[k]);
			free(it->of[k]);
		}
		free(it->of);
	}
	hmap__clear(&c->items);
	for (size_t i = 0; i < c->n; i++)
		free_digest(&c->d[i]);
	for (size_t i = 0; i < c->nreasons; i++)
		free(c->reason[i]);
	for (size_t i = 0; i < c->nlanes; i++)
		free(c->lane[i].hunk);
	free(c->lane);
	tdestroy(c->texts, free_text);
	free(c->text);
	free(c->reason);
	free(c->d);
	free(c);
}

int compare__finish(struct compare *c)
{
	int rc = compare_test(c);

	if (!rc)
		rc = compare_judge(c);
	return !rc && c->o.order ? compare_order(c) : rc;
}

enum compare_verdict compare__verdict(const struct compare *c)
{
	return c->verdict;
}

const char *compare__reason(const struct compare *c, size_t i)
{
	return i < c->nreasons ? c->reason[i] : NULL;
}

bool compare__shows(const struct compare *c)
{
	return !c->unequal || c->o.allow_cross;
}
