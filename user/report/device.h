/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ran on the devices, digested for the report: by key (kernel and shape, kind of copy), and per device and
 * stream how long it was busy, how much was queued, where nothing ran. Fed once per activity, in the join's order.
 * Memory: 24 bytes per call that started something, and what grows with the number of distinct things.
 *
 * A device is named by the ordinal that its process gives it, and CUDA_VISIBLE_DEVICES may give two processes the
 * same ordinal for different GPUs: devices are kept per process and never merged (R17).
 */
#ifndef GPUBPF_REPORT_DEVICE_H
#define GPUBPF_REPORT_DEVICE_H

#include "join/join.h"
#include "report/sweep.h"
#include "util/hist.h"
#include "util/hmap.h"

enum ran_kind { RAN_KERNEL, RAN_COPY, RAN_SET, RAN_KINDS };

/* By key of the join, and by device where devices of several kinds must be told apart (R24). */
struct ran {
	uint32_t key[2]; /* the join's key; 1 + index of the device, 0 for all */
	uint64_t records;
	uint64_t nodes;                /* of records: nodes of graphs */
	uint64_t untimed;              /* of records: no accepted duration */
	uint64_t unlinked[JOIN_LINKS]; /* of records: by enum join_link, JOINED left out */
	uint64_t unlinked_timed[JOIN_LINKS], unlinked_ns[JOIN_LINKS];
	uint64_t bytes, timed_bytes;
	struct hist time;
	struct hist delay; /* see struct waits; of what was not part of a graph */
	struct hist sizes;
};

/*
 * Delay: from the entry of the call to the start on the device. A call that started several things, as a graph
 * launch does, has the delay of the first of them. What started before its call was entered has none: it is a
 * violation of causality and counted as that (C18).
 */
struct waits {
	struct hist delay;
	uint64_t early;
	struct sweep depth; /* asked for and not started */
};

struct place { /* a device, or a stream of one, in one process */
	uint64_t key[3];
	const struct proc *proc;
	uint32_t device, context, stream; /* the latter two of a stream */
	uint32_t number;
	uint32_t device_number; /* of a stream: the index of its device */
	uint32_t streams;       /* of a device: with a record */
	uint64_t n[RAN_KINDS];  /* placed in time */
	uint64_t unplaced;
	struct busy busy; /* of a device: items are indices of the join's activities */
	struct waits waits;
	uint32_t last_tid; /* of a stream: the newest call that started something */
	uint64_t last_entry;
	bool has_last;
};

struct graph_run {       /* one launch of a graph */
	uint64_t key[3]; /* process, thread, entry of the call */
	const struct proc *proc;
	uint64_t nodes, nodes_untimed;
	bool has_graph;
	uint32_t graph;
	uint64_t start, end; /* of the nodes; start > end: none has accepted times */
};

struct device_opts {
	bool by_device;       /* see struct ran */
	const uint32_t *tids; /* only what these threads asked for; NULL: all */
	size_t ntids;
};

struct asked;

struct device {
	struct device_opts o;
	struct hmap keys;    /* struct ran */
	struct hmap devices; /* struct place */
	struct hmap streams; /* struct place */
	struct hmap graphs;  /* struct graph_run */
	struct join_times times[RAN_KINDS];
	struct {
		uint64_t early, beyond, worst; /* beyond the session's clock error, or with none known */
	} early[RAN_KINDS];
	uint64_t others;   /* activities of kinds that are none of these */
	uint64_t left_out; /* of processes or threads that were not asked for */
	uint64_t kernel_ns;
	/* while it is fed */
	uint32_t *stream_of; /* by lane: 1 + index of the stream */
	size_t nlanes;
	struct asked *asked;
	size_t nasked, room;
};

#define DEVICE_GAPS 100 /* kept per device */

int device__new(const struct device_opts *o, struct device **out); /* 0 or -ENOMEM */
/* In the order of start, those with accepted times first. `index` is the join's. 0 or -ENOMEM. */
int device__add(struct device *d, const struct join_lane *lane, const struct join_activity *a, size_t index);
int device__finish(struct device *d); /* 0 or -ENOMEM */
/* All of a join. 0 or -ENOMEM. */
int device__read(struct device *d, const struct join *j);
void device__free(struct device *d);

enum ran_kind ran_kind(enum gpubpf_activity_kind kind); /* RAN_KINDS: none of these */

#endif
