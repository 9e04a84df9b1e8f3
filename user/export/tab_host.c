// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of what the host observer knows beside its calls: processes, threads, entry points, launch keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/tables.h"

/* ---- processes ---- */

#define ENDS "running|exited|exec|replaced"

static const struct tcol process_cols[] = {
	TCOL("id", ID, "number; a pid that was used again and a program started by exec are new ones"),
	TCOL("pid", NUMBER, "in the initial pid namespace"),
	TCOL("life", NUMBER, "how many lives this pid had before, in this capture"),
	TCOL_A("recorder_pid", NUMBER, "in the recorder's pid namespace"),
	TCOL_RA("parent", "processes", "forked from it in this capture"),
	TCOL_A("comm", TEXT, "its name"),
	TCOL_A("start_time", NUMBER, "ns on the boot-time clock"),
	TCOL_A("since_ns", TIME, "seen from then on"),
	TCOL_A("ended_ns", TIME, "when it ended"),
	TCOL_W("end", ENDS, "how it ended; replaced: its pid came back, its end was not seen"),
	TCOL_U("calls", COUNT, "recorded calls by the application"),
	{ 0 },
};

static int process_rows(struct tables *x, const struct table *t)
{
	static const char *const ends[] = {
		[PROC_RUNNING] = "running",
		[PROC_EXITED] = "exited",
		[PROC_EXECED] = "exec",
		[PROC_REPLACED] = "replaced",
	};
	const struct hmap *lives = &x->t->m->procs.lives;
	int rc = 0;

	for (size_t i = 0; !rc && i < lives->n; i++) {
		const struct proc *p = hmap__at(lives, i);
		struct trow *r = tables__begin(x, t);
		uint64_t parent = tables__process(x, p->parent);
		char comm[sizeof(p->comm) + 1] = "";

		memcpy(comm, p->comm, sizeof(p->comm));
		trow__number(r, i + 1);
		trow__number(r, p->tgid);
		trow__number(r, p->key[1]);
		trow__if(r, p->view_tgid, p->view_tgid);
		trow__if(r, parent, parent);
		trow__text(r, comm[0] ? comm : NULL);
		trow__if(r, p->start_time, p->start_time);
		trow__if(r, p->since, p->since);
		trow__if(r, p->end != PROC_RUNNING && p->ended, p->ended);
		trow__text(r, ends[p->end]);
		trow__seen(r, !x->t->in.host_left_out, p->calls);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_processes = { .name = "processes",
				       .meaning = "one row per process that was seen",
				       .cols = process_cols,
				       .rows = process_rows };

static const struct tcol info_cols[] = {
	TCOL("pid", NUMBER, "as in processes"),
	TCOL_A("parent_pid", NUMBER, "of its parent"),
	TCOL_A("own_pid", NUMBER, "in its own pid namespace"),
	TCOL_A("since_ns", TIME, "traced from then on"),
	TCOL_A("origin", TEXT, "launched, attached, followed or system"),
	TCOL_A("comm", TEXT, "its name"),
	TCOL_A("exe", TEXT, "its program"),
	TCOL_A("command_line", TEXT, "its words, with spaces between them"),
	TCOL_A("cgroup", TEXT, "its control group"),
	TCOL_A("container", TEXT, "its container's id"),
	{ 0 },
};

static char *one_line(char **words, size_t n)
{
	size_t room = 1;
	char *line, *end;

	for (size_t i = 0; i < n; i++)
		room += strlen(words[i]) + 1;
	line = end = malloc(room);
	for (size_t i = 0; line && i < n; i++) {
		if (i)
			*end++ = ' ';
		end = stpcpy(end, words[i]);
	}
	if (line)
		*end = '\0';
	return line;
}

static int info_row(struct tables *x, const struct table *t, const Gpubpf__Process *p)
{
	struct trow *r = tables__begin(x, t);
	char *line = p->n_cmdline ? one_line(p->cmdline, p->n_cmdline) : NULL;
	int rc;

	trow__number(r, p->tgid);
	trow__if(r, p->has_parent, p->parent);
	trow__if(r, p->has_ns_pid, p->ns_pid);
	trow__if(r, p->has_since_ns, p->since_ns);
	trow__text(r, p->origin);
	trow__text(r, p->comm);
	trow__text(r, p->exe);
	trow__text(r, line);
	trow__text(r, p->cgroup);
	trow__text(r, p->container);
	rc = tables__put(x);
	free(line);
	return rc;
}

static int info_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_process; i++)
		rc = info_row(x, t, m->process[i]);
	return rc;
}

