/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unwinding and names by libdw, for one process, from files that it maps and what was copied of its stack. The files may
 * hold anything: only a process of its own does this (resolver.c).
 */
#ifndef GPUBPF_STACKS_DW_H
#define GPUBPF_STACKS_DW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "events.h"
#include "stackraw.h"
#include "stacks/mappings.h"

struct dw;

struct dw_chain {
	uint64_t pc[GPUBPF_STACK_FRAMES]; /* of the call, not what follows it */
	size_t n;
	bool whole, limited;
};

struct dw_frame {
	const char *function; /* demangled; NULL: not known */
	const char *source;   /* "file.c:12", or NULL */
	bool inlined;
};
/* 0, or what ends it and is given back. */
typedef int dw_frame_fn(const struct dw_frame *f, void *arg);

bool dw_built(void);
/* `dir`: of the process in /proc, open as long as this lives. -ENOTSUP: built without libdw. */
int dw__new(pid_t pid, int dir, struct dw **out);
/* Takes in what is mapped now; what was there before is kept, with all that is known of it. */
int dw__report(struct dw *d, const struct maps *m);
void dw__unwind(struct dw *d, const struct stack_raw *raw, struct dw_chain *c);
/* The functions that an address is in: inline ones first, at least one. */
int dw__frames(struct dw *d, uint64_t pc, dw_frame_fn *fn, void *arg);
void dw__free(struct dw *d);

#endif
