// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/samples.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "model/apitab.h"
#include "stacks/quality.h"
#include "util/err.h"
#include "util/fmt.h"

struct call_stack {
	uint64_t key[2]; /* chain, entry point */
	uint32_t stack;  /* 1 + its number */
};

/* ---- Words ---- */

const char *samples__text(const struct samples *s, uint32_t text)
{
	return s->texts.blob[text].bytes;
}

const struct sample_frame *samples__frame(const struct samples *s, uint32_t frame)
{
	return (const struct sample_frame *)(const void *)s->frames.blob[frame].bytes;
}

const uint32_t *samples__stack(const struct samples *s, uint32_t stack, size_t *n)
{
	const struct blob *b = &s->stacks.blob[stack];

	*n = b->n / sizeof(uint32_t);
	return (const uint32_t *)(const void *)b->bytes;
}

const char *sample_delay_name(const struct sample_key *k)
{
	static const char *const names[SAMPLE_DELAYS] = { NULL, "measured", "started_before_call",
							  "not_first_of_call" };

	return names[k->delay];
}

const char *sample_fate_name(const struct sample_key *k)
{
	return k->has & SAMPLE_IS_RUN ? NULL : k->fate ? join_fate_name(k->fate - 1u) : "not_observed";
}

const char *sample_outcome_name(const struct sample_key *k)
{
	static const char *const names[] = { "ok", "failed", "open", "not_measured" };

	return k->outcome ? names[k->outcome - 1] : NULL;
}

const char *sample_stack_name(const struct sample_key *k)
{
	if (!(k->has & SAMPLE_HAS_STACK))
		return NULL;
	return k->quality && k->quality < GPUBPF_STACK_QUALITIES ? stack_quality_keys[k->quality]
								 : "not_known";
}

const char *timing_source_name(unsigned source)
{
	return source == GPUBPF_TIME_MONOTONIC ? "cupti_timestamp_callback"
	       : source == GPUBPF_TIME_CUPTI   ? "cupti_clock_pairs"
					       : NULL;
}

/* ---- Frames and stacks ---- */

/* Names come from files that may say anything: what is kept is UTF-8 without control characters. */
int samples__add_text(struct samples *s, const char *text, uint32_t *number)
{
	size_t n = 4 * strlen(text) + 1;
	char *safe = malloc(n);
	int rc = safe ? blobs__text(&s->texts, fmt_safe(safe, n, text), number) : -ENOMEM;

	free(safe);
	return rc;
}

static int frame(struct samples *s, const char *name, uint32_t *number)
{
	struct sample_frame f = { 0 };
	int rc = samples__add_text(s, name, &f.name);

	return rc ? rc : blobs__put(&s->frames, &f, sizeof(f), number);
}

__attribute__((format(printf, 3, 4))) static int framef(struct samples *s, uint32_t *number, const char *fmt,
							...)
{
	char *name;
	va_list ap;
	int rc;

	va_start(ap, fmt);
	rc = vasprintf(&name, fmt, ap);
	va_end(ap);
	if (rc < 0)
		return -ENOMEM;
	rc = frame(s, name, number);
	free(name);
	return rc;
}

int samples__thread(struct samples *s, const struct sample_key *k, uint32_t *number)
{
	return framef(s, number, "thread %u", k->tid);
}

struct caller { /* who called what */
	uint32_t tgid, tid;
	uint64_t entry;
	const char *api;
	uint64_t api_id; /* tells entry points apart, and those from what is none */
	bool of_host;    /* the host observer saw it, and its stack, if there is one */
};

/* "file.c:12" */
static int place_of(struct samples *s, const char *source, struct sample_frame *f)
{
	const char *colon = strrchr(source, ':');
	unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;
	char *file = colon ? strndup(source, (size_t)(colon - source)) : strdup(source);
	int rc = file ? samples__add_text(s, file, &f->file) : -ENOMEM;

	f->line = line <= INT32_MAX ? (uint32_t)line : 0;
	free(file);
	return rc;
}

static int user_frame(struct samples *s, const struct stack_frame *u, uint32_t *number)
{
	struct sample_frame f = { 0 };
	char *name = stack_frame__text(u, false);
	int rc = name ? samples__add_text(s, name, &f.name) : -ENOMEM;

	free(name);
	if (!rc && u->source[0])
		rc = place_of(s, u->source, &f);
	if (!rc && u->module[0])
		rc = samples__add_text(s, u->module, &f.module);
	return rc ? rc : blobs__put(&s->frames, &f, sizeof(f), number);
}

