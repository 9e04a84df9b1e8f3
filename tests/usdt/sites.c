/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probe sites in every position that gives a compiler a chance to do something else than we mean. C and C++.
 * Nothing here reads a record after it was written: without the clobber in the macro the stores are dead.
 */
#include "sites.h"

#include "usdt/probe.h"
#include "usdt/probes.h"

#define X(name, NAME) GPUBPF_PROBE_DEFINE(name);
GPUBPF_EACH_PROBE(X)
#undef X

#define NOINLINE __attribute__((noinline))

static void fill(uint64_t *words, uint64_t seed)
{
	for (unsigned i = 0; i < SITE_WORDS; i++)
		words[i] = site_word(seed, i);
}

/* A record that only lives on the stack. */
NOINLINE static void fire_local(uint64_t seed)
{
	uint64_t record[SITE_WORDS];

	record[0] = site_word(seed, 0);
	record[1] = site_word(seed, 1);
	record[2] = site_word(seed, 2);
	record[3] = site_word(seed, 3);
	record[4] = site_word(seed, 4);
	record[5] = site_word(seed, 5);
	record[6] = site_word(seed, 6);
	record[7] = site_word(seed, 7);
	GPUBPF_PROBE(hello_v1, record, site_count(seed), site_sequence(seed));
}

/* Stores that later ones overwrite: both must have happened when their probe fires. */
static uint64_t batch[SITE_WORDS];

NOINLINE static void fire_overwritten(uint64_t seed)
{
	fill(batch, seed + 1);
	GPUBPF_PROBE(calls_v1, batch, site_count(seed + 1), site_sequence(seed + 1));
	fill(batch, seed);
	GPUBPF_PROBE(calls_v1, batch, site_count(seed), site_sequence(seed));
	fill(batch, ~seed);
}

/* One site in the source, two in the object. */
static inline __attribute__((always_inline)) void emit(const uint64_t *words, uint64_t count,
						       uint64_t sequence)
{
	GPUBPF_PROBE(activity_v1, words, count, sequence);
}

NOINLINE static void fire_inline(uint64_t seed)
{
	uint64_t record[SITE_WORDS];

	fill(record, seed + 1);
	emit(record, site_count(seed + 1), site_sequence(seed + 1));
	if (seed & 1)
		fill(record, seed);
	else
		fill(record, seed | 0);
	emit(record, site_count(seed), site_sequence(seed));
}

/* Arguments that come in the registers of the site, in another order. */
NOINLINE static void permuted(uint64_t sequence, const uint64_t *words, uint64_t count)
{
	GPUBPF_PROBE(names_v1, words, count, sequence);
}

NOINLINE static void fire_permuted(uint64_t seed)
{
	uint64_t record[SITE_WORDS];

	fill(record, seed);
	permuted(site_sequence(seed), record, site_count(seed));
}

/* Arguments that are calls: each leaves its own values in the registers of the site. */
NOINLINE static const uint64_t *call_pointer(uint64_t a, uint64_t b, uint64_t seed)
{
	fill(batch, seed);
	return a != b ? batch : (const uint64_t *)0;
}

NOINLINE static uint64_t call_count(uint64_t a, uint64_t b, uint64_t seed)
{
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(seed));
	return a != b ? site_count(seed) : 0;
}

NOINLINE static uint64_t call_sequence(uint64_t a, uint64_t b, uint64_t seed)
{
	__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(seed));
	return a != b ? site_sequence(seed) : 0;
}

NOINLINE static void fire_calls(uint64_t seed)
{
	GPUBPF_PROBE(modules_v1, call_pointer(1, 2, seed), call_count(3, 4, seed), call_sequence(5, 6, seed));
}

/* In a loop that the compiler may unroll or turn around; the count is narrower than its register. */
NOINLINE static void fire_loop(uint64_t seed)
{
	uint64_t record[SITE_WORDS];

	for (unsigned k = 4; k-- > 0;) {
		fill(record, seed + k);
		GPUBPF_PROBE(status_v1, record, site_count(seed + k), site_sequence(seed + k));
	}
}

const struct site_fire site_fires[] = {
	{ "a record on the stack", "hello_v1", 1, fire_local, 0 },
	{ "stores that are overwritten", "calls_v1", 2, fire_overwritten, batch },
	{ "an inline function", "activity_v1", 2, fire_inline, 0 },
	{ "arguments in permuted registers", "names_v1", 1, fire_permuted, 0 },
	{ "arguments that are calls", "modules_v1", 1, fire_calls, batch },
	{ "a loop", "status_v1", 4, fire_loop, 0 },
};
const unsigned site_nfires = sizeof(site_fires) / sizeof(site_fires[0]);

unsigned site_enabled(void)
{
	return (GPUBPF_PROBE_ENABLED(hello_v1) ? 1u : 0) | (GPUBPF_PROBE_ENABLED(calls_v1) ? 2u : 0) |
	       (GPUBPF_PROBE_ENABLED(activity_v1) ? 4u : 0) | (GPUBPF_PROBE_ENABLED(names_v1) ? 8u : 0) |
	       (GPUBPF_PROBE_ENABLED(modules_v1) ? 16u : 0) | (GPUBPF_PROBE_ENABLED(status_v1) ? 32u : 0);
}
