/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>

#include "latency/lat.h"
#include "model/procs.h"

static void share(struct rows *rows, uint64_t ns, const struct idle_device *d)
{
	row__real(rows, d->busy.gap_time, false, (double)ns / (double)d->busy.gap_time);
}

int build_idle_devices(struct latency *l, struct rows *rows)
{
	for (size_t i = 0; i < l->idle.devices.n; i++) {
		const struct idle_device *d = lat_idle__device(&l->idle, i);
		const struct sweep *ran = &d->busy.ran;
		uint64_t window = ran->last - ran->first;

		if (rows__add(rows))
			return -ENOMEM;
		row__maybe(rows, d->proc, false, d->proc ? d->proc->tgid : 0);
		row__number(rows, d->processes);
		row__number(rows, d->device);
		row__number(rows, window);
		row__number(rows, ran->above_zero);
		row__number(rows, d->busy.gap_time);
		row__real(rows, window, false, (double)d->busy.gap_time / (double)window);
		row__number(rows, d->busy.gaps);
		row__number(rows, d->long_gaps);
		row__number(rows, d->long_ns);
		row__number(rows, d->blamed_ns);
		row__number(rows, d->nobody_ns);
		row__number(rows, d->not_chosen_ns);
		row__number(rows, d->short_ns);
		row__number(rows, l->idle.threshold);
	}
	return 0;
}

int build_idle(struct latency *l, struct rows *rows)
{
	char words[LAT_IDLE_WORDS];

	for (size_t i = 0; i < l->idle.cells.n; i++) {
		const struct idle_cell *c = hmap__at(&l->idle.cells, i);
		const struct idle_device *d = lat_idle__device(&l->idle, c->key[0] >> 32);
		const struct idle_thread *th = lat_idle__thread(&l->idle, (uint32_t)c->key[0]);
		const struct proc *proc = th ? th->proc : d->proc;

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, d->device);
		row__maybe(rows, proc, false, proc ? proc->tgid : 0);
		row__maybe(rows, th, false, th ? th->tid : 0);
		if (row__text(rows, proc ? proc->comm : NULL) ||
		    row__text(rows, lat_idle_key((enum idle_cause)c->key[1], words)))
			return -ENOMEM;
		row__number(rows, c->ns);
		share(rows, c->ns, d);
		row__number(rows, c->gaps);
		row__number(rows, c->shared);
		if (row__text(rows,
			      lat_idle_text(l, (enum idle_cause)c->key[1], proc ? proc->tgid : 0, words)))
			return -ENOMEM;
	}
	return 0;
}

