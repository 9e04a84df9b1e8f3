/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel_view.bpf.c hands to kernel_view.c. */
#ifndef TESTS_USDT_KERNEL_VIEW_H
#define TESTS_USDT_KERNEL_VIEW_H

#define VIEW_HITS 64
#define VIEW_WORDS 8

struct view_hit {
	__u64 pointer, count, sequence;
	__u64 record[VIEW_WORDS]; /* read at `pointer` */
	__u32 tgid;
	__s32 error; /* of the read */
};

#endif
