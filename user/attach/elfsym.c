/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/elfsym.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uthash.h>

#include "attach/prologue.h"
#include "util/err.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#endif

struct name {
	const char *symbol;
	uint32_t index;
	UT_hash_handle hh;
};

struct reader {
	const char *path;
	int fd;
	Elf *elf;
	GElf_Ehdr eh;
	struct name *names, *slots;
	struct elfsyms *out;
};

static int reader_open(struct reader *r, struct err *err)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(err, -EINVAL, "libelf is older than its header: %s", elf_errmsg(-1));
	r->fd = open(r->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (r->fd < 0) {
		int e = errno;
		return err_set(err, -e, "cannot open %s: %s", r->path, strerror(e));
	}
	r->elf = elf_begin(r->fd, ELF_C_READ_MMAP, NULL);
	if (!r->elf || elf_kind(r->elf) != ELF_K_ELF || !gelf_getehdr(r->elf, &r->eh))
		return err_set(err, -ENOEXEC, "%s is no ELF file", r->path);
	if (r->eh.e_machine != OUR_MACHINE || gelf_getclass(r->elf) != ELFCLASS64)
		return err_set(err, -ENOEXEC, "%s is for another architecture (e_machine %u, class %d)",
			       r->path, r->eh.e_machine, gelf_getclass(r->elf));
	r->out->machine = r->eh.e_machine;
	return 0;
}

/* File offset of a virtual address, and how many bytes of its executable segment follow; -1: not executable. */
static int64_t code_offset(struct reader *r, uint64_t addr, size_t *left)
{
	size_t n;

	if (elf_getphdrnum(r->elf, &n))
		return -1;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(r->elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (addr < ph.p_vaddr || addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*left = ph.p_filesz - (addr - ph.p_vaddr);
		return (int64_t)(addr - ph.p_vaddr + ph.p_offset);
	}
	return -1;
}

/*
 * Read, not taken from libelf's mapping: the kernel puts its breakpoints into every private mapping of a file that another
 * recorder probes, ours too.
 */
static size_t read_code(const struct reader *r, int64_t at, size_t left, uint8_t code[PROLOGUE_BYTES])
{
	ssize_t n = pread(r->fd, code, left < PROLOGUE_BYTES ? left : PROLOGUE_BYTES, at);

	return n > 0 ? (size_t)n : 0;
}

static void take_symbol(struct reader *r, const GElf_Sym *sym, uint32_t index, size_t raw_size)
{
	uint8_t code[PROLOGUE_BYTES];
	struct elfsym *s = &r->out->syms[index];
	size_t left = 0;
	int64_t at;

	if (sym->st_shndx == SHN_UNDEF) {
		r->out->imported++;
		return;
	}
	if (s->state == ELFSYM_FOUND)
		return;
	at = GELF_ST_TYPE(sym->st_info) == STT_FUNC && sym->st_value ? code_offset(r, sym->st_value, &left)
								     : -1;
	if (at < 0 || (uint64_t)at >= raw_size) {
		s->state = ELFSYM_REFUSED;
		return;
	}
	if (left > raw_size - (uint64_t)at)
		left = raw_size - (uint64_t)at;
	struct prologue p = prologue_choose(r->eh.e_machine, code, read_code(r, at, left, code));
	s->state = ELFSYM_FOUND;
	s->offset = (uint64_t)at + p.offset;
	s->probe = p.kind;
	r->out->found++;
}

static int read_dynsym(struct reader *r, struct err *err)
{
	size_t raw_size;
	const char *raw = elf_rawfile(r->elf, &raw_size);
	Elf_Scn *scn = NULL;
	bool seen = false;

	while (raw && (scn = elf_nextscn(r->elf, scn))) {
		Elf_Data *data;
		GElf_Shdr sh;
		GElf_Sym sym;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNSYM || !(data = elf_getdata(scn, NULL)))
			continue;
		seen = true;
		for (int i = 0; gelf_getsym(data, i, &sym); i++) {
			const char *name = elf_strptr(r->elf, sh.sh_link, sym.st_name);
			struct name *hit = NULL;

			if (name && name[0] == 'c' && name[1] == 'u')
				HASH_FIND_STR(r->names, name, hit);
			if (hit)
				take_symbol(r, &sym, hit->index, raw_size);
		}
	}
	if (!seen)
		return err_set(err, -ENOEXEC,
			       "%s has no dynamic symbols (damaged or stripped of its section headers)",
			       r->path);
	return 0;
}

static void read_build_id(struct reader *r)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(r->elf, scn))) {
		Elf_Data *data;
		GElf_Shdr sh;
		GElf_Nhdr nh;
		size_t at = 0, name, desc;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE || !(data = elf_getdata(scn, NULL)))
			continue;
		while ((at = gelf_getnote(data, at, &nh, &name, &desc)) > 0) {
			if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 ||
			    memcmp((char *)data->d_buf + name, "GNU", 4) != 0 ||
			    nh.n_descsz > sizeof(r->out->build_id))
				continue;
			memcpy(r->out->build_id, (char *)data->d_buf + desc, nh.n_descsz);
			r->out->build_id_len = nh.n_descsz;
			return;
		}
	}
}

static int name_table(struct reader *r, const struct apitab *tab)
{
	size_t n = apitab__size(tab);

	r->slots = calloc(n, sizeof(*r->slots));
	r->out->syms = calloc(n, sizeof(*r->out->syms));
	if (!r->slots || !r->out->syms)
		return -ENOMEM;
	r->out->n = n;
	for (size_t i = 0; i < n; i++) {
		const struct api *a = apitab__get(tab, (uint32_t)i);
		struct name *s = &r->slots[i];

		s->symbol = a->symbol;
		s->index = (uint32_t)i;
		HASH_ADD_KEYPTR(hh, r->names, s->symbol, strlen(s->symbol), s);
	}
	return 0;
}

/* Two symbols on one instruction would count each call twice. */
static void mark_aliases(struct elfsyms *out)
{
	for (size_t i = 0; i < out->n; i++) {
		for (size_t j = 0; j < i && out->syms[i].state == ELFSYM_FOUND; j++) {
			if (out->syms[j].state != ELFSYM_FOUND || out->syms[j].offset != out->syms[i].offset)
				continue;
			out->syms[i].state = ELFSYM_ALIAS;
			out->syms[i].alias_of = (uint32_t)j;
		}
	}
}

int elfsyms_read(const char *path, const struct apitab *tab, struct elfsyms *out, struct err *err)
{
	struct reader r = { .path = path, .fd = -1, .out = out };
	int e;

	memset(out, 0, sizeof(*out));
	e = reader_open(&r, err);
	if (!e)
		e = name_table(&r, tab);
	if (!e)
		e = read_dynsym(&r, err);
	if (!e && !out->found) {
		e = -ENOENT;
		if (out->imported)
			err_set(err, e,
				"%s only imports entry points of libcuda (%zu of them) and defines none: give libcuda itself",
				path, out->imported);
		else
			err_set(err, e, "%s defines no entry point of libcuda", path);
	}
	if (!e) {
		mark_aliases(out);
		read_build_id(&r);
	}
	HASH_CLEAR(hh, r.names);
	free(r.slots);
	if (r.elf)
		elf_end(r.elf);
	if (r.fd >= 0)
		close(r.fd);
	if (e)
		elfsyms_free(out);
	return e;
}

void elfsyms_free(struct elfsyms *s)
{
	free(s->syms);
	memset(s, 0, sizeof(*s));
}
