/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The facts of one ELF file, read once; the rules look at nothing else. Strings point into the file's image and
 * live as long as the object. A part that is damaged has its message in damage[] and no content.
 */
#ifndef GPUBPF_ELFGATE_OBJECT_H
#define GPUBPF_ELFGATE_OBJECT_H

#include <gelf.h>

#include "elfgate.h"

enum elfobj_part {
	PART_HEADER,
	PART_SEGMENTS, /* program headers */
	PART_DYNAMIC,
	PART_SYMBOLS,
	PART_VERSIONS,
	PART_RELOCS,
	PART_NOTES, /* of PT_NOTE */
	PART_SECTIONS,
	PART_BTF,
	PARTS,
};
#define PART(p) (1u << PART_##p)

enum elfobj_type {
	ELFOBJ_SHARED,
	ELFOBJ_PIE,
	ELFOBJ_EXEC,
	ELFOBJ_STATIC,
	ELFOBJ_STATIC_PIE,
	ELFOBJ_RELOCATABLE,
	ELFOBJ_OTHER,
};

/* A version that is needed of a library (Elf_Vernaux). */
struct elfobj_need {
	const char *file, *version;
	const char *symbol; /* one that is bound to it, NULL: none is */
	uint16_t index;
	bool weak; /* the loader does not refuse the file when the library lacks it */
};

struct elfobj_sym {
	const char *name;
	uint64_t value;
	uint16_t shndx;
	uint16_t version; /* index of a need or definition; 0 local, 1 none */
	uint8_t bind, type, visibility;
};

enum elfobj_tls {
	TLS_DYNAMIC,      /* DTPMOD, DTPOFF: general and local dynamic, by __tls_get_addr */
	TLS_DESCRIPTOR,   /* TLSDESC */
	TLS_INITIAL_EXEC, /* TPOFF */
	TLS_MODELS,
};

struct elfobj {
	Elf *elf;
	int fd;
	bool own_fd;
	uint64_t size;
	GElf_Ehdr ehdr;
	enum elfgate_arch arch;
	enum elfobj_type type;
	char describe[64];
	char *damage[PARTS];

	GElf_Phdr *phdrs;
	size_t n_phdrs;
	const char *interp;

	bool has_dynamic;
	uint64_t flags, flags_1; /* DT_FLAGS with DT_TEXTREL and DT_BIND_NOW folded in, DT_FLAGS_1 */
	const char **needed;
	size_t n_needed;
	const char *soname, *rpath, *runpath;
	const char *strtab;
	uint64_t strtab_size;
	bool has_relr;
	struct elfobj_sym *syms; /* of the dynamic symbol table, [0] the null symbol */
	size_t n_syms;
	struct elfobj_need *needs;
	size_t n_needs;
	uint64_t relocs, tls_relocs[TLS_MODELS];
	uint32_t max_reloc_sym;

	uint8_t build_id[64];
	size_t build_id_len;
	unsigned isa_needed; /* GNU_PROPERTY_X86_ISA_1_NEEDED, 0: no such property */
	unsigned abi_tag[3]; /* kernel of NT_GNU_ABI_TAG */
	bool has_abi_tag;
	bool has_stapsdt; /* a section .note.stapsdt */
	uint64_t btf_at, btf_size;
	bool has_btf, has_btf_ext;
	const char *btf_arch; /* whose registers the BTF describes: "x86_64", "aarch64", "neutral" */

	/* DT_ values that later parts start from; 0: not there */
	uint64_t d_strtab, d_symtab, d_syment, d_hash, d_gnu_hash, d_versym, d_verneed, d_verneednum;
	uint64_t d_rela, d_relasz, d_rel, d_relsz, d_jmprel, d_pltrelsz, d_pltrel;
	uint64_t section_syms; /* entries of the SHT_DYNSYM that stands at d_symtab, 0: none */
};

/* The bytes at a place of the file or of the loaded image, converted to this machine's order; NULL: they are not
 * all in the file. `size` is not 0. They live as long as the object. */
Elf_Data *elfobj__chunk(const struct elfobj *o, uint64_t offset, uint64_t size, Elf_Type type);
Elf_Data *elfobj__chunk_at(const struct elfobj *o, uint64_t vaddr, uint64_t size, Elf_Type type);
bool elfobj__offset(const struct elfobj *o, uint64_t vaddr, uint64_t *offset, uint64_t *left);
void elfobj__damaged(struct elfobj *o, enum elfobj_part part, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *elfobj__string(const struct elfobj *o,
			   uint64_t at); /* of the dynamic string table; NULL: outside */

/* Readers of the parts, in this order; -ENOMEM, else 0. */
int elfobj__read_dynamic(struct elfobj *o);
int elfobj__read_sections(struct elfobj *o);
int elfobj__read_relocs(struct elfobj *o);
int elfobj__read_symbols(struct elfobj *o);
int elfobj__read_versions(struct elfobj *o);
int elfobj__read_notes(struct elfobj *o);
int elfobj__read_btf(struct elfobj *o);

#endif
