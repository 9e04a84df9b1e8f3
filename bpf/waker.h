/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who ends the waits in a futex of a thread that is inside a call (struct gpubpf_waker). Every wait is told, however
 * short: it costs a record beside two switches. The waker is seen at sched_waking, which comes in its context: unless
 * that is an interrupt, which has come upon whoever was running. Without the processor's preemption count the two
 * cannot be told apart, and nobody is named.
 */
#ifndef GPUBPF_WAKER_H
#define GPUBPF_WAKER_H

#include "arch.h"
#include "cookie.h"
#include "kernel.h"
#include "maps.h"
#include "task.h"
#include "watched.h"

/*
 * linux/preempt.h: 8 bits of preemption, 8 of softirqs, the lowest of which says that one runs (the others: they are
 * held off), then hardirqs and NMIs, whichever bits those are, but for the top one.
 */
#define PREEMPT_SOFTIRQ_SERVED 0x100u
#define PREEMPT_HARD 0x7fff0000u

#define PF_EXITING 0x00000004 /* linux/sched.h */
#define PF_KTHREAD 0x00200000

/* linux/futex.h */
#define FUTEX_CMD_MASK 127
#define FUTEX_CLOCK_REALTIME 256
#define FUTEX_WAIT 0
#define FUTEX_LOCK_PI 6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_WAIT_REQUEUE_PI 11
#define FUTEX_LOCK_PI2 13
#define CLOCK_REALTIME 0

/* A thread can be on its way to sleep for so long after it can be woken; what is older belongs to no wait. */
#define WAKING_EARLY_NS 1000000

/* ---- Of the one that waits, as it is switched out ---- */

struct timespec64 {
	__s64 sec, nsec;
};

static __always_inline void wait_limit(struct lat_wait *w, __u64 from, __u32 clock)
{
	struct timespec64 ts;

	if (!from)
		return;
	if (bpf_probe_read_user(&ts, sizeof(ts), (void *)from)) {
		w->flags |= GPUBPF_WAKER_NO_LIMIT;
		return;
	}
	w->limit = (__u64)ts.sec * 1000000000 + (__u64)ts.nsec;
	w->flags |= GPUBPF_WAKER_LIMIT | clock;
}

static __always_inline void wait_begin(struct lat_wait *w, __s64 nr, const __u64 *args)
{
	__u32 op = (__u32)args[1], clock;

	w->futex = args[0];
	w->limit = 0;
	w->op = 0;
	w->flags = 0;
	if (ARCH_IS_FUTEX_WAITV(nr)) {
		w->flags = GPUBPF_WAKER_VECTOR;
		wait_limit(w, args[3], (__u32)args[4] == CLOCK_REALTIME ? GPUBPF_WAKER_REALTIME : 0);
		return;
	}
	if (ARCH_IS_FUTEX_WAIT(nr)) {
		wait_limit(w, args[4], (__u32)args[5] == CLOCK_REALTIME ? GPUBPF_WAKER_REALTIME : 0);
		return;
	}
	w->op = op;
	clock = op & FUTEX_CLOCK_REALTIME ? GPUBPF_WAKER_REALTIME : 0;
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		wait_limit(w, args[3], GPUBPF_WAKER_RELATIVE);
		return;
	case FUTEX_LOCK_PI:
		wait_limit(w, args[3], GPUBPF_WAKER_REALTIME);
		return;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case FUTEX_LOCK_PI2:
		wait_limit(w, args[3], clock);
		return;
	}
}

