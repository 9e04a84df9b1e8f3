// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The file is read in pieces and not mapped: a file that another process cuts short while we look would end us
 * by SIGBUS. Only the tables are read, never code or data, so that the size of a library does not matter.
 */
#include "object.h"
#include "rule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int elfgate__fail(struct elfgate_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	return code;
}

void elfobj__damaged(struct elfobj *o, enum elfobj_part part, const char *fmt, ...)
{
	va_list ap;

	if (o->damage[part])
		return;
	va_start(ap, fmt);
	if (vasprintf(&o->damage[part], fmt, ap) < 0)
		o->damage[part] = NULL;
	va_end(ap);
}

Elf_Data *elfobj__chunk(const struct elfobj *o, uint64_t offset, uint64_t size, Elf_Type type)
{
	if (!size || offset > o->size || size > o->size - offset)
		return NULL;
	return elf_getdata_rawchunk(o->elf, (int64_t)offset, size, type);
}

bool elfobj__offset(const struct elfobj *o, uint64_t vaddr, uint64_t *offset, uint64_t *left)
{
	for (size_t i = 0; i < o->n_phdrs; i++) {
		const GElf_Phdr *p = &o->phdrs[i];

		if (p->p_type != PT_LOAD || vaddr < p->p_vaddr || vaddr - p->p_vaddr >= p->p_filesz)
			continue;
		*offset = p->p_offset + (vaddr - p->p_vaddr);
		*left = p->p_filesz - (vaddr - p->p_vaddr);
		return true;
	}
	return false;
}

Elf_Data *elfobj__chunk_at(const struct elfobj *o, uint64_t vaddr, uint64_t size, Elf_Type type)
{
	uint64_t offset, left;

	if (!elfobj__offset(o, vaddr, &offset, &left) || size > left)
		return NULL;
	return elfobj__chunk(o, offset, size, type);
}

const char *elfobj__string(const struct elfobj *o, uint64_t at)
{
	return o->strtab && at < o->strtab_size ? o->strtab + at : NULL;
}

static int read_segments(struct elfobj *o)
{
	size_t n;

	if (elf_getphdrnum(o->elf, &n)) {
		elfobj__damaged(o, PART_SEGMENTS, "the program headers cannot be counted: %s",
				elf_errmsg(-1));
		return 0;
	}
	if (!n)
		return 0;
	if (n > o->size / gelf_fsize(o->elf, ELF_T_PHDR, 1, EV_CURRENT)) {
		elfobj__damaged(o, PART_SEGMENTS, "%zu program headers are more than the file holds", n);
		return 0;
	}
	o->phdrs = calloc(n, sizeof(*o->phdrs));
	if (!o->phdrs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr *p = &o->phdrs[i];

		if (!gelf_getphdr(o->elf, (int)i, p)) {
			elfobj__damaged(o, PART_SEGMENTS, "program header %zu is outside of the file", i);
			return 0;
		}
		o->n_phdrs = i + 1;
		if (p->p_offset > o->size || p->p_filesz > o->size - p->p_offset) {
			/* Debug files keep the headers of segments whose bytes stand elsewhere. */
			elfobj__damaged(
				o, PART_SEGMENTS,
				"segment %zu (%#llx bytes at %#llx) reaches beyond the file's %#llx bytes", i,
				(unsigned long long)p->p_filesz, (unsigned long long)p->p_offset,
				(unsigned long long)o->size);
			return 0;
		}
		if (p->p_type == PT_LOAD && p->p_filesz > p->p_memsz) {
			elfobj__damaged(o, PART_SEGMENTS,
					"segment %zu has more bytes in the file than in memory", i);
			return 0;
		}
	}
	return 0;
}

static void read_interp(struct elfobj *o)
{
	for (size_t i = 0; i < o->n_phdrs; i++) {
		Elf_Data *d;

		if (o->phdrs[i].p_type != PT_INTERP)
			continue;
		d = elfobj__chunk(o, o->phdrs[i].p_offset, o->phdrs[i].p_filesz, ELF_T_BYTE);
		if (!d || !memchr(d->d_buf, 0, d->d_size))
			elfobj__damaged(o, PART_SEGMENTS, "the name of the interpreter does not end");
		else
			o->interp = d->d_buf;
		return;
	}
}

static enum elfgate_arch arch_of(const GElf_Ehdr *e)
{
	switch (e->e_machine) {
	case EM_X86_64:
		/* x32 has other relocations. */
		return e->e_ident[EI_CLASS] == ELFCLASS64 ? ELFGATE_X86_64 : ELFGATE_OTHER;
	case EM_AARCH64:
		return e->e_ident[EI_CLASS] == ELFCLASS64 ? ELFGATE_AARCH64 : ELFGATE_OTHER;
	case EM_BPF:
		return ELFGATE_BPF;
	default:
		return ELFGATE_OTHER;
	}
}

