/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of user/join share. Numbers of elements are 32 bits wide; a reference is a number + 1, 0 for none. */
#ifndef GPUBPF_JOIN_PRIV_H
#define GPUBPF_JOIN_PRIV_H

#include "join/join.h"
#include "join/vec.h"
#include "model/model.h"

/* A call of the host, of a population. */
struct bcall {
	uint64_t entry;
	uint32_t
		dur; /* pack_dur(); without BCALL_RETURNED, once matched: until its thread entered the next, 0: none */
	uint32_t thread; /* number of a struct bthread */
	uint32_t info;
	uint32_t scall; /* reference; the outermost that fits */
};

#define BCALL_API(info) ((info)&0xfff)
#define BCALL_POPULATION(info) ((info) >> 12 & 3)
#define BCALL_SET_POPULATION(p) ((uint32_t)(p) << 12)
enum {
	BCALL_FAILED = 1 << 14,
	BCALL_OPEN = 1 << 15,
	BCALL_RETURNED = 1 << 16,
	BCALL_CAPTURED = 1 << 17,
	BCALL_NESTED = 1 << 18,
	BCALL_NO_WORK = 1 << 19,
	BCALL_AMBIGUOUS = 1 << 20,
	BCALL_ACTS = 1 << 21,  /* something ran for it */
	BCALL_VALID = 1 << 22, /* with times that hold */
};

/* A call as the shim saw it. */
struct scall {
	uint64_t start;
	uint32_t dur; /* pack_dur() */
	uint32_t correlation;
	uint32_t thread; /* number of a struct sthread */
	uint32_t bcall;  /* reference; with SCALL_NESTED: of the scall around it */
	uint32_t next;   /* reference: another with the same session and correlation id */
	uint32_t info;
};

#define SCALL_WORK(info) ((info)&7)
enum {
	SCALL_FAILED = 1 << 3,
	SCALL_NO_END = 1 << 4,
	SCALL_AMBIGUOUS = 1 << 5,
	SCALL_COUNTED = 1 << 6, /* by the count of graph nodes */
	SCALL_EARLY = 1 << 7,   /* entered before the host observer stood in its way */
	SCALL_NESTED =
		1 << 8, /* the host observer was left out, and this is inside another call of its thread */
	SCALL_RAN = 1 << 9,    /* the same: something ran for it, or for one inside it */
	SCALL_VALID = 1 << 10, /* with times that hold */
};
#define SCALL_ACTS_SHIFT 12 /* above: how many things ran for it, as far as that fits */

#define ACT_AMBIGUOUS UINT32_MAX /* act.call: several calls have this id and nothing tells which */

struct act {
	uint64_t start, end;
	uint64_t
		aux; /* copy, set, memory: bytes; kernel: reference into join.latency; overhead: for join_overhead_name() */
	uint32_t correlation;
	uint32_t key, lane; /* numbers */
	uint32_t node;      /* reference */
	uint32_t call;      /* reference to a scall, or ACT_AMBIGUOUS */
	uint32_t arrival;   /* ms, modulo 2^32 */
};

struct latency {
	uint64_t queued, submitted;
	bool has_queued, has_submitted;
};

struct bthread {         /* a thread of a process life, as the host sees it */
	uint64_t key[2]; /* struct proc *, tid */
	uint32_t number;
	uint32_t ncalls, first; /* of its calls in the order, while matching */
	uint32_t nscalls, sfirst;
};

struct sthread {         /* a thread of a session, as the shim sees it */
	uint64_t key[2]; /* session, tid in its own pid namespace */
	uint32_t number;
	uint32_t bthread;       /* reference */
	uint32_t ncalls, first; /* of its calls in the order, while nesting */
};

struct ns_thread {       /* ids of a thread, from a task record */
	uint64_t key[2]; /* struct proc *, tid in its own pid namespace */
	uint32_t tid;
};

struct node {
	uint64_t key[2]; /* graph, node */
	uint32_t number;
};

struct graph {           /* what ran, by graph */
	uint64_t key[2]; /* session, graph */
	uint64_t launches, nodes;
	uint32_t most;
};

struct lane {
	uint64_t key[3]; /* session, device and context, stream */
	uint32_t number;
	struct join_lane pub;
};

struct raw_key { /* a key as it arrives: the name's id is the process's own */
	struct join_key key;
	uint64_t proc; /* whose id; 0 when key.name is 0 */
};

struct key_entry {
	union {
		struct raw_key raw;
		uint64_t words[(sizeof(struct raw_key) + 7) / 8];
	} u;
	uint32_t number;
	uint32_t canonical;
};

struct piece {
	uint32_t next; /* reference */
	uint16_t part, parts, len;
	char text[116];
};

struct name_id {         /* an id of a process and what it stands for */
	uint64_t key[2]; /* struct proc *, id */
	uint32_t pieces; /* reference to the newest */
	uint32_t number; /* 1 …; 0: parts are missing */
	char *text;      /* owned */
};

