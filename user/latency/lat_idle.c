/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Gaps and whose they are, then the calls of these threads against them. Nothing here knows of joins. */
#include "latency/lat_idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZES(type) sizeof(((struct type *)0)->key), sizeof(struct type)

void lat_idle__init(struct lat_idle *s, uint64_t threshold, bool same_devices, uint64_t stories)
{
	*s = (struct lat_idle){ .threshold = threshold,
				.same_devices = same_devices,
				.stories_max = stories };
	hmap__init(&s->devices, SIZES(idle_device));
	hmap__init(&s->users, 2 * sizeof(uint64_t), 2 * sizeof(uint64_t));
	hmap__init(&s->threads, SIZES(idle_thread));
	hmap__init(&s->tracks, SIZES(idle_track));
	hmap__init(&s->cells, SIZES(idle_cell));
	hmap__init(&s->apis, SIZES(idle_api));
	breakdowns__init(&s->breakdowns);
}

void lat_idle__clear(struct lat_idle *s)
{
	for (size_t i = 0; i < s->devices.n; i++)
		busy__clear(&lat_idle__device(s, i)->busy);
	hmap__clear(&s->devices);
	hmap__clear(&s->users);
	hmap__clear(&s->threads);
	hmap__clear(&s->tracks);
	hmap__clear(&s->cells);
	hmap__clear(&s->apis);
	breakdowns__clear(&s->breakdowns);
	free(s->gap);
	free(s->order);
	free(s->story);
}

/* ---- Who ---- */

static struct idle_thread *thread_of(struct lat_idle *s, const struct idle_caller *c)
{
	uint64_t key = (uint64_t)c->tgid << 32 | c->tid;
	size_t before = s->threads.n;
	struct idle_thread *th = hmap__put(&s->threads, &key);

	if (th && s->threads.n != before) {
		th->tgid = c->tgid;
		th->tid = c->tid;
		th->proc = c->proc;
		th->of_shim = c->of_shim;
		th->number = (uint32_t)(s->threads.n - 1);
	}
	return th;
}

/* *out NULL with rc 0: it has too many. */
static int track_of(struct lat_idle *s, struct idle_thread *th, uint32_t device, struct idle_track **out)
{
	uint64_t key = (uint64_t)th->number << 32 | device;
	struct idle_track *tr = hmap__get(&s->tracks, &key);

	*out = tr;
	if (tr || th->tracks == IDLE_TRACKS_MAX)
		return 0;
	*out = tr = hmap__put(&s->tracks, &key);
	if (!tr)
		return -ENOMEM;
	tr->number = (uint32_t)(s->tracks.n - 1);
	tr->thread = th->number;
	tr->device = device;
	tr->next = th->track;
	th->track = tr->number + 1;
	th->tracks++;
	return 0;
}

static struct idle_api *api_of(struct lat_idle *s, uint32_t device, const struct idle_thread *th,
			       uint16_t api)
{
	uint64_t key[2] = { (uint64_t)device << 32 | th->tgid, api };
	struct idle_api *a = hmap__put(&s->apis, key);

	if (a && !a->tgid) {
		a->tgid = th->tgid;
		a->proc = th->proc;
	}
	return a;
}

/* ns == 0: nothing is there to be said. */
static int add(struct lat_idle *s, const struct idle_gap *g, uint32_t thread, enum idle_cause cause,
	       uint64_t ns, bool shared)
{
	uint64_t key[2] = { (uint64_t)g->device << 32 | thread, cause };
	struct idle_cell *c = ns ? hmap__put(&s->cells, key) : NULL;

	if (!ns)
		return 0;
	if (!c)
		return -ENOMEM;
	c->ns += ns;
	c->shared += shared ? ns : 0;
	if (c->last != (uint64_t)(g - s->gap) + 1)
		c->gaps++;
	c->last = (uint64_t)(g - s->gap) + 1;
	if (g->story) {
		s->story[g->story - 1].ns[cause] += ns;
		s->story[g->story - 1].shared |= shared;
	}
	return 0;
}

/* ---- Gaps ---- */

static uint64_t clamp(uint64_t t, const struct gap *g)
{
	return t < g->start ? g->start : t > g->end ? g->end : t;
}

/* Gaps that are only counted: cells without a place in the list. */
static int count_only(struct lat_idle *s, struct idle_device *d, enum idle_cause why, uint64_t ns)
{
	uint64_t key[2] = { (uint64_t)d->number << 32, why };
	struct idle_cell *c = hmap__put(&s->cells, key);

	if (!c)
		return -ENOMEM;
	c->ns += ns;
	c->gaps++;
	*(why == IDLE_SHORT ? &d->short_ns : &d->not_chosen_ns) += ns;
	return 0;
}

