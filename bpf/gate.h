/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The words of the capture gate, which the shim says and the recorder reads: over the probe status_v1
 * (GPUBPF_STATUS_GATE) and in a file, which is there also when no recorder listens and when the process dies.
 *
 * The file is status-<pid>.json in the directory that GPUBPF_STATUS_DIR names: one flat JSON object, written to a
 * temporary name and renamed, at each transition. Its members, all of them always there, in this order:
 *
 *   schema       "gpubpf-gate-1"
 *   token        what GPUBPF_RUN_TOKEN was, 32 hexadecimal digits; "" without
 *   pid          as the process itself sees it
 *   start_time   /proc/self/stat, field 22: clock ticks since boot
 *   sequence     1, and one more for each file of this process
 *   lifecycle    of GPUBPF_LIFECYCLES
 *   readiness    of GPUBPF_READINESSES
 *   reason       of GPUBPF_GATE_REASONS; "" unless failed
 *   now, first_touch, deadline    CLOCK_MONOTONIC ns; the last two are 0 before the first touch
 *   warmup       ns, 0: none
 *   kinds        an object: facility name → { "required": bool, "result": CUptiResult }, those that were tried
 *   notes        an array of words of GPUBPF_GATE_NOTES
 */
#ifndef GPUBPF_GATE_H
#define GPUBPF_GATE_H

#define GPUBPF_GATE_SCHEMA "gpubpf-gate-1"
#define GPUBPF_GATE_FILE "status-%d.json"
#define GPUBPF_GATE_FILE_MAX 4096 /* bytes: longer is refused */
#define GPUBPF_GATE_TOKEN_LEN 32

/* The environment of a gated process. */
#define GPUBPF_ENV_STATUS_DIR "GPUBPF_STATUS_DIR"
#define GPUBPF_ENV_RUN_TOKEN "GPUBPF_RUN_TOKEN"
#define GPUBPF_ENV_INIT_TIMEOUT "GPUBPF_INIT_TIMEOUT_MS" /* 15000 */
#define GPUBPF_ENV_WARMUP "GPUBPF_WARMUP_MS"             /* 0: inline */
#define GPUBPF_ENV_MANUAL "GPUBPF_MANUAL_INIT"           /* 1 */

#define GPUBPF_GATE_ALLOWANCE_MS 15000
#define GPUBPF_GATE_EXIT_STATUS                                                                              \
	86 /* the initializer was still at it when the process ended, and after the deadline */

/* clang-format off */
#define GPUBPF_LIFECYCLES(X) \
	X(DISABLED, 0, "disabled") /* a forked child, or a protocol that is not known */ \
	X(IDLE, 1, "idle") X(CALLBACK_SEEN, 2, "callback_seen") X(WARMUP, 3, "warmup") \
	X(INITIALIZING, 4, "initializing") X(FINISHED, 5, "finished") \
	X(STOPPED, 6, "stopped") /* the process ended before an initializer began */

#define GPUBPF_READINESSES(X) X(PENDING, 0, "pending") X(READY, 1, "ready") X(FAILED, 2, "failed")

#define GPUBPF_GATE_REASONS(X) \
	X(INIT_TIMEOUT, 1, "init_timeout") X(LATE_SUCCESS, 2, "late_success") \
	X(TRIGGER_FAILED, 3, "trigger_failed") X(CALLBACK_MISSING, 4, "callback_missing") \
	X(INITIALIZER_FAILED, 5, "initializer_failed") X(FACILITY_ENABLE_FAILED, 6, "facility_enable_failed") \
	X(SECOND_SUBSCRIBER, 7, "second_subscriber") X(CUPTI_MISSING, 8, "cupti_missing") \
	X(CUPTI_NOT_PERMITTED, 9, "cupti_not_permitted") X(UNOWNED_FIRST_TOUCH, 10, "unowned_first_touch") \
	X(UNSUPPORTED_FIRST_TOUCH, 11, "unsupported_first_touch") \
	X(EXIT_BEFORE_CAPTURE, 12, "exit_before_capture") X(EXIT_WEDGED, 13, "exit_wedged") \
	X(TRACE_FACILITY_LOST, 14, "trace_facility_lost") X(NO_KNOWN_LOSS, 15, "no_known_loss")

#define GPUBPF_GATE_NOTES(X) /* a bit each */ \
	X(LATE_ATTACH, 0, "late_attach") X(WARMUP_UNQUALIFIED, 1, "warmup_unqualified") \
	X(FORKED_CHILD, 2, "forked_child") X(EXEC_REPLACED, 3, "exec_replaced")
/* clang-format on */

#define GPUBPF_GATE_X(name, value, word) GPUBPF_LIFECYCLE_##name = (value),
enum gpubpf_lifecycle { GPUBPF_LIFECYCLES(GPUBPF_GATE_X) };
#undef GPUBPF_GATE_X
#define GPUBPF_GATE_X(name, value, word) GPUBPF_READINESS_##name = (value),
enum gpubpf_readiness { GPUBPF_READINESSES(GPUBPF_GATE_X) };
#undef GPUBPF_GATE_X
#define GPUBPF_GATE_X(name, value, word) GPUBPF_GATE_##name = (value),
enum gpubpf_gate_reason { GPUBPF_GATE_NO_REASON = 0, GPUBPF_GATE_REASONS(GPUBPF_GATE_X) };
#undef GPUBPF_GATE_X
#define GPUBPF_GATE_X(name, bit, word) GPUBPF_GATE_NOTE_##name = 1 << (bit),
enum gpubpf_gate_note { GPUBPF_GATE_NOTES(GPUBPF_GATE_X) };
#undef GPUBPF_GATE_X

#endif
