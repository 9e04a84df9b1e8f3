// SPDX-License-Identifier: GPL-2.0-or-later
/* What moved the times, and kernels by name. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"
#include "model/names.h"

struct moved {
	const struct item *it;
	bool wall;
	double delta;
	bool differ, varies;
};

static int order(const void *x, const void *y)
{
	const struct moved *a = x, *b = y;

	if (a->wall != b->wall)
		return a->wall - b->wall;
	return (fabs(a->delta) < fabs(b->delta)) - (fabs(a->delta) > fabs(b->delta));
}

static int collect(const struct compare *c, struct moved *m, size_t *n, double sum[2])
{
	int rc = 0;

	*n = 0;
	for (size_t i = 0; !rc && i < c->items.n; i++) {
		const struct item *it = hmap__at(&c->items, i);
		bool gpu = it->key.kind <= ITEM_SET,
		     wall = it->key.kind == ITEM_API || it->key.kind == ITEM_WALL;
		struct side s[2] = { 0 };
		double delta;

		if (!gpu && !wall)
			continue;
		rc = side__of(c, it, 0, &s[0]) || side__of(c, it, 1, &s[1]) ? -ENOMEM : 0;
		/* of a time that one side did not measure there is no difference */
		if (!rc &&
		    (it->key.kind == ITEM_WALL ? s[0].time.n && s[1].time.n : s[0].time.n || s[1].time.n)) {
			delta = side__ns(&s[1]) - side__ns(&s[0]);
			sum[wall] += fabs(delta);
			if (delta != 0)
				m[(*n)++] = (struct moved){ it, wall, delta, counts_differ(&s[0], &s[1]),
							    s[0].varies || s[1].varies };
		}
		side__clear(&s[0]);
		side__clear(&s[1]);
	}
	return rc;
}

static int what_cell(const struct compare *c, struct rows *rows, const struct item *it)
{
	const char *text = compare_text_of(c, it->key.name);
	char *name = NULL;
	int rc;

	if (it->key.kind == ITEM_KERNEL)
		name = *text == '<' ? strdup(text) : names__display(text, 0);
	else if (it->key.kind == ITEM_COPY) {
		const char *dir = join_copy_text(it->key.copy & 0xff);

		rc = asprintf(&name, "copy %s", dir ? dir : "of an unknown kind");
		name = rc < 0 ? NULL : name;
	} else {
		name = strdup(it->key.kind == ITEM_SET ? "set" : text);
	}
	rc = name ? row__text(rows, name) : -ENOMEM;
	free(name);
	return rc;
}

static int moved_row(const struct compare *c, struct rows *rows, const struct moved *m, double all)
{
	const struct item *it = m->it;
	char shape[96];
	const uint32_t *g = it->key.grid, *b = it->key.block;

	if (rows__add(rows) || row__text(rows, m->wall ? "wall time" : "GPU time"))
		return -ENOMEM;
	delta_cell(rows, true, false, m->delta);
	row__real(rows, all > 0, false, all > 0 ? fabs(m->delta) / all : 0);
	if (row__text(rows, it->key.kind == ITEM_WALL || !it->there[0] || !it->there[1] ? NULL
			    : m->varies                                                 ? "varying"
			    : m->differ                                                 ? "unequal"
											: "equal") ||
	    row__text(rows, item_state(it)) ||
	    finding_cell(c, rows, it->there[0] && it->there[1] ? stats_finding_text(it->finding) : NULL))
		return -ENOMEM;
	snprintf(shape, sizeof(shape), "%ux%ux%u %ux%ux%u", g[0], g[1], g[2], b[0], b[1], b[2]);
	if (row__text(rows, it->key.kind == ITEM_KERNEL && g[0] ? shape : NULL))
		return -ENOMEM;
	return what_cell(c, rows, it);
}

int build_moved(const struct compare *c, struct rows *rows)
{
	struct moved *m = malloc((c->items.n + 1) * sizeof(*m));
	double sum[2] = { 0 };
	size_t n = 0;
	int rc = m ? collect(c, m, &n, sum) : -ENOMEM;

	if (!rc && n)
		qsort(m, n, sizeof(*m), order);
	for (size_t i = 0; !rc && i < n; i++)
		rc = moved_row(c, rows, &m[i], sum[m[i].wall]);
	free(m);
	return rc;
}

