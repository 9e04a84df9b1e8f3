/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline/nest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void tl_thread__restart(struct tl_thread *th)
{
	tl_rows__restart(&th->rows);
	th->ninside = 0;
}

static void join_group(struct tl *tl, struct tl_event *e, uint16_t bucket)
{
	e->bucket = bucket;
	if (tl->bucket_of && e->has_work && e->work < tl->nruns)
		tl->bucket_of[e->work] = bucket;
}

static uint16_t bucket_of(const struct tl *tl, const struct tl_thread *th, uint64_t start)
{
	return tl->bucket_bytes ? tl__bucket(tl, th->key[0] ^ th->key[1] << 20, start) : 0;
}

static uint64_t end_of(const struct tl_event *e)
{
	return e->type == TL_SLICE ? e->end : e->type == TL_OPEN ? UINT64_MAX : e->start;
}

/* Finds a row; what finds none is an instant that says so. */
static int place(struct tl *tl, struct tl_thread *th, struct tl_event *e)
{
	int rc = 0;

	if (e->type == TL_INSTANT)
		return 0;
	e->track = tl_rows__place(tl, &th->rows, e->start, end_of(e), &rc);
	if (!rc && e->track == TL_NO_TRACK) {
		e->track = th->rows.track;
		tl_arg(e, TL_KEY_NO_ROW, TL_BOOL, 1);
		if (e->type == TL_SLICE)
			tl_arg(e, TL_KEY_DURATION, TL_UINT, e->end - e->start);
		e->type = TL_INSTANT;
	}
	return rc;
}

static int alone(struct tl *tl, struct tl_thread *th, struct tl_event *e)
{
	int rc;

	join_group(tl, e, bucket_of(tl, th, e->start));
	rc = place(tl, th, e);
	return rc ? rc : tl__event(tl, e);
}

/* ---- What waits ---- */

static int append(struct tl_thread *th, const struct tl_event *e, unsigned depth)
{
	struct tl_nested *n;

	if (th->ninside == th->room) {
		unsigned room = th->room ? th->room * 2 : 16;

		n = realloc(th->inside, room * sizeof(*n));
		if (!n)
			return -ENOMEM;
		th->inside = n;
		th->room = room;
	}
	n = &th->inside[th->ninside];
	*n = (struct tl_nested){ .depth = depth,
				 .order = th->ninside++,
				 .start = e->start,
				 .end = end_of(e),
				 .type = e->type,
				 .timing = e->timing,
				 .name = e->name,
				 .work = e->work,
				 .flows_out = e->flows_out,
				 .has_work = e->has_work,
				 .nargs = e->nargs < TL_INSIDE_ARGS ? e->nargs : TL_INSIDE_ARGS };
	memcpy(n->arg, e->arg, n->nargs * sizeof(n->arg[0]));
	return 0;
}

/* Into tl->ev. */
static struct tl_event *event_of(struct tl *tl, const struct tl_thread *th, const struct tl_nested *n)
{
	struct tl_event *e = tl__new(tl, n->type, TIMELINE_CALL, th->rows.track, n->start);

	e->end = n->end;
	e->timing = n->timing;
	e->name = n->name;
	e->work = n->work;
	e->flows_out = n->flows_out;
	e->has_work = n->has_work;
	e->nargs = n->nargs;
	memcpy(e->arg, n->arg, n->nargs * sizeof(n->arg[0]));
	return e;
}

static int by_begin(const void *a, const void *b)
{
	const struct tl_nested *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

int tl_thread__flush(struct tl *tl, struct tl_thread *th)
{
	int rc = 0;

	if (th->ninside)
		qsort(th->inside, th->ninside, sizeof(*th->inside), by_begin);
	for (unsigned i = 0; !rc && i < th->ninside; i++)
		rc = alone(tl, th, event_of(tl, th, &th->inside[i]));
	th->ninside = 0;
	return rc;
}

int tl_thread__nested(struct tl *tl, struct tl_thread *th, const struct tl_event *e, unsigned depth)
{
	int rc = append(th, e, depth);

	return rc || th->ninside < TL_INSIDE_MAX ? rc : tl_thread__flush(tl, th);
}

/* ---- A call with others inside ---- */

struct open_call {
	uint64_t end;
	unsigned depth;
};

struct tree {
	struct tl *tl;
	struct tl_thread *th;
	uint32_t track;
	uint16_t bucket;
	unsigned n;
	struct open_call open[257]; /* depths rise: 0 … 255 */
};

static int close_last(struct tree *t)
{
	uint64_t end = t->open[--t->n].end;
	struct tl_event *e;

	if (end == UINT64_MAX)
		return 0;
	e = tl__new(t->tl, TL_CLOSE, TIMELINE_CALL, t->track, end);
	e->bucket = t->bucket;
	return tl__event(t->tl, e);
}

static int open_call(struct tree *t, struct tl_event *e, uint64_t end, unsigned depth)
{
	join_group(t->tl, e, t->bucket);
	e->track = t->track;
	if (e->type == TL_INSTANT)
		return tl__event(t->tl, e);
	e->type = TL_OPEN;
	t->open[t->n++] = (struct open_call){ end, depth };
	return tl__event(t->tl, e);
}

static bool inside(const struct tl_nested *n, const struct open_call *o)
{
	return n->end <= o->end && n->depth > o->depth;
}

static int add(struct tree *t, const struct tl_nested *n)
{
	struct tl_event *e;
	int rc = 0;

	while (!rc && t->n > 1 && !inside(n, &t->open[t->n - 1]) && t->open[t->n - 1].end <= n->start)
		rc = close_last(t);
	if (rc)
		return rc;
	e = event_of(t->tl, t->th, n);
	if (n->type != TL_INSTANT && !inside(n, &t->open[t->n - 1])) {
		/* crosses another call: no nesting shows that */
		join_group(t->tl, e, t->bucket);
		rc = place(t->tl, t->th, e);
		return rc ? rc : tl__event(t->tl, e);
	}
	return open_call(t, e, n->end, n->depth);
}

static int with_inside(struct tl *tl, struct tl_thread *th, const struct tl_event *outer)
{
	struct tree t = { .tl = tl, .th = th, .bucket = bucket_of(tl, th, outer->start) };
	uint64_t end = end_of(outer);
	struct tl_event root = *outer; /* tl->ev is needed for the others */
	int rc = 0;

	qsort(th->inside, th->ninside, sizeof(*th->inside), by_begin);
	/* those that are not inside this call: the record of theirs was lost */
	for (unsigned i = 0; !rc && i < th->ninside; i++)
		if (th->inside[i].start < root.start || th->inside[i].end > end)
			rc = alone(tl, th, event_of(tl, th, &th->inside[i]));
	if (!rc)
		rc = place(tl, th, &root);
	t.track = root.track;
	if (!rc && root.type == TL_INSTANT) {
		join_group(tl, &root, t.bucket);
		rc = tl__event(tl, &root);
	} else if (!rc) {
		rc = open_call(&t, &root, end, 0);
	}
	for (unsigned i = 0; !rc && i < th->ninside; i++) {
		if (th->inside[i].start < root.start || th->inside[i].end > end)
			continue;
		rc = t.n ? add(&t, &th->inside[i]) : alone(tl, th, event_of(tl, th, &th->inside[i]));
	}
	while (!rc && t.n)
		rc = close_last(&t);
	th->ninside = 0;
	return rc;
}

int tl_thread__call(struct tl *tl, struct tl_thread *th, struct tl_event *e)
{
	return th->ninside ? with_inside(tl, th, e) : alone(tl, th, e);
}
