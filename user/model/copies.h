/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies by direction and sets by element size, with the bytes that their calls name. */
#ifndef GPUBPF_COPIES_H
#define GPUBPF_COPIES_H

#include "model/view.h"
#include "util/hist.h"
#include "util/hmap.h"

enum copy_source {                     /* where the direction is from */
		   COPY_BY_CALL,       /* the entry point, or memory types in its struct */
		   COPY_BY_ALLOCATION, /* the call says "unified": what kind of memory the addresses are in */
		   COPY_NOT_IN_CALL,
};

struct copy_row {
	uint64_t key;
	char long_text[24];
	char direction[24]; /* "h2d", "host-to-managed" …: the machine's word */
	const char *text;   /* for what has no direction: what to tell people instead; else NULL */
	enum copy_source source;
	struct tally calls;
	uint64_t elements;         /* copies: calls, and the elements of batches */
	uint64_t bytes;            /* of those whose size is known */
	uint64_t elements_unknown; /* of elements: size not in the record */
	uint64_t captured_bytes;
	struct hist sizes; /* of copies that are not captured */
	uint64_t ns, timed;
};

struct set_row {
	struct tally calls;
	uint64_t bytes, unknown, captured_bytes;
	struct hist sizes;
	uint64_t ns, timed;
};

#define SET_WIDTHS 4 /* other, 1, 2 and 4 bytes */
extern const unsigned set_width_bytes[SET_WIDTHS];

struct copies {
	struct hmap rows;
	struct set_row sets[SET_WIDTHS];
};

void copies__init(struct copies *c);
void copies__clear(struct copies *c);
/* "host to device", "unified (direction not in the call)"; static storage or the row's own. */
const char *copy_row__text(const struct copy_row *r);
/* A call of class copy or set. 0 or -ENOMEM. */
int copies__call(struct copies *c, const struct view *v);

#endif
