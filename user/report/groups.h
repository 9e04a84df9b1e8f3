/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the digest put together under what a section's row stands for. */
#ifndef GPUBPF_REPORT_GROUPS_H
#define GPUBPF_REPORT_GROUPS_H

#include "report/device.h"

enum group_by {
	GROUP_LAUNCH_KEY, /* kernels: name, shape, registers, shared memory, kind of device (R24) */
	GROUP_NAME,       /* kernels */
	GROUP_DIRECTION,  /* copies: direction, kinds of memory, devices of a peer copy */
	GROUP_MEMORY,     /* sets: kind of memory */
};

struct group {
	const struct join_key *key; /* of one of them */
	uint32_t device;            /* 1 + index of the device; 0: all */
	size_t shapes;              /* launch keys in it */
	uint64_t records, nodes, untimed;
	uint64_t async; /* of records */
	uint64_t bytes, timed_bytes;
	struct hist time, delay, sizes;
};

struct groups {
	struct group *group;
	size_t n;
};

/* 0 or -ENOMEM; groups__clear() also then. */
int groups__make(const struct device *d, const struct join *j, enum group_by by, struct groups *g);
void groups__clear(struct groups *g);

#endif
