// SPDX-License-Identifier: GPL-2.0-or-later
/* The dynamic relocations: how thread-local variables are reached stands nowhere else. */
#include "object.h"

/* psABI x86-64 table 4.9; AArch64 ELF ABI 5.7.11 (its DTPMOD and DTPREL numbers as glibc and binutils have them). */
static int tls_model(enum elfgate_arch arch, uint64_t type)
{
	if (arch == ELFGATE_X86_64) {
		switch (type) {
		case R_X86_64_DTPMOD64:
		case R_X86_64_DTPOFF64:
			return TLS_DYNAMIC;
		case R_X86_64_TLSDESC:
			return TLS_DESCRIPTOR;
		case R_X86_64_TPOFF64:
			return TLS_INITIAL_EXEC;
		}
	} else if (arch == ELFGATE_AARCH64) {
		switch (type) {
		case R_AARCH64_TLS_DTPMOD:
		case R_AARCH64_TLS_DTPREL:
			return TLS_DYNAMIC;
		case R_AARCH64_TLSDESC:
			return TLS_DESCRIPTOR;
		case R_AARCH64_TLS_TPREL:
			return TLS_INITIAL_EXEC;
		}
	}
	return -1;
}

static void count(struct elfobj *o, uint64_t info)
{
	uint64_t sym = GELF_R_SYM(info);
	int model = tls_model(o->arch, GELF_R_TYPE(info));

	o->relocs++;
	if (model >= 0)
		o->tls_relocs[model]++;
	if (sym > o->max_reloc_sym)
		o->max_reloc_sym = (uint32_t)sym;
}

static void read_table(struct elfobj *o, uint64_t vaddr, uint64_t size, Elf_Type type)
{
	size_t entry = gelf_fsize(o->elf, type, 1, EV_CURRENT);
	Elf_Data *d;

	if (!vaddr || size < entry)
		return;
	d = elfobj__chunk_at(o, vaddr, size, type);
	if (!d) {
		elfobj__damaged(o, PART_RELOCS, "the relocations at %#llx (%#llx bytes) are not in the file",
				(unsigned long long)vaddr, (unsigned long long)size);
		return;
	}
	for (size_t i = 0; i < d->d_size / entry; i++) {
		GElf_Rela rela;
		GElf_Rel rel;

		if (type == ELF_T_RELA && gelf_getrela(d, (int)i, &rela))
			count(o, rela.r_info);
		else if (type == ELF_T_REL && gelf_getrel(d, (int)i, &rel))
			count(o, rel.r_info);
	}
}

int elfobj__read_relocs(struct elfobj *o)
{
	read_table(o, o->d_rela, o->d_relasz, ELF_T_RELA);
	read_table(o, o->d_rel, o->d_relsz, ELF_T_REL);
	read_table(o, o->d_jmprel, o->d_pltrelsz, o->d_pltrel == DT_REL ? ELF_T_REL : ELF_T_RELA);
	return 0;
}
