/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items of the activity probe that ran on no device, kept as they come: ids of other programming interfaces. */
#include "join/priv.h"

#include <errno.h>

void extras_init(struct join *j)
{
	vec__init(&j->externals, sizeof(struct external));
	vec__init(&j->markers, sizeof(struct marker));
	vec__init(&j->marker_data, sizeof(struct marker_data));
	vec__init(&j->unified, sizeof(struct unified_item));
}

void extras_free(struct join *j)
{
	vec__clear(&j->externals);
	vec__clear(&j->markers);
	vec__clear(&j->marker_data);
	vec__clear(&j->unified);
}

static int on_external(struct join *j, const struct session *s, const struct gpubpf_activity *a,
		       uint64_t arrived)
{
	struct external *e = vec__add(&j->externals);

	if (!e)
		return -ENOMEM;
	e->session = s->number;
	e->kind = (uint32_t)a->u.raw[0];
	e->id = a->u.raw[1];
	e->correlation = a->correlation;
	e->arrival = (uint32_t)(arrived / 1000000);
	return 0;
}

static int on_marker(struct join *j, const struct session *s, const struct gpubpf_activity *a)
{
	struct marker *m = vec__add(&j->markers);

	if (!m)
		return -ENOMEM;
	m->time = a->start;
	m->session = s->number;
	m->id = (uint32_t)a->u.raw[0];
	m->kind = (uint8_t)a->u.raw[1];
	m->name_id = a->name;
	m->domain_id = (uint32_t)a->u.raw[2];
	m->has_thread = (a->flags & GPUBPF_ACTIVITY_HAS_THREAD) != 0;
	m->thread = (uint32_t)a->u.raw[4];
	return 0;
}

static bool says_something(const struct gpubpf_activity *a)
{
	return a->u.raw[1] || a->flags & GPUBPF_ACTIVITY_HAS_COLOR || a->u.raw[3] != GPUBPF_PAYLOAD_DOUBLE ||
	       a->u.raw[4];
}

static int on_marker_data(struct join *j, const struct session *s, const struct gpubpf_activity *a)
{
	struct marker_data *d;

	if (!says_something(a))
		return 0;
	d = vec__add(&j->marker_data);
	if (!d)
		return -ENOMEM;
	d->session = s->number;
	d->id = (uint32_t)a->u.raw[0];
	d->category = (uint32_t)a->u.raw[1];
	d->color = (uint32_t)a->u.raw[2];
	d->has_color = (a->flags & GPUBPF_ACTIVITY_HAS_COLOR) != 0;
	d->payload_kind = (uint32_t)a->u.raw[3] & INT32_MAX;
	d->payload = a->u.raw[4];
	d->before = j->markers.n;
	return 0;
}

static int on_unified(struct join *j, const struct session *s, const struct gpubpf_activity *a)
{
	struct unified_item *u = vec__add(&j->unified);

	if (!u)
		return -ENOMEM;
	u->start = a->start;
	u->end = a->end;
	u->session = s->number;
	u->counter = (uint32_t)a->u.raw[0];
	u->value = a->u.raw[1];
	u->address = a->u.raw[2];
	u->src = (uint32_t)a->u.raw[3];
	u->dst = (uint32_t)a->u.raw[4];
	u->flags = (uint32_t)a->u.raw[5];
	return 0;
}

int extras_item(struct join *j, struct session *s, const struct gpubpf_activity *a, uint64_t arrived)
{
	s->pub.activities++;
	switch (a->kind) {
	case GPUBPF_ACTIVITY_EXTERNAL:
		return on_external(j, s, a, arrived);
	case GPUBPF_ACTIVITY_MARKER:
		return on_marker(j, s, a);
	case GPUBPF_ACTIVITY_MARKER_DATA:
		return on_marker_data(j, s, a);
	default:
		return on_unified(j, s, a);
	}
}

struct open_range {
	uint64_t key[2]; /* session, id */
	uint64_t start;  /* reference; 0: it has ended */
};

