/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/procs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pid_slot {
	uint64_t tgid;
	struct proc *newest;
	uint64_t lives;
};

void procs__init(struct procs *s, const struct procs_filter *filter)
{
	memset(s, 0, sizeof(*s));
	hmap__init(&s->by_pid, 8, sizeof(struct pid_slot));
	hmap__init(&s->lives, 16, sizeof(struct proc));
	hmap__init(&s->threads, 16, sizeof(struct thread));
	s->filter = *filter;
}

void procs__clear(struct procs *s)
{
	for (size_t i = 0; i < s->threads.n; i++)
		free(((struct thread *)hmap__at(&s->threads, i))->stats);
	hmap__clear(&s->by_pid);
	hmap__clear(&s->lives);
	hmap__clear(&s->threads);
}

static bool in_list(const uint32_t *list, size_t n, uint32_t v)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == v)
			return true;
	return n == 0;
}

static struct pid_slot *slot_of(struct procs *s, uint32_t tgid)
{
	uint64_t key = tgid;

	return hmap__put(&s->by_pid, &key);
}

static struct proc *new_life(struct procs *s, struct pid_slot *slot, uint64_t since)
{
	uint64_t key[2] = { slot->tgid, slot->lives };
	struct proc *p = hmap__put(&s->lives, key);

	if (!p)
		return NULL;
	slot->lives++;
	p->tgid = (uint32_t)slot->tgid;
	p->since = since;
	p->first = UINT64_MAX;
	p->older = slot->newest;
	p->selected = in_list(s->filter.pids, s->filter.npids, p->tgid);
	slot->newest = p;
	return p;
}

struct proc *procs__at(struct procs *s, uint32_t tgid, uint64_t t)
{
	struct pid_slot *slot = slot_of(s, tgid);
	struct proc *p;

	if (!slot)
		return NULL;
	p = slot->newest;
	if (!p)
		return new_life(s, slot, 0);
	if (p->end != PROC_RUNNING && t > p->ended)
		return new_life(s, slot, p->ended);
	while (p->older && t < p->since)
		p = p->older;
	return p;
}

struct thread *procs__thread(struct procs *s, const struct gpubpf_call *c)
{
	struct thread **recent = &s->recent[c->tid % 256], *th = *recent;
	uint64_t key[2] = { 0, c->tid };
	struct proc *p;

	if (th && th->tid == c->tid && th->proc->tgid == c->tgid && c->t_entry >= th->proc->since &&
	    th->proc->end == PROC_RUNNING)
		return th;
	p = procs__at(s, c->tgid, c->t_entry);
	if (!p)
		return NULL;
	if (c->t_entry < p->first)
		p->first = c->t_entry;
	key[0] = (uintptr_t)p;
	th = hmap__put(&s->threads, key);
	if (!th)
		return NULL;
	if (!th->proc) {
		th->proc = p;
		th->tid = c->tid;
		th->selected = p->selected && in_list(s->filter.tids, s->filter.ntids, c->tid);
		p->threads++;
	}
	*recent = th;
	return th;
}

static struct proc *end_life(struct proc *p, enum proc_end how, uint64_t t)
{
	if (p->end != PROC_RUNNING)
		return NULL;
	p->end = how;
	p->ended = t;
	return p;
}

static int task_fork(struct procs *s, const struct gpubpf_task *r, struct proc **over)
{
	struct pid_slot *slot = slot_of(s, r->tgid);
	struct proc *parent = procs__at(s, r->peer, r->time), *p = slot ? slot->newest : NULL;

	if (!slot || !parent)
		return -ENOMEM;
	/* the child's first call can stand before this record */
	if (!p || p->first < r->time || p->parent || p->end != PROC_RUNNING) {
		if (p)
			*over = end_life(p, PROC_REPLACED, r->time);
		p = new_life(s, slot, r->time);
		if (!p)
			return -ENOMEM;
	}
	p->parent = parent;
	p->forked_at = r->time;
	p->start_time = r->start_time;
	p->view_tgid = r->view_tgid;
	memcpy(p->comm, r->comm, sizeof(p->comm));
	return 0;
}

static int task_seen(struct procs *s, struct proc *p, const struct gpubpf_task *r, struct proc **over)
{
	/* the same pid with another start time is another process */
	if (p->start_time && r->start_time && p->start_time != r->start_time && p->end == PROC_RUNNING) {
		*over = end_life(p, PROC_REPLACED, r->time);
		p = new_life(s, slot_of(s, r->tgid), r->time);
		if (!p)
			return -ENOMEM;
	}
	if (!p->comm[0] || r->tid == r->tgid)
		memcpy(p->comm, r->comm, sizeof(p->comm));
	p->start_time = r->start_time;
	p->view_tgid = r->view_tgid;
	return 0;
}

int procs__task(struct procs *s, const struct gpubpf_task *r, struct proc **over)
{
	struct proc *p, *next;

	*over = NULL;
	if (r->event == GPUBPF_TASK_FORK)
		return task_fork(s, r, over);
	if (r->event == GPUBPF_TASK_THREAD_EXIT)
		return 0;
	p = procs__at(s, r->tgid, r->time);
	if (!p)
		return -ENOMEM;
	switch (r->event) {
	case GPUBPF_TASK_SEEN:
		return task_seen(s, p, r, over);
	case GPUBPF_TASK_EXEC:
		if (p->end == PROC_RUNNING &&
		    !p->threads) { /* a shell's child, or a command that was launched */
			p->since = r->time;
			p->forked_at = 0; /* nothing of the parent's is left */
			p->start_time = r->start_time;
			p->view_tgid = r->view_tgid;
			memcpy(p->comm, r->comm, sizeof(p->comm));
			return 0;
		}
		*over = end_life(p, PROC_EXECED, r->time);
		if (!*over)
			return 0;
		next = new_life(s, slot_of(s, r->tgid), r->time);
		if (!next)
			return -ENOMEM;
		next->start_time = r->start_time;
		next->view_tgid = r->view_tgid;
		memcpy(next->comm, r->comm, sizeof(next->comm));
		return 0;
	case GPUBPF_TASK_EXIT:
		if (!p->comm[0])
			memcpy(p->comm, r->comm, sizeof(p->comm));
		*over = end_life(p, PROC_EXITED, r->time);
		return 0;
	}
	return 0;
}
