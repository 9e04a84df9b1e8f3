/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shim's word against the host observer's. */
#include "t.h"

#include "gate/judge.h"
#include "gate/stored.h"

static struct gate_status shim;
static struct gate_case c;
static struct gate_verdict v;

/* Launched, ready at 300 inside a cuInit() of 100 to 400, the first context at 500. */
static void fine(void)
{
	shim = (struct gate_status){ .lifecycle = GPUBPF_LIFECYCLE_FINISHED,
				     .readiness = GPUBPF_READINESS_READY,
				     .now = 300,
				     .first_touch = 200,
				     .deadline = 10000 };
	c = (struct gate_case){ .gated = true,
				.shim = &shim,
				.host = { .init_entry = 100,
					  .init_return = 400,
					  .context = 500,
					  .module = 600,
					  .work = 700,
					  .armed = 300,
					  .heard = true,
					  .from_start = true } };
}

static bool found(const char *code)
{
	for (unsigned i = 0; i < v.nfindings; i++)
		if (!strcmp(v.findings[i].code, code) && v.findings[i].text[0])
			return true;
	return false;
}

#define JUDGED(readiness_, reason_, nfindings_)                                                              \
	do {                                                                                                 \
		gate_judge(&c, &v);                                                                          \
		CHECKF(v.stated &&v.readiness == GPUBPF_READINESS_##readiness_ &&                            \
			       v.reason == GPUBPF_GATE_##reason_ && v.nfindings == (nfindings_),             \
		       "%d %s %s %u: %s", v.stated, gate_readiness_word(v.readiness),                        \
		       gate_reason_word(v.reason), v.nfindings, v.findings[0].text);                         \
	} while (0)

static void failed(enum gpubpf_gate_reason reason)
{
	fine();
	shim.readiness = GPUBPF_READINESS_FAILED;
	shim.reason = reason;
}

T(judge_ready_and_proven)
{
	fine();
	JUDGED(READY, NO_REASON, 0);
	CHECK(v.order == GATE_ORDER_PROVEN && !v.wedge);
	c.host.from_start = false;
	JUDGED(READY, NO_REASON, 0);
	CHECK(v.order == GATE_ORDER_NOT_SHOWN);
	fine();
	c.host.lost = true; /* the first context may be in what was lost */
	JUDGED(READY, NO_REASON, 0);
	CHECK(v.order == GATE_ORDER_NOT_SHOWN);
	fine();
	c.host.context = c.host.module = c.host.work = 0;
	JUDGED(READY, NO_REASON, 0);
	CHECK(v.order == GATE_ORDER_NOT_SHOWN);
}

T(judge_use_before_ready)
{
	uint64_t *const first[] = { &c.host.context, &c.host.module, &c.host.work };

	for (unsigned i = 0; i < 3; i++) {
		fine();
		*first[i] = 299;
		JUDGED(FAILED, UNOWNED_FIRST_TOUCH, 1);
		CHECK(v.order == GATE_ORDER_CONTRADICTED && found("ready_contradicted"));
	}
	/* said already: no contradiction, and no proof */
	shim.notes = GPUBPF_GATE_NOTE_WARMUP_UNQUALIFIED;
	JUDGED(READY, NO_REASON, 0);
	CHECK(v.order == GATE_ORDER_CONTRADICTED && v.notes == GPUBPF_GATE_NOTE_WARMUP_UNQUALIFIED);
}

T(judge_late_attach)
{
	fine();
	shim.notes = GPUBPF_GATE_NOTE_LATE_ATTACH;
	c.gated = c.host.from_start = false;
	c.host.init_entry = c.host.init_return = 0;
	JUDGED(FAILED, UNOWNED_FIRST_TOUCH, 0);
	c.host.work = 1;
	JUDGED(FAILED, UNOWNED_FIRST_TOUCH, 0);
	CHECK(v.order == GATE_ORDER_CONTRADICTED && v.notes == GPUBPF_GATE_NOTE_LATE_ATTACH);
}

T(judge_no_shim)
{
	fine();
	c.shim = NULL;
	c.host.heard = false;
	JUDGED(FAILED, CALLBACK_MISSING, 0);
	c.host.init_result = 100; /* no device: there was nothing to capture */
	gate_judge(&c, &v);
	CHECK(!v.stated);
	c.host = (struct gate_host){ .from_start = true };
	gate_judge(&c, &v);
	CHECK(!v.stated);
	c.host.context = 500;
	JUDGED(FAILED, UNSUPPORTED_FIRST_TOUCH, 0);
	/* a shim that knows no gate */
	c.host.heard = true;
	gate_judge(&c, &v);
	CHECK(!v.stated);
	/* a live process */
	c.gated = c.host.heard = false;
	gate_judge(&c, &v);
	CHECK(!v.stated);
}

T(judge_trigger)
{
	fine();
	c.host.init_result = 999;
	JUDGED(FAILED, TRIGGER_FAILED, 0);
	failed(GPUBPF_GATE_CUPTI_MISSING);
	c.host.init_result = 999; /* the first reason wins */
	JUDGED(FAILED, CUPTI_MISSING, 0);
	fine();
	c.host.init_return = 0;
	JUDGED(PENDING, NO_REASON, 1);
	CHECK(found("init_not_returned"));
	c.host.entry_only = true;
	JUDGED(READY, NO_REASON, 0);
	fine();
	c.host.init_return = 5010000;
	JUDGED(FAILED, LATE_SUCCESS, 1);
	CHECK(found("init_returned_late"));
}

