/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Graph launches per executable graph, and stream capture: which streams are in capture when: the one that it
 * began on, and those that joined it by waiting for an event that was recorded inside it.
 */
#ifndef GPUBPF_GRAPHS_H
#define GPUBPF_GRAPHS_H

#include "model/view.h"
#include "util/hmap.h"

struct graph_row { /* one executable graph: an instantiation, or a handle that was there before */
	struct proc *proc;
	uint64_t exec;
	bool instantiated; /* seen; otherwise before the capture, or its record was lost */
	struct tally launches;
	uint64_t ns, timed;
};

struct graph_counts {
	struct tally instantiate, exec_destroy, update;
	uint64_t captures_begun, captures_ended;
	uint64_t captures_failed; /* ended by an error */
	uint64_t captures_open;   /* at the end of the capture or of their process */
	uint64_t ends_unseen;     /* ended; the begin was not recorded */
};

struct stream_id {
	uint64_t proc, stream;
	uint64_t tid; /* of a thread's own default stream; else 0 */
};

struct graphs {
	struct hmap execs; /* process, handle → newest row */
	struct hmap rows;
	struct hmap streams; /* in capture */
	struct hmap events;  /* recorded inside one */
	struct graph_counts counts;
};

void graphs__init(struct graphs *g);
void graphs__clear(struct graphs *g);
/* Every depth-0 call passes here before anything else counts it: sets v->captured. */
void graphs__mark(struct graphs *g, struct view *v);
/* A call of class graphlaunch, graph or capture. 0 or -ENOMEM. */
int graphs__call(struct graphs *g, const struct view *v);
/* A call that records an event, or makes a stream wait for one. 0 or -ENOMEM. */
int graphs__event(struct graphs *g, const struct view *v);
void graphs__process_over(struct graphs *g, struct proc *p);

size_t graphs__rows(const struct graphs *g);
const struct graph_row *graphs__row(const struct graphs *g, size_t i);

/* The stream a call works on; false: it has none, or it is not in the record. */
bool stream_of(const struct view *v, struct stream_id *s);

#endif
