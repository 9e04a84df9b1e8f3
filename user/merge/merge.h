/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several captures as one: the records of each, with process ids and times that no two share, on one clock.
 *
 * A capture's times are CLOCK_MONOTONIC of its machine's boot. Captures of one boot have one clock. Those of another are moved
 * by a constant, so that the wall clocks agree: CLOCK_REALTIME and CLOCK_MONOTONIC of a machine run alike, and part only when
 * the wall clock is set or the machine sleeps, which is refused. How far the wall clocks of two machines are apart no capture
 * knows; how far they can be, the kernel says where something steers its clock, or whoever merges.
 *
 * Each capture is read twice: once as `inspect` does, for its verdict, and once to be written; memory is that of the first,
 * for the largest capture.
 */
#ifndef GPUBPF_MERGE_H
#define GPUBPF_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/ledger.h"

struct err;

struct merge_opts {
	const char *const *paths;
	size_t n;
	const char *output;
	bool force; /* replace an existing regular file */
	bool has_max_error;
	uint64_t
		max_error_ns; /* refuse what can be further apart, or where nobody knows; without: MERGE_ERROR_MAX */
	bool has_host_error;
	uint64_t host_error_ns; /* clocks of two machines are no further apart: the caller knows */
	void (*progress)(void *arg, uint64_t done, uint64_t all);
	void *progress_arg;
};

#define MERGE_ERROR_MAX UINT64_C(1000000000)

struct merge_result {
	size_t clocks;  /* different ones */
	bool has_error; /* of all pairs of clocks */
	uint64_t error_ns;
	size_t apart[2]; /* two members that share no moment, from 1; 0: all do */
	uint64_t records, bytes;
	enum ledger_verdict worst; /* of the members */
	size_t worst_member;       /* from 1 */
};

/* The file is there under its name only when it is whole. 0 or a negative errno with a message. */
int merge_captures(const struct merge_opts *o, struct merge_result *r, struct err *err);

#endif
