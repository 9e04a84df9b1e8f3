/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time in which a device ran nothing, and what the thread that was to launch next did meanwhile.
 *
 * A gap is a time between two things that a device ran, all its streams united (report/sweep.h); what was before the
 * first of them and behind the last is none. The thread whose call asked for what ended the gap is the one that it is
 * blamed on. Until that call returns, its time in the gap is cut at its calls; from there on it is submission, or
 * waiting for what another device ran.
 * The parts add up to the gap. What a record --latency tells of a call, or of the time between two, is shared out by
 * overlap where only some of that time is in the gap: nobody knows in what order the causes came.
 *
 * Memory: 64 bytes per gap of the threshold's length or longer. The calls are read once more, and none is kept but for
 * the longest gaps.
 */
#ifndef GPUBPF_LAT_IDLE_H
#define GPUBPF_LAT_IDLE_H

#include "latency/breakdown.h"
#include "report/sweep.h"
#include "util/hmap.h"

struct proc;

enum idle_cause {
	IDLE_IN_CALL, /* and enum breakdown_cause: in calls of the traced entry points */
	IDLE_IN_CALL_UNMEASURED = IDLE_IN_CALL + BREAKDOWN_CAUSES,
	IDLE_OUTSIDE, /* likewise: between them */
	IDLE_OUTSIDE_UNMEASURED = IDLE_OUTSIDE + BREAKDOWN_CAUSES,
	IDLE_EITHER, /* in a call whose return was not recorded, or behind it */
	IDLE_BEFORE, /* before the call that ended the gap: the thread's other calls are not recorded */
	IDLE_LAUNCH, /* from the entry of that call to the start: its return was not recorded */
	IDLE_WAIT, /* from its return until what its stream had to wait for had ended, as on another device */
	IDLE_SUBMISSION, /* from its return to the start */
	/* nobody is blamed */
	IDLE_NODE,            /* the call had started something before: it is one of several, as of a graph */
	IDLE_DEVICE_LAUNCHED, /* the device launched it itself */
	IDLE_AMBIGUOUS,
	IDLE_NO_HOST_CALL,
	IDLE_ORPHAN,
	IDLE_OTHER_CALL,
	IDLE_EARLY,      /* started before its call, by the clocks */
	IDLE_UNWATCHED,  /* the device observer was off in between */
	IDLE_MANY,       /* its thread waits for more devices than are looked at */
	IDLE_NOT_CHOSEN, /* not what the reader asked for */
	IDLE_SHORT,      /* below the threshold */
	IDLE_CAUSES,
};
static inline bool idle_is_blamed(enum idle_cause c)
{
	return c < IDLE_NODE;
}
/* Shares the causes out over `over` ns of the time that they are about; the sum of out[] is `over`. */
void idle_share(const uint64_t ns[BREAKDOWN_CAUSES], uint64_t over, uint64_t out[BREAKDOWN_CAUSES]);

struct idle_device {
	uint64_t key[2];         /* process, or 0 where all have it in common; its number there */
	const struct proc *proc; /* NULL: of several */
	uint32_t device, number;
	uint32_t processes; /* that ran something on it */
	struct busy busy;
	const struct proc *last_proc; /* of what started last */
	const void *last_session;
	uint64_t long_gaps, long_ns; /* of the threshold or longer */
	uint64_t blamed_ns, nobody_ns, not_chosen_ns, short_ns;
	struct lat_idle *idle;
};

struct idle_gap {
	uint64_t start, end;
	uint64_t until; /* the thread's time, which its calls are held against, is from start to here */
	uint64_t tail;  /* from here on the call has returned, or its return is not known … */
	uint64_t ready; /* … and from here on nothing is known to be in the way */
	uint32_t before, after; /* activities of the join */
	uint32_t device;
	uint32_t track; /* reference; 0: nobody */
	uint8_t why;    /* enum idle_cause: of the whole where it is nobody's, else of the tail */
	uint8_t story;  /* reference */
};

#define IDLE_TRACKS_MAX 64 /* of a thread: each of its calls is held against each */
struct idle_thread {
	uint64_t key; /* process and tid */
	uint32_t tgid, tid, number;
	const struct proc *proc;
	uint32_t track; /* reference: the first */
	uint32_t tracks;
	uint64_t upto; /* until when it is known what it did */
	bool of_shim;  /* only its calls for work are known, and nothing of them is in the records */
	bool is_open;  /* its last call is recorded at its entry alone */
	uint16_t open_api;
};

