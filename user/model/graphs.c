/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/graphs.h"

#include <errno.h>
#include <string.h>

#include "model/cuda_abi.h"

struct exec_slot {
	uint64_t key[2];
	struct graph_row *row;
};

struct row_entry {
	uint64_t number;
	struct graph_row row;
};

struct capture {
	struct stream_id stream;
	uint64_t since, until; /* until: end of the latest one, when not active */
	bool active;
	/* A stream that joined another's capture by waiting for an event of it, for as long as that lasts. */
	struct capture *joined;
	uint64_t joined_since, round; /* round: joined->since at that time */
};

struct event {              /* recorded last inside a capture */
	uint64_t key[2];    /* process, event */
	struct capture *in; /* NULL: outside */
	uint64_t round;
};

void graphs__init(struct graphs *g)
{
	memset(g, 0, sizeof(*g));
	hmap__init(&g->execs, 16, sizeof(struct exec_slot));
	hmap__init(&g->rows, 8, sizeof(struct row_entry));
	hmap__init(&g->streams, sizeof(struct stream_id), sizeof(struct capture));
	hmap__init(&g->events, 16, sizeof(struct event));
}

void graphs__clear(struct graphs *g)
{
	hmap__clear(&g->execs);
	hmap__clear(&g->rows);
	hmap__clear(&g->streams);
	hmap__clear(&g->events);
}

static bool stream_value(const struct view *v, uint64_t *stream)
{
	const struct cuda_launch_config *config;
	size_t n;

	if (!v->p->config)
		return plan_arg(v->p, v->c, PLAN_STREAM, stream);
	config = api_call_blob(v->c, &n);
	if (!config || n < sizeof(*config))
		return false;
	*stream = config->stream;
	return true;
}

bool stream_of(const struct view *v, struct stream_id *s)
{
	if (!stream_value(v, &s->stream))
		return false;
	s->proc = (uintptr_t)v->proc;
	s->tid = 0;
	if (s->stream == CUDA_STREAM_PER_THREAD || (s->stream == CUDA_STREAM_NULL && v->p->per_thread)) {
		s->stream = CUDA_STREAM_PER_THREAD;
		s->tid = v->c->tid;
	} else if (s->stream == CUDA_STREAM_LEGACY) {
		s->stream = CUDA_STREAM_NULL;
	}
	return true;
}

static bool covers(const struct capture *cap, uint64_t t)
{
	return (cap->active || t < cap->until) && t >= cap->since;
}

static bool has_joined(const struct capture *cap, uint64_t t)
{
	return cap->joined && cap->joined->since == cap->round && t >= cap->joined_since &&
	       covers(cap->joined, t);
}

void graphs__mark(struct graphs *g, struct view *v)
{
	const struct capture *cap;
	struct stream_id s;

	if ((!v->proc->capturing && v->c->t_entry >= v->proc->capture_until) || v->p->capture_begin ||
	    v->p->capture_end)
		return;
	if (!stream_of(v, &s))
		return;
	cap = hmap__get(&g->streams, &s);
	v->captured = cap && (covers(cap, v->c->t_entry) || has_joined(cap, v->c->t_entry));
}

/* Where a stream's work goes at t: the capture that began on it or that it joined; NULL: to the device. */
static struct capture *capture_of(const struct graphs *g, const struct stream_id *s, uint64_t t)
{
	struct capture *cap = hmap__get(&g->streams, s);

	if (!cap || covers(cap, t))
		return cap;
	return has_joined(cap, t) ? cap->joined : NULL;
}

static int event_record(struct graphs *g, const struct view *v)
{
	uint64_t key[2] = { (uintptr_t)v->proc };
	struct capture *cap;
	struct stream_id s;
	struct event *e;

	if (!stream_of(v, &s) || !plan_arg(v->p, v->c, PLAN_EVENT, &key[1]))
		return 0;
	cap = capture_of(g, &s, v->c->t_entry);
	e = cap ? hmap__put(&g->events, key) : hmap__get(&g->events, key);
	if (cap && !e)
		return -ENOMEM;
	if (e) {
		e->in = cap;
		e->round = cap ? cap->since : 0;
	}
	return 0;
}

static int stream_wait(struct graphs *g, const struct view *v)
{
	uint64_t key[2] = { (uintptr_t)v->proc };
	const struct event *e;
	struct capture *cap;
	struct stream_id s;

	if (!stream_of(v, &s) || !plan_arg(v->p, v->c, PLAN_EVENT, &key[1]))
		return 0;
	e = hmap__get(&g->events, key);
	if (!e || !e->in || e->in->since != e->round || !covers(e->in, v->c->t_entry))
		return 0;
	cap = hmap__put(&g->streams, &s);
	if (!cap)
		return -ENOMEM;
	if (cap == e->in)
		return 0;
	cap->joined = e->in;
	cap->joined_since = v->c->t_entry;
	cap->round = e->round;
	return 0;
}

