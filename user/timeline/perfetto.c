/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perfetto's format. What comes once per thing goes through protobuf-c; events, of which there are many, are put together
 * here, behind room for their packet's head, whose length is known when they are. Both are of perfetto.proto.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perfetto.pb-c.h"
#include "timeline/priv.h"

#define SEQUENCE 1
#define SEQ_CLEARED 1
#define SEQ_NEEDS 2
#define HEAD_MAX 40 /* of a packet, in front of what a track event holds */

static uint64_t uuid_of(const struct tl *tl, uint32_t track)
{
	/* 56 bits, so that numbers stay short; two captures in one viewer do not share them */
	return (tl->id >> 32 | 1) << 24 | (track + 1);
}

static uint64_t flow_of(const struct tl *tl, uint32_t work, uint32_t rank)
{
	return (tl->id >> 42) << 42 | (uint64_t)rank << 32 | work;
}

/* ---- Numbers ---- */

static inline uint8_t *put_varint_exactly(uint8_t *p, uint64_t v)
{
	while (v >= 0x80) {
		*p++ = (uint8_t)(v | 0x80);
		v >>= 7;
	}
	*p++ = (uint8_t)v;
	return p;
}

static inline uint8_t *put_fixed64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
	return p + sizeof(v);
}

static inline unsigned varint_size(uint64_t v)
{
	return v ? (unsigned)(64 - __builtin_clzll(v) + 6) / 7 : 1;
}

/* Groups of seven bits into bytes of eight, all at once. */
static inline uint64_t spread(uint64_t v)
{
	v = (v & 0x000000000fffffff) | (v & 0x00fffffff0000000) << 4;
	v = (v & 0x00003fff00003fff) | (v & 0x0fffc0000fffc000) << 2;
	return (v & 0x007f007f007f007f) | (v & 0x3f803f803f803f80) << 1;
}

#define VARINT_SPILL 7 /* bytes behind a number that are overwritten too */
static inline uint8_t *put_varint(uint8_t *p, uint64_t v)
{
	unsigned n = varint_size(v);

	if (n == 1) {
		*p = (uint8_t)v;
		return p + 1;
	}
	if (n > 8)
		return put_varint_exactly(p, v);
	put_fixed64(p, spread(v) | (UINT64_C(0x8080808080808080) & ((UINT64_C(1) << 8 * (n - 1)) - 1)));
	return p + n;
}

/* Field numbers below 16 have one byte, others two. */
#define TAG1(field, type) (uint8_t)((field) << 3 | (type))
static inline uint8_t *put_tag2(uint8_t *p, unsigned field, unsigned type)
{
	*p++ = (uint8_t)(((field << 3 | type) & 0x7f) | 0x80);
	*p++ = (uint8_t)(field >> 4);
	return p;
}

/* ---- Events ---- */

static uint8_t *put_text_arg(uint8_t *p, const struct tl_arg *a)
{
	size_t n = strlen(a->s);

	*p++ = TAG1(4, 2);
	p = put_varint(p, 1 + varint_size(a->key) + 1 + varint_size(n) + n);
	*p++ = TAG1(1, 0);
	p = put_varint(p, a->key);
	*p++ = TAG1(6, 2);
	p = put_varint(p, n);
	memcpy(p, a->s, n);
	return p + n;
}

/* Of all but TL_TEXT, with its tag. */
static inline unsigned value_size(const struct tl_arg *a)
{
	return (a->type == TL_VALUE ? 2 : 1) + (a->type == TL_DOUBLE ? 8 : varint_size(a->u));
}

