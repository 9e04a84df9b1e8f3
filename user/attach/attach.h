/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The BPF side of a recording, in stages: open (choose a method, size the maps) → load → library (probe one
 * libcuda; again for each more) → activate (life of processes) → target … → detach → read what is left → close.
 * All functions return 0 or a negative errno with a message.
 */
#ifndef GPUBPF_ATTACH_H
#define GPUBPF_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/elfsym.h"
#include "attach/kernel.h"
#include "events.h"
#include "model/costkind.h"

struct apitab;
struct attach;
struct err;
struct ring_buffer;
struct usdt_file;

struct attach_opts {
	enum attach_method method; /* ATTACH_AUTO: the cheapest that works here */
	uint64_t ring_bytes;       /* 0: 16 MiB; rounded up to a power of two of pages */
	uint32_t max_threads;      /* 0: 16384 threads with calls at the same time */
	uint32_t max_targets;      /* 0: 16384 processes */
	bool trace_all;            /* every process is a target */
	uint32_t
		measure_one_of; /* of launches in a row about one of so many is measured to its return; 0, 1: all.
				    * Only sessions can do it: attach__measure_one_of() says what came of it */
	uint64_t in_a_row_ns;    /* 0: 20 us */
	bool entry_only;         /* no return probes: no result, no duration, half the cost */
	bool latency;            /* a breakdown of each call's time; needs return probes */
	unsigned stacks;         /* STACKS_… (maps.h): the user stacks of calls … */
	uint64_t stacks_slow_ns; /* … that take so long; 0: of some … */
	uint32_t stacks_one_of;  /* … about one in so many; 0, 1: of all */
	uint32_t stacks_bytes;   /* of a copy, at most; 0: 16 KiB */
	bool shim;               /* attach__shim() will be called … */
	bool shim_by_pid;        /* … for single processes */
	bool init_apart;         /* attach__detach_but_init() may be called */
};

int attach__open(const struct attach_opts *o, struct attach **out, struct err *err);
int attach__load(struct attach *a, struct err *err);
/* Entries alone: asked for, or because return probes would kill processes behind seccomp filters here (*unsafe). */
bool attach__entry_only(const struct attach *a, bool *unsafe);
uint32_t attach__measure_one_of(const struct attach *a);
enum attach_method attach__method(const struct attach *a);

/* What the kernel can tell of where a call's time went. */
struct attach_latency {
	bool task_storage; /* else a table by thread id: for kernels before 5.12 */
	bool throttled;
	bool wakers; /* interrupts can be told from threads */
	int64_t preempt_count_from_rq;
	bool irq_accounted;      /* CONFIG_IRQ_TIME_ACCOUNTING */
	unsigned nvidia_devices; /* kinds of character device of the GPU's driver */
};
struct attach_latency attach__latency(const struct attach *a);

/* What became of one library's entry points; id of symbol i is first_id + i. */
struct attach_result {
	struct elfsyms syms;
	int *errors; /* per symbol: 0 or a negative errno of its probe */
	uint32_t first_id;
	size_t armed;
};

/*
 * Probes the entry points that the file defines. only_pid 0: for every process that maps it. Fails when not one
 * probe could be placed. Free the result with attach_result_free().
 */
int attach__library(struct attach *a, const char *path, const struct apitab *tab, pid_t only_pid,
		    struct attach_result *res, struct err *err);
void attach_result_free(struct attach_result *r);

struct attach_shim_result {
	size_t sites;
	uint64_t dev, ino;
	uint8_t build_id[20];
	size_t build_id_len;
};

/*
 * Attaches to the probes of a shim's file, which raises its semaphores: in one process, or (only_pid 0) in every one
 * that maps it, now or later. `name` is for messages. -EPROTO: it differs from the contract (usdt/contract.h); nothing is
 * attached to then, and the message names the first difference. Targets that are to be seen must be targets before.
 */
int attach__shim(struct attach *a, const char *path, const char *name, pid_t only_pid,
		 struct attach_shim_result *res, struct err *err);
/* 0: nothing in it would be misread; -EPROTO as above. A newer shim may have probes that we do not know. */
int attach_shim_check(const struct usdt_file *f, const char *name, struct err *err);
/* Sums over processors. */
int attach__probe_counts(struct attach *a, struct gpubpf_probe_counts out[GPUBPF_PROBES]);
/* No call is entered from here on. */
void attach__stop(struct attach *a);
/* Asks the shims to end, while calls are still entered: hello_v1 is taken away, the other probes stand until attach__detach(). */
void attach__ask_end(struct attach *a);

/* Follows fork, exec and exit of targets; *xid tells whether the GPU error tracepoint is there. */
int attach__activate(struct attach *a, bool *xid, struct err *err);

/* The pid is one of our own pid namespace. */
int attach__target(struct attach *a, pid_t pid, bool follow, struct err *err);

/* We run in a pid namespace of our own: records count processes otherwise than we do. */
bool attach__has_view(const struct attach *a);

int attach__ring_fd(const struct attach *a);

/* The records that one piece of the ring stands for, in order. Stops at, and gives back, what is not 0. */
typedef int (*attach_record_fn)(const struct gpubpf_rec *rec, void *arg);
int attach__each_record(const struct attach *a, const void *data, attach_record_fn fn, void *arg);

/* Sums over processors. `n` slots, by api id. */
int attach__counts(struct attach *a, struct gpubpf_counts *out, size_t n);
int attach__globals(struct attach *a, uint64_t out[GPUBPF_G_MAX]);
int attach__results(struct attach *a, void (*fn)(uint32_t api, int32_t result, uint64_t count, void *arg),
		    void *arg);
size_t attach__api_ids(const struct attach *a); /* ids given out so far */

/* Takes all probes away. Counters, ring and open calls stay readable, and still. */
void attach__detach(struct attach *a);
/*
 * The same, and attach__open_calls() goes on telling (`left`) which cuInit() has returned by now: those probes stay, and
 * count and record nothing. attach__detach() ends that.
 */
void attach__detach_but_init(struct attach *a);
/* A call that had not returned; the words are its own. */
struct attach_open_call {
	uint32_t tgid, tid, api, depth;
	uint64_t t_entry;
	bool left;             /* since attach__detach_but_init(): it has returned, or its thread has ended */
	const uint64_t *words; /* GPUBPF_WORDS_MAX */
};
/* Launches that threads still keep (bpf/row.h), counted as recorded. Only after attach__detach(). */
int attach__kept(struct attach *a, attach_record_fn fn, void *arg);
int attach__open_calls(struct attach *a, void (*fn)(const struct attach_open_call *c, void *arg), void *arg);
/* In ns beyond the same call without a probe. */
struct attach_cost_kind {
	uint64_t ns;              /* median */
	uint64_t low_ns, high_ns; /* one batch of ten took less, one more; both 0: not known */
	unsigned measured; /* calls; 0: this kind was not measured, there is none in such a recording */
};
struct attach_cost {
	struct attach_cost_kind kind[COST_KINDS];
	const char *probe; /* what stands at the probes: struct elfsym has the same of the entry points */
	uint64_t spent_ns; /* on measuring */
};
/*
 * Measures it, in some milliseconds. Behind attach__detach(), and the last thing but attach__close(): what the maps hold
 * afterwards means nothing.
 */
int attach__measure_cost(struct attach *a, struct attach_cost *c, struct err *err);
void attach__close(struct attach *a); /* NULL is fine */

#endif