static int keep(struct lat_idle *s, const struct idle_gap *g)
{
	if (s->ngaps == s->room) {
		size_t room = s->room ? s->room * 2 : 256;
		struct idle_gap *gap = room < UINT32_MAX ? realloc(s->gap, room * sizeof(*gap)) : NULL;

		if (!gap)
			return -ENOMEM;
		s->gap = gap;
		s->room = room;
	}
	s->gap[s->ngaps++] = *g;
	return 0;
}

/* What is known of it without a look at other calls: the time behind the entry, or the return, of the one that ended it. */
static int blame(struct lat_idle *s, struct idle_device *d, struct idle_gap *g, const struct gap *gap)
{
	const struct idle_caller *c = &s->caller;
	struct idle_thread *th = thread_of(s, c);
	struct idle_track *tr = NULL;
	struct idle_api *a;
	int rc = th ? track_of(s, th, d->number, &tr) : -ENOMEM;

	if (rc || !tr) {
		g->why = IDLE_MANY;
		d->nobody_ns += g->end - g->start;
		return rc;
	}
	a = api_of(s, d->number, th, c->api);
	if (!a)
		return -ENOMEM;
	g->track = tr->number + 1;
	g->why = c->has_ret ? IDLE_SUBMISSION : IDLE_LAUNCH;
	g->tail = clamp(c->has_ret ? c->ret : c->entry, gap);
	g->until = c->of_shim ? clamp(c->entry, gap) : g->tail;
	if (g->until > g->tail)
		g->until = g->tail;
	g->ready = clamp(c->wait_end, gap);
	if (g->ready < g->tail)
		g->ready = g->tail;
	tr->n++;
	d->blamed_ns += g->end - g->start;
	a->ended++;
	a->ended_ns += g->end - g->start;
	a->tail_ns += g->end - g->ready;
	a->ns += g->tail - g->until; /* of_shim: no record says it */
	a->part[IDLE_IN_CALL_UNMEASURED] += g->tail - g->until;
	a->calls += g->tail > g->until;
	return 0;
}

static int on_gap(const struct gap *gap, void *arg)
{
	struct idle_device *d = arg;
	struct lat_idle *s = d->idle;
	uint64_t ns = gap->end - gap->start;
	struct idle_gap g = { .start = gap->start,
			      .end = gap->end,
			      .until = gap->start,
			      .tail = gap->start,
			      .before = (uint32_t)gap->before,
			      .after = (uint32_t)gap->after,
			      .device = d->number,
			      .why = (uint8_t)s->why };
	int rc = 0;

	if (ns < s->threshold)
		return count_only(s, d, IDLE_SHORT, ns);
	d->long_gaps++;
	d->long_ns += ns;
	if (s->why == IDLE_NOT_CHOSEN)
		return count_only(s, d, IDLE_NOT_CHOSEN, ns);
	if (s->why == IDLE_CAUSES)
		rc = blame(s, d, &g, gap);
	else
		d->nobody_ns += ns;
	return rc ? rc : keep(s, &g);
}

int lat_idle__ran(struct lat_idle *s, const struct idle_ran *r)
{
	struct idle_device *d = hmap__put(
		&s->devices, (uint64_t[2]){ s->same_devices ? 0 : (uintptr_t)r->proc, r->device });
	size_t users = s->users.n;

	if (!d)
		return -ENOMEM;
	if (!d->idle) {
		d->idle = s;
		d->number = (uint32_t)(s->devices.n - 1);
		d->device = r->device;
		d->proc = r->proc;
		d->busy.on_gap = on_gap;
		d->busy.arg = d;
	}
	if (!hmap__put(&s->users, (uint64_t[2]){ (uintptr_t)r->proc, d->number }))
		return -ENOMEM;
	d->processes += s->users.n != users;
	if (d->processes > 1)
		d->proc = NULL;
	s->why = r->why;
	if (d->last_proc == r->proc && d->last_session != r->session)
		s->why = IDLE_UNWATCHED;
	d->last_proc = r->proc;
	d->last_session = r->session;
	s->caller = r->caller;
	return busy__add(&d->busy, r->start, r->end, r->activity);
}

/* ---- When all that ran was seen ---- */

static uint64_t length(const struct idle_gap *g)
{
	return g->end - g->start;
}

