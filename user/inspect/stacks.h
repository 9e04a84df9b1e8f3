/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of calls: of a record, and what the capture says of them. */
#ifndef GPUBPF_INSPECT_STACKS_H
#define GPUBPF_INSPECT_STACKS_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/inspect.h"

void inspect_stack_record_text(const struct inspection *s, const struct gpubpf_rec *rec, FILE *f);
void inspect_stack_record_json(const struct inspection *s, const struct gpubpf_rec *rec, json_t *o);
/* Nothing where the capture has none. */
void inspect_stacks_text(const struct inspection *s, FILE *f);
json_t *inspect_stacks_json(const struct inspection *s); /* NULL */

#endif
