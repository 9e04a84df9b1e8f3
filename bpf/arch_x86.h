/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64 System V: rdi rsi rdx rcx r8 r9, then the stack above the return address. */
#ifndef GPUBPF_ARCH_X86_H
#define GPUBPF_ARCH_X86_H

#define ARCH_REG_WORDS 6
#define ARCH_STACK_ARGS 8
#define ARCH_RETURN_POP 8
#define ARCH_SAVED 5

struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp,
		ss;
};

/* arch/x86/entry/syscalls/syscall_64.tbl */
#define ARCH_FUTEX 202
#define ARCH_IS_FUTEX(nr) ((nr) == ARCH_FUTEX || ARCH_IS_FUTEX_WAITV(nr) || ARCH_IS_FUTEX_WAIT(nr))
#define ARCH_IS_FUTEX_WAITV(nr) ((nr) == 449)
#define ARCH_IS_FUTEX_WAIT(nr) ((nr) == 455)
#define ARCH_IS_FUTEX_WAKE(nr)                                                                               \
	((nr) == ARCH_FUTEX || (nr) == 454 || (nr) == 456) /* futex, futex_wake, futex_requeue */
#define ARCH_IS_IOCTL(nr) ((nr) == 16)
#define ARCH_IS_POLL(nr)                                                                                     \
	((nr) == 7 || (nr) == 23 || (nr) == 232 || (nr) == 270 || (nr) == 271 || (nr) == 281 || (nr) == 441)
#define ARCH_IS_SLEEP(nr) ((nr) == 35 || (nr) == 230)
#define ARCH_STACK_BYTES 16384

/* orig_ax is -1 in an exception or interrupt. */
static __always_inline __s64 arch_syscall(const void *regs, __u64 *args)
{
	struct pt_regs r = { .orig_ax = -1 };

	bpf_probe_read_kernel(&r, sizeof(r), regs);
	args[0] = r.di;
	args[1] = r.si;
	args[2] = r.dx;
	args[3] = r.r10;
	args[4] = r.r8;
	args[5] = r.r9;
	return (__s64)r.orig_ax;
}

/* Of this processor's own variables; from_rq says where it stands from the run queue of the processor on. */
static __always_inline int arch_preempt_count(const void *task, const void *rq, __s64 from_rq, __u32 *count)
{
	(void)task;
	return rq && from_rq && !bpf_probe_read_kernel(count, sizeof(*count), rq + from_rq);
}

static __always_inline __u64 arch_ip(const struct pt_regs *ctx)
{
	return ctx->ip;
}

static __always_inline __u64 arch_sp(const struct pt_regs *ctx)
{
	return ctx->sp;
}

static __always_inline __s32 arch_result(const struct pt_regs *ctx)
{
	return (__s32)ctx->ax;
}

static __always_inline __u64 arch_caller(const struct pt_regs *ctx)
{
	__u64 caller = 0;

	bpf_probe_read_user(&caller, sizeof(caller), (void *)ctx->sp);
	return caller;
}

static __always_inline int arch_frame_waits(__u64 sp, __u64 trampoline)
{
	__u64 caller = 0;

	return !bpf_probe_read_user(&caller, sizeof(caller), (void *)sp) && caller == trampoline;
}

static __always_inline __u64 arch_fp(const struct pt_regs *ctx)
{
	return ctx->bp;
}

static __always_inline void arch_saved(const struct pt_regs *ctx, __u64 *saved)
{
	saved[0] = ctx->bx;
	saved[1] = ctx->r12;
	saved[2] = ctx->r13;
	saved[3] = ctx->r14;
	saved[4] = ctx->r15;
}

static __always_inline void arch_words(const struct pt_regs *ctx, __u64 *words)
{
	words[0] = ctx->di;
	words[1] = ctx->si;
	words[2] = ctx->dx;
	words[3] = ctx->cx;
	words[4] = ctx->r8;
	words[5] = ctx->r9;
}

#endif
