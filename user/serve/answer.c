/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One request, one answer, and the connection is closed. */
#ifdef HAVE_EVENT
#include <errno.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>
#include <unistd.h>

#include "serve/priv.h"
#include "util/crc32c.h"

struct reply {
	struct serve *s;
	struct evhttp_request *req; /* NULL: evhttp sends what is left, and frees it */
	struct evbuffer *block;
	int fd;                        /* of the trace, or of: */
	const struct serve_file *file; /* of the viewer: fd is closed with the reply; NULL: none */
	uint32_t crc;                  /* of what was read of it */
	uint64_t at, end;
	bool whole_trace;
};

static void on_close(struct evhttp_connection *c, void *arg)
{
	struct reply *r = arg;

	(void)c;
	/* a client that went away leaves its request to whoever was sending */
	if (r->req && !evhttp_request_get_connection(r->req))
		evhttp_request_free(r->req);
	serve__reply_ended(r->s, !r->req && r->whole_trace);
	if (r->block)
		evbuffer_free(r->block);
	if (r->file)
		close(r->fd);
	free(r);
}

/* The value of a header that is there once; NULL: it is absent, or `*times` says how often it is there. */
static const char *header(struct evhttp_request *req, const char *name, unsigned *times)
{
	struct evkeyval *kv;
	const char *value = NULL;

	*times = 0;
	TAILQ_FOREACH(kv, evhttp_request_get_input_headers(req), next)
	{
		if (strcasecmp(kv->key, name) != 0)
			continue;
		++*times;
		value = kv->value;
	}
	return *times == 1 ? value : NULL;
}

static void add(struct evhttp_request *req, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(req), name, value);
}

static void add_number(struct evhttp_request *req, const char *name, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	add(req, name, text);
}

/* A short answer from memory, with its newline. */
static void say(struct reply *r, int code, const char *reason, const char *text)
{
	struct evhttp_request *req = r->req;
	struct evbuffer *b = evbuffer_new();

	r->req = NULL;
	if (b)
		evbuffer_add_printf(b, "%s\n", text);
	add(req, "Content-Type", "text/plain; charset=utf-8");
	add_number(req, "Content-Length", b ? evbuffer_get_length(b) : 0);
	evhttp_send_reply(req, code, reason, b);
	if (b)
		evbuffer_free(b);
}

/* Said once per request; the caller sees to it that the client does not take it for the file. */
static void tell_changed(struct reply *r, const struct serve_file *f)
{
	r->s->changed++;
	if (r->s->o.on_changed)
		r->s->o.on_changed(r->s->o.arg, f->name);
}

/* False: these are the last bytes of a file of the viewer, and it is not what it was. */
static bool is_as_listed(struct reply *r, const void *bytes, size_t n)
{
	if (!r->file)
		return true;
	r->crc = crc32c(r->crc, bytes, n);
	if (n && (r->at + n < r->end || r->crc == r->file->crc))
		return true;
	tell_changed(r, r->file);
	return false;
}

static void send_block(struct evhttp_connection *c, void *arg)
{
	struct reply *r = arg;
	struct evhttp_request *req = r->req;
	struct evbuffer_iovec v;
	size_t want = r->end - r->at < SERVE_BLOCK ? (size_t)(r->end - r->at) : SERVE_BLOCK;
	ssize_t got = -1;

	if (!want) {
		r->req = NULL;
		evhttp_send_reply_end(req); /* r may be gone */
		return;
	}
	if (evbuffer_reserve_space(r->block, (ev_ssize_t)want, &v, 1) == 1) {
		do
			got = pread(r->fd, v.iov_base, want, (off_t)r->at);
		while (got < 0 && errno == EINTR);
		v.iov_len = got > 0 ? (size_t)got : 0;
		if (!is_as_listed(r, v.iov_base, v.iov_len) || evbuffer_commit_space(r->block, &v, 1))
			got = -1;
	}
	if (got <= 0) { /* its end comes too early: the client must see that bytes are missing */
		evhttp_connection_free(c);
		return;
	}
	r->at += (uint64_t)got;
	evhttp_send_reply_chunk_with_cb(req, r->block, send_block, r);
}

