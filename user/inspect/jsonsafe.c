// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/jsonsafe.h"
#include "util/fmt.h"

json_t *json_safe_string(const char *s)
{
	json_t *j = json_string(s);
	size_t n;
	char *safe;

	if (j)
		return j;
	n = 4 * strlen(s) + 1;
	safe = malloc(n);
	if (safe)
		j = json_string(fmt_safe(safe, n, s));
	free(safe);
	return j;
}

void json_put_int(json_t *o, const char *name, uint64_t v)
{
	json_object_set_new(o, name, json_integer((json_int_t)v));
}

void json_put_if(json_t *o, const char *name, bool there, uint64_t v)
{
	if (there)
		json_put_int(o, name, v);
}

void json_put_unmeasured(json_t *o, const char *name)
{
	char flag[64];

	snprintf(flag, sizeof(flag), "%s_unmeasured", name);
	json_object_set_new(o, name, json_null());
	json_object_set_new(o, flag, json_true());
}

void json_put_text(json_t *o, const char *name, const char *s)
{
	if (s)
		json_object_set_new(o, name, json_safe_string(s));
}

void json_put_bytes(json_t *o, const char *name, const uint8_t *v, size_t n)
{
	char hex[2 * 64 + 1] = "";

	if (n > 64)
		return;
	for (size_t i = 0; i < n; i++)
		snprintf(hex + 2 * i, 3, "%02x", v[i]);
	json_put_text(o, name, hex);
}

json_t *json_add_object(json_t *array)
{
	json_t *o = json_object();

	json_array_append_new(array, o);
	return o;
}

int json_write(FILE *f, const char *lead, json_t *v)
{
	int rc = -ENOMEM;

	if (v) {
		fputs(lead, f);
		rc = json_dumpf(v, f,
				JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII |
					JSON_REAL_PRECISION(15)) &&
				     !ferror(f)
			     ? -ENOMEM
			     : 0;
	}
	json_decref(v);
	return rc;
}
