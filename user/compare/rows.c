// SPDX-License-Identifier: GPL-2.0-or-later
/* Rows of the tables. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"
#include "model/names.h"

const char *item_state(const struct item *it)
{
	return it->there[0] ? it->there[1] ? "both" : "vanished" : "appeared";
}

bool item_blocks(const struct item *it, uint64_t *blocks)
{
	return !__builtin_mul_overflow((uint64_t)it->key.grid[0] * it->key.grid[1], it->key.grid[2], blocks);
}

void mean_count_cell(struct rows *rows, bool there, bool unmeasured, double v)
{
	if (there && v == floor(v) && v < 9e15)
		row__number(rows, (uint64_t)v);
	else
		row__real(rows, there, unmeasured, v);
}

void delta_cell(struct rows *rows, bool there, bool unmeasured, double delta)
{
	if (there)
		row__signed(rows, (int64_t)llround(delta));
	else
		row__maybe(rows, false, unmeasured, 0);
}

int finding_cell(const struct compare *c, struct rows *rows, const char *finding)
{
	char buf[64];

	if (!finding)
		return row__text(rows, NULL);
	if (c->verdict == COMPARE_CONTROLLED)
		return row__text(rows, finding);
	snprintf(buf, sizeof(buf), "%s (%s)", finding,
		 c->verdict == COMPARE_INCONCLUSIVE ? "inconclusive" : "not causal");
	return row__text(rows, buf);
}

static const char *finding_text(const struct item *it)
{
	return it->there[0] && it->there[1] ? stats_finding_text(it->finding) : NULL;
}

/* ---- Groups of cells ---- */

static int count_cells(struct rows *rows, const struct item *it, const struct side *s)
{
	if (row__text(rows, item_state(it)))
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		mean_count_cell(rows, s[i].has_n, false, side__n(&s[i]));
	if (!it->there[0] || !it->there[1])
		return row__text(rows, NULL);
	return row__text(rows, s[0].varies || s[1].varies    ? "varying"
			       : counts_differ(&s[0], &s[1]) ? "unequal"
							     : "equal");
}

static void time_cells(struct rows *rows, const struct side *s)
{
	bool ran[2] = { s[0].n || s[0].ran, s[1].n || s[1].ran };

	row__number(rows, s[0].untimed + s[1].untimed);
	for (int i = 0; i < 2; i++)
		row__maybe(rows, s[i].time.n, ran[i], (uint64_t)side__ns(&s[i]));
	delta_cell(rows, s[0].time.n && s[1].time.n, ran[0] && ran[1], side__ns(&s[1]) - side__ns(&s[0]));
}

static void mean_cells(struct rows *rows, const struct side *s)
{
	uint64_t median;
	double spread = 0;

	for (int i = 0; i < 2; i++)
		row__maybe(rows, s[i].time.n, s[i].n, s[i].time.n ? s[i].time.sum / s[i].time.n : 0);
	for (int i = 0; i < 2; i++) {
		median = 0;
		hist__quantile(&s[i].time, 0.5, &median);
		row__maybe(rows, s[i].time.n, s[i].n, median);
	}
	for (int i = 0; i < 2; i++) {
		bool there = side__spread(&s[i], &spread);

		row__real(rows, there, s[i].n && !there && !s[i].time.n, spread);
	}
}

static int test_cells(const struct compare *c, struct rows *rows, const struct item *it)
{
	const struct stats_result *r = &it->r;
	bool t = it->tested;

	row__real(rows, t, false, r->ratio);
	row__real(rows, t, false, r->low);
	row__real(rows, t, false, r->high);
	row__real(rows, t, false, it->p);
	row__real(rows, t, false, r->noise);
	row__real(rows, t, false, r->detectable);
	if (row__text(rows, !t ? NULL : r->unit == STATS_UNIT_BLOCK ? "block" : "capture"))
		return -ENOMEM;
	row__maybe(rows, t, false, r->na);
	row__maybe(rows, t, false, r->nb);
	return finding_cell(c, rows, finding_text(it));
}