const struct table table_process_info = {
	.name = "process_info",
	.meaning = "one row per process that the recorder looked up, when it did",
	.cols = info_cols,
	.rows = info_rows
};

/* ---- threads ---- */

static const struct tcol thread_cols[] = {
	TCOL_R("process", "processes", "whose"),
	TCOL("tid", NUMBER, "in the initial pid namespace"),
	TCOL("calls", COUNT, "recorded calls by the application"),
	{ 0 },
};

static int thread_rows(struct tables *x, const struct table *t)
{
	const struct hmap *threads = &x->t->m->procs.threads;
	int rc = 0;

	for (size_t i = 0; !rc && i < threads->n; i++) {
		const struct thread *th = hmap__at(threads, i);
		struct trow *r = tables__begin(x, t);

		trow__number(r, tables__process(x, th->proc));
		trow__number(r, th->tid);
		trow__number(r, th->calls);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_threads = { .name = "threads",
				     .meaning = "one row per thread with a recorded call",
				     .cols = thread_cols,
				     .rows = thread_rows,
				     .unobserved = table_no_host };

/* ---- apis ---- */

static const struct tcol api_cols[] = {
	TCOL("id", ID, "number that the capture has for it, and calls.api"),
	TCOL("name", TEXT, "symbol of the entry point"),
	TCOL("kind", TEXT, "what it does: launch, copy.h2d …"),
	TCOL_A("population", TEXT, "of the ledger"),
	TCOL_W("state", "armed|missing|refused",
	       "missing: the driver has it not; refused: no probe could be attached"),
	TCOL_AU("entered", COUNT, "calls by the application, by counters that never lose"),
	TCOL_AU("nested", COUNT, "calls inside another traced call, likewise"),
	TCOL_AU("failed", COUNT, "of entered: returned an error, likewise"),
	TCOL_AU("recorded", COUNT, "records handed over, likewise"),
	TCOL_AU("lost_ring", COUNT, "no room in the ring, likewise"),
	{ 0 },
};

static const Gpubpf__ApiCounts *counts_of(const struct inspection *in, uint32_t id)
{
	for (size_t i = 0; in->counts && i < in->counts->n_api; i++)
		if (in->counts->api[i]->api == id)
			return in->counts->api[i];
	return NULL;
}

static void count_cell(struct trow *r, const struct trace *t, bool counted, bool has, uint64_t n)
{
	if (counted && has && !t->in.host_left_out)
		trow__number(r, n);
	else if (!t->in.counts || t->in.host_left_out)
		trow__unmeasured(r);
	else
		trow__absent(r);
}

static int api_row(struct tables *x, const struct table *t, const Gpubpf__Api *p)
{
	const struct inspection *in = &x->t->in;
	const struct api *api = apitab__get(in->tab, p->id);
	const Gpubpf__ApiCounts *c = counts_of(in, p->id);
	struct trow *r = tables__begin(x, t);

	trow__number(r, p->id);
	trow__text(r, p->symbol);
	trow__text(r, p->kind);
	trow__text(r, api ? api_population(api) : NULL);
	trow__text(r, inspect_api_state(p));
	count_cell(r, x->t, c, c && c->has_entered, c ? c->entered : 0);
	count_cell(r, x->t, c, c && c->has_nested, c ? c->nested : 0);
	count_cell(r, x->t, c, c && c->has_failed, c ? c->failed : 0);
	count_cell(r, x->t, c, c && c->has_recorded, c ? c->recorded : 0);
	count_cell(r, x->t, c, c && c->has_lost_ring, c ? c->lost_ring : 0);
	return tables__put(x);
}

/* A hostile capture may describe an id twice: the first one stands, as an id is a key. */
static int api_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	uint8_t seen[GPUBPF_API_MAX / 8] = { 0 };
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_api; i++) {
		uint32_t id = m->api[i]->id;

		if (id >= GPUBPF_API_MAX || seen[id / 8] >> (id % 8) & 1)
			continue;
		seen[id / 8] |= (uint8_t)(1u << (id % 8));
		rc = api_row(x, t, m->api[i]);
	}
	return rc;
}

