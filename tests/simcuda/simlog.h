/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The simulated driver's own log of calls: what a test holds against a capture.
 *
 * With SIMCUDA_LOG=FILE every call of an exported function takes one record. The file is a header page and an
 * array of records, mapped shared by every process that has FILE in its environment. A record is claimed by an
 * atomic add on the header at entry and filled in place, so it needs no system call; since the pages belong to
 * the file, fork, exec, _exit and SIGKILL lose nothing: a call cut short keeps state SIMLOG_ENTERED.
 * A logged call costs about a microsecond, most of it the page faults of a growing file.
 * The file is sparse (SIMCUDA_LOG_MAX records, default 4 Mi); calls beyond are counted as claimed only.
 *
 * Times are CLOCK_MONOTONIC. Process and thread ids are those of the caller's pid namespace. Words are the
 * arguments in declaration order, cut to the width of their type (signed ones too: zero above their width).
 */
#ifndef SIMCUDA_SIMLOG_H
#define SIMCUDA_SIMLOG_H

#include <stdint.h>

#define SIMLOG_MAGIC 0x31474f4c4d495301ull /* "\1SIMLOG1" */
#define SIMLOG_HEADER_BYTES 4096
#define SIMLOG_WORDS 12

struct simlog_header {
	uint64_t magic;
	uint32_t record_bytes;
	uint32_t reserved;
	uint64_t capacity; /* records that fit */
	uint64_t claimed;  /* calls entered; beyond capacity they left no record */
};

enum simlog_state {
	SIMLOG_EMPTY = 0, /* claimed by a process that was killed at once */
	SIMLOG_ENTERED = 1,
	SIMLOG_RETURNED = 2,
};

enum simlog_flags {
	SIMLOG_HAS_OUT = 1u << 0, /* `out` is what stood behind the first pointer result after success */
	SIMLOG_HAS_OUT2 = 1u << 1,
	SIMLOG_INJECTED = 1u << 2, /* the result is SIMCUDA_FAIL's, the call had no effect */
};

struct simlog_record {
	uint32_t state; /* enum simlog_state, written last */
	uint32_t flags;
	char symbol[64];
	uint32_t tgid;
	uint32_t tid;
	uint64_t t_entry;
	uint64_t t_exit;
	int32_t result;
	uint16_t nargs;
	uint16_t depth; /* exported functions of the driver that this call was made inside of */
	uint64_t words[SIMLOG_WORDS];
	uint64_t out;
	uint64_t out2;
	uint64_t reserved[5];
};

_Static_assert(sizeof(struct simlog_header) == 32, "log format");
_Static_assert(sizeof(struct simlog_record) == 256, "log format");

#endif