static uint8_t *put_arg(uint8_t *p, const struct tl_arg *a)
{
	static const uint8_t tags[] = { [TL_UINT] = TAG1(3, 0),
					[TL_INT] = TAG1(4, 0),
					[TL_BOOL] = TAG1(2, 0),
					[TL_POINTER] = TAG1(7, 0) };

	if (a->type == TL_TEXT)
		return put_text_arg(p, a);
	*p++ = TAG1(4, 2);
	*p++ = (uint8_t)(1 + varint_size(a->key) + value_size(a));
	*p++ = TAG1(1, 0);
	p = put_varint(p, a->key);
	if (a->type == TL_DOUBLE) {
		*p++ = TAG1(5, 1);
		return put_fixed64(p, a->u);
	}
	if (a->type == TL_VALUE)
		p = put_tag2(p, 17, 0);
	else
		*p++ = tags[a->type];
	return put_varint(p, a->u);
}

/* tl->buf holds the body from HEAD_MAX to `end`; puts the packet's head right in front of it. */
static int put_event(struct tl *tl, uint64_t timestamp, const uint8_t *end)
{
	uint8_t *body = tl->buf + HEAD_MAX, *first, *p;
	uint64_t n = (uint64_t)(end - body), packet = 1 + varint_size(timestamp) + 4 + 1 + varint_size(n) + n;

	p = first = body - (1 + varint_size(packet) + packet - n);
	*p++ = TAG1(1, 2);
	p = put_varint(p, packet);
	*p++ = TAG1(8, 0);
	p = put_varint(p, timestamp);
	*p++ = TAG1(10, 0);
	*p++ = SEQUENCE;
	*p++ = TAG1(13, 0);
	*p++ = SEQ_NEEDS;
	*p++ = TAG1(11, 2);
	put_varint_exactly(p, n); /* the body stands behind it */
	return tl__put(tl, first, (size_t)(end - first));
}

static inline uint8_t *put_track(const struct tl *tl, uint8_t *p, unsigned type, uint32_t track)
{
	*p++ = TAG1(9, 0);
	*p++ = (uint8_t)type;
	*p++ = TAG1(11, 0);
	return put_varint(p, uuid_of(tl, track));
}

static int put_end(struct tl *tl, const struct tl_event *e, uint64_t t)
{
	return put_event(tl, t, put_track(tl, tl->buf + HEAD_MAX, 2, e->track));
}

static int put_sample(struct tl *tl, const struct tl_event *e)
{
	uint8_t *p = put_track(tl, tl->buf + HEAD_MAX, 4, e->track);

	p = put_tag2(p, 30, 0);
	return put_event(tl, e->start, put_varint(p, e->end));
}

static uint8_t *put_flows(const struct tl *tl, uint8_t *p, const struct tl_event *e)
{
	uint32_t n = e->flows_out < TL_FLOWS_MAX ? e->flows_out : TL_FLOWS_MAX;

	for (uint32_t i = 0; i < n; i++) {
		p = put_tag2(p, 47, 1);
		p = put_fixed64(p, flow_of(tl, e->work, i));
	}
	if (e->flow_in && e->flow_rank < TL_FLOWS_MAX) {
		p = put_tag2(p, 48, 1);
		p = put_fixed64(p, flow_of(tl, e->work, e->flow_rank));
	}
	return p;
}

static size_t room_for(const struct tl_event *e)
{
	size_t n = HEAD_MAX + 128 + 32u * e->nargs;

	n += 10u * (e->flows_out < TL_FLOWS_MAX ? e->flows_out : TL_FLOWS_MAX);
	for (unsigned i = 0; i < e->nargs; i++)
		n += e->arg[i].type == TL_TEXT ? strlen(e->arg[i].s) : 0;
	return n;
}

static int event(struct tl *tl, const struct tl_event *e)
{
	const struct tl_preset *preset = e->preset ? &tl->presets[e->preset - 1] : NULL;
	const struct tl_preset *timing = &tl->presets[e->timing];
	uint8_t *p;
	int rc;

	if (e->type == TL_SAMPLE)
		return put_sample(tl, e);
	if (e->type == TL_CLOSE)
		return put_end(tl, e, e->start);
	rc = tl__room(tl, room_for(e) + timing->n + (preset ? preset->n : 0));
	if (rc)
		return rc;
	p = put_track(tl, tl->buf + HEAD_MAX, e->type == TL_INSTANT ? 3 : 1, e->track);
	*p++ = TAG1(3, 0);
	*p++ = (uint8_t)(e->cls + 1);
	*p++ = TAG1(10, 0);
	p = put_varint(p, e->name);
	memcpy(p, timing->bytes, timing->n);
	p += timing->n;
	if (preset) {
		memcpy(p, preset->bytes, preset->n);
		p += preset->n;
	}
	for (unsigned i = 0; i < e->nargs; i++)
		p = put_arg(p, &e->arg[i]);
	if (e->flows_out || e->flow_in)
		p = put_flows(tl, p, e);
	rc = put_event(tl, e->start, p);
	return rc || e->type != TL_SLICE ? rc : put_end(tl, e, e->end);
}