T(judge_difference)
{
	failed(GPUBPF_GATE_UNOWNED_FIRST_TOUCH);
	JUDGED(FAILED, UNOWNED_FIRST_TOUCH, 1);
	CHECK(found("unowned_contradicted"));
	failed(GPUBPF_GATE_TRIGGER_FAILED);
	JUDGED(FAILED, TRIGGER_FAILED, 1);
	CHECK(found("trigger_contradicted"));
	fine();
	shim.first_touch = 99;
	JUDGED(READY, NO_REASON, 1);
	CHECK(found("first_touch_contradicted"));
	fine();
	c.differ = true;
	JUDGED(READY, NO_REASON, 1);
	CHECK(found("status_differs"));
	fine();
	c.host.armed = 0;
	JUDGED(READY, NO_REASON, 1);
	CHECK(found("ready_unconfirmed"));
}

T(judge_exit_86)
{
	fine();
	c.ended = true;
	c.wait_status = 86 << 8;
	JUDGED(READY, NO_REASON, 0); /* the application's own */
	CHECK(!v.wedge);
	shim.lifecycle = GPUBPF_LIFECYCLE_INITIALIZING;
	shim.readiness = GPUBPF_READINESS_PENDING;
	JUDGED(FAILED, EXIT_WEDGED, 1);
	CHECK(v.wedge && found("exit_wedged"));
	failed(GPUBPF_GATE_INIT_TIMEOUT);
	shim.lifecycle = GPUBPF_LIFECYCLE_INITIALIZING;
	c.ended = true;
	c.wait_status = 86 << 8;
	JUDGED(FAILED, INIT_TIMEOUT, 1);
	CHECK(v.wedge);
	c.wait_status = 86; /* a signal */
	JUDGED(FAILED, INIT_TIMEOUT, 0);
	CHECK(!v.wedge);
}

T(judge_last_file_beside_the_accepted_one)
{
	fine();
	c.has_final = true;
	c.final = GATE_REFUSED_MISSING;
	c.final_text = "there is none";
	JUDGED(READY, NO_REASON, 1);
	CHECK(found("final_record") && strstr(v.findings[0].text, "missing"));
	c.final = GATE_REFUSED_TOKEN;
	JUDGED(READY, NO_REASON, 1);
	c.final = GATE_ACCEPTED;
	JUDGED(READY, NO_REASON, 0);
	c.replaced = true;
	JUDGED(READY, NO_REASON, 0);
	CHECK(v.notes == GPUBPF_GATE_NOTE_EXEC_REPLACED);
}

T(judge_watchdog)
{
	const uint64_t late = 10000 + 500000000;

	fine();
	c.watchdog = true;
	c.host.init_return = 0;
	JUDGED(FAILED, INIT_TIMEOUT, 2);
	CHECK(found("watchdog"));
	fine();
	CHECK(!gate_overdue(&shim, false, late));
	CHECK(gate_overdue(&shim, true, late) && !gate_overdue(&shim, true, late - 1));
	shim.lifecycle = GPUBPF_LIFECYCLE_INITIALIZING;
	CHECK(gate_overdue(&shim, false, late) && !gate_overdue(&shim, false, late - 1));
	shim.lifecycle = GPUBPF_LIFECYCLE_WARMUP; /* healthy */
	CHECK(!gate_overdue(&shim, true, late));
	shim.lifecycle = GPUBPF_LIFECYCLE_CALLBACK_SEEN; /* the host will start it, or not */
	CHECK(!gate_overdue(&shim, true, late));
	shim.lifecycle = GPUBPF_LIFECYCLE_INITIALIZING;
	shim.deadline = UINT64_MAX - 1;
	CHECK(!gate_overdue(&shim, true, UINT64_MAX));
	shim.deadline = 0;
	CHECK(!gate_overdue(&shim, true, late));
}

static Gpubpf__Readiness stored[3], *list[3];

static Gpubpf__Meta *meta(const char *a, const char *b)
{
	static Gpubpf__Meta m;
	const char *const words[] = { a, b };

	gpubpf__meta__init(&m);
	for (size_t i = 0; i < 2 && words[i]; i++) {
		gpubpf__readiness__init(&stored[i]);
		stored[i].readiness = (char *)words[i];
		stored[i].order = (char *)"proven";
		list[i] = &stored[i];
		m.n_readiness = i + 1;
	}
	m.readiness = list;
	return &m;
}

T(stored_sum)
{
	struct gate_sum s;
	char text[320];

	gate_sum(meta(NULL, NULL), &s);
	gate_sum_text(&s, text, sizeof(text));
	CHECK(!s.stated && !s.ready && !text[0]);
	gate_sum(meta("ready", NULL), &s);
	gate_sum_text(&s, text, sizeof(text));
	CHECK(s.ready && strstr(text, "before its first context"));
	gate_sum(meta("ready", "ready"), &s);
	CHECK(s.ready && s.proven == 2 && !strcmp(gate_sum_word(&s), "ready"));
	gate_sum(meta("pending", "failed"), &s);
	CHECK(!s.ready && s.first == &stored[1] && !strcmp(gate_sum_word(&s), "failed"));
	gate_sum(meta("ready", "pending"), &s);
	CHECK(!s.ready && s.first == &stored[1] && !strcmp(gate_sum_word(&s), "pending"));
	gate_sum(meta("perhaps", NULL), &s); /* a newer version's word is not ready */
	CHECK(s.stated && !s.ready);
	CHECK(!strcmp(gate_stored_reason("unheard_of", NULL), "unheard_of"));
}

TEST_MAIN
