/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of a process while its stacks are resolved: mappings, files, names. For the resolver's process alone. */
#ifndef GPUBPF_STACKS_SPACE_H
#define GPUBPF_STACKS_SPACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "events.h"
#include "stackraw.h"

struct intern;
struct seen;
struct space;

/* Looks at its mappings at once. */
int space__new(pid_t view, struct intern *in, const struct seen *seen, struct space **out);
/* Makes the frames and the chain that are new, and fills all of *s. 0 or a negative errno. */
int space__resolve(struct space *sp, const struct stack_raw *raw, struct gpubpf_stack *s);
void space__free(struct space *sp);

#endif
