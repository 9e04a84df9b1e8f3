/* SPDX-License-Identifier: BSD-2-Clause */
/* The six probes. Any thread may fire them, hello_v1 the worker alone. Nothing here takes a lock. */
#ifndef GPUBPF_SHIM_EMIT_H
#define GPUBPF_SHIM_EMIT_H

#include <stdbool.h>
#include <stddef.h>

#include "events.h"

struct emit_counts {
	__u64 made, handed; /* items in this session */
};

/* Counters from 0. Sequences go on: they are the process's. */
void emit__begin(void);

/* Somebody is attached to this probe. */
bool emit__attached(enum gpubpf_probe p);
bool emit__any_attached(void);

/* One hit, if somebody is attached; else the items are counted and gone. */
bool emit__hit(enum gpubpf_probe p, const void *items, size_t n);

/* n items that were made and could not be kept until a hit. */
void emit__lost(enum gpubpf_probe p, size_t n);

struct emit_counts emit__counts(enum gpubpf_probe p);

/* Statuses that belong together go out by one hit. */
#define STATUS_BATCH 32
struct status_batch {
	size_t n;
	struct gpubpf_status v[STATUS_BATCH];
};
/* The next status of the batch, zero but for kind, code, value, session and time. */
struct gpubpf_status *status__add(struct status_batch *b, enum gpubpf_status_kind kind, int code, int value,
				  __u32 session);
void status__send(struct status_batch *b);

#ifdef GPUBPF_SHIM_TEST
typedef void emit_hook(enum gpubpf_probe p, const void *items, size_t n, __u64 sequence);
extern emit_hook *_Atomic emit__hook;
#endif

#endif
