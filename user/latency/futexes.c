/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "latency/futexes.h"

#include <errno.h>
#include <stdlib.h>

/* The limit counts from before the wait, or on a clock that is set while the capture runs. */
#define LIMIT_SLACK_NS 1000000

const char *const wait_end_names[WAIT_ENDS] = {
	[WAIT_END_IN_CALL] = "in_call",     [WAIT_END_OUTSIDE] = "outside_calls",
	[WAIT_END_UNSURE] = "unsure",       [WAIT_END_OBSERVER] = "observer",
	[WAIT_END_ENDED] = "ended",         [WAIT_END_UNTRACED] = "untraced",
	[WAIT_END_KERNEL] = "kernel",       [WAIT_END_TIMEOUT] = "timeout",
	[WAIT_END_INTERRUPT] = "interrupt", [WAIT_END_UNKNOWN] = "unknown",
};

const char *const wait_end_words[WAIT_ENDS] = {
	[WAIT_END_IN_CALL] = "in",
	[WAIT_END_OUTSIDE] = "outside of CUDA calls",
	[WAIT_END_UNSURE] = "outside of CUDA calls, or in a launch that was not measured",
	[WAIT_END_OBSERVER] = "gpubpf's own thread in the process",
	[WAIT_END_ENDED] = "as it ended",
	[WAIT_END_UNTRACED] = "no traced thread: no CUDA call of it was seen",
	[WAIT_END_KERNEL] = "a thread of the kernel",
	[WAIT_END_TIMEOUT] = "no thread: its time limit was over",
	[WAIT_END_INTERRUPT] = "no thread: an interrupt",
	[WAIT_END_UNKNOWN] = "someone, who is not known",
};

const char *wait_by_name(unsigned by)
{
	static const char *const names[] = { [GPUBPF_WAKER_BY_FUTEX] = "futex",
					     [GPUBPF_WAKER_BY_EXIT] = "exit",
					     [GPUBPF_WAKER_BY_OTHER] = "other",
					     [GPUBPF_WAKER_BY_KERNEL] = "kernel" };

	return by < sizeof(names) / sizeof(names[0]) ? names[by] : NULL;
}

static bool limit_over(const struct gpubpf_waker *w, uint64_t wall)
{
	if (!(w->flags & GPUBPF_WAKER_LIMIT))
		return false;
	if (w->flags & GPUBPF_WAKER_RELATIVE)
		return wait_ns(w) + LIMIT_SLACK_NS >= w->limit;
	if (w->flags & GPUBPF_WAKER_REALTIME)
		return wall && wall + LIMIT_SLACK_NS >= w->limit;
	return w->t_wake >= w->limit;
}

static enum wait_end of_thread(const struct gpubpf_waker *w)
{
	if (w->flags & GPUBPF_WAKER_TRACER)
		return WAIT_END_OBSERVER;
	if (w->by == GPUBPF_WAKER_BY_EXIT) /* the list of traced threads has it no more */
		return WAIT_END_ENDED;
	if (w->flags & GPUBPF_WAKER_IN_CALL)
		return WAIT_END_IN_CALL;
	if (w->flags & GPUBPF_WAKER_UNSURE)
		return WAIT_END_UNSURE;
	if (w->flags & GPUBPF_WAKER_TRACED)
		return WAIT_END_OUTSIDE;
	return w->by == GPUBPF_WAKER_BY_KERNEL ? WAIT_END_KERNEL : WAIT_END_UNTRACED;
}

enum wait_end wait_end_of(const struct gpubpf_waker *w, uint64_t wall)
{
	if (w->how == GPUBPF_WAKER_THREAD)
		return of_thread(w);
	if (w->how == GPUBPF_WAKER_INTERRUPT)
		return limit_over(w, wall) ? WAIT_END_TIMEOUT : WAIT_END_INTERRUPT;
	return WAIT_END_UNKNOWN;
}

struct thread_waits {
	uint64_t thread;
	uint64_t t_entry; /* of the call that they are of */
	struct gpubpf_waker *v;
	size_t n, room;
};

void futex_waits__init(struct futex_waits *w)
{
	*w = (struct futex_waits){ 0 };
	hmap__init(&w->of, sizeof(uint64_t), sizeof(struct thread_waits));
}

void futex_waits__clear(struct futex_waits *w)
{
	for (size_t i = 0; i < w->of.n; i++)
		free(((struct thread_waits *)hmap__at(&w->of, i))->v);
	hmap__clear(&w->of);
}

int futex_waits__add(struct futex_waits *w, const struct gpubpf_waker *rec)
{
	uint64_t thread = (uint64_t)rec->tgid << 32 | rec->tid;
	struct thread_waits *t = hmap__put(&w->of, &thread);

	if (!t)
		return -ENOMEM;
	if (t->t_entry != rec->t_entry)
		t->n = 0;
	t->t_entry = rec->t_entry;
	if (t->n == FUTEX_WAITS_MAX) {
		w->cut++;
		return 0;
	}
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 4;
		struct gpubpf_waker *v = realloc(t->v, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		t->v = v;
		t->room = room;
	}
	t->v[t->n++] = *rec;
	return 0;
}

const struct gpubpf_waker *futex_waits__of(const struct futex_waits *w, const struct gpubpf_call *c,
					   size_t *n)
{
	uint64_t thread = (uint64_t)c->tgid << 32 | c->tid;
	const struct thread_waits *t;

	*n = 0;
	if (c->depth || !w->of.n)
		return NULL;
	t = hmap__get(&w->of, &thread);
	if (!t || t->t_entry != c->t_entry || !t->n)
		return NULL;
	*n = t->n;
	return t->v;
}
