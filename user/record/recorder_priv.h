/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_RECORDER_PRIV_H
#define GPUBPF_RECORDER_PRIV_H

#include "record/recorder.h"

#include <bpf/libbpf.h>
#include <signal.h>
#include <sys/signalfd.h>

#include "attach/libfind.h"
#include "model/apitab.h"
#include "record/launch.h"
#include "record/mmapwatch.h"
#include "record/procinfo.h"
#include "util/err.h"

struct armed;
struct environ_state;
struct gates;
struct shims;
struct shimfile_image;
struct stacks;

struct recorder {
	const struct recorder_opts *o;
	struct recorder_result *res;
	struct err *err;
	sigset_t old_mask;
	struct sigaction old_pipe, old_xfsz;
	bool signals_taken;
	struct launch launch;
	struct attach *attach;
	struct apitab *tab;   /* the built-in table: index = symbol */
	struct apitab *armed; /* by api id, over all libraries */
	struct liblist libs;  /* probed, or tried */
	pid_t execed[64];     /* processes that became another program and may find another libcuda */
	size_t nexeced;
	uint64_t searched[256]; /* libfind_process_key() of searches done, the latest ones */
	size_t nsearched;
	uint64_t late_libraries;
	struct shims *shims;               /* NULL: none was looked for */
	struct armed *armed_procs;         /* processes whose shim has spoken */
	struct stacks *stacks;             /* NULL: not asked for */
	bool stacks_died;                  /* and it was said */
	struct environ_state *environment; /* NULL: nobody keeps it */
	struct gates *gates;               /* the capture gate of each process; NULL: none yet */
	uint64_t stopped;                  /* calls that began later are not counted */
	bool init_kept;                    /* after that it is still seen whether cuInit() returns */
	struct capture_writer *writer;
	struct procinfo *procs;
	struct ring_buffer *ring;
	struct mmapwatch *mmaps;
	int epfd, sigfd;
	int *pidfds;
	size_t npidfds, alive; /* attached processes that have not ended */
	uint64_t start, deadline, last_flush, last_counts, last_scan, last_sum;
	uint64_t burst; /* records of this turn */
	uint64_t calls; /* records of returned calls at depth 0 */
	int write_error;
	int signals;     /* SIGINT and SIGTERM so far */
	const char *end; /* reason to stop; NULL: go on */
};