static int choose_stories(struct lat_idle *s)
{
	s->story = calloc(s->stories_max + 1, sizeof(*s->story));
	if (!s->story)
		return -ENOMEM;
	for (size_t i = 0; i < s->ngaps && s->stories_max; i++) {
		const struct idle_gap *g = &s->gap[i];
		size_t at;

		if (s->nstories == s->stories_max &&
		    length(g) <= length(&s->gap[s->story[s->nstories - 1].gap]))
			continue;
		at = s->nstories < s->stories_max ? s->nstories++ : s->nstories - 1;
		for (; at && length(&s->gap[s->story[at - 1].gap]) < length(g); at--)
			s->story[at].gap = s->story[at - 1].gap;
		s->story[at].gap = (uint32_t)i;
	}
	for (size_t i = 0; i < s->nstories; i++)
		s->gap[s->story[i].gap].story = (uint8_t)(i + 1);
	return 0;
}

static int sort_by_track(struct lat_idle *s)
{
	uint32_t at = 0;

	s->order = malloc((s->ngaps + 1) * sizeof(*s->order));
	if (!s->order)
		return -ENOMEM;
	for (size_t i = 0; i < s->tracks.n; i++) {
		struct idle_track *tr = hmap__at(&s->tracks, i);

		tr->first = at;
		at += tr->n;
		tr->n = 0;
	}
	for (size_t i = 0; i < s->ngaps; i++) {
		struct idle_track *tr = s->gap[i].track ? hmap__at(&s->tracks, s->gap[i].track - 1) : NULL;

		if (tr)
			s->order[tr->first + tr->n++] = (uint32_t)i;
	}
	return 0;
}

int lat_idle__ready(struct lat_idle *s)
{
	int rc = choose_stories(s);

	if (!rc)
		rc = sort_by_track(s);
	for (size_t i = 0; i < s->devices.n; i++)
		busy__finish(&lat_idle__device(s, i)->busy);
	for (size_t i = 0; !rc && i < s->ngaps; i++) {
		const struct idle_gap *g = &s->gap[i];
		const struct idle_track *tr = g->track ? hmap__at(&s->tracks, g->track - 1) : NULL;

		if (!tr) {
			rc = add(s, g, 0, g->why, length(g), false);
			continue;
		}
		rc = add(s, g, tr->thread + 1, g->why, g->end - g->ready, false);
		if (!rc)
			rc = add(s, g, tr->thread + 1, IDLE_WAIT, g->ready - g->tail, false);
		if (!rc)
			rc = add(s, g, tr->thread + 1, IDLE_IN_CALL_UNMEASURED, g->tail - g->until, false);
	}
	return rc;
}

/* ---- Calls ---- */

static void tell(struct idle_story *st, const struct idle_piece *p, uint64_t from, uint64_t to, bool shared,
		 const uint64_t part[BREAKDOWN_CAUSES])
{
	unsigned at = st->nsegments, least = 0;

	if (at == IDLE_SEGMENTS) {
		for (unsigned i = 1; i < at; i++)
			if (st->segment[i].to - st->segment[i].from <
			    st->segment[least].to - st->segment[least].from)
				least = i;
		st->others++;
		if (st->segment[least].to - st->segment[least].from >= to - from) {
			st->others_ns += to - from;
			return;
		}
		st->others_ns += st->segment[least].to - st->segment[least].from;
		memmove(&st->segment[least], &st->segment[least + 1],
			(IDLE_SEGMENTS - 1 - least) * sizeof(st->segment[0]));
		at--;
	}
	st->nsegments = at + 1;
	st->segment[at] = (struct idle_segment){
		.from = from, .to = to, .cause = p->cause, .api = p->api, .has_parts = p->b, .shared = shared
	};
	for (int i = 0; p->b && i < BREAKDOWN_CAUSES; i++)
		st->segment[at].part[i] = part[i];
}

/* What a piece and the thread's time in one gap have in common. */
static int claim(struct lat_idle *s, struct idle_track *tr, const struct idle_gap *g,
		 const struct idle_piece *p, struct idle_api *api)
{
	uint64_t from = p->from > g->start ? p->from : g->start, to = p->to < g->until ? p->to : g->until;
	uint64_t part[BREAKDOWN_CAUSES] = { 0 }, over = to - from;
	bool shared = p->b && over < p->b->duration;
	unsigned unmeasured = p->cause + (p->cause < IDLE_EITHER ? BREAKDOWN_CAUSES : 0);
	int rc = 0;

	if (to <= from)
		return 0;
	if (p->b)
		idle_share(p->b->ns, over, part);
	else
		rc = add(s, g, tr->thread + 1, (enum idle_cause)unmeasured, over, false);
	for (int i = 0; !rc && p->b && i < BREAKDOWN_CAUSES; i++)
		rc = add(s, g, tr->thread + 1, (enum idle_cause)(p->cause + (unsigned)i), part[i], shared);
	if (api) {
		api->ns += over;
		for (int i = 0; i < BREAKDOWN_CAUSES; i++)
			api->part[i] += part[i];
		api->part[IDLE_IN_CALL_UNMEASURED] += p->b ? 0 : over;
	}
	if (!rc && g->story)
		tell(&s->story[g->story - 1], p, from, to, shared, part);
	return rc;
}

