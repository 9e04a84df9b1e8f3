/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host observer. Which of the call programs is loaded depends on what the kernel offers
 * (user/attach/attach.c): call_session (6.13), call_entry and call_return on multi-links (6.6) or on perf
 * events. Where there are no attach cookies (before 5.15) the _percall pair is loaded once per entry point.
 */
#include <linux/bpf.h>
#include <linux/types.h>

typedef unsigned char bool; /* bpf_helpers.h of newer libbpf names it */

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "arch.h"
#include "kernel.h"
#include "events.h"
#include "call.h"
#include "latency.h"
#include "shim.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * From Linux 6.13 (x86-64; aarch64 6.17) the JIT gives a program with a large stack one per CPU instead of the
 * task's, taking programs of this type for ones that nothing preempts. Uprobes can be preempted, and the next
 * task's run on that CPU then overwrites the locals of the first. A program that holds a tail call keeps to the
 * task's stack; this one is never reached. Programs of two attach types cannot hold the same array.
 */
struct no_program {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
};
struct no_program no_program SEC(".maps"), no_shim_program SEC(".maps");

#define stay_on_task_stack(ctx, array)                                                                       \
	do {                                                                                                 \
		if (never)                                                                                   \
			bpf_tail_call(ctx, array, 0);                                                        \
	} while (0)

/*
 * Entry and return in one program. The kernel says which of the two it is through the kfunc
 * bpf_session_is_return(), whose prototype has changed since; that the instruction pointer has left the
 * probed address says the same on every kernel.
 */
SEC("uprobe")
int call_session(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);

	stay_on_task_stack(ctx, &no_program);
	if (arch_ip(ctx) == bpf_get_func_ip(ctx))
		return call_enter(ctx, cookie);
	return call_return(ctx, cookie);
}

