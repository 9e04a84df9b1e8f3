/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "latency/lat_math.h"

static int add_parts(struct lat_study *s, uint64_t ns, const uint64_t *part, unsigned nparts)
{
	int rc = hist__add(&s->split, ns);

	for (unsigned i = 0; !rc && i < nparts; i++) {
		if (!part[i])
			continue;
		rc = hist__add_n(&s->part[i], ns, part[i]);
		if (!rc)
			rc = hist__add(&s->had[i], ns);
	}
	return rc;
}

static struct hist *feature_of(struct lat_study *s, const struct lat_fact *key)
{
	struct lat_feature *f;

	if (!s->ready)
		hmap__init(&s->features, sizeof(struct lat_fact), sizeof(struct lat_feature));
	s->ready = true;
	f = hmap__put(&s->features, key);
	return f ? &f->h : NULL;
}

int lat_study__add(struct lat_study *s, uint64_t ns, const uint64_t *part, unsigned nparts,
		   const struct lat_facts *f)
{
	int rc = lat_dist__add(&s->dist, ns);

	if (!rc && part)
		rc = add_parts(s, ns, part, nparts);
	for (unsigned i = 0; !rc && i < f->n; i++) {
		struct hist *h = feature_of(s, &f->fact[i]);

		rc = h ? hist__add(h, ns) : -ENOMEM;
	}
	return rc;
}

bool lat_study__tail(const struct lat_study *s, struct lat_tail *t)
{
	const struct hist *h = &s->dist.h;

	*t = (struct lat_tail){ 0 };
	if (!hist__tail(h, lat_slowest(h->n), &t->from))
		return false;
	t->slow = hist__from(h, t->from);
	t->others = h->n - t->slow;
	return true;
}

int lat_study__rename(struct lat_study *s, struct lat_fact from, struct lat_fact to)
{
	struct hist *h = feature_of(s, &to), *old;
	int rc;

	if (!h)
		return -ENOMEM;
	old = feature_of(s, &from); /* behind the other: entries keep their addresses */
	if (!old)
		return -ENOMEM;
	rc = hist__merge(h, old);
	if (!rc)
		hist__clear(old);
	return rc;
}

void lat_study__clear(struct lat_study *s)
{
	for (size_t i = 0; s->ready && i < s->features.n; i++)
		hist__clear(&((struct lat_feature *)hmap__at(&s->features, i))->h);
	if (s->ready)
		hmap__clear(&s->features);
	for (unsigned i = 0; i < LAT_PARTS_MAX; i++) {
		hist__clear(&s->part[i]);
		hist__clear(&s->had[i]);
	}
	hist__clear(&s->split);
	lat_dist__clear(&s->dist);
}
