/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the shims of the traced processes say of themselves, and the wait for their last word. */
#include "record/recorder_priv.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "events.h"

#define END_NS 3000000000ull /* a shim gives device work about two seconds of it */

/* CUptiResult, cupti_result.h */
#define CUPTI_INSUFFICIENT_PRIVILEGES 35
#define CUPTI_MULTIPLE_SUBSCRIBERS 39
#define CUPTI_UM_NOT_SUPPORTED 28
#define CUPTI_UM_NOT_SUPPORTED_ON_DEVICE 29
#define CUPTI_UM_NOT_SUPPORTED_NON_P2P 30
#define CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES 40

struct armed {
	uint32_t tgid;
	uint32_t session;
	bool waiting; /* armed, and neither an end nor a failure */
	uint32_t refused,
		troubled; /* facilities, a bit each; statuses are repeated for recorders that come later */
	bool failed;
	UT_hash_handle hh;
};

static struct armed *armed_get(struct recorder *r, uint32_t tgid)
{
	struct armed *a;

	HASH_FIND(hh, r->armed_procs, &tgid, sizeof(tgid), a);
	if (a)
		return a;
	a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->tgid = tgid;
	HASH_ADD(hh, r->armed_procs, tgid, sizeof(a->tgid), a);
	return a;
}

void recorder_armed_free(struct recorder *r)
{
	struct armed *a = r->armed_procs, *next;

	HASH_CLEAR(hh, r->armed_procs);
	for (; a; a = next) {
		next = a->hh.next;
		free(a);
	}
}

static size_t waiting(const struct recorder *r)
{
	struct armed *a, *tmp;
	size_t n = 0;

	HASH_ITER (hh, r->armed_procs, a, tmp)
		n += a->waiting;
	return n;
}

static const struct {
	const char *code, *text;
} reasons[] = {
	[0] = { "shim_failed", "it does not say why" },
	[GPUBPF_REASON_CUPTI_MISSING] = { "cupti_missing",
					  "no libcupti was found; install CUPTI of the CUDA toolkit (or the Python "
					  "package nvidia-cuda-cupti), or name its file in GPUBPF_CUPTI_PATH" },
	[GPUBPF_REASON_CUPTI_INCOMPLETE] = { "cupti_missing",
					     "the libcupti that was found lacks functions that are needed: it is too "
					     "old, or damaged; CUDA 11 to 13 have them" },
	[GPUBPF_REASON_SECOND_SUBSCRIBER] = { "second_subscriber",
					      "another profiler (a second CUPTI client, such as torch.profiler or Nsight "
					      "Systems) was there first; it keeps all its records" },
	[GPUBPF_REASON_NOT_PERMITTED] = { "cupti_not_permitted",
					  "the driver lets only the administrator profile; run the application with "
					  "CAP_SYS_ADMIN, or load the kernel module nvidia with "
					  "NVreg_RestrictProfilingToAdminUsers=0" },
	[GPUBPF_REASON_FACILITY] = { "facility_enable_failed",
				     "CUPTI refused a kind of record without which nothing adds up" },
	[GPUBPF_REASON_SUBSCRIBE] = { "subscribe_failed", "CUPTI refused the subscription" },
	[GPUBPF_REASON_MEMORY] = { "shim_memory", "the process has no memory left for it" },
	[GPUBPF_REASON_FORKED] = { "forked_child", "it was forked from one that used the GPU" },
};

