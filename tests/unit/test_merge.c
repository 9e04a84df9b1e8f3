/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of a member as the merged capture has them: every id, every time and every number, and nothing else. */
#include <errno.h>

#include "capture_file.h"

#include "merge/priv.h"

#define SHIFT 5000
#define ID(n) (20000000u + (n))

static struct merge m;
static struct merge_member at;

static void begin(void)
{
	memset(&m, 0, sizeof(m));
	memset(&at, 0, sizeof(at));
	at.path = "a capture";
	at.pub.index = 2;
	at.pub.shift_ns = SHIFT;
	at.frames = 3;
	at.chains = 4;
	at.frame_base = 100;
	at.chain_base = 200;
	m.napis = 7; /* of members before */
}

static void *rewritten(const void *rec)
{
	struct err e = { 0 };

	at.rec = rec;
	CHECK(merge_rewrite(&m, &at, &e) == 0);
	return m.room;
}

T(a_call)
{
	union record r = { .call = { .kind = GPUBPF_REC_CALL,
				     .size = sizeof(r.call) + 8 * GPUBPF_WORDS_SHORT,
				     .flags = GPUBPF_CALL_RETURNED,
				     .tgid = 12,
				     .tid = 34,
				     .t_entry = 100,
				     .t_return = 200,
				     .result = -3,
				     .api = 9,
				     .depth = 1,
				     .nwords = GPUBPF_WORDS_SHORT,
				     .out = 77 } };
	struct gpubpf_call *c;

	r.call.words[5] = 55;
	begin();
	c = rewritten(&r);
	CHECK(c->tgid == ID(12) && c->tid == ID(34) && c->t_entry == 5100 && c->t_return == 5200);
	CHECK(c->api == 7 && c->result == -3 && c->depth == 1 && c->out == 77 && c->words[5] == 55);
	r.call.flags = 0; /* t_return means nothing */
	r.call.t_return = 0;
	c = rewritten(&r);
	CHECK(c->api == 7 && c->t_return == 0);
	r.call.api = 10;
	c = rewritten(&r);
	CHECK(c->api == 8);
	/* no number is left */
	m.napis = GPUBPF_API_MAX;
	r.call.api = 11;
	at.rec = &r.head;
	CHECK(merge_rewrite(&m, &at, &(struct err){ 0 }) == -E2BIG);
	/* what would wrap is as wrong as it was, what no pid can be stays within the member */
	r.call.api = 9;
	r.call.t_entry = UINT64_MAX - 10;
	r.call.tgid = 30000005;
	c = rewritten(&r);
	CHECK(c->t_entry == UINT64_MAX - 10 && c->tgid == ID(5));
}

T(a_task_and_an_error_of_a_gpu)
{
	struct gpubpf_task t = { .kind = GPUBPF_REC_TASK,
				 .size = sizeof(t),
				 .tgid = 1,
				 .tid = 2,
				 .peer = 3,
				 .view_tgid = 0,
				 .ns_tgid = 5,
				 .ns_tid = 6,
				 .code = 9,
				 .time = 100,
				 .start_time = 7 };
	struct gpubpf_xid x = {
		.kind = GPUBPF_REC_XID, .size = sizeof(x), .time = 100, .code = 13, .device = "0000:1b:00.0"
	};
	const struct gpubpf_task *to;
	const struct gpubpf_xid *xto;

	begin();
	to = rewritten(&t);
	CHECK(to->tgid == ID(1) && to->tid == ID(2) && to->peer == ID(3) && to->view_tgid == 0);
	CHECK(to->ns_tgid == ID(5) && to->ns_tid == ID(6) && to->code == 9);
	CHECK(to->time == 5100 && to->start_time == 7);
	xto = rewritten(&x);
	CHECK(xto->time == 5100 && xto->code == 13 && strcmp(xto->device, "0000:1b:00.0 (member 2)") == 0);
	memset(x.device, 'x', sizeof(x.device) - 1); /* no room to say so */
	xto = rewritten(&x);
	CHECK(strcmp(xto->device, x.device) == 0);
}