static int make_stack(struct samples *s, const struct caller *c, const struct stack_chain *chain,
		      uint32_t *stack)
{
	uint32_t frames[SAMPLE_STACK_MAX], n = 0, depth = chain ? chain->n : 0;
	int rc = 0;

	if (depth > SAMPLE_STACK_MAX - 1)
		depth = SAMPLE_STACK_MAX - 1;
	for (uint32_t i = depth; !rc && i-- > 0;)
		rc = user_frame(s, stack_table__frame(&s->user, chain->frames[i]), &frames[n++]);
	if (!rc)
		rc = frame(s, c->api, &frames[n++]);
	return rc ? rc : blobs__put(&s->stacks, frames, n * sizeof(*frames), stack);
}

/* The process's own functions where the capture has them, and the entry point. */
static int stack_of(struct samples *s, const struct caller *c, struct sample_key *k)
{
	const struct stack_call *call = c->of_host && s->has_stacks
						? stack_table__call(&s->user, c->tgid, c->tid, c->entry)
						: NULL;
	const struct stack_chain *chain = call ? stack_table__chain(&s->user, call->chain) : NULL;
	uint64_t key[2] = { chain ? chain->id : 0, c->api_id };
	struct call_stack *there = hmap__put(&s->call_stacks, key);
	int rc;

	if (!there)
		return -ENOMEM;
	if (!there->stack) {
		rc = make_stack(s, c, chain, &k->stack);
		if (rc)
			return rc;
		there->stack = k->stack + 1;
	}
	k->stack = there->stack - 1;
	if (chain) {
		k->has |= SAMPLE_HAS_STACK;
		k->quality = call->quality;
	}
	return 0;
}

struct process {
	uint64_t key[2]; /* as struct proc's */
	uint32_t text;
};

static int label_process(struct samples *s, const struct proc *p, struct sample_key *k)
{
	struct process *there = hmap__put(&s->processes, p->key);
	const struct proc *finished = hmap__get(&s->t->m->procs.lives, p->key);
	char text[64];
	int rc = 0;

	if (!there)
		return -ENOMEM;
	if (!there->text) {
		p = finished ? finished : p; /* a pass may not know its name yet */
		snprintf(text, sizeof(text), "%.16s (%u)", p->comm[0] ? p->comm : "process", p->tgid);
		rc = samples__add_text(s, text, &there->text);
	}
	k->has |= SAMPLE_HAS_PROCESS;
	k->pid = p->tgid;
	k->process = there->text;
	return rc;
}

/* ---- Adding up ---- */

static void add(struct sample *to, enum sample_value which, uint64_t n)
{
	uint64_t *v = &to->value[which];

	*v = n > INT64_MAX - *v ? INT64_MAX : *v + n;
}

/* 1 + the sample of the first thing that the call started; NULL: no memory. */
static uint32_t *first_of(struct samples *s, uint32_t call)
{
	if (call >= s->nsample_of) {
		size_t n = s->nsample_of ? s->nsample_of : 1024;
		uint32_t *of;

		while (n <= call)
			n *= 2;
		of = realloc(s->sample_of, n * sizeof(*of));
		if (!of)
			return NULL;
		memset(of + s->nsample_of, 0, (n - s->nsample_of) * sizeof(*of));
		s->sample_of = of;
		s->nsample_of = n;
	}
	return &s->sample_of[call];
}

/* ---- What ran ---- */

static int name_leaf(struct samples *s, const struct trace_exec *e, uint32_t *leaf)
{
	const struct join_key *key = e->key;

	if (key->kind == GPUBPF_ACTIVITY_KERNEL)
		return frame(s, e->display, leaf);
	if (key->kind == GPUBPF_ACTIVITY_SET)
		return frame(s, "set", leaf);
	if (join_copy_text(key->copy_kind))
		return framef(s, leaf, "copy %s", join_copy_text(key->copy_kind));
	return framef(s, leaf, "copy <unknown kind %u>", key->copy_kind);
}

static int leaf_of(struct samples *s, const struct trace_exec *e, struct sample_key *k)
{
	uint32_t leaf, *there = &s->leaf_of_key[e->a.key];
	int rc;

	if (!*there) {
		rc = name_leaf(s, e, &leaf);
		if (rc)
			return rc;
		*there = leaf + 1;
	}
	k->leaf = *there;
	if (e->key->kind == GPUBPF_ACTIVITY_KERNEL) {
		k->has |= SAMPLE_HAS_GRID | SAMPLE_HAS_BLOCK;
		memcpy(k->grid, e->key->grid, sizeof(k->grid));
		memcpy(k->block, e->key->block, sizeof(k->block));
	}
	return 0;
}

