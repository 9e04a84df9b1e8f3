/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who made the calls (record --stacks). Stacks with the same functions are one, whatever the lines were. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/jsonsafe.h"
#include "latency/lat.h"
#include "stacks/folds.h"
#include "stacks/quality.h"
#include "stacks/table.h"
#include "util/err.h"
#include "util/fmt.h"

#define FRAMES_SHOWN 16
#define GROUPS_SHOWN 5

struct group {
	uint64_t key[2]; /* fold, entry point */
	const struct fold *fold;
	uint32_t chain; /* one of them */
	uint64_t calls, timed, ns, max;
	uint64_t quality[GPUBPF_STACK_QUALITIES], late;
};

struct lat_stacks {
	struct stack_table table;
	struct folds folds;
	struct hmap groups;
	uint64_t calls, quality[GPUBPF_STACK_QUALITIES], late;
};

static bool unwound(const struct latency *l)
{
	return l->in.meta->stacks && !strcmp(l->in.meta->stacks->how, "dwarf");
}

int lat_stacks__open(struct latency *l, struct err *err)
{
	const struct gpubpf_rec *rec;
	struct lat_stacks *s;
	int rc = 0;

	if (!l->in.meta->stacks)
		return 0;
	s = l->stacks = calloc(1, sizeof(*s));
	if (!s)
		return err_set(err, -ENOMEM, "%s: out of memory", l->in.path);
	stack_table__init(&s->table);
	folds__init(&s->folds);
	hmap__init(&s->groups, 2 * sizeof(uint64_t), sizeof(struct group));
	/* they may stand before or behind their calls */
	while (!rc && (rc = capture_reader__next(l->in.reader, &rec, err)) > 0)
		rc = stack_table__add(&s->table, rec);
	if (rc == -ENOMEM)
		return err_set(err, rc, "%s: out of memory", l->in.path);
	return rc < 0 ? err_prefix(err, rc, "%s", l->in.path) : capture_reader__rewind(l->in.reader);
}

int lat_stacks__call(struct latency *l, const struct view *v)
{
	struct lat_stacks *s = l->stacks;
	const struct stack_call *call;
	const struct fold *fold;
	struct group *g;

	if (!s)
		return 0;
	call = stack_table__call(&s->table, v->c->tgid, v->c->tid, v->c->t_entry);
	if (!call)
		return 0;
	fold = folds__of(&s->folds, &s->table, call->chain);
	g = fold ? hmap__put(&s->groups, (uint64_t[2]){ fold__id(fold), v->c->api }) : NULL;
	if (!g)
		return -ENOMEM;
	g->fold = fold;
	g->chain = call->chain;
	g->calls++;
	s->calls++;
	g->quality[call->quality]++;
	s->quality[call->quality]++;
	g->late += (call->flags & GPUBPF_STACK_LATE) != 0;
	s->late += (call->flags & GPUBPF_STACK_LATE) != 0;
	if (!v->timed)
		return 0;
	g->timed++;
	g->ns += v->ns;
	g->max = v->ns > g->max ? v->ns : g->max;
	return 0;
}

/* ---- As a table ---- */

const struct column lat_stack_columns[] = {
	{ "api", "entry point", UNIT_TEXT, "entry point of the driver", false },
	{ "calls", "calls", UNIT_COUNT, "calls whose stack was taken and is this", false },
	{ "own_ns", "in all", UNIT_NS, "time inside those that were measured", false },
	{ "own_max_ns", "longest", UNIT_NS, "of them", false },
	{ "measured", NULL, UNIT_COUNT, "of them, with their return", false },
	{ "complete", NULL, UNIT_COUNT, "stacks that go down to where their thread began", false },
	{ "truncated", NULL, UNIT_COUNT, "that go on behind a limit", false },
	{ "broken", NULL, UNIT_COUNT, "that end where frame pointers or unwind information are missing",
	  false },
	{ "late", NULL, UNIT_COUNT, "resolved when their process was gone", false },
	{ "stack", "stack", UNIT_TEXT, "functions from the outermost, with semicolons between them", false },
	{ 0 }
};

int build_lat_stacks(struct latency *l, struct rows *rows)
{
	for (size_t i = 0; l->stacks && i < l->stacks->groups.n; i++) {
		const struct group *g = hmap__at(&l->stacks->groups, i);

		if (rows__add(rows) || row__text(rows, latency__api_name(l, (unsigned)g->key[1])))
			return -ENOMEM;
		row__number(rows, g->calls);
		row__maybe(rows, g->timed, true, g->ns);
		row__maybe(rows, g->timed, true, g->max);
		row__number(rows, g->timed);
		for (unsigned q = 1; q < GPUBPF_STACK_QUALITIES; q++)
			row__number(rows, g->quality[q]);
		row__number(rows, g->late);
		if (row__text(rows, fold__text(g->fold)))
			return -ENOMEM;
	}
	return 0;
}

int latency_folded(struct latency *l, bool time, FILE *f)
{
	for (size_t i = 0; l->stacks && i < l->stacks->groups.n; i++) {
		const struct group *g = hmap__at(&l->stacks->groups, i);

		fmt_put_safe(f, fold__text(g->fold));
		fprintf(f, "%s%s %" PRIu64 "\n", fold__text(g->fold)[0] ? ";" : "",
			latency__api_name(l, (unsigned)g->key[1]), time ? g->ns : g->calls);
	}
	return 0;
}

/* ---- In words ---- */

