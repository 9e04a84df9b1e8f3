// SPDX-License-Identifier: GPL-2.0-or-later
/* The dynamic section, found as the loader finds it: by PT_DYNAMIC. */
#include "object.h"

#include <errno.h>
#include <stdlib.h>

#ifndef DT_RELR
#define DT_RELR 36
#endif

static void keep(struct elfobj *o, const GElf_Dyn *d)
{
	static const struct {
		int64_t tag;
		size_t at;
	} values[] = {
		{ DT_STRTAB, offsetof(struct elfobj, d_strtab) },
		{ DT_STRSZ, offsetof(struct elfobj, strtab_size) },
		{ DT_SYMTAB, offsetof(struct elfobj, d_symtab) },
		{ DT_SYMENT, offsetof(struct elfobj, d_syment) },
		{ DT_HASH, offsetof(struct elfobj, d_hash) },
		{ DT_GNU_HASH, offsetof(struct elfobj, d_gnu_hash) },
		{ DT_VERSYM, offsetof(struct elfobj, d_versym) },
		{ DT_VERNEED, offsetof(struct elfobj, d_verneed) },
		{ DT_VERNEEDNUM, offsetof(struct elfobj, d_verneednum) },
		{ DT_RELA, offsetof(struct elfobj, d_rela) },
		{ DT_RELASZ, offsetof(struct elfobj, d_relasz) },
		{ DT_REL, offsetof(struct elfobj, d_rel) },
		{ DT_RELSZ, offsetof(struct elfobj, d_relsz) },
		{ DT_JMPREL, offsetof(struct elfobj, d_jmprel) },
		{ DT_PLTRELSZ, offsetof(struct elfobj, d_pltrelsz) },
		{ DT_PLTREL, offsetof(struct elfobj, d_pltrel) },
		{ DT_FLAGS_1, offsetof(struct elfobj, flags_1) },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].tag == d->d_tag)
			*(uint64_t *)((char *)o + values[i].at) = d->d_un.d_val;
	}
	switch (d->d_tag) {
	case DT_FLAGS:
		o->flags |= d->d_un.d_val;
		break;
	case DT_TEXTREL:
		o->flags |= DF_TEXTREL;
		break;
	case DT_BIND_NOW:
		o->flags |= DF_BIND_NOW;
		break;
	case DT_RELR:
		o->has_relr = true;
		break;
	}
}

static int keep_names(struct elfobj *o, Elf_Data *dyn, size_t n)
{
	size_t needed = 0;
	GElf_Dyn d;

	for (size_t i = 0; i < n; i++)
		needed += gelf_getdyn(dyn, (int)i, &d) && d.d_tag == DT_NEEDED;
	o->needed = calloc(needed + 1, sizeof(*o->needed));
	if (!o->needed)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const char *s;

		if (!gelf_getdyn(dyn, (int)i, &d))
			break;
		if (d.d_tag != DT_NEEDED && d.d_tag != DT_SONAME && d.d_tag != DT_RPATH &&
		    d.d_tag != DT_RUNPATH)
			continue;
		s = elfobj__string(o, d.d_un.d_val);
		if (!s) {
			elfobj__damaged(o, PART_DYNAMIC,
					"a name of the dynamic section is outside of its string table");
			return 0;
		}
		if (d.d_tag == DT_NEEDED)
			o->needed[o->n_needed++] = s;
		else if (d.d_tag == DT_SONAME)
			o->soname = s;
		else if (d.d_tag == DT_RPATH)
			o->rpath = s;
		else
			o->runpath = s;
	}
	return 0;
}

/* A table that ends with a NUL makes every offset inside it a string that ends. */
static void read_strings(struct elfobj *o)
{
	Elf_Data *d = o->strtab_size ? elfobj__chunk_at(o, o->d_strtab, o->strtab_size, ELF_T_BYTE) : NULL;
	const char *s = d ? d->d_buf : NULL;

	if (!s)
		elfobj__damaged(o, PART_DYNAMIC, "the dynamic string table is not in the file");
	else if (s[o->strtab_size - 1])
		elfobj__damaged(o, PART_DYNAMIC, "the dynamic string table does not end");
	else
		o->strtab = s;
}

int elfobj__read_dynamic(struct elfobj *o)
{
	const GElf_Phdr *ph = NULL;
	size_t n, used = 0;
	Elf_Data *dyn;
	GElf_Dyn d;

	for (size_t i = 0; i < o->n_phdrs && !ph; i++)
		ph = o->phdrs[i].p_type == PT_DYNAMIC ? &o->phdrs[i] : NULL;
	if (!ph)
		return 0;
	o->has_dynamic = true;
	dyn = elfobj__chunk(o, ph->p_offset, ph->p_filesz, ELF_T_DYN);
	n = dyn ? dyn->d_size / gelf_fsize(o->elf, ELF_T_DYN, 1, EV_CURRENT) : 0;
	for (; used < n && gelf_getdyn(dyn, (int)used, &d) && d.d_tag != DT_NULL; used++)
		keep(o, &d);
	if (used == n) {
		elfobj__damaged(o, PART_DYNAMIC, "the dynamic section does not end");
		return 0;
	}
	/* Of a static position-independent program there may be nothing to name. */
	if (!o->d_strtab && !o->d_symtab)
		return 0;
	read_strings(o);
	return keep_names(o, dyn, used);
}
