// SPDX-License-Identifier: GPL-2.0-or-later
/* What only section headers tell: probe notes and BTF are in no segment. */
#include "object.h"

#include <string.h>

static void look(struct elfobj *o, const GElf_Shdr *sh, const char *name)
{
	if (sh->sh_type == SHT_DYNSYM && sh->sh_addr == o->d_symtab && sh->sh_entsize)
		o->section_syms = sh->sh_size / sh->sh_entsize;
	if (sh->sh_type == SHT_NOTE && !strcmp(name, ".note.stapsdt"))
		o->has_stapsdt = true;
	if (sh->sh_type == SHT_PROGBITS && !strcmp(name, ".BTF")) {
		o->has_btf = true;
		o->btf_at = sh->sh_offset;
		o->btf_size = sh->sh_size;
	}
	if (sh->sh_type == SHT_PROGBITS && !strcmp(name, ".BTF.ext"))
		o->has_btf_ext = true;
}

int elfobj__read_sections(struct elfobj *o)
{
	size_t n, names, entry = gelf_fsize(o->elf, ELF_T_SHDR, 1, EV_CURRENT);
	Elf_Scn *scn = NULL;

	if (!o->ehdr.e_shoff)
		return 0; /* stripped of its section headers, which no loader needs */
	/* libelf says that there are none when they are cut off. */
	if (elf_getshdrnum(o->elf, &n) || o->ehdr.e_shoff > o->size ||
	    n > (o->size - o->ehdr.e_shoff) / entry || n < o->ehdr.e_shnum) {
		elfobj__damaged(o, PART_SECTIONS, "the section headers reach beyond the file's %#llx bytes",
				(unsigned long long)o->size);
		return 0;
	}
	if (!n)
		return 0;
	if (elf_getshdrstrndx(o->elf, &names)) {
		elfobj__damaged(o, PART_SECTIONS, "the sections have no names: %s", elf_errmsg(-1));
		return 0;
	}
	while ((scn = elf_nextscn(o->elf, scn))) {
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh) || !(name = elf_strptr(o->elf, names, sh.sh_name))) {
			elfobj__damaged(o, PART_SECTIONS, "section %zu has no header or no name",
					elf_ndxscn(scn));
			return 0;
		}
		if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
		    (sh.sh_offset > o->size || sh.sh_size > o->size - sh.sh_offset)) {
			elfobj__damaged(o, PART_SECTIONS, "section %zu reaches beyond the file",
					elf_ndxscn(scn));
			return 0;
		}
		look(o, &sh, name);
	}
	return 0;
}