SEC("uprobe")
int call_entry(struct pt_regs *ctx)
{
	stay_on_task_stack(ctx, &no_program);
	call_enter(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

SEC("uretprobe")
int call_exit(struct pt_regs *ctx)
{
	stay_on_task_stack(ctx, &no_program);
	return call_return(ctx, bpf_get_attach_cookie(ctx));
}

/* The volatile asm keeps the constant whole in one 64-bit load that user space finds and replaces. */
static __always_inline __u64 patched_cookie(void)
{
	__u64 cookie;

	asm volatile("%0 = %1 ll" : "=r"(cookie) : "i"(COOKIE_PATCH));
	return cookie;
}

SEC("uprobe")
int call_entry_percall(struct pt_regs *ctx)
{
	stay_on_task_stack(ctx, &no_program);
	call_enter(ctx, patched_cookie());
	return 0;
}

SEC("uretprobe")
int call_exit_percall(struct pt_regs *ctx)
{
	stay_on_task_stack(ctx, &no_program);
	return call_return(ctx, patched_cookie());
}

SEC("uprobe")
int shim_probe(struct pt_regs *ctx)
{
	stay_on_task_stack(ctx, &no_shim_program);
	return shim_hit(ctx, bpf_get_attach_cookie(ctx));
}

SEC("uprobe")
int shim_probe_percall(struct pt_regs *ctx)
{
	stay_on_task_stack(ctx, &no_shim_program);
	return shim_hit(ctx, patched_cookie());
}

SEC("raw_tp/sched_process_fork")
int on_fork(struct raw_tp_args *ctx)
{
	struct task_struct *parent = (void *)ctx->arg[0], *child = (void *)ctx->arg[1];
	__u32 ptgid = BPF_CORE_READ(parent, tgid), tgid = BPF_CORE_READ(child, tgid), copy, *flags;

	if (ptgid == tgid)
		return 0;
	flags = target_of(parent, ptgid);
	if (!flags || !(*flags & TARGET_FOLLOW))
		return 0;
	copy = *flags;
	if (bpf_map_update_elem(&targets, &tgid, &copy, BPF_ANY)) {
		global_add(GPUBPF_G_TARGETS_FULL);
		return 0;
	}
	emit_task(child, GPUBPF_TASK_FORK, ptgid, 0, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* What a thread was inside of when it ended. Not part of `recorded`: `abandoned` counts these calls. */
static __always_inline void emit_open(const struct frame *f, __u64 id, __u32 depth)
{
	struct gpubpf_call *r = bpf_ringbuf_reserve(&ring, SIZE_LONG, 0);

	if (!r) {
		global_add(GPUBPF_G_TASK_LOST);
		return;
	}
	fill_header(r, f, id, depth, GPUBPF_WORDS_MAX);
	r->flags |= GPUBPF_CALL_OPEN;
	__builtin_memcpy(r->words, f->words, sizeof(f->words));
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* Thread exit or exec: every call that was open in it is over without a return. */
static __always_inline void thread_end(__u32 tid)
{
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	struct gpubpf_counts *c;

	if (!t)
		return;
	if (closed) {
		t->left = 1;
		return;
	}
	row_flush(t);
	if (latency)
		lat_end(tid);
	for (__u32 i = 0; i < OPEN_CALLS && i < t->depth; i++) {
		struct frame *f = frame_at(t, i);

		c = counts_of(COOKIE_API(f->cookie));
		if (c)
			count_one(&c->abandoned);
		emit_open(f, (__u64)t->tgid << 32 | tid, i);
	}
	bpf_map_delete_elem(&threads, &tid);
}

SEC("raw_tp/sched_process_exec")
int on_exec(struct raw_tp_args *ctx)
{
	struct task_struct *task = (void *)ctx->arg[0];
	__u32 old_tid = (__u32)ctx->arg[1], tgid = BPF_CORE_READ(task, tgid);

	if (!target_of(task, tgid))
		return 0;
	thread_end(old_tid);
	thread_end(tgid);
	if (!closed)
		emit_task(task, GPUBPF_TASK_EXEC, old_tid, 0, BPF_RB_FORCE_WAKEUP);
	return 0;
}

SEC("raw_tp/sched_process_exit")
int on_exit(struct raw_tp_args *ctx)
{
	struct task_struct *task = (void *)ctx->arg[0];
	__u32 tid = BPF_CORE_READ(task, pid), tgid = BPF_CORE_READ(task, tgid);
	struct thread *t = bpf_map_lookup_elem(&threads, &tid);
	int last = BPF_CORE_READ(task, signal, live.counter) == 0;

	thread_end(tid);
	if (closed)
		return 0;
	if (last && (t || target_of(task, tgid))) {
		emit_task(task, GPUBPF_TASK_EXIT, 0, BPF_CORE_READ(task, exit_code), BPF_RB_FORCE_WAKEUP);
		target_gone(task, tgid);
	} else if (t) {
		emit_task(task, GPUBPF_TASK_THREAD_EXIT, 0, 0, BPF_RB_NO_WAKEUP);
	}
	return 0;
}

/* (bool preempt, prev, next, …) on every kernel. Nearly all of the machine's switches end at the first test. */
SEC("tp_btf/sched_switch")
int on_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	int out = is_watched(prev->pid), in = is_watched(next->pid);
	__u64 now;

	if (!out && !in)
		return 0;
	now = bpf_ktime_get_ns();
	if (out)
		switch_out(prev, ctx[0], now);
	if (in)
		switch_in(next, now);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int on_wakeup(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (is_watched(task->pid))
		wake(task);
	return 0;
}

SEC("tp_btf/sched_waking")
int on_waking(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];

	if (is_watched(task->pid))
		waking(task);
	return 0;
}

/* nvidia:nvidia_dev_xid (pci device, code, message): the driver's own word on a GPU error. */
SEC("raw_tp/nvidia_dev_xid")
int on_xid(struct raw_tp_args *ctx)
{
	struct pci_dev *dev = (void *)ctx->arg[0];
	struct gpubpf_xid *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);

	if (!r) {
		global_add(GPUBPF_G_XID_LOST);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->kind = GPUBPF_REC_XID;
	r->size = sizeof(*r);
	r->time = bpf_ktime_get_ns();
	r->code = (__u32)ctx->arg[1];
	bpf_probe_read_kernel_str(r->device, sizeof(r->device), BPF_CORE_READ(dev, dev.kobj.name));
	bpf_probe_read_kernel_str(r->message, sizeof(r->message), (void *)ctx->arg[2]);
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}
