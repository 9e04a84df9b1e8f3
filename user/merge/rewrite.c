// SPDX-License-Identifier: GPL-2.0-or-later
/* One record of a member, as the merged capture has it. What is malformed inside stays so: its readers count that. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "merge/priv.h"
#include "model/member.h"
#include "util/err.h"

uint32_t merge_id(const struct merge_member *at, uint32_t id)
{
	/* what no pid of Linux can be stays in the member's own range, too */
	return id ? id % MEMBER_IDS + at->pub.index * MEMBER_IDS : 0;
}

uint64_t merge_time(const struct merge_member *at, uint64_t t)
{
	uint64_t moved;

	return !t || __builtin_add_overflow(t, at->pub.shift_ns, &moved) ? t : moved;
}

static void put_id(const struct merge_member *at, __u32 *id)
{
	*id = merge_id(at, *id);
}

static void put_time(const struct merge_member *at, __u64 *t)
{
	*t = merge_time(at, *t);
}

uint64_t merge_record_time(const struct gpubpf_rec *rec, uint64_t otherwise)
{
	const struct gpubpf_call *c = (const void *)rec;

	switch (rec->kind) {
	case GPUBPF_REC_CALL:
		return rec->flags & GPUBPF_CALL_RETURNED ? c->t_return : c->t_entry;
	case GPUBPF_REC_TASK:
		return ((const struct gpubpf_task *)rec)->time;
	case GPUBPF_REC_XID:
		return ((const struct gpubpf_xid *)rec)->time;
	case GPUBPF_REC_SHIM:
		return ((const struct gpubpf_shim *)rec)->time;
	case GPUBPF_REC_LATENCY:
		return ((const struct gpubpf_latency *)rec)->t_return;
	case GPUBPF_REC_WAKER:
		return ((const struct gpubpf_waker *)rec)->t_wake;
	default: /* what stacks are made of comes before who refers to it */
		return otherwise;
	}
}

/* ---- The device observer's items ---- */

static void hello(const struct merge_member *at, struct gpubpf_hello *h)
{
	put_id(at, &h->pid);
	put_id(at, &h->worker_tid);
	put_time(at, &h->time);
}

static void shim_call(const struct merge_member *at, struct gpubpf_shim_call *c)
{
	put_time(at, &c->start);
	put_time(at, &c->end);
	put_id(at, &c->tid);
}

/* CUpti_ActivityObjectKind of an overhead: a process, a thread. */
enum { OBJECT_PROCESS = 1, OBJECT_THREAD = 2 };

static void raw_ids(const struct merge_member *at, struct gpubpf_activity *a)
{
	uint64_t *raw = (uint64_t *)a->u.raw;

	if (a->kind == GPUBPF_ACTIVITY_MARKER) {
		raw[3] = merge_id(at, (uint32_t)raw[3]);
		if (a->flags & GPUBPF_ACTIVITY_HAS_THREAD)
			raw[4] = merge_id(at, (uint32_t)raw[4]);
	} else if (a->kind == GPUBPF_ACTIVITY_OVERHEAD &&
		   (raw[1] == OBJECT_PROCESS || raw[1] == OBJECT_THREAD)) {
		raw[2] = merge_id(at, (uint32_t)raw[2]) | (uint64_t)merge_id(at, (uint32_t)(raw[2] >> 32))
								  << 32;
	}
}

/* Of CUPTI's own clock, too: the pairs that tie it to CLOCK_MONOTONIC are moved with it. */
static void activity(const struct merge_member *at, struct gpubpf_activity *a)
{
	put_time(at, &a->start);
	put_time(at, &a->end);
	if (a->kind != GPUBPF_ACTIVITY_KERNEL) {
		raw_ids(at, a);
		return;
	}
	if (a->flags & GPUBPF_ACTIVITY_HAS_QUEUED)
		put_time(at, &a->u.kernel.queued);
	if (a->flags & GPUBPF_ACTIVITY_HAS_SUBMIT)
		put_time(at, &a->u.kernel.submitted);
}

static void status(const struct merge_member *at, struct gpubpf_status *s)
{
	put_time(at, &s->time);
	switch (s->kind) {
	case GPUBPF_STATUS_ARMED:
	case GPUBPF_STATUS_DISARMED:
		put_time(at, &s->a);
		return;
	case GPUBPF_STATUS_CLOCK: /* b and c are other clocks */
		put_time(at, &s->a);
		put_time(at, &s->d);
		return;
	case GPUBPF_STATUS_MATCH:
		put_time(at, &s->a);
		put_time(at, &s->c);
		return;
	case GPUBPF_STATUS_GATE:
		put_time(at, &s->b);
		put_time(at, &s->c);
		return;
	}
}

static void item(const struct merge_member *at, unsigned probe, void *p)
{
	struct gpubpf_module *m = p;

	switch (probe) {
	case GPUBPF_PROBE_HELLO:
		hello(at, p);
		return;
	case GPUBPF_PROBE_CALLS:
		shim_call(at, p);
		return;
	case GPUBPF_PROBE_ACTIVITY:
		activity(at, p);
		return;
	case GPUBPF_PROBE_MODULES:
		put_time(at, &m->start);
		put_time(at, &m->end);
		return;
	case GPUBPF_PROBE_STATUS:
		status(at, p);
		return;
	}
}

