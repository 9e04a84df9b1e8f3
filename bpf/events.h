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

#include "events_stack.h"

#define GPUBPF_WIRE_ABI 1

/* Every record starts with this. `size` is the whole record, a multiple of 8. */
struct gpubpf_rec {
	__u16 kind; /* enum gpubpf_rec_kind */
	__u16 size;
	__u32 flags; /* meaning per kind */
};

enum gpubpf_rec_kind {
	GPUBPF_REC_CALL = 1,    /* struct gpubpf_call: a traced call that returned (or, entry only, began) */
	GPUBPF_REC_TASK = 2,    /* struct gpubpf_task: life of a traced process or thread */
	GPUBPF_REC_XID = 3,     /* struct gpubpf_xid: GPU error reported by the kernel driver */
	GPUBPF_REC_SHIM = 4,    /* struct gpubpf_shim: one batch of the device observer */
	GPUBPF_REC_LATENCY = 5, /* struct gpubpf_latency: where the time of a call went */
	GPUBPF_REC_WAKER = 6,   /* struct gpubpf_waker: one wait in a futex and who ended it */
	GPUBPF_REC_STACK = 7,   /* struct gpubpf_stack: who made a call; and what such stacks are made of */
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

#include "events_latency.h"

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

/*
 * ---- The device observer ----
 *
 * The shim hands over arrays of one item type through one probe hit each: (items, how many, sequence). BPF copies
 * them, unread, behind a struct gpubpf_shim. The sequence runs per probe and process from 0, +1 per hit; what the
 * shim discards while nobody is attached takes no number.
 *
 * Life: a semaphore that rises arms the shim (all probes are attached, hello_v1 last). hello_v1's falling while the
 * others stand asks for the end: device work is awaited up to a deadline, everything is flushed, and a
 * GPUBPF_STATUS_DISARMED says that nothing more comes. All falling (the recorder died) disarms without a word.
 */
enum gpubpf_probe { /* the order of usdt/contract.c */
		    GPUBPF_PROBE_HELLO = 0,
		    GPUBPF_PROBE_CALLS = 1,
		    GPUBPF_PROBE_ACTIVITY = 2,
		    GPUBPF_PROBE_NAMES = 3,
		    GPUBPF_PROBE_MODULES = 4,
		    GPUBPF_PROBE_STATUS = 5,
		    GPUBPF_PROBES = 6,
};

#define GPUBPF_SHIM_ABI 1
#define GPUBPF_BATCH_MAX 16384 /* bytes of items in one hit */

enum gpubpf_shim_flags {
	GPUBPF_SHIM_FAULT = 1u << 0, /* the items could not be read: none are here */
	GPUBPF_SHIM_CUT = 1u << 1,   /* more than GPUBPF_BATCH_MAX: `sent` says how many there were */
};

struct gpubpf_shim {
	__u16 kind;
	__u16 size;
	__u32 flags;
	__u32 tgid; /* of the thread that fired the probe */
	__u32 tid;
	__u64 time;
	__u64 sequence;
	__u16 probe; /* enum gpubpf_probe */
	__u16 item_size;
	__u32 count; /* items here */
	__u32 sent;  /* items of the hit */
	__u32 reserved;
	__u64 items[];
};

/* How the times of activities were taken. */
enum gpubpf_time_source {
	GPUBPF_TIME_MONOTONIC = 1, /* CUPTI asked our callback: CLOCK_MONOTONIC already */
	GPUBPF_TIME_CUPTI = 2, /* CUPTI's own clock: GPUBPF_STATUS_CLOCK pairs tie it to CLOCK_MONOTONIC */
};

enum gpubpf_arming {
	GPUBPF_ARMED_INLINE = 1, /* inside InitializeInjection, before the first CUDA call returned */
	GPUBPF_ARMED_ATTACH = 2, /* a recorder came to a running process */
};

/*
 * By the shim's worker thread alone: BPF takes the calls of that thread for the tracer's own. Comes several times in a
 * session, and the last one counts: before CUPTI is touched (what is not known yet is 0), when the session is armed or
 * has failed, and each second, with the facilities and ARMED or FAILED once more: a recorder that comes while another
 * is attached raises no semaphore that is up, so nothing tells the shim that it is there.
 */
struct gpubpf_hello {
	__u32 abi;
	__u32 session; /* from 1, +1 per arming of this process */
	__u32 pid;     /* in the process's own pid namespace, as all ids of the shim */
	__u32 worker_tid;
	__u64 time;
	__u64 start_time;    /* of the process: /proc/self/stat field 22, clock ticks */
	__u32 cupti_version; /* cuptiGetVersion(); 0: not known, likewise below */
	__u32 driver_version;
	__u32 time_source; /* enum gpubpf_time_source; 0: CUPTI could not be used */
	__u32 arming;      /* enum gpubpf_arming */
	__u8 build_id[20];
	char version[20];
	char cupti_path[176]; /* the end of a longer one */
};

enum gpubpf_work { /* what a call asks the device for */
		   GPUBPF_WORK_LAUNCH = 1,
		   GPUBPF_WORK_GRAPH = 2,
		   GPUBPF_WORK_COPY = 3,
		   GPUBPF_WORK_SET = 4,
		   GPUBPF_WORK_ALLOC = 5,
		   GPUBPF_WORK_SYNC = 6,
};

enum gpubpf_domain { GPUBPF_DOMAIN_DRIVER = 1, GPUBPF_DOMAIN_RUNTIME = 2 };

enum gpubpf_shim_call_flags {
	GPUBPF_SHIM_CALL_NO_END = 1u << 0, /* its end was not seen: end and result are 0 and mean nothing */
};

/* One API call as CUPTI's callbacks saw it. */
struct gpubpf_shim_call {
	__u64 start, end;
	__u32 correlation;
	__u32 tid;
	__s32 result;
	__u16 cbid;
	__u8 domain; /* enum gpubpf_domain */
	__u8 work;   /* enum gpubpf_work */
	__u32 flags;
	__u32 session;
};

enum gpubpf_activity_kind {
	GPUBPF_ACTIVITY_KERNEL = 1,
	GPUBPF_ACTIVITY_COPY = 2,
	GPUBPF_ACTIVITY_SET = 3,
	GPUBPF_ACTIVITY_GRAPH = 4, /* a whole graph launch, where CUPTI traces no nodes */
	GPUBPF_ACTIVITY_SYNC = 5,
	GPUBPF_ACTIVITY_MEMORY = 6,
	GPUBPF_ACTIVITY_OVERHEAD = 7,
	GPUBPF_ACTIVITY_EXTERNAL = 8,     /* an id that the application tied to a call; no times */
	GPUBPF_ACTIVITY_MARKER = 9,       /* NVTX: start and end are the moment */
	GPUBPF_ACTIVITY_UNIFIED = 10,     /* a counter of unified memory */
	GPUBPF_ACTIVITY_MARKER_DATA = 11, /* what a marker's NVTX gave beside the name; no times */
};

enum gpubpf_activity_flags {
	GPUBPF_ACTIVITY_HAS_NODE = 1u << 0,    /* graph and graph_node are there */
	GPUBPF_ACTIVITY_HAS_QUEUED = 1u << 1,  /* u.kernel.queued */
	GPUBPF_ACTIVITY_HAS_SUBMIT = 1u << 2,  /* u.kernel.submitted */
	GPUBPF_ACTIVITY_HAS_CLUSTER = 1u << 3, /* u.kernel.cluster */
	GPUBPF_ACTIVITY_ASYNC = 1u << 4,       /* of a copy: CUPTI says so */
	GPUBPF_ACTIVITY_PEER = 1u << 5,        /* u.copy.src_device and dst_device */
	GPUBPF_ACTIVITY_HAS_THREAD = 1u << 6,  /* of a marker: its thread, as the system numbers it */
	GPUBPF_ACTIVITY_HAS_COLOR = 1u << 7,   /* of a marker's data */
};

enum gpubpf_marker { GPUBPF_MARKER_INSTANT = 1, GPUBPF_MARKER_START = 2, GPUBPF_MARKER_END = 3 };

enum gpubpf_payload { /* CUpti_MetricValueKind; others are CUPTI's business */
		      GPUBPF_PAYLOAD_DOUBLE = 0,
		      GPUBPF_PAYLOAD_UINT64 = 1,
		      GPUBPF_PAYLOAD_INT64 = 4,
		      GPUBPF_PAYLOAD_EXTENDED =
			      6, /* a structure of the application's own: its value is not here */
};

#define GPUBPF_UNIFIED_COUNTERS 8 /* CUpti_ActivityUnifiedMemoryCounterKind: 1 … */
#define GPUBPF_UNIFIED_HOST 0xffffffffu

/* Ids of names from here on are NVTX's: an application that makes up names without end costs no kernel its own. */
#define GPUBPF_NAME_LABELS 65536

enum gpubpf_copy_kind { /* CUpti_ActivityMemcpyKind */
			GPUBPF_COPY_UNKNOWN = 0,
			GPUBPF_COPY_HTOD = 1,
			GPUBPF_COPY_DTOH = 2,
			GPUBPF_COPY_HTOA = 3,
			GPUBPF_COPY_ATOH = 4,
			GPUBPF_COPY_ATOA = 5,
			GPUBPF_COPY_ATOD = 6,
			GPUBPF_COPY_DTOA = 7,
			GPUBPF_COPY_DTOD = 8,
			GPUBPF_COPY_HTOH = 9,
			GPUBPF_COPY_PTOP = 10,
};

/* One thing that ran on the device. Times as CUPTI gave them, right or wrong: the reader judges. */
struct gpubpf_activity {
	__u16 kind; /* enum gpubpf_activity_kind */
	__u16 flags;
	__u32 correlation;
	__u64 start, end;
	__u32 device, context, stream;
	__u32 graph;
	__u64 graph_node;
	__u32 session;
	__u32 name; /* of a kernel: gpubpf_name.id; 0: CUPTI gave none */
	union {
		struct {
			__u32 grid[3], block[3];
			__u32 static_shared, dynamic_shared, local_per_thread; /* bytes */
			__u16 registers;
			__u8 cluster[3];
			__u8 cache_config;
			__u64 queued, submitted;
		} kernel;
		struct {
			__u64 bytes;
			__u8 copy_kind;          /* enum gpubpf_copy_kind */
			__u8 src_kind, dst_kind; /* CUpti_ActivityMemoryKind */
			__u8 pad[5];
			__u32 src_device, dst_device, src_context, dst_context;
		} copy;
		struct {
			__u64 bytes;
			__u32 value;
			__u8 memory_kind;
			__u8 pad[3];
		} set;
		/*
		 * SYNC: CUpti_ActivitySynchronizationType, CUPTI's event id.
		 * MEMORY (start and end are the moment): bytes, address, CUpti_ActivityMemoryOperationType,
		 * CUpti_ActivityMemoryKind. OVERHEAD: CUpti_ActivityOverheadKind, CUpti_ActivityObjectKind, its
		 * object: process and thread << 32, or device, context << 32 and, next, stream.
		 * EXTERNAL: CUpti_ExternalCorrelationKind, the id. MARKER (with a name, but at the end of a range): CUPTI's
		 * id of the range, enum gpubpf_marker, gpubpf_name.id of the domain (0: the default one), process,
		 * thread (GPUBPF_ACTIVITY_HAS_THREAD). MARKER_DATA: CUPTI's id of the range or mark, category (0: none),
		 * color (GPUBPF_ACTIVITY_HAS_COLOR: alpha, red, green, blue from the top byte), enum gpubpf_payload, the
		 * payload's 8 bytes; double and 0: none, or 0.0, which CUPTI does not tell apart.
		 * UNIFIED: CUpti_ActivityUnifiedMemoryCounterKind, value, address, source, destination (both as CUPTI gives
		 * them: GPUBPF_UNIFIED_HOST is the host), flags. What a counter has no use for means nothing.
		 */
		__u64 raw[8];
	} u;
	__u64 reserved;
};

/*
 * A piece of a kernel's (mangled) name. Sent in each session that uses it, before or after the first activity that does,
 * and again from time to time, for the same reason as hello.
 */
struct gpubpf_name {
	__u32 id;          /* from 1, within a process */
	__u16 part, parts; /* part counts from 0 */
	__u16 len;         /* bytes of text here */
	__u16 reserved;
	char text[116];
};

struct gpubpf_module {
	__u64 start, end; /* of the load, as the callback saw it; 0: not seen */
	__u64 bytes;      /* of the cubin */
	__u32 id;         /* CUPTI's */
	__u32 crc;        /* CRC-32C of the cubin */
	__u32 context;
	__u32 flags; /* enum gpubpf_module_flags */
	__u32 session;
	__u32 reserved[3];
};

enum gpubpf_module_flags {
	GPUBPF_MODULE_UNLOADED = 1u << 0,
	GPUBPF_MODULE_NO_CRC = 1u << 1, /* there was no room to copy the cubin */
};

enum gpubpf_status_kind {
	GPUBPF_STATUS_ARMED = 1, /* a: when arming began; time: when the last facility was on */
	GPUBPF_STATUS_DISARMED =
		2, /* nothing more comes in this session; code: enum gpubpf_disarm, a: when calls were no longer taken */
	GPUBPF_STATUS_FACILITY = 3, /* code: enum gpubpf_facility, value: CUptiResult of its enable */
	GPUBPF_STATUS_LOSS = 4,     /* code: enum gpubpf_shim_loss, a: how many in this session so far */
	GPUBPF_STATUS_CLOCK =
		5, /* a: MONOTONIC, b: REALTIME, c: BOOTTIME, d: CUPTI, e: half the bracket, all ns */
	GPUBPF_STATUS_FAILED = 6, /* arming failed; code: enum gpubpf_reason, value: CUptiResult or errno */
	GPUBPF_STATUS_CUPTI_ERROR = 7, /* later failure: code: enum gpubpf_facility, value: CUptiResult */
	GPUBPF_STATUS_COUNTS =
		8, /* code: enum gpubpf_probe, a: items made in this session, b: of them handed over */
	/* gate.h. code: lifecycle, value: readiness, a: reason, with the notes from bit 32 on, b: first touch,
	 * c: deadline, d: sequence of the file, e: warmup; ns */
	GPUBPF_STATUS_GATE = 9,
	/* CUPTI matched the device's clock with MONOTONIC; a: when, b: its error at most, c, d: the same of the time before, 0: none; ns */
	GPUBPF_STATUS_MATCH = 10,
	/* What CUPTI's callbacks took of the application's threads in this session so far. code: enum gpubpf_callback, a: how
	 * many there were, b: of these timed, c: ns that those took, d: ns of the longest, e: of each timed one, ns of reading the clock */
	GPUBPF_STATUS_COST = 11,
};

/* Of the shim. Each but the modules' is timed about once in 64 times, drawn at random. */
enum gpubpf_callback {
	GPUBPF_CALLBACK_ENTER = 1, /* of a driver call */
	GPUBPF_CALLBACK_LEAVE = 2, /* with the hand-over of what has gathered */
	GPUBPF_CALLBACK_MODULE = 3,
	GPUBPF_CALLBACKS = 4, /* behind the last one */
};

/* clang-format off */
/* name, number, the word that reports and the gate's file have for it */
#define GPUBPF_FACILITIES(X) \
	X(SUBSCRIBE, 1, "subscribe") X(TIMESTAMP, 2, "timestamp") X(BUFFERS, 3, "buffers") X(KERNEL, 4, "kernel") \
	X(COPY, 5, "copy") X(COPY_PEER, 6, "copy_peer") X(SET, 7, "set") X(CALLBACKS, 8, "callbacks") \
	X(MODULES, 9, "modules") X(LATENCY, 10, "latency") X(FLUSH, 11, "flush") X(SYNC, 12, "sync") \
	X(MEMORY, 13, "memory") X(OVERHEAD, 14, "overhead") X(UNSUBSCRIBE, 15, "unsubscribe") \
	X(EXTERNAL, 16, "external") \
	X(DRIVER_CALLS, 17, "driver_calls") /* CUPTI's own records of calls: only they make EXTERNAL ones */ \
	X(NVTX, 18, "nvtx") \
	X(THREAD_IDS, 19, "thread_ids") /* of the system instead of pthread's, in markers */ \
	X(UNIFIED, 20, "unified_memory") \
	/* and each counter of it: UNIFIED + CUpti_ActivityUnifiedMemoryCounterKind */ \
	X(UNIFIED_BYTES_HTOD, 21, "unified_bytes_htod") X(UNIFIED_BYTES_DTOH, 22, "unified_bytes_dtoh") \
	X(UNIFIED_CPU_FAULTS, 23, "unified_cpu_faults") X(UNIFIED_GPU_FAULTS, 24, "unified_gpu_faults") \
	X(UNIFIED_THRASHING, 25, "unified_thrashing") X(UNIFIED_THROTTLING, 26, "unified_throttling") \
	X(UNIFIED_REMOTE_MAP, 27, "unified_remote_map") X(UNIFIED_BYTES_DTOD, 28, "unified_bytes_dtod") \
	X(NVTX_DATA, 29, "nvtx_data") /* categories, colors and payloads of markers */
/* clang-format on */

#define GPUBPF_FACILITY_X(name, value, word) GPUBPF_FACILITY_##name = (value),
enum gpubpf_facility {
	GPUBPF_FACILITIES(GPUBPF_FACILITY_X) GPUBPF_FACILITY_END, /* behind the last one */
};
#undef GPUBPF_FACILITY_X

enum gpubpf_disarm {
	GPUBPF_DISARM_ASKED = 1, /* by the recorder */
	GPUBPF_DISARM_EXIT = 2,  /* the process ends */
	GPUBPF_DISARM_LATE = 3,  /* asked, but device work or a flush outlived the deadline */
};

enum gpubpf_shim_loss {
	GPUBPF_LOSS_CUPTI_DROPPED = 1, /* cuptiActivityGetNumDroppedRecords() */
	GPUBPF_LOSS_NO_BUFFER = 2,     /* CUPTI's requests that the pool could not serve: records unknown */
	GPUBPF_LOSS_CALLS = 3, /* calls: no room in the thread's buffer, or no buffer for one more thread */
	GPUBPF_LOSS_NAMES = 4, /* kernels whose name found no room: name 0 */
	GPUBPF_LOSS_MODULES = 5,
	GPUBPF_LOSS_UNKNOWN_KIND = 6, /* activity records of a kind that was not asked for */
	GPUBPF_LOSS_IN_FLIGHT = 7,    /* device work still running at the deadline of the last flush */
	GPUBPF_LOSS_LABELS = 8,       /* names of NVTX that found no room: 0 */
};

enum gpubpf_reason {
	GPUBPF_REASON_CUPTI_MISSING = 1,
	GPUBPF_REASON_CUPTI_INCOMPLETE = 2, /* a required symbol is not there */
	GPUBPF_REASON_SECOND_SUBSCRIBER = 3,
	GPUBPF_REASON_NOT_PERMITTED = 4,
	GPUBPF_REASON_FACILITY = 5,  /* a required one was refused; its FACILITY status says with what */
	GPUBPF_REASON_SUBSCRIBE = 6, /* refused for another reason: value */
	GPUBPF_REASON_MEMORY = 7,
	GPUBPF_REASON_FORKED = 8,
};

struct gpubpf_status {
	__u16 kind; /* enum gpubpf_status_kind */
	__u16 code;
	__s32 value;
	__u32 session;
	__u32 reserved;
	__u64 time;
	__u64 a, b, c, d, e;
};

/* Bytes of an item, by probe: an initializer of an array. */
#define GPUBPF_ITEM_SIZES                                                                                    \
	{                                                                                                    \
		[GPUBPF_PROBE_HELLO] = sizeof(struct gpubpf_hello),                                          \
		[GPUBPF_PROBE_CALLS] = sizeof(struct gpubpf_shim_call),                                      \
		[GPUBPF_PROBE_ACTIVITY] = sizeof(struct gpubpf_activity),                                    \
		[GPUBPF_PROBE_NAMES] = sizeof(struct gpubpf_name),                                           \
		[GPUBPF_PROBE_MODULES] = sizeof(struct gpubpf_module),                                       \
		[GPUBPF_PROBE_STATUS] = sizeof(struct gpubpf_status),                                        \
	}

/* Per CPU and probe: what became of the hits. */
struct gpubpf_probe_counts {
	__u64 hits, items;           /* of targets */
	__u64 lost_hits, lost_items; /* no room in the ring */
	__u64 faults;
	__u64 cut_items; /* behind GPUBPF_BATCH_MAX */
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
	GPUBPF_G_TRACER_CALLS = 5,  /* calls by the shim's own thread: no workload, otherwise ignored */
	GPUBPF_G_LATENCY_LOST = 6,  /* breakdowns of calls that found no room in the ring */
	GPUBPF_G_LATENCY_FULL = 7,  /* threads that found no room where their time is kept */
	GPUBPF_G_WAKER_LOST = 8,    /* waits in a futex that found no room in the ring */
	GPUBPF_G_STACK_LOST = 9,    /* stacks of calls that found no room in the ring */
	GPUBPF_G_STACK_UNRESOLVED =
		14, /* stacks that were not turned into functions in time: counted by the recorder */
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
_Static_assert(sizeof(struct gpubpf_shim) == 48, "wire");
_Static_assert(sizeof(struct gpubpf_hello) == 264, "wire");
_Static_assert(sizeof(struct gpubpf_shim_call) == 40, "wire");
_Static_assert(sizeof(struct gpubpf_activity) == 128, "wire");
_Static_assert(__builtin_offsetof(struct gpubpf_activity, u) == 56, "wire");
_Static_assert(sizeof(struct gpubpf_name) == 128, "wire");
_Static_assert(sizeof(struct gpubpf_module) == 56, "wire");
_Static_assert(sizeof(struct gpubpf_status) == 64, "wire");
_Static_assert(sizeof(struct gpubpf_probe_counts) == 48, "wire");
_Static_assert(sizeof(struct gpubpf_counts) == 104, "wire");
#endif

#endif
