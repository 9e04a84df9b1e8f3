/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a stream has to wait for, as far as calls tell it: cuStreamWaitEvent() on an event that was recorded in another
 * stream, and the legacy default stream, which waits for all blocking streams of its context, and they for it.
 *
 * An event stands for the work that was in its stream when it was recorded. Calls name streams by handles and what
 * ran by CUPTI's numbers: a handle is tied to the lane in which the work of its calls ran. Where it ran in several (a
 * handle that came back as another stream, the default stream of several contexts), nothing is said.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "latency/lat.h"
#include "model/cuda_abi.h"

#define STREAM_NON_BLOCKING 1 /* CU_STREAM_NON_BLOCKING, cuda.h */
#define CHAIN_MAX 4           /* events of streams that themselves wait for events … */
#define CHAIN_WIDTH 4

struct handle_life {     /* how often a stream's handle was given back */
	uint64_t key[2]; /* process, handle */
	uint64_t lives;
};

struct stream {
	uint64_t key[4]; /* struct stream_id, which life of the handle */
	uint32_t number;
	uint32_t lane; /* reference */
	bool several;  /* lanes */
	bool blocking;
	uint32_t first_wait, waits, next_wait; /* in by_waiter */
	uint32_t first_mark, marks, next_mark; /* in by_source */
};

struct event {
	uint64_t key[2]; /* process, handle */
	uint64_t at;     /* recorded */
	uint32_t stream; /* reference; 0: not recorded in this capture */
};

struct wait {
	uint64_t at;             /* cuStreamWaitEvent() was entered */
	uint64_t since;          /* cuEventRecord() was */
	uint64_t end;            /* resolved */
	uint32_t waiter, source; /* streams: numbers; source: reference, 0: not known */
	bool resolved;
};

struct lane {
	uint64_t last_end;
	uint32_t last;   /* reference to an activity */
	uint32_t stream; /* reference */
	uint32_t context;
	bool several; /* streams */
};

struct context {
	uint64_t key; /* as the caller numbers them */
	uint64_t legacy_end, blocking_end;
};

struct lat_streams {
	struct hmap lives, streams, events, contexts;
	struct wait *wait;
	size_t nwaits, room;
	uint32_t *by_waiter, *by_source;
	struct lane *lane;
	size_t nlanes;
};

int lat_streams__new(struct lat_streams **out)
{
	struct lat_streams *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	hmap__init(&s->lives, 16, sizeof(struct handle_life));
	hmap__init(&s->streams, 32, sizeof(struct stream));
	hmap__init(&s->events, 16, sizeof(struct event));
	hmap__init(&s->contexts, 8, sizeof(struct context));
	return 0;
}

void lat_streams__free(struct lat_streams *s)
{
	if (!s)
		return;
	hmap__clear(&s->lives);
	hmap__clear(&s->streams);
	hmap__clear(&s->events);
	hmap__clear(&s->contexts);
	free(s->wait);
	free(s->by_waiter);
	free(s->by_source);
	free(s->lane);
	free(s);
}

/* ---- Calls ---- */

static struct stream *stream_at(const struct lat_streams *s, uint32_t number)
{
	return hmap__at(&s->streams, number);
}

static struct stream *put(struct lat_streams *s, const struct stream_id *id)
{
	uint64_t of[2] = { id->proc, id->stream };
	const struct handle_life *life = hmap__get(&s->lives, of);
	uint64_t key[4] = { id->proc, id->stream, id->tid, life ? life->lives : 0 };
	size_t before = s->streams.n;
	struct stream *st = hmap__put(&s->streams, key);

	if (st && s->streams.n != before)
		st->number = (uint32_t)before;
	return st;
}

static int created(struct lat_streams *s, const struct view *v)
{
	struct stream_id id = { .proc = (uintptr_t)v->proc };
	struct stream *st;
	uint64_t flags;

	if (!api_call_out(v->p->api, v->c, &id.stream) || !api_arg_value(v->p->api, v->c, "flags", &flags))
		return 0;
	st = put(s, &id);
	if (!st)
		return -ENOMEM;
	st->blocking = !(flags & STREAM_NON_BLOCKING);
	return 0;
}

static int destroyed(struct lat_streams *s, const struct view *v)
{
	uint64_t key[2] = { (uintptr_t)v->proc };
	struct handle_life *life;

	if (!plan_arg(v->p, v->c, PLAN_STREAM, &key[1]))
		return 0;
	life = hmap__put(&s->lives, key);
	if (!life)
		return -ENOMEM;
	life->lives++;
	return 0;
}

