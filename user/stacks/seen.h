/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings that the kernel told of as they were made: for processes that are gone before anybody looks at theirs. */
#ifndef GPUBPF_STACKS_SEEN_H
#define GPUBPF_STACKS_SEEN_H

#include <stdint.h>
#include <sys/types.h>

#include "stacks/mappings.h"

struct seen;

int seen__new(struct seen **out);
/* What it overlaps is gone. Of a bounded number of processes, those that mapped something last. */
void seen__add(struct seen *s, pid_t view, const struct mapping *m);
/* 0, -ENOENT: nothing is known, -ENOMEM. */
int seen__maps(const struct seen *s, pid_t view, struct maps *out);
void seen__free(struct seen *s);

#endif
