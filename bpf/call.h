/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entry and return of a traced call: counters that never lose, and one record per call that may. */
#ifndef GPUBPF_CALL_H
#define GPUBPF_CALL_H

#include "cookie.h"
#include "latency.h"
#include "maps.h"
#include "row.h"
#include "stack.h"
#include "task.h"
#include "ustack.h"

#define CUDA_ERROR_NOT_READY 600 /* cuda.h: the answer "not yet" of a query, no failure */

#define CONFIG_BYTES 56    /* sizeof(CUlaunchConfig), cuda.h */
#define CONFIG_ATTRS 40    /* its pointer to attributes … */
#define CONFIG_NUMATTRS 48 /* … and their number */
#define ATTR_BYTES 72      /* sizeof(CUlaunchAttribute) */

/* Record sizes: bpf_ringbuf_reserve() wants a constant. */
#define SIZE_SHORT (sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_SHORT)
#define BLOB_SLACK 8
#define SIZE_LONG (sizeof(struct gpubpf_call) + 8 * GPUBPF_WORDS_MAX)

/* The barrier keeps the mask: the verifier does not see the bound that made the compiler drop it. */
static __always_inline struct frame *frame_at(struct thread *t, __u32 i)
{
	barrier_var(i);
	return &t->frames[i & (OPEN_CALLS - 1)];
}

static __always_inline void count_result(__u32 api, __s32 result)
{
	struct result_key k = { .api = api, .result = result };
	__u64 one = 1, *v = bpf_map_lookup_elem(&results, &k);

	if (v)
		count_one(v);
	else if (bpf_map_update_elem(&results, &k, &one, BPF_NOEXIST))
		global_add(GPUBPF_G_RESULT_FULL);
}

static __always_inline void fill_header(struct gpubpf_call *r, const struct frame *f, __u64 id, __u32 depth,
					__u32 nwords)
{
	r->kind = GPUBPF_REC_CALL;
	r->size = sizeof(*r) + 8 * nwords;
	r->flags = f->flags;
	r->tgid = id >> 32;
	r->tid = (__u32)id;
	r->t_entry = f->t_entry;
	r->t_return = 0;
	r->result = 0;
	r->api = COOKIE_API(f->cookie);
	r->depth = depth;
	r->nwords = nwords;
	r->nblob = 0;
	r->reserved = 0;
	r->out = 0;
}

static __always_inline void fill_return(struct gpubpf_call *r, const struct frame *f, __u64 now, __s32 result)
{
	__u64 arg = COOKIE_OUT_ARG(f->cookie);
	long err;

	r->t_return = now;
	r->result = result;
	r->flags |= GPUBPF_CALL_RETURNED;
	/* Else the comparison is made on bits of the cookie (clang 19), and the verifier knows no bound of the index. With
	 * 32 bits it would be made on a widened copy, with the same effect. */
	barrier_var(arg);
	if (result || arg >= GPUBPF_WORDS_MAX || !f->words[arg])
		return;
	err = COOKIE_OUT32(f->cookie) ? bpf_probe_read_user(&r->out, 4, (void *)f->words[arg])
				      : bpf_probe_read_user(&r->out, 8, (void *)f->words[arg]);
	r->flags |= err ? GPUBPF_CALL_OUT_FAULT : GPUBPF_CALL_HAS_OUT;
}

/* What pads the blob to a multiple of 8 leaves the kernel too: it is zero. Blobs have BLOB_SLACK bytes of room
 * behind `cap`, so that one store clears the padding whatever the length. */
static __always_inline void blob_end(struct gpubpf_call *r, __u8 *blob, __u32 n, __u32 cap)
{
	barrier_var(n);
	if (n > cap)
		return;
	*(__u64 *)(blob + n) = 0;
	r->nblob = n;
	r->size = SIZE_LONG + ((n + 7) & ~7u);
}

static __always_inline void blob_fixed(struct gpubpf_call *r, __u8 *blob, const void *from, __u32 len,
				       __u32 cap)
{
	if (len > cap)
		len = cap;
	if (!len || !from)
		return;
	if (bpf_probe_read_user(blob, len, from)) {
		r->flags |= GPUBPF_CALL_BLOB_FAULT;
		return;
	}
	blob_end(r, blob, len, cap);
}

