/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A semantic sidecar (R53): a JSON file beside a capture that says what its calls and executions meant: steps, requests,
 * layers. It names one capture, by its identity, and ties each node to calls and executions by their own identity, as
 * `gpubpf export --format json` shows it. A label binds nothing.
 *
 *   { "schema": "gpubpf.sidecar/1",
 *     "capture": "0123…",                           of table capture: identity
 *     "nodes": [ {
 *       "id": "step-1",                             its own in the file
 *       "label": "training step 1",
 *       "kind": "step",                             may be absent, as all that follows
 *       "parent": "epoch-1",                        a node that stands before it
 *       "attributes": { "batch": 32 },              texts, whole numbers, truths
 *       "interval": { "clock": "monotonic", "start_ns": 5, "end_ns": 9 },   or "realtime": ns since 1970
 *       "links": [
 *         { "call": { "id": 17, "entry_ns": 5 } },                  a row of calls
 *         { "device_call": { "id": 9, "correlation": 4 } },         a row of device_calls
 *         { "execution": { "id": 3, "correlation": 4 } },           a row of executions
 *         { "correlation": { "session": 1, "id": 4 } },             a call and all that ran for it
 *         { "external": { "session": 1, "kind": "custom0", "id": "0x2a" } } ] } ] }   those that it was pushed for
 *
 * Of a link that gives a row's id and one of its facts both must be right: what was exported from another version or
 * counted wrong binds nothing.
 *
 * Life: sidecar__read(), then sidecar__bind() with the capture, then looks; sidecar__free().
 */
#ifndef GPUBPF_SIDECAR_H
#define GPUBPF_SIDECAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct err;
struct join;
struct trace;

#define SIDECAR_SCHEMA "gpubpf.sidecar/1"

/* More is refused. */
#define SIDECAR_FILE_MAX (32u << 20)
#define SIDECAR_DEPTH_MAX 8
#define SIDECAR_VALUES_MAX 3000000u
#define SIDECAR_NODES_MAX 100000u
#define SIDECAR_LINKS_MAX 500000u
#define SIDECAR_TARGETS_MAX 4000000u
#define SIDECAR_ID_MAX 128
#define SIDECAR_LABEL_MAX 512
#define SIDECAR_KIND_MAX 64
#define SIDECAR_ATTRIBUTES_MAX 16
#define SIDECAR_VALUE_MAX 1024

enum sidecar_kind {
	SIDECAR_CALL,
	SIDECAR_DEVICE_CALL,
	SIDECAR_EXECUTION,
	SIDECAR_CORRELATION,
	SIDECAR_EXTERNAL,
	SIDECAR_KINDS,
};

enum sidecar_status {
	SIDECAR_MATCHED,
	SIDECAR_NONE,       /* the capture has no such row or id */
	SIDECAR_DIFFERS,    /* it has the row, and the fact beside it is another one */
	SIDECAR_AMBIGUOUS,  /* the correlation id came round: it is of several calls */
	SIDECAR_UNOBSERVED, /* nobody saw what it would be tied to */
	SIDECAR_STATUSES,
};

enum sidecar_interval {
	SIDECAR_NO_INTERVAL, /* it gives none */
	SIDECAR_INSIDE,
	SIDECAR_OUTSIDE, /* withheld: not wholly inside what the capture's clock covers */
	SIDECAR_UNANCHORED, /* withheld: of the wall clock, which the capture has no pair of, or one that was set back */
	SIDECAR_INTERVALS,
};

enum sidecar_use {
	SIDECAR_USED,   /* shown: a link matched, its interval is inside, or a node below it is used */
	SIDECAR_UNUSED, /* nothing to show: neither links, nor an interval, nor nodes below it that are used */
	SIDECAR_UNMATCHED, /* none of its links matched */
	SIDECAR_WITHHELD,  /* its interval is withheld, and nothing else was to be shown */
	SIDECAR_USES,
};

struct sidecar_span {
	bool there;
	bool closed;         /* end is known; else start is all */
	uint64_t start, end; /* CLOCK_MONOTONIC */
};

