/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Log-linear histogram of unsigned 64-bit values (times in ns, sizes in bytes). Values below 256 are exact;
 * above, each power of two is cut into 128 buckets and a bucket answers with its lowest value: a quantile is
 * never above the true one and at most 1/128 (0.8 %) below it, and round sizes stay round. Count, sum, minimum
 * and maximum are exact. Memory: a header and 1 KiB per power of two in use. All-zero bytes are an empty
 * histogram.
 */
#ifndef GPUBPF_HIST_H
#define GPUBPF_HIST_H

#include <stdbool.h>
#include <stdint.h>

#define HIST_OCTAVES 57
#define HIST_SUB 128

struct hist {
	uint64_t n;
	uint64_t sum;      /* stays at UINT64_MAX when it would not fit */
	uint64_t min, max; /* meaningful when n > 0 */
	uint64_t (*chunk)[HIST_SUB];
	uint8_t chunks;
	uint8_t slot[HIST_OCTAVES + 1]; /* 1 + index in chunk; 0: nothing there yet */
};

int hist__add(struct hist *h, uint64_t v);               /* 0 or -ENOMEM (then nothing changed) */
int hist__add_n(struct hist *h, uint64_t v, uint64_t n); /* the same value n times */
int hist__merge(struct hist *into, const struct hist *from);
/* Nearest rank; q in 0 … 1. False when the histogram is empty. */
bool hist__quantile(const struct hist *h, double q, uint64_t *v);
/* How many values are in the bucket of v and above. Exact for values that are not less than v where v is a bucket's lowest. */
uint64_t hist__from(const struct hist *h, uint64_t v);
/*
 * The lowest value of a bucket from which on there are at most n values; where the highest bucket alone holds more, that
 * one's. False when the histogram is empty.
 */
bool hist__tail(const struct hist *h, uint64_t n, uint64_t *v);
void hist__clear(struct hist *h);

#endif
