/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections of the device observer, made of the world of join_fixture.h, cell by cell. */
#ifndef GPUBPF_REPORT_FIXTURE_H
#define GPUBPF_REPORT_FIXTURE_H

#include "../t.h"

#include "join_fixture.h"
#include "report/report.h"

static struct report r;
static Gpubpf__Meta meta;
static struct rows rows;

MAYBE void open_with(struct procs_filter f)
{
	struct device_opts o = { .tids = f.tids, .ntids = f.ntids };

	feed();
	memset(&r, 0, sizeof(r));
	gpubpf__meta__init(&meta);
	r.in.meta = &meta;
	r.in.join = w.j;
	r.m = w.m;
	r.ledger = w.l;
	r.o.model.filter = f;
	loads__init(&r.loads);
	o.by_device = !report__device_kind(&r);
	CHECK(device__new(&o, &r.dev) == 0);
	CHECK(device__read(r.dev, w.j) == 0);
	CHECK(loads__read(&r.loads, w.j) == 0);
}

MAYBE void open_it(void)
{
	open_with((struct procs_filter){ 0 });
}

MAYBE void close_it(void)
{
	rows__clear(&rows);
	device__free(r.dev);
	loads__clear(&r.loads);
	end();
}

/* Builds the section; its cells are then cell(row, key). */
MAYBE size_t build(const char *name)
{
	rows__clear(&rows);
	CHECK(report__rows(&r, report_section(name), &rows) == 0);
	return rows.n;
}

MAYBE const struct cell *cell(size_t row, const char *key)
{
	static const struct cell none;
	unsigned columns = section__columns(rows.section);

	for (unsigned c = 0; c < columns && row < rows.n; c++)
		if (strcmp(rows.section->columns[c].key, key) == 0)
			return &rows.cells[row * columns + c];
	CHECKF(0, "no row %zu with a column %s", row, key);
	return &none;
}

MAYBE bool is(size_t row, const char *key, uint64_t n)
{
	const struct cell *c = cell(row, key);
	bool right = c->kind == CELL_NUMBER && c->number == n;

	if (!right)
		printf("# %s: kind %d, number %llu, not %llu\n", key, c->kind, (unsigned long long)c->number,
		       (unsigned long long)n);
	return right;
}

MAYBE bool real(size_t row, const char *key, double v)
{
	const struct cell *c = cell(row, key);

	return c->kind == CELL_REAL && c->real > v - 1e-9 && c->real < v + 1e-9;
}

MAYBE bool says(size_t row, const char *key, const char *text)
{
	const struct cell *c = cell(row, key);
	bool right = c->kind == CELL_TEXT && strcmp(c->text, text) == 0;

	if (!right)
		printf("# %s: kind %d, \"%s\", not \"%s\"\n", key, c->kind, c->text ? c->text : "", text);
	return right;
}

MAYBE bool unmeasured(size_t row, const char *key)
{
	return cell(row, key)->kind == CELL_UNMEASURED;
}

MAYBE bool absent(size_t row, const char *key)
{
	return cell(row, key)->kind == CELL_NONE;
}

/* An item of what `record --cupti` asks for. */
MAYBE void extra(unsigned kind, uint64_t time, uint64_t raw0, uint64_t raw1)
{
	struct gpubpf_activity a = {
		.kind = (uint16_t)kind, .session = 1, .start = time, .end = time, .u.raw = { raw0, raw1 }
	};

	batch_of(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
}

#endif
