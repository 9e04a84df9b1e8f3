/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels of NCCL (and RCCL) by their names, which are all that tells a collective from other work. */
#ifndef GPUBPF_NCCL_H
#define GPUBPF_NCCL_H

#include <stdbool.h>

struct nccl_kind {
	const char *name; /* "AllReduce" … */
	/* No rank can end before the last one has begun: what each gets is made of what all give. */
	bool of_all;
	/* Between two ranks, which the name does not tell: an all-to-all of point-to-point pieces, too. */
	bool pairs;
};

/*
 * `name`: as c++filt shows it. NULL: no kernel of NCCL. Names, by NCCL's source:
 *   ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)            2.19 and later
 *   ncclSymDevKernel_AllReduce_…, ncclSymkDevKernel_…     2.27 and later, of symmetric memory
 *   ncclKernel_AllReduce_RING_LL_Sum_float(…)             2.9 to 2.18
 *   ncclAllReduceRingLLKernel_sum_f32(…)                  before
 */
const struct nccl_kind *nccl_kernel(const char *name);

#endif
