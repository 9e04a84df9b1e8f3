/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf timeline`: a capture as a trace for a viewer.
 *
 * The exact size is computed first, by making everything once without keeping it; then one packet at a time is written.
 * Nothing grows with the trace. On top of what trace.h says is held: 1 byte per call for work, 32 per call that
 * started several things (graph launches), 8 per execution on a device for the queue's depth (16 while they are sorted),
 * 2 more per call for work under a budget, and what grows with distinct things. Where the host observer was left out
 * the calls are known by what ran for them: 4 bytes per call. NVTX markers take 40 bytes each.
 */
#ifndef GPUBPF_TIMELINE_H
#define GPUBPF_TIMELINE_H

#include "trace/trace.h"

enum timeline_format { TIMELINE_PERFETTO, TIMELINE_CHROME, TIMELINE_PAGE /* what page.h packs */ };

/* What a trace is made of. A budget (has_budget) drops from the front of what may be dropped. */
enum timeline_class {
	TIMELINE_SKELETON,     /* clocks, descriptors, texts, manifest, receipt: always there */
	TIMELINE_CALL,         /* API calls of the host */
	TIMELINE_GPU,          /* executions on a device: what GPU time is accounted by (R45) */
	TIMELINE_MODULE,       /* module loads */
	TIMELINE_MARK,         /* losses, errors and notes: always there */
	TIMELINE_COUNTER,      /* made of the above: all or none */
	TIMELINE_PRESENTATION, /* shows once more what executions say already: dropped first */
	TIMELINE_NVTX,         /* marks and ranges of the application: each a group of its own */
	TIMELINE_SEMANTIC,     /* nodes of a sidecar: always there */
	TIMELINE_CLASSES,
};
extern const char *const timeline_class_names[TIMELINE_CLASSES];

/* One packet, or with a text format one piece. 0 or a negative errno, which ends the writing. */
typedef int timeline_write_fn(void *arg, const void *bytes, size_t n);

/* So much of so much is done; may be NULL. */
typedef void timeline_progress_fn(void *arg, uint64_t done, uint64_t all);

/*
 * What a viewer shows first (R52). An execution: of the kernel with exactly this display name, the occurrence-th in the order
 * of starts, among those with valid times of the processes that were asked for. A time: since the capture's start. Or both.
 */
struct timeline_focus {
	const char *kernel;  /* NULL: none */
	uint64_t occurrence; /* from 1; 0: not said, which is an error where it ran more than once */
	bool has_range;
	uint64_t from, to; /* ns; from < to */
};

struct timeline_opts {
	enum timeline_format format;
	const struct timeline_focus *focus; /* NULL: all of it */
	bool has_budget;
	uint64_t budget; /* framed bytes, before any compression */
	timeline_progress_fn *progress;
	void *progress_arg;
};

struct timeline_link { /* the focus in Perfetto's times, as its trace processor has them: ns */
	uint64_t from, to;
	bool has_slice;
	uint64_t start, duration;
	uint64_t twins; /* others in the trace that have both */
};

struct timeline_sum {
	uint64_t items, bytes;
};

struct timeline_result {
	struct timeline_sum all[TIMELINE_CLASSES];  /* considered */
	struct timeline_sum kept[TIMELINE_CLASSES]; /* in the trace */
	uint64_t bytes;                             /* of the trace */
	uint64_t packets;
	uint64_t slices;           /* kept */
	uint64_t launches;         /* executions in the capture */
	bool without_launches;     /* R48: none of them is in the trace */
	struct timeline_link link; /* with a focus, in Perfetto's format */
};

/*
 * 0 or a negative errno with a message. -E2BIG: what is required is larger than the budget. -ENOENT, -EINVAL, -ERANGE: the
 * focus is not in the capture, is not one, or is not in the trace; nothing was written.
 */
int timeline_write(struct trace *t, const struct timeline_opts *o, timeline_write_fn *fn, void *arg,
		   struct timeline_result *r, struct err *err);

#endif
