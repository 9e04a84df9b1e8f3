/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A completed activity buffer of CUPTI into struct gpubpf_activity. One thread decodes at a time (CUPTI's own inside the
 * completed callback, or the worker afterwards); it never blocks, allocates nothing, and frees what CUPTI allocated with a
 * record for its reader.
 */
#ifndef GPUBPF_SHIM_DECODE_H
#define GPUBPF_SHIM_DECODE_H

#include "cupti.h"
#include "names.h"

/* Other than 0 ends the decoding of this buffer with that value. */
typedef int decode_sink(const struct gpubpf_activity *a, void *arg);

struct decode {
	const struct cupti *cupti;
	struct names *names;
	struct names *labels; /* of NVTX; set with thread_ids by the caller after decode__begin() */
	bool thread_ids;      /* markers have those of the system */
	__u32 session;
	/* Of this session. Read by any thread, by __atomic_load_n(). */
	__u64 records;           /* all that CUPTI gave, known or not */
	__u64 unknown;           /* of a kind that was not asked for, or that this version cannot hold */
	__u64 bad;               /* buffers that could not be walked to their end */
	cupti_result bad_result; /* of the last of them */
};

/* Begins a session: counters from 0. names__begin() is the caller's. */
void decode__begin(struct decode *d, const struct cupti *c, struct names *n, __u32 session);

/* 0, or what the sink returned, or -EIO when CUPTI could not walk the buffer (bad_result says why). */
int decode__buffer(struct decode *d, uint8_t *buffer, size_t valid, decode_sink *sink, void *arg);

/* The activity kind (ABI_ACTIVITY_KIND_*) of a facility; -1: it is none of activity records. */
int decode__kind_of(enum gpubpf_facility facility);

#endif