static int recorded(struct lat_streams *s, const struct view *v, uint32_t stream)
{
	uint64_t key[2] = { (uintptr_t)v->proc };
	struct event *e;

	if (!plan_arg(v->p, v->c, PLAN_EVENT, &key[1]))
		return 0;
	e = hmap__put(&s->events, key);
	if (!e)
		return -ENOMEM;
	e->stream = stream;
	e->at = v->c->t_entry;
	return 0;
}

static int waits(struct lat_streams *s, const struct view *v, uint32_t stream)
{
	uint64_t key[2] = { (uintptr_t)v->proc };
	const struct event *e;
	struct wait *w;

	if (!stream || !plan_arg(v->p, v->c, PLAN_EVENT, &key[1]))
		return 0;
	e = hmap__get(&s->events, key);
	if (e && e->stream == stream)
		return 0; /* the stream's own order says it already */
	if (s->nwaits == s->room) {
		size_t room = s->room ? s->room * 2 : 256;

		w = realloc(s->wait, room * sizeof(*w));
		if (!w)
			return -ENOMEM;
		s->wait = w;
		s->room = room;
	}
	s->wait[s->nwaits++] = (struct wait){
		.at = v->c->t_entry, .since = e ? e->at : 0, .waiter = stream - 1, .source = e ? e->stream : 0
	};
	return 0;
}

static bool is(const struct view *v, const char *kind)
{
	return strcmp(v->p->api->kind, kind) == 0;
}

int lat_streams__call(struct lat_streams *s, const struct view *v, uint32_t *ref)
{
	struct stream_id id;
	struct stream *st;

	*ref = 0;
	if (v->c->depth || v->outcome == OUTCOME_FAILED)
		return 0;
	if (v->p->api->cls == API_STREAM && is(v, "stream.create"))
		return created(s, v);
	if (v->p->api->cls == API_STREAM && is(v, "stream.destroy"))
		return destroyed(s, v);
	if (v->p->population >= JOIN_POPULATIONS && !v->p->event_record && !v->p->stream_wait)
		return 0;
	if (!stream_of(v, &id))
		return 0;
	st = put(s, &id);
	if (!st)
		return -ENOMEM;
	*ref = st->number + 1;
	if (v->captured)
		return 0;
	if (v->p->event_record)
		return recorded(s, v, *ref);
	return v->p->stream_wait ? waits(s, v, *ref) : 0;
}

/* ---- What ran ---- */

