// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An SQLite database: one transaction into a temporary file that nobody else knows, so neither journal nor sync.
 * Indexes are made when all rows are there.
 */
#ifdef HAVE_SQLITE3
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <sqlite3.h>

#include "cmd.h"
#include "export/export.h"
#include "export/obuf.h"
#include "export/sqlite_sql.h"
#include "export/tables.h"
#include "util/err.h"

#define TABLES_MAX 64

struct sqlite {
	struct tsink sink;
	sqlite3 *db;
	struct err *err;
	const char *path;
	struct obuf text; /* for its safe texts alone */
	const struct table *table[TABLES_MAX];
	sqlite3_stmt *insert[TABLES_MAX];
	unsigned n, last;
};

static int failed(struct sqlite *s, const char *what)
{
	int code = sqlite3_errcode(s->db), sys = sqlite3_system_errno(s->db);
	int rc = code == SQLITE_FULL ? -ENOSPC : code == SQLITE_NOMEM ? -ENOMEM : sys ? -sys : -EIO;

	return err_set(s->err, rc, "%s: %s: %s", s->path, what,
		       code == SQLITE_FULL || sys == ENOSPC ? strerror(ENOSPC) : sqlite3_errmsg(s->db));
}

static int run(struct sqlite *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : failed(s, "SQLite");
}

/* Runs (or, with `stmt`, prepares) what `write` writes of `of`. */
static int made(struct sqlite *s, void (*write)(FILE *f, const void *of), const void *of, sqlite3_stmt **stmt)
{
	char *sql = NULL;
	size_t n;
	FILE *f = open_memstream(&sql, &n);
	int rc = f ? 0 : -ENOMEM;

	if (f) {
		write(f, of);
		if (fclose(f))
			rc = -ENOMEM;
	}
	if (rc)
		err_set(s->err, rc, "out of memory");
	else if (!stmt)
		rc = run(s, sql);
	else if (sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL) != SQLITE_OK)
		rc = failed(s, "SQLite");
	free(sql);
	return rc;
}

static void write_create(FILE *f, const void *t)
{
	sqlite_create(f, t);
}

static void write_insert(FILE *f, const void *t)
{
	sqlite_insert(f, t);
}

static void write_view(FILE *f, const void *v)
{
	sqlite_view(f, v);
}

static int begin_table(struct tsink *sink, const struct table *t)
{
	struct sqlite *s = (struct sqlite *)sink;
	int rc = s->n < TABLES_MAX ? made(s, write_create, t, NULL) : -ENOMEM;

	if (!rc)
		rc = made(s, write_insert, t, &s->insert[s->n]);
	if (!rc)
		s->table[s->n++] = t;
	return rc;
}

static int end_table(struct tsink *sink, const struct table *t)
{
	struct sqlite *s = (struct sqlite *)sink;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->table[i] != t)
			continue;
		sqlite3_finalize(s->insert[i]);
		s->insert[i] = NULL;
	}
	return 0;
}

static void bind_hex(sqlite3_stmt *st, int at, uint64_t v)
{
	char digits[18], *p = digits + sizeof(digits);

	do {
		*--p = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	*--p = 'x';
	*--p = '0';
	sqlite3_bind_text(st, at, p, (int)(digits + sizeof(digits) - p), SQLITE_TRANSIENT);
}

static void bind(struct sqlite *s, sqlite3_stmt *st, int at, const struct tcol *c, const struct tcell *cell)
{
	if (cell->kind != TCELL_VALUE) {
		sqlite3_bind_null(st, at);
		return;
	}
	switch (c->type) {
	case TCOL_TEXT:
		sqlite3_bind_text(st, at, obuf__safe(&s->text, cell->v.s), -1, SQLITE_TRANSIENT);
		break;
	case TCOL_WORD:
		sqlite3_bind_text(st, at, cell->v.s, -1, SQLITE_STATIC);
		break;
	case TCOL_HEX:
		bind_hex(st, at, cell->v.n);
		break;
	default:
		sqlite3_bind_int64(st, at, (sqlite3_int64)cell->v.n);
	}
}

static int put_row(struct tsink *sink, const struct trow *r)
{
	struct sqlite *s = (struct sqlite *)sink;
	sqlite3_stmt *st;
	int at = 0;

	while (s->table[s->last] != r->table)
		s->last = (s->last + 1) % s->n;
	st = s->insert[s->last];
	for (unsigned i = 0; i < r->n; i++) {
		const struct tcol *c = &r->table->cols[i];

		bind(s, st, ++at, c, &r->c[i]);
		if (c->may & TCOL_UNMEASURED)
			sqlite3_bind_int(st, ++at, r->c[i].kind == TCELL_UNMEASURED);
	}
	if (s->text.error)
		return s->text.error;
	if (sqlite3_step(st) != SQLITE_DONE)
		return failed(s, r->table->name);
	sqlite3_reset(st);
	return 0;
}

/* ---- What the tables mean ---- */

static int insert_texts(struct sqlite *s, const char *sql, const char *const *texts, int n)
{
	sqlite3_stmt *st;
	int rc = 0;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) != SQLITE_OK)
		return failed(s, "SQLite");
	for (int i = 0; i < n; i++)
		sqlite3_bind_text(st, i + 1, texts[i], -1, SQLITE_TRANSIENT);
	if (sqlite3_step(st) != SQLITE_DONE)
		rc = failed(s, "SQLite");
	sqlite3_finalize(st);
	return rc;
}

