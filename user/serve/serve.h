/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace for a viewer in a browser of this machine: an HTTP server on 127.0.0.1 alone, below a path that nobody can
 * guess. Under http://127.0.0.1:PORT/TOKEN/ are
 *
 *   /        a page that opens the viewer and hands the trace to it (window.postMessage)
 *   /trace   the trace; ranges, HEAD
 *   /ui/     the viewer's own files, where there is a serve_ui; one that was changed since it was listed is refused: 410, or,
 *            found out when its content is read, an answer that breaks off
 *
 * A request must name this server as its host (against rebinding of names) and, if it names an origin, this server's or the
 * viewer's. Everything else is refused before anything is looked for.
 *
 * Life: serve__open() listens, so that a port in use is known before a long trace is made; serve__trace() says what is there;
 * serve__run() answers until there is a reason to end; serve__close() closes. Nothing is printed; descriptors stay the
 * caller's.
 */
#ifndef GPUBPF_SERVE_H
#define GPUBPF_SERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "serve/ui.h"

struct err;
struct serve;

#define SERVE_VIEWER "https://ui.perfetto.dev"

struct serve_opts {
	const char *title;         /* what the viewer calls the trace */
	const char *file_name;     /* under which it would save it */
	const struct serve_ui *ui; /* NULL: SERVE_VIEWER. The caller's, until serve__close() */
	uint16_t port;             /* 0: a free one */
	/* A file of the viewer was asked for, and refused: it is not what it was. May be NULL. */
	void (*on_changed)(void *arg, const char *name);
	void *arg;
};

struct serve_ends {        /* each is a reason to end */
	int stop;          /* is readable; -1: none */
	int terminal;      /* hangs up; -1: none */
	bool once;         /* the trace was fetched whole */
	uint64_t after_ns; /* this time is over; 0: no such limit */
};

enum serve_end {
	SERVE_STOPPED,  /* by `stop` */
	SERVE_HUNG_UP,  /* `terminal` */
	SERVE_FETCHED,  /* `once` */
	SERVE_TIME_OVER /* `after_ns` */
};

/* 0 or a negative errno with a message. */
int serve__open(const struct serve_opts *o, struct serve **out, struct err *err);
/* A regular file, open for reading. Whoever changes it takes it out of service. */
int serve__trace(struct serve *s, int fd, struct err *err);
/* Parameters of the viewer's link ("ts=1&dur=2"); copied. */
int serve__focus(struct serve *s, const char *link, struct err *err);
const char *serve__url(const struct serve *s);
uint64_t serve__changed(
	const struct serve *s); /* requests for files of the viewer that were refused for it */
int serve__run(struct serve *s, const struct serve_ends *ends, enum serve_end *why, struct err *err);
void serve__close(struct serve *s); /* NULL is fine */

#endif
