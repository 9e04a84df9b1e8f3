/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Turns user stacks as BPF took them down into frames with names, while their processes live. A process of our own does
 * it, which may crash or hang over what it reads there, and holds the recorder up in no case: what it does not get to is
 * counted.
 */
#ifndef GPUBPF_STACKS_H
#define GPUBPF_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct gpubpf_rec;
struct mapping;
struct stack_raw;
struct stacks;

/* Before probes are attached: the process must not hold what keeps them. */
int stacks__start(struct stacks **out, struct err *err);
int stacks__fd(const struct stacks *s); /* readable: stacks__read() */
/* `view`: the process in our own pid namespace. */
void stacks__begun(struct stacks *s, uint32_t tgid, pid_t view);
/* Somebody has mapped a file's code. */
void stacks__mapped(struct stacks *s, pid_t view, const struct mapping *m);
void stacks__ended(struct stacks *s, uint32_t tgid); /* or became another program */
void stacks__take(struct stacks *s, const struct stack_raw *raw, pid_t view);
/* Calls fn with each record that is ready. */
void stacks__read(struct stacks *s, void (*fn)(const struct gpubpf_rec *rec, void *arg), void *arg);
/* The same until everything is resolved, or nothing has come for a time. */
void stacks__finish(struct stacks *s, void (*fn)(const struct gpubpf_rec *rec, void *arg), void *arg);
uint64_t stacks__taken(const struct stacks *s);
uint64_t stacks__unresolved(const struct stacks *s); /* of them, so far */
bool stacks__died(const struct stacks *s);           /* the process, before its time */
void stacks__free(struct stacks *s);

/* Whether names and unwinding are there (libdw); without, frames have files and offsets. */
bool stacks_names_built(void);
/* A well-formed record of this kind, of size bytes. */
bool stacks_record_right(const struct gpubpf_rec *rec);

/* ---- The process ---- */

enum stacks_what { STACKS_BEGUN, STACKS_ENDED, STACKS_MAPPED, STACKS_RAW };
struct stacks_mapping {
	uint64_t start, end, offset, ino;
	uint32_t major, minor;
	char path[4096]; /* to the end of the message */
};
struct stacks_message {
	uint32_t what, tgid;
	int32_t view;
	uint32_t reserved;
	uint8_t body[]; /* struct stack_raw, with STACKS_RAW; struct stacks_mapping, with STACKS_MAPPED */
};
#define STACKS_MESSAGE_MAX (128u << 10)

/* Until the other end is closed. */
void stacks_resolver(int socket);

#endif