static int dim_cell(struct rows *rows, const uint32_t *d, bool there)
{
	char buf[48];

	snprintf(buf, sizeof(buf), "%ux%ux%u", d[0], d[1], d[2]);
	return row__text(rows, there ? buf : NULL);
}

static int shape_cells(struct rows *rows, const struct item *it)
{
	uint64_t blocks = 0;
	bool there = it->key.grid[0] != 0;

	there = there && item_blocks(it, &blocks);
	row__maybe(rows, there, false, blocks);
	return dim_cell(rows, it->key.grid, there) || dim_cell(rows, it->key.block, there) ||
			       dim_cell(rows, it->key.cluster, it->key.has_cluster)
		       ? -ENOMEM
		       : 0;
}

static int name_cells(const struct compare *c, struct rows *rows, const struct item *it)
{
	const char *text = compare_text_of(c, it->key.name);
	char *name = *text == '<' ? strdup(text) : names__display(text, 0);
	int rc = !name                                         ? -ENOMEM
		 : row__text(rows, *text == '<' ? NULL : text) ? -ENOMEM
							       : row__text(rows, name);

	free(name);
	return rc;
}

/* ---- A row of each kind ---- */

static int kernel_row(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s)
{
	bool graph = !it->key.grid[0];

	if (count_cells(rows, it, s))
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		mean_count_cell(rows, s[i].has_n, false, (double)s[i].nodes / s[i].captures);
	time_cells(rows, s);
	mean_cells(rows, s);
	if (test_cells(c, rows, it) || shape_cells(rows, it))
		return -ENOMEM;
	row__maybe(rows, !graph, false, it->key.registers);
	row__maybe(rows, !graph, false, it->key.static_shared);
	row__maybe(rows, !graph, false, it->key.dynamic_shared);
	if (row__text(rows, it->key.device ? compare_text_of(c, it->key.device) : NULL))
		return -ENOMEM;
	return name_cells(c, rows, it);
}

static int launch_row(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s)
{
	if (count_cells(rows, it, s) || shape_cells(rows, it))
		return -ENOMEM;
	row__number(rows, it->key.dynamic_shared);
	return name_cells(c, rows, it);
}

static int transfer_row(const struct compare *c, struct rows *rows, const struct item *it,
			const struct side *s)
{
	bool copy = it->key.kind == ITEM_COPY;

	if (count_cells(rows, it, s))
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		row__maybe(rows, s[i].has_bytes, false, s[i].bytes / s[i].captures);
	time_cells(rows, s);
	mean_cells(rows, s);
	if (test_cells(c, rows, it) || row__text(rows, copy ? "copy" : "set") ||
	    row__text(rows, copy ? join_copy_name(it->key.copy & 0xff) : NULL) ||
	    row__text(rows, join_memory_name(it->key.copy >> 8 & 0xff)))
		return -ENOMEM;
	return row__text(rows, copy ? join_memory_name(it->key.copy >> 16 & 0xff) : NULL);
}

static int api_row(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s)
{
	if (count_cells(rows, it, s))
		return -ENOMEM;
	time_cells(rows, s);
	mean_cells(rows, s);
	return test_cells(c, rows, it) ? -ENOMEM : row__text(rows, compare_text_of(c, it->key.name));
}

static int memory_row(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s)
{
	if (count_cells(rows, it, s))
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		row__maybe(rows, s[i].has_bytes, false, s[i].bytes / s[i].captures);
	for (int i = 0; i < 2; i++)
		row__maybe(rows, s[i].has_peak, false, s[i].peak);
	return row__text(rows, compare_text_of(c, it->key.name));
}

