/* SPDX-License-Identifier: BSD-2-Clause */
/* System V ABI, AMD64: see usdt/probe.h. */
#ifndef GPUBPF_USDT_PROBE_X86_64_H
#define GPUBPF_USDT_PROBE_X86_64_H

#define GPUBPF_PROBE_REG1 "rdi"
#define GPUBPF_PROBE_REG2 "rsi"
#define GPUBPF_PROBE_REG3 "rdx"
#define GPUBPF_PROBE_ARGS "8@%%rdi 8@%%rsi 8@%%rdx"

/*
 * One byte, 0x90. The kernel emulates it at a probe: 580 to 710 ns a hit with an empty program (Linux 6.18), where
 * an instruction that must be single-stepped takes 9,100 to 10,400. Nobody attached: below what can be measured.
 * The 5-byte nop, which Linux since about 6.16 turns into a call, takes 457 ns, but that call pushes its return
 * address into the red zone of a leaf function, and in a forked child it jumps to a page that the child does not
 * have (SIGSEGV); before 6.16 it is single-stepped. With batches of 32 records the 5-byte nop would save 8 ns a
 * record. tests/usdt/kernel_view.c forks at an attached site.
 */
#define GPUBPF_PROBE_INSN "nop"

#endif
