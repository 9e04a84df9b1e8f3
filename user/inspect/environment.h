/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where and how a capture was made (environment/environment.h). */
#ifndef GPUBPF_INSPECT_ENVIRONMENT_H
#define GPUBPF_INSPECT_ENVIRONMENT_H

#include <stdio.h>

#include "inspect/inspect.h"

/* After inspection__read(). 0 or -ENOMEM; whether the stream took it is the caller's to ask. */
int inspect_environment_text(const struct inspection *s, FILE *f);
int inspect_environment_json(const struct inspection *s, FILE *f);

#endif
