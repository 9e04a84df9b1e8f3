/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/prologue.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

static bool is_push(const uint8_t *p, size_t n)
{
	return (n >= 1 && (p[0] & 0xf8) == 0x50) || (n >= 2 && p[0] == 0x41 && (p[1] & 0xf8) == 0x50);
}

static bool is_nop(const uint8_t *p, size_t n)
{
	return n >= 1 && p[0] == 0x90;
}

static bool is_jcc(const uint8_t *p, size_t n)
{
	return (n >= 2 && (p[0] & 0xf0) == 0x70) || (n >= 6 && p[0] == 0x0f && (p[1] & 0xf0) == 0x80);
}

static bool is_jmp(const uint8_t *p, size_t n)
{
	return (n >= 2 && p[0] == 0xeb) || (n >= 5 && p[0] == 0xe9);
}

/* Length of a compare or test of a constant with memory at disp32(%rip): it changes flags only. */
static size_t compare_rip(const uint8_t *p, size_t n)
{
	size_t rex = n && (p[0] & 0xf8) == 0x48 ? 1 : 0;

	if (n < rex + 2)
		return 0;
	p += rex;
	if ((p[0] == 0x83 || p[0] == 0x80) && p[1] == 0x3d)
		return rex + 7;
	if (p[0] == 0x81 && p[1] == 0x3d)
		return rex + 10;
	if (p[0] == 0xf6 && p[1] == 0x05)
		return rex + 7;
	if (p[0] == 0xf7 && p[1] == 0x05)
		return rex + 10;
	return 0;
}

/*
 * The 5-byte nop that -fpatchable-function-entry and -mfentry leave. Linux 6.18 turns a probe on it into a call, which
 * corrupts the red zone of a leaf and kills forked children: never probe it, go behind.
 */
static bool is_nop5(const uint8_t *p, size_t n)
{
	static const uint8_t nop5[] = { 0x0f, 0x1f, 0x44, 0x00, 0x00 };

	return n >= sizeof(nop5) && memcmp(p, nop5, sizeof(nop5)) == 0;
}

static const char *cheap_kind(const uint8_t *p, size_t n)
{
	if (is_push(p, n))
		return "push";
	if (is_nop(p, n))
		return "nop";
	if (is_jcc(p, n))
		return "jcc";
	if (is_jmp(p, n))
		return "jmp";
	return NULL;
}

static const struct {
	const char *cheap, *behind_endbr, *behind_nop5, *behind_cmp;
} names[] = {
	{ "push", "endbr64+push", "nop5+push", "cmp+push" },
	{ "nop", "endbr64+nop", "nop5+nop", "cmp+nop" },
	{ "jcc", "endbr64+jcc", "nop5+jcc", "cmp+jcc" },
	{ "jmp", "endbr64+jmp", "nop5+jmp", "cmp+jmp" },
};

struct prologue prologue_choose(unsigned machine, const uint8_t *code, size_t n)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct prologue none = { 0, "stepped" };
	size_t at = 0, cmp;
	const char *kind;
	bool nop5;

	if (machine != EM_X86_64)
		return (struct prologue){ 0, "entry" };
	if (n > PROLOGUE_BYTES)
		n = PROLOGUE_BYTES;
	if (n >= sizeof(endbr64) && memcmp(code, endbr64, sizeof(endbr64)) == 0)
		at = sizeof(endbr64);
	nop5 = is_nop5(code + at, n - at);
	if (nop5) {
		at += 5;
		none.offset = (uint32_t)at;
	}
	cmp = compare_rip(code + at, n - at);
	if (cmp >= n - at)
		return none;
	kind = cheap_kind(code + at + cmp, n - at - cmp);
	for (size_t i = 0; kind && i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].cheap, kind) != 0)
			continue;
		return (struct prologue){ (uint32_t)(at + cmp), cmp    ? names[i].behind_cmp
								: nop5 ? names[i].behind_nop5
								: at   ? names[i].behind_endbr
								       : names[i].cheap };
	}
	return none;
}
