/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of kernels by launch key (R24), so that those of two captures can be laid side by side. */
#ifndef GPUBPF_CHECK_SAMPLES_H
#define GPUBPF_CHECK_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

struct check_sample {
	char *key; /* name, grid, block, cluster, registers, shared memory: the same text in every capture */
	const char *raw, *display; /* of the name; behind the key in its allocation */
	uint64_t *ns;              /* n of them, in the order of start */
	size_t n, room;
	uint64_t untimed; /* records without a time */
	uint64_t sum;
};

struct check_samples {
	struct check_sample *s; /* by key */
	size_t n;
	uint64_t sum;        /* ns of all kernel records with times */
	bool several_kinds;  /* of devices in the machine */
	uint64_t unresolved; /* records of no known name: in no sample */
};

bool check_several_kinds(const Gpubpf__Meta *m);
int check_samples__of(const struct trace *t, struct check_samples **out); /* 0 or -ENOMEM */
void check_samples__free(struct check_samples *s);                        /* NULL is fine */
const struct check_sample *check_samples__find(const struct check_samples *s, const char *key);
uint64_t check_sample__median(const struct check_sample *s, uint64_t *room); /* n > 0; room for n values */

#endif
