/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statements made from the tables' description, without the semicolon. */
#ifndef GPUBPF_EXPORT_SQLITE_SQL_H
#define GPUBPF_EXPORT_SQLITE_SQL_H

#include <stdio.h>

#include "export/sqlite.h"
#include "export/tables.h"

extern const char *const sqlite_meta[]; /* tables about the tables; ends with NULL */
void sqlite_create(FILE *f, const struct table *t);
void sqlite_insert(FILE *f, const struct table *t);
void sqlite_view(FILE *f, const struct sqlite_view *v);

#endif
