/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The stacks of a capture, for readers. A file may say anything: ids that stand for nothing are frames that are not known. */
#ifndef GPUBPF_STACKS_TABLE_H
#define GPUBPF_STACKS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "events.h"
#include "util/hmap.h"

struct stack_counts {
	uint64_t calls, chains, frames;
	uint64_t quality[GPUBPF_STACK_QUALITIES];
	uint64_t late;
};

void stack_counts__add(struct stack_counts *c, const struct gpubpf_rec *rec);

struct stack_frame {
	uint64_t id;
	const char *function, *module, *source; /* ""; not known; owned by the table */
	uint64_t offset;
	uint32_t flags;
};

struct stack_chain {
	uint64_t id;
	uint32_t *frames; /* ids, from the caller of the call outwards */
	uint32_t n;
};

struct stack_call {
	uint64_t key[2]; /* process and thread, entry */
	uint32_t chain, flags;
	uint16_t api;
	uint8_t quality;
};

struct stack_table {
	struct hmap frames, chains, calls;
};

void stack_table__init(struct stack_table *t);
/* A record of any kind; what is said twice holds as it was said first. 0 or -ENOMEM. */
int stack_table__add(struct stack_table *t, const struct gpubpf_rec *rec);
const struct stack_call *stack_table__call(const struct stack_table *t, uint32_t tgid, uint32_t tid,
					   uint64_t t_entry);                           /* NULL */
const struct stack_chain *stack_table__chain(const struct stack_table *t, uint32_t id); /* NULL */
/* Never NULL. */
const struct stack_frame *stack_table__frame(const struct stack_table *t, uint32_t id);
/* Function, or file and offset, or address. `source`: and where in its source, or its file. To be freed; NULL: no memory. */
char *stack_frame__text(const struct stack_frame *f, bool source);
/* "main;a;b": from the outermost; semicolons and line ends inside names are replaced. To be freed; NULL: no memory. */
char *stack_chain__folded(const struct stack_table *t, const struct stack_chain *c);
void stack_table__clear(struct stack_table *t);

#endif
