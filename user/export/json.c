// SPDX-License-Identifier: GPL-2.0-or-later
/* The canonical JSON, a row per line, and the same rows each as an object of its own. */
#include <errno.h>
#include <string.h>

#include "export/export.h"
#include "export/obuf.h"
#include "export/tables.h"
#include "util/err.h"

struct json {
	struct tsink sink;
	struct obuf o;
	bool lines; /* JSON lines */
	bool any_table, any_row;
};

static void value(struct obuf *o, const struct tcol *c, const struct tcell *cell)
{
	const char *safe;

	switch (c->type) {
	case TCOL_TEXT:
		safe = obuf__safe(o, cell->v.s);
		if (safe)
			obuf__json(o, safe);
		break;
	case TCOL_WORD:
		obuf__json(o, cell->v.s);
		break;
	case TCOL_HEX:
		obuf__bytes(o, "\"", 1);
		obuf__hex(o, cell->v.n);
		obuf__bytes(o, "\"", 1);
		break;
	default:
		obuf__cell(o, c, cell);
	}
}

static void member(struct obuf *o, const char *key, const char *suffix, bool *comma)
{
	if (*comma)
		obuf__bytes(o, ",", 1);
	*comma = true;
	obuf__bytes(o, "\"", 1);
	obuf__string(o, key);
	obuf__string(o, suffix);
	obuf__bytes(o, "\":", 2);
}

static int put_row(struct tsink *s, const struct trow *r)
{
	struct json *j = (struct json *)s;
	struct obuf *o = &j->o;
	bool comma = false;

	if (!j->lines && j->any_row)
		obuf__bytes(o, ",", 1);
	if (!j->lines)
		obuf__bytes(o, "\n", 1);
	j->any_row = true;
	obuf__bytes(o, "{", 1);
	if (j->lines) {
		member(o, "table", "", &comma);
		obuf__json(o, r->table->name);
	}
	for (unsigned i = 0; i < r->n; i++) {
		const struct tcol *c = &r->table->cols[i];

		if (r->c[i].kind == TCELL_ABSENT)
			continue;
		member(o, c->key, "", &comma);
		if (r->c[i].kind == TCELL_VALUE) {
			value(o, c, &r->c[i]);
		} else {
			obuf__string(o, "null");
			member(o, c->key, "_unmeasured", &comma);
			obuf__string(o, "true");
		}
	}
	obuf__string(o, j->lines ? "}\n" : "}");
	return o->error;
}

static int begin_table(struct tsink *s, const struct table *t)
{
	struct json *j = (struct json *)s;

	obuf__string(&j->o, j->any_table ? ",\n" : "\n");
	obuf__json(&j->o, t->name);
	obuf__string(&j->o, ":[");
	j->any_table = true;
	j->any_row = false;
	return j->o.error;
}

static int end_table(struct tsink *s, const struct table *t)
{
	struct json *j = (struct json *)s;

	(void)t;
	obuf__bytes(&j->o, "]", 1);
	return j->o.error;
}

int export_json(struct trace *t, struct export_out *out, const struct export_opts *opts, struct err *err)
{
	struct json j = { .sink = { begin_table, put_row, end_table, false } };
	int rc = obuf__init(&j.o, out);

	if (rc)
		return err_set(err, rc, "out of memory");
	obuf__string(&j.o, "{\"schema\":\"" TABLES_SCHEMA_NAME "\",\n\"tables\":{");
	rc = tables__run(t, &j.sink, opts->table ? tables__find(opts->table) : NULL, opts->progress, err);
	obuf__string(&j.o, "}}\n");
	if (!rc)
		rc = obuf__flush(&j.o);
	obuf__clear(&j.o);
	return rc;
}

int export_jsonl(struct trace *t, struct export_out *out, const struct export_opts *opts, struct err *err)
{
	struct json j = { .sink = { .row = put_row, .mixed = true }, .lines = true };
	int rc = obuf__init(&j.o, out);

	if (rc)
		return err_set(err, rc, "out of memory");
	rc = tables__run(t, &j.sink, opts->table ? tables__find(opts->table) : NULL, opts->progress, err);
	if (!rc)
		rc = obuf__flush(&j.o);
	obuf__clear(&j.o);
	return rc;
}
