/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `gpubpf timeline --serve` and `--open`: the part of the command that shows the trace. */
#ifndef GPUBPF_TIMELINE_VIEW_H
#define GPUBPF_TIMELINE_VIEW_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/opts.h"

struct err;
struct timeline_view;
struct trace;

struct timeline_view_args {
	int serve, open;
	const char *ui;
	unsigned long long port, serve_for;
};
#define TIMELINE_VIEW_INIT                                                                                   \
	{                                                                                                    \
		.port = ULLONG_MAX, .serve_for = ULLONG_MAX                                                  \
	}

/* clang-format off */
#define TIMELINE_VIEW_O(base, field) ((base) + offsetof(struct timeline_view_args, field))
#define TIMELINE_VIEW_OPTS(base) \
	{ 0, "serve", OPT_FLAG, NULL, TIMELINE_VIEW_O(base, serve), \
	  "Serve the trace to a browser of this machine, and print the address of a page that hands it to the Perfetto UI. " \
	  "Nothing is uploaded; other machines cannot connect. Until Ctrl-C.", 0, NULL, 0, NULL }, \
	{ 0, "open", OPT_FLAG, NULL, TIMELINE_VIEW_O(base, open), \
	  "The same, have the desktop open the page (`xdg-open`; for the user who called sudo), and end when the trace was " \
	  "fetched. With --serve too: until Ctrl-C.", 0, NULL, 0, NULL }, \
	{ 0, "port", OPT_UINT, "N", TIMELINE_VIEW_O(base, port), \
	  "Serve on this port of 127.0.0.1. From another machine it can be reached by `ssh -L N:127.0.0.1:N`.", \
	  0, NULL, 1, "a free one" }, \
	{ 0, "ui-dir", OPT_STRING, "DIR", TIMELINE_VIEW_O(base, ui), \
	  "Serve the viewer too, from this directory, a build of the Perfetto UI (its `ui/out/dist`): for a machine without " \
	  "internet. What is in it is listed once and shown; a file that changes later is refused. Until Ctrl-C, with --open too.", \
	  0, NULL, 0, NULL }, \
	{ 0, "serve-for", OPT_DURATION, "TIME", TIMELINE_VIEW_O(base, serve_for), \
	  "End serving after this time.", 0, NULL, 0, NULL }
/* clang-format on */

bool timeline_view_wanted(const struct timeline_view_args *a);
/* What is wrong with them, and with `output` (NULL: none): a usage error. 0 or -EINVAL. */
int timeline_view_check(const struct timeline_view_args *a, const char *output, struct err *err);

/*
 * Lists the viewer's files and listens, so that what cannot be is known early. *out is NULL when nothing is to be shown. What
 * the viewer is gets printed unless `quiet`.
 */
int timeline_view__open(const struct timeline_view_args *a, const char *capture, const char *output,
			bool quiet, struct timeline_view **out, struct err *err);
/* Where the trace goes that has no name: a file that nobody sees. */
int timeline_view__fd(const struct timeline_view *v);
/* Parameters of the link by which the viewer is opened; copied. 0 or a negative errno. */
int timeline_view__focus(struct timeline_view *v, const char *link, struct err *err);
/* Serves the trace, which is written now, until there is a reason to end. */
int timeline_view__run(struct timeline_view *v, bool quiet, struct err *err);
void timeline_view__close(struct timeline_view *v); /* NULL is fine */

#endif