/* ---- The same without making it ---- */

static uint64_t size_of_packet(uint64_t timestamp, uint64_t n)
{
	uint64_t body = 1 + varint_size(timestamp) + 4 + 1 + varint_size(n) + n;

	return 1 + varint_size(body) + body;
}

static uint64_t size_of_arg(const struct tl_arg *a)
{
	uint64_t n = 1 + varint_size(a->key);

	if (a->type != TL_TEXT)
		return 2 + n + value_size(a);
	n += strlen(a->s);
	n += 1 + varint_size(strlen(a->s));
	return 1 + varint_size(n) + n;
}

static uint64_t size(const struct tl *tl, const struct tl_event *e)
{
	uint64_t track = 3 + varint_size(uuid_of(tl, e->track)), n = track;

	if (e->type == TL_SAMPLE)
		return size_of_packet(e->start, track + 2 + varint_size(e->end));
	if (e->type == TL_CLOSE)
		return size_of_packet(e->start, track);
	n += 3 + varint_size(e->name) + tl->presets[e->timing].n;
	n += e->preset ? tl->presets[e->preset - 1].n : 0;
	for (unsigned i = 0; i < e->nargs; i++)
		n += size_of_arg(&e->arg[i]);
	n += 10u * (e->flows_out < TL_FLOWS_MAX ? e->flows_out : TL_FLOWS_MAX);
	n += e->flow_in && e->flow_rank < TL_FLOWS_MAX ? 10 : 0;
	return size_of_packet(e->start, n) + (e->type == TL_SLICE ? size_of_packet(e->end, track) : 0);
}

static int preset(struct tl *tl, struct tl_preset *p)
{
	uint8_t *b;

	(void)tl;
	p->bytes = malloc(32u * p->nargs + 1 + VARINT_SPILL);
	if (!p->bytes)
		return -ENOMEM;
	b = p->bytes;
	for (unsigned i = 0; i < p->nargs; i++)
		b = put_arg(b, &p->arg[i]);
	p->n = (size_t)(b - p->bytes);
	return 0;
}

/* ---- What comes once ---- */

typedef Perfetto__Protos__TracePacket packet;

static int put_packet(struct tl *tl, packet *k)
{
	size_t n = perfetto__protos__trace_packet__get_packed_size(k), head;
	int rc = tl__room(tl, n + 16);

	if (rc)
		return rc;
	k->has_trusted_packet_sequence_id = true;
	tl->buf[0] = TAG1(1, 2);
	head = (size_t)(put_varint(tl->buf + 1, n) - tl->buf);
	perfetto__protos__trace_packet__pack(k, tl->buf + head);
	return tl__put(tl, tl->buf, head + n);
}

static void packet_init(packet *k)
{
	perfetto__protos__trace_packet__init(k);
	k->has_trusted_packet_sequence_id = true;
	k->trusted_packet_sequence_id = SEQUENCE;
}

/*
 * The pair behind `before` (NULL: the first) that goes forward on both clocks, from *i on; NULL: none is left. Where the wall
 * clock was set back it is passed over: a viewer takes no snapshot in which its own time goes back, nor what comes after it.
 */
