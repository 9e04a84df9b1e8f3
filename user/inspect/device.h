/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device observer in `gpubpf inspect`. */
#ifndef GPUBPF_INSPECT_DEVICE_H
#define GPUBPF_INSPECT_DEVICE_H

#include <jansson.h>

#include "inspect/inspect.h"

int inspect_device_text(const struct inspection *s, FILE *f); /* 0 or -ENOMEM; nothing without a join */
json_t *inspect_device_json(const struct inspection *s);      /* NULL: no join, or no memory */
const char *inspect_session_state(enum join_session_state s);

/* What was asked for beyond the ledger's needs; nothing of what was not. */
void inspect_extras_text(const struct join *j, FILE *f);
void inspect_extras_json(const struct join *j, json_t *o);

/* The ledger's terms in the order of the sum; what is zero in all lines may be left out of the text. */
struct device_term {
	const char *key, *head;
	size_t offset; /* in struct ledger_device_line */
};
#define DEVICE_TERMS 13
extern const struct device_term device_terms[DEVICE_TERMS];

#endif
