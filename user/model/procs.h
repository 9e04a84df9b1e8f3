/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes and threads of a capture. A process here is one life of one address space: a pid that is used
 * again, and a program started by exec in the same process, are new ones. Pointers stay valid.
 */
#ifndef GPUBPF_PROCS_H
#define GPUBPF_PROCS_H

#include "events.h"
#include "util/hmap.h"

struct alloc;
struct apistat;

enum proc_end {
	PROC_RUNNING, /* as far as the capture goes */
	PROC_EXITED,
	PROC_EXECED,
	PROC_REPLACED, /* its pid came back as another process, its end was not seen */
};

#define PROC_MEM_SPACES 3

struct proc {
	uint64_t key[2]; /* tgid, how many lives this pid had before */
	uint32_t tgid, view_tgid;
	struct proc *older;  /* the life before of the same pid */
	struct proc *parent; /* forked from it, at forked_at: handles and names were inherited */
	uint64_t since, first, ended, forked_at;
	uint64_t start_time;
	enum proc_end end;
	char comm[16];
	bool selected;
	uint64_t calls; /* depth 0 */
	unsigned threads;

	/* model/names.c: functions whose owner is unknown may have died then */
	uint64_t last_unload;
	/* model/graphs.c */
	unsigned capturing;
	uint64_t capture_until;
	/* model/allocs.c: live memory by address */
	struct alloc *mem[PROC_MEM_SPACES];
	struct alloc *superseded[PROC_MEM_SPACES]; /* given out again since; see allocs.c */
};

struct thread {
	uint64_t key[2]; /* process, tid */
	struct proc *proc;
	uint32_t tid;
	bool selected;
	uint64_t calls;
	struct apistat **stats; /* by API id, on demand */
};

struct procs_filter {
	const uint32_t *pids, *tids; /* none: all */
	size_t npids, ntids;
};

struct procs {
	struct hmap by_pid, lives, threads;
	struct procs_filter filter;
	struct thread *recent[256];
};

void procs__init(struct procs *s, const struct procs_filter *filter);
void procs__clear(struct procs *s);
/* The process with this pid at this moment; NULL: no memory. */
struct proc *procs__at(struct procs *s, uint32_t tgid, uint64_t t);
struct thread *procs__thread(struct procs *s, const struct gpubpf_call *c);
/* *over: a process that ended by this record, or NULL. 0 or -ENOMEM. */
int procs__task(struct procs *s, const struct gpubpf_task *r, struct proc **over);

#endif