static int describe_table(struct sqlite *s, const struct table *t)
{
	int rc = 0;

	for (const struct tcol *c = t->cols; !rc && c->key; c++) {
		const char *unit = tcol_unit(c->type);
		const char *texts[] = { t->name,
					c->key,
					tcol_type_name(c->type),
					*unit ? unit : NULL,
					c->type == TCOL_REF ? c->of : NULL,
					c->type == TCOL_WORD ? c->of : NULL,
					c->may & TCOL_ABSENT ? "1" : "0",
					c->may & TCOL_UNMEASURED ? "1" : "0",
					c->meaning };

		rc = insert_texts(s, "INSERT INTO gpubpf_columns VALUES(?,?,?,?,?,?,?,?,?)", texts, 9);
	}
	return rc;
}

static int describe(struct sqlite *s)
{
	const char *facts[][2] = { { "schema", TABLES_SCHEMA_NAME },
				   { "exporter", "gpubpf " GPUBPF_VERSION } };
	int rc = 0;

	for (unsigned i = 0; !rc && i < 2; i++)
		rc = insert_texts(s, "INSERT INTO gpubpf_meta VALUES(?,?)", facts[i], 2);
	for (const struct table *const *t = tables_all; !rc && *t; t++)
		rc = describe_table(s, *t);
	for (const struct sqlite_view *v = sqlite_views; !rc && v->name; v++) {
		const char *texts[] = { v->name, v->meaning };

		rc = insert_texts(s, "INSERT INTO gpubpf_views VALUES(?,?)", texts, 2);
	}
	return rc;
}

/* ---- The whole ---- */

static int open_db(struct sqlite *s)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int rc = 0;

	if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
		return s->db ? failed(s, "SQLite") : err_set(s->err, -ENOMEM, "out of memory");
	/* 0x67706275: "gpbu", for file(1) */
	rc = run(s, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA locking_mode=EXCLUSIVE;"
		    "PRAGMA page_size=16384; PRAGMA cache_size=-65536; PRAGMA application_id=0x67706275;"
		    "PRAGMA user_version=1; BEGIN");
	for (const char *const *m = sqlite_meta; !rc && *m; m++)
		rc = run(s, *m);
	return rc;
}

static int finish(struct sqlite *s)
{
	int rc = describe(s);

	for (const char *const *i = sqlite_indexes; !rc && *i; i++)
		rc = run(s, *i);
	for (const struct sqlite_view *v = sqlite_views; !rc && v->name; v++)
		rc = made(s, write_view, v, NULL);
	return rc ? rc : run(s, "COMMIT");
}

int export_sqlite(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err)
{
	struct sqlite s = { .sink = { begin_table, put_row, end_table, true },
			    .err = err,
			    .path = out->path };
	int rc = open_db(&s);

	if (!rc)
		rc = tables__run(t, &s.sink, NULL, o->progress, err);
	if (!rc)
		rc = finish(&s);
	for (unsigned i = 0; i < s.n; i++)
		sqlite3_finalize(s.insert[i]);
	if (sqlite3_close(s.db) != SQLITE_OK && !rc)
		rc = err_set(err, -EIO, "%s: SQLite did not close it", s.path);
	obuf__clear(&s.text);
	return rc;
}
#endif
