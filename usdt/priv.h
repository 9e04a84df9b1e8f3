/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_USDT_PRIV_H
#define GPUBPF_USDT_PRIV_H

#include <gelf.h>
#include <libelf.h>

#include "stapsdt.h"

/* Stores the message unless one is there already and returns `code`. */
int usdt_err_set(struct usdt_err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

struct usdt_segment { /* PT_LOAD */
	uint64_t vaddr, offset, filesz, memsz;
	bool executable, writable;
};

struct usdt_image {
	int fd; /* -1: the image is the caller's memory */
	Elf *elf;
	GElf_Ehdr eh;
	const uint8_t *raw;
	size_t size;
	bool is_64, is_big, has_sections;
	struct usdt_segment *segments;
	size_t nsegments;
	bool has_base; /* section .stapsdt.base */
	uint64_t base;
	uint8_t build_id[64];
	size_t build_id_len;
};

int usdt_image_open(struct usdt_image *im, const char *path, struct usdt_err *err);
int usdt_image_open_memory(struct usdt_image *im, const char *name, const void *image, size_t size,
			   struct usdt_err *err);
void usdt_image_close(struct usdt_image *im);
/* The segment that holds len bytes from vaddr, in memory; NULL: none. */
const struct usdt_segment *usdt_image_segment(const struct usdt_image *im, uint64_t vaddr, uint64_t len);
/* File offset of `len` bytes at vaddr, which all come from the file. False: they do not. */
bool usdt_image_offset(const struct usdt_image *im, const struct usdt_segment *s, uint64_t vaddr,
		       uint64_t len, uint64_t *offset);

/*
 * Calls fn for every note that is whole; `desc` and `name` point into the image. Returns how many could not be
 * read. Stops when fn returns a value other than 0 and stores it in *stopped.
 */
struct usdt_note {
	uint32_t type, namesz, descsz;
	const uint8_t *name, *desc;
	uint64_t offset; /* of the note in the file */
};
size_t usdt_image_notes(const struct usdt_image *im, int (*fn)(const struct usdt_note *n, void *arg),
			void *arg, int *stopped);

uint32_t usdt_image_u32(const struct usdt_image *im, const uint8_t *p);
uint64_t usdt_image_word(const struct usdt_image *im, const uint8_t *p); /* 4 or 8 bytes, by the class */

#endif
