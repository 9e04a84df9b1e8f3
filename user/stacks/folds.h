/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks with the same functions are one, whatever the lines were. */
#ifndef GPUBPF_STACKS_FOLDS_H
#define GPUBPF_STACKS_FOLDS_H

#include <stdint.h>

#include "stacks/table.h"

struct fold;
struct folds {
	struct hmap chains;
	struct fold *by_text;
};

void folds__init(struct folds *f);
void folds__clear(struct folds *f);
/* Of a chain of the table; NULL: no memory. */
const struct fold *folds__of(struct folds *f, const struct stack_table *t, uint32_t chain);
uint64_t fold__id(const struct fold *f);      /* from 0, in the order of arrival */
const char *fold__text(const struct fold *f); /* from the outermost; stack_chain__folded() */

#endif