/* A program that is position-independent and a library are both ET_DYN. libc.so.6 has an interpreter, and a soname;
 * linkers before 2.26 set no DF_1_PIE. */
static enum elfobj_type type_of(const struct elfobj *o)
{
	switch (o->ehdr.e_type) {
	case ET_REL:
		return ELFOBJ_RELOCATABLE;
	case ET_EXEC:
		return o->interp || o->n_needed ? ELFOBJ_EXEC : ELFOBJ_STATIC;
	case ET_DYN:
		if (o->flags_1 & DF_1_PIE)
			return o->interp ? ELFOBJ_PIE : ELFOBJ_STATIC_PIE;
		return o->interp && !o->soname ? ELFOBJ_PIE : ELFOBJ_SHARED;
	default:
		return ELFOBJ_OTHER;
	}
}

static const char *const type_texts[] = {
	[ELFOBJ_SHARED] = "shared object",
	[ELFOBJ_PIE] = "position-independent program",
	[ELFOBJ_EXEC] = "program at a fixed address",
	[ELFOBJ_STATIC] = "static program",
	[ELFOBJ_STATIC_PIE] = "static position-independent program",
	[ELFOBJ_RELOCATABLE] = "relocatable object",
	[ELFOBJ_OTHER] = "file of another type",
};

static void describe(struct elfobj *o)
{
	const char *arch = o->arch == ELFGATE_X86_64    ? "x86_64"
			   : o->arch == ELFGATE_AARCH64 ? "aarch64"
			   : o->arch == ELFGATE_BPF     ? "BPF"
							: NULL;
	char other[24];

	snprintf(other, sizeof(other), "machine %u", o->ehdr.e_machine);
	snprintf(o->describe, sizeof(o->describe), "%s %s", arch ? arch : other, type_texts[o->type]);
}

static int read_parts(struct elfobj *o)
{
	static int (*const readers[])(struct elfobj *) = {
		read_segments,        elfobj__read_dynamic,  elfobj__read_sections, elfobj__read_relocs,
		elfobj__read_symbols, elfobj__read_versions, elfobj__read_notes,    elfobj__read_btf,
	};

	for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
		int e = readers[i](o);

		if (e)
			return e;
	}
	read_interp(o);
	o->type = type_of(o);
	if (o->ehdr.e_type == ET_DYN && !o->has_dynamic)
		elfobj__damaged(o, PART_DYNAMIC, "a file to be loaded anywhere, and no dynamic section");
	describe(o);
	return 0;
}

int elfobj__open_fd(struct elfobj **obj, int fd, struct elfgate_error *err)
{
	struct elfobj *o;
	struct stat st;
	int e;

	*obj = NULL;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return elfgate__fail(err, -EINVAL, "libelf is of another version: %s", elf_errmsg(-1));
	if (fstat(fd, &st))
		return elfgate__fail(err, -errno, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return elfgate__fail(err, -EINVAL, "not a regular file");
	o = calloc(1, sizeof(*o));
	if (!o)
		return elfgate__fail(err, -ENOMEM, "out of memory");
	o->fd = fd;
	o->size = (uint64_t)st.st_size;
	o->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!o->elf || elf_kind(o->elf) != ELF_K_ELF)
		e = elfgate__fail(err, -EINVAL, "%s",
				  o->elf && elf_kind(o->elf) == ELF_K_AR
					  ? "an archive of objects, not an ELF file"
					  : "not an ELF file");
	else if (!gelf_getehdr(o->elf, &o->ehdr))
		e = elfgate__fail(err, -EINVAL, "the ELF header is damaged: %s", elf_errmsg(-1));
	else
		e = 0;
	if (!e) {
		o->arch = arch_of(&o->ehdr);
		e = read_parts(o);
		if (e)
			elfgate__fail(err, e, "out of memory");
	}
	if (e)
		elfobj__close(o);
	else
		*obj = o;
	return e;
}

int elfobj__open(struct elfobj **obj, const char *path, struct elfgate_error *err)
{
	/* A fifo without a writer must not hold us. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int e;

	*obj = NULL;
	if (fd < 0)
		return elfgate__fail(err, -errno, "%s", strerror(errno));
	e = elfobj__open_fd(obj, fd, err);
	if (*obj)
		(*obj)->own_fd = true;
	else
		close(fd);
	return e;
}

void elfobj__close(struct elfobj *o)
{
	if (!o)
		return;
	elf_end(o->elf);
	if (o->own_fd)
		close(o->fd);
	for (int i = 0; i < PARTS; i++)
		free(o->damage[i]);
	free(o->phdrs);
	free(o->needed);
	free(o->syms);
	free(o->needs);
	free(o);
}

const char *elfobj__describe(const struct elfobj *o)
{
	return o->describe;
}