/* As it comes back, ready since t_wake. */
static __always_inline void wait_emit(const struct lat *l, __u64 t_wake)
{
	struct gpubpf_waker *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	const struct lat_wait *w = &l->wait;

	if (!r) {
		global_add(GPUBPF_G_WAKER_LOST);
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->kind = GPUBPF_REC_WAKER;
	r->size = sizeof(*r);
	r->flags = w->flags;
	r->tid = l->tid;
	r->tgid = l->tgid;
	r->t_entry = l->entry.t;
	r->t_wait = l->since;
	r->t_wake = t_wake;
	r->futex = w->futex;
	r->limit = w->limit;
	r->op = w->op;
	r->api = l->api;
	if (w->t && w->t + WAKING_EARLY_NS >= l->since) {
		r->how = w->how;
		r->by = w->by;
		r->flags |= w->by_flags;
		r->waker_tgid = w->tgid;
		r->waker_tid = w->tid;
		r->waker_api = w->api;
		r->waker_entry = w->entry;
		__builtin_memcpy(r->comm, w->comm, sizeof(r->comm));
	}
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* ---- Of the one that wakes ---- */

static __always_inline __u32 waker_how(struct task_struct *me, __u32 tid)
{
	const void *rq = NULL;
	__u32 count = 0;

	if (!tid) /* the idle thread wakes nobody by itself */
		return GPUBPF_WAKER_INTERRUPT;
	if (preempt_count_from_rq && bpf_core_field_exists(me->se.cfs_rq->rq))
		rq = BPF_CORE_READ(me, se.cfs_rq, rq);
	if (!arch_preempt_count(me, rq, preempt_count_from_rq, &count))
		return GPUBPF_WAKER_UNKNOWN;
	if (bpf_core_field_exists(me->softirq_disable_cnt))
		count |= (__u32)BPF_CORE_READ(me, softirq_disable_cnt) & PREEMPT_SOFTIRQ_SERVED;
	return count & (PREEMPT_HARD | PREEMPT_SOFTIRQ_SERVED) ? GPUBPF_WAKER_INTERRUPT : GPUBPF_WAKER_THREAD;
}

static __always_inline __u32 waker_by(struct task_struct *me)
{
	__u64 args[ARCH_SYSCALL_ARGS] = { 0 };
	__u32 flags = BPF_CORE_READ(me, flags);
	__s64 nr;

	if (flags & PF_KTHREAD)
		return GPUBPF_WAKER_BY_KERNEL;
	if (flags & PF_EXITING)
		return GPUBPF_WAKER_BY_EXIT;
	nr = arch_syscall(own_regs(me), args);
	if (ARCH_IS_FUTEX_WAKE(nr))
		return GPUBPF_WAKER_BY_FUTEX;
	return GPUBPF_WAKER_BY_OTHER;
}

/* Only the thread itself changes its entry, and it is at this. */
static __always_inline void waker_call(struct lat_wait *w)
{
	__u32 tid = w->tid;
	const struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	const struct lat *own;

	if (!t || t->tgid != w->tgid)
		return;
	w->by_flags = GPUBPF_WAKER_TRACED;
	if (t->tracer) {
		w->by_flags |= GPUBPF_WAKER_TRACER;
	} else if (t->depth) {
		w->by_flags |= GPUBPF_WAKER_IN_CALL;
		w->api = COOKIE_API(t->frames[0].cookie);
		w->entry = t->frames[0].t_entry;
	} else {
		own = lat_own(tid);
		if (!own || t->last_launch > own->before.t)
			w->by_flags |= GPUBPF_WAKER_UNSURE;
	}
}

static __always_inline void waker_take(struct lat_wait *w)
{
	struct task_struct *me = (void *)bpf_get_current_task();
	__u64 id = bpf_get_current_pid_tgid();

	w->t = bpf_ktime_get_ns();
	w->how = waker_how(me, (__u32)id);
	w->by = w->by_flags = 0;
	w->tgid = w->tid = w->api = 0;
	w->entry = 0;
	__builtin_memset(w->comm, 0, sizeof(w->comm));
	if (w->how != GPUBPF_WAKER_THREAD)
		return;
	w->tgid = id >> 32;
	w->tid = (__u32)id;
	w->by = waker_by(me);
	bpf_get_current_comm(w->comm, sizeof(w->comm));
	waker_call(w);
}

#endif
