/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf diff`: two arms of one or more captures each, A before and B after.
 *
 * Each capture is read, reduced to a digest and closed before the next is opened: per thing (launch key, kind of copy,
 * entry point …) a count, exact sums, a histogram and at most 64 block means (stats.h). Memory grows with distinct things.
 *
 * What costs memory is the join: 104 bytes per call, 1 GB of ten million. It is needed for what ties calls to executions:
 * launch delay, the ledger's line by line agreement; and for the order of starts: busy and idle time. So a capture with
 * more than compare_opts.join_bytes of records is streamed: device times come from the records as they arrive, delay, busy
 * and idle are "not measured", and instead of the ledger's joined table the counts of both observers have to agree, per
 * population. A launch that left no record is seen either way (R3).
 *
 * The unit is the launch key (R24): name, grid, block, cluster, registers, static and dynamic shared memory, and the kind of
 * device. Where all devices of a capture are of one kind, that kind is evidence of the environment rather than part of the
 * key: else nothing would be comparable across devices, which --allow-cross-environment asks for.
 *
 * Nothing is causal that is not controlled (R29): the environment of all captures has to be known and the same.
 */
#ifndef GPUBPF_COMPARE_H
#define GPUBPF_COMPARE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "compare/stats.h"
#include "report/report.h"

struct compare; /* opaque */
struct err;

#define COMPARE_JOIN_BYTES (UINT64_C(512) << 20)
#define COMPARE_CAPTURES 64 /* per arm, at most */

enum compare_order { COMPARE_ORDER_NONE = 0, COMPARE_ORDER_QUICK, COMPARE_ORDER_LCS };

struct compare_opts {
	struct stats_opts stats;
	bool allow_cross; /* show differences across environments, labelled as not causal */
	/*
	 * Hold the order of what ran against each other, by stream: where it parts first, or a longest common subsequence of
	 * launch keys as well (lcs.h). Of one capture per arm; costs 4 bytes per execution.
	 */
	enum compare_order order;
	uint64_t join_bytes; /* records of a capture, plain, up to which it is joined */
};

enum compare_verdict {
	COMPARE_INCONCLUSIVE =
		0, /* an arm is incomplete, or evidence is missing or unequal and nobody allowed that */
	COMPARE_CROSS_ENVIRONMENT,
	COMPARE_CROSS_HOST,
	COMPARE_CONTROLLED,
};

int compare__new(const struct compare_opts *o, struct compare **out); /* 0 or -ENOMEM */
/* Reads a capture into arm 0 (A) or 1 (B). 0 or a negative errno with a message. */
int compare__add(struct compare *c, unsigned arm, const char *path, struct err *err);
/* After the last one: tests and verdict. 0 or -ENOMEM. */
int compare__finish(struct compare *c);
void compare__free(struct compare *c); /* NULL is fine */

enum compare_verdict compare__verdict(const struct compare *c);
const char *compare_verdict_name(enum compare_verdict v); /* "controlled", "cross_host" … */
/* Why it is not controlled: n of them; NULL behind the last. */
const char *compare__reason(const struct compare *c, size_t i);
/* Differences may be shown: false where they are withheld. */
bool compare__shows(const struct compare *c);

/* Tables, in the order to print; ends with name == NULL. Their build is NULL: compare__rows() makes the rows. */
extern const struct section compare_sections[];
const struct section *compare_section(const char *name); /* NULL: no such one */
/* Sorted; rows__clear() also after an error. 0 or -ENOMEM. */
int compare__rows(const struct compare *c, const struct section *s, struct rows *rows);
/* Why the section has no rows though it would: withheld, not measured; NULL: it has what there is. */
const char *compare__withheld(const struct compare *c, const struct section *s);

/* 0 or -ENOMEM. limit: rows per section, 0 all. sections: NULL-terminated, or NULL for all. */
int compare_text(const struct compare *c, const struct section *const *sections, uint64_t limit, FILE *f);
int compare_json(const struct compare *c, const struct section *const *sections, uint64_t limit, FILE *f);
int compare_html(const struct compare *c, FILE *f);
/* What is above the tables: verdict, reasons, summary. */
int compare_head_text(const struct compare *c, FILE *f, bool color);

#endif
