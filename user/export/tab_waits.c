// SPDX-License-Identifier: GPL-2.0-or-later
/* Waits in futexes inside calls, and who ended them. */
#include <string.h>

#include "export/tables.h"
#include "latency/futexes.h"

#define ENDS "in_call|outside_calls|unsure|observer|ended|untraced|kernel|timeout|interrupt|unknown"

static const struct tcol wait_cols[] = {
	TCOL("pid", NUMBER, "of the thread that waited, as in processes"),
	TCOL("tid", NUMBER, "of the thread that waited"),
	TCOL("call_entry_ns", TIME, "entry of the call that it was in: with pid and tid it says which"),
	TCOL_R("api", "apis", "of that call"),
	TCOL("start_ns", TIME, "it left its processor"),
	TCOL("end_ns", TIME, "it was ready to run"),
	TCOL("duration_ns", DURATION, "between the two; the waits of a call are futex_ns of its call_times"),
	TCOL("futex", HEX, "address"),
	TCOL_W("woken", ENDS,
	       "who woke it: a traced thread in a call, outside of calls, or either; gpubpf's own; one that ended; an untraced one …"),
	TCOL_A("waker_pid", NUMBER, "of the thread that woke it"),
	TCOL_A("waker_tid", NUMBER, "of the thread that woke it"),
	TCOL_A("waker_name", TEXT, "its name"),
	TCOL_WA("by", "futex|exit|other|kernel", "what it was at"),
	TCOL_RA("waker_api", "apis", "of the call that it was in"),
	TCOL_A("waker_call_entry_ns", TIME, "of that call"),
	{ 0 },
};

int pass_wait(struct tables *x, const struct gpubpf_waker *w)
{
	struct trow *r = tables__begin(x, &table_call_waits);
	uint64_t wall = 0;
	enum wait_end end;
	bool who;

	if (!inspect_wall(&x->t->in, w->t_wake, &wall))
		wall = 0;
	end = wait_end_of(w, wall);
	who = wait_end_has_waker(end);
	trow__number(r, w->tgid);
	trow__number(r, w->tid);
	trow__number(r, w->t_entry);
	trow__number(r, w->api);
	trow__number(r, w->t_wait);
	trow__number(r, w->t_wake);
	trow__number(r, wait_ns(w));
	trow__number(r, w->futex);
	trow__text(r, wait_end_names[end]);
	trow__if(r, who, w->waker_tgid);
	trow__if(r, who, w->waker_tid);
	trow__text(r, who && w->comm[0] ? w->comm : NULL);
	trow__text(r, who ? wait_by_name(w->by) : NULL);
	trow__if(r, end == WAIT_END_IN_CALL, w->waker_api);
	trow__if(r, end == WAIT_END_IN_CALL, w->waker_entry);
	return tables__put(x);
}

/* What the recorder could tell of calls' time it wrote down. */
static const char *no_waits(const struct trace *t)
{
	const Gpubpf__Latency *l = t->in.meta->latency;

	if (t->in.waits)
		return NULL;
	if (table_no_host(t))
		return table_no_host(t);
	if (!l)
		return "recorded without --latency";
	for (size_t i = 0; i < l->n_cause; i++)
		if (strcmp(l->cause[i], "wakers") == 0)
			return NULL;
	for (size_t i = 0; i < l->n_absent; i++)
		if (strcmp(l->absent[i]->what, "wakers") == 0)
			return l->absent[i]->why;
	return "the recorder did not look for them";
}

static bool nothing(const struct trace *t)
{
	return !t->in.waits;
}

const struct table table_call_waits = {
	.name = "call_waits",
	.meaning = "one row per wait in a futex inside a call that `record --latency` measured",
	.cols = wait_cols,
	.unobserved = no_waits,
	.nothing = nothing
};
