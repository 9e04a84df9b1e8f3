/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gpubpf cost those whom it recorded, as far as the capture says: one line per part that was measured, or was not. */
#ifndef GPUBPF_INSPECT_COST_H
#define GPUBPF_INSPECT_COST_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/inspect.h"

struct cost_line {
	const char *part; /* "probes", "shim", "CUPTI", "driver", "all", "recorder" */
	const char *
		what; /* machine word; of a capture, where it is newer than this program: not safe to print */
	const char *text; /* the same for people */
	bool has_calls;
	uint64_t calls;
	bool has_each, has_spread;
	uint64_t each_ns, low_ns, high_ns; /* of one; low and high: as the note says */
	bool has_timed;
	uint64_t timed; /* of so many */
	bool has_total;
	uint64_t total_ns;
	bool has_share;
	double share;       /* of the time of one thread over the whole recording */
	const char *absent; /* why each or total is not there; NULL: they are, or do not apply */
};

struct cost {
	struct cost_line line[32];
	unsigned n;
	bool has_wall;
	uint64_t wall_ns; /* recorded */
	bool has_stepped;
	uint64_t
		stepped; /* calls at entry points that the kernel single-steps, and the measured function's it does not */
};

/* NULL: the capture says something. */
const char *cost_unknown(const struct inspection *s);
/* After the reading of the whole capture. Its texts live as long as the inspection. */
void cost_read(const struct inspection *s, struct cost *c);

extern const char cost_note[]; /* how the figures came to be */

/* Nothing where cost_unknown(). */
int inspect_cost_text(const struct inspection *s, FILE *f); /* 0 or -ENOMEM */
json_t *inspect_cost_json(const struct inspection *s);      /* NULL */

/* Why there is no record of CUPTI's about its own overhead and the driver's phases; NULL: it was asked, and agreed. */
const char *cost_no_overhead(const struct inspection *s);

#endif
