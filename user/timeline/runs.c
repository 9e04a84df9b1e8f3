/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions as events, and what shows launches of graphs as one. */
#include <errno.h>
#include <string.h>

#include "timeline/device.h"
#include "timeline/nest.h"

uint64_t tl_rate(uint64_t bytes, uint64_t ns)
{
	__uint128_t r = (__uint128_t)bytes * 1000000000u / ns;

	return r > INT64_MAX ? INT64_MAX : (uint64_t)r;
}

static enum tl_timing timing_of(const struct trace_exec *x)
{
	switch (x->a.time) {
	case JOIN_TIME_VALID:
		return x->lane->session->hello.time_source == GPUBPF_TIME_CUPTI ? TL_DEVICE_CONVERTED
										: TL_DEVICE;
	case JOIN_TIME_ZERO:
		return TL_DEVICE_ZERO;
	case JOIN_TIME_END_FIRST:
		return TL_DEVICE_END_FIRST;
	case JOIN_TIME_UNANCHORED:
		return TL_DEVICE_UNANCHORED;
	default:
		return TL_DEVICE_OUTSIDE;
	}
}

/* Where and when it is shown: in a row, or as an instant beside. False: nothing says when it may have been. */
static bool place(struct tl *tl, struct tl_stream *s, const struct trace_exec *x, struct tl_event *e, int *rc)
{
	*rc = 0;
	if (x->a.time == JOIN_TIME_VALID) {
		e->track = tl_rows__place(tl, &s->rows, x->a.start, x->a.end, rc);
		if (e->track != TL_NO_TRACK || *rc)
			return true;
		e->track = s->rows.track;
		e->type = TL_INSTANT;
		tl_arg(e, TL_KEY_NO_ROW, TL_BOOL, 1);
		tl_arg(e, TL_KEY_DURATION, TL_UINT, x->a.end - x->a.start);
		return true;
	}
	if (!x->a.has_shim_call)
		return false;
	if (!s->untimed) {
		char name[96];

		snprintf(name, sizeof(name), "%.60s, untimed: at the entry of the call",
			 tl->tracks.track[s->rows.track].name);
		s->untimed = tl_tracks__add(&tl->tracks, TL_LANE, s->rows.track + 1, name) + 1;
		if (!s->untimed) {
			*rc = -ENOMEM;
			return true;
		}
	}
	e->type = TL_INSTANT;
	e->track = s->untimed - 1;
	e->start = x->a.has_call ? x->a.call.entry : x->a.call_start;
	return true;
}

static void args_of(struct tl_event *e, const struct trace_exec *x, uint32_t link)
{
	const struct join_activity *a = &x->a;

	tl_arg(e, TL_KEY_CORRELATION, TL_UINT, a->correlation);
	if (a->has_call)
		tl_arg(e, TL_KEY_WORK, TL_UINT, a->call.number);
	if (a->link != JOIN_JOINED)
		tl_arg(e, TL_KEY_LINK, TL_VALUE, link);
	if (a->has_node) {
		tl_arg(e, TL_KEY_GRAPH, TL_UINT, a->graph);
		tl_arg(e, TL_KEY_GRAPH_NODE, TL_UINT, a->graph_node);
	}
	if (a->kind == GPUBPF_ACTIVITY_COPY || a->kind == GPUBPF_ACTIVITY_SET) {
		tl_arg(e, TL_KEY_BYTES, TL_UINT, a->bytes);
		if (a->time == JOIN_TIME_VALID && a->end > a->start)
			tl_arg(e, TL_KEY_RATE, TL_UINT, tl_rate(a->bytes, a->end - a->start));
	}
	if (a->has_queued)
		tl_arg(e, TL_KEY_QUEUED, TL_UINT, a->queued);
	if (a->has_submitted)
		tl_arg(e, TL_KEY_SUBMITTED, TL_UINT, a->submitted);
	if (a->time == JOIN_TIME_UNANCHORED) {
		tl_arg(e, TL_KEY_DURATION, TL_UINT, a->end - a->start);
	} else if (a->time != JOIN_TIME_VALID && a->time != JOIN_TIME_ZERO) {
		tl_arg(e, TL_KEY_REPORTED_START, TL_UINT, a->start);
		tl_arg(e, TL_KEY_REPORTED_END, TL_UINT, a->end);
	}
}

/* ---- Launches of graphs ---- */

static int show_graph(struct tl *tl, uint32_t context, const struct tl_many *m, const struct trace_exec *x)
{
	struct tl_context *c = &tl->contexts[context];
	struct tl_event *e;
	int rc;

	if (!c->has_graphs) {
		c->graphs.track = tl_tracks__add(
			&tl->tracks, TL_LANE, c->track + 1,
			"graph launches (once more: their nodes are in the streams)");
		if (c->graphs.track == TL_NO_TRACK)
			return -ENOMEM;
		c->has_graphs = true;
	}
	e = tl__new(tl, TL_SLICE, TIMELINE_PRESENTATION, c->graphs.track, m->start);
	e->end = m->end;
	e->name = tl->graph_name;
	e->timing = TL_DERIVED;
	e->track = tl_rows__place(tl, &c->graphs, m->start, m->end, &rc);
	if (rc || e->track == TL_NO_TRACK)
		return rc;
	tl_arg(e, TL_KEY_DUPLICATE, TL_BOOL, 1);
	if (x->a.has_node)
		tl_arg(e, TL_KEY_GRAPH, TL_UINT, x->a.graph);
	tl_arg(e, TL_KEY_NODES, TL_UINT, m->runs);
	tl_arg(e, TL_KEY_NODES_TIMED, TL_UINT, m->timed);
	return tl__event(tl, e);
}

