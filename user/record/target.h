/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_TARGET_H
#define GPUBPF_TARGET_H

#include <sys/types.h>

struct err;
struct opt_list;

/*
 * The process ids of -p, checked: numbers (-EINVAL with a message when not), each once, of live processes (not
 * threads, not zombies, not kernel threads). Allocated; NULL for an empty list.
 */
int targets_parse(const struct opt_list *list, pid_t **out, struct err *err);

#endif
