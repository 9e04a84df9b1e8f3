/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The traced processes, as the capture's metadata describes them: from task records and from /proc while they live. */
#ifndef GPUBPF_PROCINFO_H
#define GPUBPF_PROCINFO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct capture_writer;
struct err;
struct gpubpf_task;
struct procinfo;

int procinfo__new(struct procinfo **out);
/* A process known before its first record. `tgid` is its number in the initial pid namespace. */
int procinfo__add(struct procinfo *p, uint32_t tgid, pid_t view_pid, const char *origin, uint64_t since_ns);
/* Takes a task record in. `origin` is for processes that were not known. 1: one that was not known, or became another program. */
int procinfo__task(struct procinfo *p, const struct gpubpf_task *t, const char *origin);
/* A traced process, or one that ended since the last write. */
bool procinfo__has_view(const struct procinfo *p, pid_t view_pid);
/* Its number in our pid namespace; that of the initial one where it is not known. */
pid_t procinfo__view(const struct procinfo *p, uint32_t tgid);
size_t procinfo__live(const struct procinfo *p);
/* Calls fn(view pid) for each live process. */
void procinfo__each_live(struct procinfo *p, void (*fn)(pid_t view_pid, void *arg), void *arg);
/* Writes what is new or changed as one metadata block. */
int procinfo__write(struct procinfo *p, struct capture_writer *w, struct err *err);
void procinfo__free(struct procinfo *p);

#endif
