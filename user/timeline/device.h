/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_TIMELINE_DEVICE_H
#define GPUBPF_TIMELINE_DEVICE_H

#include "timeline/priv.h"

struct tl_counter {
	uint32_t track;
	bool waits; /* more may happen at this moment */
	bool begun;
	uint64_t t, value, written;
};

enum { TL_TO_DEVICE, TL_TO_HOST, TL_ELSEWHERE, TL_DIRECTIONS };

struct tl_ending {
	uint64_t end, rate;
	uint8_t direction;
};

struct tl_device {
	uint32_t track;
	struct tl_counter running, queue, rate[TL_DIRECTIONS];
	/* counters.c: while it sweeps */
	uint64_t *asked; /* when work was asked for, rising */
	size_t n, asked_room, at;
	struct tl_ending *ends; /* of what runs: a heap, the earliest first */
	size_t nends, room;
};

struct tl_context {
	uint32_t track;
	struct tl_rows graphs;
	bool has_graphs;
};

struct tl_stream {
	uint32_t device, context;
	struct tl_rows rows;
	uint32_t untimed; /* + 1 */
};

#endif
