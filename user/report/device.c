/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/procs.h"

#define GRAPH_LAUNCHES 1 /* population of the join */

struct asked { /* a call that started something */
	uint64_t entry, start;
	uint32_t stream;
};

int device__new(const struct device_opts *o, struct device **out)
{
	struct device *d = calloc(1, sizeof(*d));

	*out = d;
	if (!d)
		return -ENOMEM;
	d->o = *o;
	hmap__init(&d->keys, sizeof(((struct ran *)0)->key), sizeof(struct ran));
	hmap__init(&d->devices, sizeof(((struct place *)0)->key), sizeof(struct place));
	hmap__init(&d->streams, sizeof(((struct place *)0)->key), sizeof(struct place));
	hmap__init(&d->graphs, sizeof(((struct graph_run *)0)->key), sizeof(struct graph_run));
	return 0;
}

static void clear_places(struct hmap *places)
{
	for (size_t i = 0; i < places->n; i++) {
		struct place *p = hmap__at(places, i);

		busy__clear(&p->busy);
		hist__clear(&p->waits.delay);
	}
	hmap__clear(places);
}

void device__free(struct device *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->keys.n; i++) {
		struct ran *r = hmap__at(&d->keys, i);

		hist__clear(&r->time);
		hist__clear(&r->delay);
		hist__clear(&r->sizes);
	}
	hmap__clear(&d->keys);
	clear_places(&d->devices);
	clear_places(&d->streams);
	hmap__clear(&d->graphs);
	free(d->stream_of);
	free(d->asked);
	free(d);
}

enum ran_kind ran_kind(enum gpubpf_activity_kind kind)
{
	switch (kind) {
	case GPUBPF_ACTIVITY_KERNEL:
		return RAN_KERNEL;
	case GPUBPF_ACTIVITY_COPY:
		return RAN_COPY;
	case GPUBPF_ACTIVITY_SET:
		return RAN_SET;
	default:
		return RAN_KINDS;
	}
}

static struct place *put_place(struct hmap *places, const struct join_lane *lane, uint64_t rest)
{
	const struct proc *proc = lane->session->proc;
	struct place *p = hmap__put(places, (uint64_t[3]){ (uintptr_t)proc, lane->device, rest });

	if (p && !p->proc) {
		p->proc = proc;
		p->device = lane->device;
		p->number = (uint32_t)(places->n - 1);
	}
	return p;
}

static int more_lanes(struct device *d, uint32_t lane)
{
	size_t n = d->nlanes ? d->nlanes * 2 : 64;
	uint32_t *stream_of;

	while (n <= lane)
		n *= 2;
	stream_of = realloc(d->stream_of, n * sizeof(*stream_of));
	if (!stream_of)
		return -ENOMEM;
	memset(stream_of + d->nlanes, 0, (n - d->nlanes) * sizeof(*stream_of));
	d->stream_of = stream_of;
	d->nlanes = n;
	return 0;
}

static struct place *stream_place(struct device *d, const struct join_lane *lane, uint32_t number)
{
	struct place *s, *dev;

	if (number >= d->nlanes && more_lanes(d, number))
		return NULL;
	if (d->stream_of[number])
		return hmap__at(&d->streams, d->stream_of[number] - 1);
	s = put_place(&d->streams, lane, (uint64_t)lane->context << 32 | lane->stream);
	dev = put_place(&d->devices, lane, 0);
	if (!s || !dev)
		return NULL;
	d->stream_of[number] = s->number + 1;
	s->context = lane->context;
	s->stream = lane->stream;
	s->device_number = dev->number;
	dev->busy.max = DEVICE_GAPS;
	return s;
}

static bool wanted(const struct device *d, const struct join_lane *lane, const struct join_activity *a)
{
	if (!lane->session->proc->selected)
		return false;
	for (size_t i = 0; i < d->o.ntids; i++)
		if (a->has_call && d->o.tids[i] == a->call.tid)
			return true;
	return !d->o.ntids;
}

