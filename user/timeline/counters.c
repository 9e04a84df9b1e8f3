/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of each device, made of executions with valid times: how many run, how many were asked for and have not started,
 * and at which rate copies move bytes (each at its mean over its own time).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report/sweep.h"
#include "timeline/device.h"

uint64_t tl_rate(uint64_t bytes, uint64_t ns);

static int write_sample(struct tl *tl, struct tl_counter *c)
{
	struct tl_event *e;

	c->waits = false;
	if (c->begun && c->value == c->written)
		return 0;
	c->begun = true;
	c->written = c->value;
	e = tl__new(tl, TL_SAMPLE, TIMELINE_COUNTER, c->track, c->t);
	e->end = c->value;
	return tl__event(tl, e);
}

/* What happens at one moment is one sample. */
static int step(struct tl *tl, struct tl_counter *c, uint64_t t, int64_t by)
{
	int rc = c->waits && t != c->t ? write_sample(tl, c) : 0;

	c->t = t;
	c->value += (uint64_t)by;
	c->waits = true;
	return rc;
}

/* ---- What runs, by its end ---- */

static int push(struct tl_device *d, struct tl_ending x)
{
	size_t i = d->nends;

	if (i == d->room) {
		size_t room = d->room ? d->room * 2 : 64;
		struct tl_ending *grown = realloc(d->ends, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		d->ends = grown;
		d->room = room;
	}
	d->nends++;
	for (; i && d->ends[(i - 1) / 2].end > x.end; i = (i - 1) / 2)
		d->ends[i] = d->ends[(i - 1) / 2];
	d->ends[i] = x;
	return 0;
}

static struct tl_ending pop(struct tl_device *d)
{
	struct tl_ending first = d->ends[0], x = d->ends[--d->nends];
	size_t i = 0, k;

	while ((k = 2 * i + 1) < d->nends) {
		if (k + 1 < d->nends && d->ends[k + 1].end < d->ends[k].end)
			k++;
		if (d->ends[k].end >= x.end)
			break;
		d->ends[i] = d->ends[k];
		i = k;
	}
	d->ends[i] = x;
	return first;
}

static int end_until(struct tl *tl, struct tl_device *d, uint64_t t)
{
	int rc = 0;

	while (!rc && d->nends && d->ends[0].end <= t) {
		struct tl_ending x = pop(d);

		rc = step(tl, &d->running, x.end, -1);
		if (!rc && x.rate)
			rc = step(tl, &d->rate[x.direction], x.end, -(int64_t)x.rate);
	}
	return rc;
}

static unsigned direction_of(uint8_t kind)
{
	switch (kind) {
	case GPUBPF_COPY_HTOD:
	case GPUBPF_COPY_HTOA:
		return TL_TO_DEVICE;
	case GPUBPF_COPY_DTOH:
	case GPUBPF_COPY_ATOH:
		return TL_TO_HOST;
	default:
		return TL_ELSEWHERE;
	}
}

static int rate_track(struct tl *tl, struct tl_device *d, unsigned direction)
{
	static const char *const names[TL_DIRECTIONS] = { "Copies, host to device", "Copies, device to host",
							  "Copies, others" };

	if (d->rate[direction].track != TL_NO_TRACK)
		return 0;
	d->rate[direction].track = tl_tracks__add(&tl->tracks, TL_COUNTER, d->track + 1, names[direction]);
	if (d->rate[direction].track == TL_NO_TRACK)
		return -ENOMEM;
	tl->tracks.track[d->rate[direction].track].unit = TL_BYTES_PER_SECOND;
	return 0;
}

static int start(struct tl *tl, struct tl_device *d, const struct join_activity *a)
{
	struct tl_ending x = { .end = a->end };
	int rc = end_until(tl, d, a->start);

	if (!rc && a->kind == GPUBPF_ACTIVITY_COPY && a->end > a->start) {
		x.direction = (uint8_t)direction_of(join__key(tl->t->in.join, a->key)->copy_kind);
		x.rate = tl_rate(a->bytes, a->end - a->start);
		/* so that a hostile file's sums do not wrap */
		if (x.rate > UINT32_MAX * UINT64_C(65536))
			x.rate = 0;
		if (x.rate)
			rc = rate_track(tl, d, x.direction);
		if (!rc && x.rate)
			rc = step(tl, &d->rate[x.direction], a->start, (int64_t)x.rate);
	}
	if (!rc)
		rc = step(tl, &d->running, a->start, 1);
	return rc ? rc : push(d, x);
}

/* ---- The queue ---- */

static bool queued(const struct join_activity *a)
{
	return a->has_call && a->call.entry <= a->start;
}

static struct tl_device *device_of(struct tl *tl, const struct join_activity *a)
{
	uint32_t s = tl->stream_of[a->lane];

	if (!s || a->time != JOIN_TIME_VALID || a->kind > GPUBPF_ACTIVITY_GRAPH)
		return NULL;
	return &tl->devices[tl->streams[s - 1].device];
}

int tl_counters__note(struct tl *tl, const struct join_activity *a)
{
	struct tl_device *d = device_of(tl, a);

	if (!d || !queued(a))
		return 0;
	if (d->n == d->asked_room) {
		size_t room = d->asked_room ? d->asked_room + d->asked_room / 2 : 4096;
		uint64_t *grown = realloc(d->asked, room * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		d->asked = grown;
		d->asked_room = room;
	}
	d->asked[d->n++] = a->call.entry;
	return 0;
}

int tl_counters__prepare(struct tl *tl)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < tl->ndevices; i++)
		rc = sort_times(tl->devices[i].asked, tl->devices[i].n);
	return rc;
}

static int ask_until(struct tl *tl, struct tl_device *d, uint64_t t)
{
	int rc = 0;

	while (!rc && d->at < d->n && d->asked[d->at] <= t)
		rc = step(tl, &d->queue, d->asked[d->at++], 1);
	return rc;
}

static int finish(struct tl *tl, struct tl_device *d)
{
	int rc = end_until(tl, d, UINT64_MAX);

	if (!rc && d->running.waits)
		rc = write_sample(tl, &d->running);
	if (!rc && d->queue.waits)
		rc = write_sample(tl, &d->queue);
	for (unsigned i = 0; !rc && i < TL_DIRECTIONS; i++)
		if (d->rate[i].waits)
			rc = write_sample(tl, &d->rate[i]);
	return rc;
}

static void restart(struct tl_counter *c)
{
	c->waits = c->begun = false;
	c->value = 0;
}

void tl_counters__begin(struct tl *tl)
{
	for (size_t i = 0; i < tl->ndevices; i++) {
		struct tl_device *d = &tl->devices[i];

		d->at = d->nends = 0;
		restart(&d->running);
		restart(&d->queue);
		for (unsigned k = 0; k < TL_DIRECTIONS; k++)
			restart(&d->rate[k]);
	}
}

int tl_counters__add(struct tl *tl, const struct join_activity *a)
{
	struct tl_device *d = device_of(tl, a);
	int rc;

	if (!d || (tl->phase == TL_WRITE && tl->drop_counters))
		return 0;
	rc = start(tl, d, a);
	if (!rc)
		rc = ask_until(tl, d, a->start);
	if (!rc && queued(a))
		rc = step(tl, &d->queue, a->start, -1);
	return rc;
}

int tl_counters__end(struct tl *tl)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < tl->ndevices; i++)
		rc = finish(tl, &tl->devices[i]);
	return rc;
}

void tl_counters__clear(struct tl *tl)
{
	for (size_t i = 0; i < tl->ndevices; i++) {
		free(tl->devices[i].ends);
		free(tl->devices[i].asked);
	}
}
