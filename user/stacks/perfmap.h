/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of code that is made at run time: /tmp/perf-PID.map, as JITs and Python (-X perf) write it. */
#ifndef GPUBPF_STACKS_PERFMAP_H
#define GPUBPF_STACKS_PERFMAP_H

#include <stddef.h>
#include <stdint.h>

struct perfmap {
	struct perfmap_entry {
		uint64_t start, size;
		size_t order;
		const char *name;
	} * v; /* by address; of the same one the last is first */
	size_t n;
	char *text;
	uint64_t seen; /* size of the file that it is of */
};

/* Lines "START SIZE NAME" (hexadecimal). Takes over the text, which must be allocated and end with a NUL. 0 or -ENOMEM. */
int perfmap__parse(struct perfmap *m, char *text);
const char *perfmap__find(const struct perfmap *m, uint64_t addr); /* NULL */
void perfmap__clear(struct perfmap *m);

#endif
