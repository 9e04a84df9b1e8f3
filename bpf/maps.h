/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Maps and load-time settings of the BPF object. User space may resize maps before it loads. */
#ifndef GPUBPF_MAPS_H
#define GPUBPF_MAPS_H

#include "events.h"
#include "stackraw.h"

#define OPEN_CALLS 4 /* nested calls of one thread that are kept open at once; a power of two */

/* One open call. */
struct frame {
	__u64 cookie;
	__u64 t_entry;
	__u64 sp;    /* at function entry */
	__u64 flags; /* GPUBPF_CALL_… known at entry */
	__u64 words[GPUBPF_WORDS_MAX];
};

#define ROW_LAUNCHES 8
#define REC_ROW                                                                                              \
	0x8000 /* struct row: in the ring alone, user space makes records of it (user/attach/threads.c) */

struct row_launch {
	__u64 t_entry;
	__u32 api;
	__u32 flags; /* GPUBPF_CALL_… beside those that a launch in a row has anyway */
	__u64 words[GPUBPF_WORDS_MAX];
};

/* Launches of one thread that wait to be handed over together (row.h). */
struct row {
	__u16 kind; /* REC_ROW */
	__u16 size;
	__u32 n;
	__u32 tgid, tid;
	struct row_launch launches[ROW_LAUNCHES];
};

/* A thread of a target. Only the thread itself and its exit touch its entry. */
struct thread {
	__u32 tgid;
	__u32 depth;       /* frames in use */
	__u32 tracer;      /* the shim's worker: its calls are no workload */
	__u32 left;        /* after `closed`: it has ended, or its cuInit() has returned */
	__u64 last_launch; /* entry of the last launch at depth 0 */
	struct frame frames[OPEN_CALLS];
	struct row row;
};

/* With --latency (latency.h): what the sums of a thread are at one moment. */
struct lat_point {
	__u64 t;
	__u64 on_cpu;
	__u64 faults, major_faults; /* of the thread's whole life */
	__u32 number, reserved;
	struct gpubpf_latency_off off;
};

/* Of the wait in a futex that a thread is in (waker.h): what it asked for, and by whom it was woken last. */
struct lat_wait {
	__u64 futex, limit;
	__u32 op, flags;
	__u64 t; /* the last waking; 0: none since the thread runs */
	__u32 how, by, by_flags;
	__u32 tgid, tid, api;
	__u64 entry;
	char comm[16];
};

struct lat {
	/* by switches and wakeups */
	__u64 since; /* the state holds from here on */
	__u64 woken; /* of a blocked thread; 0: it still is */
	__u32 state, cause;
	__u32 throttled;
	__u32 cpu;
	__u32 number; /* of switches */
	__u32 reserved;
	__u64 on_cpu;
	struct gpubpf_latency_off sum;
	/* by the thread itself */
	__u32 tid;
	__u32 open;                          /* entry is that of a call which has not returned */
	__u32 tgid, api;                     /* api: of that call */
	struct lat_point before, entry, now; /* last return, last entry, this return */
	struct lat_wait wait;                /* by switches and wakers */
};

enum { LATENCY_OFF, LATENCY_HASH, LATENCY_STORAGE };
#define NVIDIA_MAJORS 8

#define TARGET_FOLLOW 1u /* its children become targets */

struct result_key {
	__u32 api;
	__s32 result;
};

#ifdef __bpf__

/* Settings, frozen at load: the verifier removes what they switch off. */
const volatile __u8 trace_all;  /* every process is a target */
const volatile __u8 entry_only; /* emit at entry; no return probe stands */
const volatile __u32
	measure_one_of; /* launches in a row: about one of so many has its return probed; 0, 1: all */
const volatile __u8 can_leave_out; /* a session: a return probe need not be set at an entry */
const volatile __u64 in_a_row_ns;  /* a launch this soon after the last one is in a row with it */
const volatile __u8 has_view;      /* the recorder is in a pid namespace of its own: view_inum */
const volatile __u32 view_inum;
const volatile __u8 never; /* 0, which the compiler does not know */

const volatile __u8 latency;           /* where `struct lat` is kept */
const volatile __u8 latency_throttled; /* the kernel tells */
const volatile __s64
	preempt_count_from_rq; /* x86-64: from a processor's struct rq to its preemption count; 0: not known */
const volatile __u32 nvidia_majors[NVIDIA_MAJORS]; /* character devices of the GPU's driver; 0: none */

const volatile __u8 stacks;          /* STACKS_… */
const volatile __u64 stacks_slow_ns; /* of calls that take so long; 0: at entries */
const volatile __u32 stacks_one_of;  /* at entries: of about one call in so many; 0, 1: of all */
const volatile __u32 stacks_bytes;   /* of a copy */

/* How many threads with such a number keep a struct lat: what tells all other threads at each switch of the machine. */
#define WATCHED 16384
__u32 watched[WATCHED];

/* Set when the recording ends: no call is entered any more, while taking away perf-based probes goes on for seconds. */
volatile __u8 stopped;
/* Set when nothing is counted or recorded any more: threads stay as they are, but for `left`. */
volatile __u8 closed;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* thread id */
	__type(value, struct thread);
} threads SEC(".maps");

/* One of the two is made, the other never (user/attach/latency.c). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* thread id */
	__type(value, struct lat);
} lat_hash SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct lat);
} lat_storage SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);   /* tgid in the initial pid namespace */
	__type(value, __u32); /* TARGET_… */
} targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* tgid as the recorder's own pid namespace has it; used with has_view */
	__type(value, __u32);
} view_targets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPUBPF_API_MAX);
	__type(key, __u32);
	__type(value, struct gpubpf_counts);
} counts SEC(".maps");

/* Results other than CUDA_SUCCESS. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct result_key);
	__type(value, __u64);
} results SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPUBPF_PROBES);
	__type(key, __u32);
	__type(value, struct gpubpf_probe_counts);
} probe_counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, GPUBPF_G_MAX);
	__type(key, __u32);
	__type(value, __u64);
} globals SEC(".maps");

#endif
#endif