int lat_streams__ran(struct lat_streams *s, uint32_t stream, uint32_t lane, uint32_t context)
{
	struct stream *st = stream_at(s, stream - 1);
	uint64_t key = context;

	if (lane >= s->nlanes) {
		size_t room = ((size_t)lane + 1) * 2;
		struct lane *v = realloc(s->lane, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		memset(v + s->nlanes, 0, (room - s->nlanes) * sizeof(*v));
		s->lane = v;
		s->nlanes = room;
	}
	if (st->lane && st->lane != lane + 1)
		st->several = true;
	st->lane = lane + 1;
	if (s->lane[lane].stream && s->lane[lane].stream != stream)
		s->lane[lane].several = true;
	s->lane[lane].stream = stream;
	s->lane[lane].context = context;
	return hmap__put(&s->contexts, &key) ? 0 : -ENOMEM;
}

static int by_waiter(const void *x, const void *y, void *arg)
{
	const struct lat_streams *s = arg;
	const struct wait *a = &s->wait[*(const uint32_t *)x], *b = &s->wait[*(const uint32_t *)y];

	if (a->waiter != b->waiter)
		return a->waiter < b->waiter ? -1 : 1;
	return (a->at > b->at) - (a->at < b->at);
}

static int by_source(const void *x, const void *y, void *arg)
{
	const struct lat_streams *s = arg;
	const struct wait *a = &s->wait[*(const uint32_t *)x], *b = &s->wait[*(const uint32_t *)y];

	if (a->source != b->source)
		return a->source < b->source ? -1 : 1;
	return (a->since > b->since) - (a->since < b->since);
}

int lat_streams__settle(struct lat_streams *s, size_t lanes)
{
	struct lane *v = realloc(s->lane, (lanes + 1) * sizeof(*v));

	if (!v)
		return -ENOMEM;
	s->lane = v;
	if (lanes > s->nlanes)
		memset(v + s->nlanes, 0, (lanes - s->nlanes) * sizeof(*v));
	s->nlanes = lanes;
	s->by_waiter = malloc((s->nwaits + 1) * sizeof(*s->by_waiter));
	s->by_source = malloc((s->nwaits + 1) * sizeof(*s->by_source));
	if (!s->by_waiter || !s->by_source)
		return -ENOMEM;
	for (size_t i = 0; i < s->nwaits; i++)
		s->by_waiter[i] = s->by_source[i] = (uint32_t)i;
	if (s->nwaits) {
		qsort_r(s->by_waiter, s->nwaits, sizeof(uint32_t), by_waiter, s);
		qsort_r(s->by_source, s->nwaits, sizeof(uint32_t), by_source, s);
	}
	for (size_t i = s->nwaits; i--;) {
		const struct wait *w = &s->wait[s->by_waiter[i]], *m = &s->wait[s->by_source[i]];
		struct stream *st = stream_at(s, w->waiter);

		st->first_wait = st->next_wait = (uint32_t)i;
		st->waits++;
		if (!m->source)
			continue;
		st = stream_at(s, m->source - 1);
		st->first_mark = st->next_mark = (uint32_t)i;
		st->marks++;
	}
	return 0;
}

/* When what the wait is for had ended, as far as the walk got; 0: nothing is known of it. */
static uint64_t end_of(const struct lat_streams *s, const struct wait *w, unsigned deep)
{
	const struct stream *st;
	uint64_t end = 0;
	unsigned width = 0;

	if (w->resolved)
		return w->end;
	if (!w->source)
		return 0;
	st = stream_at(s, w->source - 1);
	if (st->lane && !st->several)
		end = s->lane[st->lane - 1].last_end;
	/* what the stream had to wait for itself before the event */
	for (uint32_t i = st->waits; deep < CHAIN_MAX && i-- && width < CHAIN_WIDTH;) {
		const struct wait *inner = &s->wait[s->by_waiter[st->first_wait + i]];
		uint64_t t;

		if (inner->at >= w->since)
			continue;
		width++;
		t = end_of(s, inner, deep + 1);
		end = t > end ? t : end;
	}
	return end;
}

/* The stream's work that was asked for at `entry` is about to be the last one: what events stood for is over by now. */
static void pass_marks(struct lat_streams *s, struct stream *st, uint64_t entry)
{
	while (st->next_mark < st->first_mark + st->marks) {
		struct wait *w = &s->wait[s->by_source[st->next_mark]];

		if (w->since > entry)
			return;
		w->end = end_of(s, w, 0);
		w->resolved = true;
		st->next_mark++;
	}
}

static void pass_waits(struct lat_streams *s, struct stream *st, uint64_t entry, struct lat_before *b)
{
	for (; st->next_wait < st->first_wait + st->waits; st->next_wait++) {
		const struct wait *w = &s->wait[s->by_waiter[st->next_wait]];
		uint64_t end;

		if (w->at > entry)
			return;
		end = end_of(s, w, 0);
		b->waited_event = true;
		b->waited_unknown |= !w->source || stream_at(s, w->source - 1)->several;
		b->wait_end = end > b->wait_end ? end : b->wait_end;
	}
}

static struct context *context_of(const struct lat_streams *s, const struct lane *lane)
{
	uint64_t key = lane->context;

	return hmap__get(&s->contexts, &key);
}

static bool is_legacy(const struct stream *st)
{
	return st->key[1] == CUDA_STREAM_NULL && !st->key[2];
}

void lat_streams__before(struct lat_streams *s, uint32_t lane, uint64_t entry, struct lat_before *b)
{
	const struct lane *at = &s->lane[lane];
	const struct context *c;
	uint64_t other = 0;
	struct stream *st;

	*b = (struct lat_before){ .prev_end = at->last_end, .prev = at->last };
	if (!at->stream || at->several)
		return;
	st = stream_at(s, at->stream - 1);
	if (entry && !st->several) {
		pass_waits(s, st, entry, b);
		pass_marks(s, st, entry);
	}
	c = context_of(s, at);
	if (c && is_legacy(st))
		other = c->blocking_end;
	else if (c && st->blocking)
		other = c->legacy_end;
	b->waited_default = other > b->prev_end && other > b->wait_end;
	b->wait_end = other > b->wait_end ? other : b->wait_end;
}

void lat_streams__done(struct lat_streams *s, uint32_t lane, uint64_t end, uint32_t activity)
{
	struct lane *at = &s->lane[lane];
	const struct stream *st = at->stream && !at->several ? stream_at(s, at->stream - 1) : NULL;
	struct context *c = st ? context_of(s, at) : NULL;

	if (end > at->last_end) {
		at->last_end = end;
		at->last = activity;
	}
	if (c && is_legacy(st) && end > c->legacy_end)
		c->legacy_end = end;
	if (c && st->blocking && end > c->blocking_end)
		c->blocking_end = end;
}
