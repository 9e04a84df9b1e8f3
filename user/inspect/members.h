/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The captures that a merged one was made of. */
#ifndef GPUBPF_INSPECT_MEMBERS_H
#define GPUBPF_INSPECT_MEMBERS_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/inspect.h"

/* Nothing where the capture is not a merged one. 0 or -ENOMEM. */
int inspect_members_text(const struct inspection *s, FILE *f);
json_t *inspect_members_json(const Gpubpf__Meta *meta); /* NULL: not a merged one, or no memory */

#endif
