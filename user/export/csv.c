// SPDX-License-Identifier: GPL-2.0-or-later
/* One table as CSV (RFC 4180). */
#include <errno.h>

#include "export/export.h"
#include "export/obuf.h"
#include "export/tables.h"
#include "util/err.h"

struct csv {
	struct tsink sink;
	struct obuf o;
};

static void value(struct obuf *o, const struct tcol *c, const struct tcell *cell)
{
	const char *safe;

	switch (c->type) {
	case TCOL_TEXT:
		safe = obuf__safe(o, cell->v.s);
		if (safe)
			obuf__csv(o, safe);
		break;
	case TCOL_WORD:
		obuf__string(o, cell->v.s);
		break;
	case TCOL_HEX:
		obuf__hex(o, cell->v.n);
		break;
	default:
		obuf__cell(o, c, cell);
	}
}

static int put_row(struct tsink *s, const struct trow *r)
{
	struct obuf *o = &((struct csv *)s)->o;

	for (unsigned i = 0; i < r->n; i++) {
		if (i)
			obuf__bytes(o, ",", 1);
		if (r->c[i].kind == TCELL_UNMEASURED)
			obuf__string(o, "not measured");
		else if (r->c[i].kind == TCELL_VALUE)
			value(o, &r->table->cols[i], &r->c[i]);
	}
	obuf__bytes(o, "\r\n", 2);
	return o->error;
}

static int put_header(struct tsink *s, const struct table *t)
{
	struct obuf *o = &((struct csv *)s)->o;

	for (const struct tcol *c = t->cols; c->key; c++) {
		if (c != t->cols)
			obuf__bytes(o, ",", 1);
		obuf__string(o, c->key);
	}
	obuf__bytes(o, "\r\n", 2);
	return o->error;
}

int export_csv(struct trace *t, struct export_out *out, const struct export_opts *opts, struct err *err)
{
	struct csv c = { .sink = { .begin = put_header, .row = put_row } };
	int rc = obuf__init(&c.o, out);

	if (rc)
		return err_set(err, rc, "out of memory");
	rc = tables__run(t, &c.sink, tables__find(opts->table), opts->progress, err);
	if (!rc)
		rc = obuf__flush(&c.o);
	obuf__clear(&c.o);
	return rc;
}
