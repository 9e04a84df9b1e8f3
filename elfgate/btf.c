// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whose registers a BPF object reads: EM_BPF is one machine, but a program that was compiled for the pt_regs of
 * one architecture reads wrong arguments on another, in silence. Its BTF describes the structure it uses.
 */
#include "object.h"

#include <linux/btf.h>
#include <string.h>

struct btf {
	const struct elfobj *o;
	const uint8_t *types, *strings;
	size_t types_len, strings_len;
};

static uint32_t word(const struct elfobj *o, const uint8_t *p)
{
	if (o->ehdr.e_ident[EI_DATA] == ELFDATA2MSB)
		return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static size_t tail_of(uint32_t kind, size_t vlen)
{
	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case 17: /* BTF_KIND_DECL_TAG */
		return 4;
	case BTF_KIND_ARRAY:
		return 12;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case 19: /* BTF_KIND_ENUM64 */
		return 12 * vlen;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return 8 * vlen;
	default:
		return 0;
	}
}

static bool is(const struct btf *b, uint32_t at, const char *name)
{
	return at < b->strings_len && !strcmp((const char *)b->strings + at, name);
}

static const char *arch_of_struct(const struct btf *b, const uint8_t *t, const uint8_t *members, size_t n)
{
	if (is(b, word(b->o, t), "user_pt_regs"))
		return "aarch64";
	if (!is(b, word(b->o, t), "pt_regs"))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		uint32_t name = word(b->o, members + 12 * i);

		if (is(b, name, "di") || is(b, name, "rdi"))
			return "x86_64";
		if (is(b, name, "regs"))
			return "aarch64";
	}
	return NULL;
}

static bool walk(struct elfobj *o, const struct btf *b)
{
	size_t at = 0;

	while (at < b->types_len) {
		const uint8_t *t = b->types + at;
		uint32_t info, kind;
		size_t vlen, tail;
		const char *arch;

		if (b->types_len - at < 12)
			return false;
		info = word(o, t + 4);
		kind = BTF_INFO_KIND(info);
		vlen = BTF_INFO_VLEN(info);
		tail = tail_of(kind, vlen);
		if (tail > b->types_len - at - 12)
			return false;
		arch = kind == BTF_KIND_STRUCT ? arch_of_struct(b, t, t + 12, vlen) : NULL;
		if (arch && strcmp(o->btf_arch, "neutral") != 0 && strcmp(o->btf_arch, arch) != 0)
			o->btf_arch = "mixed";
		else if (arch)
			o->btf_arch = arch;
		at += 12 + tail;
	}
	return true;
}

int elfobj__read_btf(struct elfobj *o)
{
	Elf_Data *d = o->has_btf ? elfobj__chunk(o, o->btf_at, o->btf_size, ELF_T_BYTE) : NULL;
	const uint8_t *p = d ? d->d_buf : NULL;
	uint32_t head, types, types_len, strings, strings_len;
	struct btf b = { .o = o };
	uint64_t rest;

	if (!o->has_btf)
		return 0;
	o->btf_arch = "neutral";
	if (!p || d->d_size < 24) {
		elfobj__damaged(o, PART_BTF, "the BTF is not in the file");
		return 0;
	}
	/* The magic number has two bytes, in the object's order. */
	if ((o->ehdr.e_ident[EI_DATA] == ELFDATA2MSB ? p[0] << 8 | p[1] : p[1] << 8 | p[0]) != BTF_MAGIC) {
		elfobj__damaged(o, PART_BTF, "the BTF does not start with its magic number");
		return 0;
	}
	head = word(o, p + 4);
	types = word(o, p + 8);
	types_len = word(o, p + 12);
	strings = word(o, p + 16);
	strings_len = word(o, p + 20);
	rest = head <= d->d_size ? d->d_size - head : 0;
	if (head < 24 || types > rest || types_len > rest - types || strings > rest ||
	    strings_len > rest - strings || !strings_len) {
		elfobj__damaged(o, PART_BTF, "the BTF's types or strings are not in it");
		return 0;
	}
	b.types = p + head + types;
	b.types_len = types_len;
	b.strings = p + head + strings;
	b.strings_len = strings_len;
	if (b.strings[strings_len - 1] || !walk(o, &b))
		elfobj__damaged(o, PART_BTF, "the BTF does not hang together");
	return 0;
}