static const char *const facilities[] = {
	[GPUBPF_FACILITY_SUBSCRIBE] = "the subscription",
	[GPUBPF_FACILITY_TIMESTAMP] = "times of CLOCK_MONOTONIC",
	[GPUBPF_FACILITY_BUFFERS] = "buffers for records",
	[GPUBPF_FACILITY_KERNEL] = "records of kernels",
	[GPUBPF_FACILITY_COPY] = "records of copies",
	[GPUBPF_FACILITY_COPY_PEER] = "records of copies between devices",
	[GPUBPF_FACILITY_SET] = "records of sets",
	[GPUBPF_FACILITY_CALLBACKS] = "callbacks of calls",
	[GPUBPF_FACILITY_MODULES] = "callbacks of module loads",
	[GPUBPF_FACILITY_LATENCY] = "times of queueing and submission",
	[GPUBPF_FACILITY_FLUSH] = "a flush",
	[GPUBPF_FACILITY_SYNC] = "records of synchronization",
	[GPUBPF_FACILITY_MEMORY] = "records of memory operations",
	[GPUBPF_FACILITY_OVERHEAD] = "records of its own overhead",
	[GPUBPF_FACILITY_UNSUBSCRIBE] = "the end of the subscription",
	[GPUBPF_FACILITY_EXTERNAL] = "records of external correlation",
	[GPUBPF_FACILITY_UNIFIED] = "counters of unified memory",
	[GPUBPF_FACILITY_UNIFIED + 1] = "the counter of unified memory bytes_htod",
	[GPUBPF_FACILITY_UNIFIED + 2] = "the counter of unified memory bytes_dtoh",
	[GPUBPF_FACILITY_UNIFIED + 3] = "the counter of unified memory cpu_faults",
	[GPUBPF_FACILITY_UNIFIED + 4] = "the counter of unified memory gpu_faults",
	[GPUBPF_FACILITY_UNIFIED + 5] = "the counter of unified memory thrashing",
	[GPUBPF_FACILITY_UNIFIED + 6] = "the counter of unified memory throttling",
	[GPUBPF_FACILITY_UNIFIED + 7] = "the counter of unified memory remote_map",
	[GPUBPF_FACILITY_UNIFIED + 8] = "the counter of unified memory bytes_dtod",
	[GPUBPF_FACILITY_NVTX] = "records of NVTX",
	[GPUBPF_FACILITY_NVTX_DATA] = "categories, colors and payloads of NVTX",
	[GPUBPF_FACILITY_THREAD_IDS] = "the system's numbers of threads in records of NVTX",
	[GPUBPF_FACILITY_DRIVER_CALLS] = "its records of calls, without which no external correlation comes",
};

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static const char *result_words(int32_t result)
{
	switch (result) {
	case CUPTI_INSUFFICIENT_PRIVILEGES:
	case CUPTI_VIRTUALIZED_INSUFFICIENT_PRIVILEGES:
		return ": the driver lets only the administrator profile (NVreg_RestrictProfilingToAdminUsers)";
	case CUPTI_MULTIPLE_SUBSCRIBERS:
		return ": another CUPTI client has it";
	case CUPTI_UM_NOT_SUPPORTED:
	case CUPTI_UM_NOT_SUPPORTED_ON_DEVICE:
		return ": this GPU has no such counters, as those that walk the host's page tables have none";
	case CUPTI_UM_NOT_SUPPORTED_NON_P2P:
		return ": the GPUs that the process sees cannot all reach each other";
	default:
		return "";
	}
}

static void failed(struct recorder *r, uint32_t tgid, const struct gpubpf_status *s)
{
	size_t reason = s->code < NELEM(reasons) && reasons[s->code].code ? s->code : 0;
	char text[640], value[64] = "";

	if (s->value)
		snprintf(value, sizeof(value), " (%s %d)",
			 s->code == GPUBPF_REASON_MEMORY ? "errno" : "CUptiResult", s->value);
	snprintf(text, sizeof(text),
		 "no GPU times from process %d: %s%s; its calls are recorded all the same",
		 procinfo__view(r->procs, tgid), reasons[reason].text, value);
	recorder_note(r, reasons[reason].code, text, tgid);
	recorder_say(r, "%s", text);
}

static void refused(struct recorder *r, uint32_t tgid, const struct gpubpf_status *s)
{
	const char *what = s->code < NELEM(facilities) && facilities[s->code] ? facilities[s->code]
									      : "something";
	char text[512];

	snprintf(text, sizeof(text), "process %d: CUPTI refuses %s (CUptiResult %d%s)",
		 procinfo__view(r->procs, tgid), what, s->value, result_words(s->value));
	recorder_note(r, s->kind == GPUBPF_STATUS_CUPTI_ERROR ? "cupti_error" : "facility_refused", text,
		      tgid);
	/* the shim does without this one, in its own way */
	if (s->code != GPUBPF_FACILITY_TIMESTAMP &&
	    (s->code <= GPUBPF_FACILITY_UNIFIED || s->code > GPUBPF_FACILITY_UNIFIED_BYTES_DTOD))
		recorder_say(r, "%s", text);
}

static bool first_time(uint32_t *said, unsigned facility)
{
	uint32_t bit = 1u << (facility & 31);
	bool first = !(*said & bit);

	*said |= bit;
	return first;
}

/* Hello or status, whichever comes first. */
static void in_session(struct recorder *r, struct armed *a, uint32_t session)
{
	if (session == a->session)
		return;
	*a = (struct armed){ .tgid = a->tgid, .session = session, .hh = a->hh };
	r->res->sessions++;
}