static int exec_stack(struct samples *s, const struct join_activity *a, struct sample_key *k)
{
	static const char *const seen[JOIN_POPULATIONS] = { "launch", "graph launch", "copy", "set" };
	struct caller c = { 0 };
	char text[64];

	if (!a->has_call) {
		snprintf(text, sizeof(text), "<no call: %s>", join_link_name(a->link));
		c.api = text;
		c.api_id = UINT64_C(2) << 32 | a->link;
		return stack_of(s, &c, k);
	}
	k->has |= SAMPLE_HAS_THREAD;
	k->tid = a->call.tid;
	c.tgid = a->call.proc->tgid;
	c.tid = a->call.tid;
	c.entry = a->call.entry;
	c.of_host = !a->call.of_shim;
	if (a->call.of_shim) {
		snprintf(text, sizeof(text), "<%s>", seen[a->call.population]);
		c.api = text;
		c.api_id = UINT64_C(1) << 32 | a->call.population;
	} else {
		c.api = trace__symbol(s->t, a->call.api);
		c.api_id = a->call.api;
	}
	return stack_of(s, &c, k);
}

/* Whether this is the first that its call started, and how long that took. */
static int delay_of(struct samples *s, const struct join_activity *a, struct sample_key *k, uint32_t **first,
		    uint64_t *delay)
{
	bool timed = a->time == JOIN_TIME_VALID;

	*first = NULL;
	*delay = 0;
	if (!a->has_call)
		return 0;
	*first = first_of(s, a->call.number);
	if (!*first)
		return -ENOMEM;
	if (**first)
		*first = NULL;
	else if (a->call.population == 1 && !timed)
		*first = NULL; /* a graph's first node is the first with a time */
	if (!timed)
		return 0;
	k->delay = a->start < a->call.entry ? SAMPLE_DELAY_EARLY
		   : *first                 ? SAMPLE_DELAY_MEASURED
					    : SAMPLE_DELAY_LATER;
	if (k->delay == SAMPLE_DELAY_MEASURED)
		*delay = a->start - a->call.entry;
	return 0;
}

static int add_exec(struct samples *s, const struct trace_exec *e)
{
	const struct join_activity *a = &e->a;
	struct sample_key k = { .has = SAMPLE_IS_RUN | SAMPLE_HAS_LANE };
	struct sample *to;
	uint32_t *first;
	uint64_t delay;
	int rc;

	k.device = e->lane->device;
	k.context = e->lane->context;
	k.stream = e->lane->stream;
	k.kind = (uint8_t)a->kind;
	k.link = (uint8_t)a->link;
	k.time = (uint8_t)a->time;
	if (e->lane->session->has_hello)
		k.source = (uint8_t)e->lane->session->hello.time_source;
	if (a->has_node)
		k.has |= SAMPLE_IS_NODE;
	if (a->time == JOIN_TIME_VALID || (a->time == JOIN_TIME_UNANCHORED && a->end >= a->start))
		k.has |= SAMPLE_HAS_TIME;
	rc = label_process(s, e->lane->session->proc, &k);
	if (!rc)
		rc = exec_stack(s, a, &k);
	if (!rc)
		rc = leaf_of(s, e, &k);
	if (!rc)
		rc = delay_of(s, a, &k, &first, &delay);
	if (rc)
		return rc;
	to = hmap__put(&s->map, &k);
	if (!to)
		return -ENOMEM;
	if (!to->number)
		to->number = (uint32_t)s->map.n;
	if (first)
		*first = to->number;
	add(to, SAMPLE_EXECUTIONS, 1);
	add(to, SAMPLE_GPU_NS, k.has & SAMPLE_HAS_TIME ? a->end - a->start : 0);
	add(to, SAMPLE_DELAY_NS, delay);
	add(to, SAMPLE_BYTES, a->kind == GPUBPF_ACTIVITY_KERNEL ? 0 : a->bytes);
	/* the host's calls are counted one by one, below; here are those that nobody else saw */
	if (first && a->call.of_shim && a->call.population <= 1)
		add(to, SAMPLE_LAUNCHES, 1);
	return 0;
}

static int add_execs(struct samples *s)
{
	struct trace_exec e;
	int rc = 0;

	for (size_t i = 0; !rc && i < trace__execs(s->t); i++) {
		trace__exec(s->t, i, &e);
		progress__add(&s->progress, 1);
		if (!e.lane->session->proc->selected)
			continue;
		if (e.a.kind == GPUBPF_ACTIVITY_KERNEL || e.a.kind == GPUBPF_ACTIVITY_COPY ||
		    e.a.kind == GPUBPF_ACTIVITY_SET)
			rc = add_exec(s, &e);
		else
			s->left_out++;
	}
	return rc;
}

/* ---- Calls that launch ---- */

