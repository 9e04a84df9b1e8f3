/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches in a row, the cheapest record there is. A thread that launches as fast as it can pays more for a place in
 * the ring (a lock, a barrier, memory that no cache holds) than for everything else, so it keeps such launches beside
 * its other state and hands several over at once: when there is room for no more, and before any other record of
 * the thread, so that its records stay in order. What a thread keeps when the recording ends, user space reads.
 */
#ifndef GPUBPF_ROW_H
#define GPUBPF_ROW_H

#include "arch.h"
#include "cookie.h"
#include "maps.h"
#include "task.h"

static __always_inline struct gpubpf_counts *counts_of(__u32 api)
{
	return bpf_map_lookup_elem(&counts, &api);
}

static __noinline int row_lost(struct thread *t)
{
	for (__u32 i = 0; i < ROW_LAUNCHES; i++) {
		struct gpubpf_counts *c;

		if (!t || i >= t->row.n)
			break;
		c = counts_of(t->row.launches[i].api);
		if (c)
			count_one(&c->row_lost);
	}
	return 0;
}

static __always_inline void row_flush(struct thread *t)
{
	__u64 n = t->row.n, size;

	barrier_var(n);
	if (!n || n > ROW_LAUNCHES)
		return;
	size = __builtin_offsetof(struct row, launches) + n * sizeof(struct row_launch);
	t->row.size = size;
	if (bpf_ringbuf_output(&ring, &t->row, size, BPF_RB_NO_WAKEUP))
		row_lost(t);
	t->row.n = 0;
}

/* The flags that this gives. */
static __always_inline __u32 fill_words(struct pt_regs *ctx, __u64 *words, __u64 cookie, __u64 sp)
{
	arch_words(ctx, words);
	if (COOKIE_NARGS(cookie) > ARCH_REG_WORDS &&
	    bpf_probe_read_user(&words[ARCH_REG_WORDS], 8 * (GPUBPF_WORDS_MAX - ARCH_REG_WORDS),
				(void *)(sp + ARCH_STACK_ARGS)))
		return GPUBPF_CALL_STACK_FAULT;
	return 0;
}

static __always_inline void row_add(struct pt_regs *ctx, struct thread *t, struct gpubpf_counts *c,
				    __u64 cookie, __u64 sp, __u64 now)
{
	__u64 n = t->row.n;
	struct row_launch *l;

	barrier_var(n);
	if (n >= ROW_LAUNCHES)
		n = 0;
	l = &t->row.launches[n];
	l->t_entry = now;
	l->api = COOKIE_API(cookie);
	l->flags = fill_words(ctx, l->words, cookie, sp);
	count_one(&c->row);
	t->row.n = n + 1;
	if (n + 1 == ROW_LAUNCHES)
		row_flush(t);
}

#endif
