/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a shim says of its gate (bpf/gate.h), as it is believed: a file that a process of ours wrote, which may be half
 * written, forged or of another process, so whatever is not exactly what a shim writes is refused, with the reason named.
 */
#ifndef GPUBPF_GATE_STATUS_H
#define GPUBPF_GATE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gate.h"

struct err;

/* clang-format off */
#define GATE_REFUSALS(X) \
	X(MISSING, "missing") /* no such file */ \
	X(DIRECTORY, "directory") /* not ours, or not as we made it */ \
	X(NOT_A_FILE, "not_a_file") X(UNREADABLE, "unreadable") X(OVERSIZE, "oversize") \
	X(MALFORMED, "malformed") /* no JSON, or not all of it */ X(DUPLICATE, "duplicate_member") \
	X(SCHEMA, "unknown_schema") X(MEMBER_MISSING, "missing_member") X(MEMBER_EXTRA, "extra_member") \
	X(VALUE, "bad_value") /* another type, a word or a number that no shim writes */ \
	X(STATE, "impossible_state") /* each value is fine; together they are not */ \
	X(TOKEN, "foreign_token") X(PID, "foreign_pid") X(START_TIME, "recycled_pid") \
	X(OLDER, "older") /* the sequence does not rise, or it is of the program before exec */ \
	X(LATCHED, "latched") /* takes back what was final */
/* clang-format on */

enum gate_refusal {
	GATE_ACCEPTED = 0,
#define X(name, word) GATE_REFUSED_##name,
	GATE_REFUSALS(X)
#undef X
};
const char *gate_refusal_word(enum gate_refusal r); /* "accepted" … */

#define GATE_KINDS_MAX 64

struct gate_status {
	char token[GPUBPF_GATE_TOKEN_LEN + 1];
	uint32_t pid;        /* as the process itself sees it */
	uint64_t start_time; /* clock ticks since boot */
	uint64_t sequence;
	enum gpubpf_lifecycle lifecycle;
	enum gpubpf_readiness readiness;
	enum gpubpf_gate_reason reason;
	uint64_t now, first_touch, deadline, warmup; /* ns; gate.h says when they are 0 */
	unsigned notes;                              /* enum gpubpf_gate_note */
	struct gate_kind {
		char name[32];
		bool required;
		int32_t result; /* CUptiResult */
	} kinds[GATE_KINDS_MAX];
	unsigned nkinds;
	bool has_kinds; /* false: it came over the probe, which does not carry them */
};

/* The words of bpf/gate.h; NULL beyond them. */
const char *gate_lifecycle_word(unsigned lifecycle);
const char *gate_readiness_word(unsigned readiness);
const char *gate_reason_word(unsigned reason); /* "" of GPUBPF_GATE_NO_REASON */
const char *gate_note_word(unsigned bit);
/* What a reason means to the user, and what to do about it ("" where there is nothing). */
const char *gate_reason_text(unsigned reason);
const char *gate_reason_remedy(unsigned reason);

/* The bytes of a file. The message never quotes them. */
enum gate_refusal gate_status_parse(const char *data, size_t n, struct gate_status *s, struct err *err);
/* Whether a shim can be in this state; gate_status_parse() asks it. */
enum gate_refusal gate_status_possible(const struct gate_status *s, struct err *err);

/* Whose status is expected. */
struct gate_expect {
	const char *token;              /* NULL: not asked for (over the probe) */
	uint32_t pid;                   /* 0: not asked for */
	uint64_t start_time;            /* the same */
	uint64_t not_before;            /* CLOCK_MONOTONIC ns: the process became its program then */
	uint64_t not_after;             /* it is now */
	const struct gate_status *last; /* accepted before; NULL: none */
};
enum gate_refusal gate_status_check(const struct gate_status *s, const struct gate_expect *e,
				    struct err *err);

#endif
