/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_INSPECT_JSONSAFE_H
#define GPUBPF_INSPECT_JSONSAFE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A JSON string of any bytes: those that are not UTF-8 become \xNN, as in text. */
json_t *json_safe_string(const char *s);

/* Members of an object; what is absent is left out (R14). */
void json_put_int(json_t *o, const char *name, uint64_t v);
void json_put_if(json_t *o, const char *name, bool there, uint64_t v);
/* A value that nobody observed: null, and NAME_unmeasured beside it. */
void json_put_unmeasured(json_t *o, const char *name);
void json_put_text(json_t *o, const char *name, const char *s); /* NULL: absent */
void json_put_bytes(json_t *o, const char *name, const uint8_t *v,
		    size_t n); /* hexadecimal; more than 64: absent */
/* Writes `lead` and the value, which it takes, on one line. 0 or -ENOMEM, for v NULL too; the file keeps its own error. */
int json_write(FILE *f, const char *lead, json_t *v);
/* A new object at the end of the array, which owns it. */
json_t *json_add_object(json_t *array);

#endif
