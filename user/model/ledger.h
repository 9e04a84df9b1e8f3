/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ledger: what was counted against what was recorded, per population, and the verdict that follows. Per
 * line of the host it holds that
 *
 *   calls = recorded + lost_ring + lost_thread + lost_depth + abandoned + in_flight + unexplained
 *
 * where calls (entered + nested) come from the per-CPU counters, which never lose. lost_writer is a part of
 * recorded: handed over by BPF and not written.
 *
 * The recorder computes it before it writes the footer, every reader computes it again from the counters
 * and from what the file really holds. Neither believes a stored verdict.
 *
 * Where the device observer was there, a second table says what became of every call that asks the device for work:
 *
 *   calls = matched + failed + captured + no_work + device_launched + outside + invalid_time + in_flight + abandoned
 *         + lost_ring + lost_shim + dropped + ambiguous + unexplained
 *
 * It needs the join of both observers (user/join), so readers alone compute it: a footer holds the host's lines and
 * what became of the shim's batches (gpubpf.ProbeCounts), never a device line.
 */
#ifndef GPUBPF_LEDGER_H
#define GPUBPF_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/capture.h"
#include "join/join.h"
#include "model/apitab.h"

/* Zero is not healthy (R1): a zero-initialised ledger is "not evaluable". */
enum ledger_verdict {
	LEDGER_NOT_EVALUABLE = 0,  /* no counters in the capture */
	LEDGER_EMPTY = 1,          /* no call was counted */
	LEDGER_INCOMPLETE = 2,     /* something is known to be missing; the reasons name it */
	LEDGER_UNCONTRADICTED = 3, /* one observer, whichever, and nothing contradicts it */
	LEDGER_RECONCILED =
		4, /* two observers agree on every call: not reachable with the host observer alone */
};

struct ledger_line {
	const char *population; /* one of api_population_names; "all calls" in the total */
	uint64_t calls;         /* entered by the application, and nested in another traced call */
	uint64_t nested;        /* of calls */
	uint64_t failed;        /* of calls at depth 0 that returned an error: explains nothing */
	uint64_t recorded;      /* records that BPF handed over */
	uint64_t lost_ring, lost_thread, lost_depth;
	uint64_t lost_writer; /* of recorded: did not reach the file */
	uint64_t abandoned, in_flight;
	int64_t unexplained;
	uint64_t orphan_returns; /* open when tracing began; not in calls */
	uint64_t
		unmeasured; /* of recorded and lost_ring: at their entry alone, result and duration not seen */
	uint64_t in_file;   /* records of returned (entry only: begun) calls in the file: has_in_file */
};

struct ledger_reason {
	const char *code; /* machine word: "lost_ring", "no_footer" … */
	uint64_t count;   /* 0 where the reason has no number */
	char text[256];   /* what is missing, with the number */
	char remedy[256]; /* what to do about this cause (R4); "" when there is nothing to do */
};

#define LEDGER_REASONS_MAX 32

/* Calls of the application (depth 0) of one population. */
struct ledger_device_line {
	const char *population;
	uint64_t calls; /* by the counters; in the file, where the counters are of another moment */
	uint64_t matched, failed, captured, no_work, device_launched, outside, invalid_time, in_flight,
		abandoned;
	uint64_t lost_ring; /* records of calls, and batches of the shim, that found no way into the file */
	uint64_t lost_shim, dropped, ambiguous;
	int64_t unexplained;
	uint64_t executions; /* on the device, of these calls: explains nothing */
};

enum ledger_device_state {
	LEDGER_DEVICE_NONE = 0, /* no device observer */
	LEDGER_DEVICE_UNREAD,   /* it was there; this ledger was computed without its records (recording) */
	LEDGER_DEVICE_FAILED,   /* it was there, and no process was armed */
	LEDGER_DEVICE_SILENT,   /* armed, and nothing that ran was reported, though calls asked for work */
	LEDGER_DEVICE_PARTIAL,  /* some calls were made outside its sessions */
	LEDGER_DEVICE_WHOLE,    /* every call was made inside a session */
};

