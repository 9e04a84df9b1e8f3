/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A capture as tables. One description (tables.c and what it lists) is the JSON, the JSON lines, the CSV, the SQLite
 * database, their schemas and their documentation, so that none can say something else.
 *
 * Of a cell, absent, zero and not measured are three things (R14):
 *   absent         JSON: no key            CSV: nothing            SQL: NULL
 *   not measured   JSON: null, KEY_unmeasured true   CSV: not measured   SQL: NULL, KEY_unmeasured 1
 *
 * Numbers are at most 2^63 - 1: what a damaged capture has beyond that was not measured, or is absent. Texts are made
 * safe for a terminal (fmt_safe()).
 */
#ifndef GPUBPF_EXPORT_TABLES_H
#define GPUBPF_EXPORT_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"
#include "util/hmap.h"
#include "util/progress.h"

#define TABLES_SCHEMA                                                                                        \
	1 /* raised when a column goes or changes its meaning; new tables and columns may come */
#define TABLES_SCHEMA_NAME "gpubpf.export/1"

enum tcol_type {
	TCOL_ID,       /* the row's own number */
	TCOL_REF,      /* id of a row of another table */
	TCOL_COUNT,    /* how many */
	TCOL_NUMBER,   /* a number as its source has it */
	TCOL_SIGNED,   /* the same, may be negative */
	TCOL_TIME,     /* CLOCK_MONOTONIC, ns */
	TCOL_WALL,     /* ns since 1970 (CLOCK_REALTIME) */
	TCOL_DURATION, /* ns */
	TCOL_BYTES,
	TCOL_BOOL,
	TCOL_WORD, /* one of a few words */
	TCOL_TEXT,
	TCOL_HEX, /* a handle or an address: "0x…" */
};

enum { TCOL_ABSENT = 1, TCOL_UNMEASURED = 2 }; /* what a cell may be beside a value */

struct tcol {
	const char *key; /* never changes its meaning within a schema */
	enum tcol_type type;
	unsigned may;
	const char *of; /* REF: the table; WORD: the words, with | between them */
	const char *meaning;
};

enum tcell_kind { TCELL_ABSENT, TCELL_UNMEASURED, TCELL_VALUE };

struct tcell {
	enum tcell_kind kind;
	union {
		uint64_t n;    /* SIGNED: an int64_t */
		const char *s; /* WORD, TEXT: valid until the row is out */
	} v;
};

#define TABLE_COLUMNS_MAX 32

struct table;
struct tables;

struct trow {
	const struct table *table;
	unsigned n; /* cells so far */
	struct tcell c[TABLE_COLUMNS_MAX];
};

/* Cells, from left to right. */
void trow__begin(struct trow *r, const struct table *t);
void trow__absent(struct trow *r);
void trow__unmeasured(struct trow *r);
void trow__number(struct trow *r, uint64_t n); /* all types of numbers but SIGNED; BOOL, HEX */
void trow__signed(struct trow *r, int64_t n);
void trow__text(struct trow *r, const char *s); /* NULL: absent */
static inline void trow__if(struct trow *r, bool there, uint64_t n)
{
	there ? trow__number(r, n) : trow__absent(r);
}
/* Not there: not measured. */
static inline void trow__seen(struct trow *r, bool there, uint64_t n)
{
	there ? trow__number(r, n) : trow__unmeasured(r);
}

struct table {
	const char *name;
	const char *meaning;                                  /* what a row is (R15) */
	const struct tcol *cols;                              /* ends with key == NULL */
	int (*rows)(struct tables *x, const struct table *t); /* NULL: of the pass over the file */
	const char *(*unobserved)(
		const struct trace *t);         /* why nobody saw what it holds; NULL: somebody did */
	bool (*nothing)(const struct trace *t); /* of a pass: none is there, so that it can be left out */
};

/* In the order of every output: what is referred to stands before what refers. Ends with name == NULL. */
extern const struct table *const tables_all[];
/* A sound capture's rows have a value (or say that it was not measured); a damaged one's number may be too large. */
bool tcol_always(const struct tcol *c);
const struct table *tables__find(const char *name);
unsigned table__columns(const struct table *t);
const char *tcol_unit(enum tcol_type type); /* "ns", "bytes" …; "" */
const char *tcol_type_name(enum tcol_type type);

/* What takes the rows. 0 or a negative errno, which ends the export. */
struct tsink {
	int (*begin)(struct tsink *s, const struct table *t); /* may be NULL, as `end` */
	int (*row)(struct tsink *s, const struct trow *r);
	int (*end)(struct tsink *s, const struct table *t);
	bool mixed; /* rows of several tables may come in turn: the file is then read once */
};

