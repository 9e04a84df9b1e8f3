/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between the parts of the server. */
#ifndef GPUBPF_SERVE_PRIV_H
#define GPUBPF_SERVE_PRIV_H

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <sys/stat.h>

#include "serve/guard.h"
#include "serve/serve.h"

#define SERVE_CONNECTIONS 32  /* more wait until one ends */
#define SERVE_HEADERS 16384   /* bytes of a request's head */
#define SERVE_REQUEST_TIME 10 /* seconds for a request to be there, whatever drips in */
#define SERVE_STALL_TIME 30   /* seconds in which nothing is taken of an answer */
#define SERVE_BLOCK (256u << 10)

struct serve_conn {
	struct bufferevent *bev; /* a reference of ours; NULL: free */
	uint64_t since;          /* CLOCK_MONOTONIC */
	bool asked;              /* the request is there */
};

struct serve {
	struct serve_opts o;
	struct serve_ends ends;
	int file;
	char *focus;       /* NULL: none */
	struct stat trace; /* as it was at the start */
	uint16_t port;
	char token[GUARD_TOKEN_LEN + 1];
	char etag[GUARD_TOKEN_LEN + 3];
	char url[GUARD_TOKEN_LEN + 32];
	struct event_base *base;
	struct evhttp *http;
	struct evconnlistener *listener;
	struct event *tick, *stop, *end;
	struct serve_conn conn[SERVE_CONNECTIONS];
	bool full;
	unsigned answering; /* replies that are being sent */
	bool fetched;       /* whole, once at least */
	uint64_t changed;   /* requests that were refused since a file of the viewer had changed */
	bool ended;
	enum serve_end why;
};

/* serve.c */
struct serve_conn *serve__conn(struct serve *s, const struct bufferevent *bev);
void serve__reply_ended(struct serve *s, bool whole_trace);

/* answer.c: the evhttp's callback for each request; arg is the struct serve */
void serve__answer(struct evhttp_request *req, void *arg);

/* page.c: text of the page, its script and its style; free() it. -ENOENT: there is no such thing */
int serve__page(const struct serve *s, const char *name, char **text, size_t *n, const char **type);

#endif
