// SPDX-License-Identifier: GPL-2.0-or-later
/* Who made calls: stacks of the application, each distinct one once. */
#include <errno.h>
#include <stdlib.h>

#include "export/tables.h"
#include "stacks/quality.h"
#include "stacks/table.h"

static const char *no_stacks(const struct trace *t)
{
	if (t->in.stacks.calls)
		return NULL;
	return table_no_host(t) ? table_no_host(t) : "recorded without --stacks";
}

static bool nothing(const struct trace *t)
{
	return !t->in.stacks.calls;
}

/* ---- stacks ---- */

static const struct tcol stack_cols[] = {
	TCOL("id", ID, "number that the capture has for it"),
	TCOL("frames", COUNT, "functions, those that are part of another one too"),
	TCOL("folded", TEXT,
	     "from the outermost function to the caller of the entry point, with ; between them"),
	{ 0 },
};

/* Those of calls are left out: they grow with the capture, and have a table of their own. */
static int keep(const struct gpubpf_rec *rec, void *arg)
{
	if (rec->kind == GPUBPF_REC_STACK && rec->flags & (GPUBPF_STACK_CHAIN | GPUBPF_STACK_FRAME))
		return stack_table__add(arg, rec);
	return 0;
}

static int stack_rows(struct tables *x, const struct table *t)
{
	struct stack_table s;
	const struct trace_visitor v = { .record = keep, .arg = &s };
	int rc;

	if (nothing(x->t))
		return 0;
	stack_table__init(&s);
	rc = trace__pass(x->t, &v, x->err);
	for (size_t i = 0; !rc && i < s.chains.n; i++) {
		const struct stack_chain *c = hmap__at(&s.chains, i);
		char *folded = stack_chain__folded(&s, c);
		struct trow *r = tables__begin(x, t);

		trow__number(r, c->id);
		trow__number(r, c->n);
		trow__text(r, folded);
		rc = folded ? tables__put(x) : -ENOMEM;
		free(folded);
	}
	stack_table__clear(&s);
	return rc;
}

const struct table table_stacks = { .name = "stacks",
				    .meaning = "one row per distinct stack of functions that led to a call",
				    .cols = stack_cols,
				    .rows = stack_rows,
				    .unobserved = no_stacks };

/* ---- call_stacks ---- */

static const struct tcol call_stack_cols[] = {
	TCOL("pid", NUMBER, "that made the call, as in processes"),
	TCOL("tid", NUMBER, "that made the call"),
	TCOL("call_entry_ns", TIME, "entry of the call: with pid and tid it says which"),
	TCOL_R("api", "apis", "of that call"),
	TCOL_RA("stack", "stacks", "that led to it; absent: not one function is known"),
	TCOL_WA("quality", "complete|truncated|broken", "how far down the stack goes"),
	TCOL_W("taken", "entry|return", "when, of the call"),
	TCOL("late", BOOL, "the process was gone when its functions were looked up"),
	{ 0 },
};

int pass_stack(struct tables *x, const struct gpubpf_stack *s)
{
	struct trow *r;

	if (s->flags & (GPUBPF_STACK_CHAIN | GPUBPF_STACK_FRAME))
		return 0;
	r = tables__begin(x, &table_call_stacks);
	trow__number(r, s->tgid);
	trow__number(r, s->tid);
	trow__number(r, s->t_entry);
	trow__number(r, s->api);
	trow__if(r, s->chain, s->chain);
	trow__text(r, s->quality < GPUBPF_STACK_QUALITIES ? stack_quality_keys[s->quality] : NULL);
	trow__text(r, s->flags & GPUBPF_STACK_ENTRY ? "entry" : "return");
	trow__number(r, (s->flags & GPUBPF_STACK_LATE) != 0);
	return tables__put(x);
}

const struct table table_call_stacks = { .name = "call_stacks",
					 .meaning = "one row per call whose stack was taken",
					 .cols = call_stack_cols,
					 .unobserved = no_stacks,
					 .nothing = nothing };