/* All tables, or `only` one. What the sink returns, or a negative errno with a message. */
int tables__run(struct trace *t, struct tsink *sink, const struct table *only, FILE *progress,
		struct err *err);

/* ---- For the files of the tables ---- */

struct tables {
	struct trace *t;
	struct tsink *sink;
	const struct table *only;
	struct err *err;
	struct progress progress;
	bool all;                /* this pass is for every table of the file */
	const struct table *now; /* else for this one */
	struct trow row;
	struct hmap procs;    /* by struct proc.key: process ids */
	struct hmap sessions; /* by struct join_session *: session ids */
	struct {
		const struct thread *thread;
		uint64_t id;
	} recent[256];
	uint32_t *call_id; /* by number of the call for work; of the host's calls */
	bool have_call_ids;
	uint64_t calls; /* of the pass so far */
};

bool tables__wants(const struct tables *x, const struct table *t); /* in this pass */
struct trow *tables__begin(struct tables *x, const struct table *t);
int tables__put(struct tables *x);                                /* the row is whole */
uint64_t tables__process(struct tables *x, const struct proc *p); /* 0: none */
uint64_t tables__session(struct tables *x, const struct join_session *s);
int tables__call_ids(struct tables *x);                       /* fills call_id */
uint64_t tables__call(const struct tables *x, uint32_t work); /* 0: not known */

const char *table_no_host(const struct trace *t);
const char *table_no_device(const struct trace *t);

/* How a time was taken: rows of table `timings`. */
enum timing {
	TIMING_CALL = 1,
	TIMING_CALL_ENTRY,
	TIMING_CALL_OPEN,
	TIMING_CALL_BACKWARDS,
	TIMING_SHIM,
	TIMING_SHIM_START,
	TIMING_EXEC, /* + source * JOIN_TIMES + enum join_time */
};
enum timing timing_of(const struct join_session *s, enum join_time time);

/* tab_calls.c: of a pass over the file. */
int pass_begin(struct tables *x);
int pass_wait(struct tables *x, const struct gpubpf_waker *w);  /* tab_waits.c */
int pass_stack(struct tables *x, const struct gpubpf_stack *s); /* tab_stacks.c */
int pass_call(const struct trace_call *c, void *x);
int pass_record(const struct gpubpf_rec *rec, void *x);

extern const struct table table_tables, table_capture, table_command, table_options, table_environment,
	table_gpus, table_libraries, table_notes, table_reasons, table_ledger_host, table_ledger_device,
	table_timings, table_processes, table_process_info, table_threads, table_apis, table_sessions,
	table_losses, table_launch_keys, table_kernels, table_calls, table_call_times, table_call_waits,
	table_stacks, table_call_stacks, table_allocations, table_clock_pairs, table_gpu_errors,
	table_device_calls, table_executions, table_copies, table_modules, table_markers, table_external_ids,
	table_unified_memory, table_semantic_coverage, table_semantic_nodes, table_semantic_links,
	table_semantic_targets;

/* Descriptions of a table's columns. */
#define TCOL(key, type, meaning)                                                                             \
	{                                                                                                    \
		key, TCOL_##type, 0, NULL, meaning                                                           \
	}
#define TCOL_A(key, type, meaning)                                                                           \
	{                                                                                                    \
		key, TCOL_##type, TCOL_ABSENT, NULL, meaning                                                 \
	}
#define TCOL_U(key, type, meaning)                                                                           \
	{                                                                                                    \
		key, TCOL_##type, TCOL_UNMEASURED, NULL, meaning                                             \
	}
#define TCOL_AU(key, type, meaning)                                                                          \
	{                                                                                                    \
		key, TCOL_##type, TCOL_ABSENT | TCOL_UNMEASURED, NULL, meaning                               \
	}
#define TCOL_R(key, table, meaning)                                                                          \
	{                                                                                                    \
		key, TCOL_REF, 0, table, meaning                                                             \
	}
#define TCOL_RA(key, table, meaning)                                                                         \
	{                                                                                                    \
		key, TCOL_REF, TCOL_ABSENT, table, meaning                                                   \
	}
#define TCOL_W(key, words, meaning)                                                                          \
	{                                                                                                    \
		key, TCOL_WORD, 0, words, meaning                                                            \
	}
#define TCOL_WA(key, words, meaning)                                                                         \
	{                                                                                                    \
		key, TCOL_WORD, TCOL_ABSENT, words, meaning                                                  \
	}
#define TCOL_WAU(key, words, meaning)                                                                        \
	{                                                                                                    \
		key, TCOL_WORD, TCOL_ABSENT | TCOL_UNMEASURED, words, meaning                                \
	}

#endif
