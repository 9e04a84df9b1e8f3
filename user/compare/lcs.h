/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What two sequences have in common, in their order: Myers' O(ND) in linear space. */
#ifndef GPUBPF_COMPARE_LCS_H
#define GPUBPF_COMPARE_LCS_H

#include <stddef.h>
#include <stdint.h>

#define LCS_DIFFERENCES 20000 /* more are given up: the time grows with their square */

/*
 * Marks with 1 what of a and b is not in a longest common subsequence; the marks were zeroed. 0, -E2BIG: more than `most`
 * differences (the marks mean nothing then), or -ENOMEM. Time O((n + m) · differences), memory O(differences).
 */
int lcs_mark(const uint32_t *a, size_t n, const uint32_t *b, size_t m, size_t most, uint8_t *in_a,
	     uint8_t *in_b);

#endif
