/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The user stack of the thread that makes a call, from the call's caller on: at the entry of the entry point, before its
 * first instruction, or behind its return. In both the caller's registers are in place but for PC and SP, so that neither
 * depends on how the entry point keeps its frame. At a return the kernel has put the return address in PC already.
 *
 * The walk is our own: that of the kernel skips the caller at an entry on most versions, and does not say why it ended.
 */
#ifndef GPUBPF_USTACK_H
#define GPUBPF_USTACK_H

#include "arch.h"
#include "maps.h"
#include "task.h"

/* At an entry, where it is not known how long the call will take. */
static __always_inline int stack_wanted(void)
{
	if (stacks_slow_ns)
		return 0;
	return stacks_one_of <= 1 || !((__u64)bpf_get_prandom_u32() * stacks_one_of >> 32);
}

static __always_inline void stack_walk(struct stack_raw *r)
{
	__u64 pair[2], fp = r->fp;

	r->end = STACK_END_LIMIT;
	for (int i = 0; i < STACK_ADDRESSES; i++) {
		if (!fp) {
			r->end = STACK_END_ZERO;
			break;
		}
		if (fp & 7) {
			r->end = STACK_END_BROKEN;
			break;
		}
		/* both architectures: the caller's frame pointer, then the return address */
		if (bpf_probe_read_user(pair, sizeof(pair), (void *)fp)) {
			r->end = STACK_END_FAULT;
			break;
		}
		r->data[i] = pair[1];
		r->n = i + 1;
		if (pair[0] && pair[0] <= fp) {
			r->end = STACK_END_BROKEN;
			break;
		}
		fp = pair[0];
	}
}

static __always_inline int is_stack(__u64 addr)
{
	__u64 word;

	return !bpf_probe_read_user(&word, sizeof(word), (void *)addr);
}

static __always_inline void stack_copy(struct stack_raw *r, __u32 room)
{
	__u8 *to = (__u8 *)r->data;

	r->end = STACK_END_LIMIT;
	for (__u32 at = 0; at < room && at < stacks_bytes; at += STACK_CHUNK) {
		if (bpf_probe_read_user(to + at, STACK_CHUNK, (void *)(r->base + at))) {
			r->end = STACK_END_FAULT;
			break;
		}
		r->n = at + STACK_CHUNK;
	}
}

static __always_inline void stack_fill(struct pt_regs *ctx, struct stack_raw *r, __u64 id, __u32 api,
				       __u32 flags)
{
	r->kind = REC_STACK_RAW;
	r->api = api;
	r->flags = flags;
	r->tgid = id >> 32;
	r->tid = (__u32)id;
	r->how = stacks;
	r->n = 0;
	r->reserved = 0;
	if (flags & GPUBPF_STACK_ENTRY) {
		r->pc = arch_caller(ctx);
		r->sp = arch_sp(ctx) + ARCH_RETURN_POP;
	} else {
		r->pc = arch_ip(ctx);
		r->sp = arch_sp(ctx);
	}
	r->fp = arch_fp(ctx);
	r->base = r->sp & ~(STACK_CHUNK - 1ull);
	for (int i = ARCH_SAVED; i < STACK_SAVED; i++)
		r->saved[i] = 0;
	arch_saved(ctx, r->saved);
}

/*
 * A record that is being made, while the call is being entered. Whether there is one is a flag, set where the pointer is
 * tested: before Linux 6.1 the verifier takes a pointer that is known not to be NULL for one that may be at a second test.
 */
struct stack_open {
	struct stack_raw *r;
	__u32 there;
};

#define STACK_TAKE(bytes, take)                                                                              \
	do {                                                                                                 \
		o->r = bpf_ringbuf_reserve(&ring, sizeof(struct stack_raw) + (bytes), 0);                    \
		if (o->r) {                                                                                  \
			stack_fill(ctx, o->r, id, api, flags);                                               \
			take;                                                                                \
			o->there = 1;                                                                        \
			barrier_var(o->there);                                                               \
		} else {                                                                                     \
			global_add(GPUBPF_G_STACK_LOST);                                                     \
			o->there = 0;                                                                        \
			barrier_var(o->there);                                                               \
		}                                                                                            \
	} while (0)

/* A copy has room for what there is, up to its limit. */
static __always_inline void stack_take(struct stack_open *o, struct pt_regs *ctx, __u64 id, __u32 api,
				       __u32 flags)
{
	__u64 base = arch_sp(ctx) & ~(STACK_CHUNK - 1ull);

	if (stacks == STACKS_FP)
		STACK_TAKE(8 * STACK_ADDRESSES, stack_walk(o->r));
	else if (stacks_bytes <= STACK_SMALL || !is_stack(base + STACK_SMALL))
		STACK_TAKE(STACK_SMALL, stack_copy(o->r, STACK_SMALL));
	else if (stacks_bytes <= STACK_MEDIUM || !is_stack(base + STACK_MEDIUM))
		STACK_TAKE(STACK_MEDIUM, stack_copy(o->r, STACK_MEDIUM));
	else
		STACK_TAKE(STACK_LARGE, stack_copy(o->r, STACK_LARGE));
}

static __always_inline void stack_send(const struct stack_open *o, __u64 t_entry)
{
	if (!o->there)
		return;
	o->r->t_entry = t_entry;
	bpf_ringbuf_submit(o->r, BPF_RB_NO_WAKEUP);
}

static __noinline int stack_at_return(struct pt_regs *ctx, __u64 id, __u32 api, __u64 t_entry)
{
	struct stack_open o = { 0 };

	stack_take(&o, ctx, id, api, 0);
	stack_send(&o, t_entry);
	return 0;
}

#endif