struct run { /* sequence numbers that came one after the other */
	uint64_t first, last;
};

struct runs {
	struct run *v;
	size_t n, room;
};

struct jproc {
	uint64_t key; /* struct proc * */
	struct runs runs[GPUBPF_PROBES];
	uint64_t missing[GPUBPF_PROBES];   /* batches, once finished */
	bool own_ids;                      /* its pid namespace is not the initial one */
	bool called;                       /* for work, at depth 0 */
	uint32_t first_session, nsessions; /* in join.order */
};

struct pair {
	uint64_t mono, cupti, error;
};

struct match { /* CUPTI's of the device's clock with ours */
	uint64_t time, error;
};

struct session {
	uint64_t key[2]; /* struct proc *, number */
	uint32_t number;
	struct join_session pub;
	struct jproc *proc;
	struct pair *pairs;
	size_t npairs, room;
	struct match *matches; /* in time, once settled */
	size_t nmatches, match_room;
	bool armed_seen, ended_seen, failed_seen;
	uint64_t stop;             /* calls that began later were not taken */
	uint64_t first, last_call; /* of all its items; start of its last call */
	uint64_t last_start;       /* of what ran */
	uint64_t got[GPUBPF_PROBES];
	/* calls that nothing but a loss can explain: with and without a call of the shim */
	uint64_t silent[JOIN_POPULATIONS], unseen[JOIN_POPULATIONS];
	uint64_t waiting; /* while device_launched() looks: silent graph launches so far */
};

#define SESSIONS_MAX 65536 /* more is no capture */

struct index_slot {
	uint32_t call; /* reference to a scall; 0: free */
	uint32_t correlation;
};

struct join {
	struct model *model;
	struct join_end end;
	struct vec bcalls, scalls, acts, latency, pieces, modules;
	struct vec externals, markers, marker_data, unified;
	uint32_t data_alone; /* of marker_data: of no marker */
	struct vec silent_graphs;
	struct hmap bthreads, sthreads, ns_threads, procs, sessions, lanes, keys, canonical, nodes, names,
		graphs;
	uint32_t nnames;
	const char **name_text; /* by number, from 1 */
	uint32_t *order;        /* of acts, in time */
	uint32_t ntimed;
	struct session **by_proc; /* all, by process and number */
	struct index_slot *index; /* by session and correlation id */
	uint32_t index_mask;
	struct join_totals totals;
	join_stream_fn *stream; /* nothing is kept; NULL: everything is */
	void *stream_arg;
	/* what came last is what comes next */
	struct bthread *recent[256];
	struct session *last_session;
	struct sthread *last_sthread;
	struct lane *last_lane;
	struct key_entry *last_key;
	struct jproc *last_proc;
	uint32_t last_tgid;
};

struct external {
	uint64_t id;
	uint32_t session, kind, correlation;
	uint32_t call;    /* reference to a scall, or ACT_AMBIGUOUS */
	uint32_t arrival; /* as of an act */
};

struct marker {
	uint64_t time;
	uint32_t session, id, name_id, domain_id, thread;
	uint32_t other; /* reference: of a start the end, of an end the start */
	uint32_t data;  /* reference to a marker_data */
	uint8_t kind;   /* enum gpubpf_marker */
	bool has_thread;
};

struct marker_data { /* that says something */
	uint64_t payload;
	uint32_t session, id, category, color;
	uint32_t before; /* markers that came before it */
	uint32_t payload_kind : 31, has_color : 1;
};

struct unified_item {
	uint64_t start, end, value, address;
	uint32_t session, counter, src, dst, flags;
};

/* A graph launch that nothing ran for by its correlation id. */
struct silent_graph {
	uint64_t entry;
	struct session *session;
};

struct module_item {
	struct gpubpf_module m;
	uint32_t session;
};

/* Nanoseconds in 32 bits: exact below 2 s, in units of 1,024 ns above. */
static inline uint32_t pack_dur(uint64_t ns, bool up)
{
	uint64_t units;

	if (ns < UINT64_C(1) << 31)
		return (uint32_t)ns;
	units = (ns >> 10) + (up ? 1 : 0);
	return UINT32_C(1) << 31 | (units < INT32_MAX ? (uint32_t)units : INT32_MAX);
}

static inline uint64_t unpack_dur(uint32_t d)
{
	return d >> 31 ? (uint64_t)(d & INT32_MAX) << 10 : d;
}