int build_idle_apis(struct latency *l, struct rows *rows)
{
	for (size_t i = 0; i < l->idle.apis.n; i++) {
		const struct idle_api *a = hmap__at(&l->idle.apis, i);
		const struct idle_device *d = lat_idle__device(&l->idle, a->key[0] >> 32);

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, d->device);
		row__number(rows, a->tgid);
		row__number(rows, a->ns);
		share(rows, a->ns, d);
		row__number(rows, a->calls);
		for (int k = 0; k <= IDLE_IN_CALL_UNMEASURED; k++)
			row__number(rows, a->part[k]);
		row__number(rows, a->ended);
		row__number(rows, a->ended_ns);
		row__number(rows, a->tail_ns);
		if (row__text(rows, latency__api_name(l, (unsigned)a->key[1])))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t sum(const struct idle_story *st, unsigned from, unsigned to)
{
	uint64_t ns = 0;

	for (unsigned i = from; i <= to; i++)
		ns += st->ns[i];
	return ns;
}

static enum idle_cause most(const struct idle_story *st)
{
	unsigned best = 0;

	for (unsigned i = 1; i < IDLE_CAUSES; i++)
		if (st->ns[i] > st->ns[best])
			best = i;
	return (enum idle_cause)best;
}

static int gap_row(struct latency *l, struct rows *rows, size_t rank)
{
	const struct idle_story *st = &l->idle.story[rank];
	const struct idle_gap *g = &l->idle.gap[st->gap];
	const struct idle_thread *th = lat_idle__thread_of(&l->idle, g);
	const struct idle_device *d = lat_idle__device(&l->idle, g->device);
	char words[LAT_IDLE_WORDS], *name;
	struct join_activity a;
	int rc;

	join__activity(l->in.join, g->after, &a);
	name = latency__activity_name(l, join__key(l->in.join, a.key));
	if (!name || rows__add(rows)) {
		free(name);
		return -ENOMEM;
	}
	row__number(rows, rank + 1);
	row__number(rows, d->device);
	row__number(rows, g->end - g->start);
	row__number(rows, latency__since(l, g->start));
	row__maybe(rows, th, false, th ? th->tgid : 0);
	row__maybe(rows, th, false, th ? th->tid : 0);
	rc = row__text(rows, th ? latency__api_name(l, lat_api_of(l, &a.call)) : NULL);
	row__maybe(rows, th && a.call.entry >= g->start, false, a.call.entry - g->start);
	row__maybe(rows, th, false, a.start - a.call.entry);
	row__maybe(rows, th, false, sum(st, IDLE_IN_CALL, IDLE_IN_CALL_UNMEASURED));
	row__maybe(rows, th, false, sum(st, IDLE_OUTSIDE, IDLE_OUTSIDE_UNMEASURED));
	row__maybe(rows, th, false, sum(st, IDLE_EITHER, IDLE_BEFORE));
	row__maybe(rows, th, false, st->ns[IDLE_WAIT]);
	row__maybe(rows, th, false, st->ns[IDLE_LAUNCH] + st->ns[IDLE_SUBMISSION]);
	if (!rc)
		rc = row__text(rows, lat_idle_key(most(st), words));
	if (!rc)
		rc = row__text(rows, lat_idle_text(l, most(st), th ? th->tgid : 0, words));
	if (!rc)
		rc = row__text(rows, name);
	free(name);
	return rc;
}

int build_idle_gaps(struct latency *l, struct rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->idle.nstories; i++)
		rc = gap_row(l, rows, i);
	return rc;
}

const struct column lat_idle_device_columns[] = {
	{ "pid", "pid", UNIT_ID, "process; none: several, whose device it is", false },
	{ "processes", "processes", UNIT_COUNT, "that ran something on it", false },
	{ "device", "device", UNIT_ID, "as the process numbers it", false },
	{ "window_ns", "window", UNIT_NS, "from the start of the first thing that ran to the end of the last",
	  false },
	{ "busy_ns", "busy", UNIT_NS, "time in which something ran: of all streams, united", false },
	{ "idle_ns", "idle", UNIT_NS, "the rest: the sum of all gaps", false },
	{ "idle_share", "share", UNIT_SHARE, "idle_ns divided by window_ns", false },
	{ "gaps", "gaps", UNIT_COUNT, "all of them", false },
	{ "long_gaps", "long ones", UNIT_COUNT, "of the length of --idle or longer", false },
	{ "long_ns", NULL, UNIT_NS, "sum of these", false },
	{ "blamed_ns", "a thread's", UNIT_NS, "of long_ns: a thread's call ended the gap", false },
	{ "nobody_ns", "nobody's", UNIT_NS, "of long_ns: no thread is blamed", false },
	{ "not_chosen_ns", "others'", UNIT_NS, "of long_ns: ended by what was not asked for", true },
	{ "short_ns", "in short ones", UNIT_NS, "of idle_ns: gaps shorter than --idle", false },
	{ "threshold_ns", NULL, UNIT_NS, "--idle", false },
	{ 0 }
};
const struct column lat_idle_columns[] = {
	{ "device", "device", UNIT_ID, "as the process numbers it", false },
	{ "pid", "pid", UNIT_ID, "process of the thread; where it is no thread's, that of the device",
	  false },
	{ "tid", "tid", UNIT_ID, "thread that was to launch next", false },
	{ "process", "process", UNIT_TEXT, "its name", false },
	{ "cause", NULL, UNIT_TEXT, "name of the cause", false },
	{ "lost_ns", "lost", UNIT_NS, "time of the GPU", false },
	{ "share", "of idle", UNIT_SHARE, "lost_ns divided by the idle time of the device", false },
	{ "gaps", "gaps", UNIT_COUNT, "that have some of it", false },
	{ "shared_ns", "by overlap", UNIT_NS,
	  "of lost_ns: shared by overlap, as only some of the call, or of the time between two, was in the gap",
	  true },
	{ "text", "what the thread did", UNIT_TEXT, "what the cause means", false },
	{ 0 }
};
#define PART(key, what)                                                                                      \
	{                                                                                                    \
		key "_ns", NULL, UNIT_NS, "of lost_ns: " what, false                                         \
	}