static void on_status(struct recorder *r, struct armed *a, const struct gpubpf_status *s)
{
	/* said before there is a session, and of the process (gates.c) */
	if (s->kind == GPUBPF_STATUS_GATE)
		return;
	in_session(r, a, s->session);
	switch (s->kind) {
	case GPUBPF_STATUS_ARMED:
		a->waiting = true;
		break;
	case GPUBPF_STATUS_FAILED:
		a->waiting = false;
		if (!a->failed)
			failed(r, a->tgid, s);
		a->failed = true;
		break;
	case GPUBPF_STATUS_DISARMED:
		a->waiting = false;
		if (s->code == GPUBPF_DISARM_LATE)
			recorder_note(r, "disarmed_late",
				      "work still ran on the device when the recording ended", a->tgid);
		break;
	case GPUBPF_STATUS_FACILITY:
		/* without the subscription nothing works, and that it failed is said once */
		if (s->value && s->code != GPUBPF_FACILITY_SUBSCRIBE && first_time(&a->refused, s->code))
			refused(r, a->tgid, s);
		break;
	case GPUBPF_STATUS_CUPTI_ERROR:
		if (s->value && first_time(&a->troubled, s->code))
			refused(r, a->tgid, s);
		break;
	default:
		break;
	}
}

void recorder_on_shim(struct recorder *r, const struct gpubpf_shim *b)
{
	struct armed *a;

	if (b->probe != GPUBPF_PROBE_HELLO && b->probe != GPUBPF_PROBE_STATUS)
		return;
	a = armed_get(r, b->tgid);
	if (!a || sizeof(*b) + (size_t)b->count * b->item_size > b->size)
		return;
	if (b->probe == GPUBPF_PROBE_HELLO)
		recorder_environment_process(r, procinfo__view(r->procs, b->tgid));
	for (uint32_t i = 0; i < b->count; i++) {
		const void *item = (const char *)b->items + (size_t)i * b->item_size;

		if (b->probe == GPUBPF_PROBE_STATUS)
			on_status(r, a, item);
		else
			in_session(r, a, ((const struct gpubpf_hello *)item)->session);
	}
}

void recorder_shim_task(struct recorder *r, const struct gpubpf_task *t)
{
	struct armed *a;

	if (t->event != GPUBPF_TASK_EXIT && t->event != GPUBPF_TASK_EXEC)
		return;
	HASH_FIND(hh, r->armed_procs, &t->tgid, sizeof(t->tgid), a);
	if (a)
		a->waiting = false; /* its program is gone: nothing more comes */
}

void recorder_shims_unheard(struct recorder *r, uint64_t calls)
{
	const char *text =
		"the shim was not heard of although CUDA was used: the driver did not load it (an environment that was "
		"cleared, a setuid program, another root directory), so the host observer was on its own";

	if (r->o->no_host)
		text = "the shim was not heard of: no CUDA was used, or the driver did not load it (an environment that "
		       "was cleared, a setuid program, another root directory); without the host observer nobody can tell";
	if (!r->o->command)
		text = "the shim did not answer although CUDA was used: it waits for the first context of a young process, or CUPTI "
		       "still works off what an earlier recording asked for; the host observer was on its own: record again, or longer";
	if (!r->res->shims || r->res->sessions || (r->o->command && recorder_gate_heard(r)) ||
	    (!calls && (!r->o->command || !r->o->no_host)))
		return;
	recorder_note(r, r->o->command ? "callback_missing" : "shim_unheard", text, 0);
	recorder_say(r, "%s", text);
}

static void give_up(struct recorder *r, const char *why)
{
	struct armed *a, *tmp;
	char text[256];

	HASH_ITER (hh, r->armed_procs, a, tmp) {
		if (!a->waiting)
			continue;
		snprintf(
			text, sizeof(text),
			"process %d did not say that everything was handed over %s: its last GPU records may be missing",
			procinfo__view(r->procs, a->tgid), why);
		recorder_note(r, "not_disarmed", text, a->tgid);
		recorder_say(r, "%s", text);
	}
}

int recorder_shims_end(struct recorder *r)
{
	const char *end = r->end;
	int signals = r->signals, e = 0;
	uint64_t deadline;

	if (!waiting(r)) {
		attach__stop(r->attach);
		return 0;
	}
	attach__ask_end(r->attach);
	deadline = recorder_now() + END_NS;
	while (!e && waiting(r) && recorder_now() < deadline && r->signals == signals)
		e = recorder_turn(r, 5);
	r->end = end; /* what ended the recording was there before */
	if (!e && waiting(r))
		give_up(r, r->signals != signals ? "before a signal came" : "in time");
	return e;
}
