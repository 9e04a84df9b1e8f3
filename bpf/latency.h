/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of a thread goes, inside its calls and between them. Switches and wakeups add to sums that never
 * go back; entry and return of a call at depth 0, made by the thread itself, take down what the sums are then. What
 * lies between two such points is their difference, so that a switch in the middle of taking one harms neither: it
 * is seen by its number and the point is taken again.
 *
 * What a blocked thread waits for is asked once, when it is switched out: the registers with which it came into the
 * kernel tell its system call. No system call is traced for that, which would slow down those of the whole machine.
 *
 * Wakeups are sched_wakeup: sched_waking may come before the switch that it belongs to. It alone comes in the context of
 * whoever wakes (waker.h): where the wakeup is handed to another processor, sched_wakeup comes in an interrupt there.
 */
#ifndef GPUBPF_BPF_LATENCY_H
#define GPUBPF_BPF_LATENCY_H

#include "arch.h"
#include "kernel.h"
#include "maps.h"
#include "task.h"
#include "waker.h"
#include "watched.h"

enum { LAT_NEW, LAT_ON_CPU, LAT_READY, LAT_BLOCKED };

#define TASK_STOPPED_OR_TRACED 0xc /* __TASK_STOPPED | __TASK_TRACED, linux/sched.h */
#define MODE_FORMAT 0170000        /* linux/stat.h */
#define MODE_CHAR 0020000
#define DEV_MAJOR(rdev) ((rdev) >> 20) /* linux/kdev_t.h, inside the kernel */
#define POINT_TRIES 3

static const struct lat zero_lat;

/* ---- Points: by the thread itself ---- */

