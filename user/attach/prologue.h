/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in a function's first instructions a probe costs least. The kernel emulates a few instructions at a
 * probe and must single-step every other, at ten times the cost (x86: arch/x86/kernel/uprobes.c,
 * branch_setup_xol_ops and push_setup_xol_ops). Known prologues:
 *
 *   push %rbp …                          emulated: +0             (driver 580)
 *   endbr64; push …                      the push: +4
 *   nop5; push …                    the push: +5; the nop itself is never probed, see prologue.c
 *   cmpl $imm,disp(%rip); je …           the jump: behind the compare (drivers 535 to 555)
 *
 * An offset is only taken when every call passes it with the argument registers and SP still as at entry, so
 * that entry and return can be probed there alike.
 */
#ifndef GPUBPF_PROLOGUE_H
#define GPUBPF_PROLOGUE_H

#include <stddef.h>
#include <stdint.h>

struct prologue {
	uint32_t offset;  /* from the symbol */
	const char *kind; /* "push", "endbr64+push", "cmp+jcc", …; "stepped": nothing cheap was recognized */
};

enum { PROLOGUE_BYTES = 32 }; /* as many bytes are looked at, at most */

/* `machine` is e_machine; `code` the function's first n bytes. Architectures without such a choice: +0. */
struct prologue prologue_choose(unsigned machine, const uint8_t *code, size_t n);

#endif