struct ledger_device {
	enum ledger_device_state state;
	bool agrees; /* WHOLE, and every call is accounted for by both */
	struct ledger_device_line line[JOIN_POPULATIONS], total;
	uint64_t activities;
	uint64_t handed_calls; /* items of calls_v1 as BPF counted them: all work, allocations and waits */
	unsigned reason;       /* enum gpubpf_reason of the first session that failed; 0: none given */
	uint64_t failed_sessions;
};

struct ledger {
	enum ledger_verdict verdict;
	bool has_counts; /* the lines mean something */
	/*
	 * No probe stood in libcuda: the host's lines mean nothing, and the device lines' calls are those that the shim
	 * saw. `captured`, `no_work`, `outside` and `abandoned` were then not measured (ledger_device_measured()).
	 */
	bool host_left_out;
	bool has_in_file; /* the file's records were counted */
	struct ledger_line line[API_POPULATIONS], total;
	struct ledger_reason reason[LEDGER_REASONS_MAX]; /* why it is incomplete, empty or not evaluable */
	unsigned nreasons;
	struct ledger_reason fact[LEDGER_REASONS_MAX]; /* true and worth saying, but no loss */
	unsigned nfacts;
	struct ledger_device device;
	/* The capture says that it was not ready in every process before CUDA was used: never reconciled. */
	bool not_ready;
	/* A merged capture: of so many, and the worst verdict among them. */
	unsigned members;
	enum ledger_verdict worst_member;
};

struct ledger_input {
	const struct apitab *tab;
	const Gpubpf__Counts *counts; /* NULL: none in the capture */
	const Gpubpf__Meta *meta;     /* armed, missing and refused entry points; NULL: not considered */

	bool host_left_out; /* gpubpf.Meta.host_left_out, where no call contradicts it */
	/* Recording: libraries that a traced process had loaded before probes stood in them. Reading: 0, the notes of
	 * `meta` tell. */
	uint64_t late_libraries;
	/* Recording: call records that the writer dropped, by API id (capture_writer__dropped_calls()). */
	const uint64_t *dropped;
	size_t ndropped;

	/* Reading: NULL while recording. With it, a footer is demanded and damage counts. */
	const struct capture_status *status;
	const Gpubpf__Footer *footer; /* its ledger lines say what the writer dropped */
	/* Reading: call records seen in the file, by API id, those with GPUBPF_CALL_OPEN left out. NULL: the
	 * records were not read. */
	const uint64_t *in_file;
	size_t nin_file;
	const struct join *join; /* of the records of the file; NULL: none of the device observer */
};

/* `l` needs no initialisation and owns nothing. */
void ledger_compute(const struct ledger_input *in, struct ledger *l);

const char *ledger_verdict_name(enum ledger_verdict v); /* "uncontradicted" … */
/* The first line of every output: the verdict's name, what it means, and what instrument was not there. */
void ledger_headline(const struct ledger *l, char *buf, size_t n);

/* Storage for the ledger inside a footer; must live as long as the footer is used. */
struct ledger_footer {
	Gpubpf__LedgerLine line[API_POPULATIONS];
	Gpubpf__LedgerLine *lines[API_POPULATIONS];
};
void ledger_fill_footer(const struct ledger *l, struct ledger_footer *store, Gpubpf__Footer *footer);

/* Whether somebody could see this term of a device line (by its offset): false is neither 0 nor absent (R14). */
bool ledger_device_measured(const struct ledger *l, size_t term);
const char *ledger_device_state_name(enum ledger_device_state s); /* "none", "whole" … */

/* gpubpf.GlobalCount.name of an enum gpubpf_global; NULL beyond the known ones. */
const char *ledger_global_name(unsigned global);

#endif
