/* SPDX-License-Identifier: BSD-2-Clause */
/* What callbacks may do now: one word, written by the owner of CUPTI, read at the start of every callback. */
#ifndef GPUBPF_SHIM_PHASE_H
#define GPUBPF_SHIM_PHASE_H

#include <stdatomic.h>
#include <stdint.h>

enum phase {
	PHASE_OFF = 0,
	PHASE_ENDING = 1, /* calls that are open may end, none begins */
	PHASE_ON = 2,
};

#define PHASE_BITS 2

/* session << PHASE_BITS | enum phase. 0 in a forked child, for ever. */
extern _Atomic uint32_t shim_phase;
/* CLOCK_MONOTONIC: calls that were entered before are not of this session. */
extern _Atomic uint64_t shim_began;

static inline uint32_t phase__word(void)
{
	return atomic_load_explicit(&shim_phase, memory_order_acquire);
}

static inline enum phase phase__of(uint32_t word)
{
	return (enum phase)(word & ((1u << PHASE_BITS) - 1));
}

static inline uint32_t phase__session(uint32_t word)
{
	return word >> PHASE_BITS;
}

static inline void phase__set(uint32_t session, enum phase p)
{
	atomic_store(&shim_phase, session << PHASE_BITS | (uint32_t)p);
}

#endif
