/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifdef HAVE_EVENT
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/priv.h"
#include "util/clock.h"
#include "util/err.h"

#define NS_PER_S 1000000000ull

static void end(struct serve *s, enum serve_end why)
{
	if (s->ended)
		return;
	s->ended = true;
	s->why = why;
	event_base_loopbreak(s->base);
}

/* evhttp says nothing of a connection that ends before its request is there, but it lets go of the bufferevent. */
static bool is_gone(const struct serve_conn *c)
{
	bufferevent_event_cb event;

	bufferevent_getcb(c->bev, NULL, NULL, &event, NULL);
	return !event;
}

/* Nobody new is let in. */
static bool is_done(const struct serve *s)
{
	return s->fetched && s->ends.once;
}

static void sweep(struct serve *s)
{
	uint64_t now = clock_now(CLOCK_MONOTONIC);
	bool room = false;

	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		struct serve_conn *c = &s->conn[i];

		if (c->bev && is_gone(c)) {
			bufferevent_decref(c->bev);
			c->bev = NULL;
		}
		if (!c->bev)
			room = true;
		else if (!c->asked && now - c->since > SERVE_REQUEST_TIME * NS_PER_S)
			shutdown(bufferevent_getfd(c->bev), SHUT_RDWR);
	}
	if (room && s->full && s->listener && !is_done(s)) {
		s->full = false;
		evconnlistener_enable(s->listener);
	}
}

static void on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct serve *s = arg;
	struct pollfd terminal = { .fd = s->ends.terminal };

	(void)fd;
	(void)what;
	sweep(s);
	if (s->ends.terminal >= 0 && poll(&terminal, 1, 0) > 0 &&
	    (terminal.revents & (POLLHUP | POLLERR | POLLNVAL)))
		end(s, SERVE_HUNG_UP);
}

static void on_stop(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	end(arg, SERVE_STOPPED);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	end(arg, SERVE_TIME_OVER);
}

/* evhttp asks for this when it has accepted a connection. */
static struct bufferevent *on_connection(struct event_base *base, void *arg)
{
	struct serve *s = arg;
	struct bufferevent *bev = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	size_t free_slots = 0;

	if (!bev)
		return NULL;
	/* what is sent behind a request is not read into memory without end */
	bufferevent_setwatermark(bev, EV_READ, 0, (size_t)4 * SERVE_HEADERS);
	bufferevent_set_max_single_write(bev, SERVE_BLOCK);
	sweep(s);
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++) {
		if (s->conn[i].bev)
			continue;
		if (bev && !free_slots++) {
			bufferevent_incref(bev);
			s->conn[i] = (struct serve_conn){ .bev = bev, .since = clock_now(CLOCK_MONOTONIC) };
		}
	}
	if (free_slots <= 1) {
		s->full = true;
		evconnlistener_disable(s->listener);
	}
	return bev;
}

struct serve_conn *serve__conn(struct serve *s, const struct bufferevent *bev)
{
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		if (s->conn[i].bev == bev)
			return &s->conn[i];
	return NULL;
}

void serve__reply_ended(struct serve *s, bool whole_trace)
{
	s->answering--;
	s->fetched |= whole_trace;
	/* its bufferevent goes when evhttp is through with it; as EV_TIMEOUT it would put off the next tick */
	event_active(s->tick, EV_READ, 0);
	if (!is_done(s) || s->ended)
		return;
	if (s->answering)
		evconnlistener_disable(s->listener);
	else
		end(s, SERVE_FETCHED);
}

/* IPv4 alone: viewers trust 127.0.0.1 and localhost, and [::1] not. */
static int listen_at(struct serve *s, struct err *err)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(s->o.port),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1,
	    kept = (int)SERVE_BLOCK, rc = 0;

	if (fd < 0)
		return err_set(err, -errno, "no socket to serve the trace on: %s", strerror(errno));
	if (s->o.port)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* so that what was sent has, but for this, been taken: connections inherit it */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &kept, sizeof(kept));
	if (bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, SERVE_CONNECTIONS) ||
	    getsockname(fd, (struct sockaddr *)&at, &n))
		rc = -errno;
	if (rc == -EADDRINUSE)
		err_set(err, rc, "port %u is in use; --port 0 takes a free one", s->o.port);
	else if (rc)
		err_set(err, rc, "127.0.0.1, port %u: %s", s->o.port, strerror(-rc));
	if (rc) {
		close(fd);
		return rc;
	}
	s->port = ntohs(at.sin_port);
	s->listener = evconnlistener_new(s->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC,
					 0, fd);
	if (!s->listener) {
		close(fd);
		return err_set(err, -ENOMEM, "out of memory");
	}
	if (!evhttp_bind_listener(s->http, s->listener)) {
		evconnlistener_free(s->listener);
		s->listener = NULL;
		return err_set(err, -ENOMEM, "out of memory");
	}
	return 0;
}

static int add_events(struct serve *s, struct err *err)
{
	const struct timeval every = { .tv_usec = 500000 };
	struct timeval in = { .tv_sec = (time_t)(s->ends.after_ns / NS_PER_S),
			      .tv_usec = (suseconds_t)(s->ends.after_ns % NS_PER_S / 1000) };

	s->tick = event_new(s->base, -1, EV_PERSIST, on_tick, s);
	if (!s->tick || event_add(s->tick, &every))
		goto failed;
	if (s->ends.stop >= 0) {
		s->stop = event_new(s->base, s->ends.stop, EV_READ, on_stop, s);
		if (!s->stop || event_add(s->stop, NULL))
			goto failed;
	}
	if (s->ends.after_ns) {
		s->end = event_new(s->base, -1, 0, on_end, s);
		if (!s->end || event_add(s->end, &in))
			goto failed;
	}
	return 0;
failed:
	return err_set(err, -ENOMEM, "out of memory");
}

