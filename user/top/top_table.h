/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables of a view as text for people, row by row. */
#ifndef GPUBPF_TOP_TABLE_H
#define GPUBPF_TOP_TABLE_H

#include "top/top_layout.h"

const char *top_table_name(enum top_table t);
/* What it can be sorted by; NULL: there is no such column. */
const char *top_table_column(enum top_table t, unsigned column);
size_t top_table_rows(const struct top_view *v, enum top_table t);
/* order[i]: which row stands at i. */
void top_table_order(const struct top_view *v, enum top_table t, unsigned column, size_t *order);
void top_table_header(const struct top_view *v, enum top_table t, char *buf, size_t n);
void top_table_row(const struct top_view *v, enum top_table t, size_t row, char *buf, size_t n);
/* What to say of a table without rows. */
const char *top_table_nothing(const struct top_view *v, enum top_table t);

#endif
