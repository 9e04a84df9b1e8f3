/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf report`: the model as sections, each a table whose columns say what they count. Text, JSON and CSV
 * are renderings of the same tables, so they cannot disagree.
 */
#ifndef GPUBPF_REPORT_H
#define GPUBPF_REPORT_H

#include <stdio.h>

#include "inspect/inspect.h"
#include "model/model.h"
#include "util/opts.h"

struct err;

/* Absent, zero and not measured are three things (R14). */
enum cell_kind {
	CELL_NONE,       /* does not apply to this row: text "-", JSON no key, CSV empty */
	CELL_UNMEASURED, /* it has a value that nobody observed: "not measured", null, "not measured" */
	CELL_NUMBER,
	CELL_REAL, /* a share or a mean */
	CELL_TEXT,
};

struct cell {
	enum cell_kind kind;
	uint64_t number;
	double real;
	char *text; /* owned */
};

enum unit {
	UNIT_TEXT,
	UNIT_COUNT,
	UNIT_NS,
	UNIT_BYTES,
	UNIT_ID,
	UNIT_HEX,
	UNIT_SHARE, /* real: 0 … 1 */
	UNIT_MEAN,  /* real: of a count */
	UNIT_RATE,  /* bytes per second */
};

struct column {
	const char *key;  /* JSON and CSV; never changes its meaning */
	const char *head; /* text; NULL: not shown there */
	enum unit unit;
	const char *meaning;
	bool rare; /* text leaves the column out when every cell is empty or zero */
};

struct rows {
	const struct section *section;
	struct cell *cells;
	size_t n, cap; /* rows */
	unsigned at;   /* column being filled in the newest row */
};

struct report;

struct section {
	const char *name, *title;
	const char *population;       /* what a row stands for and what its main count counts (R15) */
	const char *note;             /* a limit that readers must know; NULL: none */
	const struct column *columns; /* ends with key == NULL */
	const char *sort;             /* column, highest first; NULL: as the rows come */
	int (*build)(const struct report *r, struct rows *rows); /* 0 or -ENOMEM */
};

extern const struct section report_sections[]; /* ends with name == NULL */
const struct section *report_section(const char *name);

struct report_opts {
	const struct section **sections; /* in the order to print */
	size_t nsections;
	uint64_t limit; /* rows per section; 0: all */
	const char *sort;
	struct model_opts model;
};

struct report {
	struct inspection in;
	struct model *m;
	struct report_opts o;
	struct ledger ledger;
};

/* Opens and reads the whole capture. What fails leaves it so that report__close() is right. */
int report__open(struct report *r, const char *path, const struct report_opts *o, struct err *err);
void report__close(struct report *r);
/* Rows of a section, built and sorted; rows__clear() also after an error. */
int report__rows(const struct report *r, const struct section *s, struct rows *rows);
void rows__clear(struct rows *rows);
unsigned section__columns(const struct section *s);

/* While building: a new row, then its cells from left to right. 0 or -ENOMEM. */
int rows__add(struct rows *rows);
void row__number(struct rows *rows, uint64_t n);
/* A number where `there`, else not measured where `unmeasured`, else nothing. */
void row__maybe(struct rows *rows, bool there, bool unmeasured, uint64_t n);
void row__none(struct rows *rows);
/* The same for a share or a mean. */
void row__real(struct rows *rows, bool there, bool unmeasured, double v);
int row__text(struct rows *rows, const char *text); /* NULL: nothing */

/* Renderings. 0 or -ENOMEM; whether the stream took it is the caller's to ask. */
int report_text(const struct report *r, FILE *f);
int report_json(const struct report *r, FILE *f);
int report_csv(const struct report *r, FILE *f); /* the first section */

int build_apis(const struct report *r, struct rows *rows);
int build_threads(const struct report *r, struct rows *rows);
int build_failures(const struct report *r, struct rows *rows);
int build_processes(const struct report *r, struct rows *rows);
int build_launches(const struct report *r, struct rows *rows);
int build_graphs(const struct report *r, struct rows *rows);
int build_captures(const struct report *r, struct rows *rows);
int build_copies(const struct report *r, struct rows *rows);
int build_sets(const struct report *r, struct rows *rows);
int build_memory(const struct report *r, struct rows *rows);
int build_frees(const struct report *r, struct rows *rows);

#endif