static const Gpubpf__ClockPair *next_pair(const Gpubpf__Meta *m, size_t *i, const Gpubpf__ClockPair *before)
{
	while (*i < m->n_clock) {
		const Gpubpf__ClockPair *p = m->clock[(*i)++];

		if (p->has_realtime_ns && (!before || (p->monotonic_ns > before->monotonic_ns &&
						       p->realtime_ns >= before->realtime_ns)))
			return p;
	}
	return NULL;
}

uint64_t tl_perfetto_time(const struct tl *tl, uint64_t monotonic)
{
	const Gpubpf__ClockPair *p, *next;
	size_t i = 0;

	/* the last pair that is not after it, or else the first */
	p = next = next_pair(tl->t->in.meta, &i, NULL);
	while (next && (next = next_pair(tl->t->in.meta, &i, next)) && next->monotonic_ns <= monotonic)
		p = next;
	return p ? p->realtime_ns + (monotonic - p->monotonic_ns) : monotonic;
}

static int put_clock(struct tl *tl, const Gpubpf__ClockPair *p)
{
	Perfetto__Protos__ClockSnapshot__Clock clock[3], *clocks[3] = { &clock[0], &clock[1], &clock[2] };
	Perfetto__Protos__ClockSnapshot s = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
	packet k;

	for (int c = 0; c < 3; c++) {
		perfetto__protos__clock_snapshot__clock__init(&clock[c]);
		clock[c].has_clock_id = clock[c].has_timestamp = true;
	}
	clock[0].clock_id = PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	clock[0].timestamp = p ? p->monotonic_ns : tl->t->start;
	clock[1].clock_id = PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_REALTIME;
	clock[1].timestamp = p ? p->realtime_ns : 0;
	clock[2].clock_id = PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_BOOTTIME;
	clock[2].timestamp = p ? p->boottime_ns : 0;
	s.n_clocks = p ? p->has_boottime_ns ? 3 : 2 : 1;
	s.clocks = clocks;
	s.has_primary_trace_clock = true;
	s.primary_trace_clock = (Perfetto__Protos__BuiltinClock)clock[p ? 1 : 0].clock_id;
	packet_init(&k);
	k.clock_snapshot = &s;
	return put_packet(tl, &k);
}

/* Without any pair the trace keeps the capture's own clock. */
static int put_clocks(struct tl *tl)
{
	const Gpubpf__ClockPair *p;
	size_t i = 0;
	int rc;

	p = next_pair(tl->t->in.meta, &i, NULL);
	do
		rc = put_clock(tl, p);
	while (!rc && p && (p = next_pair(tl->t->in.meta, &i, p)));
	return rc;
}

static int put_defaults(struct tl *tl)
{
	Perfetto__Protos__TracePacketDefaults d = PERFETTO__PROTOS__TRACE_PACKET_DEFAULTS__INIT;
	packet k;

	d.has_timestamp_clock_id = true;
	d.timestamp_clock_id = PERFETTO__PROTOS__BUILTIN_CLOCK__BUILTIN_CLOCK_MONOTONIC;
	packet_init(&k);
	k.has_first_packet_on_sequence = k.first_packet_on_sequence = true;
	k.has_sequence_flags = true;
	k.sequence_flags = SEQ_CLEARED;
	k.trace_packet_defaults = &d;
	return put_packet(tl, &k);
}

enum interned { CATEGORY, NAME, KEY, VALUE };