/* Returns false when `cap` was too small and a bigger record is worth trying. */
static __always_inline int blob_string(struct gpubpf_call *r, __u8 *blob, const void *from, __u32 cap)
{
	long n;

	if (!from)
		return 1;
	n = bpf_probe_read_user_str(blob, cap, from);
	if (n <= 0) {
		r->flags |= GPUBPF_CALL_BLOB_FAULT;
		return 1;
	}
	if (n == cap && cap < GPUBPF_BLOB_MAX)
		return 0;
	if (n == cap)
		r->flags |= GPUBPF_CALL_BLOB_TRUNC;
	blob_end(r, blob, n & (2 * GPUBPF_BLOB_MAX - 1), cap);
	return 1;
}

static __always_inline int blob_config(struct gpubpf_call *r, __u8 *blob, const void *from, __u32 cap)
{
	__u64 attrs;
	__u32 n, max = (cap - CONFIG_BYTES) / ATTR_BYTES;

	if (bpf_probe_read_user(blob, CONFIG_BYTES, from)) {
		r->flags |= GPUBPF_CALL_BLOB_FAULT;
		return 1;
	}
	attrs = *(__u64 *)(blob + CONFIG_ATTRS);
	n = *(__u32 *)(blob + CONFIG_NUMATTRS);
	if (n > max && cap < GPUBPF_BLOB_MAX)
		return 0;
	if (n > max) {
		n = max;
		r->flags |= GPUBPF_CALL_BLOB_TRUNC;
	}
	if (!attrs)
		n = 0;
	if (n && bpf_probe_read_user(blob + CONFIG_BYTES, n * ATTR_BYTES, (void *)attrs)) {
		r->flags |= GPUBPF_CALL_BLOB_FAULT;
		n = 0;
	}
	blob_end(r, blob, CONFIG_BYTES + n * ATTR_BYTES, cap);
	return 1;
}

static __always_inline int blob_sizes(struct gpubpf_call *r, __u8 *blob, const void *from, __u64 n, __u32 cap)
{
	if (n > cap / 8 && cap < GPUBPF_BLOB_MAX)
		return 0;
	if (n > cap / 8) {
		n = cap / 8;
		r->flags |= GPUBPF_CALL_BLOB_TRUNC;
	}
	blob_fixed(r, blob, from, (__u32)n * 8, cap);
	return 1;
}

/* Copies what the argument points to. Memory handed to a call stays the caller's to keep until it returns,
 * so reading at the return sees what the driver saw, and pages that the driver touched are there. */
static __always_inline int fill_blob(struct gpubpf_call *r, const struct frame *f, __u8 *blob, __u32 cap)
{
	__u64 arg = COOKIE_BLOB_ARG(f->cookie);
	const void *from;
	__u64 p;

	barrier_var(arg); /* as in fill_return() */
	if (arg >= GPUBPF_WORDS_MAX)
		return 1;
	from = (const void *)f->words[arg];
	if (!from)
		return 1;
	switch (COOKIE_BLOB(f->cookie)) {
	case COOKIE_BLOB_OUT:
		if (!(r->flags & GPUBPF_CALL_RETURNED) || r->result)
			return 1;
		/* fallthrough */
	case COOKIE_BLOB_MEM:
		blob_fixed(r, blob, from, COOKIE_BLOB_LEN(f->cookie), cap);
		return 1;
	case COOKIE_BLOB_STR:
		return blob_string(r, blob, from, cap);
	case COOKIE_BLOB_STRPTR:
		if (!(r->flags & GPUBPF_CALL_RETURNED) || r->result)
			return 1;
		if (bpf_probe_read_user(&p, sizeof(p), from)) {
			r->flags |= GPUBPF_CALL_BLOB_FAULT;
			return 1;
		}
		return blob_string(r, blob, (const void *)p, cap);
	case COOKIE_BLOB_CONFIG:
		return blob_config(r, blob, from, cap);
	case COOKIE_BLOB_SIZES:
		if (arg + 1 >= GPUBPF_WORDS_MAX)
			return 1;
		return blob_sizes(r, blob, from, f->words[arg + 1], cap);
	}
	return 1;
}

/* One record with room for `cap` bytes of blob. 1: sent, 0: a bigger one is needed, -1: lost. */
static __always_inline int emit_blob(const struct frame *f, __u64 id, __u32 depth, __u64 now, __s32 result,
				     __u32 cap)
{
	struct gpubpf_call *r = bpf_ringbuf_reserve(&ring, SIZE_LONG + cap + BLOB_SLACK, 0);

	if (!r)
		return -1;
	fill_header(r, f, id, depth, GPUBPF_WORDS_MAX);
	if (now)
		fill_return(r, f, now, result);
	__builtin_memcpy(r->words, f->words, sizeof(f->words));
	if (!fill_blob(r, f, (__u8 *)&r->words[GPUBPF_WORDS_MAX], cap)) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 1;
}