/* Counts the record; *timed: what its duration is. */
static int put_key(struct device *d, const struct join_activity *a, uint32_t device, struct ran **out)
{
	struct ran *r = hmap__put(&d->keys, (uint32_t[2]){ a->key, d->o.by_device ? device + 1 : 0 });
	bool timed = a->time == JOIN_TIME_VALID || (a->time == JOIN_TIME_UNANCHORED && a->end >= a->start);
	uint64_t took = timed ? a->end - a->start : 0;

	if (!r)
		return -ENOMEM;
	*out = r;
	r->records++;
	r->nodes += a->has_node;
	if (a->link != JOIN_JOINED) {
		r->unlinked[a->link]++;
		r->unlinked_timed[a->link] += timed;
		r->unlinked_ns[a->link] += took;
	}
	if (a->kind != GPUBPF_ACTIVITY_KERNEL) {
		r->bytes += a->bytes;
		if (hist__add(&r->sizes, a->bytes))
			return -ENOMEM;
	}
	if (!timed) {
		r->untimed++;
		return 0;
	}
	r->timed_bytes += a->bytes;
	if (a->kind == GPUBPF_ACTIVITY_KERNEL)
		d->kernel_ns += took;
	return hist__add(&r->time, took);
}

/* Whether this is what its call started first. */
static int first_of_call(struct device *d, struct place *stream, const struct join_activity *a, bool *first)
{
	struct graph_run *g;

	if (a->call.population != GRAPH_LAUNCHES) {
		*first = !stream->has_last || stream->last_entry != a->call.entry ||
			 stream->last_tid != a->call.tid;
		stream->has_last = true;
		stream->last_entry = a->call.entry;
		stream->last_tid = a->call.tid;
		return 0;
	}
	g = hmap__put(&d->graphs, (uint64_t[3]){ (uintptr_t)a->call.proc, a->call.tid, a->call.entry });
	if (!g)
		return -ENOMEM;
	if (!g->nodes++) {
		g->proc = a->call.proc;
		g->has_graph = a->has_node && a->graph; /* CUPTI 11.0 gives a node without its graph */
		g->graph = a->graph;
		g->start = UINT64_MAX;
	}
	*first = false;
	if (a->time != JOIN_TIME_VALID) {
		g->nodes_untimed++;
		return 0;
	}
	*first = g->start == UINT64_MAX;
	if (*first)
		g->start = a->start;
	if (a->end > g->end)
		g->end = a->end;
	return 0;
}

static int add_asked(struct device *d, const struct place *stream, const struct join_activity *a)
{
	if (d->nasked == d->room) {
		size_t room = d->room ? d->room * 2 : 1024;
		struct asked *asked = realloc(d->asked, room * sizeof(*asked));

		if (!asked)
			return -ENOMEM;
		d->asked = asked;
		d->room = room;
	}
	d->asked[d->nasked++] = (struct asked){ .entry = a->call.entry,
						.start = a->start,
						.stream = stream->number };
	return 0;
}

static void add_early(struct device *d, const struct join_session *s, const struct join_activity *a)
{
	uint64_t by = a->call.entry - a->start;
	int kind = ran_kind(a->kind);

	d->early[kind].early++;
	d->early[kind].beyond += !s->has_clock_error || by > s->clock_error_ns;
	if (by > d->early[kind].worst)
		d->early[kind].worst = by;
}

static int add_wait(struct device *d, struct place *stream, struct place *dev, const struct join_session *s,
		    const struct join_activity *a, struct ran *r)
{
	bool first, timed = a->time == JOIN_TIME_VALID;
	int rc = first_of_call(d, stream, a, &first);
	uint64_t delay = a->start - a->call.entry;

	if (rc || !timed)
		return rc;
	if (a->start < a->call.entry) {
		add_early(d, s, a);
		stream->waits.early++;
		dev->waits.early++;
		return 0;
	}
	if (!first)
		return 0;
	if (a->call.population != GRAPH_LAUNCHES && hist__add(&r->delay, delay))
		return -ENOMEM;
	if (hist__add(&stream->waits.delay, delay) || hist__add(&dev->waits.delay, delay))
		return -ENOMEM;
	return add_asked(d, stream, a);
}