struct sidecar_node {
	char *id, *label;
	char *kind, *attributes; /* NULL: absent; attributes as JSON */
	size_t parent;           /* number + 1; 0: none */
	size_t first_link, nlinks;
	bool has_interval, realtime;
	uint64_t start_ns, end_ns; /* as given; has_interval */
	unsigned line;             /* of the file */
	/* After sidecar__bind(). */
	enum sidecar_interval interval;
	enum sidecar_use use;
	struct sidecar_span own; /* its interval, on CLOCK_MONOTONIC; SIDECAR_INSIDE */
	struct sidecar_span
		span; /* `own`, else what it and the nodes below it are tied to spans, as far as it has times */
	size_t matched, untimed; /* links; targets without a time on this clock */
};

struct sidecar_link {
	size_t node;
	enum sidecar_kind kind;
	uint64_t id;     /* of the row, or the correlation id, or the external id */
	uint64_t proof;  /* entry_ns; correlation; session */
	unsigned custom; /* kind of an external id */
	/* After sidecar__bind(). */
	enum sidecar_status status;
	size_t first_target, ntargets;
};

struct sidecar_target { /* what a link is tied to */
	size_t link;
	enum sidecar_kind kind; /* CALL, DEVICE_CALL, EXECUTION */
	uint64_t id;            /* of the row */
	struct sidecar_span span;
};

struct sidecar_coverage { /* what a carrier of meaning brought, and what became of it */
	bool asked;       /* there was one: else nothing else was measured */
	bool has_links;   /* it has links: not of ranges, which are tied by their thread and time alone */
	uint64_t nodes, used;
	uint64_t links, matched, by_status[SIDECAR_STATUSES];
	uint64_t targets, untimed;
	bool has_intervals;
	uint64_t intervals, withheld; /* given; not shown, as they are outside of what the clock covers */
};

enum sidecar_carrier {
	SIDECAR_CARRIER_FILE,     /* this file */
	SIDECAR_CARRIER_NVTX,     /* recorded: ranges and marks */
	SIDECAR_CARRIER_EXTERNAL, /* recorded: external correlation ids */
	SIDECAR_CARRIERS,
};

struct sidecar;

/* 0 or a negative errno, with a message that names line or member. */
int sidecar__read(const char *path, struct sidecar **out, struct err *err);
/* The same of bytes; `name` is for messages. */
int sidecar__parse(const char *name, const char *text, size_t n, struct sidecar **out, struct err *err);
/* The trace then has it, and lives no longer than it. -EXDEV: it is of another capture. Once. */
int sidecar__bind(struct sidecar *s, struct trace *t, struct err *err);
void sidecar__free(struct sidecar *s); /* NULL is fine */

const char *sidecar__capture(const struct sidecar *s); /* that it is of */
size_t sidecar__nodes(const struct sidecar *s);
const struct sidecar_node *sidecar__node(const struct sidecar *s, size_t i);
size_t sidecar__links(const struct sidecar *s);
const struct sidecar_link *sidecar__link(const struct sidecar *s, size_t i);
size_t sidecar__targets(const struct sidecar *s); /* by link */
const struct sidecar_target *sidecar__target(const struct sidecar *s, size_t i);
/* "nodes[2].links[0] (line 7): call 17, entered at 5"; returns buf. */
const char *sidecar__describe(const struct sidecar *s, const struct sidecar_link *l, char *buf, size_t n);

/* Of every carrier; `s` NULL: none was given. */
void sidecar_coverage(const struct sidecar *s, const struct trace *t,
		      struct sidecar_coverage of[SIDECAR_CARRIERS]);
/* For people: what was used and what was not, the first few of these by name. False: all was. */
bool sidecar__print(const struct sidecar *s, FILE *f, bool always);

const char *sidecar_kind_name(enum sidecar_kind kind);
const char *sidecar_status_name(enum sidecar_status status);
const char *sidecar_status_text(enum sidecar_status status); /* for people */
const char *sidecar_interval_name(enum sidecar_interval interval);
const char *sidecar_use_name(enum sidecar_use use);
const char *sidecar_carrier_name(enum sidecar_carrier carrier);
/* All names of an enum with | between them, for schemas. */
#define SIDECAR_KIND_WORDS "call|device_call|execution|correlation|external"
#define SIDECAR_STATUS_WORDS "matched|none|differs|ambiguous|not_observed"
#define SIDECAR_INTERVAL_WORDS "inside|outside_coverage|no_anchor"
#define SIDECAR_USE_WORDS "used|empty|unmatched|withheld"
#define SIDECAR_CARRIER_WORDS "sidecar|nvtx|external_ids"

#endif
