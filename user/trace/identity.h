/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells one capture from another, by what it holds and never by its file's name (R47). */
#ifndef GPUBPF_IDENTITY_H
#define GPUBPF_IDENTITY_H

#include <stdint.h>

#include "inspect/inspect.h"

struct identity {
	uint64_t word[2];
	char text[33]; /* hexadecimal */
};

/* The same for a capture wherever it lies, and for the part of it that a killed recorder left. */
void identity__of(const Gpubpf__Meta *meta, struct identity *id);
/* A number that no other has within this capture and `kind` (0 … 15), and that is never 0; n < 2^60. */
uint64_t identity__id(const struct identity *id, unsigned kind, uint64_t n);

#endif
