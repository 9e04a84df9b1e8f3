/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the timeline share: tracks, texts, events, and what a format does with them. */
#ifndef GPUBPF_TIMELINE_PRIV_H
#define GPUBPF_TIMELINE_PRIV_H

#include "timeline/timeline.h"
#include "util/err.h"
#include "util/hmap.h"

/* ---- Texts: each once, numbered from 1 ---- */

struct tl_texts {
	char **text;
	size_t n, room;
	struct hmap by_hash;
};

/* The text's number (control characters and what is not UTF-8 are shown as \xNN); 0: no memory. */
uint32_t tl_texts__add(struct tl_texts *t, const char *text);
void tl_texts__clear(struct tl_texts *t);

/* ---- Tracks ---- */

enum tl_track_kind { TL_PROCESS, TL_THREAD, TL_GROUP, TL_LANE, TL_COUNTER };
enum tl_unit { TL_COUNT, TL_BYTES, TL_BYTES_PER_SECOND };

struct tl_track {
	enum tl_track_kind kind;
	uint32_t parent; /* number + 1; 0: none */
	int32_t rank;    /* among its siblings */
	uint32_t pid, tid;
	uint32_t life; /* of the pid */
	enum tl_unit unit;
	char *name;
};

struct tl_tracks {
	struct tl_track *track;
	size_t n, room;
};

#define TL_NO_TRACK UINT32_MAX
#define TL_TRACKS_MAX (1u << 24) /* as many as a trace has numbers for; more is a hostile file */
/* Its number; TL_NO_TRACK: no memory. The name is copied; may be NULL with pid or tid. */
uint32_t tl_tracks__add(struct tl_tracks *t, enum tl_track_kind kind, uint32_t parent, const char *name);
/* R44: 0, or -EINVAL when a parent is missing, comes after its child or is its own ancestor. */
int tl_tracks__check(const struct tl_tracks *t, struct err *err);
void tl_tracks__clear(struct tl_tracks *t);

/* Rows of one track: what overlaps stands in different ones. */
#define TL_ROWS_MAX 64
struct tl_rows {
	uint32_t track; /* the first row's */
	unsigned n, room;
	struct {
		uint32_t track;
		uint64_t busy_until;
	} * row;
};

struct tl;
/* The track for [start, end]: the first row that is free at start; TL_NO_TRACK with *rc 0: all rows are taken. */
uint32_t tl_rows__place(struct tl *tl, struct tl_rows *r, uint64_t start, uint64_t end, int *rc);
void tl_rows__restart(struct tl_rows *r);
void tl_rows__clear(struct tl_rows *r);

/* ---- Events ---- */

/* Names of arguments; their texts stand in tl_keys[]. */
enum tl_key {
	TL_KEY_NONE, /* numbers of names begin with 1 */
#define K(id, text) TL_KEY_##id,
#include "timeline/keys.h"
#undef K
	TL_KEYS,
};
extern const char *const tl_keys[TL_KEYS];

enum tl_arg_type {
	TL_UINT,
	TL_INT,
	TL_BOOL,
	TL_POINTER,
	TL_DOUBLE, /* its bits */
	TL_VALUE,  /* number in tl->values */
	TL_TEXT,   /* as it is: for what occurs once */
};

struct tl_arg {
	uint16_t key;
	uint8_t type;
	union {
		uint64_t u;
		const char *s;
	};
};

enum tl_event_type { TL_SLICE, TL_OPEN /* its end is not known */, TL_CLOSE, TL_INSTANT, TL_SAMPLE };

