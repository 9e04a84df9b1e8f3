/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_TOP_PRIV_H
#define GPUBPF_TOP_PRIV_H

#include "top/top.h"

#include "model/copies.h"
#include "model/ledger.h"
#include "model/model.h"
#include "util/hist.h"

#define TOP_KEYS 8192               /* kernels, threads: of one window */
#define TOP_NAMES_BYTES (16u << 20) /* of kernels, all processes together */
#define TOP_SHIMS 4096              /* processes with a device observer */
#define TOP_SPANS 262144            /* of a device and window */
#define TOP_FORGET 400000           /* processes, threads and functions: then all is forgotten */

/* ---- The host's window ---- */

struct top_stat { /* of an entry point */
	struct hist time;
	uint64_t calls; /* at depth 0, by records */
	uint64_t wait[BREAKDOWN_CAUSES], waits[BREAKDOWN_CAUSES];
};

struct top_func {
	uint64_t key[2]; /* struct handle *, epoch */
	struct func_ref ref;
	uint64_t calls, ns;
};

struct top_thread {
	uint64_t key[2]; /* struct proc *, tid */
	uint64_t calls, launches, failed, ns, waited;
};

struct top_prev { /* counters at the interval's beginning */
	uint64_t entered, failed;
};

/* ---- The device's ---- */

struct top_name;
struct top_shim { /* a program of a process, from its first word to its end */
	uint32_t tgid;
	uint64_t start_time, born; /* /proc/PID/stat; of its first batch */
	uint32_t session;
	bool armed, failed, monotonic, has_offset;
	unsigned reason;
	int64_t offset; /* CLOCK_MONOTONIC - CUPTI's clock */
	uint64_t losses[16], past_losses[16];
	struct {
		uint64_t first, next, got; /* sequence numbers: batches pass each other on their way */
	} run[GPUBPF_PROBES];
	uint64_t devices;       /* seen so far: bits */
	struct top_name *names; /* by id */
	struct top_shim *next_live;
	uint64_t gone; /* the last window there was when it ended */
};

struct top_span {
	uint64_t start, end;
};

struct top_dev {         /* of a window */
	uint64_t key[2]; /* struct top_shim *, device */
	struct top_span *span;
	size_t n, room;
	uint64_t unsure;
	uint64_t kernels, copies, sets;
};

struct top_run {         /* a kernel in a window */
	uint64_t key[2]; /* struct top_shim *, name id */
	uint64_t launches, ns;
};

struct top_window {
	uint64_t start, end, serial;
	struct hmap devs, runs;
	struct top_run others; /* runs is full */
	uint64_t executions;
	struct top_window *next;
};

struct top_feed {
	struct top_feed_opts o;
	uint64_t start, last; /* of the recording, of the interval */
	uint64_t number;
	struct top_view view;

	struct apitab *tab;
	struct plan *plans;    /* by API id, GPUBPF_API_MAX */
	uint16_t *canonical;   /* of several libraries' entry points of one name, the first */
	struct top_prev *prev; /* by API id */
	struct top_stat **stat;
	struct procs procs;
	struct names *names;
	struct breakdowns breakdowns;
	struct copies copies;
	struct hmap funcs, threads;
	struct top_func other_funcs;
	uint64_t other_threads, forgotten;
	uint64_t wait[BREAKDOWN_CAUSES], waits[BREAKDOWN_CAUSES];
	uint64_t late_libraries, refused;

	struct top_shim *shims, *gone;
	struct top_window *windows; /* earliest first */
	bool over;                  /* nothing runs any more */
	size_t nshims;
	uint64_t serials; /* of windows */
	uint64_t names_bytes, names_lost, bad_times, no_clock, late, late_ns, shims_lost, bad_items;
	uint64_t missing,
		missing_seen; /* batches: of processes that are gone; of all, when the interval before ended */
	uint64_t executions;
	uint64_t loss[16]; /* of sessions that are over, by enum gpubpf_shim_loss */
	bool shim_there;   /* a file of it was attached to */
	/*
	 * Launches are not listed by number while the shim may yet say what ran for them: they would be there twice. They
	 * stay in `funcs`, for `lag` at most.
	 */
	bool held;
	uint64_t held_from; /* 0: not yet */
	char note[400];     /* why there is no device observer, in the recorder's words */

	uint64_t totals[16];
	struct {
		char key[48];
		uint64_t total;
	} said[64]; /* losses of the interval before */
	size_t nsaid;
};

/* top_device.c */
int top_shim_batch(struct top_feed *f, const struct gpubpf_shim *b);
void top_shim_task(struct top_feed *f, const struct gpubpf_task *t);
/* The next window that was over at `until`; NULL: none. Free it with top_window__drop(). */
struct top_window *top_window__take(struct top_feed *f, uint64_t until);
/* That of a time; the first one for what is earlier. NULL: no memory. */
struct top_window *top_window__at(struct top_feed *f, uint64_t t);
int top_dev__span(struct top_dev *d, uint64_t start, uint64_t end); /* of the window that it is in */
/* Nothing runs behind `now`. */
int top_device__close(struct top_feed *f, uint64_t now);
void top_window__drop(struct top_window *w);
/* Forgets processes that ended, once their windows are shown. */
void top_shims_sweep(struct top_feed *f, bool all);
/* Its kernels' names, as far as known: NULL. */
const char *top_shim__name(const struct top_shim *s, uint32_t id);
uint64_t top_shim__missing(const struct top_shim *s); /* batches, by their numbers */
/* ns in which anything ran on it. */
uint64_t top_dev__busy(struct top_dev *d);

/* top_view.c */
void top_view__host(struct top_feed *f, const Gpubpf__Counts *c, uint64_t now);
int top_view__device(struct top_feed *f, struct top_window *w); /* w NULL: none yet */
int top_view__tables(struct top_feed *f);
/* top_ledger.c */
void top_view__ledger(struct top_feed *f, const Gpubpf__Counts *c, bool end);

#endif