static __always_inline void lat_begin(__u32 tid)
{
	struct lat *l;

	if (latency == LATENCY_STORAGE) {
		l = bpf_task_storage_get(&lat_storage, bpf_get_current_task_btf(), NULL,
					 BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (l) /* of what the thread was before an exec, too */
			__builtin_memcpy(l, &zero_lat, sizeof(*l));
	} else {
		bpf_map_update_elem(&lat_hash, &tid, &zero_lat, BPF_ANY);
		l = bpf_map_lookup_elem(&lat_hash, &tid);
	}
	if (!l) {
		global_add(GPUBPF_G_LATENCY_FULL);
		return;
	}
	l->tid = tid;
	l->tgid = bpf_get_current_pid_tgid() >> 32;
	l->cpu = bpf_get_smp_processor_id();
	l->since = bpf_ktime_get_ns();
	l->state = LAT_ON_CPU;
	__sync_fetch_and_add(&watched[tid & (WATCHED - 1)], 1);
}

static __always_inline void lat_end(__u32 tid)
{
	struct lat *l = lat_own(tid);

	if (!l || l->tid != tid)
		return;
	l->tid = 0;
	l->state = LAT_NEW;
	if (latency == LATENCY_HASH)
		bpf_map_delete_elem(&lat_hash, &tid);
	__sync_fetch_and_add(&watched[tid & (WATCHED - 1)], -1);
}

static __always_inline void point_faults(struct lat_point *p)
{
	if (latency == LATENCY_STORAGE) {
		struct task_struct *task = bpf_get_current_task_btf();

		p->faults = task->min_flt;
		p->major_faults = task->maj_flt;
	} else {
		struct task_struct *task = (void *)bpf_get_current_task();

		p->faults = BPF_CORE_READ(task, min_flt);
		p->major_faults = BPF_CORE_READ(task, maj_flt);
	}
	p->faults += p->major_faults;
}

static __always_inline void point_take(struct lat *l, struct lat_point *p)
{
	volatile __u32 *number = &l->number;
	__u64 now;

	if (l->state != LAT_ON_CPU) { /* it runs, so it was switched in and that was not seen */
		l->sum.missed++;
		l->number++;
		l->since = bpf_ktime_get_ns();
		l->state = LAT_ON_CPU;
	}
	for (int i = 0; i < POINT_TRIES; i++) {
		p->number = *number;
		barrier();
		p->off = l->sum;
		now = bpf_ktime_get_ns();
		p->t = now;
		p->on_cpu = l->on_cpu + (now - l->since);
		barrier();
		if (p->number == *number)
			break;
		if (i == POINT_TRIES - 1) {
			l->sum.missed++;
			l->number++;
		}
	}
	point_faults(p);
}

/* The entry of a call, by the clock that the breakdown adds up to; 0: nothing is kept for the thread. */
static __always_inline __u64 lat_enter(__u32 tid, __u32 api)
{
	struct lat *l = lat_own(tid);

	if (!l)
		return 0;
	/* the last one was left without a return: what came before this one is no gap */
	if (l->open)
		l->before.t = 0;
	l->open = 1;
	l->api = api;
	point_take(l, &l->entry);
	return l->entry.t;
}

/* At a return, before it is known of which call: 0 as above. */
static __always_inline __u64 lat_now(__u32 tid)
{
	struct lat *l = lat_own(tid);

	if (!l)
		return 0;
	point_take(l, &l->now);
	return l->now.t;
}

static __always_inline void fill_part(struct gpubpf_latency_part *r, const struct lat_point *from,
				      const struct lat_point *to)
{
	r->on_cpu = to->on_cpu - from->on_cpu;
	r->irq = 0;
	r->faults = to->faults - from->faults;
	r->major_faults = to->major_faults - from->major_faults;
}

static __always_inline void fill_off(struct gpubpf_latency_off *r, const struct lat_point *from,
				     const struct lat_point *to)
{
	const struct gpubpf_latency_off *a = &from->off, *b = &to->off;

	r->runqueue = b->runqueue - a->runqueue;
	r->throttled = b->throttled - a->throttled;
	for (int i = 0; i < GPUBPF_WAITS_ROOM; i++)
		r->blocked[i] = b->blocked[i] - a->blocked[i];
	r->voluntary = b->voluntary - a->voluntary;
	r->involuntary = b->involuntary - a->involuntary;
	r->migrations = b->migrations - a->migrations;
	r->missed = b->missed - a->missed;
	r->ioctl_major = b->ioctl_major;
	r->reserved = 0;
}

static __always_inline void fill_latency(struct gpubpf_latency *r, const struct lat *l, __u64 id)
{
	r->kind = GPUBPF_REC_LATENCY;
	r->flags = (l->before.t ? GPUBPF_LATENCY_GAP : 0) |
		   (latency_throttled ? GPUBPF_LATENCY_THROTTLED : 0);
	r->tgid = id >> 32;
	r->tid = (__u32)id;
	r->t_entry = l->entry.t;
	r->t_return = l->now.t;
	r->t_before = l->before.t;
	fill_part(&r->call, &l->entry, &l->now);
	if (l->before.t)
		fill_part(&r->gap, &l->before, &l->entry);
	else
		__builtin_memset(&r->gap, 0, sizeof(r->gap));
}

/* Most calls find and leave their thread on one processor, and a fifth of the record says it all. */
static __always_inline int lat_emit(const struct lat *l, __u64 id)
{
	struct gpubpf_latency_long *r;
	struct gpubpf_latency *s;

	if (l->now.number == l->entry.number && (l->entry.number == l->before.number || !l->before.t)) {
		s = bpf_ringbuf_reserve(&ring, sizeof(*s), 0);
		if (!s)
			return 0;
		fill_latency(s, l, id);
		s->size = sizeof(*s);
		bpf_ringbuf_submit(s, BPF_RB_NO_WAKEUP);
		return 1;
	}
	r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	if (!r)
		return 0;
	fill_latency(&r->head, l, id);
	r->head.size = sizeof(*r);
	r->head.flags |= GPUBPF_LATENCY_OFF;
	fill_off(&r->call, &l->entry, &l->now);
	if (l->before.t)
		fill_off(&r->gap, &l->before, &l->entry);
	else
		__builtin_memset(&r->gap, 0, sizeof(r->gap));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 1;
}

static __always_inline void lat_return(__u64 id, __u64 t_entry)
{
	struct lat *l = lat_own((__u32)id);

	if (!l || !l->open || l->entry.t != t_entry)
		return;
	if (!lat_emit(l, id))
		global_add(GPUBPF_G_LATENCY_LOST);
	l->open = 0;
	l->before = l->now;
}

/* ---- Switches ---- */

/* Major of the character device behind a descriptor; 0: none. */
static __always_inline __u32 fd_major(struct task_struct *task, __u32 fd)
{
	struct fdtable *fdt = BPF_CORE_READ(task, files, fdt);
	struct file **table, *file = NULL;
	struct inode *inode;

	if (!fdt || fd >= BPF_CORE_READ(fdt, max_fds))
		return 0;
	table = BPF_CORE_READ(fdt, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &table[fd]);
	if (!file)
		return 0;
	inode = BPF_CORE_READ(file, f_inode);
	if (!inode || (BPF_CORE_READ(inode, i_mode) & MODE_FORMAT) != MODE_CHAR)
		return 0;
	return DEV_MAJOR(BPF_CORE_READ(inode, i_rdev));
}

static __always_inline __u32 ioctl_cause(struct task_struct *task, struct lat *l, __u32 fd)
{
	__u32 major = fd_major(task, fd), cause = GPUBPF_WAIT_IOCTL;

	l->sum.ioctl_major = major;
	for (int i = 0; i < NVIDIA_MAJORS; i++) {
		if (major && nvidia_majors[i] == major)
			cause = GPUBPF_WAIT_IOCTL_NVIDIA;
	}
	return cause;
}

static __always_inline __u32 block_cause(struct task_struct *task, struct lat *l, __u64 state)
{
	__u64 args[ARCH_SYSCALL_ARGS] = { 0 };
	__s64 nr;

	if (state & TASK_STOPPED_OR_TRACED)
		return GPUBPF_WAIT_OTHER;
	nr = arch_syscall(entry_regs(task), args);
	if (nr < 0)
		return GPUBPF_WAIT_FAULT;
	if (ARCH_IS_FUTEX(nr)) {
		if (l->open)
			wait_begin(&l->wait, nr, args);
		return GPUBPF_WAIT_FUTEX;
	}
	if (ARCH_IS_IOCTL(nr))
		return ioctl_cause(task, l, (__u32)args[0]);
	if (ARCH_IS_POLL(nr))
		return GPUBPF_WAIT_POLL;
	return ARCH_IS_SLEEP(nr) ? GPUBPF_WAIT_SLEEP : GPUBPF_WAIT_OTHER;
}

static __always_inline __u64 task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return BPF_CORE_READ(old, state);
}

