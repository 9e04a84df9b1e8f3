/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the stand-in for the shim hands over, so that a check can tell each byte. */
#ifndef TESTS_STANDIN_H
#define TESTS_STANDIN_H

#include <stdint.h>

#include "events.h"

/* Byte `at` of item `index` of the hit with this number, where items mean nothing. */
static inline uint8_t standin_byte(unsigned probe, uint64_t sequence, unsigned index, unsigned at)
{
	uint64_t x = (sequence * 131 + index) * 257 + at + probe * 7919u;

	return (uint8_t)(x ^ x >> 8 ^ x >> 16);
}

/* Items per hit: empty, each size class from both sides, the largest batch, and more than that. */
static const unsigned standin_bytes[] = { 0,    1,    511,  512,   513,   2047,  2048, 2049,
					  8191, 8192, 8193, 16383, 16384, 17000, 40000 };
#define STANDIN_SIZES (sizeof(standin_bytes) / sizeof(standin_bytes[0]))

static const unsigned standin_item_size[GPUBPF_PROBES] = {
	sizeof(struct gpubpf_hello), sizeof(struct gpubpf_shim_call), sizeof(struct gpubpf_activity),
	sizeof(struct gpubpf_name),  sizeof(struct gpubpf_module),    sizeof(struct gpubpf_status),
};

#define STANDIN_TRACER_CALLS 7 /* calls that the worker makes in a session, after its hello */

#endif