static int frames_text(const struct latency *l, uint32_t id, const char *indent, FILE *f)
{
	const struct stack_chain *c = stack_table__chain(&l->stacks->table, id);

	for (uint32_t i = 0; c && i < c->n && i < FRAMES_SHOWN; i++) {
		char *text = stack_frame__text(stack_table__frame(&l->stacks->table, c->frames[i]), true);

		if (!text)
			return -ENOMEM;
		fputs(indent, f);
		fmt_put_safe(f, text);
		putc('\n', f);
		free(text);
	}
	if (c && c->n > FRAMES_SHOWN)
		fprintf(f, "%s%" PRIu32 " more (--json has all)\n", indent, c->n - FRAMES_SHOWN);
	return 0;
}

static void qualities(const struct latency *l, const uint64_t *quality, uint64_t late, FILE *f)
{
	const char *lead = "";
	char n[FMT_NUM];

	for (unsigned q = 1; q < GPUBPF_STACK_QUALITIES; q++) {
		if (!quality[q])
			continue;
		fprintf(f, "%s%s %s", lead, fmt_count(n, quality[q]), stack_quality_word(q, unwound(l)));
		lead = ", ";
	}
	if (late)
		fprintf(f, "; %s resolved late", fmt_count(n, late));
}

static int by_time(const void *x, const void *y)
{
	const struct group *a = *(const struct group *const *)x, *b = *(const struct group *const *)y;

	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return (a->key[0] > b->key[0]) - (a->key[0] < b->key[0]);
}

int latency_stacks_text(struct latency *l, FILE *f, bool color)
{
	const Gpubpf__Stacks *m = l->in.meta->stacks;
	struct lat_stacks *s = l->stacks;
	const struct group **order;
	char a[FMT_NUM], b[FMT_NUM], c[FMT_NUM];
	size_t n = l->o.rows && l->o.rows < GROUPS_SHOWN ? (size_t)l->o.rows : GROUPS_SHOWN;
	int rc = 0;

	if (!s || !s->calls)
		return 0;
	order = calloc(s->groups.n, sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < s->groups.n; i++)
		order[i] = hmap__at(&s->groups, i);
	qsort(order, s->groups.n, sizeof(*order), by_time);
	if (!l->o.rows || n > s->groups.n)
		n = s->groups.n;
	fprintf(f, "\n%sStacks%s: of %s %s", color ? "\033[1m" : "", color ? "\033[0m" : "",
		fmt_count(a, s->calls), s->calls == 1 ? "call" : "calls");
	if (m->has_slow_ns)
		fprintf(f, ", those of %s and more", fmt_ns(a, m->slow_ns));
	else if (m->has_one_of && m->one_of > 1)
		fprintf(f, ", about one in %" PRIu32, m->one_of);
	fputs("; most of the time first\n  ", f);
	qualities(l, s->quality, s->late, f);
	putc('\n', f);
	for (size_t i = 0; i < n && !rc; i++) {
		const struct group *g = order[i];

		fprintf(f, "  %s: %s %s", latency__api_name(l, (unsigned)g->key[1]), fmt_count(a, g->calls),
			g->calls == 1 ? "call" : "calls");
		if (g->timed)
			fprintf(f, ", %s in all, the longest %s", fmt_ns(b, g->ns), fmt_ns(c, g->max));
		fputs(": ", f);
		qualities(l, g->quality, g->late, f);
		putc('\n', f);
		rc = frames_text(l, g->chain, "      ", f);
	}
	if (s->groups.n > n)
		fprintf(f, "  %zu more (--rows 0, --csv stacks and --folded show all)\n", s->groups.n - n);
	free(order);
	return rc;
}

static const struct stack_call *of_pick(const struct latency *l, const struct lat_pick *p)
{
	return l->stacks && !p->of_shim ? stack_table__call(&l->stacks->table, p->tgid, p->tid, p->entry)
					: NULL;
}

struct lat_pick lat_pick_of_call(const struct join_host_call *c)
{
	return (struct lat_pick){
		.tgid = c->proc->tgid, .tid = c->tid, .entry = c->entry, .of_shim = c->of_shim
	};
}

int latency_stack_story(const struct latency *l, const struct lat_pick *p, FILE *f)
{
	const struct stack_call *call = of_pick(l, p);

	if (!call)
		return 0;
	fprintf(f, "    %20scalled by (%s%s):\n", "", stack_quality_word(call->quality, unwound(l)),
		call->flags & GPUBPF_STACK_LATE ? ", resolved late" : "");
	return frames_text(l, call->chain, "                          ", f);
}

static json_t *frame_json(const struct stack_frame *fr)
{
	json_t *o = json_object();

	json_put_text(o, "function", fr->function[0] ? fr->function : NULL);
	json_put_text(o, "file", fr->module[0] ? fr->module : NULL);
	json_put_text(o, "source", fr->source[0] ? fr->source : NULL);
	json_object_set_new(o, "inline", json_boolean(fr->flags & GPUBPF_STACK_INLINE));
	json_put_if(o, "offset", !fr->function[0], fr->offset);
	return o;
}

json_t *latency_stack_json(const struct latency *l, const struct lat_pick *p)
{
	const struct stack_call *call = of_pick(l, p);
	const struct stack_chain *c;
	json_t *o, *frames;

	if (!call)
		return NULL;
	c = stack_table__chain(&l->stacks->table, call->chain);
	o = json_object();
	frames = json_array();
	json_object_set_new(o, "quality", json_string(stack_quality_keys[call->quality]));
	json_object_set_new(o, "late", json_boolean(call->flags & GPUBPF_STACK_LATE));
	for (uint32_t i = 0; c && i < c->n; i++)
		json_array_append_new(frames,
				      frame_json(stack_table__frame(&l->stacks->table, c->frames[i])));
	json_object_set_new(o, "frames", frames);
	return o;
}

void lat_stacks__free(struct lat_stacks *s)
{
	if (!s)
		return;
	folds__clear(&s->folds);
	stack_table__clear(&s->table);
	hmap__clear(&s->groups);
	free(s);
}
