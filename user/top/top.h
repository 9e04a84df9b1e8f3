/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A live view of a recording: what came in one interval, in memory that does not grow with time. A feed takes what a
 * recorder would write (struct capture_sink) and gives a view at the end of each interval; whoever draws it needs nothing
 * else.
 *
 * What is counted (calls, launches, copies, failures, losses) comes from the kernel's counters, which lose nothing, and is
 * of the interval itself. Times of calls are of the calls whose records came in it. What ran on the GPU comes later, since
 * CUPTI hands its records over when they are ready: it has a window of its own, as long, that ended `lag` before, and is
 * charged to the window in which it ended; busy time to those in which it ran. What comes later still is `late`: it is
 * counted in the window after, and its time in no busy time.
 */
#ifndef GPUBPF_TOP_H
#define GPUBPF_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "latency/breakdown.h"

struct err;
struct gpubpf_rec;

#define TOP_ROWS 200  /* of a table; the rest is one row, or counted */
#define TOP_NAME 1024 /* of a kernel; a longer one is cut and ends with … */

/* By calls of this name in the interval; without a name: all that found no room in the table. */
struct top_api {
	char symbol[64];
	uint64_t calls, failed;             /* by the counters */
	uint64_t timed, ns, mean, p99, max; /* of calls that returned */
	uint64_t waited;                    /* of ns, off the processor */
};

struct top_wait {
	uint64_t ns;
	uint64_t calls; /* that spent any time so */
	enum breakdown_cause cause;
	char symbol[64]; /* of waits by entry point */
};

struct top_kernel {
	uint64_t launches, ns;
	char name[TOP_NAME];
};

/* A device of a process. */
struct top_gpu {
	uint32_t pid, device;
	uint64_t busy, unsure; /* ns in which anything ran; by how much that may be too much */
	uint64_t kernels, copies, sets;
};

/* tid 0: a process, its threads behind it. */
struct top_task {
	uint32_t pid, tid;
	uint64_t calls, launches, failed; /* records */
	uint64_t ns, waited;              /* in calls that returned */
	char comm[16];
};

struct top_loss {
	const char *reason; /* a word */
	uint64_t now, total;
	bool kept; /* came late, and is not lost: no verdict hangs on it */
	char text[200];
};

struct top_count { /* in the interval, and so far */
	uint64_t n, total;
};

struct top_view {
	uint64_t number;     /* from 1 */
	uint64_t at, length; /* ns since the beginning; what host's figures are of */
	bool more;           /* of the same moment as the view before: device's figures alone */
	bool last;           /* nothing comes behind it */

	struct top_count calls, failed, launches, graphs, copies, sets, bytes;
	uint64_t bytes_unknown; /* copies whose size is not in their records */

	bool has_device;             /* device's figures are there */
	char device_absent[400];     /* why some or all processes have none; "": they have */
	uint64_t gpu_at, gpu_length; /* what they are of */
	struct top_count executions; /* kernels, copies and sets that ran */
	struct top_gpu gpu[TOP_ROWS];
	size_t ngpus;

	bool by_gpu; /* kernels by time on the GPU, of its window; otherwise launches, by number, of the interval */
	struct top_kernel kernel[TOP_ROWS];
	size_t nkernels;
	struct top_kernel other_kernels; /* not in the table */

	bool has_waits;
	char waits_absent[400];
	struct top_wait wait[BREAKDOWN_CAUSES], api_wait[TOP_ROWS];
	size_t nwaits, napi_waits;

	struct top_api api[TOP_ROWS];
	size_t napis;
	struct top_task task[TOP_ROWS];
	size_t ntasks;
	uint64_t other_tasks; /* threads that are not in the table */

	struct top_loss loss[64];
	size_t nlosses;
	char verdict[400];
};

struct top_feed_opts {
	uint64_t interval; /* ns between two blocks of counters */
	uint64_t lag;      /* ns that records of the GPU are waited for */
	bool no_shim;
	const char *no_waits; /* why there is no accounting of waits; NULL: there is */
	void (*view)(const struct top_view *v, void *arg); /* at the end of each interval; v is the feed's */
	void *arg;
};

struct top_feed;

int top_feed__new(const struct top_feed_opts *o, struct top_feed **out); /* 0 or -ENOMEM */
/* The first interval begins: CLOCK_MONOTONIC. */
void top_feed__begin(struct top_feed *f, uint64_t now);
int top_feed__meta(struct top_feed *f, const Gpubpf__Meta *m);
/* Its sizes were checked (capture_record_check()). */
int top_feed__record(struct top_feed *f, const struct gpubpf_rec *rec);
/* Ends an interval. */
int top_feed__counts(struct top_feed *f, const Gpubpf__Counts *c);
/* The last interval, and all of the device's. */
int top_feed__end(struct top_feed *f, const Gpubpf__Counts *c);
void top_feed__free(struct top_feed *f); /* NULL is fine */

#endif
