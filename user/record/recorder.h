/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A recording from end to end: find libcuda, probe it, take the ring down into a capture file, stop cleanly. */
#ifndef GPUBPF_RECORDER_H
#define GPUBPF_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "attach/attach.h"
#include "capture/capture.h"
#include "model/ledger.h"

struct err;
struct shimfile_image;

struct recorder_opts {
	const pid_t *pids; /* attach to these … */
	size_t npids;
	char **command; /* … or launch this … */
	bool system;    /* … or everything that uses the driver */
	bool follow;    /* children too */
	const char *output;
	struct capture_writer_opts file;
	const struct capture_sink *sink; /* instead of the file */
	uint64_t
		counts_ns; /* between two blocks of counters, the first so long after the beginning; 0: a second */
	/* Between turns, every 10 ms or so, from the beginning on (NULL: nobody): a reason to end, or NULL. */
	const char *(*turn)(void *arg);
	void *turn_arg;
	struct attach_opts attach;
	const char **libcuda; /* more files to probe, beside those that are found */
	size_t nlibcuda;
	bool no_shim;                            /* the host observer alone */
	bool no_host;                            /* the device observer alone: no probe in libcuda */
	const struct shimfile_image *shim_image; /* a launched command gets a copy of this … */
	const char *shim_path;                   /* … or of this file; others: attached to as well */
	const char *cupti_kinds;                 /* "sync,memory": more kinds of activity; NULL: none */
	uint64_t init_timeout_ns, warmup_ns;     /* of a launched command's capture; 0: the shim's own */
	bool require_ready;                      /* otherwise no file is left */
	bool no_cost;                            /* what a call cost is not measured */
	bool no_smi;                             /* nvidia-smi is not started */
	uint64_t duration_ns;                    /* 0: no end by time */
	uint64_t max_calls;                      /* 0: no end by number */
	/* Lines for the user while it runs (NULL: none); `arg` is passed through. */
	void (*say)(const char *line, void *arg);
	void *say_arg;
};

struct recorder_result {
	struct ledger ledger;
	uint64_t calls, records, bytes, duration_ns;
	size_t processes, libraries;
	size_t shims, sessions; /* files of the shim attached to; sessions that began */
	const char *end_reason;
	bool not_ready; /* require_ready, and capture was not shown to be ready: no file is left */
	bool launched;
	int exit_status;               /* of the launched command */
	uint64_t attach_ns, detach_ns; /* what attaching and detaching took */
	const char *method;
};

/*
 * Runs until an end comes: the targets are gone, the duration or the number of calls is reached, SIGINT or
 * SIGTERM. It takes these signals, SIGCHLD and SIGPIPE for itself while it runs and gives them back. A launched
 * command is waited for in every case, unless a second signal says otherwise. Returns 0; or a negative errno with a message
 * when nothing could be recorded, or when the file could not be written to its end (result is filled then).
 */
int recorder_run(const struct recorder_opts *o, struct recorder_result *res, struct err *err);

#endif
