/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"

unsigned section__columns(const struct section *s)
{
	unsigned n = 0;

	while (s->columns[n].key)
		n++;
	return n;
}

int rows__add(struct rows *rows)
{
	size_t columns = section__columns(rows->section);

	if (rows->n == rows->cap) {
		size_t cap = rows->cap ? rows->cap * 2 : 32;
		struct cell *cells = realloc(rows->cells, cap * columns * sizeof(*cells));

		if (!cells)
			return -ENOMEM;
		memset(cells + rows->cap * columns, 0, (cap - rows->cap) * columns * sizeof(*cells));
		rows->cells = cells;
		rows->cap = cap;
	}
	rows->n++;
	rows->at = 0;
	return 0;
}

static struct cell *next_cell(struct rows *rows)
{
	return &rows->cells[(rows->n - 1) * section__columns(rows->section) + rows->at++];
}

void row__number(struct rows *rows, uint64_t n)
{
	*next_cell(rows) = (struct cell){ .kind = CELL_NUMBER, .number = n };
}

void row__signed(struct rows *rows, int64_t n)
{
	*next_cell(rows) = (struct cell){ .kind = CELL_SIGNED, .number = (uint64_t)n };
}

void row__none(struct rows *rows)
{
	next_cell(rows);
}

void row__maybe(struct rows *rows, bool there, bool unmeasured, uint64_t n)
{
	struct cell *c = next_cell(rows);

	if (there)
		*c = (struct cell){ .kind = CELL_NUMBER, .number = n };
	else
		c->kind = unmeasured ? CELL_UNMEASURED : CELL_NONE;
}

void row__real(struct rows *rows, bool there, bool unmeasured, double v)
{
	struct cell *c = next_cell(rows);

	if (there)
		*c = (struct cell){ .kind = CELL_REAL, .real = v };
	else
		c->kind = unmeasured ? CELL_UNMEASURED : CELL_NONE;
}

int row__text(struct rows *rows, const char *text)
{
	struct cell *c = next_cell(rows);

	if (!text)
		return 0;
	c->text = strdup(text);
	if (!c->text)
		return -ENOMEM;
	c->kind = CELL_TEXT;
	return 0;
}

void row__quantiles(struct rows *rows, const struct hist *h, bool unmeasured)
{
	uint64_t p50 = 0, p99 = 0;

	hist__quantile(h, 0.5, &p50);
	hist__quantile(h, 0.99, &p99);
	row__maybe(rows, h->n, unmeasured, p50);
	row__maybe(rows, h->n, unmeasured, p99);
}

void rows__clear(struct rows *rows)
{
	for (size_t i = 0; rows->section && i < rows->n * section__columns(rows->section); i++)
		free(rows->cells[i].text);
	free(rows->cells);
	memset(rows, 0, sizeof(*rows));
}

struct order {
	unsigned columns, by;
	bool size; /* of signed numbers how far from zero they are */
};

/* Numbers fall, text rises, cells without a value come last; equal rows keep the order of their columns. */
static int compare_cells(const struct cell *a, const struct cell *b)
{
	bool has_a = a->kind >= CELL_NUMBER, has_b = b->kind >= CELL_NUMBER;

	if (!has_a || !has_b)
		return has_b - has_a;
	if (a->kind != b->kind)
		return (a->kind > b->kind) - (a->kind < b->kind);
	if (a->kind == CELL_TEXT)
		return strcmp(a->text, b->text);
	if (a->kind == CELL_SIGNED)
		return ((int64_t)a->number < (int64_t)b->number) - ((int64_t)a->number > (int64_t)b->number);
	if (a->kind == CELL_REAL)
		return (a->real < b->real) - (a->real > b->real);
	return (a->number < b->number) - (a->number > b->number);
}

static uint64_t size_of(const struct cell *c)
{
	return c->kind == CELL_SIGNED && (int64_t)c->number < 0 ? -c->number : c->number;
}

static int compare_rows(const void *x, const void *y, void *arg)
{
	const struct cell *a = x, *b = y;
	const struct order *o = arg;
	int c = compare_cells(&a[o->by], &b[o->by]);

	if (o->size && a[o->by].kind == CELL_SIGNED && b[o->by].kind == CELL_SIGNED)
		c = (size_of(&a[o->by]) < size_of(&b[o->by])) - (size_of(&a[o->by]) > size_of(&b[o->by]));

	for (unsigned i = 0; !c && i < o->columns; i++)
		c = compare_cells(&a[i], &b[i]);
	return c;
}

bool rows__sort(struct rows *rows, const char *key, bool size)
{
	const struct section *s = rows->section;
	struct order o = { .columns = section__columns(s), .size = size };

	while (key && o.by < o.columns && strcmp(s->columns[o.by].key, key) != 0)
		o.by++;
	if (!key || o.by == o.columns)
		return false;
	if (rows->n)
		qsort_r(rows->cells, rows->n, o.columns * sizeof(struct cell), compare_rows, &o);
	return true;
}

int report__rows(const struct report *r, const struct section *s, struct rows *rows)
{
	int rc;

	memset(rows, 0, sizeof(*rows));
	rows->section = s;
	rc = report__unobserved(r, s) ? 0 : s->build(r, rows);
	if (rc)
		return rc;
	if (!rows__sort(rows, r->o.sort, false))
		rows__sort(rows, s->sort, false);
	return 0;
}
