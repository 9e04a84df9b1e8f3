/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `gpubpf timeline --html`: one page that needs nothing else, no network either. The page itself (page/) is inside the
 * program; behind its markup come the events, as columns.c has them, compressed (zlib) and in base64.
 */
#ifndef GPUBPF_TIMELINE_PAGE_H
#define GPUBPF_TIMELINE_PAGE_H

#include "timeline/timeline.h"

/* As timeline_write(); the format is the page's, a budget it has none. result.bytes are the page's. */
int timeline_page_write(struct trace *t, const struct timeline_opts *o, timeline_write_fn *fn, void *arg,
			struct timeline_result *r, struct err *err);

#endif