/* How a time came to be (R22); tl_timings[] has the words. */
enum tl_timing {
	TL_HOST,             /* both ends by the host observer */
	TL_HOST_ENTRY,       /* the entry alone was recorded */
	TL_HOST_OPEN,        /* had not returned */
	TL_HOST_BAD,         /* returned before it was entered */
	TL_SHIM,             /* both ends by the device observer's callbacks */
	TL_SHIM_OPEN,        /* its end was not seen */
	TL_DEVICE,           /* CUPTI, by our clock */
	TL_DEVICE_CONVERTED, /* CUPTI, by its own clock, which clock pairs tie to ours */
	TL_DEVICE_ZERO,      /* none were given: the instant is the call's entry */
	TL_DEVICE_END_FIRST,
	TL_DEVICE_OUTSIDE,
	TL_DEVICE_UNANCHORED,
	TL_DERIVED,     /* made of other events */
	TL_MARKER_OPEN, /* its end did not come */
	TL_MARKER_BAD,
	TL_RECORDER,
	TL_SIDECAR,      /* given by a sidecar, by our clock */
	TL_SIDECAR_WALL, /* by the wall clock, which clock pairs tie to ours */
	TL_WHOLE,        /* of the capture as a whole: the moment means nothing */
	TL_TIMINGS,
};
struct tl_timing_words {
	const char *domain, *source, *quality;
};
extern const struct tl_timing_words tl_timings[TL_TIMINGS];

#define TL_ARGS_MAX 48
#define TL_FLOWS_MAX 1024

struct tl_event {
	enum tl_event_type type;
	enum timeline_class cls;
	uint32_t track;
	uint64_t start, end; /* CLOCK_MONOTONIC; a sample's value in `end` */
	uint32_t name;       /* in tl->names */
	enum tl_timing timing;
	uint32_t preset; /* number + 1 of arguments that many events share; 0: none */
	bool has_work;
	uint32_t work;      /* flows: of which call … */
	uint32_t flows_out; /* … so many begin here */
	bool flow_in;       /* … the flow_rank-th ends here */
	bool focus;         /* this is what a viewer shows first */
	uint32_t flow_rank;
	uint16_t bucket; /* of its group */
	unsigned nargs;
	struct tl_arg arg[TL_ARGS_MAX];
};

static inline void tl_arg(struct tl_event *e, enum tl_key key, enum tl_arg_type type, uint64_t v)
{
	if (e->nargs < TL_ARGS_MAX)
		e->arg[e->nargs++] = (struct tl_arg){ .key = (uint16_t)key, .type = (uint8_t)type, .u = v };
}

static inline void tl_text(struct tl_event *e, enum tl_key key, const char *s)
{
	if (e->nargs < TL_ARGS_MAX)
		e->arg[e->nargs++] = (struct tl_arg){ .key = (uint16_t)key, .type = TL_TEXT, .s = s };
}

struct tl_preset {
	unsigned nargs;
	struct tl_arg arg[16];
	uint8_t *bytes; /* as the format has it */
	size_t n;
};

/* ---- A trace in the making ---- */

struct tl_format {                   /* each: 0 or a negative errno; what it makes goes through tl__put() */
	int (*begin)(struct tl *tl); /* all but events: clocks, texts, tracks */
	int (*event)(struct tl *tl, const struct tl_event *e);
	/* What event() would put; may be NULL. A difference is found out when all is written. */
	uint64_t (*size)(const struct tl *tl, const struct tl_event *e);
	int (*end)(struct tl *tl);
	int (*preset)(struct tl *tl, struct tl_preset *p); /* makes its bytes */
};
extern const struct tl_format tl_perfetto, tl_chrome, tl_columns;

enum tl_phase {
	TL_MEASURE, /* how large is everything */
	TL_SELECT,  /* what a budget leaves of it */
	TL_WRITE,
};

#define TL_BUCKETS 65536

struct tl_focus {       /* focus.c */
	bool execution; /* one is asked for: */
	size_t index;   /* of the join */
	uint64_t start, end;
	/* what the last pass saw of it */
	bool there, moment; /* as one without a length */
	uint64_t ordinal;   /* among `events`: slices and instants */
	uint64_t events;
	uint64_t twins, twin_moments; /* others with its start, and its end or no length */
	uint64_t first, last;         /* of all that is there */
	uint64_t from, to;            /* what is to be seen */
};

struct tl_item { /* what a receipt names */
	bool there;
	uint64_t start;
	uint32_t track, name;
};

struct tl_device;
struct tl_thread;
struct tl_stream;
struct tl_semantic;

