/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline/sql.h"

static const char module[] =
#include "module.sql.h" /* made of module.sql */
	;

int tl_sql__open(const char *path, struct tl_out **out, struct err *err)
{
	int rc = tl_out__open(path, out, err);

	if (!rc)
		rc = tl_out__write(*out, module, sizeof(module) - 1);
	if (rc && *out)
		tl_out__failed(*out, rc, err);
	return rc;
}