static __noinline int emit_blob_small(const struct frame *f, __u64 id, __u32 depth, __u64 now, __s32 result)
{
	return emit_blob(f, id, depth, now, result, 256);
}

static __noinline int emit_blob_large(const struct frame *f, __u64 id, __u32 depth, __u64 now, __s32 result)
{
	return emit_blob(f, id, depth, now, result, GPUBPF_BLOB_MAX);
}

/* `now` is 0 for a call that has not returned. True when a record went out. */
static __always_inline int emit_call(const struct frame *f, __u64 id, __u32 depth, __u64 now, __s32 result)
{
	__u64 cookie = f->cookie;
	struct gpubpf_call *r;
	int sent;

	if (COOKIE_BLOB(cookie)) {
		sent = emit_blob_small(f, id, depth, now, result);
		if (!sent)
			sent = emit_blob_large(f, id, depth, now, result);
		return sent > 0;
	}
	if (COOKIE_NARGS(cookie) > GPUBPF_WORDS_SHORT) {
		r = bpf_ringbuf_reserve(&ring, SIZE_LONG, 0);
		if (!r)
			return 0;
		fill_header(r, f, id, depth, GPUBPF_WORDS_MAX);
		__builtin_memcpy(r->words, f->words, sizeof(f->words));
	} else {
		r = bpf_ringbuf_reserve(&ring, SIZE_SHORT, 0);
		if (!r)
			return 0;
		fill_header(r, f, id, depth, GPUBPF_WORDS_SHORT);
		__builtin_memcpy(r->words, f->words, 8 * GPUBPF_WORDS_SHORT);
	}
	if (now)
		fill_return(r, f, now, result);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 1;
}

static __always_inline void fill_frame(struct pt_regs *ctx, struct frame *f, __u64 cookie, __u64 sp,
				       __u64 now)
{
	f->cookie = cookie;
	f->sp = sp;
	f->t_entry = now;
	f->flags = fill_words(ctx, f->words, cookie, sp);
}

static __always_inline void abandon(const struct frame *f)
{
	struct gpubpf_counts *c = counts_of(COOKIE_API(f->cookie));

	if (c)
		count_one(&c->abandoned);
}

/* Drops frames that the thread has left without a return. True when one that it has not left allows no return
 * probe now. */
static __always_inline int drop_left(struct pt_regs *ctx, struct thread *t, __u64 sp)
{
	struct stacks s;

	if (!t->depth)
		return 0;
	stacks_read(&s);
	for (int i = 0; i < OPEN_CALLS; i++) {
		struct frame *f = frame_at(t, t->depth - 1);
		enum open_state state;

		if (!t->depth)
			return 0;
		state = open_state(ctx, &s, f, sp);
		if (state != OPEN_LEFT)
			return state == OPEN_ELSEWHERE;
		abandon(f);
		t->depth--;
	}
	return 0;
}

static __always_inline int in_a_row(struct thread *t, __u64 cookie, __u64 now)
{
	__u64 last = t->last_launch;

	if (!COOKIE_LAUNCH(cookie) || t->depth)
		return 0;
	t->last_launch = now;
	return now - last < in_a_row_ns;
}

/*
 * A thread that launches as fast as it can pays more for the return probe than for the rest of it. Of launches in a
 * row only some, drawn at random so that no pattern of the program can hide behind them, are measured to their
 * return; every one is counted and recorded. Only a session can leave a return out.
 */
static __always_inline int leave_return_out(void)
{
	return measure_one_of > 1 && (__u64)bpf_get_prandom_u32() * measure_one_of >> 32;
}

/* A call that is recorded now, at its entry, for good. */
static __always_inline void record_entry(struct gpubpf_counts *c, const struct frame *f, __u64 id,
					 __u32 depth)
{
	count_one(depth ? &c->nested : &c->entered);
	count_one(emit_call(f, id, depth, 0, 0) ? &c->recorded : &c->lost_ring);
}

