/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The join of the two observers: call of the host (BPF) ↔ call as the shim saw it ↔ what ran on the device.
 *
 *   host call ↔ shim call   same process life, thread and kind of work; the shim's interval lies inside the host's
 *                           [entry, return], or, where the host recorded the entry alone, the shim's call begins behind
 *                           it and before the next such call of that thread. Exactly one of each, else AMBIGUOUS.
 *   shim call ↔ activity    same process life, session and correlation id; ids that came round (32 bits) are told apart by
 *                           time. One to many: a graph launch runs all its nodes.
 *
 * Order of arrival does not matter. Nothing is clamped or dropped: what cannot be joined is there and says why.
 * Memory: 104 bytes per launch that was seen by all three, and an index while it is built.
 *
 * Life: join__new(), then every record of the capture once, in the order of the file (calls through the model, so that
 * captured ones are known: model__watch(m, join__call, j); others by join__record()), join__finish(), then the rest
 * of this header. inspection__read_model() does all of that.
 */
#ifndef GPUBPF_JOIN_H
#define GPUBPF_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct join; /* opaque */
struct model;
struct proc;
struct view;

/* The populations of api_population_index() that ask for work on a device. */
enum { JOIN_POPULATIONS = 4 }; /* launches, graph launches, copies, sets */

/* The model must outlive the join: its processes are the join's. 0 or -ENOMEM. */
int join__new(struct model *m, struct join **out);
int join__call(const struct view *v, void *join); /* a model_call_fn. 0 or -ENOMEM */
/*
 * For captures whose calls have no room: before the first record. What ran is handed over as it comes and neither it nor
 * any call is kept; after join__finish() there are keys, names, lanes, sessions and counted losses, and no execution, call
 * or tie between them. `key` is for join__stream_key(); times are those of the record, which nobody has judged.
 */
typedef int join_stream_fn(uint32_t key, uint32_t lane, const struct gpubpf_activity *a, void *arg);
void join__stream(struct join *j, join_stream_fn *fn, void *arg);
uint32_t join__stream_key(const struct join *j, uint32_t key); /* join_activity.key, once finished */
size_t join__stream_keys(const struct join *j);
/* A copy or set of nothing, for which nothing runs. */
bool join_no_work(const struct view *v);
/* Records other than calls; kinds that do not concern the join are passed. Any content is safe. 0 or -ENOMEM. */
int join__record(struct join *j, const struct gpubpf_rec *rec);

struct join_end {            /* what is known of the capture as a whole; zero where it is not */
	uint64_t stopped_ns; /* host calls that began later were not recorded (gpubpf.Footer) */
	/* Of a merged capture: the same of a process, 0 where it is not known. It is asked until join__free(). */
	uint64_t (*stopped_of)(uint32_t tgid, const void *arg);
	const void *stopped_arg;
	uint64_t lost_items[GPUBPF_PROBES]; /* by BPF and by the writer (gpubpf.ProbeCounts): exact */
	bool has_lost_items;
	/*
	 * No probe stood in libcuda (gpubpf.Meta): the shim's calls stand for the host's. A call is then the outermost
	 * one of its thread that asks for work, its entry and return are those of CUPTI's callbacks, and nothing says
	 * whether it was captured into a graph or asked for nothing.
	 */
	bool host_left_out;
};
int join__finish(struct join *j, const struct join_end *end); /* 0 or -ENOMEM */
void join__free(struct join *j);                              /* NULL is fine */

/* ---- What the device did ---- */

/* R21. Times are judged here and nowhere else. */
enum join_time {
	JOIN_TIME_VALID = 0,
	JOIN_TIME_ZERO,      /* start = end = 0: CUPTI gave none */
	JOIN_TIME_END_FIRST, /* end < start */
	JOIN_TIME_OUTSIDE,   /* before its session was armed, or after it ended */
	JOIN_TIME_UNANCHORED, /* of CUPTI's own clock, and no pair ties it to CLOCK_MONOTONIC: only end - start means something */
	JOIN_TIMES,
};

