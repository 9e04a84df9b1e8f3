/* SPDX-License-Identifier: GPL-2.0-or-later */
/* x86-64 System V: rdi rsi rdx rcx r8 r9, then the stack above the return address. */
#ifndef GPUBPF_ARCH_X86_H
#define GPUBPF_ARCH_X86_H

#define ARCH_REG_WORDS 6
#define ARCH_STACK_ARGS 8
#define ARCH_RETURN_POP 8

struct pt_regs {
	__u64 r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp,
		ss;
};

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
