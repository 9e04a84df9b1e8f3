/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a capture says, in one pass over its records and in memory that grows with the number of distinct
 * things (APIs, launch keys, live allocations …), never with the number of records.
 *
 * Calls are those made by the application (depth 0). Calls that a traced call made inside itself are counted
 * as nested and nowhere else; what they say about names is used.
 */
#ifndef GPUBPF_MODEL_H
#define GPUBPF_MODEL_H

#include "latency/breakdown.h"
#include "latency/futexes.h"
#include "model/allocs.h"
#include "model/copies.h"
#include "model/graphs.h"
#include "model/launches.h"
#include "model/memory.h"
#include "model/modloads.h"
#include "model/syncs.h"

struct apistat {
	uint64_t calls;  /* depth 0; = returned + open + unmeasured */
	uint64_t nested; /* apart from calls */
	uint64_t returned;
	uint64_t open;       /* had not returned at the end */
	uint64_t unmeasured; /* entry only: neither result nor time */
	uint64_t failed;     /* of returned: result other than CUDA_SUCCESS and CUDA_ERROR_NOT_READY */
	uint64_t not_ready;  /* of returned */
	uint64_t bad_time;   /* of returned: return before entry; not in `time` */
	struct hist time;
};

struct failure {
	uint64_t key[2]; /* API id, result */
	uint64_t calls;
};

struct model_opts {
	struct procs_filter filter;
	bool threads; /* keep API statistics per thread */
	bool again;   /* a later pass, for who watches: names, captures and memory, no statistics */
	bool memory;  /* keep what memory.h has */
	bool stacks;  /* and what was never freed call by call: the capture has stacks */
	bool modules; /* keep what modloads.h has */
};

/* A call as the model understands it, of any process and depth. 0 or a negative errno, which ends the reading. */
typedef int model_call_fn(const struct view *v, void *arg);

struct model {
	const struct apitab *tab;
	model_call_fn *watch;
	void *watch_arg;
	struct plan *plans;
	size_t nplans;
	bool threads, again;

	struct procs procs;
	struct names *names;
	struct graphs graphs;
	struct launches launches;
	struct copies copies;
	struct syncs syncs;
	struct allocs allocs;
	struct memory *memory;     /* NULL: not asked for */
	struct modloads *modloads; /* likewise */
	struct apistat *apis;      /* by API id */
	struct hmap failures;
	struct breakdowns breakdowns;
	struct futex_waits waits;
	uint64_t *in_file; /* call records by API id, all processes, open ones left out: for the ledger */

	uint64_t records, calls, tasks, xids, batches,
		others;             /* batches: of the shim; user/join reads them */
	uint64_t unknown_api;       /* calls of an id that the metadata does not describe */
	uint64_t filtered;          /* calls of processes or threads that were not asked for */
	uint64_t first_ns, last_ns; /* of calls; meaningful when calls > 0 */
};

/* The table must outlive the model. 0 or -ENOMEM. */
int model__new(const struct apitab *tab, const struct model_opts *o, struct model **out);
/* `fn` sees every call that follows. */
void model__watch(struct model *m, model_call_fn *fn, void *arg);
/* One record, in the order of the file; its sizes were checked by the reader. 0 or -ENOMEM. */
int model__add(struct model *m, const struct gpubpf_rec *rec);
/* After the last record. 0 or -ENOMEM. */
int model__finish(struct model *m);
void model__free(struct model *m);

#endif