static int population_row(const struct compare *c, struct rows *rows, const struct item *it,
			  const struct side *s)
{
	for (int i = 0; i < 2; i++)
		mean_count_cell(rows, s[i].has_n, true, side__n(&s[i]));
	if (row__text(rows, !s[0].has_n || !s[1].has_n    ? NULL
			    : s[0].varies || s[1].varies  ? "varying"
			    : counts_differ(&s[0], &s[1]) ? "unequal"
							  : "equal"))
		return -ENOMEM;
	for (int i = 0; i < 2; i++)
		mean_count_cell(rows, s[i].has_ran, true, (double)s[i].ran / s[i].captures);
	if (!s[0].has_ran || !s[1].has_ran) {
		for (int i = 0; i < 4; i++)
			row__maybe(rows, false, true, 0);
	} else {
		time_cells(rows, s);
	}
	return row__text(rows, compare_text_of(c, it->key.name));
}

static int delay_row(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s)
{
	for (int i = 0; i < 2; i++)
		mean_count_cell(rows, s[i].has_n, true, side__n(&s[i]));
	mean_cells(rows, s);
	for (int i = 0; i < 2; i++) {
		uint64_t p99 = 0;

		hist__quantile(&s[i].time, 0.99, &p99);
		row__maybe(rows, s[i].time.n, true, p99);
	}
	return test_cells(c, rows, it) ? -ENOMEM : row__text(rows, compare_text_of(c, it->key.name));
}

static int wall_row(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s)
{
	for (int i = 0; i < 2; i++)
		row__maybe(rows, s[i].time.n, true, (uint64_t)side__ns(&s[i]));
	delta_cell(rows, s[0].time.n && s[1].time.n, true, side__ns(&s[1]) - side__ns(&s[0]));
	return test_cells(c, rows, it) ? -ENOMEM : row__text(rows, compare_text_of(c, it->key.name));
}

/* ---- Captures and facts ---- */

static int build_arms(const struct compare *c, struct rows *rows)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct digest *d = &c->d[i];

		if (rows__add(rows) || row__text(rows, d->arm ? "B" : "A") ||
		    row__text(rows, ledger_verdict_name(d->verdict)) ||
		    row__text(rows, d->incomplete ? "no" : "yes"))
			return -ENOMEM;
		row__number(rows, d->calls);
		row__maybe(rows, d->device, true, d->records);
		if (row__text(rows, !d->device  ? NULL
				    : d->joined ? "yes"
						: "no") ||
		    row__text(rows, d->host) || row__text(rows, d->boot) ||
		    row__text(rows, *d->command ? d->command : NULL) || row__text(rows, d->path) ||
		    row__text(rows, d->incomplete ? d->incomplete : d->line))
			return -ENOMEM;
	}
	return 0;
}

static int value_cell(struct rows *rows, const char *v)
{
	if (v)
		return row__text(rows, v);
	row__maybe(rows, false, true, 0);
	return 0;
}

struct facts {
	struct rows *rows;
	enum fact_state of;
};

static int fact_row(const char *group, const char *name, const char *a, const char *b, enum fact_state s,
		    void *arg)
{
	static const char *const states[] = { "equal", "unequal", "missing", "per run" };
	struct facts *f = arg;
	struct rows *rows = f->rows;

	if (s != f->of)
		return 0;
	return rows__add(rows) || row__text(rows, states[s]) || row__text(rows, group) ||
			       row__text(rows, name) || value_cell(rows, a) || value_cell(rows, b)
		       ? -ENOMEM
		       : 0;
}

/* What stands against a comparison comes first. */
static int build_facts(const struct compare *c, struct rows *rows)
{
	static const enum fact_state order[] = { FACT_UNEQUAL, FACT_MISSING, FACT_EQUAL, FACT_PER_RUN };
	int rc = 0;

	for (size_t i = 0; !rc && i < 4; i++)
		rc = compare_facts(c, fact_row, &(struct facts){ rows, order[i] });
	return rc;
}

/* ---- The tables ---- */

