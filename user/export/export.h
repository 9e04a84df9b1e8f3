/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf export`: a capture in the forms that other tools read. A format is one function and one line of
 * export_formats[]; help, completion and man page come from the table.
 */
#ifndef GPUBPF_EXPORT_H
#define GPUBPF_EXPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "trace/trace.h"

struct err;

/*
 * Where an export goes. A regular file is there under its name only when it is whole; to standard output, a pipe or
 * a device bytes go as they come. A failed write is kept, and everything behind it is dropped: formats ask
 * export_out__failed() now and then, and need not look at what each printf() returned.
 */
struct export_out {
	FILE *f;    /* NULL where the format writes a file by itself (export_format.own_file) */
	char *path; /* of the file that is being written; NULL: a stream */
	/* below: out.c's */
	char *name; /* that it gets in the end */
	int fd;
	int error; /* negative errno of the first write that failed */
	uint64_t bytes;
};

/* `path` NULL: standard output. What fails leaves it so that export_out__drop() is right. */
int export_out__open(struct export_out *o, const char *path, bool own_file, struct err *err);
int export_out__failed(const struct export_out *o); /* 0 or a negative errno */
/* Flushes, and gives the file its name. 0 or a negative errno with a message; -EPIPE: the reader went away. */
int export_out__keep(struct export_out *o, struct err *err);
void export_out__drop(struct export_out *o); /* nothing is left under any name; after keep: frees */

struct export_opts {
	const char *table;  /* NULL: all (formats with export_format.tables) */
	const char *value;  /* one of export_values; NULL: the first (formats with export_format.values) */
	const char *signal; /* one of export_signals; NULL: the first (formats with export_format.signals) */
	FILE *progress;     /* where a terminal may get a line about long work; NULL: nowhere */
};

struct export_format {
	const char *name;
	const char *what; /* for --help: what it is, and who reads it */
	/*
	 * 0 or a negative errno: with a message, or export_out__failed(), which the verb words. The capture was read once;
	 * `t` is for as many passes as wanted (not const: a pass moves its reader).
	 */
	int (*write)(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
	bool tables;         /* --table goes with it */
	bool semantic;       /* --sidecar goes with it */
	bool values;         /* --value goes with it */
	bool signals;        /* --signal goes with it */
	bool binary;         /* not for a terminal */
	bool own_file;       /* writes out->path: it cannot go to standard output */
	const char *missing; /* library that this build lacks ("libsqlite3"); NULL: none */
};

extern const struct export_format export_formats[]; /* ends with name == NULL */
extern const char *const export_values[];           /* of profiles: "gpu_ns" …; ends with NULL */
extern const char *const export_signals[];          /* of OpenTelemetry: "traces" …; ends with NULL */

int export_json(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
int export_jsonl(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
int export_csv(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
int export_sqlite(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
int export_pprof(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
int export_folded(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);
int export_otlp(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err);

#endif