enum join_link {
	JOIN_JOINED = 0, /* host call, shim call, activity; shim call, activity where the host was left out */
	JOIN_NO_HOST_CALL, /* a shim call, but the host recorded none: lost, or after it stopped */
	JOIN_ORPHAN,       /* no shim call has this correlation id */
	JOIN_AMBIGUOUS,    /* its shim call fits several host calls, or the id several shim calls */
	JOIN_OTHER_CALL,   /* of a call that is in no population (an allocation, a synchronization) */
	JOIN_DEVICE_LAUNCHED, /* correlation id 0, which no call has: the device launched it, as the body of a conditional graph node */
	JOIN_LINKS,
};

struct join_key { /* what stays the same from one execution to the next; number: join_activity.key */
	enum gpubpf_activity_kind kind;
	uint32_t
		name; /* kernel: 1 … join__names(); equal texts have one number in all processes. 0: not known (R9) */
	uint32_t
		name_id; /* kernel without a name: what the shim called it, within its process; 0: CUPTI gave none */
	uint32_t grid[3], block[3];
	bool has_cluster;
	uint8_t cluster[3];
	uint8_t cache_config;
	uint16_t registers;
	uint32_t static_shared, dynamic_shared, local_per_thread; /* bytes */
	/* copy; src_kind also of a set; of memory: copy_kind is enum join_memory_op, src_kind its kind */
	uint8_t copy_kind, src_kind, dst_kind;
	bool async, has_peer;
	uint32_t src_device, dst_device;
};

enum join_memory_op {
	JOIN_MEMORY_ALLOCATION = 1,
	JOIN_MEMORY_RELEASE = 2
}; /* CUpti_ActivityMemoryOperationType */

struct join_lane { /* where it ran; number: join_activity.lane */
	const struct join_session *session;
	uint32_t device, context, stream;
};

struct join_host_call {
	/* Of all calls that ask for work, nested ones too, in the order of join__call(); of_shim: as they came. From 0. */
	uint32_t number;
	const struct proc *proc; /* proc->selected: the reader asked for it */
	bool of_shim; /* the host observer was left out: tid is of its pid namespace, api means nothing */
	uint32_t tid;
	uint16_t api;
	unsigned population;
	uint64_t entry;
	bool has_return; /* not: recorded at its entry alone, or still open */
	uint64_t ret;    /* within 1 µs for calls longer than 2 s */
	bool captured;   /* recorded into a graph: nothing ran */
	bool failed;
};

struct join_activity {
	uint32_t key, lane;
	enum gpubpf_activity_kind kind;
	enum join_time time;
	enum join_link link;
	uint64_t start, end; /* CLOCK_MONOTONIC ns; as CUPTI gave them when time is not VALID */
	uint32_t correlation;
	bool has_node; /* ran as a node of a graph */
	uint32_t graph;
	uint64_t graph_node;
	uint64_t bytes;        /* copy, set */
	uint64_t memory_bytes; /* memory: of what was allocated or released */
	unsigned overhead;     /* overhead: enum join_overhead_kind, for join_overhead_name() */
	bool has_queued, has_submitted;
	uint64_t queued, submitted; /* as start */
	bool has_shim_call;         /* JOINED, NO_HOST_CALL, OTHER_CALL, some AMBIGUOUS */
	uint32_t shim_call;         /* for join__shim_call() */
	uint64_t call_start;        /* of the shim's call */
	bool call_failed;           /* the shim saw it return an error */
	bool has_call;              /* JOINED */
	struct join_host_call call; /* has_call */
};

/* In the order of start: VALID and OUTSIDE first, then the others as they came. 0 ≤ i < join__activities(). */
size_t join__activities(const struct join *j);
void join__activity(const struct join *j, size_t i, struct join_activity *a);
/* The part that a sweep over all needs, without the look at its calls. */
void join__activity_brief(const struct join *j, size_t i, struct join_activity *a);