/* 0: a return probe is wanted; 1: not. */
static __always_inline int call_enter(struct pt_regs *ctx, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid(), sp = arch_sp(ctx);
	__u32 tid = (__u32)id, api = COOKIE_API(cookie), depth;
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	enum thread_state state = THREAD_OK;
	struct gpubpf_counts *c;
	struct frame *f;
	int elsewhere, left_out, sampled;
	struct stack_open stack = { 0 };
	__u64 now;

	if (stopped)
		return 1;
	if (!t || t->tgid != id >> 32) {
		state = thread_begin(id >> 32, tid, &t);
		if (state == THREAD_FOREIGN)
			return 1;
		if (latency && t)
			lat_begin(tid);
	}
	c = counts_of(api);
	if (!c)
		return 1;
	if (state == THREAD_FULL || !t) {
		count_one(&c->entered);
		count_one(&c->lost_thread);
		return 1;
	}
	if (t->tracer) {
		global_add(GPUBPF_G_TRACER_CALLS);
		return 1;
	}
	now = bpf_ktime_get_ns();
	elsewhere = entry_only ? 0 : drop_left(ctx, t, sp);
	sampled = stacks && !t->depth && stack_wanted();
	left_out = in_a_row(t, cookie, now) && !sampled && (entry_only || leave_return_out());
	if (left_out && !COOKIE_BLOB(cookie)) {
		row_add(ctx, t, c, cookie, sp, now);
		return 1;
	}
	row_flush(t);
	depth = t->depth;
	if (depth >= OPEN_CALLS) {
		count_one(&c->nested);
		count_one(&c->lost_depth);
		return 1;
	}
	f = frame_at(t, depth);
	fill_frame(ctx, f, cookie, sp, now);
	if (sampled)
		stack_take(&stack, ctx, id, api, GPUBPF_STACK_ENTRY);
	if (entry_only) {
		stack_send(&stack, f->t_entry);
		record_entry(c, f, id, 0);
		return 1;
	}
	if ((elsewhere && can_leave_out) || left_out) {
		f->flags |= GPUBPF_CALL_UNMEASURED;
		count_one(&c->unmeasured);
		stack_send(&stack, f->t_entry);
		record_entry(c, f, id, depth);
		return 1;
	}
	count_one(depth ? &c->nested : &c->entered);
	t->depth = depth + 1;
	if (stack.there) /* what taking it took is no part of the call */
		f->t_entry = bpf_ktime_get_ns();
	if (latency && !depth) {
		now = lat_enter(tid, api);
		if (now)
			f->t_entry = now;
	}
	stack_send(&stack, f->t_entry);
	return 0;
}

/*
 * The open call that this return belongs to, taken off the stack with those above it; NULL when its entry was not
 * seen. Frames of several stacks have no order by SP: it is looked for by name and SP alone.
 */
static __always_inline struct frame *frame_pop(struct thread *t, __u32 api, __u64 sp)
{
	__u32 depth = t->depth;

	for (__u32 i = 0; i < OPEN_CALLS; i++) {
		struct frame *f = frame_at(t, depth - 1 - i);

		if (i >= depth)
			return NULL;
		if (f->sp != sp || COOKIE_API(f->cookie) != api)
			continue;
		for (__u32 k = 0; k < OPEN_CALLS && k < i; k++)
			abandon(frame_at(t, depth - 1 - k));
		t->depth = depth - 1 - i;
		return f;
	}
	return NULL;
}

static __always_inline int call_return(struct pt_regs *ctx, __u64 cookie)
{
	__u64 id = bpf_get_current_pid_tgid(), now;
	__u32 tid = (__u32)id, api = COOKIE_API(cookie), depth;
	__s32 result = arch_result(ctx);
	struct gpubpf_counts *c;
	struct thread *t;
	struct frame *f;

	now = latency ? lat_now(tid) : 0;
	if (!now)
		now = bpf_ktime_get_ns();
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t || t->tgid != id >> 32 || t->tracer)
		return 0;
	if (closed) {
		t->left = 1;
		return 0;
	}
	c = counts_of(api);
	if (!c)
		return 0;
	depth = t->depth;
	f = frame_pop(t, api, arch_sp(ctx) - ARCH_RETURN_POP);
	if (!f) {
		/* with a full stack of open calls it is the return of one that was too deep: counted at entry */
		if (depth < OPEN_CALLS && !stopped)
			count_one(&c->orphan_return);
		return 0;
	}
	depth = t->depth;
	count_one(&c->returned);
	if (result && !depth) {
		if (result != CUDA_ERROR_NOT_READY)
			count_one(&c->failed);
		count_result(api, result);
	}
	if (latency && !depth)
		lat_return(id, f->t_entry);
	if (stacks && stacks_slow_ns && !depth && now - f->t_entry >= stacks_slow_ns)
		stack_at_return(ctx, id, api, f->t_entry);
	count_one(emit_call(f, id, depth, now, result) ? &c->recorded : &c->lost_ring);
	return 0;
}

#endif
