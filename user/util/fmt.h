/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers with units, aligned tables, and text that is safe to print, for people and for CSV. */
#ifndef GPUBPF_FMT_H
#define GPUBPF_FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define FMT_NUM 32 /* room for any of the numbers below */

/* Each writes into buf[FMT_NUM] and returns it. */
const char *fmt_count(char *buf, uint64_t n); /* 1,234,567 */
const char *fmt_bytes(char *buf, uint64_t n); /* 512 B, 1.50 KiB, 16.0 MiB: powers of 1024, three digits */
const char *fmt_ns(char *buf, uint64_t ns);   /* 912 ns, 1.23 us, 45.6 ms, 12.3 s */
const char *fmt_percent(char *buf, double share); /* 0.123 → 12.3 % */

/*
 * Copies `s` so that a terminal shows it and obeys nothing in it: control characters (C1 ones too) and bytes
 * that are not UTF-8 become \xNN. The result is cut to fit, at a whole character; returns buf.
 */
const char *fmt_safe(char *buf, size_t size, const char *s);
/* The same to a stream, uncut. */
void fmt_put_safe(FILE *f, const char *s);
/* One CSV field by RFC 4180: quoted when it must be. */
void fmt_put_csv(FILE *f, const char *s);
/* Characters that the UTF-8 text occupies (one column each). */
size_t fmt_width(const char *s);

/* True when escape sequences for colour are wanted: a terminal, TERM not "dumb", NO_COLOR unset or empty. */
bool fmt_color(FILE *f);
/* Columns of the terminal, 0 when the stream is none: no limit. */
unsigned fmt_columns(FILE *f);

/* A table is collected and then printed with every column as wide as its widest cell. */
struct fmt_table;
enum fmt_align { FMT_LEFT, FMT_RIGHT };

struct fmt_table *fmt_table__new(unsigned columns); /* NULL: no memory */
void fmt_table__align(struct fmt_table *t, unsigned column, enum fmt_align align);
/* Cells go left to right, row by row; the first row is the header. Made safe here. 0 or -ENOMEM. */
int fmt_table__cell(struct fmt_table *t, const char *text);
/* With `columns` not 0 the last column is cut there with "…" in its middle. `bold_header`: escape sequences. */
void fmt_table__print(const struct fmt_table *t, FILE *f, unsigned indent, unsigned columns,
		      bool bold_header);
void fmt_table__free(struct fmt_table *t);

#endif
