/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a probe goes in the prologues that drivers and compilers have, and what is refused. */
#include "t.h"

#include <elf.h>

#include "attach/prologue.h"

#define CHOOSE(bytes) prologue_choose(EM_X86_64, (const uint8_t *)(bytes), sizeof(bytes) - 1)

static void expect(const char *what, struct prologue p, uint32_t offset, const char *kind)
{
	CHECKF(p.offset == offset && strcmp(p.kind, kind) == 0, "%s: +%u %s, not +%u %s", what, p.offset,
	       p.kind, offset, kind);
}

T(push_at_entry)
{
	expect("push %rbp", CHOOSE("\x55\x48\x89\xe5"), 0, "push");
	expect("push %r15", CHOOSE("\x41\x57\x41\x56"), 0, "push");
}

T(endbr64_is_passed)
{
	expect("endbr64; push", CHOOSE("\xf3\x0f\x1e\xfa\x55\x48"), 4, "endbr64+push");
	expect("endbr64; jmp", CHOOSE("\xf3\x0f\x1e\xfa\xe9\x00\x00\x00\x00"), 4, "endbr64+jmp");
	expect("endbr64; mov", CHOOSE("\xf3\x0f\x1e\xfa\x48\x89\xe5"), 0, "stepped");
	expect("endbr64 alone", CHOOSE("\xf3\x0f\x1e\xfa"), 0, "stepped");
}

/* A probe on it would become a call that kills forked children (Linux 6.18). */
T(nop5_is_never_probed)
{
	expect("nop5; push", CHOOSE("\x0f\x1f\x44\x00\x00\x55\x48"), 5, "nop5+push");
	expect("endbr64; nop5; push", CHOOSE("\xf3\x0f\x1e\xfa\x0f\x1f\x44\x00\x00\x55"), 9, "nop5+push");
	expect("nop5; mov", CHOOSE("\x0f\x1f\x44\x00\x00\x48\x89\xe5"), 5, "stepped");
	expect("nop5; cmpl; je", CHOOSE("\x0f\x1f\x44\x00\x00\x83\x3d\x11\x22\x33\x44\x00\x74\x10"), 12,
	       "cmp+jcc");
}

/* Drivers 535 to 555: cmpl $imm,disp(%rip); je */
T(compare_and_jump)
{
	expect("cmpl imm8; je", CHOOSE("\x83\x3d\x11\x22\x33\x44\x00\x74\x10"), 7, "cmp+jcc");
	expect("cmpl imm32; je near",
	       CHOOSE("\x81\x3d\x11\x22\x33\x44\x01\x02\x03\x04\x0f\x84\x00\x00\x00\x00"), 10, "cmp+jcc");
	expect("cmpb; jne", CHOOSE("\x80\x3d\x11\x22\x33\x44\x00\x75\x10"), 7, "cmp+jcc");
	expect("cmpq; je", CHOOSE("\x48\x83\x3d\x11\x22\x33\x44\x00\x74\x10"), 8, "cmp+jcc");
	expect("endbr64; cmpl; je", CHOOSE("\xf3\x0f\x1e\xfa\x83\x3d\x11\x22\x33\x44\x00\x74\x10"), 11,
	       "cmp+jcc");
	expect("cmpl; mov", CHOOSE("\x83\x3d\x11\x22\x33\x44\x00\x48\x89\xe5"), 0, "stepped");
}

T(what_changes_the_arguments_is_not_passed)
{
	expect("sub rsp", CHOOSE("\x48\x83\xec\x08\x55"), 0, "stepped");
	expect("mov", CHOOSE("\x48\x89\xd1\x55"), 0, "stepped");
	expect("xor eax; ret", CHOOSE("\x31\xc0\xc3"), 0, "stepped");
	/* cmp with a register or with memory behind a register is not in the table */
	expect("cmp reg", CHOOSE("\x83\xf8\x00\x74\x10"), 0, "stepped");
}

/* A function cut short by the end of its segment, and every truncation of a good one: nothing is read behind. */
T(short_code)
{
	static const uint8_t code[] = "\xf3\x0f\x1e\xfa\x83\x3d\x11\x22\x33\x44\x00\x0f\x84\x01\x02\x03\x04";

	for (size_t n = 0; n < sizeof(code) - 1; n++)
		expect("cut", prologue_choose(EM_X86_64, code, n), 0, "stepped");
	expect("whole", prologue_choose(EM_X86_64, code, sizeof(code) - 1), 11, "cmp+jcc");
}

T(other_architectures_are_probed_at_entry)
{
	expect("arm64", prologue_choose(EM_AARCH64, (const uint8_t *)"\x55\x00\x00\x00", 4), 0, "entry");
}

TEST_MAIN