size_t join__keys(const struct join *j);
const struct join_key *join__key(const struct join *j, uint32_t key);
size_t join__lanes(const struct join *j);
const struct join_lane *join__lane(const struct join *j, uint32_t lane);
size_t join__names(const struct join *j);
/* The name as in the module (mangled); NULL: 0, or not all its parts arrived. names__display() shows either. */
const char *join__name(const struct join *j, uint32_t name);

/* ---- Calls, one by one ---- */

/*
 * What became of a call of the host, as far as it can be told of a single one. Of NOTHING_RAN and UNSEEN the totals
 * (struct join_line) explain as many as losses were counted, and say how many nothing explains.
 */
enum join_fate {
	JOIN_FATE_RAN = 0,      /* at least one execution with valid times */
	JOIN_FATE_INVALID_TIME, /* executions, none with valid times */
	JOIN_FATE_FAILED,
	JOIN_FATE_CAPTURED, /* into a graph */
	JOIN_FATE_NO_WORK,  /* of zero bytes or elements */
	JOIN_FATE_OUTSIDE,  /* the device observer did not watch its process then */
	JOIN_FATE_IN_FLIGHT,
	JOIN_FATE_AMBIGUOUS,
	JOIN_FATE_NOTHING_RAN, /* the shim saw the call, and nothing ran for it */
	JOIN_FATE_UNSEEN,      /* its process was watched, and the shim saw no such call */
	JOIN_FATES,
};
/* By join_host_call.number, where the host observer was not left out. */
size_t join__host_calls(const struct join *j);
enum join_fate join__host_call_fate(const struct join *j, uint32_t number);
const char *join_fate_name(enum join_fate fate); /* "ran", "invalid_time" … */

enum join_shim_link {
	JOIN_SHIM_JOINED = 0,   /* to a call of the host */
	JOIN_SHIM_ALONE,        /* the host observer was left out: it stands for itself */
	JOIN_SHIM_NESTED,       /* the same, inside another one of its thread that stands for both */
	JOIN_SHIM_AMBIGUOUS,    /* several calls of the host fit */
	JOIN_SHIM_EARLY,        /* entered before the host observer stood there */
	JOIN_SHIM_LATE,         /* begun after it stopped */
	JOIN_SHIM_NO_HOST_CALL, /* its record is lost */
	JOIN_SHIM_OTHER,        /* in no population: an allocation, a synchronization */
	JOIN_SHIM_LINKS,
};

struct join_shim_call { /* a call as CUPTI's callbacks saw it */
	const struct join_session *session;
	uint32_t tid; /* of the process's own pid namespace */
	enum gpubpf_work work;
	uint64_t start;
	bool has_end;
	uint64_t end; /* within 1 µs for calls longer than 2 s */
	bool failed;  /* has_end */
	uint32_t correlation;
	enum join_shim_link link;
	uint32_t host_call;  /* JOINED: join_host_call.number; NESTED: the shim call around it */
	uint32_t executions; /* that carry its correlation id */
};
size_t join__shim_calls(const struct join *j); /* as they came */
void join__shim_call(const struct join *j, size_t i, struct join_shim_call *c);
const char *join_shim_link_name(enum join_shim_link link); /* "joined" … */
const char *join_work_name(unsigned work); /* of enum gpubpf_work: "launch" …; NULL: not known */

/* ---- Sessions: one arming of one process ---- */

enum join_session_state {
	JOIN_SESSION_FAILED = 0, /* never armed; `reason` where the shim said why */
	JOIN_SESSION_OPEN,       /* armed, and its end was not seen: the process or the recorder was killed */
	JOIN_SESSION_ENDED,      /* armed and disarmed */
};

struct join_facility {
	bool tried;
	int32_t result; /* CUptiResult of its enable (R5) */
};
#define JOIN_FACILITIES 32
#define JOIN_LOSSES 16

struct join_gap {                   /* sequences of one probe */
	uint64_t batches, items;    /* that arrived */
	uint64_t lost_batches;      /* numbers missing */
	uint64_t repeated;          /* numbers that came twice */
	uint64_t faults, cut_items; /* see enum gpubpf_shim_flags */
	uint64_t bad_items;         /* of a size or a content that cannot be */
};

