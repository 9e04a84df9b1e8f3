/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_INSPECT_JSONSAFE_H
#define GPUBPF_INSPECT_JSONSAFE_H

#include <jansson.h>

/* A JSON string of any bytes: those that are not UTF-8 become \xNN, as in text. */
json_t *json_safe_string(const char *s);

#endif
