/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traced processes, as the capture's metadata describes them: from task records and from /proc while they live. */
#ifndef GPUBPF_PROCS_H
#define GPUBPF_PROCS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct capture_writer;
struct err;
struct gpubpf_task;
struct procs;

int procs__new(struct procs **out);
/* A process known before its first record. `tgid` is its number in the initial pid namespace. */
int procs__add(struct procs *p, uint32_t tgid, pid_t view_pid, const char *origin, uint64_t since_ns);
/* Takes a task record in. `origin` is for processes that were not known. */
int procs__task(struct procs *p, const struct gpubpf_task *t, const char *origin);
bool procs__has_view(const struct procs *p, pid_t view_pid);
size_t procs__live(const struct procs *p);
/* Calls fn(view pid) for each live process. */
void procs__each_live(struct procs *p, void (*fn)(pid_t view_pid, void *arg), void *arg);
/* Writes what is new or changed as one metadata block. */
int procs__write(struct procs *p, struct capture_writer *w, struct err *err);
void procs__free(struct procs *p);

#endif
