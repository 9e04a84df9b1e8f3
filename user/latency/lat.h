/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf latency`: where the time of a call and of its work's way to the GPU went.
 *
 *   own    from a call's entry to its return
 *   start  from a call's entry to the start of the first thing that it started on the device
 *   queue  from its return to that start, where the start came later
 *
 * Calls are those made by the application (depth 0). Where the host observer was left out they are the shim's, and only
 * those that something ran for are known.
 *
 * Memory grows with distinct things (entry points, launch keys, threads), not with calls, as long as the host observed
 * alone. With a device observer the join holds all calls anyway; on top of it are 9 bytes per call for work, 8 per
 * record of the device and 40 per cuStreamWaitEvent(): a call's execution is known when the whole file was read, and
 * what it waited for as well.
 */
#ifndef GPUBPF_LATENCY_H
#define GPUBPF_LATENCY_H

#include <jansson.h>

#include "inspect/inspect.h"
#include "join/join.h"
#include "latency/breakdown.h"
#include "latency/futexes.h"
#include "latency/lat_idle.h"
#include "latency/lat_math.h"
#include "model/launches.h"
#include "model/model.h"
#include "report/report.h"

struct err;

enum lat_measure { LAT_OWN, LAT_START, LAT_QUEUE, LAT_MEASURES };
#define LAT_POPULATIONS API_POPULATIONS

struct lat_words {
	const char *key; /* JSON, CSV */
	const char *text;
};
extern const struct lat_words lat_measures[LAT_MEASURES];
/* Parts of a measure: the i-th; key NULL behind the last. Of LAT_OWN they are enum breakdown_cause. */
struct lat_words lat_part_words(enum lat_measure m, unsigned i);
unsigned lat_part_count(enum lat_measure m);

/* ---- What is known ---- */

struct lat_thread {
	uint64_t key[2]; /* process and tid, which life of the process */
	uint32_t tgid, tid, number;
	uint64_t calls, last_return;
	uint64_t nested; /* since its last call at depth 0 */
};

struct lat_group {      /* the calls of one entry point or launch key */
	uint64_t calls; /* = measured + entry_only + open + bad_time */
	uint64_t measured, entry_only, open, bad_time, failed;
	struct lat_dist *d[LAT_MEASURES]; /* NULL: none */
};

struct lat_kernel {
	struct launch_key key;
	uint32_t row;            /* the first of those that are one; itself: it is that */
	uint32_t device_key;     /* reference to a key of the join that ran for it */
	const char *name;        /* as in the module; NULL: not known */
	char *display;           /* owned */
	const struct proc *proc; /* whose handle, without a name */
	uint64_t handle;
	bool wanted;
	struct lat_group group; /* of the first */
};

/* What became of the calls for work, those that were asked for. */
struct lat_states {
	uint64_t calls;                     /* the sum of what follows */
	uint64_t after_return, after_entry; /* started then; after_entry: no return was recorded */
	uint64_t inside;                    /* started before its call returned */
	uint64_t early;                     /* started before its call was entered, by the clocks */
	uint64_t untimed;                   /* ran, without times that hold */
	uint64_t failed, captured, open;
	uint64_t nothing; /* no execution is joined to it */
};

struct lat_pick { /* one of the slowest */
	uint64_t ns;
	uint64_t entry, ret;      /* ret: has_ret */
	uint64_t start, end;      /* of its first execution: has_start */
	uint64_t part[LAT_PARTS]; /* has_start, and it did not start early */
	uint64_t prev_end;        /* of the stream: 0: nothing ran before */
	uint32_t prev;            /* reference to the activity that had that end */
	uint32_t activity;        /* reference */
	uint32_t number;          /* reference: of the join */
	uint32_t kernel;          /* reference */
	uint32_t tgid, tid;
	uint16_t api;
	bool has_ret, has_start, has_part, early, of_shim;
	bool waited_event, waited_unknown, waited_default;
	bool has_inside, has_gap; /* record --latency */
	struct breakdown inside, gap;
	uint64_t before; /* has_gap: it is from here to the entry */
};

struct lat_beside { /* another call: before, inside or beside the one that a story is about */
	uint16_t api;
	uint32_t tid;
	uint64_t entry, ret;
	bool has_ret;
};

#define LAT_NESTED_MAX 8
#define LAT_BESIDE_MAX 4
#define LAT_WAIT_MAX 4
struct lat_story {
	enum lat_measure measure;
	unsigned population;
	struct lat_pick *pick;
	bool has_before;
	struct lat_beside before; /* the last call of its thread that was over */
	struct lat_beside nested[LAT_NESTED_MAX];
	uint64_t nnested;
	struct lat_beside
		beside[LAT_BESIDE_MAX]; /* of other threads of its process, the longest overlap first */
	unsigned nbeside;
	struct gpubpf_waker wait[LAT_WAIT_MAX]; /* in futexes, the longest ones, in the order of time */
	unsigned nwait;
	uint64_t nwaits; /* all of them */
};

struct latency_opts {
	struct model_opts model;
	const char *const *apis; /* names or shell patterns; none: all */
	size_t napis;
	const char *const *kernels; /* parts of names, or shell patterns */
	size_t nkernels;
	bool has_from, has_to;
	uint64_t from, to; /* ns since the start of the capture; entries of calls */
	uint64_t slowest;  /* stories of each measure */
	uint64_t rows;     /* of a table in text; 0: all */
	uint64_t idle;     /* ns: shorter gaps of a device are only counted */
	bool same_devices; /* a device has one number in all processes */
};

struct lat_picks { /* slowest first */
	struct lat_pick *v;
	size_t n;
};

struct lat_locks { /* lat_locks.c */
	struct hmap locks, wakers;
};

struct lat_marks;
struct lat_stacks;
struct lat_streams;

struct latency {
	struct inspection in;
	struct model *m;
	struct names *names; /* of the model that is being fed */
	struct latency_opts o;
	uint64_t start;      /* of the capture */
	bool start_is_known; /* not: the first call's entry stands for it */
	unsigned napis;      /* of the capture; behind them the populations, for calls of the shim */
	bool *api_wanted;
	struct lat_group *api;
	struct hmap threads, raw;  /* raw: launch keys as they came */
	struct lat_kernel *kernel; /* by number of raw; then those of the device alone */
	size_t nkernels, kernel_room;
	uint32_t *device_kernel; /* by key of the join: reference to a kernel; the host was left out */
	struct lat_streams *streams;
	struct lat_locks locks;
	struct lat_stacks *stacks;           /* NULL: none in the capture */
	uint32_t ncalls;                     /* for work, as the join numbers them */
	uint32_t *call_kernel, *call_stream; /* references, by call */
	uint8_t *call_flags;
	size_t call_room;
	bool numbering; /* an execution may yet be joined: calls are remembered */
	bool counting;  /* names are known, or not asked for */
	bool again;     /* the second reading of the calls */
	uint64_t *seen; /* bits by call: its first execution passed */
	size_t nseen;   /* words */
	uint64_t selected;
	uint64_t excess; /* breakdowns that are more than their calls */
	struct lat_states states[JOIN_POPULATIONS];
	struct lat_study study[LAT_MEASURES][LAT_POPULATIONS];
	struct lat_picks picks[LAT_MEASURES][LAT_POPULATIONS];
	struct lat_story *story;
	size_t nstories;
	struct lat_idle idle;
};

/* Opens and reads the whole capture. What fails leaves it so that latency__close() is right. */
int latency__open(struct latency *l, const char *path, const struct latency_opts *o, struct err *err);
void latency__close(struct latency *l);

const char *latency__api_name(const struct latency *l, unsigned api);
/* Why nobody observed what ran; NULL: somebody did. */
const char *latency__no_device(const struct latency *l);
/* Why nobody observed what threads did inside calls; NULL: somebody did. */
const char *latency__no_inside(const struct latency *l);
/* Why nobody saw who ended waits in futexes; NULL: somebody did. */
const char *latency__no_wakers(const struct latency *l);
/* Whether the calls of this population are what the reader wants to see first. */
bool latency__shown(const struct latency *l, unsigned population);
/* ns since the start of the capture. */
static inline uint64_t latency__since(const struct latency *l, uint64_t t)
{
	return t > l->start ? t - l->start : 0;
}

/* ---- Between the files of this folder. All: 0 or a negative errno ---- */

int lat_read(struct latency *l, struct err *err); /* lat_read.c: calls */
int lat_walk(struct latency *l);                  /* lat_walk.c: what ran for them */
int lat_stories(struct latency *l,
		struct err *err); /* lat_story.c: reads the file again for the slowest calls */
int lat_group__add(struct lat_group *g, enum lat_measure m, uint64_t ns);
int lat_group__merge(struct lat_group *into, const struct lat_group *from);
void lat_group__clear(struct lat_group *g);
struct lat_thread *lat_thread_of(struct latency *l, uint32_t tgid, uint64_t life, uint32_t tid);
/* The place for a call among the slowest; NULL with rc 0: it is none of them. *rc: 0 or -ENOMEM. */
struct lat_pick *lat_pick_of(struct latency *l, enum lat_measure m, unsigned population, uint64_t ns,
			     int *rc);
bool lat_time_wanted(const struct latency *l, uint64_t entry);

enum lat_call_flag {
	LAT_CALL_WANTED = 1,
	LAT_CALL_FIRST_OF_KERNEL = 2,
	LAT_CALL_FIRST_OF_THREAD = 4,
	LAT_CALL_OPEN = 8,
	LAT_CALL_PICKED = 16, /* one of the slowest by its own time */
};

/* lat_idle_find.c: what ran, for lat_idle; first: of its call; wait_end: as in lat_before. 0 or -ENOMEM. */
int lat_idle_ran(struct latency *l, size_t i, const struct join_activity *a, bool wanted, bool first,
		 uint64_t wait_end);

/* The number of its entry point as struct latency has it. */
static inline unsigned lat_api_of(const struct latency *l, const struct join_host_call *c)
{
	return c->of_shim ? l->napis + c->population : c->api;
}

/* lat_kernel.c: launch keys */
void lat_kernels__begin(struct latency *l);
int lat_kernel__number(struct latency *l, const struct view *v, uint32_t *ref, bool *first);
int lat_kernel__of_device(struct latency *l, uint32_t key, uint32_t *ref); /* where no host call says it */
int lat_kernels__resolve(struct latency *l, struct err *err);              /* names, rows, which are wanted */
int lat_kernels__merge(struct latency *l);                                 /* groups and features, by row */
void lat_kernels__clear(struct latency *l);
static inline const struct lat_kernel *lat_kernel__row(const struct latency *l, uint32_t ref)
{
	return ref ? &l->kernel[l->kernel[ref - 1].row] : NULL;
}
/* "64x1x1 · 128x1x1 · 512 B" behind the name: grid, block, dynamic shared memory. */
const char *lat_kernel__shape(const struct lat_kernel *k, char *buf, size_t n);

/* lat_streams.c: what a stream has to wait for */
int lat_streams__new(struct lat_streams **out);
void lat_streams__free(struct lat_streams *s);
int lat_streams__call(struct lat_streams *s, const struct view *v,
		      uint32_t *ref); /* of any call; *ref: its stream, or 0 */
/* When all calls were seen: that something of this stream ran in that lane of the join; then _settle(). */
int lat_streams__ran(struct lat_streams *s, uint32_t stream, uint32_t lane, uint32_t context);
int lat_streams__settle(struct lat_streams *s, size_t lanes);
struct lat_before { /* what work that is about to start had before it */
	uint64_t prev_end, wait_end;
	uint32_t prev;                                     /* reference */
	bool waited_event, waited_unknown, waited_default; /* whether there was such a wait, long or not */
};
/* In the order of start: work of that lane that a call asked for at `entry` (0: not known). */
void lat_streams__before(struct lat_streams *s, uint32_t lane, uint64_t entry, struct lat_before *b);
void lat_streams__done(struct lat_streams *s, uint32_t lane, uint64_t end, uint32_t activity);

/* lat_locks.c: waits in futexes */
void lat_locks__init(struct lat_locks *k);
void lat_locks__clear(struct lat_locks *k);
int lat_locks__call(struct latency *l, const struct view *v); /* those inside it */
void lat_story__wait(struct lat_story *s, const struct gpubpf_waker *w);
enum wait_end latency__wait_end(const struct latency *l, const struct gpubpf_waker *w);
int latency__waker_text(const struct latency *l, const struct gpubpf_waker *w, char **out); /* allocated */

/* lat_stacks.c: who made the calls */
int lat_stacks__open(struct latency *l, struct err *err); /* before the calls are read */
int lat_stacks__call(struct latency *l, const struct view *v);
void lat_stacks__free(struct lat_stacks *s);
int latency_stacks_text(struct latency *l, FILE *f, bool color);
int latency_stack_story(const struct latency *l, const struct lat_pick *p, FILE *f);
json_t *latency_stack_json(const struct latency *l, const struct lat_pick *p); /* NULL: it has none */
/* The same of a call that the join has. */
struct lat_pick lat_pick_of_call(const struct join_host_call *c);
/* Lines "main;a;b;entry point NUMBER": calls, or ns inside those that were measured. */
int latency_folded(struct latency *l, bool time, FILE *f);

/* ---- Features ---- */

enum lat_feature_kind {
	LAT_F_API,
	LAT_F_KERNEL,       /* reference */
	LAT_F_THREAD,       /* number */
	LAT_F_LANE,         /* of the join */
	LAT_F_BYTES,        /* power of four */
	LAT_F_FIRST_KERNEL, /* first launch of this key */
	LAT_F_FIRST_THREAD, /* first call of this thread */
	LAT_F_PAUSE,        /* power of ten of the time since its thread's call before, in us */
	LAT_F_NESTED,       /* made other traced calls inside itself */
	LAT_F_FAILED,
	LAT_F_CAPTURED,
	LAT_F_PREEMPTED,
	LAT_F_MIGRATED,
	LAT_F_FAULTED,
	LAT_F_MAJOR,
	LAT_F_EVENT,   /* its stream had to wait for an event before it */
	LAT_F_DEFAULT, /* … for the default stream, or it is that and had to wait for others */
	LAT_F_GRAPH,
	LAT_F_KINDS,
	LAT_F_PART = 64, /* had some of part number kind - LAT_F_PART */
};
void lat_facts_of_call(struct lat_facts *f, const struct latency *l, const struct view *v,
		       const struct lat_thread *th, const struct breakdown *in, uint32_t kernel,
		       bool first_of_kernel);

/* What slow calls and the others are: one row of the comparison. */
struct lat_difference {
	char *text; /* owned */
	const char *key;
	uint64_t slow, others;
};
struct lat_differences {
	struct lat_tail tail;
	struct lat_difference *d; /* those that slow calls have more often first */
	size_t n, room;
};
/* 0 or -ENOMEM; lat_differences__clear() also then. */
int latency__differences(const struct latency *l, enum lat_measure m, unsigned population,
			 struct lat_differences *d);
void lat_differences__clear(struct lat_differences *d);

/* ---- Tables: text, JSON and CSV are renderings of the same ---- */

struct lat_section {
	struct section s;                                   /* s.build is not used */
	int (*build)(struct latency *l, struct rows *rows); /* 0 or -ENOMEM */
};
extern const struct lat_section latency_sections[]; /* ends with s.name == NULL */
int build_lat_apis(struct latency *l, struct rows *rows);
int build_lat_kernels(struct latency *l, struct rows *rows);
int build_lat_histogram(struct latency *l, struct rows *rows);
int build_lat_states(struct latency *l, struct rows *rows);
int build_lat_locks(struct latency *l, struct rows *rows);
int build_lat_wakers(struct latency *l, struct rows *rows);
int build_lat_split(struct latency *l, struct rows *rows);
int build_lat_differences(struct latency *l, struct rows *rows);
int build_lat_slowest(struct latency *l, struct rows *rows);
int build_idle_devices(struct latency *l, struct rows *rows);
int build_idle(struct latency *l, struct rows *rows);
int build_idle_apis(struct latency *l, struct rows *rows);
int build_idle_gaps(struct latency *l, struct rows *rows);
/* lat_idle_tables.c */
extern const struct column lat_idle_device_columns[], lat_idle_columns[], lat_idle_api_columns[],
	lat_idle_gap_columns[];
int build_lat_stacks(struct latency *l, struct rows *rows);
extern const struct column lat_stack_columns[];

/* Renderings. 0 or -ENOMEM; whether the stream took it is the caller's to ask. */
int latency_text(struct latency *l, FILE *f);
int latency_stories(const struct latency *l, unsigned population, enum lat_measure m, FILE *f, bool color);
/* The same for a cause of idle time: key, and text with what is known of the process. Written into buf[LAT_IDLE_WORDS]. */
#define LAT_IDLE_WORDS 128
const char *lat_idle_key(enum idle_cause c, char *buf);
const char *lat_idle_text(const struct latency *l, enum idle_cause c, uint32_t tgid, char *buf);
int latency_table(struct latency *l, const char *name, FILE *f, bool color); /* of latency_sections */
int latency_idle_text(struct latency *l, FILE *f, bool color);
int latency_idle_json(const struct latency *l, FILE *f); /* members */
struct json_t;
int latency_json_put(FILE *f, const char *lead, struct json_t *v); /* lat_json.c: takes v */
int latency_json(struct latency *l, FILE *f);
int latency_json_section(struct latency *l, const struct lat_section *s, FILE *f); /* members */
int latency_csv(struct latency *l, const struct lat_section *s, FILE *f);
int latency_svg(struct latency *l, char **out, size_t *n); /* allocated */

/* What ran, for people; to be freed; NULL: no memory. */
char *latency__activity_name(const struct latency *l, const struct join_key *key);

#endif