static inline uint64_t add_clamped(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static inline struct bcall *bcall_at(const struct join *j, uint32_t i)
{
	return vec__at(&j->bcalls, i);
}

static inline struct scall *scall_at(const struct join *j, uint32_t i)
{
	return vec__at(&j->scalls, i);
}

static inline struct act *act_at(const struct join *j, uint32_t i)
{
	return vec__at(&j->acts, i);
}

static inline struct session *session_at(const struct join *j, uint64_t i)
{
	return hmap__at(&j->sessions, i);
}

static inline struct session *session_of_call(const struct join *j, const struct scall *s)
{
	return session_at(j, ((struct sthread *)hmap__at(&j->sthreads, s->thread))->key[0]);
}

/* Begun after the host observer stopped, which a merged capture has a time of for each of its members. */
static inline bool scall_late(const struct join *j, const struct scall *s)
{
	uint64_t stopped = j->end.stopped_ns;

	if (j->end.stopped_of)
		stopped = j->end.stopped_of(session_of_call(j, s)->pub.proc->tgid, j->end.stopped_arg);
	return stopped && s->start >= stopped;
}

static inline struct lane *lane_of(const struct join *j, const struct act *a)
{
	return hmap__at(&j->lanes, a->lane);
}

static inline struct session *session_of(const struct join *j, const struct act *a)
{
	return session_at(j, lane_of(j, a)->key[0]);
}

static inline const struct join_key *key_of(const struct join *j, const struct act *a)
{
	return &((struct key_entry *)hmap__at(&j->canonical, a->key))->u.raw.key;
}

/* Kernels, copies, sets and whole graphs: what a call can have asked for. */
static inline bool is_execution(unsigned kind)
{
	return kind >= GPUBPF_ACTIVITY_KERNEL && kind <= GPUBPF_ACTIVITY_GRAPH;
}

/* Population of a shim's call; JOIN_POPULATIONS: none. */
static inline unsigned population_of_work(unsigned work)
{
	return work >= GPUBPF_WORK_LAUNCH && work <= GPUBPF_WORK_SET ? work - GPUBPF_WORK_LAUNCH
								     : JOIN_POPULATIONS;
}

/* feed.c, session.c */
struct jproc *join_proc(struct join *j, uint32_t tgid, uint64_t t); /* NULL: no memory */
struct jproc *join_proc_of(struct join *j, const struct proc *p);
/* NULL with *full when there are too many, else no memory. */
struct session *join_session(struct join *j, struct jproc *p, uint32_t number, bool *full);
void session_hello(struct session *s, const struct gpubpf_hello *h);
int session_status(struct session *s, const struct gpubpf_status *st);
int sessions_finish(struct join *j); /* 0 or -ENOMEM */
void session_clear(struct session *s);
/* Of an activity's clock; only where session_anchored(). */
uint64_t session_to_monotonic(const struct session *s, uint64_t t);
bool session_own_clock(const struct session *s); /* CUPTI's, not CLOCK_MONOTONIC */
bool session_anchored(const struct session *s);
/* The session that a process was armed in at t; NULL: none. */
struct session *session_watching(const struct join *j, const struct jproc *p, uint64_t t);

/* names.c */
int names_piece(struct join *j, struct jproc *p, const struct gpubpf_name *n);
int names_finish(struct join *j);
int keys_finish(struct join *j);

/* extras.c: what is asked for by name and ran on no device */
static inline bool extras_kind(unsigned kind)
{
	return kind >= GPUBPF_ACTIVITY_EXTERNAL && kind <= GPUBPF_ACTIVITY_MARKER_DATA;
}
void extras_init(struct join *j);
void extras_free(struct join *j);
int extras_finish(struct join *j); /* behind names_finish() and sessions_finish() */
int extras_item(struct join *j, struct session *s, const struct gpubpf_activity *a, uint64_t arrived);

/* overhead.c */
void overhead_add(struct join *j, const struct gpubpf_activity *a);
unsigned overhead_index(uint64_t kind); /* of CUpti_ActivityOverheadKind, for join_overhead_name() */

/* match.c: host call ↔ shim call */
int match_calls(struct join *j);
/* alone.c: the shim's calls where the host observer was left out */
int nest_calls(struct join *j);
struct scall *outermost(const struct join *j, struct scall *s);
int place_alone(struct join *j, const struct scall *s); /* 0 or -ENOMEM */
/* activity.c: shim call ↔ activity, and the judgement of times */
int match_activities(struct join *j);
void drop_index(struct join *j);
enum join_time judge_time(const struct join *j, const struct act *a);
enum join_link judge_link(const struct join *j, const struct act *a);
int sort_activities(struct join *j);
/* account.c */
int account(struct join *j); /* 0 or -ENOMEM */
/* *session: of NOTHING_RAN and UNSEEN. */
enum join_fate judge_call(const struct join *j, const struct bcall *b, struct session **session);
/* devwork.c: graphs whose work the device launched itself */
int silent_call(struct join *j, struct session *s, unsigned population, uint64_t entry); /* 0 or -ENOMEM */
int explain_by_device(struct join *j);                                                   /* the same */

/* order.c: numbers by entry, start and start; stable. `room` holds as many. */
void order_bcalls(const struct join *j, uint32_t *v, uint32_t *room, size_t n);
void order_scalls(const struct join *j, uint32_t *v, uint32_t *room, size_t n);
void order_acts(const struct join *j, uint32_t *v, uint32_t *room, size_t n);

#endif
