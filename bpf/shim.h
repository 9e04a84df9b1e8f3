/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The probes of the shim: one hit hands over an array of items, copied unread behind one header. */
#ifndef GPUBPF_SHIM_H
#define GPUBPF_SHIM_H

#include "arch.h"
#include "cookie.h"
#include "maps.h"
#include "task.h"

#define SHIM_SLACK 8 /* behind every batch, so that one store clears the padding whatever its size */

struct shim_hit {
	__u64 id;
	__u64 items; /* where they stand in the process */
	__u64 sequence;
	__u32 probe, item_size;
	__u32 sent, count;
	__u64 bytes; /* of count items */
};

static __always_inline void count_more(__u64 *v, __u64 n)
{
	__sync_fetch_and_add(v, n);
}

static __always_inline void shim_fill(struct gpubpf_shim *r, const struct shim_hit *h)
{
	r->kind = GPUBPF_REC_SHIM;
	r->size = sizeof(*r);
	r->flags = h->count < h->sent ? GPUBPF_SHIM_CUT : 0;
	r->tgid = h->id >> 32;
	r->tid = (__u32)h->id;
	r->time = bpf_ktime_get_ns();
	r->sequence = h->sequence;
	r->probe = h->probe;
	r->item_size = h->item_size;
	r->count = 0;
	r->sent = h->sent;
	r->reserved = 0;
}

/* A batch into a record with room for `cap` bytes: bpf_ringbuf_reserve() wants a constant. */
static __always_inline int shim_copy(const struct shim_hit *h, struct gpubpf_probe_counts *c, const __u32 cap)
{
	struct gpubpf_shim *r = bpf_ringbuf_reserve(&ring, sizeof(*r) + cap + SHIM_SLACK, 0);
	__u64 bytes = h->bytes;
	__u8 *to;

	if (!r) {
		count_one(&c->lost_hits);
		count_more(&c->lost_items, h->sent);
		return 0;
	}
	shim_fill(r, h);
	to = (__u8 *)r->items;
	barrier_var(bytes);
	if (bytes > cap || bpf_probe_read_user(to, bytes, (const void *)h->items)) {
		r->flags |= GPUBPF_SHIM_FAULT;
		count_one(&c->faults);
	} else {
		*(__u64 *)(to + bytes) = 0;
		r->count = h->count;
		r->size = sizeof(*r) + ((bytes + 7) & ~7ull);
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

/* The thread that says hello is the shim's worker: what it calls is no workload. */
static __always_inline void shim_mark_tracer(__u64 id)
{
	__u32 tid = (__u32)id;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);

	if ((!t || t->tgid != id >> 32) && thread_begin(id >> 32, tid, &t) != THREAD_OK)
		return;
	if (t)
		t->tracer = 1;
}

static __always_inline int shim_hit(struct pt_regs *ctx, __u64 cookie)
{
	__u64 words[ARCH_REG_WORDS], id = bpf_get_current_pid_tgid(), n;
	struct shim_hit h = {
		.id = id,
		.probe = SHIM_COOKIE_PROBE(cookie),
		.item_size = SHIM_COOKIE_ITEM(cookie),
	};
	struct gpubpf_probe_counts *c;

	if (!trace_all && !target_of((void *)bpf_get_current_task(), id >> 32))
		return 0;
	c = bpf_map_lookup_elem(&probe_counts, &h.probe);
	if (!c || !h.item_size)
		return 0;
	if (h.probe == GPUBPF_PROBE_HELLO)
		shim_mark_tracer(id);
	arch_words(ctx, words);
	h.items = words[0];
	n = words[1];
	h.sequence = words[2];
	h.sent = n < ~0u ? n : ~0u;
	h.count = GPUBPF_BATCH_MAX / h.item_size;
	if (h.count > h.sent)
		h.count = h.sent;
	h.bytes = (__u64)h.count * h.item_size;
	count_one(&c->hits);
	count_more(&c->items, h.sent);
	if (h.count < h.sent)
		count_more(&c->cut_items, h.sent - h.count);
	if (h.bytes <= 512)
		return shim_copy(&h, c, 512);
	if (h.bytes <= 2048)
		return shim_copy(&h, c, 2048);
	if (h.bytes <= 8192)
		return shim_copy(&h, c, 8192);
	return shim_copy(&h, c, GPUBPF_BATCH_MAX);
}

#endif
