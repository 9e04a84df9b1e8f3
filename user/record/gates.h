/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorder keeps of the capture gate: its folder, and what is known of each process. */
#ifndef GPUBPF_GATES_H
#define GPUBPF_GATES_H

#include <uthash.h>

#include "gate/dir.h"
#include "gate/judge.h"
#include "record/recorder_priv.h"

struct gated {
	uint32_t tgid; /* initial pid namespace */
	uint32_t own_pid, view_pid;
	uint64_t start_time; /* clock ticks; 0: not known */
	uint64_t exec_ns;    /* it became its program then; 0: not in this recording */
	struct gate_host host;
	struct gate_seen seen;
	struct gate_status shim, floor; /* accepted; what a later one must not fall below */
	bool has_shim, has_floor, from_file;
	enum gate_refusal refused; /* of the newest file that was not believed */
	char refused_text[160];
	bool has_refused, final_read, ended, watchdog, differ;
	bool init_open; /* the first cuInit() is entered and not returned, by BPF's own table … */
	bool was_open;  /* … and was so when the recording ended */
	int wait_status;
	uint32_t init_tid;     /* with init_open: the thread inside it */
	char stack[1200];      /* with watchdog: what the wedged thread was in */
	struct gated *earlier; /* the program before exec, if it had a word of its shim */
	UT_hash_handle hh;
};

struct gates {
	struct gate_dir dir;
	char token[GPUBPF_GATE_TOKEN_LEN + 1];
	char text[4][PATH_MAX + 64];     /* for the command's environment */
	bool gated;                      /* the command got that environment */
	struct err why;                  /* there is no folder */
	struct gated *procs, *last;      /* by tgid; the one that was asked for last */
	uint8_t watched[GPUBPF_API_MAX]; /* per entry point: what its calls are to the gate */
	uint64_t last_poll;
	size_t nprocs;
	bool failed; /* some process, finally */
};

struct gated *gates_find(struct gates *g, uint32_t tgid);
/* Made if need be; NULL: no memory, or too many. */
struct gated *gates_get(struct recorder *r, uint32_t tgid);
/* Field 22 of /proc/PID/stat; 0: not readable. */
uint64_t gates_start_time(pid_t pid);
/* Looks at its status file. */
void gated_read(struct gates *g, struct gated *p);
/* It became another program. */
void gated_replaced(struct gated *p, uint64_t when);
/* gates_watch.c */
void gated_case(const struct gates *g, const struct gated *p, struct gate_case *c);
/* gates_write.c: into the capture; *ready: in every process, and there was one. */
int gates_write(struct recorder *r, bool *ready);

#endif