static int leaf_of_call(struct samples *s, const struct trace_call *c, struct sample_key *k)
{
	uint32_t leaf;
	int rc;

	if (!c->kernel)
		return 0;
	rc = frame(s, c->kernel->display, &leaf);
	k->leaf = rc ? 0 : leaf + 1;
	k->kind = GPUBPF_ACTIVITY_KERNEL;
	if (c->kernel->key.has & LAUNCH_HAS_GRID) {
		k->has |= SAMPLE_HAS_GRID;
		memcpy(k->grid, c->kernel->key.grid, sizeof(k->grid));
	}
	if (c->kernel->key.has & LAUNCH_HAS_BLOCK) {
		k->has |= SAMPLE_HAS_BLOCK;
		memcpy(k->block, c->kernel->key.block, sizeof(k->block));
	}
	return rc;
}

static int add_call(const struct trace_call *c, void *arg)
{
	struct samples *s = arg;
	const struct view *v = c->v;
	struct caller who = { .tgid = v->c->tgid,
			      .tid = v->thread->tid,
			      .entry = v->c->t_entry,
			      .api = v->p->api->symbol,
			      .api_id = v->c->api,
			      .of_host = true };
	struct sample_key k = { .has = SAMPLE_HAS_THREAD };
	struct sample *to;
	int rc;

	progress__add(&s->progress, 1);
	if (v->c->depth || !v->thread->selected || !c->has_work || v->p->population > 1)
		return 0;
	/* a graph's launch is no launch of any of its nodes */
	if (v->p->population == 0 && c->work < s->nsample_of && s->sample_of[c->work]) {
		add(hmap__at(&s->map, s->sample_of[c->work] - 1), SAMPLE_LAUNCHES, 1);
		return 0;
	}
	k.tid = who.tid;
	k.outcome = (uint8_t)(v->outcome + 1);
	if (s->t->in.join && c->work < join__host_calls(s->t->in.join))
		k.fate = (uint8_t)(join__host_call_fate(s->t->in.join, c->work) + 1);
	else if (v->captured)
		k.fate = JOIN_FATE_CAPTURED + 1;
	rc = label_process(s, v->proc, &k);
	if (!rc)
		rc = stack_of(s, &who, &k);
	if (!rc)
		rc = leaf_of_call(s, c, &k);
	to = rc ? NULL : hmap__put(&s->map, &k);
	if (!to)
		return -ENOMEM;
	if (!to->number)
		to->number = (uint32_t)s->map.n;
	add(to, SAMPLE_LAUNCHES, 1);
	return 0;
}

/* They may stand before or behind their calls. */
static int read_stacks(struct samples *s, struct err *err)
{
	const struct gpubpf_rec *rec;
	int rc = capture_reader__rewind(s->t->in.reader);

	while (!rc && (rc = capture_reader__next(s->t->in.reader, &rec, err)) > 0)
		rc = stack_table__add(&s->user, rec);
	return rc;
}

int samples__read(struct samples *s, struct trace *t, FILE *progress, struct err *err)
{
	const struct trace_visitor v = { .call = add_call, .arg = s };
	uint32_t none;
	int rc;

	memset(s, 0, sizeof(*s));
	s->t = t;
	progress__begin(&s->progress, progress, "export", trace__execs(t) + t->m->calls);
	s->has_device = t->in.join && t->in.ledger.device.state != LEDGER_DEVICE_FAILED;
	stack_table__init(&s->user);
	hmap__init(&s->map, sizeof(struct sample_key), sizeof(struct sample));
	hmap__init(&s->call_stacks, sizeof((struct call_stack){ 0 }.key), sizeof(struct call_stack));
	hmap__init(&s->processes, sizeof((struct process){ 0 }.key), sizeof(struct process));
	s->leaf_of_key = calloc((t->in.join ? join__keys(t->in.join) : 0) + 1, sizeof(*s->leaf_of_key));
	rc = s->leaf_of_key ? blobs__text(&s->texts, "", &none) : -ENOMEM;
	s->has_stacks = t->in.stacks.calls;
	if (!rc && s->has_stacks)
		rc = read_stacks(s, err);
	if (!rc)
		rc = add_execs(s);
	if (!rc)
		rc = trace__pass(t, &v, err);
	progress__end(&s->progress);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}

void samples__clear(struct samples *s)
{
	stack_table__clear(&s->user);
	hmap__clear(&s->map);
	hmap__clear(&s->call_stacks);
	hmap__clear(&s->processes);
	free(s->leaf_of_key);
	blobs__clear(&s->texts);
	blobs__clear(&s->frames);
	blobs__clear(&s->stacks);
	free(s->sample_of);
}
