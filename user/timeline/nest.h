/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of one thread. A nested call's record comes before that of the call around it; viewers take what begins first for
 * the outer one, and of two that begin at one moment the one that was written first. So nested calls wait for theirs.
 */
#ifndef GPUBPF_TIMELINE_NEST_H
#define GPUBPF_TIMELINE_NEST_H

#include "timeline/priv.h"

#define TL_INSIDE_MAX 4096 /* that wait; more than that are shown beside, not inside */
#define TL_INSIDE_ARGS 8

struct tl_thread {
	uint64_t key[2];
	struct tl_rows rows;
	struct tl_nested *inside;
	unsigned ninside, room;
};

struct tl_nested { /* an event, with as many arguments as a nested call has */
	unsigned depth;
	uint32_t order; /* of arrival */
	uint64_t start, end;
	enum tl_event_type type;
	enum tl_timing timing;
	uint32_t name, work, flows_out;
	bool has_work;
	unsigned nargs;
	struct tl_arg arg[TL_INSIDE_ARGS];
};

void tl_thread__restart(struct tl_thread *th);

#endif