/* ---- By name ---- */

struct by_name {
	uint64_t key;    /* number of the text */
	struct item all; /* key and there alone */
	struct side s[2];
	uint64_t shapes[2], findings[5];
};

static int add_shape(const struct compare *c, struct hmap *names, const struct item *it)
{
	uint64_t key = it->key.name;
	struct by_name *b = hmap__put(names, &key);
	int rc = b ? 0 : -ENOMEM;

	for (unsigned arm = 0; !rc && arm < 2; arm++) {
		struct side s = { 0 }, *to = &b->s[arm];

		rc = side__of(c, it, arm, &s);
		to->captures = s.captures;
		to->n += s.n;
		to->untimed += s.untimed;
		to->varies |= it->there[arm] && s.varies;
		b->shapes[arm] += it->there[arm];
		b->all.there[arm] |= it->there[arm];
		if (!rc)
			rc = hist__merge(&to->time, &s.time);
		side__clear(&s);
	}
	if (!rc)
		b->findings[it->there[0] && it->there[1] ? it->finding : STATS_NOT_COMPARED]++;
	return rc;
}

static int mean_cell(struct rows *rows, const struct by_name *b, unsigned arm)
{
	uint64_t shapes = b->shapes[0] > b->shapes[1] ? b->shapes[0] : b->shapes[1];
	const struct side *s = &b->s[arm];
	char buf[32];

	if (shapes > 1 && b->shapes[arm]) {
		snprintf(buf, sizeof(buf), "%lu shape%s", (unsigned long)b->shapes[arm],
			 b->shapes[arm] > 1 ? "s" : "");
		return row__text(rows, buf);
	}
	row__maybe(rows, s->time.n, s->n, s->time.n ? s->time.sum / s->time.n : 0);
	return 0;
}

static int name_row(const struct compare *c, struct rows *rows, const struct by_name *b)
{
	static const enum stats_finding order_of[] = { STATS_MORE, STATS_LESS, STATS_WITHIN_NOISE,
						       STATS_NO_DIFFERENCE, STATS_NOT_COMPARED };
	const char *text = compare_text_of(c, (uint32_t)b->key);
	bool both = b->all.there[0] && b->all.there[1];
	char *name;
	int rc;

	if (rows__add(rows) || row__text(rows, item_state(&b->all)))
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		mean_count_cell(rows, b->s[i].n, false, side__n(&b->s[i]));
	if (row__text(rows, !both                               ? NULL
			    : b->s[0].varies || b->s[1].varies  ? "varying"
			    : counts_differ(&b->s[0], &b->s[1]) ? "unequal"
								: "equal"))
		return -ENOMEM;
	row__number(rows, b->s[0].untimed + b->s[1].untimed);
	for (int i = 0; i < 2; i++)
		row__maybe(rows, b->s[i].time.n, b->s[i].n, (uint64_t)side__ns(&b->s[i]));
	delta_cell(rows, b->s[0].time.n && b->s[1].time.n, both, side__ns(&b->s[1]) - side__ns(&b->s[0]));
	row__number(rows, b->shapes[0]);
	row__number(rows, b->shapes[1]);
	if (mean_cell(rows, b, 0) || mean_cell(rows, b, 1))
		return -ENOMEM;
	for (int i = 0; i < 5; i++)
		row__number(rows, b->findings[order_of[i]]);
	name = *text == '<' ? strdup(text) : names__display(text, 0);
	rc = name ? row__text(rows, name) : -ENOMEM;
	free(name);
	return rc;
}

int build_names(const struct compare *c, struct rows *rows)
{
	struct hmap names;
	int rc = 0;

	hmap__init(&names, sizeof(uint64_t), sizeof(struct by_name));
	for (size_t i = 0; !rc && i < c->items.n; i++) {
		const struct item *it = hmap__at(&c->items, i);

		if (it->key.kind == ITEM_KERNEL)
			rc = add_shape(c, &names, it);
	}
	for (size_t i = 0; i < names.n; i++) {
		struct by_name *b = hmap__at(&names, i);

		if (!rc)
			rc = name_row(c, rows, b);
		side__clear(&b->s[0]);
		side__clear(&b->s[1]);
	}
	hmap__clear(&names);
	return rc;
}
