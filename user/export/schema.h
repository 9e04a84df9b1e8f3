/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_EXPORT_SCHEMA_H
#define GPUBPF_EXPORT_SCHEMA_H

#include <stdio.h>

/* The JSON schema (draft 2020-12) of `export --format json`; a row of JSON lines is one of its rows and "table". */
void export_json_schema(FILE *f);

#endif