/* Start and end of a range share an id, and come in this order: both pass through the same buffers. */
static int pair_ranges(struct join *j)
{
	struct hmap open;
	int rc = 0;

	hmap__init(&open, sizeof(((struct open_range *)0)->key), sizeof(struct open_range));
	for (uint32_t i = 0; !rc && i < j->markers.n; i++) {
		struct marker *m = vec__at(&j->markers, i);
		uint64_t key[2] = { m->session, m->id };
		struct open_range *o;

		if (m->kind == GPUBPF_MARKER_START) {
			o = hmap__put(&open, key);
			if (o)
				o->start = i + 1;
			else
				rc = -ENOMEM;
		} else if (m->kind == GPUBPF_MARKER_END) {
			o = hmap__get(&open, key);
			if (!o || !o->start)
				continue;
			m->other = (uint32_t)o->start;
			((struct marker *)vec__at(&j->markers, m->other - 1))->other = i + 1;
			o->start = 0;
		}
	}
	hmap__clear(&open);
	return rc;
}

struct bare {
	uint64_t key[2]; /* session, id */
	uint32_t marker; /* reference: the last one, which has no data yet */
	uint32_t data;   /* reference: came before its marker */
};

static int data_came(struct join *j, struct hmap *bare, uint32_t i)
{
	const struct marker_data *d = vec__at(&j->marker_data, i);
	uint64_t key[2] = { d->session, d->id };
	struct bare *b = hmap__put(bare, key);

	if (!b)
		return -ENOMEM;
	if (b->marker) {
		((struct marker *)vec__at(&j->markers, b->marker - 1))->data = i + 1;
		b->marker = 0;
	} else {
		j->data_alone += b->data != 0;
		b->data = i + 1;
	}
	return 0;
}

static int marker_came(struct join *j, struct hmap *bare, uint32_t i)
{
	struct marker *m = vec__at(&j->markers, i);
	uint64_t key[2] = { m->session, m->id };
	struct bare *b;

	if (m->kind == GPUBPF_MARKER_END)
		return 0;
	b = hmap__put(bare, key);
	if (!b)
		return -ENOMEM;
	m->data = b->data;
	b->marker = b->data ? 0 : i + 1;
	b->data = 0;
	return 0;
}

/* A marker and its data share an id; which of the two comes first is CUPTI's affair. */
static int bind_data(struct join *j)
{
	struct hmap bare;
	uint32_t d = 0;
	int rc = 0;

	if (!j->marker_data.n)
		return 0;
	hmap__init(&bare, sizeof(((struct bare *)0)->key), sizeof(struct bare));
	for (uint32_t i = 0; !rc && i <= j->markers.n; i++) {
		while (!rc && d < j->marker_data.n &&
		       ((const struct marker_data *)vec__at(&j->marker_data, d))->before <= i)
			rc = data_came(j, &bare, d++);
		if (!rc && i < j->markers.n)
			rc = marker_came(j, &bare, i);
	}
	for (size_t i = 0; i < bare.n; i++)
		j->data_alone += ((const struct bare *)hmap__at(&bare, i))->data != 0;
	hmap__clear(&bare);
	return rc;
}

int extras_finish(struct join *j)
{
	int rc;

	for (uint32_t i = 0; i < j->markers.n; i++) {
		struct marker *m = vec__at(&j->markers, i);
		const struct session *s = session_at(j, m->session);

		if (m->time && session_own_clock(s) && session_anchored(s))
			m->time = session_to_monotonic(s, m->time);
	}
	rc = pair_ranges(j);
	return rc ? rc : bind_data(j);
}

size_t join__externals(const struct join *j)
{
	return j->externals.n;
}

void join__external(const struct join *j, size_t i, struct join_external *to)
{
	const struct external *e = vec__at(&j->externals, (uint32_t)i);
	const struct scall *c;

	*to = (struct join_external){ .session = &session_at(j, e->session)->pub,
				      .kind = e->kind,
				      .id = e->id,
				      .correlation = e->correlation };
	if (!e->call || e->call == ACT_AMBIGUOUS)
		return;
	c = scall_at(j, e->call - 1);
	to->has_call = true;
	to->has_work = population_of_work(SCALL_WORK(c->info)) < JOIN_POPULATIONS;
	to->thread = (uint32_t)((const struct sthread *)hmap__at(&j->sthreads, c->thread))->key[1];
}

size_t join__markers(const struct join *j)
{
	return j->markers.n;
}

size_t join__marker_data_alone(const struct join *j)
{
	return j->data_alone;
}

static uint32_t name_number(const struct join *j, const struct session *s, uint32_t id)
{
	uint64_t key[2] = { s->proc->key, id };
	const struct name_id *n = id ? hmap__get(&j->names, key) : NULL;

	return n ? n->number : 0;
}

