// SPDX-License-Identifier: GPL-2.0-or-later
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
