// SPDX-License-Identifier: GPL-2.0-or-later
/* The process that resolves stacks: messages in, records out. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "stacks/intern.h"
#include "stacks/mappings.h"
#include "stacks/seen.h"
#include "stacks/space.h"
#include "stacks/stacks.h"

#define SPACES 64 /* processes that are kept at a time */
#define OUT_BYTES 49152
#define PATIENCE_S 10 /* for one stack */

struct kept {
	uint32_t tgid;
	uint64_t used;
	struct space *sp;
};

struct resolver {
	int socket;
	struct intern *in;
	struct seen *seen;
	struct kept kept[SPACES];
	uint64_t clock;
	size_t n; /* bytes of out */
	uint8_t out[OUT_BYTES + 8192];
};

static void flush(struct resolver *r)
{
	if (r->n && send(r->socket, r->out, r->n, MSG_NOSIGNAL) < 0)
		_exit(1); /* nobody is there */
	r->n = 0;
}

static int emit(const struct gpubpf_rec *rec, void *arg)
{
	struct resolver *r = arg;

	if (r->n + rec->size > sizeof(r->out))
		flush(r);
	memcpy(r->out + r->n, rec, rec->size);
	r->n += rec->size;
	if (r->n >= OUT_BYTES)
		flush(r);
	return 0;
}

static struct kept *keep(struct resolver *r, uint32_t tgid, pid_t view)
{
	struct kept *oldest = &r->kept[0];

	for (size_t i = 0; i < SPACES; i++) {
		struct kept *k = &r->kept[i];

		if (k->sp && k->tgid == tgid) {
			k->used = ++r->clock;
			return k;
		}
		if (!k->sp || (oldest->sp && k->used < oldest->used))
			oldest = k;
	}
	space__free(oldest->sp);
	*oldest = (struct kept){ .tgid = tgid, .used = ++r->clock };
	return space__new(view, r->in, r->seen, &oldest->sp) ? NULL : oldest;
}

static void drop(struct resolver *r, uint32_t tgid)
{
	for (size_t i = 0; i < SPACES; i++) {
		if (!r->kept[i].sp || r->kept[i].tgid != tgid)
			continue;
		space__free(r->kept[i].sp);
		r->kept[i] = (struct kept){ 0 };
	}
}

static void mapped(struct resolver *r, const struct stacks_message *m, size_t n)
{
	const struct stacks_mapping *b = (const struct stacks_mapping *)m->body;
	const size_t head = sizeof(*m) + offsetof(struct stacks_mapping, path);
	char path[sizeof(b->path)];
	struct mapping v;

	if (n < head || n - head >= sizeof(path))
		return;
	n -= head;
	memcpy(path, b->path, n);
	path[n] = '\0';
	v = (struct mapping){ .start = b->start,
			      .end = b->end,
			      .offset = b->offset,
			      .ino = b->ino,
			      .major = b->major,
			      .minor = b->minor,
			      .exec = true,
			      .path = path };
	seen__add(r->seen, m->view, &v);
}

static void handle(struct resolver *r, const struct stacks_message *m, size_t n)
{
	const struct stack_raw *raw = (const struct stack_raw *)m->body;
	struct gpubpf_stack s;
	struct kept *k;

	if (n < sizeof(*m))
		return;
	if (m->what == STACKS_ENDED) {
		drop(r, m->tgid);
		return;
	}
	if (m->what == STACKS_MAPPED) {
		mapped(r, m, n);
		return;
	}
	alarm(PATIENCE_S);
	k = keep(r, m->tgid, m->view);
	if (k && m->what == STACKS_RAW && n >= sizeof(*m) + sizeof(*raw) && !space__resolve(k->sp, raw, &s))
		emit((const struct gpubpf_rec *)&s, r);
	alarm(0);
}

void stacks_resolver(int socket)
{
	struct resolver *r = calloc(1, sizeof(*r));
	void *message = malloc(STACKS_MESSAGE_MAX);

	if (!r || !message || intern__new(emit, r, &r->in) || seen__new(&r->seen))
		_exit(1);
	r->socket = socket;
	for (;;) {
		ssize_t n = recv(socket, message, STACKS_MESSAGE_MAX, r->n ? MSG_DONTWAIT : 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN && r->n) {
			flush(r);
			continue;
		}
		if (n <= 0)
			break;
		handle(r, message, (size_t)n);
	}
	flush(r);
	_exit(0);
}
