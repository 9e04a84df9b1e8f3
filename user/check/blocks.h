/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Medians of blocks of gaps (R34). A block has exactly the size that was asked for; 0 is an eighth of the gaps, rounded down.
 * Gaps that fill no block are the end of one more block of that size, which shares the rest of its gaps with the block before:
 * no gap is left out, and no median is of fewer gaps than the others.
 */
#ifndef GPUBPF_CHECK_BLOCKS_H
#define GPUBPF_CHECK_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BLOCKS_AUTO 8
#define BLOCKS_AUTO_GAPS 32 /* auto needs so many */

struct blocks {
	uint64_t size;            /* effective; 0: too few gaps */
	uint64_t needed;          /* gaps for that size */
	uint64_t whole;           /* blocks without the last one below */
	uint64_t trailing;        /* gaps behind the whole blocks: 0 or the new ones of one more block */
	uint64_t median;          /* of all gaps */
	uint64_t lowest, highest; /* medians of blocks */
	uint64_t lowest_at, highest_at; /* their numbers, from 1; whole + 1: the one with the trailing gaps */
};

/* The gaps stay in their order. size: as asked for. 0 or -ENOMEM. */
int blocks_of(const uint64_t *gap, size_t n, uint64_t size, struct blocks *b);
uint64_t blocks__count(const struct blocks *b);
/* (highest - lowest) / median of all; false: the median is 0 and they differ. */
bool blocks__spread(const struct blocks *b, double *spread);

#endif
