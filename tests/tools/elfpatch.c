// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Changes one thing of a little-endian ELF64 file that no compiler or linker can be asked for.
 *
 *   elfpatch FILE machine N          e_machine
 *   elfpatch FILE ident INDEX N      a byte of e_ident
 *   elfpatch FILE dyn-or TAG BITS    into the value of a dynamic entry that is there
 *   elfpatch FILE dyn-not TAG BITS   out of it
 *   elfpatch FILE dyn-add TAG VALUE  in one of the spare entries behind DT_NULL
 *   elfpatch FILE phdr-type OLD NEW  of the first program header of that type
 *   elfpatch FILE phdr-or TYPE FLAGS REQUIRED  into p_flags of the first of that type that has the flags REQUIRED
 *   elfpatch FILE header MACHINE     writes a header alone, big-endian, of a relocatable object
 */
#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned char image[1 << 22];
static size_t size;

static unsigned long number(const char *s)
{
	return strtoul(s, NULL, 0);
}

static Elf64_Phdr *phdr(unsigned long type, unsigned long flags)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)(void *)image;

	for (int i = 0; i < e->e_phnum; i++) {
		Elf64_Phdr *p = (Elf64_Phdr *)(void *)(image + e->e_phoff) + i;

		if (p->p_type == type && (p->p_flags & flags) == flags)
			return p;
	}
	return NULL;
}

static int dynamic(const char *what, unsigned long tag, unsigned long value)
{
	Elf64_Phdr *p = phdr(PT_DYNAMIC, 0);
	Elf64_Dyn *d = p ? (Elf64_Dyn *)(void *)(image + p->p_offset) : NULL;
	size_t n = p ? p->p_filesz / sizeof(*d) : 0;

	for (size_t i = 0; i < n; i++) {
		if (!strcmp(what, "dyn-or") && d[i].d_tag == (Elf64_Sxword)tag) {
			d[i].d_un.d_val |= value;
			return 0;
		}
		if (!strcmp(what, "dyn-not") && d[i].d_tag == (Elf64_Sxword)tag) {
			d[i].d_un.d_val &= ~value;
			return 0;
		}
		if (!strcmp(what, "dyn-add") && d[i].d_tag == DT_NULL && i + 1 < n) {
			d[i].d_tag = (Elf64_Sxword)tag;
			d[i].d_un.d_val = value;
			return 0;
		}
	}
	return 1;
}

static int big_header(unsigned long machine)
{
	memset(image, 0, sizeof(Elf64_Ehdr));
	memcpy(image, ELFMAG, SELFMAG);
	image[EI_CLASS] = ELFCLASS64;
	image[EI_DATA] = ELFDATA2MSB;
	image[EI_VERSION] = EV_CURRENT;
	image[offsetof(Elf64_Ehdr, e_type) + 1] = ET_REL;
	image[offsetof(Elf64_Ehdr, e_machine)] = (unsigned char)(machine >> 8);
	image[offsetof(Elf64_Ehdr, e_machine) + 1] = (unsigned char)machine;
	image[offsetof(Elf64_Ehdr, e_version) + 3] = EV_CURRENT;
	image[offsetof(Elf64_Ehdr, e_ehsize) + 1] = sizeof(Elf64_Ehdr);
	size = sizeof(Elf64_Ehdr);
	return 0;
}

static int patch(char **arg, int n)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)(void *)image;
	Elf64_Phdr *p;

	if (!strcmp(arg[0], "header") && n == 2)
		return big_header(number(arg[1]));
	if (size < sizeof(*e))
		return 1;
	if (!strcmp(arg[0], "machine") && n == 2)
		e->e_machine = (Elf64_Half)number(arg[1]);
	else if (!strcmp(arg[0], "ident") && n == 3)
		e->e_ident[number(arg[1]) % EI_NIDENT] = (unsigned char)number(arg[2]);
	else if (!strncmp(arg[0], "dyn-", 4) && n == 3)
		return dynamic(arg[0], number(arg[1]), number(arg[2]));
	else if (!strcmp(arg[0], "phdr-type") && n == 3 && (p = phdr(number(arg[1]), 0)))
		p->p_type = (Elf64_Word)number(arg[2]);
	else if (!strcmp(arg[0], "phdr-or") && n == 4 && (p = phdr(number(arg[1]), number(arg[3]))))
		p->p_flags |= (Elf64_Word)number(arg[2]);
	else
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	FILE *f = argc > 3 ? fopen(argv[1], "rb") : NULL;

	if (f) {
		size = fread(image, 1, sizeof(image), f);
		fclose(f);
	}
	if (argc < 4 || size == sizeof(image) || patch(argv + 2, argc - 2)) {
		fprintf(stderr, "elfpatch: %s: %s cannot be done\n", argc > 1 ? argv[1] : "",
			argc > 2 ? argv[2] : "");
		return 1;
	}
	f = fopen(argv[1], "wb");
	if (!f || fwrite(image, 1, size, f) != size || fclose(f)) {
		perror(argv[1]);
		return 1;
	}
	return 0;
}
