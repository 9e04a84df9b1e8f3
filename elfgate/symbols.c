// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The dynamic symbols. Nothing in the dynamic section counts them: the hash tables bound them (DT_GNU_HASH only
 * the defined ones), the relocations name some, and a section header says it where there is one.
 */
#include "object.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t count_by_hash(const struct elfobj *o)
{
	Elf_Data *d = o->d_hash ? elfobj__chunk_at(o, o->d_hash, 8, ELF_T_WORD) : NULL;

	return d ? ((const uint32_t *)d->d_buf)[1] : 0;
}

/* Words of a GNU hash table: buckets, first hashed symbol, words of the filter, its shift; filter; buckets; chains.
 * The chain that starts last ends with the last symbol, at the word with the lowest bit set. */
static uint64_t count_by_gnu_hash(const struct elfobj *o)
{
	unsigned word = o->ehdr.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;
	Elf_Data *head = o->d_gnu_hash ? elfobj__chunk_at(o, o->d_gnu_hash, 16, ELF_T_WORD) : NULL;
	uint64_t at, offset, left, last = 0;
	const uint32_t *h = head ? head->d_buf : NULL;
	Elf_Data *buckets, *chains;

	if (!h || !h[0])
		return 0;
	at = o->d_gnu_hash + 16 + (uint64_t)h[2] * word;
	buckets = elfobj__chunk_at(o, at, (uint64_t)h[0] * 4, ELF_T_WORD);
	if (!buckets)
		return 0;
	for (uint32_t i = 0; i < h[0]; i++) {
		uint32_t first = ((const uint32_t *)buckets->d_buf)[i];

		last = first > last ? first : last;
	}
	if (last < h[1])
		return h[1];
	at += ((uint64_t)h[0] + (last - h[1])) * 4;
	if (!elfobj__offset(o, at, &offset, &left) || left < 4)
		return 0;
	/* A chain is short; what it is not is read in pieces. */
	for (;;) {
		uint64_t n = left / 4 < 1024 ? left / 4 : 1024;

		chains = n ? elfobj__chunk(o, offset, n * 4, ELF_T_WORD) : NULL;
		if (!chains)
			return 0;
		for (uint64_t i = 0; i < n; i++) {
			if (((const uint32_t *)chains->d_buf)[i] & 1)
				return last + i + 1;
		}
		last += n;
		offset += n * 4;
		left -= n * 4;
	}
}

static uint64_t count(const struct elfobj *o)
{
	uint64_t counts[] = { count_by_hash(o), count_by_gnu_hash(o), o->section_syms,
			      o->relocs ? (uint64_t)o->max_reloc_sym + 1 : 0 };
	uint64_t most = 0;

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		most = counts[i] > most ? counts[i] : most;
	return most;
}

static bool keep(struct elfobj *o, Elf_Data *symbols, const uint16_t *versions, size_t i)
{
	struct elfobj_sym *s = &o->syms[i];
	GElf_Sym g;

	if (!gelf_getsym(symbols, (int)i, &g))
		return false;
	s->name = elfobj__string(o, g.st_name);
	s->value = g.st_value;
	s->shndx = g.st_shndx;
	s->bind = GELF_ST_BIND(g.st_info);
	s->type = GELF_ST_TYPE(g.st_info);
	s->visibility = GELF_ST_VISIBILITY(g.st_other);
	s->version = versions ? versions[i] & 0x7fff : 1;
	return s->name != NULL;
}

int elfobj__read_symbols(struct elfobj *o)
{
	size_t entry = gelf_fsize(o->elf, ELF_T_SYM, 1, EV_CURRENT);
	Elf_Data *symbols, *versions = NULL;
	uint64_t n;

	if (!o->d_symtab || o->damage[PART_DYNAMIC])
		return 0;
	n = count(o);
	if (!n)
		return 0;
	if (o->d_syment != entry) {
		elfobj__damaged(o, PART_SYMBOLS, "dynamic symbols of %llu bytes",
				(unsigned long long)o->d_syment);
		return 0;
	}
	symbols = n < o->size ? elfobj__chunk_at(o, o->d_symtab, n * entry, ELF_T_SYM) : NULL;
	if (o->d_versym && symbols)
		versions = elfobj__chunk_at(o, o->d_versym, n * 2, ELF_T_HALF);
	if (!symbols || (o->d_versym && !versions)) {
		elfobj__damaged(o, PART_SYMBOLS, "%llu dynamic symbols%s are more than the file holds",
				(unsigned long long)n, symbols ? "' versions" : "");
		return 0;
	}
	o->syms = calloc(n, sizeof(*o->syms));
	if (!o->syms)
		return -ENOMEM;
	o->n_syms = n;
	for (size_t i = 0; i < n; i++) {
		if (keep(o, symbols, versions ? versions->d_buf : NULL, i))
			continue;
		elfobj__damaged(o, PART_SYMBOLS,
				"the name of dynamic symbol %zu is outside of its string table", i);
		o->n_syms = 0;
		break;
	}
	return 0;
}