struct join_cost { /* of callbacks of the shim, by its own clock (GPUBPF_STATUS_COST) */
	bool there;
	uint64_t seen, timed, ns, longest; /* ns and longest: of timed ones */
	uint64_t clock_ns;                 /* in each timed one: of reading the clock */
};

struct join_overhead { /* CUPTI's word on itself and on the driver (GPUBPF_ACTIVITY_OVERHEAD) */
	uint64_t records, untimed, ns, longest;
};
#define JOIN_OVERHEADS 10 /* join_overhead_name(); 0: of kinds that are not known */
enum join_overhead_kind { /* some of them: what the driver does for modules */
			  JOIN_OVERHEAD_COMPILER = 1,
			  JOIN_OVERHEAD_MODULE_LOADING = 5,
			  JOIN_OVERHEAD_LAZY_LOADING = 6,
};

struct join_session {
	const struct proc *proc;
	uint32_t number;
	enum join_session_state state;
	bool has_hello;
	struct gpubpf_hello hello;     /* texts end with a NUL; has_hello */
	uint64_t armed_from, armed_at; /* when arming began, when all was on; state != FAILED */
	uint64_t ended;                /* state == ENDED */
	uint16_t disarm;               /* enum gpubpf_disarm; 0: not known */
	uint16_t reason;               /* enum gpubpf_reason; 0: none was given */
	int32_t reason_value;
	struct join_facility facility[JOIN_FACILITIES]; /* by enum gpubpf_facility */
	uint64_t loss[JOIN_LOSSES];                     /* by enum gpubpf_shim_loss: the last word on each */
	uint64_t errors;                                /* GPUBPF_STATUS_CUPTI_ERROR */
	uint64_t made[GPUBPF_PROBES], handed[GPUBPF_PROBES]; /* GPUBPF_STATUS_COUNTS; has_counts */
	bool has_counts[GPUBPF_PROBES];
	struct join_cost cost[GPUBPF_CALLBACKS]; /* by enum gpubpf_callback: the last word on each */
	uint64_t calls, activities;              /* items that arrived */
	uint64_t clock_pairs;
	bool has_clock_error;
	uint64_t clock_error_ns; /* bound on what separates an activity's time from CLOCK_MONOTONIC */
};

size_t join__sessions(const struct join *j);
const struct join_session *join__session(const struct join *j, size_t i); /* by process, then time */
const char *join_reason_name(unsigned reason);     /* "second_subscriber" …; NULL: not known */
const char *join_facility_name(unsigned facility); /* "kernel" …; NULL: not known */
const char *join_reason_text(unsigned reason);     /* for people; NULL: not known */
const char *join_reason_remedy(unsigned reason);   /* "" when there is nothing to do */
const char *join_overhead_name(unsigned i);        /* "buffer_flush" …; NULL: not known */
bool join_overhead_is_cuptis(unsigned i);          /* else the driver's, there without CUPTI too */
const char *join_loss_name(unsigned loss);         /* "cupti_dropped" …; NULL: not known */

size_t join__modules(const struct join *j); /* loads and unloads, as they came */
const struct gpubpf_module *join__module(const struct join *j, size_t i, const struct join_session **session);

/* ---- What `record --cupti` asks for and that ran on no device: as it came ---- */

struct join_external { /* an id that the application gave CUPTI for a call (cuptiActivityPushExternalCorrelationId) */
	const struct join_session *session;
	uint32_t kind; /* CUpti_ExternalCorrelationKind: join_external_name() */
	uint64_t id;
	uint32_t correlation;
	bool has_call;   /* the shim saw the call: it asks for work, allocates or waits */
	bool has_work;   /* has_call: it is in a population */
	uint32_t thread; /* has_call: that made it, as the shim has it */
};
size_t join__externals(const struct join *j);
void join__external(const struct join *j, size_t i, struct join_external *e);
const char *join_external_name(unsigned kind); /* "custom0" …; NULL: not known */

