/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Raw attach calls: libbpf 1.1 knows neither multi-links nor sessions, and a perf-based probe needs to be
 * given its program copy by copy on kernels without cookies. File descriptors are the caller's to close.
 */
#ifndef GPUBPF_ATTACH_KERNEL_H
#define GPUBPF_ATTACH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum attach_method {
	ATTACH_AUTO,
	ATTACH_SESSION, /* one multi-link, entry and return in one program: Linux 6.13 */
	ATTACH_MULTI,   /* two multi-links: Linux 6.6 */
	ATTACH_PERF,    /* a perf event per probe, with cookies: Linux 5.15 */
	ATTACH_PERCALL, /* a perf event and a copy of the program per probe: older */
	ATTACH_METHODS,
};

extern const char
	*const attach_method_names[ATTACH_METHODS]; /* "auto", "session", "multi", "perf", "percall" */

/* enum bpf_attach_type of kernels newer than the headers (linux/bpf.h) */
#define KERNEL_UPROBE_MULTI 48
#define KERNEL_UPROBE_SESSION 57

/*
 * One link for n probes of the file at `path`. pid 0: every process. `ret`: at the return (ATTACH_MULTI).
 * Returns the link's descriptor or a negative errno.
 */
int kernel_link_multi(int prog_fd, bool session, bool ret, const char *path, const uint64_t *offsets,
		      const uint64_t *cookies, size_t n, int pid);
/* One probe by a perf event; pid -1: every process. *has_cookie false: the kernel has none, 0 is seen. */
int kernel_link_perf(int prog_fd, bool ret, const char *path, uint64_t offset, uint64_t cookie,
		     bool use_cookie, int pid);
/*
 * The same at the entry of USDT sites. `semaphores`: the file offsets of the 16-bit counters that the kernel raises
 * in each process that it probes for as long as the link lives; 0: the site has none.
 */
int kernel_site_multi(int prog_fd, const char *path, const uint64_t *offsets, const uint64_t *semaphores,
		      const uint64_t *cookies, size_t n, int pid);
int kernel_site_perf(int prog_fd, const char *path, uint64_t offset, uint64_t semaphore, uint64_t cookie,
		     bool use_cookie, int pid);

/*
 * Tries a method for real: a two-instruction program on a function of this very process. 0: works; a negative
 * errno, with what was tried in the message.
 */
int kernel_try(enum attach_method m, struct err *err);

/*
 * False where a return probe would kill a process behind a seccomp filter (Linux 6.11 to 6.14 without the fix); see
 * retsafe.c. `always_try`: also on kernels where it is known.
 */
bool kernel_return_probes_safe(bool always_try);

/* False where the process id of a multi-link lets one thread through and not its process; see pidfilter.c. */
bool kernel_multi_pid_is_process(void);

/* For trials: a program that does nothing; the file offset in /proc/self/exe of a function of ours. */
int kernel_trivial_program(unsigned attach_type);
int kernel_own_offset(void (*fn)(void), uint64_t *offset);

#endif