/* Ids of the process's own namespace mean nothing outside of it, unless BPF has seen the thread. */
static bool thread_number(const struct join *j, const struct session *s, const struct marker *m,
			  uint32_t *tid)
{
	uint64_t key[2] = { s->proc->key, m->thread };
	const struct ns_thread *t = hmap__get(&j->ns_threads, key);

	*tid = t ? t->tid : m->thread;
	return m->has_thread && (t || !s->proc->own_ids);
}

static void put_data(const struct join *j, const struct marker *m, struct join_marker *to)
{
	const struct marker_data *d;

	if (!m->data)
		return;
	d = vec__at(&j->marker_data, m->data - 1);
	to->has_category = d->category != 0;
	to->category = d->category;
	to->has_color = d->has_color;
	to->color = d->has_color ? d->color : 0;
	to->has_payload = d->payload_kind != GPUBPF_PAYLOAD_DOUBLE || d->payload;
	to->payload_kind = d->payload_kind;
	to->payload = d->payload;
}

void join__marker(const struct join *j, size_t i, struct join_marker *to)
{
	const struct marker *m = vec__at(&j->markers, (uint32_t)i);
	const struct session *s = session_at(j, m->session);
	const struct marker *end = m->kind == GPUBPF_MARKER_START && m->other
					   ? vec__at(&j->markers, m->other - 1)
					   : NULL;
	uint32_t tid;

	*to = (struct join_marker){ .session = &s->pub,
				    .kind = (enum gpubpf_marker)m->kind,
				    .id = m->id,
				    .has_time = m->time != 0,
				    .time = m->time,
				    .has_name = m->name_id != 0,
				    .name_id = m->name_id,
				    .domain_id = m->domain_id,
				    .name = name_number(j, s, m->name_id),
				    .has_domain = m->domain_id != 0,
				    .domain = name_number(j, s, m->domain_id),
				    .paired = m->other != 0 };
	to->has_thread = thread_number(j, s, m, &to->thread);
	put_data(j, m, to);
	if (!end)
		return;
	to->has_end = end->time && m->time && end->time >= m->time;
	to->end = to->has_end ? end->time : 0;
	to->ended_elsewhere = to->has_thread && thread_number(j, s, end, &tid) && tid != to->thread;
}

size_t join__unifieds(const struct join *j)
{
	return j->unified.n;
}

static void fill_place(struct join_unified_place *p, uint32_t id)
{
	p->there = true;
	p->host = id == GPUBPF_UNIFIED_HOST;
	p->device = p->host ? 0 : id;
}

/* What cupti_activity.h says of each counter; other fields of the record are to be ignored. */
void join__unified(const struct join *j, size_t i, struct join_unified *to)
{
	const struct unified_item *u = vec__at(&j->unified, (uint32_t)i);
	const struct session *s = session_at(j, u->session);
	bool span = u->counter != JOIN_UNIFIED_CPU_FAULT && u->counter != JOIN_UNIFIED_THRASHING &&
		    u->counter != JOIN_UNIFIED_REMOTE_MAP;
	bool ours = !session_own_clock(s) || session_anchored(s);

	*to = (struct join_unified){ .session = &s->pub,
				     .counter = u->counter,
				     .value = u->value,
				     .address = u->address,
				     .flags = u->flags,
				     .has_start = u->start && ours,
				     .has_took = span && u->start && u->end >= u->start };
	to->start = to->has_start ? (session_own_clock(s) ? session_to_monotonic(s, u->start) : u->start) : 0;
	to->took = to->has_took ? u->end - u->start : 0;
	to->has_bytes = u->counter == JOIN_UNIFIED_HTOD || u->counter == JOIN_UNIFIED_DTOH ||
			u->counter == JOIN_UNIFIED_DTOD || u->counter == JOIN_UNIFIED_THRASHING ||
			u->counter == JOIN_UNIFIED_REMOTE_MAP;
	to->has_groups = u->counter == JOIN_UNIFIED_GPU_FAULT;
	if (u->counter == JOIN_UNIFIED_THRASHING) {
		to->has_devices = true;
		to->devices = u->src;
	} else if (u->counter != JOIN_UNIFIED_CPU_FAULT) {
		fill_place(&to->src, u->src);
	}
	if (u->counter == JOIN_UNIFIED_HTOD || u->counter == JOIN_UNIFIED_DTOH ||
	    u->counter == JOIN_UNIFIED_DTOD || u->counter == JOIN_UNIFIED_REMOTE_MAP)
		fill_place(&to->dst, u->dst);
}
