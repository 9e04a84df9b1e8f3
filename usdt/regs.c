/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Register names of the assemblers and their DWARF numbers (System V psABI for x86-64, table 3.36, and for i386,
 * table 2.14; "DWARF for the Arm 64-bit Architecture", table 1).
 */
#include <ctype.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "stapsdt.h"

struct legacy {
	const char *stem; /* "ax" of rax, eax, ax, al, ah */
	const char *low;  /* 8-bit name */
	const char *high; /* NULL: none */
	int8_t number64, number32;
};

static const struct legacy legacy[] = {
	{ "ax", "al", "ah", 0, 0 },  { "dx", "dl", "dh", 1, 2 },  { "cx", "cl", "ch", 2, 1 },
	{ "bx", "bl", "bh", 3, 3 },  { "si", "sil", NULL, 4, 6 }, { "di", "dil", NULL, 5, 7 },
	{ "bp", "bpl", NULL, 6, 5 }, { "sp", "spl", NULL, 7, 4 },
};

/* Numbered families: stem, first and last index, DWARF number of the first, bits. */
struct family {
	const char *stem, *tail;
	unsigned first, last;
	int16_t number; /* of `first` */
	uint16_t bits;
	bool is_vector;
};

static const struct family x86_64_families[] = {
	{ "r", "", 8, 15, 8, 64, false },    { "r", "d", 8, 15, 8, 32, false },
	{ "r", "w", 8, 15, 8, 16, false },   { "r", "b", 8, 15, 8, 8, false },
	{ "xmm", "", 0, 15, 17, 128, true }, { "xmm", "", 16, 31, 67, 128, true },
	{ "ymm", "", 0, 15, 17, 256, true }, { "ymm", "", 16, 31, 67, 256, true },
	{ "zmm", "", 0, 15, 17, 512, true }, { "zmm", "", 16, 31, 67, 512, true },
	{ "st(", ")", 0, 7, 33, 80, true },  { "mm", "", 0, 7, 41, 64, true },
	{ "k", "", 0, 7, 118, 64, true },    { 0 },
};

static const struct family i386_families[] = {
	{ "xmm", "", 0, 7, 21, 128, true },
	{ "ymm", "", 0, 7, 21, 256, true },
	{ "zmm", "", 0, 7, 21, 512, true },
	{ "st(", ")", 0, 7, 11, 80, true },
	{ "mm", "", 0, 7, 29, 64, true },
	{ "k", "", 0, 7, 93, 64, true },
	{ 0 },
};

static const struct family aarch64_families[] = {
	{ "x", "", 0, 30, 0, 64, false },  { "w", "", 0, 30, 0, 32, false },
	{ "b", "", 0, 31, 64, 8, true },   { "h", "", 0, 31, 64, 16, true },
	{ "s", "", 0, 31, 64, 32, true },  { "d", "", 0, 31, 64, 64, true },
	{ "q", "", 0, 31, 64, 128, true }, { "v", "", 0, 31, 64, 128, true },
	{ "z", "", 0, 31, 96, 128, true }, { 0 },
};

/* Names without a number in them. */
struct single {
	const char *name;
	int16_t number;
	uint16_t bits;
	bool is_vector, is_pc;
};

static const struct single x86_64_singles[] = {
	{ "rip", 16, 64, false, true }, { "eip", 16, 32, false, true },
	{ "st", 33, 80, true, false },  { "es", -1, 16, false, false },
	{ "cs", -1, 16, false, false }, { "ss", -1, 16, false, false },
	{ "ds", -1, 16, false, false }, { "fs", -1, 16, false, false },
	{ "gs", -1, 16, false, false }, { 0 },
};

static const struct single i386_singles[] = {
	{ "eip", 8, 32, false, true },  { "st", 11, 80, true, false },  { "es", -1, 16, false, false },
	{ "cs", -1, 16, false, false }, { "ss", -1, 16, false, false }, { "ds", -1, 16, false, false },
	{ "fs", -1, 16, false, false }, { "gs", -1, 16, false, false }, { 0 },
};

static const struct single aarch64_singles[] = {
	{ "sp", 31, 64, false, false },  { "wsp", 31, 32, false, false }, { "xzr", -1, 64, false, false },
	{ "wzr", -1, 32, false, false }, { "fp", 29, 64, false, false },  { "lr", 30, 64, false, false },
	{ "ip0", 16, 64, false, false }, { "ip1", 17, 64, false, false }, { 0 },
};

static bool legacy_find(bool is_64, const char *name, struct usdt_reg *r)
{
	for (size_t i = 0; i < sizeof(legacy) / sizeof(legacy[0]); i++) {
		const struct legacy *l = &legacy[i];

		r->number = is_64 ? l->number64 : l->number32;
		if (strcmp(name, l->stem) == 0)
			r->bits = 16;
		else if (name[0] == 'e' && strcmp(name + 1, l->stem) == 0)
			r->bits = 32;
		else if (is_64 && name[0] == 'r' && strcmp(name + 1, l->stem) == 0)
			r->bits = 64;
		else if (strcmp(name, l->low) == 0 && (is_64 || l->high))
			r->bits = 8;
		else if (l->high && strcmp(name, l->high) == 0)
			r->bits = 8;
		else
			continue;
		r->high_byte = l->high && strcmp(name, l->high) == 0;
		return true;
	}
	return false;
}

static bool family_match(const struct family *f, const char *name, struct usdt_reg *r)
{
	size_t stem = strlen(f->stem);
	const char *p = name + stem;
	unsigned n = 0;

	if (strncmp(name, f->stem, stem) != 0 || !isdigit((unsigned char)*p) ||
	    (*p == '0' && isdigit((unsigned char)p[1])))
		return false;
	while (isdigit((unsigned char)*p) && n < 100)
		n = 10 * n + (unsigned)(*p++ - '0');
	if (strcmp(p, f->tail) != 0 || n < f->first || n > f->last)
		return false;
	r->number = (int16_t)(f->number + (int)(n - f->first));
	r->bits = f->bits;
	r->is_vector = f->is_vector;
	return true;
}

bool usdt_reg_find(unsigned machine, const char *name, size_t len, struct usdt_reg *out)
{
	const struct family *f = machine == EM_X86_64 ? x86_64_families
				 : machine == EM_386  ? i386_families
						      : aarch64_families;
	const struct single *s = machine == EM_X86_64 ? x86_64_singles
				 : machine == EM_386  ? i386_singles
						      : aarch64_singles;
	struct usdt_reg r = { .number = -1 };

	memset(out, 0, sizeof(*out));
	if (len == 0 || len >= sizeof(r.name) ||
	    (machine != EM_X86_64 && machine != EM_386 && machine != EM_AARCH64))
		return false;
	memcpy(r.name, name, len);
	if (machine != EM_AARCH64 && legacy_find(machine == EM_X86_64, r.name, &r)) {
		*out = r;
		return true;
	}
	r.number = -1;
	for (; f->stem; f++) {
		if (family_match(f, r.name, &r)) {
			*out = r;
			return true;
		}
	}
	for (; s->name; s++) {
		if (strcmp(r.name, s->name) == 0) {
			r.number = s->number;
			r.bits = s->bits;
			r.is_vector = s->is_vector;
			r.is_pc = s->is_pc;
			*out = r;
			return true;
		}
	}
	return false;
}
