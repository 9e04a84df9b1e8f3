// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/tables.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/err.h"

const struct table *const tables_all[] = {
	&table_tables, // one a line
	&table_capture,
	&table_command,
	&table_options,
	&table_environment,
	&table_gpus,
	&table_libraries,
	&table_notes,
	&table_reasons,
	&table_ledger_host,
	&table_ledger_device,
	&table_timings,
	&table_processes,
	&table_process_info,
	&table_threads,
	&table_apis,
	&table_sessions,
	&table_losses,
	&table_launch_keys,
	&table_kernels,
	&table_stacks,
	&table_calls,
	&table_call_times,
	&table_call_waits,
	&table_call_stacks,
	&table_allocations,
	&table_clock_pairs,
	&table_gpu_errors,
	&table_device_calls,
	&table_executions,
	&table_copies,
	&table_modules,
	&table_markers,
	&table_external_ids,
	&table_unified_memory,
	&table_semantic_coverage,
	&table_semantic_nodes,
	&table_semantic_links,
	&table_semantic_targets,
	NULL,
};

const struct table *tables__find(const char *name)
{
	for (const struct table *const *t = tables_all; *t; t++)
		if (strcmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}

unsigned table__columns(const struct table *t)
{
	unsigned n = 0;

	while (t->cols[n].key)
		n++;
	return n;
}

static const struct {
	const char *name, *unit;
} types[] = {
	[TCOL_ID] = { "id", "" },
	[TCOL_REF] = { "reference", "" },
	[TCOL_COUNT] = { "count", "" },
	[TCOL_NUMBER] = { "number", "" },
	[TCOL_SIGNED] = { "number", "" },
	[TCOL_TIME] = { "time", "ns, CLOCK_MONOTONIC" },
	[TCOL_WALL] = { "time", "ns since 1970" },
	[TCOL_DURATION] = { "duration", "ns" },
	[TCOL_BYTES] = { "size", "bytes" },
	[TCOL_BOOL] = { "truth", "" },
	[TCOL_WORD] = { "word", "" },
	[TCOL_TEXT] = { "text", "" },
	[TCOL_HEX] = { "handle", "" },
};

bool tcol_always(const struct tcol *c)
{
	return !(c->may & TCOL_ABSENT) && c->type != TCOL_TIME && c->type != TCOL_WALL &&
	       c->type != TCOL_DURATION && c->type != TCOL_BYTES && c->type != TCOL_COUNT;
}

const char *tcol_unit(enum tcol_type type)
{
	return types[type].unit;
}

const char *tcol_type_name(enum tcol_type type)
{
	return types[type].name;
}

/* ---- Cells ---- */

void trow__begin(struct trow *r, const struct table *t)
{
	r->table = t;
	r->n = 0;
}

static struct tcell *next(struct trow *r, enum tcell_kind kind)
{
	struct tcell *c = &r->c[r->n++];

	c->kind = kind;
	return c;
}

void trow__absent(struct trow *r)
{
	next(r, TCELL_ABSENT);
}

void trow__unmeasured(struct trow *r)
{
	next(r, TCELL_UNMEASURED);
}

void trow__number(struct trow *r, uint64_t n)
{
	const struct tcol *c = &r->table->cols[r->n];

	if (n > INT64_MAX && c->type != TCOL_HEX) {
		next(r, c->may & TCOL_UNMEASURED ? TCELL_UNMEASURED : TCELL_ABSENT);
		return;
	}
	next(r, TCELL_VALUE)->v.n = n;
}

void trow__signed(struct trow *r, int64_t n)
{
	next(r, TCELL_VALUE)->v.n = (uint64_t)n;
}

void trow__text(struct trow *r, const char *s)
{
	next(r, s ? TCELL_VALUE : TCELL_ABSENT)->v.s = s;
}

/* ---- Rows ---- */

bool tables__wants(const struct tables *x, const struct table *t)
{
	return x->all || x->now == t;
}

struct trow *tables__begin(struct tables *x, const struct table *t)
{
	trow__begin(&x->row, t);
	return &x->row;
}

int tables__put(struct tables *x)
{
	assert(!x->row.table->cols[x->row.n].key); /* as many cells as columns */
	progress__add(&x->progress, 1);
	return x->sink->row(x->sink, &x->row);
}

struct known_proc {
	uint64_t key[2];
	uint64_t id;
};

struct known_session {
	uint64_t key; /* struct join_session * */
	uint64_t id;
};

uint64_t tables__process(struct tables *x, const struct proc *p)
{
	const struct known_proc *k = p ? hmap__get(&x->procs, p->key) : NULL;

	return k ? k->id : 0;
}

uint64_t tables__session(struct tables *x, const struct join_session *s)
{
	uint64_t key = (uintptr_t)s;
	const struct known_session *k = hmap__get(&x->sessions, &key);

	return k ? k->id : 0;
}

static int number_things(struct tables *x)
{
	const struct hmap *lives = &x->t->m->procs.lives;
	const struct join *j = x->t->in.join;

	hmap__init(&x->procs, 16, sizeof(struct known_proc));
	hmap__init(&x->sessions, 8, sizeof(struct known_session));
	for (size_t i = 0; i < lives->n; i++) {
		struct known_proc *k = hmap__put(&x->procs, ((struct proc *)hmap__at(lives, i))->key);

		if (!k)
			return -ENOMEM;
		k->id = i + 1;
	}
	for (size_t i = 0; j && i < join__sessions(j); i++) {
		uint64_t key = (uintptr_t)join__session(j, i);
		struct known_session *k = hmap__put(&x->sessions, &key);

		if (!k)
			return -ENOMEM;
		k->id = i + 1;
	}
	return 0;
}

/* ---- Passes over the file ---- */

static int pass(struct tables *x)
{
	const struct trace_visitor v = { pass_call, pass_record, x };
	size_t n = x->t->in.join ? join__host_calls(x->t->in.join) : 0;

	int rc;

	memset(x->recent, 0, sizeof(x->recent)); /* each pass has threads of its own */
	if (n && !x->call_id)
		x->call_id = calloc(n, sizeof(*x->call_id));
	if (n && !x->call_id)
		return -ENOMEM;
	x->have_call_ids = true;
	rc = pass_begin(x);
	return rc ? rc : trace__pass(x->t, &v, x->err);
}

int tables__call_ids(struct tables *x)
{
	const struct table *now = x->now;
	bool all = x->all;
	int rc;

	if (x->have_call_ids || !x->t->in.join || x->t->in.host_left_out)
		return 0;
	x->now = NULL;
	x->all = false;
	rc = pass(x);
	x->now = now;
	x->all = all;
	return rc;
}

uint64_t tables__call(const struct tables *x, uint32_t work)
{
	const struct join *j = x->t->in.join;

	return j && x->call_id && work < join__host_calls(j) ? x->call_id[work] : 0;
}

/* ---- Running ---- */

static int begin(struct tables *x, const struct table *t)
{
	return x->sink->begin ? x->sink->begin(x->sink, t) : 0;
}

static int end(struct tables *x, const struct table *t)
{
	return x->sink->end ? x->sink->end(x->sink, t) : 0;
}

static int run_one(struct tables *x, const struct table *t)
{
	int rc = begin(x, t);

	x->now = t;
	if (!rc && t->rows)
		rc = t->rows(x, t);
	else if (!rc && !(t->nothing && t->nothing(x->t)))
		rc = pass(x);
	return rc ? rc : end(x, t);
}

/* What comes of the pass over the file stands together in the list. */
static int run_pass(struct tables *x, const struct table *const **at)
{
	const struct table *const *first = *at;
	int rc = 0;

	for (; !rc && **at && !(**at)->rows; (*at)++)
		rc = begin(x, **at);
	x->all = true;
	if (!rc)
		rc = pass(x);
	x->all = false;
	for (; !rc && first < *at; first++)
		rc = end(x, *first);
	return rc;
}

static int run_mixed(struct tables *x)
{
	const struct table *const *t = tables_all;
	int rc = 0;

	while (!rc && *t) {
		if ((*t)->rows)
			rc = run_one(x, *t++);
		else
			rc = run_pass(x, &t);
	}
	return rc;
}

static uint64_t rows_expected(const struct trace *t)
{
	const struct join *j = t->in.join;

	return t->m->calls + t->in.breakdowns + (j ? join__shim_calls(j) + 2 * join__activities(j) : 0);
}

int tables__run(struct trace *t, struct tsink *sink, const struct table *only, FILE *progress,
		struct err *err)
{
	struct tables x = { .t = t, .sink = sink, .only = only, .err = err };
	int rc = number_things(&x);

	progress__begin(&x.progress, progress, "export", only ? 0 : rows_expected(t));
	if (!rc && only)
		rc = run_one(&x, only);
	else if (!rc && sink->mixed)
		rc = run_mixed(&x);
	for (const struct table *const *each = tables_all; !rc && !only && !sink->mixed && *each; each++)
		rc = run_one(&x, *each);
	progress__end(&x.progress);
	free(x.call_id);
	hmap__clear(&x.procs);
	hmap__clear(&x.sessions);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}

/* ---- What several tables say ---- */

const char *table_no_host(const struct trace *t)
{
	return t->in.host_left_out ? "the host observer was left out" : NULL;
}

const char *table_no_device(const struct trace *t)
{
	if (!t->in.join)
		return "no device observer in this capture";
	if (join__totals(t->in.join)->armed_sessions || join__activities(t->in.join))
		return NULL;
	return "the device observer was never armed";
}

enum timing timing_of(const struct join_session *s, enum join_time time)
{
	unsigned source = !s->has_hello                                   ? 2
			  : s->hello.time_source == GPUBPF_TIME_MONOTONIC ? 0
			  : s->hello.time_source == GPUBPF_TIME_CUPTI     ? 1
									  : 2;

	return (enum timing)(TIMING_EXEC + source * JOIN_TIMES + time);
}