const struct table table_apis = { .name = "apis",
				  .meaning = "one row per entry point that the recorder wanted to trace",
				  .cols = api_cols,
				  .rows = api_rows };

/* ---- launch_keys ---- */

static const struct tcol launch_key_cols[] = {
	TCOL("id", ID, "number"),
	TCOL("name", TEXT, "what every output calls the kernel: demangled, or <unresolved 0x…>"),
	TCOL_A("symbol", TEXT, "its name in the module"),
	TCOL_RA("process", "processes", "without a symbol: whose handle it is"),
	TCOL_A("handle", HEX, "without a symbol: the handle"),
	TCOL_U("grid_x", NUMBER, "blocks"),
	TCOL_U("grid_y", NUMBER, "blocks"),
	TCOL_U("grid_z", NUMBER, "blocks"),
	TCOL_U("block_x", NUMBER, "threads"),
	TCOL_U("block_y", NUMBER, "threads"),
	TCOL_U("block_z", NUMBER, "threads"),
	TCOL_AU("cluster_x", NUMBER, "blocks, where a cluster was asked for"),
	TCOL_AU("cluster_y", NUMBER, "blocks"),
	TCOL_AU("cluster_z", NUMBER, "blocks"),
	TCOL_U("dynamic_shared_bytes", BYTES, "of shared memory that the launch asked for"),
	TCOL("calls", COUNT, "recorded launch calls by the application"),
	{ 0 },
};

static void dims(struct trow *r, const uint32_t *d, bool there)
{
	for (unsigned i = 0; i < 3; i++)
		trow__seen(r, there, d[i]);
}

static int launch_key_rows(struct tables *x, const struct table *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < trace__kernels(x->t); i++) {
		const struct trace_kernel *k = trace__kernel(x->t, i);
		uint64_t process = k->name ? 0 : tables__process(x, k->proc);
		uint32_t has = k->key.has;
		struct trow *r = tables__begin(x, t);

		trow__number(r, i + 1);
		trow__text(r, k->display);
		trow__text(r, k->name);
		trow__if(r, process, process);
		trow__if(r, !k->name && has & LAUNCH_HAS_FUNC, k->handle);
		dims(r, k->key.grid, has & LAUNCH_HAS_GRID);
		dims(r, k->key.block, has & LAUNCH_HAS_BLOCK);
		for (unsigned d = 0; d < 3; d++) {
			if (has & LAUNCH_CLUSTER_UNREAD)
				trow__unmeasured(r);
			else
				trow__if(r, has & LAUNCH_HAS_CLUSTER, k->key.cluster[d]);
		}
		trow__seen(r, has & LAUNCH_HAS_SHARED, k->key.shared);
		trow__number(r, k->calls);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_launch_keys = {
	.name = "launch_keys",
	.meaning = "one row per kernel and shape as the launch calls name them",
	.cols = launch_key_cols,
	.rows = launch_key_rows,
	.unobserved = table_no_host
};
