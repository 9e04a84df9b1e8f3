// SPDX-License-Identifier: BSD-2-Clause
#include "gate.h"

#include <string.h>

void gate__init(struct gate *g, uint64_t allowance, uint64_t warmup)
{
	*g = (struct gate){ .lifecycle = GPUBPF_LIFECYCLE_IDLE, .allowance = allowance, .warmup = warmup };
}

static bool fail(struct gate *g, enum gpubpf_gate_reason reason)
{
	if (g->readiness != GPUBPF_READINESS_PENDING)
		return false;
	g->readiness = GPUBPF_READINESS_FAILED;
	g->reason = reason;
	return true;
}

static void touch(struct gate *g, uint64_t now)
{
	if (g->touched)
		return;
	g->touched = now;
	g->deadline = now + g->allowance + g->warmup;
}

bool gate__note(struct gate *g, uint32_t notes)
{
	bool new = (notes & ~g->notes) != 0;

	g->notes |= notes;
	return new;
}

bool gate__disable(struct gate *g, uint32_t notes)
{
	bool new = gate__note(g, notes);

	if (g->lifecycle == GPUBPF_LIFECYCLE_DISABLED)
		return new;
	g->lifecycle = GPUBPF_LIFECYCLE_DISABLED;
	return true;
}

bool gate__callback(struct gate *g, uint64_t now)
{
	if (g->lifecycle != GPUBPF_LIFECYCLE_IDLE)
		return false;
	g->lifecycle = GPUBPF_LIFECYCLE_CALLBACK_SEEN;
	g->callback = true;
	touch(g, now);
	return true;
}

bool gate__warm(struct gate *g)
{
	if (g->lifecycle != GPUBPF_LIFECYCLE_CALLBACK_SEEN)
		return false;
	g->lifecycle = GPUBPF_LIFECYCLE_WARMUP;
	gate__note(g, GPUBPF_GATE_NOTE_WARMUP_UNQUALIFIED);
	return true;
}

bool gate__initialize(struct gate *g, uint64_t now)
{
	switch (g->lifecycle) {
	case GPUBPF_LIFECYCLE_IDLE:
		/* A host that was not called: it may be captured, and is not known to be so from its first call on. */
		touch(g, now);
		fail(g, GPUBPF_GATE_CALLBACK_MISSING);
		break;
	case GPUBPF_LIFECYCLE_CALLBACK_SEEN:
	case GPUBPF_LIFECYCLE_WARMUP:
		break;
	default:
		return false;
	}
	g->lifecycle = GPUBPF_LIFECYCLE_INITIALIZING;
	return true;
}

static enum gpubpf_gate_reason reason_of(enum gpubpf_reason failed)
{
	switch (failed) {
	case GPUBPF_REASON_CUPTI_MISSING:
	case GPUBPF_REASON_CUPTI_INCOMPLETE:
		return GPUBPF_GATE_CUPTI_MISSING;
	case GPUBPF_REASON_SECOND_SUBSCRIBER:
		return GPUBPF_GATE_SECOND_SUBSCRIBER;
	case GPUBPF_REASON_NOT_PERMITTED:
		return GPUBPF_GATE_CUPTI_NOT_PERMITTED;
	case GPUBPF_REASON_FACILITY:
		return GPUBPF_GATE_FACILITY_ENABLE_FAILED;
	default:
		return GPUBPF_GATE_INITIALIZER_FAILED;
	}
}

/* Nothing but success is one: CUPTI takes some refusals lightly in its own log, and records nothing after them. */
static bool all_on(const struct gate_outcome *o)
{
	if (o->failed || !o->kinds[GPUBPF_FACILITY_SUBSCRIBE].tried)
		return false;
	for (int k = 0; k < GATE_KINDS; k++) {
		if (o->kinds[k].required && (!o->kinds[k].tried || o->kinds[k].result != 0))
			return false;
	}
	return true;
}

bool gate__finish(struct gate *g, uint64_t now, const struct gate_outcome *o)
{
	bool on = all_on(o);

	if (!gate__live(g))
		return false;
	g->lifecycle = GPUBPF_LIFECYCLE_FINISHED;
	memcpy(g->kinds, o->kinds, sizeof(g->kinds));
	if (now >= g->deadline)
		fail(g, on ? GPUBPF_GATE_LATE_SUCCESS : GPUBPF_GATE_INIT_TIMEOUT);
	else if (o->failed)
		fail(g, reason_of(o->failed));
	else if (!on)
		fail(g, GPUBPF_GATE_FACILITY_ENABLE_FAILED);
	else if (!g->callback)
		fail(g, GPUBPF_GATE_CALLBACK_MISSING);
	else if (g->readiness == GPUBPF_READINESS_PENDING)
		g->readiness = GPUBPF_READINESS_READY;
	return true;
}

bool gate__again(struct gate *g, const struct gate_outcome *o)
{
	if (g->lifecycle != GPUBPF_LIFECYCLE_FINISHED)
		return false;
	memcpy(g->kinds, o->kinds, sizeof(g->kinds));
	if (gate__ready(g) && !all_on(o)) {
		g->readiness = GPUBPF_READINESS_FAILED;
		g->reason = GPUBPF_GATE_TRACE_FACILITY_LOST;
	}
	return true;
}

bool gate__exit(struct gate *g)
{
	switch (g->lifecycle) {
	case GPUBPF_LIFECYCLE_IDLE:
	case GPUBPF_LIFECYCLE_CALLBACK_SEEN:
	case GPUBPF_LIFECYCLE_WARMUP:
		g->lifecycle = GPUBPF_LIFECYCLE_STOPPED;
		fail(g, GPUBPF_GATE_EXIT_BEFORE_CAPTURE);
		return true;
	default:
		return false;
	}
}

bool gate__expire(struct gate *g, uint64_t now)
{
	return gate__live(g) && now >= g->deadline && fail(g, GPUBPF_GATE_INIT_TIMEOUT);
}

bool gate__wedged(struct gate *g, uint64_t now)
{
	return gate__live(g) && now >= g->deadline && fail(g, GPUBPF_GATE_EXIT_WEDGED);
}