struct tl {
	struct trace *t;
	const struct timeline_opts *o;
	const struct tl_format *f;
	timeline_write_fn *fn;
	void *fn_arg;
	enum tl_phase phase;
	struct err *err;
	uint64_t id; /* of the capture: by what is in it */

	struct tl_texts names, values;
	struct tl_tracks tracks;
	struct tl_preset *presets;
	size_t npresets;

	/* calls.c */
	struct hmap threads;             /* struct tl_thread by process and tid */
	struct hmap procs;               /* struct tl_proc by pid and life */
	uint32_t *api_name;              /* by API id */
	uint32_t *kernel_value;          /* by number of the kernel */
	uint32_t fate_value[JOIN_FATES]; /* of those that occur */
	struct tl_event *ev;             /* room for one */
	const struct thread *last_seen;  /* of this pass; its own one here: */
	struct tl_thread *last_thread;
	uint64_t alloc_now[16];
	uint32_t alloc_track[16];
	bool alloc_pending;
	uint64_t alloc_time;

	/* device.c */
	struct tl_stream *streams;
	size_t nstreams;
	uint32_t *stream_of; /* by lane of the join */
	struct tl_device *devices;
	size_t ndevices;
	struct tl_context *contexts;
	size_t ncontexts;
	uint32_t *key_name, *key_preset; /* by key of the join */
	uint32_t graph_name;
	uint64_t
		others; /* records of the device that are no executions: synchronizations, memory, overhead */
	uint8_t *runs;  /* by call for work: executions; 2: in `many` */
	size_t nruns;
	uint32_t *first_run; /* where the host observer was left out */
	uint16_t *bucket_of; /* under a budget */
	struct hmap many;    /* struct tl_many by call */
	uint64_t unplaced;   /* executions and loads that nothing says a moment of */

	/* marks.c, manifest.c */
	uint32_t mark_track[3]; /* by enum tl_mark_track; + 1 */
	uint32_t module_name;
	uint32_t manifest_track, receipt_track;
	uint32_t manifest_name, receipt_name[TIMELINE_CLASSES];

	struct tl_focus focus;
	struct tl_nvtx *nvtx; /* nvtx.c; NULL: no markers */
	uint32_t coverage_name;
	struct tl_semantic *semantic; /* semantic.c; NULL: no sidecar */

	/* what is put together */
	uint8_t *buf;
	size_t room;
	enum timeline_class cls; /* of what is being made */
	uint64_t packets;
	struct timeline_sum all[TIMELINE_CLASSES], kept[TIMELINE_CLASSES];
	uint64_t total; /* bytes that passed in this phase */
	uint64_t slices, executions_kept;
	uint64_t piece;       /* bytes of the event being made */
	unsigned worst;       /* classes, a bit each, of which the receipt is as long as it can be */
	bool measuring;       /* nothing is written: the size is asked for */
	uint64_t done, to_do; /* for progress */

	/* budget.c */
	bool drop_presentation, drop_counters;
	uint32_t threshold; /* groups of buckets below it stay */
	uint64_t *bucket_bytes;
	struct tl_item first_dropped[TIMELINE_CLASSES], last_dropped[TIMELINE_CLASSES];
};

/* A whole packet: counted, and written in the last phase. */
int tl__put(struct tl *tl, const void *bytes, size_t n);
/* Makes room for so many bytes in tl->buf. */
int tl__room(struct tl *tl, size_t n);
/* Takes an event, or drops it. */
int tl__event(struct tl *tl, const struct tl_event *e);
/* A new event in tl->ev. */
struct tl_event *tl__new(struct tl *tl, enum tl_event_type type, enum timeline_class cls, uint32_t track,
			 uint64_t start);
void tl__progress(struct tl *tl, uint64_t n);
uint64_t tl_hash(const void *bytes, size_t n, uint64_t seed);
/* Which bucket a group falls into, by what identifies it in the capture. */
uint16_t tl__bucket(const struct tl *tl, uint64_t a, uint64_t b);

