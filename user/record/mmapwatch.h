/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells when a process maps a libcuda or a shim, so that one that is loaded from where nobody looked is probed soon: the
 * kernel's own mmap records, from a perf event without a counter on each processor.
 */
#ifndef GPUBPF_MMAPWATCH_H
#define GPUBPF_MMAPWATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct mmapwatch;

/* One mapping: when (CLOCK_MONOTONIC), by whom, and the file as the process sees it. */
struct mmapwatch_event {
	uint64_t time;
	pid_t view_pid;
	const char *path;
	uint64_t ino;
	uint64_t addr, len, offset;
	uint32_t major, minor;
};
typedef void mmapwatch_fn(const struct mmapwatch_event *ev, void *arg);

/* 0 or a negative errno (the caller then looks by itself now and then). */
int mmapwatch__open(struct mmapwatch **out);
/* Adds its descriptors to an epoll set with events.data.fd. */
int mmapwatch__epoll_add(struct mmapwatch *m, int epfd);
/* Calls fn for each new mapping of a file whose path `wanted` takes. */
void mmapwatch__read(struct mmapwatch *m, bool (*wanted)(const char *path), mmapwatch_fn *fn, void *arg);
void mmapwatch__close(struct mmapwatch *m);

#endif
