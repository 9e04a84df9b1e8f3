/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Emits the probe sites of the provider "gpubpf". Every probe has one shape: (pointer, count, sequence), in the
 * first three integer-argument registers of the platform's ABI, so that a BPF program finds them as
 * PT_REGS_PARM1 to 3 on every architecture. usdt/contract.h is what a reader holds the result against.
 *
 *   GPUBPF_PROBE_DEFINE(calls_v1);            at file scope, in one file of the object
 *   GPUBPF_PROBE_DECLARE(calls_v1);           at file scope, in the others
 *   if (GPUBPF_PROBE_ENABLED(calls_v1))       somebody is attached
 *           GPUBPF_PROBE(calls_v1, batch, n, seq);
 *
 * For C and C++, gcc and clang, any optimization, static inline functions and as many sites per probe as one
 * likes. Each argument is evaluated once. Format of the note: systemtap wiki, UserSpaceProbeImplementation.
 */
#ifndef GPUBPF_USDT_PROBE_H
#define GPUBPF_USDT_PROBE_H

/*
 * Each gives GPUBPF_PROBE_REG1 to 3, the registers as a register variable wants them; GPUBPF_PROBE_ARGS, the
 * descriptor as an asm template wants it; and GPUBPF_PROBE_INSN, the instruction at the site.
 */
#if defined(__x86_64__) && defined(__LP64__)
#include "probe_x86_64.h"
#elif defined(__aarch64__) && defined(__LP64__) && defined(__AARCH64EL__)
#include "probe_aarch64.h"
#else
#error "gpubpf has probes for x86-64 and for little-endian aarch64; another architecture needs its own probe_*.h"
#endif

/* Declared as C in both languages: the note names the symbol, which C++ would mangle in a namespace. */
#ifdef __cplusplus
#define GPUBPF_PROBE_EXTERN_ extern "C"
#else
#define GPUBPF_PROBE_EXTERN_ extern
#endif

/*
 * The kernel counts here who is attached. Hidden: each object has its own, and a reference needs no relocation at
 * run time. `used`, because link-time optimization does not see that the note names it.
 */
#define GPUBPF_PROBE_DECLARE(name)                                                                           \
	GPUBPF_PROBE_EXTERN_ volatile unsigned short gpubpf_##name##_semaphore                               \
		__attribute__((visibility("hidden")))
#define GPUBPF_PROBE_DEFINE(name)                                                                            \
	GPUBPF_PROBE_DECLARE(name);                                                                          \
	volatile unsigned short gpubpf_##name##_semaphore __attribute__((section(".probes"), used)) = 0

#define GPUBPF_PROBE_ENABLED(name) __builtin_expect(gpubpf_##name##_semaphore != 0, 0)

/*
 * The note, written once for all architectures. The "?" puts it into the group of the function around it, so that
 * a linker that drops one of several equal inline functions drops its notes too. .stapsdt.base is one byte per
 * object, by whose address a reader sees how far a prelink moved everything.
 */
#define GPUBPF_PROBE_NOTE_(name)                                                                             \
	"	.pushsection .note.stapsdt, \"?\", %%note\n"                                                       \
	"	.balign	4\n"                                                                                       \
	"	.4byte	2f - 1f\n"                                                                                  \
	"	.4byte	4f - 3f\n"                                                                                  \
	"	.4byte	3\n"                                                                                        \
	"1:	.asciz	\"stapsdt\"\n"                                                                            \
	"2:	.balign	4\n"                                                                                     \
	"3:	.8byte	770b\n"                                                                                   \
	"	.8byte	_.stapsdt.base\n"                                                                           \
	"	.8byte	gpubpf_" #name "_semaphore\n"                                                        \
	"	.asciz	\"gpubpf\"\n"                                                                               \
	"	.asciz	\"" #name "\"\n"                                                                     \
	"	.asciz	\"" GPUBPF_PROBE_ARGS "\"\n"                                                         \
	"4:	.balign	4\n"                                                                                     \
	"	.popsection\n"                                                                                     \
	"	.ifndef	_.stapsdt.base\n"                                                                          \
	"	.pushsection .stapsdt.base, \"aG\", %%progbits, .stapsdt.base, comdat\n"                           \
	"	.weak	_.stapsdt.base\n"                                                                            \
	"	.hidden	_.stapsdt.base\n"                                                                          \
	"_.stapsdt.base:\n"                                                                                  \
	"	.space	1\n"                                                                                        \
	"	.size	_.stapsdt.base, 1\n"                                                                         \
	"	.popsection\n"                                                                                     \
	"	.endif\n"

/*
 * The arguments are evaluated before any of them goes into its register: evaluating one may call a function.
 * "memory": whoever is attached reads what the pointer points to, and the compiler must have stored it.
 */
#define GPUBPF_PROBE(name, pointer, count, sequence)                                                         \
	do {                                                                                                 \
		const volatile void *gpubpf_pointer_ = (pointer);                                            \
		__UINT64_TYPE__ gpubpf_count_ = (__UINT64_TYPE__)(count);                                    \
		__UINT64_TYPE__ gpubpf_sequence_ = (__UINT64_TYPE__)(sequence);                              \
		register const volatile void *gpubpf_r1_ __asm__(GPUBPF_PROBE_REG1) = gpubpf_pointer_;       \
		register __UINT64_TYPE__ gpubpf_r2_ __asm__(GPUBPF_PROBE_REG2) = gpubpf_count_;              \
		register __UINT64_TYPE__ gpubpf_r3_ __asm__(GPUBPF_PROBE_REG3) = gpubpf_sequence_;           \
		__asm__ volatile("770:	" GPUBPF_PROBE_INSN "\n" GPUBPF_PROBE_NOTE_(name)                    \
				 : /* none */                                                                \
				 : "r"(gpubpf_r1_), "r"(gpubpf_r2_), "r"(gpubpf_r3_)                         \
				 : "memory");                                                                \
	} while (0)

#endif
