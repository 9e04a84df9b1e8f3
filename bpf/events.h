/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire between the BPF programs, the shim and gpubpf. Little-endian, fixed-width, no hidden padding,
 * append-only: a value or an offset is never reused. What the ring carries is what the capture file holds.
 * Times are CLOCK_MONOTONIC nanoseconds. Process and thread ids in records are those of the initial pid
 * namespace; a task record gives the others.
 */
#ifndef GPUBPF_EVENTS_H
#define GPUBPF_EVENTS_H

#include <linux/types.h>

#define GPUBPF_WIRE_ABI 1

/* Every record starts with this. `size` is the whole record, a multiple of 8. */
struct gpubpf_rec {
	__u16 kind; /* enum gpubpf_rec_kind */
	__u16 size;
	__u32 flags; /* meaning per kind */
};

enum gpubpf_rec_kind {
	GPUBPF_REC_CALL = 1, /* struct gpubpf_call: a traced call that returned (or, entry only, began) */
	GPUBPF_REC_TASK = 2, /* struct gpubpf_task: life of a traced process or thread */
	GPUBPF_REC_XID = 3,  /* struct gpubpf_xid: GPU error reported by the kernel driver */
};

/* gpubpf_rec.flags of a call. Absence is a flag, never a value inside a field. */
enum gpubpf_call_flags {
	GPUBPF_CALL_RETURNED = 1u << 0,   /* t_return and result are there */
	GPUBPF_CALL_HAS_OUT = 1u << 1,    /* out was read */
	GPUBPF_CALL_BLOB_TRUNC = 1u << 2, /* the blob goes on in the process; nblob bytes of it are here */
	GPUBPF_CALL_BLOB_FAULT = 1u
				 << 3, /* the memory of the blob, or of its second part, could not be read */
	GPUBPF_CALL_STACK_FAULT =
		1u << 4, /* words from the stack could not be read: only the register words count */
	GPUBPF_CALL_OUT_FAULT = 1u << 5, /* the call succeeded but out could not be read */
	GPUBPF_CALL_OPEN = 1u << 6,      /* still inside the call when its thread or the capture ended */
	GPUBPF_CALL_UNMEASURED =
		1u << 7, /* recorded at its entry alone: one of many launches in a row, or a call on
					    * another stack (a signal handler's) while one was open */
};

#define GPUBPF_WORDS_SHORT 6
#define GPUBPF_WORDS_MAX 12
#define GPUBPF_BLOB_MAX 4096

/*
 * One call of a traced entry point. words[] are the raw argument words in declaration order, low bits valid
 * to the width of the parameter's type; nwords of them are in the record (6 or 12), fewer are meaningful
 * (the signature says how many). Then nblob bytes, padded to the record's size.
 */
struct gpubpf_call {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u32 tgid;
	__u32 tid;
	__u64 t_entry;
	__u64 t_return;
	__s32 result; /* CUresult */
	__u16 api;    /* index of the capture's own list of armed entry points */
	__u8 depth;   /* 0: called by the application; n: inside n other traced calls */
	__u8 nwords;
	__u32 nblob;
	__u32 reserved;
	__u64 out;
	__u64 words[];
};

enum gpubpf_task_event {
	GPUBPF_TASK_SEEN = 1, /* first traced call of this thread */
	GPUBPF_TASK_FORK = 2, /* tgid is the child, peer the parent's tgid */
	GPUBPF_TASK_EXEC = 3, /* peer is the thread id that called exec */
	GPUBPF_TASK_EXIT = 4, /* last thread of the process ended; code is its wait status */
	GPUBPF_TASK_THREAD_EXIT = 5,
};

struct gpubpf_task {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u32 event; /* enum gpubpf_task_event */
	__s32 code;
	__u32 tgid;
	__u32 tid;
	__u32 peer;
	__u32 view_tgid; /* the process in the recorder's pid namespace; 0 when it is not visible there */
	__u32 ns_tgid;   /* the process and thread in the innermost pid namespace of the task */
	__u32 ns_tid;
	__u64 time;
	__u64 start_time; /* of the process, boot-time clock, as /proc/PID/stat field 22 before its division */
	char comm[16];
};

struct gpubpf_xid {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u64 time;
	__u32 code;
	__u32 reserved;
	char device[32]; /* PCI address */
	char message[128];
};

/* What a per-CPU slot of the counters counts for one entry point. Never lost, whatever the ring does. */
struct gpubpf_counts {
	__u64 entered;     /* calls by the application (depth 0) */
	__u64 nested;      /* calls made inside another traced call */
	__u64 returned;    /* of both: returned, whatever the result */
	__u64 failed;      /* of returned, depth 0: result other than CUDA_SUCCESS and CUDA_ERROR_NOT_READY */
	__u64 recorded;    /* records handed to the ring, of both */
	__u64 lost_ring;   /* no room in the ring */
	__u64 lost_thread; /* no room for one more thread */
	__u64 lost_depth;  /* nested deeper than the per-thread stack of open calls */
	__u64 abandoned;   /* entered, and its frame left without a return (longjmp, exec, thread exit) */
	__u64 orphan_return; /* returned without a seen entry: a call open when its process became a target */
	__u64 unmeasured;    /* of recorded and lost_ring: at its entry alone, see GPUBPF_CALL_UNMEASURED */
	__u64 row; /* launches in a row: entered and, unless lost, recorded beside the above (user/attach/counters.c) */
	__u64 row_lost; /* of row: no room in the ring */
};

#define GPUBPF_API_MAX 4096 /* ids of armed entry points: one per symbol and library */

/* Losses and facts with no entry point to count them at. */
enum gpubpf_global {
	GPUBPF_G_TASK_LOST = 0,    /* task records that found no room in the ring */
	GPUBPF_G_TARGETS_FULL = 1, /* children that could not be followed: the list of targets was full */
	GPUBPF_G_XID_LOST = 2,
	GPUBPF_G_OTHER_PROCESS = 3, /* hits by processes that are not targets */
	GPUBPF_G_RESULT_FULL = 4,   /* failures whose code found no room in the table of results */
	GPUBPF_G_MAX = 16,
};

#ifndef __cplusplus
_Static_assert(sizeof(struct gpubpf_rec) == 8, "wire");
_Static_assert(sizeof(struct gpubpf_call) == 56, "wire");
_Static_assert(__builtin_offsetof(struct gpubpf_call, t_entry) == 16, "wire");
_Static_assert(__builtin_offsetof(struct gpubpf_call, result) == 32, "wire");
_Static_assert(__builtin_offsetof(struct gpubpf_call, out) == 48, "wire");
_Static_assert(sizeof(struct gpubpf_task) == 72, "wire");
_Static_assert(sizeof(struct gpubpf_xid) == 184, "wire");
_Static_assert(sizeof(struct gpubpf_counts) == 104, "wire");
#endif

#endif