struct join_marker { /* of NVTX: a moment, the start of a range or the end of one */
	const struct join_session *session;
	enum gpubpf_marker kind;
	uint32_t id; /* CUPTI's; start and end of a range share it */
	bool has_time;
	uint64_t time; /* CLOCK_MONOTONIC, or CUPTI's own clock where nothing ties it to that */
	bool has_name; /* the end of a range has none */
	uint32_t name; /* for join__name(); 0: its parts did not arrive: then name_id tells it apart */
	uint32_t name_id;
	bool has_domain;            /* not the default one */
	uint32_t domain, domain_id; /* likewise */
	bool has_thread;
	uint32_t thread;
	bool paired;  /* of a range: the other half is there, too */
	bool has_end; /* of a start */
	uint64_t end;
	bool ended_elsewhere; /* by another thread: no push and pop */
	/* Of a moment and of a start, where the session's GPUBPF_FACILITY_NVTX_DATA was on and the application gave it. */
	bool has_category, has_color, has_payload;
	uint32_t category;     /* a number of the application's own */
	uint32_t color;        /* alpha, red, green, blue from the top byte */
	uint32_t payload_kind; /* join_payload_name() */
	uint64_t payload;      /* its bits; not of GPUBPF_PAYLOAD_EXTENDED */
};
size_t join__markers(const struct join *j);
void join__marker(const struct join *j, size_t i, struct join_marker *m);
size_t join__marker_data_alone(const struct join *j); /* data whose marker did not arrive */
const char *join_payload_name(unsigned kind); /* of enum gpubpf_payload: "uint64" …; NULL: not known */

enum join_unified_counter { /* CUpti_ActivityUnifiedMemoryCounterKind */
			    JOIN_UNIFIED_HTOD = 1,
			    JOIN_UNIFIED_DTOH = 2,
			    JOIN_UNIFIED_CPU_FAULT = 3,
			    JOIN_UNIFIED_GPU_FAULT = 4,
			    JOIN_UNIFIED_THRASHING = 5,
			    JOIN_UNIFIED_THROTTLING = 6,
			    JOIN_UNIFIED_REMOTE_MAP = 7,
			    JOIN_UNIFIED_DTOD = 8,
};

struct join_unified_place {
	bool there, host;
	uint32_t device;
};

struct join_unified { /* one event of unified memory; its session's facility says whether the counter was on */
	const struct join_session *session;
	uint32_t counter; /* enum join_unified_counter */
	uint64_t
		value; /* bytes (has_bytes), groups of faults (has_groups), of CPU faults the program counter */
	bool has_bytes, has_groups;
	uint64_t address;
	uint32_t flags; /* join_unified_cause() */
	bool has_start; /* on CLOCK_MONOTONIC */
	uint64_t start;
	bool has_took; /* the counter has an end, and both were given */
	uint64_t took; /* ns */
	struct join_unified_place src, dst;
	bool has_devices;
	uint32_t devices; /* that fight for the memory, a bit each: with 32 and more CUPTI gives none */
};
size_t join__unifieds(const struct join *j);
void join__unified(const struct join *j, size_t i, struct join_unified *u);
const char *join_unified_name(unsigned counter);              /* "bytes_htod" …; NULL: not known */
const char *join_unified_cause(const struct join_unified *u); /* "prefetch" …; NULL: none, or not known */

/* ---- Totals ---- */

const char *join_kind_name(unsigned kind); /* of enum gpubpf_activity_kind: "kernel" …; NULL: not known */
const char *join_copy_name(unsigned kind); /* of enum gpubpf_copy_kind: "h2d" …; NULL: not known */
const char *join_copy_text(unsigned kind); /* "host to device" …; NULL: not known */
const char *join_memory_name(
	unsigned kind); /* of CUpti_ActivityMemoryKind: "pinned" …; NULL: none, or not known */
const char *join_link_name(enum join_link link);
const char *join_time_name(enum join_time time);

/*
 * Calls of the application (depth 0) whose record is in the file, each in exactly one term:
 *   calls = matched + failed + captured + invalid_time + no_work + device_launched + outside + in_flight + lost_shim
 *         + lost_ring + dropped + ambiguous + unexplained
 * Losses that are known only as totals explain at most as many calls as they count.
 */
