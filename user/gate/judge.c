// SPDX-License-Identifier: GPL-2.0-or-later
#include "gate/judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The process acts on its own deadline first, and says so. */
#define GRACE_NS 500000000ull

const char *gate_order_word(enum gate_order o)
{
	return o == GATE_ORDER_PROVEN         ? "proven"
	       : o == GATE_ORDER_CONTRADICTED ? "contradicted"
					      : "not_shown";
}

__attribute__((format(printf, 3, 4))) static void find(struct gate_verdict *v, const char *code,
						       const char *fmt, ...)
{
	struct gate_finding *f = &v->findings[v->nfindings];
	va_list ap;

	if (v->nfindings == GATE_FINDINGS_MAX)
		return;
	v->nfindings++;
	f->code = code;
	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
}

/* The first reason wins, whoever has it. */
static void fail(struct gate_verdict *v, enum gpubpf_gate_reason reason)
{
	v->stated = true;
	if (v->readiness == GPUBPF_READINESS_FAILED)
		return;
	v->readiness = GPUBPF_READINESS_FAILED;
	v->reason = reason;
}

static uint64_t first_of(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

static uint64_t first_use(const struct gate_host *h)
{
	return first_of(first_of(h->context, h->module), h->work);
}

static enum gate_order order_of(const struct gate_host *h)
{
	uint64_t use = first_use(h);

	if (!use || !h->armed)
		return GATE_ORDER_NOT_SHOWN;
	if (use < h->armed)
		return GATE_ORDER_CONTRADICTED;
	return h->from_start && !h->lost ? GATE_ORDER_PROVEN : GATE_ORDER_NOT_SHOWN;
}

/* No word of a shim that should be there. */
static void judge_silence(const struct gate_case *c, struct gate_verdict *v)
{
	const struct gate_host *h = &c->host;

	if (!c->gated || h->heard)
		return;
	if (h->init_return && !h->init_result)
		fail(v, GPUBPF_GATE_CALLBACK_MISSING);
	else if (!h->init_entry && first_use(h))
		fail(v, GPUBPF_GATE_UNSUPPORTED_FIRST_TOUCH);
}

static void judge_trigger(const struct gate_case *c, struct gate_verdict *v)
{
	const struct gate_host *h = &c->host;

	if (h->init_return && h->init_result) {
		fail(v, GPUBPF_GATE_TRIGGER_FAILED);
	} else if (h->init_return && c->shim->deadline && h->init_return > c->shim->deadline &&
		   v->readiness == GPUBPF_READINESS_READY) {
		find(v, "init_returned_late",
		     "the shim was ready in time, and cuInit() returned %" PRIu64 " ms after the deadline",
		     (h->init_return - c->shim->deadline) / 1000000);
		fail(v, GPUBPF_GATE_LATE_SUCCESS);
	} else if (h->init_entry && !h->init_return && !h->entry_only &&
		   v->readiness == GPUBPF_READINESS_READY) {
		find(v, "init_not_returned", "the shim says ready, and cuInit() was not seen to return");
		v->readiness = GPUBPF_READINESS_PENDING;
	}
}

/* Each of the two may err, so a difference is never settled in silence. */
static void judge_difference(const struct gate_case *c, struct gate_verdict *v)
{
	const struct gate_status *s = c->shim;
	const struct gate_host *h = &c->host;
	bool late = s->notes & (GPUBPF_GATE_NOTE_LATE_ATTACH | GPUBPF_GATE_NOTE_WARMUP_UNQUALIFIED);
	uint64_t use = first_use(h);

	if (s->readiness == GPUBPF_READINESS_READY && v->order == GATE_ORDER_CONTRADICTED && !late) {
		find(v, "ready_contradicted",
		     "the shim says ready, and the host observer saw CUDA used %" PRIu64 " us before that",
		     (h->armed - use) / 1000);
		fail(v, GPUBPF_GATE_UNOWNED_FIRST_TOUCH);
	}
	/* it came to a process whose cuInit() was over: what was done until then is nobody's to say */
	if (s->readiness == GPUBPF_READINESS_READY && s->notes & GPUBPF_GATE_NOTE_LATE_ATTACH &&
	    v->order != GATE_ORDER_PROVEN)
		fail(v, GPUBPF_GATE_UNOWNED_FIRST_TOUCH);
	if (s->readiness == GPUBPF_READINESS_READY && !h->armed && h->heard)
		find(v, "ready_unconfirmed",
		     "the file says ready, and the shim's probes never said that it was armed");
	if (s->reason == GPUBPF_GATE_UNOWNED_FIRST_TOUCH && v->order == GATE_ORDER_PROVEN)
		find(v, "unowned_contradicted",
		     "the shim says that CUDA was used before, and the host observer saw nothing of it");
	if (s->reason == GPUBPF_GATE_TRIGGER_FAILED && h->init_return && !h->init_result)
		find(v, "trigger_contradicted",
		     "the shim says that cuInit() failed, and the host observer saw it succeed");
	if (s->reason == GPUBPF_GATE_CALLBACK_MISSING && s->lifecycle == GPUBPF_LIFECYCLE_CALLBACK_SEEN)
		find(v, "callback_contradicted",
		     "the shim was called by the driver and says that it was not");
	if (h->from_start && !h->lost && h->init_entry && s->first_touch && s->first_touch < h->init_entry)
		find(v, "first_touch_contradicted",
		     "the shim says that it was called %" PRIu64
		     " us before the host observer saw cuInit() entered",
		     (h->init_entry - s->first_touch) / 1000);
}

static void judge_end(const struct gate_case *c, struct gate_verdict *v)
{
	const struct gate_status *s = c->shim;
	bool at_it = s && s->lifecycle == GPUBPF_LIFECYCLE_INITIALIZING;

	if (c->watchdog) {
		find(v, "watchdog", "gpubpf ended the process: %s",
		     at_it ? "its initializer was still at it after the deadline"
			   : "cuInit() did not return by the deadline");
		fail(v, GPUBPF_GATE_INIT_TIMEOUT);
	}
	/* an application may end with 86 by itself */
	if (!c->ended || !WIFEXITED(c->wait_status) || WEXITSTATUS(c->wait_status) != GPUBPF_GATE_EXIT_STATUS)
		return;
	v->wedge = at_it || (s && s->reason == GPUBPF_GATE_EXIT_WEDGED);
	if (!v->wedge)
		return;
	find(v, "exit_wedged",
	     "the process ended with status %d: its initializer was still at it, after the deadline",
	     GPUBPF_GATE_EXIT_STATUS);
	fail(v, GPUBPF_GATE_EXIT_WEDGED);
}

void gate_judge(const struct gate_case *c, struct gate_verdict *v)
{
	memset(v, 0, sizeof(*v));
	v->order = order_of(&c->host);
	if (c->shim) {
		v->stated = true;
		v->readiness = c->shim->readiness;
		v->reason = c->shim->reason;
		v->notes = c->shim->notes;
		judge_trigger(c, v);
		judge_difference(c, v);
	} else {
		judge_silence(c, v);
	}
	if (c->differ)
		find(v, "status_differs", "the shim's file and its probe say different things of one moment");
	judge_end(c, v);
	if (c->replaced)
		v->notes |= GPUBPF_GATE_NOTE_EXEC_REPLACED;
	if (c->has_final && c->final && (c->shim || c->final != GATE_REFUSED_MISSING))
		find(v, "final_record", "the last status file is not believed (%s): %s",
		     gate_refusal_word(c->final), c->final_text ? c->final_text : "");
}

bool gate_overdue(const struct gate_status *s, bool init_open, uint64_t now)
{
	uint64_t end;

	if (!s->deadline || __builtin_add_overflow(s->deadline, GRACE_NS, &end) || now < end)
		return false;
	return s->lifecycle == GPUBPF_LIFECYCLE_INITIALIZING ||
	       (s->lifecycle == GPUBPF_LIFECYCLE_FINISHED && init_open);
}