const struct column lat_idle_api_columns[] = {
	{ "device", "device", UNIT_ID, "as the process numbers it", false },
	{ "pid", "pid", UNIT_ID, "process", false },
	{ "lost_ns", "lost inside", UNIT_NS, "time of gaps that the thread was inside these calls", false },
	{ "share", "of idle", UNIT_SHARE, "lost_ns divided by the idle time of the device", false },
	{ "calls", "calls", UNIT_COUNT, "that were open in a gap", false },
	PART("on_cpu", "on a processor"),
	PART("runqueue", "waiting for a processor"),
	PART("throttled", "throttled"),
	PART("futex", "blocked in futex"),
	PART("ioctl_nvidia", "blocked in ioctl on a GPU device"),
	PART("ioctl", "blocked in another ioctl"),
	PART("poll", "blocked in poll, select or epoll"),
	PART("sleep", "asleep"),
	PART("page_fault", "blocked in a page fault"),
	PART("other", "blocked in something else"),
	PART("unaccounted", "unaccounted"),
	PART("unmeasured", "not measured"),
	{ "ended", "ended", UNIT_COUNT, "gaps that such a call ended", false },
	{ "ended_ns", "their length", UNIT_NS, "sum of these gaps", false },
	{ "submission_ns", "submission", UNIT_NS,
	  "of ended_ns: from the call's return, or from its entry where that was not recorded, to the start",
	  false },
	{ "api", "entry point", UNIT_TEXT, "entry point of the driver", false },
	{ 0 }
};
_Static_assert(sizeof(lat_idle_api_columns) / sizeof(lat_idle_api_columns[0]) == 11 + BREAKDOWN_CAUSES,
	       "columns");
const struct column lat_idle_gap_columns[] = {
	{ "rank", "rank", UNIT_ID, "1: the longest", false },
	{ "device", "device", UNIT_ID, "as the process numbers it", false },
	{ "gap_ns", "gap", UNIT_NS, "length", false },
	{ "from_ns", "from", UNIT_NS, "since the start of the capture", false },
	{ "pid", "pid", UNIT_ID, "process of the thread that was to launch next", false },
	{ "tid", "tid", UNIT_ID, "that thread; none: nobody is blamed", false },
	{ "api", "entry point", UNIT_TEXT, "of the call that ended it", false },
	{ "entry_ns", "entered after", UNIT_NS,
	  "from the start of the gap to that call; none: before the gap", false },
	{ "delay_ns", "entry → start", UNIT_NS, "launch delay: from that call's entry to the end of the gap",
	  false },
	{ "in_call_ns", "in calls", UNIT_NS, "the thread was inside CUDA calls", false },
	{ "outside_ns", "outside", UNIT_NS, "it was outside of them", false },
	{ "undivided_ns", NULL, UNIT_NS, "which of the two is not known", false },
	{ "event_wait_ns", NULL, UNIT_NS, "behind that call's return: waiting for an event or another stream",
	  false },
	{ "submission_ns", "submission", UNIT_NS,
	  "from the call's return, or from its entry where that was not recorded, to the start, waiting left out",
	  false },
	{ "cause", NULL, UNIT_TEXT, "name of the cause that took most of it", false },
	{ "text", "most of it", UNIT_TEXT, "what that means", false },
	{ "kernel", "then ran", UNIT_TEXT, "what ended it", false },
	{ 0 }
};
