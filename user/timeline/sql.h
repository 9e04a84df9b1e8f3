/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The PerfettoSQL module for traces of `gpubpf timeline` (R50): module.sql, as it is. */
#ifndef GPUBPF_TIMELINE_SQL_H
#define GPUBPF_TIMELINE_SQL_H

#include "timeline/out.h"

/* The module in a file that has no name yet: tl_out__settle(), tl_out__finish(). 0 or a negative errno with a message. */
int tl_sql__open(const char *path, struct tl_out **out, struct err *err);

#endif
