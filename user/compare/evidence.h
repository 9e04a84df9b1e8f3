/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two captures may be compared at all, for whoever compares something of them: R29, R30, as `gpubpf diff` judges. */
#ifndef GPUBPF_COMPARE_EVIDENCE_H
#define GPUBPF_COMPARE_EVIDENCE_H

#include "compare/compare.h"

struct compare_evidence; /* of one capture: its environment, where it was recorded, whether it is whole */

/* Of a capture that inspection__read() has read; it may be closed afterwards. 0 or -ENOMEM. */
int compare_evidence__of(const struct inspection *in, struct compare_evidence **out);
void compare_evidence__free(struct compare_evidence *e); /* NULL is fine */
/* *why: what is not equal or not known, "" where nothing is; the caller's to free, also after an error. 0 or -ENOMEM. */
int compare_evidence__judge(const struct compare_evidence *a, const struct compare_evidence *b,
			    bool allow_cross, enum compare_verdict *v, char **why);

#endif