struct join_line {
	uint64_t calls;
	uint64_t matched;      /* joined to at least one execution with valid times */
	uint64_t failed;       /* returned an error: nothing ran */
	uint64_t captured;     /* recorded into a graph: nothing ran */
	uint64_t invalid_time; /* joined, but no execution has valid times (R21) */
	uint64_t no_work;      /* of zero bytes or elements */
	uint64_t
		device_launched; /* graph launches without a record; one of JOIN_DEVICE_LAUNCHED, each its own, starts after them */
	uint64_t outside;   /* not watched by the device observer: its process was not armed then */
	uint64_t in_flight; /* had not run, or was not yet handed over, when its session ended */
	uint64_t lost_shim; /* what the shim counted as lost between callback and hand-over */
	uint64_t lost_ring; /* batches that the shim handed over and that are not in the file */
	uint64_t dropped;   /* records that CUPTI counted as dropped */
	uint64_t ambiguous; /* more than one shim call fits */
	uint64_t unexplained;
	uint64_t executions; /* activities joined to calls of this population, whatever their times */
	uint64_t nested;     /* calls inside other traced calls: in no term */
	/* join_end.host_left_out: calls are the shim's; captured, no_work and outside were not measured and are 0 */
};

struct join_times {              /* R21, one per kind */
	uint64_t records;        /* that reached the check */
	uint64_t by[JOIN_TIMES]; /* by enum join_time */
};
/* "kernel_timestamps_unavailable", "copy_timestamps_partial" …; NULL: none is wrong, or no record at all. */
const char *join_times_reason(enum gpubpf_activity_kind kind, const struct join_times *t);

struct join_violation {  /* an execution that started before its call was entered */
	size_t activity; /* for join__activity() */
	uint64_t early_ns;
};
#define JOIN_VIOLATIONS 32

struct join_totals {
	struct join_line line[JOIN_POPULATIONS];
	struct join_times times[8]; /* by enum gpubpf_activity_kind; 0: unknown kinds */
	uint64_t links[JOIN_LINKS]; /* activities by enum join_link */
	uint64_t orphans_by_kind[8];
	struct join_gap probe[GPUBPF_PROBES];
	uint64_t shim_calls;         /* in populations */
	uint64_t shim_calls_other;   /* allocations, synchronizations */
	uint64_t shim_calls_no_host; /* in populations, with no host call: record lost */
	uint64_t
		shim_calls_early; /* the same, entered before the host observer stood there: one per thread at most */
	uint64_t shim_calls_late; /* the same, begun after the host observer stopped */
	uint64_t shim_calls_ambiguous;
	uint64_t names_incomplete; /* parts missing */
	/* Causality: starts before entries, of JOINED ones with VALID times. */
	uint64_t early;        /* at all */
	uint64_t early_beyond; /* by more than the session's clock error, or with no bound known */
	uint64_t early_worst_ns;
	bool has_clock_error;
	uint64_t clock_error_ns;                          /* the worst of all sessions */
	struct join_violation violation[JOIN_VIOLATIONS]; /* the worst first */
	unsigned nviolations;
	uint64_t armed_sessions, failed_sessions, open_sessions;
	uint64_t loss[JOIN_LOSSES]; /* sums over the sessions */
	uint64_t activities, kernels, copies, sets;
	struct join_overhead overhead[JOIN_OVERHEADS];
	uint64_t processes;           /* that called for work */
	uint64_t processes_unwatched; /* of them: had no armed session */
	uint64_t graphs;              /* that ran nodes, per session */
	uint64_t graph_launches;      /* of them */
	uint64_t graph_nodes;         /* executions in these launches */
	uint64_t graph_unknown; /* launches of graphs from before the capture: how many nodes is not known */
	uint64_t
		graph_shortfall; /* executions that the launches lack against the one of their graph that ran most */
};

const struct join_totals *join__totals(const struct join *j);

#endif