/* Which of its call's executions this is. */
static struct tl_many *rank_of(struct tl *tl, struct tl_event *e, const struct join_activity *a)
{
	uint64_t key = a->call.number;
	struct tl_many *m;

	e->work = a->call.number;
	e->flow_rank = 0;
	if (e->work >= tl->nruns || tl->runs[e->work] < 2)
		return NULL;
	m = hmap__get(&tl->many, &key);
	if (!m || !m->left)
		return NULL;
	e->flow_rank = m->runs - m->left--;
	if (a->time == JOIN_TIME_VALID) {
		if (!m->timed || a->start < m->start)
			m->start = a->start;
		if (!m->timed || a->end > m->end)
			m->end = a->end;
		m->timed++;
	}
	return m;
}

/* ---- */

static int run(struct tl *tl, struct trace_exec *x, const uint32_t *link)
{
	uint32_t number = tl->stream_of[x->a.lane];
	struct tl_stream *s;
	struct tl_many *m = NULL;
	struct tl_event *e;
	int rc;

	if (!number)
		return 0;
	s = &tl->streams[number - 1];
	e = tl__new(tl, TL_SLICE, TIMELINE_GPU, s->rows.track, x->a.start);
	e->end = x->a.end;
	e->name = tl->key_name[x->a.key];
	e->preset = tl->key_preset[x->a.key];
	e->timing = timing_of(x);
	e->focus = tl->focus.execution && x->index == tl->focus.index;
	if (x->a.has_call) {
		m = rank_of(tl, e, &x->a);
		e->flow_in = true;
		if (tl->bucket_of && e->work < tl->nruns)
			e->bucket = tl->bucket_of[e->work];
	} else if (tl->bucket_bytes) {
		e->bucket = tl__bucket(tl, x->a.correlation, ~(uint64_t)x->index);
	}
	if (!place(tl, s, x, e, &rc)) {
		tl->unplaced++;
		return 0;
	}
	if (rc)
		return rc;
	args_of(e, x, link[x->a.link]);
	if (tl->semantic)
		tl_semantic__exec(tl, e, x->index);
	/* an arrow does not go back in time: viewers take the earlier end for its beginning */
	if (x->a.has_call && e->start < x->a.call.entry) {
		tl_arg(e, TL_KEY_EARLY, TL_UINT, x->a.call.entry - e->start);
		e->flow_in = false;
	}
	rc = tl__event(tl, e);
	if (!rc && m && !m->left && m->timed && x->a.call.population == 1)
		rc = show_graph(tl, s->context, m, x);
	return rc;
}

int tl_device__walk(struct tl *tl)
{
	uint32_t link[JOIN_LINKS];
	struct trace_exec x;
	size_t n = trace__execs(tl->t);
	int rc = 0;

	if (!tl->t->in.join)
		return 0;
	for (unsigned i = 0; i < JOIN_LINKS; i++) {
		link[i] = tl_texts__add(&tl->values, join_link_name((enum join_link)i));
		if (!link[i])
			return -ENOMEM;
	}
	for (size_t i = 0; i < tl->nstreams; i++)
		tl_rows__restart(&tl->streams[i].rows);
	for (size_t i = 0; i < tl->ncontexts; i++)
		tl_rows__restart(&tl->contexts[i].graphs);
	for (size_t i = 0; i < tl->many.n; i++) {
		struct tl_many *m = hmap__at(&tl->many, i);

		m->left = m->runs;
		m->timed = 0;
	}
	tl->others = 0;
	tl_counters__begin(tl);
	for (size_t i = 0; !rc && i < n; i++) {
		trace__exec(tl->t, i, &x);
		if (x.a.kind <= GPUBPF_ACTIVITY_GRAPH)
			rc = run(tl, &x, link);
		else
			tl->others++;
		if (!rc)
			rc = tl_counters__add(tl, &x.a);
		tl__progress(tl, 1);
	}
	return rc ? rc : tl_counters__end(tl);
}

/* Without the host observer a call is known by what ran for it; numbers are in the order of a thread's calls. */
int tl_device__alone(struct tl *tl)
{
	static const char *const names[JOIN_POPULATIONS] = { "launch", "graph launch", "copy", "set" };
	uint32_t name[JOIN_POPULATIONS];
	struct join_activity a;
	int rc = 0;

	for (unsigned i = 0; i < JOIN_POPULATIONS; i++) {
		name[i] = tl_texts__add(&tl->names, names[i]);
		if (!name[i])
			return -ENOMEM;
	}
	for (size_t i = 0; !rc && i < tl->nruns; i++) {
		struct tl_thread *th;
		struct tl_event *e;

		if (!tl->runs[i])
			continue;
		join__activity(tl->t->in.join, tl->first_run[i], &a);
		if (a.call.population >= JOIN_POPULATIONS)
			continue;
		th = tl__thread(tl, a.call.proc, a.call.tid, &rc);
		if (!th)
			continue;
		e = tl__new(tl, a.call.has_return ? TL_SLICE : TL_INSTANT, TIMELINE_CALL, th->rows.track,
			    a.call.entry);
		e->end = a.call.ret;
		e->timing = a.call.has_return ? TL_SHIM : TL_SHIM_OPEN;
		e->name = name[a.call.population];
		e->has_work = true;
		e->work = (uint32_t)i;
		e->flows_out = tl__runs(tl, e->work);
		tl_arg(e, TL_KEY_WORK, TL_UINT, e->work);
		tl_arg(e, TL_KEY_EXECUTIONS, TL_UINT, e->flows_out);
		tl_arg(e, TL_KEY_SHIM_TID, TL_UINT, a.call.tid);
		rc = tl_thread__call(tl, th, e);
	}
	return rc;
}