int graphs__event(struct graphs *g, const struct view *v)
{
	if (!v->p->event_record && !v->p->stream_wait)
		return 0;
	if ((!v->proc->capturing && !g->events.n) ||
	    (v->outcome != OUTCOME_OK && v->outcome != OUTCOME_UNKNOWN))
		return 0;
	return v->p->event_record ? event_record(g, v) : stream_wait(g, v);
}

static int capture_begin(struct graphs *g, const struct view *v)
{
	struct capture *cap;
	struct stream_id s;

	if ((v->outcome != OUTCOME_OK && v->outcome != OUTCOME_UNKNOWN) || !stream_of(v, &s))
		return 0;
	cap = hmap__put(&g->streams, &s);
	if (!cap)
		return -ENOMEM;
	/* a begin inside a capture succeeds only when the end was not seen */
	if (!cap->active)
		v->proc->capturing++;
	cap->active = true;
	cap->since = v->c->t_entry;
	if (v->thread->selected)
		g->counts.captures_begun++;
	return 0;
}

static void capture_end(struct graphs *g, const struct view *v)
{
	struct capture *cap;
	struct stream_id s;

	if (v->outcome == OUTCOME_OPEN || !stream_of(v, &s))
		return;
	/* these leave the capture as it is */
	if (v->outcome == OUTCOME_FAILED && (v->c->result == CUDA_RESULT_CAPTURE_UNMATCHED ||
					     v->c->result == CUDA_RESULT_CAPTURE_WRONG_THREAD))
		return;
	cap = hmap__get(&g->streams, &s);
	if (cap && cap->active) {
		cap->active = false;
		cap->until = v->c->t_entry;
		v->proc->capturing--;
		if (v->c->t_entry > v->proc->capture_until)
			v->proc->capture_until = v->c->t_entry;
	} else if (v->outcome != OUTCOME_FAILED && v->thread->selected) {
		g->counts.ends_unseen++;
	}
	if (v->thread->selected)
		*(v->outcome == OUTCOME_FAILED ? &g->counts.captures_failed : &g->counts.captures_ended) += 1;
}

static struct graph_row *new_row(struct graphs *g, struct exec_slot *slot, const struct view *v)
{
	uint64_t number = g->rows.n;
	struct row_entry *e = hmap__put(&g->rows, &number);

	if (!e)
		return NULL;
	e->row.proc = v->proc;
	e->row.exec = slot->key[1];
	slot->row = &e->row;
	return &e->row;
}

static struct exec_slot *slot_of(struct graphs *g, const struct view *v, uint64_t exec)
{
	uint64_t key[2] = { (uintptr_t)v->proc, exec };

	return hmap__put(&g->execs, key);
}

static int instantiate(struct graphs *g, const struct view *v)
{
	struct exec_slot *slot;
	struct graph_row *row;
	uint64_t exec;

	if (!api_call_out(v->p->api, v->c, &exec))
		return 0;
	slot = slot_of(g, v, exec);
	row = slot ? new_row(g, slot, v) : NULL;
	if (!row)
		return -ENOMEM;
	row->instantiated = true;
	return 0;
}

static int graph_launch(struct graphs *g, const struct view *v)
{
	struct exec_slot *slot;
	uint64_t exec;

	if (!plan_arg(v->p, v->c, PLAN_EXEC, &exec))
		return 0;
	slot = slot_of(g, v, exec);
	if (!slot || (!slot->row && !new_row(g, slot, v)))
		return -ENOMEM;
	if (!v->thread->selected)
		return 0;
	tally__add(&slot->row->launches, v);
	if (v->timed) {
		slot->row->ns += v->ns;
		slot->row->timed++;
	}
	return 0;
}

int graphs__call(struct graphs *g, const struct view *v)
{
	if (v->p->capture_begin)
		return capture_begin(g, v);
	if (v->p->capture_end) {
		capture_end(g, v);
		return 0;
	}
	if (v->p->api->cls == API_GRAPHLAUNCH)
		return graph_launch(g, v);
	switch (v->p->graph) {
	case PLAN_GRAPH_INSTANTIATE:
		if (v->thread->selected)
			tally__add(&g->counts.instantiate, v);
		return v->outcome == OUTCOME_OK ? instantiate(g, v) : 0;
	case PLAN_GRAPH_EXEC_DESTROY:
		if (v->thread->selected)
			tally__add(&g->counts.exec_destroy, v);
		return 0;
	case PLAN_GRAPH_UPDATE:
		if (v->thread->selected)
			tally__add(&g->counts.update, v);
		return 0;
	default:
		return 0;
	}
}

void graphs__process_over(struct graphs *g, struct proc *p)
{
	if (p->selected)
		g->counts.captures_open += p->capturing;
	p->capturing = 0;
}

size_t graphs__rows(const struct graphs *g)
{
	return g->rows.n;
}

const struct graph_row *graphs__row(const struct graphs *g, size_t i)
{
	return &((const struct row_entry *)hmap__at(&g->rows, i))->row;
}