T(breakdowns_and_waits)
{
	struct gpubpf_latency l = { .kind = GPUBPF_REC_LATENCY,
				    .size = sizeof(l),
				    .flags = GPUBPF_LATENCY_GAP,
				    .tgid = 1,
				    .tid = 2,
				    .t_entry = 100,
				    .t_return = 200,
				    .t_before = 50,
				    .call = { .on_cpu = 100 } };
	struct gpubpf_waker w = { .kind = GPUBPF_REC_WAKER,
				  .size = sizeof(w),
				  .flags = GPUBPF_WAKER_IN_CALL | GPUBPF_WAKER_LIMIT,
				  .tgid = 1,
				  .tid = 2,
				  .t_entry = 100,
				  .t_wait = 110,
				  .t_wake = 120,
				  .futex = 0x1000,
				  .limit = 130,
				  .api = 3,
				  .waker_api = 4,
				  .waker_tgid = 1,
				  .waker_tid = 8,
				  .waker_entry = 90 };
	const struct gpubpf_latency *lto;
	const struct gpubpf_waker *wto;

	begin();
	lto = rewritten(&l);
	CHECK(lto->tgid == ID(1) && lto->tid == ID(2) && lto->t_entry == 5100 && lto->t_return == 5200);
	CHECK(lto->t_before == 5050 && lto->call.on_cpu == 100);
	l.flags = 0;
	CHECK(((struct gpubpf_latency *)rewritten(&l))->t_before == 50);
	wto = rewritten(&w);
	CHECK(wto->tgid == ID(1) && wto->tid == ID(2) && wto->waker_tgid == ID(1) && wto->waker_tid == ID(8));
	CHECK(wto->t_entry == 5100 && wto->t_wait == 5110 && wto->t_wake == 5120 && wto->waker_entry == 5090);
	CHECK(wto->futex == 0x1000 && wto->api == 7 && wto->waker_api == 8 && wto->limit == 5130);
	w.flags |= GPUBPF_WAKER_RELATIVE;
	CHECK(((struct gpubpf_waker *)rewritten(&w))->limit == 130);
	w.flags = GPUBPF_WAKER_LIMIT | GPUBPF_WAKER_REALTIME;
	CHECK(((struct gpubpf_waker *)rewritten(&w))->limit == 130);
	CHECK(((struct gpubpf_waker *)rewritten(&w))->waker_api == 4);
}

T(numbers_of_stacks)
{
	union {
		struct gpubpf_stack_chain c;
		struct gpubpf_stack s;
		uint8_t room[64];
	} r = { .c = { .kind = GPUBPF_REC_STACK, .size = 32, .flags = GPUBPF_STACK_CHAIN, .id = 4, .n = 3 } };
	const struct gpubpf_stack_chain *c;
	const struct gpubpf_stack *s;

	begin();
	r.c.frames[0] = 1;
	r.c.frames[1] = 3;
	r.c.frames[2] = 4; /* there is none: nor is it another member's */
	c = rewritten(&r);
	CHECK(c->id == 204 && c->frames[0] == 101 && c->frames[1] == 103 && c->frames[2] == UINT32_MAX);
	r.c.flags = GPUBPF_STACK_FRAME;
	r.c.id = 2;
	c = rewritten(&r);
	CHECK(c->id == 102);
	memset(&r, 0, sizeof(r));
	r.s = (struct gpubpf_stack){ .kind = GPUBPF_REC_STACK,
				     .size = sizeof(r.s),
				     .flags = GPUBPF_STACK_CALL,
				     .tgid = 1,
				     .tid = 2,
				     .t_entry = 100,
				     .chain = 4,
				     .api = 3 };
	s = rewritten(&r);
	CHECK(s->tgid == ID(1) && s->tid == ID(2) && s->t_entry == 5100 && s->chain == 204 && s->api == 7);
	r.s.chain = 0; /* no frame is known */
	CHECK(((struct gpubpf_stack *)rewritten(&r))->chain == 0);
}

/* ---- The device observer ---- */

static union {
	struct gpubpf_shim head;
	uint8_t room[1024];
} batch;

static void *shimmed(unsigned probe, const void *items, unsigned item_size, unsigned n)
{
	struct gpubpf_shim *b;

	batch.head = (struct gpubpf_shim){ .kind = GPUBPF_REC_SHIM,
					   .size = (uint16_t)((sizeof(batch.head) + item_size * n + 7) & ~7u),
					   .tgid = 1,
					   .tid = 2,
					   .time = 100,
					   .sequence = 6,
					   .probe = (uint16_t)probe,
					   .item_size = (uint16_t)item_size,
					   .count = n,
					   .sent = n };
	memcpy(batch.head.items, items, (size_t)item_size * n);
	b = rewritten(&batch);
	CHECK(b->tgid == ID(1) && b->tid == ID(2) && b->time == 5100 && b->sequence == 6);
	return b->items;
}

