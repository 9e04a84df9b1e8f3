/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ELF objects with probes, built by hand: either class and byte order, notes in several sections or segments.
 * Text is mapped at 0x10000 (file 0x1000, 0x100 bytes, of which the notes' probes are at nops), data at 0x20000
 * (file 0x2000, 0x100 bytes in the file, 0x200 in memory).
 */
#ifndef TESTS_USDT_IMAGE_H
#define TESTS_USDT_IMAGE_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
	IMAGE_BYTES = 0x6000,
	IMAGE_TEXT = 0x10000,
	IMAGE_DATA = 0x20000,
	IMAGE_NOTES = 0x3000,
	IMAGE_PARTS = 4
};

struct image {
	bool is_64, is_big;
	unsigned machine, type;
	bool with_sections;
	uint64_t base;  /* address of .stapsdt.base; 0: no such section */
	unsigned parts; /* of notes; image_part() starts one */
	unsigned align; /* of the parts; 0: 4 */
	size_t from[IMAGE_PARTS], len[IMAGE_PARTS];
	size_t size; /* of the whole, after image_end() */
	uint8_t b[IMAGE_BYTES];
};

static inline void image_put(struct image *im, size_t at, uint64_t v, unsigned bytes)
{
	for (unsigned i = 0; i < bytes; i++)
		im->b[at + i] = (uint8_t)(v >> 8 * (im->is_big ? bytes - 1 - i : i));
}

/* A word of the class. */
static inline size_t image_word(struct image *im, size_t at, uint64_t v)
{
	image_put(im, at, v, im->is_64 ? 8 : 4);
	return at + (im->is_64 ? 8 : 4);
}

static inline struct image image_begin(unsigned machine, bool is_64, bool is_big)
{
	struct image im = {
		.is_64 = is_64, .is_big = is_big, .machine = machine, .type = ET_DYN, .with_sections = true
	};

	memset(im.b + 0x1000, machine == EM_X86_64 ? 0x90 : 0, 0x100);
	for (size_t i = 0; i < 0x100 && machine == EM_AARCH64; i += 4)
		memcpy(im.b + 0x1000 + i, "\x1f\x20\x03\xd5", 4);
	return im;
}

static inline void image_part(struct image *im)
{
	size_t last = im->parts ? im->from[im->parts - 1] + im->len[im->parts - 1] : (size_t)IMAGE_NOTES;

	/* Something that is no note stands between them. */
	im->from[im->parts] = (last + 0x40) & ~(size_t)0x3f;
	memset(im->b + last, im->parts ? 0xa5 : 0, im->from[im->parts] - last);
	im->len[im->parts++] = 0;
}

static inline size_t image_align(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static inline void image_raw_note(struct image *im, const char *name, uint32_t type, const void *desc,
				  size_t n)
{
	size_t *len = &im->len[im->parts - 1], at = im->from[im->parts - 1] + *len, namesz = strlen(name) + 1;

	image_put(im, at, namesz, 4);
	image_put(im, at + 4, n, 4);
	image_put(im, at + 8, type, 4);
	memcpy(im->b + at + 12, name, namesz);
	memcpy(im->b + at + 12 + image_align(namesz), desc, n);
	*len += 12 + image_align(namesz) + image_align(n);
}

/* The strings follow each other, "provider\0name\0args", with the NUL behind the last. */
static inline void image_probe(struct image *im, uint64_t location, uint64_t base, uint64_t semaphore,
			       const char *strings, size_t n)
{
	struct image words = { .is_64 = im->is_64, .is_big = im->is_big };
	size_t at = image_word(&words, image_word(&words, image_word(&words, 0, location), base), semaphore);

	memcpy(words.b + at, strings, n);
	image_raw_note(im, "stapsdt", 3, words.b, at + n);
}
#define IMAGE_PROBE(im, location, base, semaphore, strings)                                                  \
	image_probe(im, location, base, semaphore, strings, sizeof(strings))

static inline void image_phdr(struct image *im, size_t at, unsigned type, unsigned flags, uint64_t offset,
			      uint64_t vaddr, uint64_t filesz, uint64_t memsz)
{
	image_put(im, at, type, 4);
	if (im->is_64)
		image_put(im, at + 4, flags, 4);
	at = image_word(im, at + (im->is_64 ? 8 : 4), offset);
	at = image_word(im, image_word(im, at, vaddr), vaddr);
	at = image_word(im, image_word(im, at, filesz), memsz);
	if (!im->is_64) {
		image_put(im, at, flags, 4);
		at += 4;
	}
	image_word(im, at, im->align ? im->align : 4);
}

static inline void image_shdr(struct image *im, size_t at, unsigned name, unsigned type, uint64_t addr,
			      uint64_t offset, uint64_t size)
{
	image_put(im, at, name, 4);
	image_put(im, at + 4, type, 4);
	at = image_word(im, at + 8, 0);
	at = image_word(im, image_word(im, image_word(im, at, addr), offset), size);
	image_word(im, at + 8, im->align ? im->align : 4);
}

static inline void image_end(struct image *im)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	size_t ehsize = im->is_64 ? 64 : 52, phsize = im->is_64 ? 56 : 32, shsize = im->is_64 ? 64 : 40,
	       at = 24;
	size_t sections = 0x5000, n = im->with_sections ? 2 + im->parts + (im->base != 0) : 0;
	unsigned loads = im->type == ET_REL ? 0 : 2;

	memcpy(im->b, ELFMAG, SELFMAG);
	im->b[EI_CLASS] = im->is_64 ? ELFCLASS64 : ELFCLASS32;
	im->b[EI_DATA] = im->is_big ? ELFDATA2MSB : ELFDATA2LSB;
	im->b[EI_VERSION] = EV_CURRENT;
	image_put(im, 16, im->type, 2);
	image_put(im, 18, im->machine, 2);
	image_put(im, 20, EV_CURRENT, 4);
	at = image_word(im, image_word(im, image_word(im, at, 0), ehsize), n ? sections : 0);
	image_put(im, at + 4, ehsize, 2);
	image_put(im, at + 6, phsize, 2);
	image_put(im, at + 8, loads + (im->with_sections ? 0 : im->parts), 2);
	image_put(im, at + 10, shsize, 2);
	image_put(im, at + 12, n, 2);
	image_put(im, at + 14, n ? n - 1 : 0, 2);
	if (loads) {
		image_phdr(im, ehsize, PT_LOAD, PF_R | PF_X, 0x1000, IMAGE_TEXT, 0x100, 0x100);
		image_phdr(im, ehsize + phsize, PT_LOAD, PF_R | PF_W, 0x2000, IMAGE_DATA, 0x100, 0x200);
	}
	for (unsigned i = 0; i < im->parts && !im->with_sections; i++)
		image_phdr(im, ehsize + (loads + i) * phsize, PT_NOTE, PF_R, im->from[i], 0, im->len[i],
			   im->len[i]);
	im->size = n ? sections + n * shsize : sections;
	if (!n)
		return;
	memcpy(im->b + 0x4f00, names, sizeof(names));
	for (unsigned i = 0; i < im->parts; i++)
		image_shdr(im, sections + (1 + i) * shsize, 1, SHT_NOTE, 0, im->from[i], im->len[i]);
	if (im->base)
		image_shdr(im, sections + (1 + im->parts) * shsize, 15, SHT_PROGBITS, im->base, 0x1000, 1);
	image_shdr(im, sections + (n - 1) * shsize, 29, SHT_STRTAB, 0, 0x4f00, sizeof(names));
}

#endif
