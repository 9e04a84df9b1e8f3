/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf report`: the model as sections, each a table whose columns say what they count. Text, JSON and CSV
 * are renderings of the same tables, so they cannot disagree.
 */
#ifndef GPUBPF_REPORT_H
#define GPUBPF_REPORT_H

#include <stdio.h>

#include "inspect/inspect.h"
#include "join/join.h"
#include "model/model.h"
#include "report/device.h"
#include "report/loads.h"
#include "util/opts.h"

struct collectives;
struct err;

/* Absent, zero and not measured are three things (R14). */
enum cell_kind {
	CELL_NONE,       /* does not apply to this row: text "-", JSON no key, CSV empty */
	CELL_UNMEASURED, /* it has a value that nobody observed: "not measured", null, "not measured" */
	CELL_NUMBER,
	CELL_SIGNED, /* number holds an int64_t */
	CELL_REAL,   /* a share or a mean */
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
	UNIT_VALUE, /* the application's own: only it knows of what */
	UNIT_RATIO, /* real: B / A */
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

extern const struct section report_host_sections[];   /* each ends with name == NULL */
extern const struct section report_device_sections[]; /* what the device observer adds */
const struct section *report_section(const char *name);
/* All of them in the order to print; NULL behind the last. */
const struct section *report_section_at(size_t i);
bool section__of_device(const struct section *s);

struct report_opts {
	const struct section **sections; /* in the order to print */
	bool chosen; /* by name: those of the device are printed even where nobody observed it */
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
	struct device *dev; /* what ran; NULL: no device observer in the capture (in.join) */
	struct loads loads;
	struct stack_table stacks; /* of what was never freed */
	struct collectives *coll;  /* NULL: no kernel of NCCL */
};

/* Opens and reads the whole capture. What fails leaves it so that report__close() is right. */
int report__open(struct report *r, const char *path, const struct report_opts *o, struct err *err);
void report__close(struct report *r);
/* Rows of a section, built and sorted; rows__clear() also after an error. */
int report__rows(const struct report *r, const struct section *s, struct rows *rows);
void rows__clear(struct rows *rows);
unsigned section__columns(const struct section *s);

/*
 * By the column of this name: numbers fall, text rises; `size`: signed numbers by how far from zero they are. False: there
 * is no such column, and nothing was done.
 */
bool rows__sort(struct rows *rows, const char *key, bool size);

/* While building: a new row, then its cells from left to right. 0 or -ENOMEM. */
int rows__add(struct rows *rows);
void row__number(struct rows *rows, uint64_t n);
/* A number where `there`, else not measured where `unmeasured`, else nothing. */
void row__maybe(struct rows *rows, bool there, bool unmeasured, uint64_t n);
void row__signed(struct rows *rows, int64_t n);
void row__none(struct rows *rows);
/* The same for a share or a mean. */
void row__real(struct rows *rows, bool there, bool unmeasured, double v);
int row__text(struct rows *rows, const char *text); /* NULL: nothing */

/* p50 and p99 */
void row__quantiles(struct rows *rows, const struct hist *h, bool unmeasured);

/* As text has it, in buf[FMT_NUM] or the cell's own. */
const char *cell__text(const struct cell *c, enum unit unit, char *buf);
/* The first n rows (n ≤ rows->n) as a text table, as the members of a JSON object, as CSV with a header. 0 or -ENOMEM. */
int rows__table(const struct rows *rows, FILE *f, size_t n, bool color);
int rows__json(const struct rows *rows, FILE *f, size_t n);
void rows__csv(const struct rows *rows, FILE *f, size_t n);
/* The verdict and what is behind it. */
void report_verdict_text(const Gpubpf__Meta *meta, const struct ledger *l, FILE *f, bool color);
/* What stands above the tables, here and wherever a capture is shown: the same words. */
struct report_head {
	const struct inspection *in;
	const struct model *m;
	uint64_t left_out, others; /* records of the device: of whom nobody asked; of no table */
};
void report_head_text(const struct report_head *h, FILE *f, bool color);
int report_verdict_json(const struct ledger *l, FILE *f); /* a member. 0 or -ENOMEM */

/* Why nobody observed what the section holds; NULL: somebody did. */
const char *report__unobserved(const struct report *r, const struct section *s);
/* Whether the section is printed: unobserved ones only when they are asked for by name. */
bool report__shows(const struct report *r, const struct section *s);
/* What every output calls what ran; to be freed; NULL: no memory (R18). */
char *report__display(const struct report *r, const struct join_key *key);
/* The one kind of device in this machine; NULL: several, or not known (R24). */
const char *report__device_kind(const struct report *r);

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

int build_cost(const struct report *r, struct rows *rows);

int build_observers(const struct report *r, struct rows *rows);
int build_sessions(const struct report *r, struct rows *rows);
int build_timestamps(const struct report *r, struct rows *rows);
int build_causality(const struct report *r, struct rows *rows);
int build_orphans(const struct report *r, struct rows *rows);
int build_devices(const struct report *r, struct rows *rows);
int build_streams(const struct report *r, struct rows *rows);
int build_gaps(const struct report *r, struct rows *rows);
int build_kernels(const struct report *r, struct rows *rows);
int build_kernel_names(const struct report *r, struct rows *rows);
int build_device_copies(const struct report *r, struct rows *rows);
int build_device_sets(const struct report *r, struct rows *rows);
int build_graph_runs(const struct report *r, struct rows *rows);
int build_waits(const struct report *r, struct rows *rows);
int build_module_loads(const struct report *r, struct rows *rows);
int build_modules(const struct report *r, struct rows *rows);

#endif
