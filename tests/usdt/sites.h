/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that fire probes, and what must be seen there. sites.c is built once per compiler and option. */
#ifndef TESTS_USDT_SITES_H
#define TESTS_USDT_SITES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SITE_WORDS = 8 };

/* What a fire function puts into word i of its record, as its count and as its sequence number. */
static inline uint64_t site_word(uint64_t seed, unsigned i)
{
	return (seed + i) * 0x9e3779b97f4a7c15u;
}

static inline uint64_t site_count(uint64_t seed)
{
	return 0xc000000000000000u | seed;
}

static inline uint64_t site_sequence(uint64_t seed)
{
	return 0x5e00000000000000u ^ (seed * 3);
}

struct site_fire {
	const char *name;
	const char *probe;
	unsigned hits; /* of the probe, the last one with `seed`, the others with seed + 1, … */
	void (*fire)(uint64_t seed);
	const void *pointer; /* where the record stands; NULL: on the stack */
};

extern const struct site_fire site_fires[];
extern const unsigned site_nfires;

/* Bit i: the semaphore of site_fires[i].probe is not 0. */
unsigned site_enabled(void);

#ifdef __cplusplus
}
#endif

#endif
