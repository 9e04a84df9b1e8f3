/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Module loads as the shim saw them (R54): host time, in no kernel's duration. One row per cubin of a process, told
 * apart by size and CRC, or by CUPTI's number where the bytes could not be copied.
 */
#ifndef GPUBPF_REPORT_LOADS_H
#define GPUBPF_REPORT_LOADS_H

#include "join/join.h"
#include "util/hist.h"
#include "util/hmap.h"

struct load_row {
	uint64_t key[3]; /* process; CRC or number, and which of them; bytes */
	const struct proc *proc;
	uint32_t number;
	bool has_crc;
	uint32_t crc;
	uint64_t bytes; /* of one */
	uint64_t loads, unloads;
	uint64_t untimed; /* of loads: start or end not seen */
	struct hist time;
};

struct loads {
	struct hmap rows;
	struct hmap numbers;      /* CUPTI's number in a process → row */
	uint64_t unknown_unloads; /* of modules whose load was not seen */
};

void loads__init(struct loads *l);
void loads__clear(struct loads *l);
/* A load or an unload, in their order. 0 or -ENOMEM. */
int loads__add(struct loads *l, const struct proc *proc, const struct gpubpf_module *m);
/* All of a join. 0 or -ENOMEM. */
int loads__read(struct loads *l, const struct join *j);

#endif