/* A library prints nothing; what matters of its warnings comes back as a status. */
static void quiet(int severity, const char *text)
{
	(void)severity;
	(void)text;
}

static int make(struct serve *s, struct err *err)
{
	struct event_config *config = event_config_new();

	event_set_log_callback(quiet);
	if (config) {
		event_config_set_flag(config, EVENT_BASE_FLAG_IGNORE_ENV | EVENT_BASE_FLAG_NOLOCK);
		s->base = event_base_new_with_config(config);
		event_config_free(config);
	}
	s->http = s->base ? evhttp_new(s->base) : NULL;
	if (!s->http)
		return err_set(err, -ENOMEM, "out of memory, or no epoll");
	evhttp_set_max_headers_size(s->http, SERVE_HEADERS);
	evhttp_set_max_body_size(s->http, SERVE_HEADERS); /* read, and thrown away */
	evhttp_set_allowed_methods(s->http, 0xffff);      /* ours are told by the answer: 405, not 501 */
	evhttp_set_bevcb(s->http, on_connection, s);
	evhttp_set_gencb(s->http, serve__answer, s);
	return 0;
}

int serve__open(const struct serve_opts *o, struct serve **out, struct err *err)
{
	struct serve *s = calloc(1, sizeof(*s));
	char tag[GUARD_TOKEN_LEN + 1];
	int rc;

	if (!s)
		return err_set(err, -ENOMEM, "out of memory");
	s->o = *o;
	s->file = -1;
	rc = make(s, err);
	if (!rc && ((rc = guard_token(s->token)) || (rc = guard_token(tag))))
		err_set(err, rc, "no random bytes: %s", strerror(-rc));
	if (!rc)
		rc = listen_at(s, err);
	if (rc) {
		serve__close(s);
		return rc;
	}
	snprintf(s->etag, sizeof(s->etag), "\"%s\"", tag);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u/%s/", s->port, s->token);
	*out = s;
	return 0;
}

int serve__trace(struct serve *s, int fd, struct err *err)
{
	if (fstat(fd, &s->trace))
		return err_set(err, -errno, "the trace: %s", strerror(errno));
	if (!S_ISREG(s->trace.st_mode))
		return err_set(err, -EINVAL, "only a regular file can be served");
	s->file = fd;
	return 0;
}

int serve__focus(struct serve *s, const char *link, struct err *err)
{
	free(s->focus);
	s->focus = strdup(link);
	return s->focus ? 0 : err_set(err, -ENOMEM, "out of memory");
}

const char *serve__url(const struct serve *s)
{
	return s->url;
}

uint64_t serve__changed(const struct serve *s)
{
	return s->changed;
}

int serve__run(struct serve *s, const struct serve_ends *ends, enum serve_end *why, struct err *err)
{
	if (s->file < 0)
		return err_set(err, -EINVAL, "there is no trace to serve");
	s->ends = *ends;
	if (add_events(s, err))
		return -ENOMEM;
	if (!s->ended && event_base_dispatch(s->base) < 0)
		return err_set(err, -EIO, "the server's event loop failed");
	*why = s->why;
	return 0;
}

void serve__close(struct serve *s)
{
	if (!s)
		return;
	s->ended = true; /* replies that end now end nothing more */
	if (s->http)
		evhttp_free(s->http); /* with the listener and all connections */
	s->listener = NULL;
	for (size_t i = 0; i < SERVE_CONNECTIONS; i++)
		if (s->conn[i].bev)
			bufferevent_decref(s->conn[i].bev);
	if (s->tick)
		event_free(s->tick);
	if (s->stop)
		event_free(s->stop);
	if (s->end)
		event_free(s->end);
	if (s->base)
		event_base_free(s->base);
	free(s->focus);
	free(s);
}
#else
#include <errno.h>
#include <stddef.h>

#include "serve/serve.h"
#include "util/err.h"

int serve__open(const struct serve_opts *o, struct serve **out, struct err *err)
{
	(void)o;
	*out = NULL;
	return err_set(err, -ENOTSUP,
		       "this gpubpf was built without libevent: it cannot serve a trace; write it with -o");
}

int serve__trace(struct serve *s, int fd, struct err *err)
{
	(void)s;
	(void)fd;
	(void)err;
	return -ENOTSUP;
}

int serve__focus(struct serve *s, const char *link, struct err *err)
{
	(void)s;
	(void)link;
	(void)err;
	return -ENOTSUP;
}

const char *serve__url(const struct serve *s)
{
	(void)s;
	return "";
}

uint64_t serve__changed(const struct serve *s)
{
	(void)s;
	return 0;
}

int serve__run(struct serve *s, const struct serve_ends *ends, enum serve_end *why, struct err *err)
{
	(void)s;
	(void)ends;
	(void)why;
	(void)err;
	return -ENOTSUP;
}

void serve__close(struct serve *s)
{
	(void)s;
}
#endif