struct idle_track {   /* what a thread is blamed for of one device */
	uint64_t key; /* thread and device */
	uint32_t thread, device, number;
	uint32_t next;     /* reference: of the same thread */
	uint32_t first, n; /* in lat_idle.order */
	uint32_t at;       /* the first whose time is not over */
};

struct idle_cell {
	uint64_t key[2]; /* device and reference to a thread, 0: nobody; cause */
	uint64_t ns;
	uint64_t gaps;   /* that have some of it */
	uint64_t shared; /* of ns: shared out by overlap */
	uint64_t last;   /* gap + 1 */
};

struct idle_api {
	uint64_t key[2]; /* device, process; entry point as struct latency numbers them */
	const struct proc *proc;
	uint32_t tgid;
	uint64_t calls, ns; /* that took some time of a gap, and how much */
	uint64_t part[IDLE_IN_CALL_UNMEASURED + 1];
	uint64_t ended, ended_ns; /* gaps that such a call ended */
	uint64_t tail_ns;         /* of these: submission, or launch */
};

struct idle_segment {
	uint64_t from, to;
	enum idle_cause cause; /* IDLE_IN_CALL, IDLE_OUTSIDE, IDLE_EITHER */
	uint16_t api;          /* but for IDLE_OUTSIDE */
	bool has_parts, shared;
	uint64_t part[BREAKDOWN_CAUSES];
};

#define IDLE_SEGMENTS 24
struct idle_story {
	uint32_t gap;
	uint64_t ns[IDLE_CAUSES];
	struct idle_segment segment[IDLE_SEGMENTS]; /* the longest, in the order of time */
	unsigned nsegments;
	uint64_t others, others_ns; /* shorter ones */
	bool shared;
};

struct idle_piece { /* what a thread did for a while */
	uint64_t from, to;
	enum idle_cause cause; /* as of a segment */
	uint16_t api;
	const struct breakdown *b; /* NULL: not known */
};

struct lat_idle {
	uint64_t threshold; /* ns */
	bool same_devices;  /* a number of a device means the same one in all processes */
	struct hmap devices, users, threads, tracks, cells, apis;
	struct idle_gap *gap; /* per device in the order of time */
	size_t ngaps, room;
	uint32_t *order;          /* gaps by track, per track in the order of time */
	struct idle_story *story; /* the longest first */
	size_t nstories, stories_max;
	struct breakdowns breakdowns;
	enum idle_cause why; /* of the gap that ends now */
	struct idle_caller { /* likewise: who made the call */
		const struct proc *proc;
		uint32_t tgid, tid;
		uint16_t api;
		uint64_t entry, ret;
		bool has_ret, of_shim;
		uint64_t wait_end; /* of what its stream had to wait for; 0: nothing is known */
	} caller;
};

void lat_idle__init(struct lat_idle *s, uint64_t threshold, bool same_devices, uint64_t stories);
void lat_idle__clear(struct lat_idle *s);

struct idle_ran {
	const struct proc *proc;
	const void *session; /* of the device observer: another one has not seen what was between them */
	uint32_t device, activity;
	uint64_t start, end;
	enum idle_cause why; /* nobody is blamed for a gap that it ends; IDLE_CAUSES: `caller` is */
	struct idle_caller caller;
};
/* All that ran, in the order of starts. 0 or -ENOMEM. */
int lat_idle__ran(struct lat_idle *s, const struct idle_ran *r);
int lat_idle__ready(struct lat_idle *s); /* all that ran was seen: now the calls. 0 or -ENOMEM */
/* The records of the capture, in the order of the file: calls and breakdowns. 0 or -ENOMEM */
int lat_idle__record(struct lat_idle *s, const struct gpubpf_rec *rec);
int lat_idle__finish(struct lat_idle *s); /* 0 or -ENOMEM */
/* Whether lat_idle__record() has anything to do. */
static inline bool lat_idle__asks(const struct lat_idle *s)
{
	return s->tracks.n != 0;
}

static inline struct idle_device *lat_idle__device(const struct lat_idle *s, size_t i)
{
	return hmap__at(&s->devices, i);
}
static inline struct idle_thread *lat_idle__thread(const struct lat_idle *s, uint32_t ref)
{
	return ref ? hmap__at(&s->threads, ref - 1) : NULL;
}
/* NULL: nobody's. */
static inline struct idle_thread *lat_idle__thread_of(const struct lat_idle *s, const struct idle_gap *g)
{
	return g->track ? hmap__at(&s->threads,
				   ((struct idle_track *)hmap__at(&s->tracks, g->track - 1))->thread)
			: NULL;
}

#endif