/* calls.c */
struct tl_proc {
	uint64_t key[2]; /* pid, life */
	uint32_t track;  /* + 1 */
	uint32_t zero;
	struct tl_rows modules;
	bool has_modules;
};
int tl_calls__prepare(struct tl *tl);
int tl_calls__walk(struct tl *tl);
void tl_calls__clear(struct tl *tl);
/* Track of a process; TL_NO_TRACK: not asked for, or no memory (*rc). */
struct tl_proc *tl__proc(struct tl *tl, const struct proc *p, int *rc);
struct tl_thread *tl__thread(struct tl *tl, const struct proc *p, uint32_t tid, int *rc);
/* A call on its thread, without nested ones. */
int tl_thread__call(struct tl *tl, struct tl_thread *th, struct tl_event *e);
/* nest.c: calls inside calls */
int tl_thread__nested(struct tl *tl, struct tl_thread *th, const struct tl_event *e, unsigned depth);
int tl_thread__flush(struct tl *tl, struct tl_thread *th);

/* device.c */
struct tl_many { /* a call that started several things */
	uint64_t call;
	uint32_t runs, left;
	uint64_t start, end; /* of what has valid times */
	uint32_t timed, zero;
};
uint32_t tl__runs(const struct tl *tl, uint32_t work);
int tl_device__prepare(struct tl *tl);
int tl_device__walk(struct tl *tl);
int tl_device__alone(struct tl *tl); /* calls that the shim alone saw */
void tl_device__clear(struct tl *tl);

/* counters.c */
struct join_activity;
int tl_counters__note(struct tl *tl, const struct join_activity *a); /* each once, before: */
int tl_counters__prepare(struct tl *tl);
void tl_counters__begin(struct tl *tl);
int tl_counters__add(struct tl *tl, const struct join_activity *a); /* in the order of their starts */
int tl_counters__end(struct tl *tl);
void tl_counters__clear(struct tl *tl);

/* marks.c */
enum tl_mark_track { TL_LOSSES, TL_NOTES, TL_XIDS, TL_MARK_TRACKS };
int tl_marks__prepare(struct tl *tl);
int tl_marks__walk(struct tl *tl);
int tl_marks__record(struct tl *tl, const struct gpubpf_rec *rec);

/* nvtx.c */
int tl_nvtx__prepare(struct tl *tl);
int tl_nvtx__walk(struct tl *tl);
uint64_t tl_nvtx__unplaced(const struct tl *tl);
void tl_nvtx__clear(struct tl *tl);
/* semantic.c: nodes of a sidecar. Nothing without one. */
int tl_semantic__prepare(struct tl *tl);
void tl_semantic__restart(struct tl *tl);
void tl_semantic__seen(struct tl *tl); /* a call, of any process, in the order of the file */
void tl_semantic__call(struct tl *tl, struct tl_event *e);               /* that call's arguments */
void tl_semantic__exec(struct tl *tl, struct tl_event *e, size_t index); /* rising */
int tl_semantic__walk(struct tl *tl);
int tl_semantic__coverage(struct tl *tl); /* a part of the manifest: what carriers of meaning brought */
void tl_semantic__clear(struct tl *tl);

/* manifest.c: the last events of a trace */
int tl_manifest__prepare(struct tl *tl);
int tl_manifest__write(struct tl *tl);

/* focus.c: nothing without a timeline_focus */
int tl_focus__prepare(struct tl *tl); /* -ENOENT, -EINVAL: there is none, or more than one */
void tl_focus__restart(struct tl *tl);
void tl_focus__see(struct tl *tl, const struct tl_event *e); /* each that stays, while there is no byte yet */
int tl_focus__settle(struct tl *tl, struct timeline_link *link);

/* perfetto.c: a time as the viewer has it, once it has read the trace's clock pairs */
uint64_t tl_perfetto_time(const struct tl *tl, uint64_t monotonic);

/* budget.c */
bool tl_budget__keeps(const struct tl *tl, const struct tl_event *e);
void tl_budget__dropped(struct tl *tl, const struct tl_event *e);
typedef int tl_skeleton_fn(struct tl *tl, unsigned worst, uint64_t *bytes);
int tl_budget__choose(struct tl *tl, tl_skeleton_fn *skeleton);

#endif
