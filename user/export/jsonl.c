// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>

#include "export/export.h"
#include "util/err.h"

int export_jsonl(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err)
{
	(void)t;
	(void)out;
	(void)o;
	return err_set(err, -ENOSYS, "jsonl: not there yet");
}
