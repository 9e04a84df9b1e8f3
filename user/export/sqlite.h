/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What an SQLite export has beside the tables. */
#ifndef GPUBPF_EXPORT_SQLITE_H
#define GPUBPF_EXPORT_SQLITE_H

#include <stdio.h>

struct sqlite_view {
	const char *name, *meaning;
	const char *sql; /* behind CREATE VIEW name AS */
};

extern const struct sqlite_view sqlite_views[]; /* ends with name == NULL */
extern const char *const sqlite_indexes[];      /* statements; ends with NULL */

/* The whole schema as statements, with what each table and column means. */
void sqlite_schema(FILE *f);

#endif
