/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenTelemetry's protocol as its JSON encoding has it (OTLP specification, "JSON Protobuf Encoding"), one TracesData,
 * LogsData or MetricsData per line: hexadecimal ids, enums as numbers, 64-bit integers as strings, absent fields left out.
 */
#ifndef GPUBPF_EXPORT_OTLP_H
#define GPUBPF_EXPORT_OTLP_H

#include <stdbool.h>
#include <stdio.h>

#include "export/export.h"
#include "trace/identity.h"
#include "trace/wall.h"
#include "util/hmap.h"
#include "util/progress.h"

enum otlp_signal { OTLP_TRACES, OTLP_LOGS, OTLP_METRICS };

/* Attributes in the making: KeyValue … of one array. */
struct otlp_attrs {
	FILE *f;
	bool some;
};

void otlp_put_text(FILE *f, const char *text); /* a JSON string */
void otlp_attrs__begin(struct otlp_attrs *a, FILE *f, const char *field);
void otlp_attrs__text(struct otlp_attrs *a, const char *key, const char *value); /* NULL: absent */
void otlp_attrs__int(struct otlp_attrs *a, const char *key, uint64_t value);
void otlp_attrs__bool(struct otlp_attrs *a, const char *key, bool value);
void otlp_attrs__texts(struct otlp_attrs *a, const char *key, char *const *value, size_t n);
void otlp_attrs__end(struct otlp_attrs *a);

struct otlp_process {    /* one life of one process: a trace, with a span of its own */
	uint64_t key[2]; /* as struct proc's */
	uint64_t trace[2], root;
	const struct proc *proc; /* of the finished model */
	FILE *f;                 /* items of the line in the making */
	char *items;
	size_t size;
	unsigned n;
	uint64_t spans, first, last; /* wall clock; spans > 0 */
};

struct otlp {
	struct trace *t;
	struct export_out *out;
	enum otlp_signal signal;
	struct identity id;
	struct wall wall;
	struct hmap processes; /* struct otlp_process */
	uint64_t seen_at; /* wall clock: the capture's end, or its start where nothing says when it ended */
	uint64_t other_calls; /* calls for no work, so far */
	uint64_t beyond;      /* events at times that no clock shows */
	struct progress progress;
};

/* NULL: no memory. */
struct otlp_process *otlp__process(struct otlp *o, const struct proc *p);
/* Where the next item of this process goes; NULL: no memory. Behind it: otlp__item_done(). */
FILE *otlp__item(struct otlp *o, struct otlp_process *p);
int otlp__item_done(struct otlp *o, struct otlp_process *p); /* 0 or a negative errno */
int otlp__flush(struct otlp *o, struct otlp_process *p);
/* The process's resource, or the capture's (NULL). */
void otlp__resource(const struct otlp *o, const struct otlp_process *p, FILE *f);
void otlp__scope(FILE *f);
void otlp__notes(const struct otlp *o, struct otlp_attrs *a); /* verdict, observers, what is absent */

int otlp_events(struct otlp *o, struct err *err);  /* traces or logs */
int otlp_metrics(struct otlp *o, struct err *err); /* 0 or a negative errno */

#endif
