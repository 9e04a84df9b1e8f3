// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables' description as SQL. */
#include "export/sqlite_sql.h"

#include <stdio.h>
#include <string.h>

#include "export/sqlite.h"

static const char *affinity(enum tcol_type type)
{
	return type == TCOL_WORD || type == TCOL_TEXT || type == TCOL_HEX ? "TEXT" : "INTEGER";
}

static void column(FILE *f, const struct tcol *c)
{
	fprintf(f, "  %s %s", c->key, affinity(c->type));
	if (c->type == TCOL_ID)
		fputs(" PRIMARY KEY", f);
	else if (tcol_always(c) && !c->may)
		fputs(" NOT NULL", f);
	if (c->type == TCOL_REF)
		fprintf(f, " REFERENCES %s(id)", c->of);
	if (c->may & TCOL_UNMEASURED)
		fprintf(f, ", %s_unmeasured INTEGER NOT NULL", c->key);
	fputs(c[1].key ? "," : "", f);
	fprintf(f, " -- %s", c->meaning);
	if (*tcol_unit(c->type))
		fprintf(f, " (%s)", tcol_unit(c->type));
	fputc('\n', f);
}

void sqlite_create(FILE *f, const struct table *t)
{
	fprintf(f, "CREATE TABLE %s ( -- %s\n", t->name, t->meaning);
	for (const struct tcol *c = t->cols; c->key; c++)
		column(f, c);
	fputs(")", f);
}

void sqlite_insert(FILE *f, const struct table *t)
{
	unsigned n = 0;

	for (const struct tcol *c = t->cols; c->key; c++)
		n += c->may & TCOL_UNMEASURED ? 2 : 1;
	fprintf(f, "INSERT INTO %s VALUES(?", t->name);
	while (--n)
		fputs(",?", f);
	fputc(')', f);
}

void sqlite_view(FILE *f, const struct sqlite_view *v)
{
	fprintf(f, "CREATE VIEW %s AS -- %s\n%s", v->name, v->meaning, v->sql);
}

const char *const sqlite_meta[] = {
	"CREATE TABLE gpubpf_meta ( -- one row per fact about this database\n"
	"  key TEXT PRIMARY KEY, -- schema, exporter, user_version\n  value TEXT NOT NULL\n)",
	"CREATE TABLE gpubpf_columns ( -- one row per column of a table: what it means\n"
	"  table_name TEXT NOT NULL,\n  column_name TEXT NOT NULL,\n  type TEXT NOT NULL,\n"
	"  unit TEXT, -- NULL: none\n"
	"  refers_to TEXT, -- table whose id it holds\n"
	"  words TEXT, -- all that it may hold, with | between them\n"
	"  may_be_absent INTEGER NOT NULL, -- NULL then means: has none\n"
	"  may_be_unmeasured INTEGER NOT NULL, -- NULL and COLUMN_unmeasured 1 then mean: nobody saw it\n"
	"  meaning TEXT NOT NULL,\n  PRIMARY KEY (table_name, column_name)\n)",
	"CREATE TABLE gpubpf_views ( -- one row per view: what a row of it is\n"
	"  name TEXT PRIMARY KEY,\n  meaning TEXT NOT NULL\n)",
	NULL,
};

void sqlite_schema(FILE *f)
{
	for (const char *const *s = sqlite_meta; *s; s++)
		fprintf(f, "%s;\n\n", *s);
	for (const struct table *const *t = tables_all; *t; t++) {
		sqlite_create(f, *t);
		fputs(";\n\n", f);
	}
	for (const char *const *i = sqlite_indexes; *i; i++)
		fprintf(f, "%s;\n", *i);
	for (const struct sqlite_view *v = sqlite_views; v->name; v++) {
		fputc('\n', f);
		sqlite_view(f, v);
		fputs(";\n", f);
	}
}
