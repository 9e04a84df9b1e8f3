/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that wait for the device: synchronizations by the stream they wait for (C11), and copies and sets that name
 * no stream, whose calls return when the work is done or at least handed over (the driver decides).
 */
#ifndef GPUBPF_SYNCS_H
#define GPUBPF_SYNCS_H

#include "model/graphs.h"
#include "util/hist.h"

enum sync_on {
	SYNC_NO_STREAM, /* waits for a context, an event, or its own work */
	SYNC_STREAM,
	SYNC_STREAM_UNREAD, /* the argument is not in the record */
};

struct sync_row {
	uint64_t key[5]; /* API id, enum sync_on, process, stream, thread of a per-thread stream */
	const struct plan *plan;
	struct proc *proc; /* of SYNC_STREAM: whose handle */
	enum sync_on on;
	uint64_t stream; /* CUDA_STREAM_NULL: the legacy one; CUDA_STREAM_PER_THREAD: that of `tid` */
	uint32_t tid;
	struct tally calls;
	struct hist time;
};

struct syncs {
	struct hmap rows;
};

void syncs__init(struct syncs *s);
void syncs__clear(struct syncs *s);
/* A call of class sync, copy or set. 0 or -ENOMEM. */
int syncs__call(struct syncs *s, const struct view *v);

#endif
