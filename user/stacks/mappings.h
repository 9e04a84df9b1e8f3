/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a process, as /proc/PID/maps has them. */
#ifndef GPUBPF_STACKS_MAPPINGS_H
#define GPUBPF_STACKS_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mapping {
	uint64_t start, end, offset;
	uint64_t ino;
	uint32_t major, minor;
	bool exec;
	const char *path; /* "": none; "[vdso]" and the like are no files */
	size_t first;     /* of the mappings of this file that stand in a row, this one's among them */
};

struct maps {
	struct mapping *v; /* by address */
	size_t n;
	char *text;
	size_t len;
};

/*
 * Takes over the text, which must be allocated and end with a NUL. Lines in any order; those that make no sense, or overlap
 * others, are left out. 0 or -ENOMEM.
 */
int maps__parse(struct maps *m, char *text, size_t len);
const struct mapping *maps__find(const struct maps *m, uint64_t addr); /* NULL */
bool maps__overlap(const struct maps *m, uint64_t start, uint64_t end);
void mapping__put(const struct mapping *m, FILE *f); /* as a line of such a text */
bool mapping__is_file(const struct mapping *m);
void maps__clear(struct maps *m);

#endif