T(items_of_the_shim)
{
	struct gpubpf_hello h = { .session = 1, .pid = 3, .worker_tid = 4, .time = 100, .start_time = 9 };
	struct gpubpf_shim_call c[2] = { { .start = 100, .end = 200, .correlation = 5, .tid = 4 },
					 { .start = 300, .tid = 5, .flags = GPUBPF_SHIM_CALL_NO_END } };
	struct gpubpf_module mod = { .start = 100, .end = 0, .bytes = 100 };
	const struct gpubpf_hello *hto;
	const struct gpubpf_shim_call *cto;
	const struct gpubpf_module *mto;
	const struct gpubpf_name *nto;

	begin();
	hto = shimmed(GPUBPF_PROBE_HELLO, &h, sizeof(h), 1);
	CHECK(hto->pid == ID(3) && hto->worker_tid == ID(4) && hto->time == 5100 && hto->start_time == 9);
	cto = shimmed(GPUBPF_PROBE_CALLS, c, sizeof(c[0]), 2);
	CHECK(cto[0].start == 5100 && cto[0].end == 5200 && cto[0].correlation == 5 && cto[0].tid == ID(4));
	CHECK(cto[1].start == 5300 && cto[1].end == 0 && cto[1].tid == ID(5));
	mto = shimmed(GPUBPF_PROBE_MODULES, &mod, sizeof(mod), 1);
	CHECK(mto->start == 5100 && mto->end == 0 && mto->bytes == 100);
	nto = shimmed(GPUBPF_PROBE_NAMES, &(struct gpubpf_name){ .id = 3, .text = "k" }, sizeof(*nto), 1);
	CHECK(nto->id == 3 && strcmp(nto->text, "k") == 0);
	/* items that are shorter than they can be are left as they are */
	cto = shimmed(GPUBPF_PROBE_CALLS, c, 32, 1);
	CHECK(cto[0].start == 100);
}

T(what_ran)
{
	struct gpubpf_activity k = { .kind = GPUBPF_ACTIVITY_KERNEL,
				     .flags = GPUBPF_ACTIVITY_HAS_QUEUED,
				     .start = 100,
				     .end = 200,
				     .correlation = 3,
				     .device = 1 };
	struct gpubpf_activity a = { .kind = GPUBPF_ACTIVITY_MARKER, .start = 100 };
	const struct gpubpf_activity *to;

	begin();
	k.u.kernel.queued = 50;
	k.u.kernel.submitted = 60;
	to = shimmed(GPUBPF_PROBE_ACTIVITY, &k, sizeof(k), 1);
	CHECK(to->start == 5100 && to->end == 5200 && to->correlation == 3 && to->device == 1);
	CHECK(to->u.kernel.queued == 5050 && to->u.kernel.submitted == 60);
	a.u.raw[0] = 1;
	a.u.raw[3] = 12;
	a.u.raw[4] = 34;
	to = shimmed(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	CHECK(to->start == 5100 && to->end == 0 && to->u.raw[0] == 1 && to->u.raw[3] == ID(12));
	CHECK(to->u.raw[4] == 34); /* no thread of the system's */
	a.flags = GPUBPF_ACTIVITY_HAS_THREAD;
	to = shimmed(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	CHECK(to->u.raw[4] == ID(34));
	a.kind = GPUBPF_ACTIVITY_OVERHEAD;
	a.u.raw[1] = 2;
	a.u.raw[2] = 12 | (uint64_t)34 << 32;
	to = shimmed(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	CHECK(to->u.raw[2] == (ID(12) | (uint64_t)ID(34) << 32) && to->u.raw[3] == 12);
	a.kind = GPUBPF_ACTIVITY_EXTERNAL;
	to = shimmed(GPUBPF_PROBE_ACTIVITY, &a, sizeof(a), 1);
	CHECK(to->u.raw[1] == 2 && to->u.raw[2] == a.u.raw[2]);
}

/* Which of a status' numbers are times differs by its kind: a bit each. */
T(times_in_a_status)
{
	static const struct {
		uint16_t kind;
		unsigned times;
	} kinds[] = { { GPUBPF_STATUS_ARMED, 1 },     { GPUBPF_STATUS_DISARMED, 1 },
		      { GPUBPF_STATUS_FACILITY, 0 },  { GPUBPF_STATUS_LOSS, 0 },
		      { GPUBPF_STATUS_CLOCK, 1 | 8 }, { GPUBPF_STATUS_FAILED, 0 },
		      { GPUBPF_STATUS_COUNTS, 0 },    { GPUBPF_STATUS_GATE, 2 | 4 },
		      { GPUBPF_STATUS_MATCH, 1 | 4 }, { GPUBPF_STATUS_COST, 0 } };

	begin();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct gpubpf_status s = {
			.kind = kinds[i].kind, .time = 100, .a = 1, .b = 1, .c = 1, .d = 1, .e = 1
		};
		const struct gpubpf_status *to = shimmed(GPUBPF_PROBE_STATUS, &s, sizeof(s), 1);
		unsigned moved = (to->a == SHIFT + 1) | (to->b == SHIFT + 1) << 1 |
				 (to->c == SHIFT + 1) << 2 | (to->d == SHIFT + 1) << 3 |
				 (to->e == SHIFT + 1) << 4;

		CHECKF(to->time == 5100 && moved == kinds[i].times, "status %u: %x", s.kind, moved);
	}
}

TEST_MAIN
