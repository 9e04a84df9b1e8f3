/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What shims hand over. Nothing here trusts a content: it comes from a traced process. */
#include "top/top_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#define PARTS 64 /* of a name; what is behind is cut */
#define PART 116
#define AHEAD_NS 1000000000ull /* that an end may lie behind its arrival: two clocks matched badly */

struct top_name {
	uint32_t id;
	uint16_t parts, seen;
	uint8_t len[PARTS];
	char *raw;  /* its parts, where they belong; NULL once put together */
	char *text; /* for people; NULL: not known yet */
	UT_hash_handle hh;
};

static void shim_free(struct top_feed *f, struct top_shim *s)
{
	struct top_name *n = s->names, *next;

	HASH_CLEAR(hh, s->names);
	for (; n; n = next) {
		next = n->hh.next;
		f->names_bytes -= n->raw ? (size_t)n->parts * PART : n->text ? strlen(n->text) : 0;
		free(n->raw);
		free(n->text);
		free(n);
	}
	free(s);
}

const char *top_shim__name(const struct top_shim *s, uint32_t id)
{
	struct top_name *n;

	HASH_FIND(hh, s->names, &id, sizeof(id), n);
	return n ? n->text : NULL;
}

/* All parts are there. */
static int put_together(struct top_feed *f, struct top_name *n)
{
	char *text = malloc((size_t)n->parts * PART + 1), *to = text;

	if (!text)
		return -ENOMEM;
	for (unsigned i = 0; i < n->parts; i++) {
		memcpy(to, n->raw + i * PART, n->len[i]);
		to += n->len[i];
	}
	*to = '\0';
	n->text = names__display(text, 0);
	free(text);
	free(n->raw);
	n->raw = NULL;
	f->names_bytes -= (size_t)n->parts * PART;
	if (!n->text)
		return -ENOMEM;
	f->names_bytes += strlen(n->text);
	return 0;
}

static int on_name(struct top_feed *f, struct top_shim *s, const struct gpubpf_name *i)
{
	uint32_t id = i->id;
	struct top_name *n;
	uint16_t parts = i->parts > PARTS ? PARTS : i->parts;
	unsigned before;

	if (!id || id >= GPUBPF_NAME_LABELS || !parts || i->part >= parts || i->len > sizeof(i->text))
		return 0;
	HASH_FIND(hh, s->names, &id, sizeof(id), n);
	if (!n && f->names_bytes + (size_t)parts * PART > TOP_NAMES_BYTES) {
		f->names_lost++;
		return 0;
	}
	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n)
			return -ENOMEM;
		n->id = id;
		n->parts = parts;
		n->raw = malloc((size_t)parts * PART);
		before = HASH_COUNT(s->names);
		if (n->raw)
			HASH_ADD(hh, s->names, id, sizeof(n->id), n);
		if (HASH_COUNT(s->names) == before) {
			free(n->raw);
			free(n);
			return -ENOMEM;
		}
		f->names_bytes += (size_t)parts * PART;
	}
	if (n->text || parts != n->parts || i->part >= n->parts || n->len[i->part] || !i->len)
		return 0;
	n->len[i->part] = (uint8_t)i->len;
	memcpy(n->raw + i->part * PART, i->text, i->len);
	return ++n->seen == n->parts ? put_together(f, n) : 0;
}

static struct top_shim *shim_of(struct top_feed *f, uint32_t tgid, uint64_t now)
{
	struct top_shim **at = &f->shims, *s;

