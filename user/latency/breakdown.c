/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "latency/breakdown.h"

#include <errno.h>
#include <string.h>

const char *const breakdown_names[BREAKDOWN_CAUSES] = {
	[BREAKDOWN_ON_CPU] = "on_cpu",
	[BREAKDOWN_RUNQUEUE] = "runqueue",
	[BREAKDOWN_THROTTLED] = "throttled",
	[BREAKDOWN_FUTEX] = "futex",
	[BREAKDOWN_IOCTL_NVIDIA] = "ioctl_nvidia",
	[BREAKDOWN_IOCTL] = "ioctl",
	[BREAKDOWN_POLL] = "poll",
	[BREAKDOWN_SLEEP] = "sleep",
	[BREAKDOWN_FAULT] = "page_fault",
	[BREAKDOWN_OTHER] = "other",
	[BREAKDOWN_UNACCOUNTED] = "unaccounted",
};

const char *const breakdown_words[BREAKDOWN_CAUSES] = {
	[BREAKDOWN_ON_CPU] = "on a processor",
	[BREAKDOWN_RUNQUEUE] = "waiting for a processor",
	[BREAKDOWN_THROTTLED] = "throttled by its control group's quota",
	[BREAKDOWN_FUTEX] = "blocked in futex",
	[BREAKDOWN_IOCTL_NVIDIA] = "blocked in ioctl on a GPU device",
	[BREAKDOWN_IOCTL] = "blocked in another ioctl",
	[BREAKDOWN_POLL] = "blocked in poll, select or epoll",
	[BREAKDOWN_SLEEP] = "asleep",
	[BREAKDOWN_FAULT] = "blocked in a page fault",
	[BREAKDOWN_OTHER] = "blocked in something else",
	[BREAKDOWN_UNACCOUNTED] = "unaccounted",
};

_Static_assert(BREAKDOWN_FUTEX + GPUBPF_WAIT_OTHER == BREAKDOWN_OTHER, "in the order of enum gpubpf_wait");

static void fill(struct breakdown *b, const struct gpubpf_latency *rec, uint64_t from, uint64_t to,
		 const struct gpubpf_latency_part *p, const struct gpubpf_latency_off *off)
{
	uint64_t sum;

	*b = (struct breakdown){
		.duration = to > from ? to - from : 0,
		.has_irq = rec->flags & GPUBPF_LATENCY_IRQ,
		.has_throttled = rec->flags & GPUBPF_LATENCY_THROTTLED,
		.irq = p->irq,
		.faults = p->faults,
		.major_faults = p->major_faults,
	};
	b->ns[BREAKDOWN_ON_CPU] = sum = p->on_cpu;
	if (off) {
		b->ns[BREAKDOWN_RUNQUEUE] = off->runqueue;
		b->ns[BREAKDOWN_THROTTLED] = off->throttled;
		sum += off->runqueue + off->throttled;
		/* a later recorder's causes are other ones here */
		for (unsigned i = 0; i < GPUBPF_WAITS_ROOM; i++) {
			unsigned c = i < GPUBPF_WAITS ? BREAKDOWN_FUTEX + i : BREAKDOWN_OTHER;

			b->ns[c] += off->blocked[i];
			sum += off->blocked[i];
		}
		b->voluntary = off->voluntary;
		b->involuntary = off->involuntary;
		b->migrations = off->migrations;
		b->missed = off->missed;
		if (b->ns[BREAKDOWN_IOCTL] || b->ns[BREAKDOWN_IOCTL_NVIDIA])
			b->ioctl_major = off->ioctl_major;
	}
	if (sum < b->duration)
		b->ns[BREAKDOWN_UNACCOUNTED] = b->duration - sum;
	else
		b->excess = sum - b->duration;
}

static const struct gpubpf_latency_long *long_of(const struct gpubpf_latency *rec)
{
	return rec->flags & GPUBPF_LATENCY_OFF ? (const struct gpubpf_latency_long *)rec : NULL;
}

void breakdown_of_call(const struct gpubpf_latency *rec, struct breakdown *b)
{
	const struct gpubpf_latency_long *l = long_of(rec);

	fill(b, rec, rec->t_entry, rec->t_return, &rec->call, l ? &l->call : NULL);
}

bool breakdown_of_gap(const struct gpubpf_latency *rec, struct breakdown *b)
{
	const struct gpubpf_latency_long *l = long_of(rec);

	if (!(rec->flags & GPUBPF_LATENCY_GAP))
		return false;
	fill(b, rec, rec->t_before, rec->t_entry, &rec->gap, l ? &l->gap : NULL);
	return true;
}

struct last {
	uint64_t thread;
	struct gpubpf_latency_long rec;
};

static uint64_t thread_of(uint32_t tgid, uint32_t tid)
{
	return (uint64_t)tgid << 32 | tid;
}

void breakdowns__init(struct breakdowns *b)
{
	*b = (struct breakdowns){ 0 };
	hmap__init(&b->last, sizeof(uint64_t), sizeof(struct last));
}

void breakdowns__clear(struct breakdowns *b)
{
	hmap__clear(&b->last);
}

int breakdowns__add(struct breakdowns *b, const struct gpubpf_latency *rec)
{
	uint64_t thread = thread_of(rec->tgid, rec->tid);
	struct last *l = hmap__put(&b->last, &thread);

	if (!l)
		return -ENOMEM;
	memcpy(&l->rec, rec, long_of(rec) ? sizeof(l->rec) : sizeof(l->rec.head));
	b->records++;
	b->with_irq += !!(rec->flags & GPUBPF_LATENCY_IRQ);
	b->with_throttled += !!(rec->flags & GPUBPF_LATENCY_THROTTLED);
	return 0;
}

const struct gpubpf_latency *breakdowns__of(const struct breakdowns *b, const struct gpubpf_call *c)
{
	uint64_t thread = thread_of(c->tgid, c->tid);
	const struct last *l;

	if (c->depth || !(c->flags & GPUBPF_CALL_RETURNED) || !b->records)
		return NULL;
	l = hmap__get(&b->last, &thread);
	return l && l->rec.head.t_entry == c->t_entry ? &l->rec.head : NULL;
}
