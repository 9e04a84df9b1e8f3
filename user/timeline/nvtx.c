/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVTX: a lane per thread, its ranges nested as they were pushed. What crosses another range of its thread, or was ended
 * by another thread, stands in rows beside. 40 bytes per marker.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/priv.h"

struct range {
	uint64_t start, end; /* UINT64_MAX: its end did not come */
	uint32_t marker, lane;
	bool beside;
};

struct lane {
	const struct proc *proc;
	bool has_thread;
	uint32_t thread; /* as its own pid namespace has it: no track of a thread may be taken for it */
	uint32_t track;
	struct tl_rows beside;
	bool has_beside;
};

struct tl_nvtx {
	struct range *range;
	size_t n;
	struct lane *lane;
	size_t nlanes;
	uint64_t *open; /* ends of the ranges around, the innermost last */
	uint64_t unplaced;
};

/* Where nothing ties CUPTI's clock to ours, its times are no times of ours. */
static bool has_moment(const struct join_marker *m)
{
	return m->has_time && (!m->session->has_hello || m->session->hello.time_source != GPUBPF_TIME_CUPTI ||
			       m->session->has_clock_error);
}

static int lane_for(struct tl *tl, struct tl_nvtx *x, const struct join_marker *m, uint32_t *number)
{
	struct tl_proc *p;
	struct lane *grown;
	char name[64] = "NVTX, thread not known";
	int rc;

	for (size_t i = x->nlanes; i-- > 0;) {
		struct lane *l = &x->lane[i];

		if (l->proc == m->session->proc && l->has_thread == m->has_thread && l->thread == m->thread) {
			*number = (uint32_t)i;
			return 0;
		}
	}
	p = tl__proc(tl, m->session->proc, &rc);
	if (!p)
		return rc;
	grown = realloc(x->lane, (x->nlanes + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	x->lane = grown;
	if (m->has_thread)
		snprintf(name, sizeof(name), "NVTX, thread %" PRIu32, m->thread);
	grown[x->nlanes] = (struct lane){ .proc = m->session->proc,
					  .has_thread = m->has_thread,
					  .thread = m->thread,
					  .track = tl_tracks__add(&tl->tracks, TL_LANE, p->track, name) };
	*number = (uint32_t)x->nlanes++;
	return grown[*number].track == TL_NO_TRACK ? -ENOMEM : 0;
}

/* Parents come before what is inside. */
static int by_begin(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->marker < y->marker ? -1 : x->marker > y->marker;
}

static int collect(struct tl *tl, struct tl_nvtx *x, size_t i)
{
	struct range *r = &x->range[x->n];
	struct join_marker m;
	int rc;

	join__marker(tl->t->in.join, i, &m);
	/* the end of a range is in the event of its start */
	if ((m.kind == GPUBPF_MARKER_END && m.paired) || !m.session->proc || !m.session->proc->selected)
		return 0;
	if (!has_moment(&m)) {
		x->unplaced++;
		return 0;
	}
	*r = (struct range){ .start = m.time, .end = m.time, .marker = (uint32_t)i };
	if (m.kind == GPUBPF_MARKER_START && (!m.has_end || m.end >= m.time))
		r->end = m.has_end ? m.end : UINT64_MAX;
	r->beside = m.has_end && m.ended_elsewhere;
	rc = lane_for(tl, x, &m, &r->lane);
	x->n += !rc;
	return rc;
}

int tl_nvtx__prepare(struct tl *tl)
{
	size_t n = tl->t->in.join ? join__markers(tl->t->in.join) : 0;
	struct tl_nvtx *x;
	int rc = 0;

	if (!n)
		return 0;
	x = tl->nvtx = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->range = calloc(n, sizeof(*x->range));
	x->open = calloc(n, sizeof(*x->open));
	if (!x->range || !x->open)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < n; i++)
		rc = collect(tl, x, i);
	if (!rc)
		qsort(x->range, x->n, sizeof(*x->range), by_begin);
	return rc;
}

uint64_t tl_nvtx__unplaced(const struct tl *tl)
{
	return tl->nvtx ? tl->nvtx->unplaced : 0;
}

static int beside(struct tl *tl, struct lane *l, struct tl_event *e)
{
	uint64_t end = e->type == TL_OPEN ? UINT64_MAX : e->end;
	int rc;

	if (!l->has_beside) {
		l->beside.track = tl_tracks__add(&tl->tracks, TL_LANE, l->track + 1,
						 "NVTX, ranges that cross others or threads");
		if (l->beside.track == TL_NO_TRACK)
			return -ENOMEM;
		l->has_beside = true;
	}
	e->track = tl_rows__place(tl, &l->beside, e->start, end, &rc);
	if (!rc && e->track == TL_NO_TRACK) {
		e->track = l->beside.track;
		tl_arg(e, TL_KEY_NO_ROW, TL_BOOL, 1);
		if (e->type == TL_SLICE)
			tl_arg(e, TL_KEY_DURATION, TL_UINT, e->end - e->start);
		e->type = TL_INSTANT;
	}
	return rc;
}

static uint32_t name_of(struct tl *tl, struct tl_texts *t, bool there, uint32_t name, uint32_t id)
{
	const char *text = there ? join__name(tl->t->in.join, name) : "end of a range without a start";
	char unresolved[32];

	snprintf(unresolved, sizeof(unresolved), "<unresolved 0x%x>", id);
	return tl_texts__add(t, text ? text : unresolved);
}

static int emit(struct tl *tl, struct tl_nvtx *x, const struct range *r, size_t *depth)
{
	struct lane *l = &x->lane[r->lane];
	struct join_marker m;
	struct tl_event *e;
	uint32_t domain = 0, event;
	bool range, converted;

	join__marker(tl->t->in.join, r->marker, &m);
	converted = m.session->has_hello && m.session->hello.time_source == GPUBPF_TIME_CUPTI;
	range = m.kind == GPUBPF_MARKER_START && (!m.has_end || m.end >= m.time);
	e = tl__new(tl,
		    !range      ? TL_INSTANT
		    : m.has_end ? TL_SLICE
				: TL_OPEN,
		    TIMELINE_NVTX, l->track, r->start);
	e->end = r->end;
	e->timing = range && !m.has_end   ? TL_MARKER_OPEN
		    : m.has_end && !range ? TL_MARKER_BAD
		    : converted           ? TL_DEVICE_CONVERTED
					  : TL_DEVICE;
	e->name = name_of(tl, &tl->names, m.has_name, m.name, m.name_id);
	if (m.has_domain)
		domain = name_of(tl, &tl->values, true, m.domain, m.domain_id);
	event = tl_texts__add(&tl->values, m.kind == GPUBPF_MARKER_START ? "range"
					   : m.kind == GPUBPF_MARKER_END ? "end"
									 : "mark");
	if (!e->name || !event || (m.has_domain && !domain))
		return -ENOMEM;
	if (tl->bucket_bytes)
		e->bucket = tl__bucket(tl, (uint64_t)m.id << 32 | r->lane, r->start);
	/* for a viewer an instant may be a range of no length */
	tl_arg(e, TL_KEY_NVTX_EVENT, TL_VALUE, event);
	if (domain)
		tl_arg(e, TL_KEY_NVTX_DOMAIN, TL_VALUE, domain);
	if (m.has_category)
		tl_arg(e, TL_KEY_NVTX_CATEGORY, TL_UINT, m.category);
	if (m.has_payload && m.payload_kind == GPUBPF_PAYLOAD_UINT64)
		tl_arg(e, TL_KEY_NVTX_PAYLOAD, TL_UINT, m.payload);
	else if (m.has_payload && m.payload_kind == GPUBPF_PAYLOAD_INT64)
		tl_arg(e, TL_KEY_NVTX_PAYLOAD, TL_INT, m.payload);
	else if (m.has_payload && m.payload_kind == GPUBPF_PAYLOAD_DOUBLE)
		tl_arg(e, TL_KEY_NVTX_PAYLOAD, TL_DOUBLE, m.payload);
	else if (m.has_payload && m.payload_kind != GPUBPF_PAYLOAD_EXTENDED)
		tl_arg(e, TL_KEY_NVTX_PAYLOAD, TL_POINTER, m.payload);
	if (m.has_end && m.ended_elsewhere)
		tl_arg(e, TL_KEY_NVTX_ELSEWHERE, TL_BOOL, 1);
	if (range) {
		while (*depth && x->open[*depth - 1] <= r->start)
			--*depth;
		if (r->beside || (*depth && r->end > x->open[*depth - 1])) {
			int rc = beside(tl, l, e);

			if (rc)
				return rc;
		} else {
			x->open[(*depth)++] = r->end;
		}
	}
	return tl__event(tl, e);
}

int tl_nvtx__walk(struct tl *tl)
{
	struct tl_nvtx *x = tl->nvtx;
	size_t depth = 0;
	int rc = 0;

	for (size_t i = 0; x && i < x->nlanes; i++)
		tl_rows__restart(&x->lane[i].beside);
	for (size_t i = 0; x && !rc && i < x->n; i++) {
		if (i && x->range[i].lane != x->range[i - 1].lane)
			depth = 0;
		rc = emit(tl, x, &x->range[i], &depth);
	}
	return rc;
}

void tl_nvtx__clear(struct tl *tl)
{
	struct tl_nvtx *x = tl->nvtx;

	for (size_t i = 0; x && i < x->nlanes; i++)
		tl_rows__clear(&x->lane[i].beside);
	if (x) {
		free(x->range);
		free(x->open);
		free(x->lane);
	}
	free(x);
}
