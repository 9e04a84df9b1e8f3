/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakdowns of calls: of a record, and what the capture says of them. */
#ifndef GPUBPF_INSPECT_LATENCY_H
#define GPUBPF_INSPECT_LATENCY_H

#include <jansson.h>
#include <stdio.h>

#include "inspect/inspect.h"

struct gpubpf_latency;
struct gpubpf_waker;

void inspect_latency_record_text(const struct gpubpf_latency *r, FILE *f);
void inspect_latency_record_json(const struct gpubpf_latency *r, json_t *o);
void inspect_waker_text(const struct inspection *s, const struct gpubpf_waker *w, FILE *f);
void inspect_waker_json(const struct inspection *s, const struct gpubpf_waker *w, json_t *o);
/* Nothing where the capture has none. */
void inspect_latency_text(const struct inspection *s, FILE *f);
json_t *inspect_latency_json(const struct inspection *s); /* NULL */

#endif