	for (; (s = *at); at = &s->next_live) {
		if (s->tgid != tgid)
			continue;
		*at = s->next_live; /* to the front: it comes again */
		s->next_live = f->shims;
		return f->shims = s;
	}
	if (f->nshims >= TOP_SHIMS) {
		f->shims_lost++;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->tgid = tgid;
	s->born = now;
	s->next_live = f->shims;
	f->nshims++;
	return f->shims = s;
}

/* Its windows are shown before it goes. */
static void over(struct top_feed *f, uint32_t tgid)
{
	for (struct top_shim **at = &f->shims, *s; (s = *at); at = &s->next_live) {
		if (s->tgid != tgid)
			continue;
		*at = s->next_live;
		for (unsigned i = 0; i < 16; i++)
			f->loss[i] += s->losses[i] + s->past_losses[i];
		f->missing += top_shim__missing(s);
		s->gone = f->serials;
		s->next_live = f->gone;
		f->gone = s;
		return;
	}
}

void top_shim_task(struct top_feed *f, const struct gpubpf_task *t)
{
	if (t->event == GPUBPF_TASK_EXIT || t->event == GPUBPF_TASK_EXEC)
		over(f, t->tgid);
}

void top_shims_sweep(struct top_feed *f, bool all)
{
	for (struct top_shim **at = &f->gone, *s; (s = *at);) {
		if (!all && f->windows && f->windows->serial <= s->gone) {
			at = &s->next_live;
			continue;
		}
		*at = s->next_live;
		f->nshims--;
		shim_free(f, s);
	}
	while (all && f->shims) {
		struct top_shim *s = f->shims;

		f->shims = s->next_live;
		shim_free(f, s);
	}
}

static void in_session(struct top_shim *s, uint32_t session)
{
	if (s->session == session)
		return;
	for (unsigned i = 0; i < 16; i++) {
		s->past_losses[i] += s->losses[i];
		s->losses[i] = 0;
	}
	s->session = session;
	s->armed = s->failed = false;
}

static void on_status(struct top_shim *s, const struct gpubpf_status *st)
{
	if (st->kind == GPUBPF_STATUS_GATE)
		return;
	in_session(s, st->session);
	switch (st->kind) {
	case GPUBPF_STATUS_ARMED:
		s->armed = true;
		break;
	case GPUBPF_STATUS_FAILED:
		s->failed = true;
		s->reason = st->code;
		break;
	case GPUBPF_STATUS_LOSS:
		if (st->code < 16 && st->a > s->losses[st->code])
			s->losses[st->code] = st->a;
		break;
	case GPUBPF_STATUS_CLOCK:
		if (!st->d)
			break;
		s->offset = (int64_t)(st->a - st->d);
		s->has_offset = true;
		break;
	default:
		break;
	}
}

static int on_run(struct top_feed *f, struct top_window *w, const struct top_shim *s,
		  const struct gpubpf_activity *a, uint64_t ns)
{
	uint64_t key[2] = { (uintptr_t)s, a->kind == GPUBPF_ACTIVITY_GRAPH ? UINT64_MAX : a->name };
	struct top_run *r = w->runs.n < TOP_KEYS ? hmap__put(&w->runs, key) : hmap__get(&w->runs, key);

	if (!r && w->runs.n < TOP_KEYS)
		return -ENOMEM;
	r = r ? r : &w->others;
	r->launches++;
	r->ns += ns;
	(void)f;
	return 0;
}

static struct top_dev *dev_of(struct top_window *w, struct top_shim *s, uint32_t device)
{
	uint64_t key[2] = { (uintptr_t)s, device };

