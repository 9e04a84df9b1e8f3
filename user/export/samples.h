/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What ran, and the calls that asked for it, added up by stack and labels: profiles are made of it. Memory grows with
 * what is distinct, by four bytes per call that asks for work, and with what the capture's user stacks take (stacks/table.h).
 */
#ifndef GPUBPF_EXPORT_SAMPLES_H
#define GPUBPF_EXPORT_SAMPLES_H

#include "export/blobs.h"
#include "stacks/table.h"
#include "trace/trace.h"
#include "util/hmap.h"
#include "util/progress.h"

struct err;

/* Of each sample. Executions are kernels, copies and sets that ran on a device, nodes of graphs too. */
enum sample_value {
	SAMPLE_GPU_NS,     /* of executions with a duration */
	SAMPLE_EXECUTIONS, /* with or without times */
	SAMPLE_LAUNCHES, /* API calls that launch a kernel or a graph, made by the application, whatever became of them */
	SAMPLE_DELAY_NS, /* entry of a call → start of the first thing that it started */
	SAMPLE_BYTES,    /* of copies and sets that ran */
	SAMPLE_VALUES,
};

enum sample_has {
	SAMPLE_HAS_PROCESS = 1,
	SAMPLE_HAS_THREAD = 2,
	SAMPLE_HAS_LANE = 4, /* device, context, stream */
	SAMPLE_HAS_GRID = 8, /* of a kernel */
	SAMPLE_HAS_BLOCK = 16,
	SAMPLE_IS_RUN = 32,    /* of executions: link, timing; else of calls: outcome */
	SAMPLE_HAS_STACK = 64, /* the process's own functions stand in the stack */
	SAMPLE_IS_NODE = 128,  /* ran as a node of a graph */
	SAMPLE_HAS_TIME = 256, /* SAMPLE_GPU_NS was measured */
};

enum sample_delay {                    /* what SAMPLE_DELAY_NS of an execution that is tied to a call means */
		    SAMPLE_DELAY_NONE, /* no call or no time: other labels say so */
		    SAMPLE_DELAY_MEASURED,
		    SAMPLE_DELAY_EARLY, /* started before its call was entered: a violation of causality */
		    SAMPLE_DELAY_LATER, /* not the first that its call started */
		    SAMPLE_DELAYS,
};

#define SAMPLE_STACK_MAX 512 /* frames */

struct sample_key {
	uint32_t stack;   /* samples.stacks: numbers of frames, outermost first */
	uint32_t leaf;    /* 1 + number of the frame of what ran; 0: the call is innermost */
	uint32_t process; /* text */
	uint32_t pid, tid;
	uint32_t device, context, stream;
	uint32_t grid[3], block[3];
	uint32_t has;    /* enum sample_has */
	uint8_t kind;    /* enum gpubpf_activity_kind */
	uint8_t link;    /* enum join_link */
	uint8_t time;    /* enum join_time */
	uint8_t source;  /* enum gpubpf_time_source; 0: not known */
	uint8_t delay;   /* enum sample_delay */
	uint8_t outcome; /* of a call: 1 + enum outcome */
	uint8_t fate;    /* of a call: 1 + enum join_fate; 0: nobody observed it */
	uint8_t quality; /* of the process's own stack */
	uint32_t zero;
};

struct sample {
	struct sample_key key;
	uint32_t number;               /* from 1, in the order of arrival */
	uint64_t value[SAMPLE_VALUES]; /* at most INT64_MAX */
};

struct sample_frame { /* texts; 0: none */
	uint32_t name, file, module, line;
};

struct samples {
	struct trace *t;
	bool has_device; /* somebody observed the devices: otherwise launches alone were measured */
	struct blobs texts, frames, stacks;
	bool has_stacks; /* of the processes' own functions, of some calls */
	struct stack_table user;
	struct hmap map;         /* struct sample */
	struct hmap call_stacks; /* by who called what */
	struct hmap processes;
	uint32_t *leaf_of_key; /* by key of the join: 1 + its frame */
	uint32_t *
		sample_of; /* by number of the call for work: 1 + sample of the first thing that it started */
	size_t nsample_of;
	uint64_t left_out; /* executions of kinds that are none of the above */
	struct progress progress;
};

/* `progress` may be NULL. What fails leaves it so that samples__clear() is right. */
int samples__read(struct samples *s, struct trace *t, FILE *progress, struct err *err);
void samples__clear(struct samples *s);

/* Made safe to print. 0 or -ENOMEM. */
int samples__add_text(struct samples *s, const char *text, uint32_t *number);
const char *samples__text(const struct samples *s, uint32_t text);
const struct sample_frame *samples__frame(const struct samples *s, uint32_t frame);
/* Frames of a stack, outermost first. */
const uint32_t *samples__stack(const struct samples *s, uint32_t stack, size_t *n);
/* The thread as a frame: the outermost one, where the process's own functions are not known. 0 or -ENOMEM. */
int samples__thread(struct samples *s, const struct sample_key *k, uint32_t *frame);
/* Words of labels; NULL: nothing to say. */
const char *sample_outcome_name(const struct sample_key *k);
const char *sample_delay_name(const struct sample_key *k);
const char *sample_fate_name(const struct sample_key *k); /* of a call */
const char *sample_stack_name(const struct sample_key *k);
const char *timing_source_name(unsigned source); /* of enum gpubpf_time_source; NULL: not known */

#endif