/* Its control group has used up its quota of processor time. */
static __always_inline int is_throttled(struct task_struct *task)
{
	struct task_struct___6_18 *t = (void *)task;

	if (!latency_throttled)
		return 0;
	if (bpf_core_field_exists(t->throttled))
		return BPF_CORE_READ(t, throttled);
	return BPF_CORE_READ(task, se.cfs_rq, throttle_count) > 0;
}

static __always_inline void charge_own(struct lat *l, __u64 now)
{
	if (l->state == LAT_ON_CPU)
		l->on_cpu += now - l->since;
	else
		l->sum.missed++;
}

static __always_inline void switch_out(struct task_struct *task, __u64 preempted, __u64 now)
{
	struct lat *l = lat_of(task, task->pid);
	__u64 state;

	if (!l || l->state == LAT_NEW)
		return;
	charge_own(l, now);
	l->number++;
	l->since = now;
	l->woken = 0;
	l->throttled = 0;
	state = preempted & 1 ? 0 : task_state(task);
	if (!state) {
		l->sum.involuntary++;
		l->throttled = is_throttled(task);
		l->state = LAT_READY;
		return;
	}
	l->sum.voluntary++;
	l->cause = block_cause(task, l, state);
	l->state = LAT_BLOCKED;
}

static __always_inline void charge_away(struct lat *l, __u64 now)
{
	__u64 cause = l->cause, ready = l->since;

	if (l->state == LAT_BLOCKED) {
		ready = l->woken;
		if (!ready || ready < l->since || ready > now)
			ready = now;
		if (l->open && cause == GPUBPF_WAIT_FUTEX)
			wait_emit(l, ready);
		barrier_var(cause);
		l->sum.blocked[cause & (GPUBPF_WAITS_ROOM - 1)] += ready - l->since;
	} else if (l->state != LAT_READY) {
		l->sum.missed++;
		return;
	}
	if (l->throttled)
		l->sum.throttled += now - ready;
	else
		l->sum.runqueue += now - ready;
}

static __always_inline void switch_in(struct task_struct *task, __u64 now)
{
	struct lat *l = lat_of(task, task->pid);
	__u32 cpu = bpf_get_smp_processor_id();

	if (!l || l->state == LAT_NEW)
		return;
	charge_away(l, now);
	l->wait.t = 0;
	if (l->cpu != cpu)
		l->sum.migrations++;
	l->number++;
	l->cpu = cpu;
	l->since = now;
	l->state = LAT_ON_CPU;
}

static __always_inline void wake(struct task_struct *task)
{
	struct lat *l = lat_of(task, task->pid);

	if (!l || l->state != LAT_BLOCKED || l->woken)
		return;
	l->throttled = is_throttled(task);
	l->woken = bpf_ktime_get_ns();
}

/* It may come before the switch that it belongs to; the last one before the thread runs again is the one that counts. */
static __always_inline void waking(struct task_struct *task)
{
	struct lat *l = lat_of(task, task->pid);

	if (!l || !l->open || l->state == LAT_NEW ||
	    (l->state == LAT_BLOCKED && l->cause != GPUBPF_WAIT_FUTEX))
		return;
	waker_take(&l->wait);
}

#endif
