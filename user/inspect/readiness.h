/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether capture was ready before CUDA was used, as a capture holds it. */
#ifndef GPUBPF_INSPECT_READINESS_H
#define GPUBPF_INSPECT_READINESS_H

#include <stdio.h>

#include <jansson.h>

#include "capture.pb-c.h"

/* NULL: the capture says nothing of it (older versions, the host observer alone), or no memory. */
json_t *inspect_readiness_json(const Gpubpf__Meta *m);
json_t *inspect_coverage_json(const Gpubpf__Meta *m);
/* One line when it was ready in every process; what is not, block by block, when not. Nothing where nothing is known. */
void inspect_readiness_lines(const Gpubpf__Meta *m, FILE *f);
/* All of it, process by process. */
void inspect_readiness_text(const Gpubpf__Meta *m, FILE *f);

#endif