	return hmap__put(&w->devs, key);
}

/* Counted where it ended, or in the first window that is not shown yet. */
static int count(struct top_feed *f, struct top_shim *s, const struct gpubpf_activity *a, uint64_t start,
		 uint64_t end)
{
	struct top_window *w = top_window__at(f, end ? end - 1 : 0);
	struct top_dev *d = w ? dev_of(w, s, a->device) : NULL;

	if (!d)
		return -ENOMEM;
	f->late += end && end - 1 < w->start;
	w->executions++;
	d->kernels += a->kind == GPUBPF_ACTIVITY_KERNEL || a->kind == GPUBPF_ACTIVITY_GRAPH;
	d->copies += a->kind == GPUBPF_ACTIVITY_COPY;
	d->sets += a->kind == GPUBPF_ACTIVITY_SET;
	if (a->device < 64)
		s->devices |= 1ull << a->device;
	if (a->kind == GPUBPF_ACTIVITY_KERNEL || a->kind == GPUBPF_ACTIVITY_GRAPH)
		return on_run(f, w, s, a, end - start);
	return 0;
}

static int on_activity(struct top_feed *f, struct top_shim *s, const struct gpubpf_activity *a,
		       uint64_t arrived)
{
	uint64_t start = a->start, end = a->end;
	struct top_window *w;
	int e;

	if (a->kind < GPUBPF_ACTIVITY_KERNEL || a->kind > GPUBPF_ACTIVITY_GRAPH)
		return 0;
	if (!s->monotonic && !s->has_offset) {
		f->no_clock++;
		return 0;
	}
	if (!s->monotonic && start && end) {
		start += (uint64_t)s->offset;
		end += (uint64_t)s->offset;
	}
	if (!start || end < start || end > arrived + AHEAD_NS) {
		f->bad_times++;
		return 0;
	}
	e = count(f, s, a, start, end);
	w = f->windows;
	if (!e && start < w->start) {
		f->late_ns += (end < w->start ? end : w->start) - start;
		start = w->start;
	}
	for (; !e && w && start < end; w = w->next) {
		uint64_t to = end < w->end ? end : w->end;
		struct top_dev *d;

		if (start >= w->end)
			continue;
		d = dev_of(w, s, a->device);
		e = d ? top_dev__span(d, start, to) : -ENOMEM;
		start = to;
	}
	return e;
}

static void on_hello(struct top_feed *f, struct top_shim **s, const struct gpubpf_hello *h, uint64_t now)
{
	uint32_t tgid = (*s)->tgid;

	if ((*s)->start_time && h->start_time != (*s)->start_time) { /* its end was not seen */
		over(f, tgid);
		*s = shim_of(f, tgid, now);
		if (!*s)
			return;
	}
	(*s)->start_time = h->start_time;
	in_session(*s, h->session);
	/* not known before CUPTI is up */
	if (h->time_source)
		(*s)->monotonic = h->time_source == GPUBPF_TIME_MONOTONIC;
}

static void arrived(struct top_shim *s, unsigned probe, uint64_t sequence)
{
	if (!s->run[probe].got++ || sequence < s->run[probe].first)
		s->run[probe].first = sequence;
	if (sequence >= s->run[probe].next)
		s->run[probe].next = sequence + 1;
}

uint64_t top_shim__missing(const struct top_shim *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < GPUBPF_PROBES; i++) {
		uint64_t all = s->run[i].next - s->run[i].first;

		n += all > s->run[i].got ? all - s->run[i].got : 0;
	}
	return n;
}

int top_shim_batch(struct top_feed *f, const struct gpubpf_shim *b)
{
	static const size_t sizes[GPUBPF_PROBES] = GPUBPF_ITEM_SIZES;
	struct top_shim *s = shim_of(f, b->tgid, b->time);
	int e = 0;

	if (!s)
		return f->nshims >= TOP_SHIMS ? 0 : -ENOMEM;
	arrived(s, b->probe, b->sequence);
	if (b->item_size < sizes[b->probe]) {
		f->bad_items += b->count;
		return 0;
	}
	for (uint32_t i = 0; i < b->count && s && !e; i++) {
		const void *item = (const char *)b->items + (size_t)i * b->item_size;

		if (b->probe == GPUBPF_PROBE_HELLO)
			on_hello(f, &s, item, b->time);
		else if (b->probe == GPUBPF_PROBE_STATUS)
			on_status(s, item);
		else if (b->probe == GPUBPF_PROBE_NAMES)
			e = on_name(f, s, item);
		else if (b->probe == GPUBPF_PROBE_ACTIVITY)
			e = on_activity(f, s, item, b->time);
	}
	return e;
}