static const struct table {
	const char *name;
	unsigned kinds; /* bits of enum item_kind */
	int (*row)(const struct compare *c, struct rows *rows, const struct item *it, const struct side *s);
	const char *sort; /* by how far from zero; NULL: as they came */
} tables[] = {
	{ "totals", 1 << ITEM_POPULATION, population_row, NULL },
	{ "kernels", 1 << ITEM_KERNEL, kernel_row, "delta_ns" },
	{ "transfers", 1 << ITEM_COPY | 1 << ITEM_SET, transfer_row, "delta_ns" },
	{ "launches", 1 << ITEM_LAUNCH, launch_row, "count_b" },
	{ "apis", 1 << ITEM_API, api_row, "delta_ns" },
	{ "memory", 1 << ITEM_MEMORY, memory_row, "bytes_b" },
	{ "delays", 1 << ITEM_DELAY, delay_row, NULL },
	{ "times", 1 << ITEM_WALL, wall_row, NULL },
};

static int build_items(const struct compare *c, const struct table *t, struct rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < c->items.n; i++) {
		const struct item *it = hmap__at(&c->items, i);
		struct side s[2] = { 0 };

		if (!(t->kinds >> it->key.kind & 1))
			continue;
		rc = side__of(c, it, 0, &s[0]) || side__of(c, it, 1, &s[1]) || rows__add(rows) ? -ENOMEM : 0;
		if (!rc)
			rc = t->row(c, rows, it, s);
		side__clear(&s[0]);
		side__clear(&s[1]);
	}
	return rc;
}

static int build(const struct compare *c, const struct section *s, struct rows *rows)
{
	if (!strcmp(s->name, "arms"))
		return build_arms(c, rows);
	if (!strcmp(s->name, "environment"))
		return build_facts(c, rows);
	if (!compare__shows(c))
		return 0;
	if (!strcmp(s->name, "moved"))
		return build_moved(c, rows);
	if (!strcmp(s->name, "names"))
		return build_names(c, rows);
	if (!strcmp(s->name, "order"))
		return build_order(c, rows);
	if (!strcmp(s->name, "order_places"))
		return build_hunks(c, rows);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (!strcmp(tables[i].name, s->name)) {
			int rc = build_items(c, &tables[i], rows);

			if (!rc && tables[i].sort)
				rows__sort(rows, tables[i].sort, true);
			return rc;
		}
	return 0;
}

int compare__rows(const struct compare *c, const struct section *s, struct rows *rows)
{
	int rc;

	memset(rows, 0, sizeof(*rows));
	rows->section = s;
	rc = build(c, s, rows);
	if (!rc && !strcmp(s->name, "names"))
		rows__sort(rows, "delta_ns", true);
	return rc;
}

bool compare__asked(const struct compare *c, const struct section *s)
{
	if (!strcmp(s->name, "order_places"))
		return c->o.order == COMPARE_ORDER_LCS;
	return c->o.order || strcmp(s->name, "order") != 0;
}

const char *compare__withheld(const struct compare *c, const struct section *s)
{
	bool device = false, joined = true;

	if (!strcmp(s->name, "arms") || !strcmp(s->name, "environment"))
		return NULL;
	if (!compare__shows(c))
		return "withheld: the environment is not known to be the same; --allow-cross-environment shows it, "
		       "labelled as not causal";
	if (!compare__asked(c, s))
		return strcmp(s->name, "order") ? "not asked for: --order=lcs"
						: "not asked for: --order, --order=lcs";
	for (size_t i = 0; i < c->n; i++) {
		device |= c->d[i].device;
		joined &= c->d[i].joined || !c->d[i].device;
	}
	if (strcmp(s->name, "kernels") != 0 && strcmp(s->name, "names") != 0 &&
	    strcmp(s->name, "transfers") != 0 && strcmp(s->name, "delays") != 0)
		return NULL;
	if (!device)
		return "not measured: no device observer in these captures";
	if (!strcmp(s->name, "delays") && !joined)
		return "not measured: a capture has too many calls to be joined; --join-limit raises that";
	return NULL;
}
