/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the verbs that attach to processes share: one struct, one row of the option table for each option, one reading of
 * them. A verb's own struct begins with struct record_common, so that offsets are the same.
 */
#ifndef GPUBPF_RECORD_OPTS_H
#define GPUBPF_RECORD_OPTS_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

#include "record/recorder.h"
#include "util/opts.h"

#define RETURNS_DEFAULT 64
#define RETURNS_NOT_GIVEN ULLONG_MAX

struct record_common {
	struct opt_list pids, libcuda;
	const char *shim;
	unsigned long long returns, duration, ring_size, max_threads;
	int system, follow, latency, no_shim, verbose;
	enum attach_method method;
};
#define RECORD_COMMON_INIT                                                                                   \
	{                                                                                                    \
		.follow = 1, .returns = RETURNS_NOT_GIVEN                                                    \
	}

#define RECORD_O(field) offsetof(struct record_common, field)

/* clang-format off */
#define RECORD_OPT_TARGETS \
	{ 'p', "pid", OPT_LIST, "PID", RECORD_O(pids), \
	  "These live processes (comma separated, or several -p).", 0, NULL, 0, NULL }, \
	{ 'a', "all", OPT_FLAG, NULL, RECORD_O(system), "Every process that uses the driver.", 0, NULL, 0, NULL }
#define RECORD_OPT_DURATION \
	{ 'd', "duration", OPT_DURATION, "TIME", RECORD_O(duration), "End after this time (10s, 250ms, 5m).", 0, \
	  NULL, 0, NULL }
#define RECORD_OPT_FOLLOW \
	{ 0, "no-follow", OPT_FLAG, NULL, RECORD_O(follow), \
	  "Do not record children. With a single -p the probes then stand in that process alone; otherwise they stand " \
	  "in every process that maps the same libcuda, which costs one that is not recorded a trap a call: 0.5 to 0.8 us on " \
	  "an H200 machine, several in some virtual machines.", \
	  1, NULL, 0, NULL }
#define RECORD_OPT_HOST \
	{ 0, "returns", OPT_UINT, "N", RECORD_O(returns), \
	  "Of kernel launches that follow each other within 20 us, measure about one in N to its return (drawn at random); " \
	  "each one is counted and recorded. 1 measures all, at a higher cost to a thread that only launches. Where the kernel " \
	  "has no session probes all are measured.", \
	  0, NULL, 1, "64" }, \
	{ 0, "libcuda", OPT_LIST, "PATH", RECORD_O(libcuda), "Probe this file as well, if it is not found by itself.", 0, \
	  NULL, 0, NULL }, \
	{ 0, "no-shim", OPT_FLAG, NULL, RECORD_O(no_shim), \
	  "The host observer alone: no shim is put into the command or attached to.", 0, NULL, 0, NULL }
#define RECORD_OPT_SHIM \
	{ 0, "shim", OPT_STRING, "PATH", RECORD_O(shim), \
	  "This file of the shim: a launched command gets a copy of it instead of the one inside this program; in live " \
	  "processes it is attached to, whatever it is called.", \
	  0, NULL, 0, NULL }
#define RECORD_OPT_ROOM \
	{ 0, "ring-size", OPT_SIZE, "SIZE", RECORD_O(ring_size), \
	  "Room for records between kernel and gpubpf, for when records are lost for lack of it.", 0, NULL, 1, "16M" }, \
	{ 0, "max-threads", OPT_UINT, "N", RECORD_O(max_threads), "Room for calls of this many threads at the same time.", \
	  0, NULL, 1, "16384" }, \
	{ 0, "attach", OPT_CALL, "METHOD", RECORD_O(method), \
	  "How to probe: session (Linux 6.13), multi (6.6), perf (5.15), percall (older); auto takes the first that works.", \
	  0, record_parse_method, 1, "auto" }
#define RECORD_OPT_VERBOSE \
	{ 'v', "verbose", OPT_FLAG, NULL, RECORD_O(verbose), "Show what libbpf and the kernel's verifier say.", 0, NULL, 0, \
	  NULL }
/* clang-format on */

struct err;

int record_parse_method(const char *arg, void *dst, struct err *err); /* enum attach_method */
/* What is wrong with them together; NULL: nothing. */
const char *record_common_refuse(const struct record_common *o, bool command);
/* Fills what comes of them: targets, attach, libcuda, shim, duration. `pids` is targets_parse()'s. */
void record_common_fill(struct recorder_opts *r, const struct record_common *o, const pid_t *pids,
			char **command);
void record_libbpf_prints(bool verbose);
/* "gpubpf: LINE" on stderr (struct recorder_opts.say). */
void record_say(const char *line, void *arg);
/* "gpubpf VERB: MESSAGE"; 1. */
int record_failed(const char *verb, const struct err *err, int e);
int record_usage(const char *verb, const char *message); /* 2 */

#endif
