/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_SIDECAR_PRIV_H
#define GPUBPF_SIDECAR_PRIV_H

#include "sidecar/sidecar.h"

struct sidecar {
	char *name; /* of the file, for messages */
	char capture[33];
	struct sidecar_node *node;
	size_t nnodes;
	struct sidecar_link *link;
	size_t nlinks, link_room;
	struct sidecar_target *target;
	size_t ntargets, target_room;
};

/* scan.c: a look at the text before anything is built of it. */
struct sidecar_scan {
	unsigned *line; /* of the n-th object inside an array inside an object: a node */
	size_t n, room;
};
/* -E2BIG: deeper, or of more values, than is read; or -ENOMEM. */
int sidecar_scan(const char *text, size_t n, struct sidecar_scan *s, char *why, size_t nwhy);

/* interval.c. 0 or -ENOMEM. */
int sidecar_place_intervals(struct sidecar *s, const struct trace *t);

#endif