static bool has_changed(const struct serve *s)
{
	struct stat now;

	return fstat(s->file, &now) || now.st_size != s->trace.st_size ||
	       now.st_mtim.tv_sec != s->trace.st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != s->trace.st_mtim.tv_nsec;
}

/* Of r->fd. */
static void send_bytes(struct reply *r, const char *type, uint64_t from, uint64_t n, bool head)
{
	struct evhttp_request *req = r->req;
	bool part = evhttp_find_header(evhttp_request_get_output_headers(req), "Content-Range");

	add(req, "Content-Type", type);
	add_number(req, "Content-Length", n);
	if (head || !n) {
		r->req = NULL;
		evhttp_send_reply(req, 200, "OK", NULL);
		return;
	}
	r->block = evbuffer_new();
	if (!r->block) {
		evhttp_connection_free(evhttp_request_get_connection(req));
		return;
	}
	r->at = from;
	r->end = from + n;
	evhttp_send_reply_start(req, part ? 206 : 200, part ? "Partial Content" : "OK");
	send_block(evhttp_request_get_connection(req), r);
}

static void send_trace(struct reply *r, bool head)
{
	struct evhttp_request *req = r->req;
	struct serve *s = r->s;
	uint64_t size = (uint64_t)s->trace.st_size, from = 0, n = size;
	unsigned ranges, conditions;
	const char *range = header(req, "Range", &ranges), *condition = header(req, "If-Range", &conditions);
	enum guard_range part = RANGE_ALL;
	char text[80];

	if (has_changed(s)) {
		say(r, 410, "Gone",
		    "the file of the trace was changed since it is served; run gpubpf timeline again");
		return;
	}
	/* RFC 9110 knows ranges of GET alone */
	if (!head && (!conditions || (condition && strcmp(condition, s->etag) == 0)))
		part = guard_range(range, size, &from, &n);
	add(req, "Accept-Ranges", "bytes");
	add(req, "ETag", s->etag);
	if (part == RANGE_BEYOND) {
		snprintf(text, sizeof(text), "bytes */%llu", (unsigned long long)size);
		add(req, "Content-Range", text);
		say(r, 416, "Range Not Satisfiable", "the trace has no such bytes");
		return;
	}
	if (part == RANGE_PART) {
		snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)from,
			 (unsigned long long)(from + n - 1), (unsigned long long)size);
		add(req, "Content-Range", text);
	}
	r->fd = s->file;
	r->whole_trace = !head && n == size;
	send_bytes(r, "application/octet-stream", from, n, head);
}

/*
 * The viewer gets what it needs of this server and reaches nobody else, whatever it would like to tell them. Its page has its
 * script inside it, and its trace processor is made when it runs.
 */
static void send_viewer(struct reply *r, const char *name, bool head)
{
	static const char *const policy =
		"default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:; worker-src 'self' blob:; "
		"style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
		"connect-src 'self' data: blob:; object-src 'none'; base-uri 'self'; form-action 'none'; "
		"frame-ancestors 'none'";
	const struct serve_file *f = serve_ui__find(r->s->o.ui, name);
	int fd = f ? serve_ui__take(r->s->o.ui, f) : -ENOENT;

	if (!f) {
		say(r, 404, "Not Found", "there is nothing here");
		return;
	}
	if (fd < 0) {
		tell_changed(r, f);
		say(r, 410, "Gone",
		    "this file of the viewer was changed since gpubpf looked at it; run gpubpf timeline again");
		return;
	}
	r->fd = fd;
	r->file = f;
	add(r->req, "Content-Security-Policy", policy);
	send_bytes(r, serve_ui_type(name), 0, f->size, head);
}