static void batch(const struct merge_member *at, struct gpubpf_shim *b)
{
	static const size_t sizes[GPUBPF_PROBES] = GPUBPF_ITEM_SIZES;
	union {
		struct gpubpf_hello h;
		struct gpubpf_activity a;
	} room; /* items of a shim of another version may stand at any address */

	put_id(at, &b->tgid);
	put_id(at, &b->tid);
	put_time(at, &b->time);
	if (b->item_size < sizes[b->probe]) /* of no known shape */
		return;
	for (uint32_t i = 0; i < b->count; i++) {
		char *p = (char *)b->items + (size_t)i * b->item_size;

		memcpy(&room, p, sizes[b->probe]);
		item(at, b->probe, &room);
		memcpy(p, &room, sizes[b->probe]);
	}
}

/* ---- Records ---- */

static void task(const struct merge_member *at, struct gpubpf_task *t)
{
	put_id(at, &t->tgid);
	put_id(at, &t->tid);
	put_id(at, &t->peer);
	put_id(at, &t->view_tgid);
	/* by these the shim's threads are found, which are moved likewise */
	put_id(at, &t->ns_tgid);
	put_id(at, &t->ns_tid);
	put_time(at, &t->time);
}

static void xid(const struct merge_member *at, struct gpubpf_xid *x)
{
	size_t n = strlen(x->device);

	put_time(at, &x->time);
	/* two machines have devices of one address */
	if (n < sizeof(x->device) - 14)
		snprintf(x->device + n, sizeof(x->device) - n, " (member %u)", at->pub.index % 1000);
}

static void latency(const struct merge_member *at, struct gpubpf_latency *l)
{
	put_id(at, &l->tgid);
	put_id(at, &l->tid);
	put_time(at, &l->t_entry);
	put_time(at, &l->t_return);
	if (l->flags & GPUBPF_LATENCY_GAP)
		put_time(at, &l->t_before);
}

static int waker(struct merge *m, struct merge_member *at, struct gpubpf_waker *w)
{
	uint16_t number;
	int rc;

	put_id(at, &w->tgid);
	put_id(at, &w->tid);
	put_id(at, &w->waker_tgid);
	put_id(at, &w->waker_tid);
	put_time(at, &w->t_entry);
	put_time(at, &w->t_wait);
	put_time(at, &w->t_wake);
	put_time(at, &w->waker_entry);
	if ((w->flags & GPUBPF_WAKER_LIMIT) && !(w->flags & (GPUBPF_WAKER_RELATIVE | GPUBPF_WAKER_REALTIME)))
		put_time(at, &w->limit);
	rc = merge_api(m, at, w->api, &number);
	if (rc)
		return rc;
	w->api = number;
	if (!(w->flags & GPUBPF_WAKER_IN_CALL))
		return 0;
	rc = merge_api(m, at, w->waker_api, &number);
	if (!rc)
		w->waker_api = number;
	return rc;
}

/* What refers to nothing must not refer to another member's. */
static uint32_t stack_id(uint32_t base, uint32_t most, uint32_t id)
{
	return !id ? 0 : id <= most ? base + id : UINT32_MAX;
}

static int stack(struct merge *m, struct merge_member *at, struct gpubpf_rec *rec)
{
	struct gpubpf_stack_chain *c = (void *)rec; /* a frame has its id at the same place */
	struct gpubpf_stack *s = (void *)rec;
	uint16_t number;
	int rc;

	if (rec->flags & GPUBPF_STACK_CHAIN) {
		c->id = stack_id(at->chain_base, at->chains, c->id);
		for (uint32_t i = 0; i < c->n; i++)
			c->frames[i] = stack_id(at->frame_base, at->frames, c->frames[i]);
		return 0;
	}
	if (rec->flags & GPUBPF_STACK_FRAME) {
		c->id = stack_id(at->frame_base, at->frames, c->id);
		return 0;
	}
	put_id(at, &s->tgid);
	put_id(at, &s->tid);
	put_time(at, &s->t_entry);
	s->chain = stack_id(at->chain_base, at->chains, s->chain);
	rc = merge_api(m, at, s->api, &number);
	if (!rc)
		s->api = number;
	return rc;
}

static int call(struct merge *m, struct merge_member *at, struct gpubpf_call *c)
{
	uint16_t number;
	int rc = merge_api(m, at, c->api, &number);

	if (rc)
		return rc;
	c->api = number;
	put_id(at, &c->tgid);
	put_id(at, &c->tid);
	put_time(at, &c->t_entry);
	if (c->flags & GPUBPF_CALL_RETURNED)
		put_time(at, &c->t_return);
	return 0;
}

int merge_rewrite(struct merge *m, struct merge_member *at, struct err *err)
{
	struct gpubpf_rec *rec = (struct gpubpf_rec *)m->room;
	int rc = 0;

	memcpy(m->room, at->rec, at->rec->size);
	switch (rec->kind) {
	case GPUBPF_REC_CALL:
		rc = call(m, at, (void *)rec);
		break;
	case GPUBPF_REC_TASK:
		task(at, (void *)rec);
		break;
	case GPUBPF_REC_XID:
		xid(at, (void *)rec);
		break;
	case GPUBPF_REC_SHIM:
		batch(at, (void *)rec);
		break;
	case GPUBPF_REC_LATENCY:
		latency(at, (void *)rec);
		break;
	case GPUBPF_REC_WAKER:
		rc = waker(m, at, (void *)rec);
		break;
	case GPUBPF_REC_STACK:
		rc = stack(m, at, rec);
		break;
	}
	if (rc == -E2BIG)
		return err_set(
			err, rc,
			"%s: more than %d different entry points in all captures together: merge fewer, or such of one "
			"driver version",
			at->path, GPUBPF_API_MAX);
	return rc ? err_set(err, rc, "%s: out of memory", at->path) : 0;
}
