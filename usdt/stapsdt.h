/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reader of the USDT probes of an ELF object: the notes "stapsdt" of type 3 that systemtap's <sys/sdt.h>, our
 * own usdt/probe.h and others emit. Format: systemtap wiki, UserSpaceProbeImplementation. A note holds three
 * words of the object's class (location, base, semaphore) and three strings (provider, name, arguments).
 *
 * Objects of either class and byte order and of any architecture are read; operands are parsed for x86-64, i386
 * and aarch64. Any bytes may be given: what is damaged is skipped and counted.
 *
 * Functions return 0 or a negative errno with a message. Nothing here prints.
 */
#ifndef GPUBPF_USDT_STAPSDT_H
#define GPUBPF_USDT_STAPSDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct usdt_err {
	char msg[1024]; /* empty: no message yet */
};

enum usdt_operand_kind {
	USDT_OPERAND_UNKNOWN,  /* not understood, or an architecture without a parser: only `text` counts */
	USDT_OPERAND_CONSTANT, /* `value`, plus the address of `symbol` if there is one */
	USDT_OPERAND_REGISTER, /* `base` */
	USDT_OPERAND_MEMORY,   /* the bytes at segment + symbol + value + base + extended index * scale */
};

/* A register as it was named. `number` is DWARF's of the architecture (x86-64, i386 and AArch64 psABI). */
struct usdt_reg {
	char name[8];   /* "rdi", "w3", "xmm0"; empty: no register */
	int16_t number; /* of the whole register that this one is part of; -1: none (xzr, segment registers) */
	uint16_t bits;  /* of the named part: 8, 16, 32, 64, 80 … 512 */
	bool high_byte; /* bits 8 to 15: ah, bh, ch, dh */
	bool is_vector; /* SIMD, x87 or mask register */
	bool is_pc;     /* rip, eip: `symbol` is relative to it, which is the same as absolute */
};

enum usdt_extend { USDT_EXTEND_NONE, USDT_EXTEND_UXTW, USDT_EXTEND_SXTW, USDT_EXTEND_SXTX };

struct usdt_operand {
	enum usdt_operand_kind kind;
	bool has_size; /* `size`, `is_signed` and `is_float` stand in the descriptor */
	uint8_t size;  /* bytes */
	bool is_signed;
	bool is_float;
	int64_t value; /* constant or displacement, modulo 2^64 */
	struct usdt_reg base, index, segment;
	uint8_t scale;           /* 1, 2, 4, 8, 16; 1 where there is no index */
	enum usdt_extend extend; /* of the index */
	const char *symbol; /* within `text`, not terminated; with its "@GOTPCREL" or ":lo12:"; NULL: none */
	size_t symbol_len;
	const char *text; /* the whole operand, within the descriptor, not terminated */
	size_t text_len;
};

/*
 * Parses a descriptor for an e_machine. Returns how many operands there are, whatever `max` is; the first `max`
 * of them are stored. They point into `args`.
 */
size_t usdt_operands_parse(unsigned machine, const char *args, struct usdt_operand *out, size_t max);
/* A register by name ("rdi", without "%"); false: the architecture has none of that name. */
bool usdt_reg_find(unsigned machine, const char *name, size_t len, struct usdt_reg *out);

enum { USDT_CODE_BYTES = 16 };

struct usdt_probe {
	const char *provider, *name;
	const char *args; /* the descriptor, as it stands; "" when there is none */
	uint64_t note_location, note_base, note_semaphore; /* as the note has them */
	uint64_t note_offset;                              /* in the file that the note stands in */

	/* Addresses of the object as it is now: the note's, moved by as much as .stapsdt.base was (prelink). */
	bool has_location; /* false: the object is not linked, its addresses stand in relocations */
	uint64_t location;
	bool has_semaphore;
	uint64_t semaphore;

	/* In the object's file, which is what the kernel's uprobes want. */
	bool has_offset, has_semaphore_offset;
	uint64_t offset, semaphore_offset;
	bool executable;         /* the location is in an executable segment */
	bool semaphore_writable; /* the semaphore's two bytes are in a writable segment and come from the file */
	uint16_t semaphore_value; /* in the file; only with has_semaphore_offset */

	uint8_t code[USDT_CODE_BYTES]; /* what stands at the location */
	size_t ncode;                  /* bytes of it; fewer at the end of a segment, 0 without has_offset */

	const struct usdt_operand *operands;
	size_t noperands;
};

enum usdt_source {
	USDT_FROM_SECTIONS,   /* note sections of the file */
	USDT_FROM_SEGMENTS,   /* its note segments: it has no section headers */
	USDT_FROM_DEBUG_FILE, /* another file with its debug information */
};

struct usdt_file;

struct usdt_opts {
	const char *debug_file; /* where the notes are if the object has none; NULL: found by build id */
	const char *
		debug_root; /* the search starts in debug_root/.build-id; NULL: /usr/lib/debug; "": no search */
};

/*
 * Reads an object. An object without probes is no error: it has 0 of them. -ENOEXEC: no ELF, or damaged beyond
 * reading; -ESTALE: `debug_file` belongs to another build. `o` may be NULL.
 */
int usdt_file__open(const char *path, const struct usdt_opts *o, struct usdt_file **out,
		    struct usdt_err *err);
/* The same of an image in memory, which must stay until close; `name` is for messages. No debug file is searched. */
int usdt_file__open_memory(const char *name, const void *image, size_t size, struct usdt_file **out,
			   struct usdt_err *err);
void usdt_file__close(struct usdt_file *f); /* NULL is fine */

size_t usdt_file__count(const struct usdt_file *f);
const struct usdt_probe *usdt_file__probe(const struct usdt_file *f, size_t i); /* NULL behind the last */
unsigned usdt_file__machine(const struct usdt_file *f);                         /* e_machine */
unsigned usdt_file__bits(const struct usdt_file *f);                            /* 32 or 64 */
bool usdt_file__big_endian(const struct usdt_file *f);
enum usdt_source usdt_file__source(const struct usdt_file *f);
const char *usdt_file__debug_file(const struct usdt_file *f); /* NULL: the notes are the object's own */
/* Notes (or whole note sections) that could not be read to their end. */
size_t usdt_file__damaged(const struct usdt_file *f);
/* NULL: none */
const uint8_t *usdt_file__build_id(const struct usdt_file *f, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
