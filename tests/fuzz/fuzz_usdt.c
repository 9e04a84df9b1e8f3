/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as an object with probes: read, checked, listed. The first 16 bytes of most inputs would only be refused
 * by libelf, so each input is read twice: as it is, and as the note section of a whole object.
 */
#include <elf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "usdt/contract.h"
#include "usdt/stapsdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const unsigned machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_PPC64 };

/* Every operand lies within its descriptor. */
static void look(const struct usdt_probe *p)
{
	size_t len = strlen(p->args);

	for (size_t i = 0; i < p->noperands; i++) {
		const struct usdt_operand *o = &p->operands[i];

		if (o->text < p->args || o->text_len > len - (size_t)(o->text - p->args) || !o->text_len)
			abort();
		if (o->symbol && (o->symbol < o->text || o->symbol + o->symbol_len > o->text + o->text_len))
			abort();
	}
}

static void read_object(const uint8_t *data, size_t size)
{
	struct usdt_site *sites;
	struct usdt_diffs d;
	struct usdt_file *f;
	size_t n;

	if (usdt_file__open_memory("input", data, size, &f, NULL))
		return;
	for (size_t i = 0; i < usdt_file__count(f); i++)
		look(usdt_file__probe(f, i));
	if (usdt_contract_check(f, 0, &d, NULL) == 0)
		usdt_diffs_free(&d);
	if (usdt_sites(f, EM_X86_64, &sites, &n, NULL) == 0)
		free(sites);
	usdt_file__close(f);
}

/* Header, three section headers, and the input as the notes. */
static void read_notes(const uint8_t *data, size_t size)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Phdr ph[2];
		Elf64_Shdr sh[3];
	} h = { 0 };
	uint8_t *image = calloc(1, sizeof(h) + size + 1);

	if (!image)
		abort();
	memcpy(h.eh.e_ident, "\177ELF\2\1\1", 7);
	h.eh.e_type = ET_DYN;
	h.eh.e_machine = (uint16_t)machines[size ? data[0] % 4 : 0];
	h.eh.e_version = EV_CURRENT;
	h.eh.e_ehsize = sizeof(h.eh);
	h.eh.e_phoff = sizeof(h.eh);
	h.eh.e_phentsize = sizeof(h.ph[0]);
	h.eh.e_phnum = 2;
	h.eh.e_shoff = sizeof(h.eh) + sizeof(h.ph);
	h.eh.e_shentsize = sizeof(h.sh[0]);
	h.eh.e_shnum = 3;
	h.ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = 64, .p_memsz = 64 };
	h.ph[1] = (Elf64_Phdr){ .p_type = PT_LOAD,
				.p_flags = PF_R | PF_W,
				.p_vaddr = 4096,
				.p_offset = 64,
				.p_filesz = 64,
				.p_memsz = 96 };
	h.sh[1] = (Elf64_Shdr){
		.sh_type = SHT_NOTE, .sh_offset = sizeof(h), .sh_size = size, .sh_addralign = 4
	};
	/* Once more, overlapping. */
	h.sh[2] = h.sh[1];
	h.sh[2].sh_size = size / 2;
	memcpy(image, &h, sizeof(h));
	if (size)
		memcpy(image + sizeof(h), data, size);
	read_object(image, sizeof(h) + size);
	free(image);
}

static void parse_operands(const uint8_t *data, size_t size)
{
	char *text = calloc(1, size + 1);
	struct usdt_operand o[4];

	if (!text)
		abort();
	if (size)
		memcpy(text, data, size);
	for (unsigned m = 0; m < 4; m++)
		usdt_operands_parse(machines[m], text, o, 4);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(
		size ? size : 1); /* libelf wants its own alignment, and a read too far must be seen */

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	read_object(copy, size);
	free(copy);
	read_notes(data, size);
	parse_operands(data, size);
	return 0;
}