void recorder_say(struct recorder *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
uint64_t recorder_now(void);
/* Gives a signal on to the launched command, unless the terminal has sent it to both. */
void recorder_pass_on(struct recorder *r, const struct signalfd_siginfo *si);

/* libs.c: which files, probing them, what the capture says of it */
int recorder_libraries(struct recorder *r);
/* Processes that became another program: where their loader would look is probed before it gets there. */
void recorder_execed(struct recorder *r);
bool recorder_wants_file(const char *path);
/* A process has mapped a libcuda or a shim, maybe one that is not probed yet. */
void recorder_mapped(const struct mmapwatch_event *ev, void *arg);
/* Where no mmap records can be had: looks at the mappings of live targets. */
void recorder_scan(struct recorder *r);

/* shims.c: the device observer's files */
bool recorder_wants_shim(const struct recorder *r);
/* Before the command is forked: its private copy of the shim. */
int recorder_shim_prepare(struct recorder *r);
const char *const *recorder_shim_env(const struct recorder *r);
/* Attaches to those that are there. The targets are targets already: what a shim says at once must be heard. */
int recorder_shims(struct recorder *r);
/* Looks at what a process has mapped. */
void recorder_shim_look(struct recorder *r, pid_t view_pid);
void recorder_shims_free(struct recorder *r);

/* armed.c: what shims say of themselves */
void recorder_on_shim(struct recorder *r, const struct gpubpf_shim *batch);
void recorder_shim_task(struct recorder *r, const struct gpubpf_task *t);
/* Calls are entered no more; the shims are asked to end and waited for. */
int recorder_shims_end(struct recorder *r);
/* A launched command that made calls, and whose shim never spoke: that is said. */
void recorder_shims_unheard(struct recorder *r, uint64_t calls);
void recorder_armed_free(struct recorder *r);

/* gates.c, gates_watch.c: whether capture was ready before CUDA was used */
/* For the command's environment, up to four and NULL behind them. */
int recorder_gate_env(struct recorder *r, const char *env[4]);
void recorder_gate_shim(struct recorder *r, const struct gpubpf_shim *batch);
void recorder_gate_call(struct recorder *r, const struct gpubpf_call *c);
void recorder_gate_task(struct recorder *r, const struct gpubpf_task *t);
/* Reads what shims wrote; ends processes of a launched command whose initialization outlives its deadline. */
void recorder_gate_poll(struct recorder *r);
/* Some process of the launched command is inside its first cuInit(). */
bool recorder_gate_init_open(struct recorder *r);
bool recorder_gate_failed(const struct recorder *r); /* some process, finally */
bool recorder_gate_heard(const struct recorder *r);  /* some shim has spoken of its gate */
int recorder_gate_finish(struct recorder *r, const Gpubpf__Counts *counts, bool *ready);
void recorder_gates_free(struct recorder *r);

/* stacks.c: the user stacks of calls */
int recorder_stacks_start(struct recorder *r); /* before anything is attached */
void recorder_stacks_raw(struct recorder *r, const void *raw);
void recorder_stacks_task(struct recorder *r, const struct gpubpf_task *t);
void recorder_stacks_mapped(struct recorder *r, const struct mmapwatch_event *ev);
void recorder_stacks_read(struct recorder *r);
void recorder_stacks_finish(struct recorder *r);
uint64_t recorder_stacks_unresolved(const struct recorder *r);
void recorder_stacks_free(struct recorder *r);

/* environment.c: where and how it was made. What fails is a fact; errors are those of writing and of memory. */
int recorder_environment_begin(struct recorder *r);                    /* once what is recorded runs */
void recorder_environment_process(struct recorder *r, pid_t view_pid); /* one that uses CUDA */
void recorder_environment_task(struct recorder *r,
			       const struct gpubpf_task *t); /* a new one, or a new program */
void recorder_environment_library(struct recorder *r, const struct mmapwatch_event *ev);
void recorder_environment_poll(struct recorder *r);
int recorder_environment_write(struct recorder *r);   /* what is new, as a metadata block */
void recorder_environment_ending(struct recorder *r); /* behind the last record */
int recorder_environment_finish(struct recorder *r);
void recorder_environment_free(struct recorder *r);

/* describe.c: metadata and counters into the file */
int recorder_describe(struct recorder *r);
int recorder_note(struct recorder *r, const char *code, const char *text, uint32_t tgid);
int recorder_clock(struct recorder *r);
/* Reads the counters into a message; free with recorder_counts_free(). */
struct recorder_counts;
int recorder_counts_read(struct recorder *r, struct recorder_counts **out);
const Gpubpf__Counts *recorder_counts_message(const struct recorder_counts *c);
void recorder_counts_in_flight(struct recorder_counts *c, uint32_t api);
void recorder_counts_free(struct recorder_counts *c);

/* loop.c */
int recorder_loop(struct recorder *r);
int recorder_turn(struct recorder *r, int ms); /* waits up to so long, takes in what came */
void recorder_mappings(struct recorder *r);    /* takes in what the kernel has told of new ones */
int recorder_drain(struct recorder *r); /* takes what is in the ring; number of records or a negative errno */
int recorder_on_record(const struct gpubpf_rec *rec, void *recorder);
int recorder_on_ring(void *recorder, void *data, size_t size);

/* cost.c: what a recorded call cost, behind all that is read of the kernel's side */
int recorder_cost(struct recorder *r);

/* finish.c: from the last record to the footer */
int recorder_finish(struct recorder *r);

#endif
