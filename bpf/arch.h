/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the architectures, behind one contract. Each arch_*.h gives
 *
 *   ARCH_REG_WORDS        integer arguments passed in registers
 *   ARCH_STACK_ARGS       where the first stack argument stands, from SP at function entry
 *   ARCH_RETURN_POP       SP after the return minus SP at entry
 *   arch_ip(), arch_sp()  of a probed context
 *   arch_result()         low 32 bits of the return value
 *   arch_caller()         the return address, at function entry
 *   arch_frame_waits()    whether the return address of a call that was entered at `sp` is still the trampoline
 *   arch_fp()             the frame pointer
 *   arch_saved()          the other registers that a function preserves, into saved[0 … ARCH_SAVED-1]
 *   arch_words()          the register arguments into words[0 … ARCH_REG_WORDS-1]
 *   arch_syscall()        of the registers that a task came into the kernel with: the system call's number, negative
 *                         when it is none, and its six arguments
 *   ARCH_IS_FUTEX(), …    of such a number; ARCH_FUTEX is futex() itself
 *   arch_preempt_count()  what this processor is in the middle of (linux/preempt.h), of its task and run queue; 0: not
 *                         known
 *   ARCH_STACK_BYTES      size of a kernel stack, where the kernel's types do not say it
 *
 * The layout of the context is UAPI on both (arch/…/include/uapi/asm/ptrace.h).
 */
#ifndef GPUBPF_ARCH_H
#define GPUBPF_ARCH_H

#define ARCH_SYSCALL_ARGS 6

#if defined(__TARGET_ARCH_x86)
#include "arch_x86.h"
#elif defined(__TARGET_ARCH_arm64)
#include "arch_arm64.h"
#else
#error "gpubpf knows x86-64 and aarch64; another architecture needs its own arch_*.h"
#endif

#endif