static int put_interned(struct tl *tl, enum interned what, uint32_t iid, const char *text)
{
	Perfetto__Protos__InternedData d = PERFETTO__PROTOS__INTERNED_DATA__INIT;
	Perfetto__Protos__EventCategory c = PERFETTO__PROTOS__EVENT_CATEGORY__INIT, *cs = &c;
	Perfetto__Protos__EventName n = PERFETTO__PROTOS__EVENT_NAME__INIT, *ns = &n;
	Perfetto__Protos__DebugAnnotationName a = PERFETTO__PROTOS__DEBUG_ANNOTATION_NAME__INIT, *as = &a;
	Perfetto__Protos__InternedString s = PERFETTO__PROTOS__INTERNED_STRING__INIT, *ss = &s;
	packet k;

	c.has_iid = n.has_iid = a.has_iid = s.has_iid = s.has_str = true;
	c.iid = n.iid = a.iid = s.iid = iid;
	c.name = n.name = a.name = (char *)text;
	s.str.data = (uint8_t *)text;
	s.str.len = strlen(text);
	d.event_categories = &cs;
	d.n_event_categories = what == CATEGORY;
	d.event_names = &ns;
	d.n_event_names = what == NAME;
	d.debug_annotation_names = &as;
	d.n_debug_annotation_names = what == KEY;
	d.debug_annotation_string_values = &ss;
	d.n_debug_annotation_string_values = what == VALUE;
	packet_init(&k);
	k.has_sequence_flags = true;
	k.sequence_flags = SEQ_NEEDS;
	k.interned_data = &d;
	return put_packet(tl, &k);
}

static int put_texts(struct tl *tl)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < TIMELINE_CLASSES; i++)
		rc = put_interned(tl, CATEGORY, i + 1, timeline_class_names[i]);
	for (uint32_t i = 1; !rc && i < TL_KEYS; i++)
		rc = put_interned(tl, KEY, i, tl_keys[i]);
	for (uint32_t i = 0; !rc && i < tl->names.n; i++)
		rc = put_interned(tl, NAME, i + 1, tl->names.text[i]);
	for (uint32_t i = 0; !rc && i < tl->values.n; i++)
		rc = put_interned(tl, VALUE, i + 1, tl->values.text[i]);
	return rc;
}

static int put_descriptor(struct tl *tl, uint32_t number)
{
	static char *const units[] = { [TL_BYTES_PER_SECOND] = "B/s" };
	const struct tl_track *t = &tl->tracks.track[number];
	Perfetto__Protos__TrackDescriptor d = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
	Perfetto__Protos__ProcessDescriptor p = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
	Perfetto__Protos__ThreadDescriptor th = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
	Perfetto__Protos__CounterDescriptor c = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;
	packet k;

	d.has_uuid = true;
	d.uuid = uuid_of(tl, number);
	d.has_parent_uuid = t->parent != 0;
	d.parent_uuid = uuid_of(tl, t->parent - 1);
	p.has_pid = th.has_pid = th.has_tid = true;
	p.pid = th.pid = (int32_t)t->pid;
	th.tid = t->tid;
	if (t->kind == TL_PROCESS) {
		d.process = &p;
		p.process_name = t->name;
	} else if (t->kind == TL_THREAD) {
		d.thread = &th;
		th.thread_name = t->name;
	} else {
		d.name = t->name;
		d.has_sibling_order_rank = true;
		d.sibling_order_rank = t->rank;
	}
	if (t->kind == TL_COUNTER) {
		d.counter = &c;
		c.has_unit = t->unit != TL_BYTES_PER_SECOND;
		c.unit = t->unit == TL_BYTES ? PERFETTO__PROTOS__COUNTER_DESCRIPTOR__UNIT__UNIT_SIZE_BYTES
					     : PERFETTO__PROTOS__COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
		c.unit_name = t->unit == TL_BYTES_PER_SECOND ? units[t->unit] : NULL;
	} else {
		d.has_child_ordering = true;
		d.child_ordering = PERFETTO__PROTOS__TRACK_DESCRIPTOR__CHILD_TRACKS_ORDERING__EXPLICIT;
	}
	packet_init(&k);
	k.track_descriptor = &d;
	return put_packet(tl, &k);
}

static int begin(struct tl *tl)
{
	int rc = put_clocks(tl);

	if (!rc)
		rc = put_defaults(tl);
	if (!rc)
		rc = put_texts(tl);
	for (uint32_t i = 0; !rc && i < tl->tracks.n; i++)
		rc = put_descriptor(tl, i);
	return rc;
}

static int end(struct tl *tl)
{
	(void)tl;
	return 0;
}

const struct tl_format tl_perfetto = {
	.begin = begin, .event = event, .size = size, .end = end, .preset = preset
};