int device__add(struct device *d, const struct join_lane *lane, const struct join_activity *a, size_t index)
{
	enum ran_kind kind = ran_kind(a->kind);
	struct place *stream, *dev;
	struct ran *r;

	if (kind == RAN_KINDS) {
		d->others++;
		return 0;
	}
	if (!wanted(d, lane, a)) {
		d->left_out++;
		return 0;
	}
	d->times[kind].records++;
	d->times[kind].by[a->time]++;
	stream = stream_place(d, lane, a->lane);
	if (!stream || put_key(d, a, stream->device_number, &r))
		return -ENOMEM;
	dev = hmap__at(&d->devices, stream->device_number);
	if (!stream->unplaced && !stream->n[0] && !stream->n[1] && !stream->n[2])
		dev->streams++;
	if (a->has_call && add_wait(d, stream, dev, lane->session, a, r))
		return -ENOMEM;
	if (a->time != JOIN_TIME_VALID) {
		stream->unplaced++;
		dev->unplaced++;
		return 0;
	}
	stream->n[kind]++;
	dev->n[kind]++;
	if (busy__add(&stream->busy, a->start, a->end, index))
		return -ENOMEM;
	return busy__add(&dev->busy, a->start, a->end, index);
}

/* Deals the calls that started something out to their places: those of place p stand from at[p] to at[p + 1]. */
static void deal(const struct device *d, const uint32_t *place_of, size_t places, size_t *at, uint64_t *up,
		 uint64_t *down)
{
	for (size_t i = 0; i < d->nasked; i++)
		at[place_of[d->asked[i].stream] + 2]++;
	for (size_t p = 0; p < places; p++)
		at[p + 1] += at[p];
	for (size_t i = 0; i < d->nasked; i++) {
		size_t to = at[place_of[d->asked[i].stream] + 1]++;

		up[to] = d->asked[i].entry;
		down[to] = d->asked[i].start;
	}
}

static int depths(struct device *d, struct hmap *places, const uint32_t *place_of, uint64_t *up,
		  uint64_t *down)
{
	size_t *at = calloc(places->n + 2, sizeof(*at));
	int rc = at ? 0 : -ENOMEM;

	if (!rc)
		deal(d, place_of, places->n, at, up, down);
	for (size_t p = 0; !rc && p < places->n; p++) {
		size_t n = at[p + 1] - at[p];

		rc = sort_times(up + at[p], n);
		if (!rc)
			sweep__run(&((struct place *)hmap__at(places, p))->waits.depth, up + at[p],
				   down + at[p], n);
	}
	free(at);
	return rc;
}

/* By stream, then by device. */
static int all_depths(struct device *d)
{
	uint32_t *place_of = calloc(d->streams.n + 1, sizeof(*place_of));
	uint64_t *up = malloc((d->nasked + 1) * sizeof(*up)), *down = malloc((d->nasked + 1) * sizeof(*down));
	int rc = place_of && up && down ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < d->streams.n; i++)
		place_of[i] = (uint32_t)i;
	if (!rc)
		rc = depths(d, &d->streams, place_of, up, down);
	for (size_t i = 0; !rc && i < d->streams.n; i++)
		place_of[i] = ((struct place *)hmap__at(&d->streams, i))->device_number;
	if (!rc)
		rc = depths(d, &d->devices, place_of, up, down);
	free(place_of);
	free(up);
	free(down);
	return rc;
}

int device__finish(struct device *d)
{
	int rc = all_depths(d);

	for (size_t i = 0; i < d->streams.n; i++)
		busy__finish(&((struct place *)hmap__at(&d->streams, i))->busy);
	for (size_t i = 0; i < d->devices.n; i++)
		busy__finish(&((struct place *)hmap__at(&d->devices, i))->busy);
	free(d->asked);
	free(d->stream_of);
	d->asked = NULL;
	d->stream_of = NULL;
	d->nasked = d->room = d->nlanes = 0;
	return rc;
}

int device__read(struct device *d, const struct join *j)
{
	struct join_activity a;
	int rc = 0;

	for (size_t i = 0; !rc && i < join__activities(j); i++) {
		join__activity(j, i, &a);
		rc = device__add(d, join__lane(j, a.lane), &a, i);
	}
	return rc ? rc : device__finish(d);
}
