/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AAPCS64: x0 … x7, then the stack from SP itself (the return address is in x30). */
#ifndef GPUBPF_ARCH_ARM64_H
#define GPUBPF_ARCH_ARM64_H

#define ARCH_REG_WORDS 8
#define ARCH_STACK_ARGS 0
#define ARCH_RETURN_POP 0
#define ARCH_SAVED 10

#include <bpf/bpf_core_read.h>

struct pt_regs { /* struct user_pt_regs */
	__u64 regs[31];
	__u64 sp, pc, pstate;
};

/* include/uapi/asm-generic/unistd.h */
#define ARCH_FUTEX 98
#define ARCH_IS_FUTEX(nr) ((nr) == ARCH_FUTEX || ARCH_IS_FUTEX_WAITV(nr) || ARCH_IS_FUTEX_WAIT(nr))
#define ARCH_IS_FUTEX_WAITV(nr) ((nr) == 449)
#define ARCH_IS_FUTEX_WAIT(nr) ((nr) == 455)
#define ARCH_IS_FUTEX_WAKE(nr)                                                                               \
	((nr) == ARCH_FUTEX || (nr) == 454 || (nr) == 456) /* futex, futex_wake, futex_requeue */
#define ARCH_IS_IOCTL(nr) ((nr) == 29)
#define ARCH_IS_POLL(nr) ((nr) == 22 || (nr) == 72 || (nr) == 73 || (nr) == 441)
#define ARCH_IS_SLEEP(nr) ((nr) == 101 || (nr) == 115)
#define ARCH_STACK_BYTES 16384

/* What the kernel has behind struct user_pt_regs; the number is -1 in an exception or interrupt. */
struct pt_regs___kernel {
	__u64 orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));

static __always_inline __s64 arch_syscall(const void *regs, __u64 *args)
{
	const struct pt_regs___kernel *r = regs;
	__s32 nr = -1;

	/* the registers stand first */
	bpf_probe_read_kernel(args, ARCH_SYSCALL_ARGS * sizeof(*args), regs);
	bpf_core_read(&args[0], sizeof(args[0]), &r->orig_x0);
	bpf_core_read(&nr, sizeof(nr), &r->syscallno);
	return nr;
}

struct thread_info___arm64 {
	__u64 preempt_count;
} __attribute__((preserve_access_index));
struct task_struct___arm64 {
	struct thread_info___arm64 thread_info;
} __attribute__((preserve_access_index));

/* In the low half: the high one is about rescheduling. */
static __always_inline int arch_preempt_count(const void *task, const void *rq, __s64 from_rq, __u32 *count)
{
	const struct task_struct___arm64 *t = task;

	(void)rq;
	(void)from_rq;
	if (!bpf_core_field_exists(t->thread_info.preempt_count))
		return 0;
	*count = (__u32)BPF_CORE_READ(t, thread_info.preempt_count);
	return 1;
}

static __always_inline __u64 arch_ip(const struct pt_regs *ctx)
{
	return ctx->pc;
}

static __always_inline __u64 arch_sp(const struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline __s32 arch_result(const struct pt_regs *ctx)
{
	return (__s32)ctx->regs[0];
}

static __always_inline __u64 arch_caller(const struct pt_regs *ctx)
{
	return ctx->regs[30];
}

/* Where the function has put its return address is not known here. */
static __always_inline int arch_frame_waits(__u64 sp, __u64 trampoline)
{
	(void)sp;
	(void)trampoline;
	return 1;
}

static __always_inline __u64 arch_fp(const struct pt_regs *ctx)
{
	return ctx->regs[29];
}

static __always_inline void arch_saved(const struct pt_regs *ctx, __u64 *saved)
{
	saved[0] = ctx->regs[19];
	saved[1] = ctx->regs[20];
	saved[2] = ctx->regs[21];
	saved[3] = ctx->regs[22];
	saved[4] = ctx->regs[23];
	saved[5] = ctx->regs[24];
	saved[6] = ctx->regs[25];
	saved[7] = ctx->regs[26];
	saved[8] = ctx->regs[27];
	saved[9] = ctx->regs[28];
}

static __always_inline void arch_words(const struct pt_regs *ctx, __u64 *words)
{
	words[0] = ctx->regs[0];
	words[1] = ctx->regs[1];
	words[2] = ctx->regs[2];
	words[3] = ctx->regs[3];
	words[4] = ctx->regs[4];
	words[5] = ctx->regs[5];
	words[6] = ctx->regs[6];
	words[7] = ctx->regs[7];
}

#endif