static int on_track(struct lat_idle *s, struct idle_track *tr, const struct idle_thread *th,
		    const struct idle_piece *p)
{
	struct idle_api *api = NULL;
	int rc = 0;

	while (tr->at < tr->n && s->gap[s->order[tr->first + tr->at]].until <= p->from)
		tr->at++;
	for (uint32_t k = tr->at; !rc && k < tr->n; k++) {
		const struct idle_gap *g = &s->gap[s->order[tr->first + k]];

		if (g->start >= p->to)
			break;
		if (g->until <= p->from || g->until <= g->start)
			continue;
		if (!api && p->cause == IDLE_IN_CALL) {
			api = api_of(s, tr->device, th, p->api);
			if (!api)
				return -ENOMEM;
			api->calls++;
		}
		rc = claim(s, tr, g, p, api);
	}
	return rc;
}

/* A thread does one thing at a time: pieces come in the order of time, and none claims what another has. */
static int piece(struct lat_idle *s, struct idle_thread *th, struct idle_piece p)
{
	int rc = 0;

	if (p.from < th->upto)
		p.from = th->upto;
	if (p.to <= p.from)
		return 0;
	th->upto = p.to;
	for (uint32_t ref = th->track; !rc && ref;) {
		struct idle_track *tr = hmap__at(&s->tracks, ref - 1);

		rc = on_track(s, tr, th, &p);
		ref = tr->next;
	}
	return rc;
}

static int before_call(struct lat_idle *s, struct idle_thread *th, uint64_t entry,
		       const struct gpubpf_latency *lat)
{
	struct idle_piece p = { .to = entry, .cause = IDLE_OUTSIDE };
	struct breakdown b;
	int rc = 0;

	if (th->is_open) {
		p.cause = IDLE_EITHER;
		p.api = th->open_api;
	} else if (lat && breakdown_of_gap(lat, &b)) {
		p.to = lat->t_before < entry ? lat->t_before : entry;
		rc = piece(s, th, p);
		p.to = entry;
		p.b = &b;
	}
	return rc ? rc : piece(s, th, p);
}

static int on_call(struct lat_idle *s, const struct gpubpf_call *c)
{
	uint64_t key = (uint64_t)c->tgid << 32 | c->tid;
	struct idle_thread *th = c->depth ? NULL : hmap__get(&s->threads, &key);
	const struct gpubpf_latency *lat = th ? breakdowns__of(&s->breakdowns, c) : NULL;
	struct idle_piece p = { .from = c->t_entry, .to = c->t_return, .cause = IDLE_IN_CALL, .api = c->api };
	struct breakdown b;
	int rc;

	if (!th)
		return 0;
	rc = before_call(s, th, c->t_entry, lat);
	th->is_open = !(c->flags & (GPUBPF_CALL_RETURNED | GPUBPF_CALL_OPEN));
	th->open_api = c->api;
	if (rc || th->is_open)
		return rc;
	if (c->flags & GPUBPF_CALL_OPEN)
		p.to = UINT64_MAX;
	if (lat) {
		breakdown_of_call(lat, &b);
		p.b = &b;
	}
	return piece(s, th, p);
}

int lat_idle__record(struct lat_idle *s, const struct gpubpf_rec *rec)
{
	if (rec->kind == GPUBPF_REC_CALL)
		return on_call(s, (const struct gpubpf_call *)rec);
	return rec->kind == GPUBPF_REC_LATENCY
		       ? breakdowns__add(&s->breakdowns, (const struct gpubpf_latency *)rec)
		       : 0;
}

/* Behind a thread's last record nothing says what it did. */
int lat_idle__finish(struct lat_idle *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->threads.n; i++) {
		struct idle_thread *th = hmap__at(&s->threads, i);
		struct idle_piece p = { .to = UINT64_MAX, .cause = th->of_shim ? IDLE_BEFORE : IDLE_OUTSIDE };

		if (th->is_open) {
			p.cause = IDLE_EITHER;
			p.api = th->open_api;
		}
		rc = piece(s, th, p);
	}
	return rc;
}