static void send_page(struct reply *r, const char *name)
{
	static const char *const
		policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
			 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
	struct evhttp_request *req = r->req;
	const char *type;
	char *text = NULL;
	size_t n;
	int rc = serve__page(r->s, name, &text, &n, &type);
	struct evbuffer *b = rc ? NULL : evbuffer_new();

	if (rc == -ENOENT) {
		say(r, 404, "Not Found", "there is nothing here");
	} else if (!b || evbuffer_add(b, text, n)) {
		say(r, 500, "Internal Server Error", "out of memory");
	} else {
		r->req = NULL;
		add(req, "Content-Type", type);
		add(req, "Content-Security-Policy", policy);
		add_number(req, "Content-Length", n);
		evhttp_send_reply(req, 200, "OK", b);
	}
	if (b)
		evbuffer_free(b);
	free(text);
}

/* Before anything is looked for; false: the answer is on its way. */
static bool may_ask(struct reply *r)
{
	const char *viewer = r->s->o.ui ? NULL : SERVE_VIEWER, *host, *origin;
	unsigned hosts, origins;

	host = header(r->req, "Host", &hosts);
	origin = header(r->req, "Origin", &origins);
	if (!host || !guard_host(host, r->s->port)) {
		say(r, 403, "Forbidden",
		    "this server answers to 127.0.0.1 and localhost with its own port, and to no other name");
		return false;
	}
	if (!origins)
		return true;
	if (!origin || !guard_origin(origin, r->s->port, viewer)) {
		say(r, 403, "Forbidden", "pages of this origin may not read the trace");
		return false;
	}
	add(r->req, "Access-Control-Allow-Origin", origin);
	add(r->req, "Access-Control-Expose-Headers", "Content-Length, Content-Range, ETag");
	return true;
}

/* "/TOKEN/NAME?…" without the query; NULL: another path. */
static const char *name_of(const struct serve *s, const char *uri, char *room, size_t size)
{
	const char *name = guard_path(s->token, uri);
	size_t n = name ? strcspn(name, "?#") : 0;

	if (!name || n >= size)
		return NULL;
	memcpy(room, name, n);
	room[n] = '\0';
	return room;
}

static void answer(struct reply *r)
{
	enum evhttp_cmd_type method = evhttp_request_get_command(r->req);
	const char *name;
	char room[1024];

	add(r->req, "Connection", "close");
	add(r->req, "Cache-Control", "no-store");
	add(r->req, "Vary", "Origin");
	add(r->req, "X-Content-Type-Options", "nosniff");
	add(r->req, "Cross-Origin-Resource-Policy", "same-origin");
	add(r->req, "Referrer-Policy", "no-referrer"); /* the path is the key */
	if (!may_ask(r))
		return;
	name = name_of(r->s, evhttp_request_get_uri(r->req), room, sizeof(room));
	if (!name) {
		say(r, 404, "Not Found", "there is nothing here");
	} else if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD) {
		add(r->req, "Allow", "GET, HEAD");
		say(r, 405, "Method Not Allowed", "GET and HEAD alone");
	} else if (strcmp(name, "trace") == 0) {
		send_trace(r, method == EVHTTP_REQ_HEAD);
	} else if (r->s->o.ui && strncmp(name, "ui/", 3) == 0) {
		send_viewer(r, name + 3, method == EVHTTP_REQ_HEAD);
	} else {
		send_page(r, name);
	}
}

void serve__answer(struct evhttp_request *req, void *arg)
{
	const struct timeval stall = { .tv_sec = SERVE_STALL_TIME };
	struct evhttp_connection *c = evhttp_request_get_connection(req);
	struct bufferevent *bev = evhttp_connection_get_bufferevent(c);
	struct reply *r = calloc(1, sizeof(*r));
	struct serve *s = arg;
	struct serve_conn *conn = serve__conn(s, bev);

	if (!r) {
		evhttp_connection_free(c);
		return;
	}
	if (conn)
		conn->asked = true;
	/* a client that takes a long time to read is none that is silent */
	bufferevent_set_timeouts(bev, NULL, &stall);
	r->s = s;
	r->req = req;
	s->answering++;
	evhttp_connection_set_closecb(c, on_close, r);
	answer(r);
}
#endif
