/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The entry points that a library file defines, and where probes go. */
#ifndef GPUBPF_ELFSYM_H
#define GPUBPF_ELFSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/apitab.h"

struct err;

enum elfsym_state {
	ELFSYM_MISSING, /* the file does not define it */
	ELFSYM_FOUND,   /* probe it */
	ELFSYM_ALIAS,   /* same code as another symbol of the table: one probe serves both */
	ELFSYM_REFUSED, /* defined, and no function in an executable segment (IFUNC, data …) */
};

struct elfsym {
	enum elfsym_state state;
	uint64_t offset;   /* in the file, of the probe */
	const char *probe; /* see struct prologue */
	uint32_t alias_of; /* index of the table */
};

struct elfsyms {
	struct elfsym *syms; /* one per entry of the table */
	size_t n, found, imported;
	unsigned machine; /* e_machine */
	uint8_t build_id[64];
	size_t build_id_len;
};

/*
 * Reads the dynamic symbols of `path`. Errors, with a message: not readable, no ELF, another architecture than
 * ours, or no entry point of the table is defined there (a file that only imports them is named as that: C9).
 */
int elfsyms_read(const char *path, const struct apitab *tab, struct elfsyms *out, struct err *err);
void elfsyms_free(struct elfsyms *s);

#endif
