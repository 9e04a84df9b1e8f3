/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a capture says of the shim's files and of the hits of its probes. */
#ifndef GPUBPF_INSPECT_SHIMS_H
#define GPUBPF_INSPECT_SHIMS_H

#include <stdio.h>

#include <jansson.h>

#include "capture.pb-c.h"

json_t *inspect_shims_json(const Gpubpf__Meta *m);
json_t *inspect_probes_json(const Gpubpf__Counts *c);
/* 0 or -ENOMEM. `c` NULL: no counters. */
int inspect_shims_text(const Gpubpf__Meta *m, const Gpubpf__Counts *c, FILE *f);

#endif
