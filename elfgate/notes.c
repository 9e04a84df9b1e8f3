// SPDX-License-Identifier: GPL-2.0-or-later
/* Notes in segments: the build id, the oldest kernel (GNU ABI tag) and the GNU properties. */
#include "object.h"

#include <string.h>

#ifndef GNU_PROPERTY_X86_ISA_1_NEEDED
#define GNU_PROPERTY_X86_ISA_1_NEEDED 0xc0008002
#endif

/* Content of notes is not converted by libelf. */
static uint32_t word(const struct elfobj *o, const uint8_t *p)
{
	if (o->ehdr.e_ident[EI_DATA] == ELFDATA2MSB)
		return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void read_properties(struct elfobj *o, const uint8_t *p, size_t size)
{
	size_t align = o->ehdr.e_ident[EI_CLASS] == ELFCLASS64 ? 8 : 4;

	while (size >= 8) {
		uint32_t type = word(o, p), len = word(o, p + 4);
		size_t step = 8 + (((size_t)len + align - 1) & ~(align - 1));

		if (len > size - 8)
			return;
		if (type == GNU_PROPERTY_X86_ISA_1_NEEDED && len >= 4 && o->arch == ELFGATE_X86_64)
			o->isa_needed |= word(o, p + 8);
		if (step > size)
			return;
		p += step;
		size -= step;
	}
}

static void read_note(struct elfobj *o, const GElf_Nhdr *n, const uint8_t *desc)
{
	size_t size = n->n_descsz;

	switch (n->n_type) {
	case NT_GNU_BUILD_ID:
		o->build_id_len = size < sizeof(o->build_id) ? size : sizeof(o->build_id);
		memcpy(o->build_id, desc, o->build_id_len);
		break;
	case NT_GNU_ABI_TAG:
		if (size < 16 || word(o, desc) != ELF_NOTE_OS_LINUX)
			break;
		o->has_abi_tag = true;
		for (int i = 0; i < 3; i++)
			o->abi_tag[i] = word(o, desc + 4 + 4 * i);
		break;
	case NT_GNU_PROPERTY_TYPE_0:
		read_properties(o, desc, size);
		break;
	}
}

int elfobj__read_notes(struct elfobj *o)
{
	for (size_t i = 0; i < o->n_phdrs; i++) {
		const GElf_Phdr *p = &o->phdrs[i];
		size_t at = 0, next, name, desc;
		Elf_Data *d;
		GElf_Nhdr n;

		if (p->p_type != PT_NOTE || !p->p_filesz)
			continue;
		d = elfobj__chunk(o, p->p_offset, p->p_filesz, p->p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (!d) {
			elfobj__damaged(o, PART_NOTES, "note segment %zu is not in the file", i);
			return 0;
		}
		for (; at < d->d_size && (next = gelf_getnote(d, at, &n, &name, &desc)); at = next) {
			if (n.n_namesz == 4 && !memcmp((char *)d->d_buf + name, "GNU", 4))
				read_note(o, &n, (const uint8_t *)d->d_buf + desc);
		}
		if (at < d->d_size) {
			elfobj__damaged(o, PART_NOTES, "a note of segment %zu does not end in it", i);
			return 0;
		}
	}
	return 0;
}
