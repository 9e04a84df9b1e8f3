/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a viewer shows first (R52): found by its exact name and number, or by a time; what is not there is an error. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/priv.h"
#include "util/fmt.h"
#include "util/opts.h"

#define STREAMS_SHOWN 6
#define NAMES_SHOWN 3
#define NAME_ROOM 200
#define LEAST_CONTEXT 100 /* ns on each side of an execution */

/* ---- Which execution ---- */

struct found {
	size_t n;         /* with valid times: these have an order */
	size_t untimed;   /* others of the name, and */
	size_t not_asked; /* those of processes that were not asked for */
	size_t index;     /* of the one that is wanted */
	uint64_t start, end;
	size_t streams, unseen; /* where they ran; those beyond what is shown */
	struct {
		uint32_t lane;
		size_t n;
	} stream[STREAMS_SHOWN];
};

static bool same_place(const struct trace *t, uint32_t a, uint32_t b)
{
	const struct join_lane *x = join__lane(t->in.join, a), *y = join__lane(t->in.join, b);

	return x->session->proc == y->session->proc && x->device == y->device && x->context == y->context &&
	       x->stream == y->stream;
}

static void count_stream(const struct trace *t, struct found *f, uint32_t lane)
{
	size_t i = 0;

	while (i < f->streams && !same_place(t, f->stream[i].lane, lane))
		i++;
	if (i == STREAMS_SHOWN) {
		f->unseen++;
		return;
	}
	if (i == f->streams) {
		f->streams++;
		f->stream[i].lane = lane;
	}
	f->stream[i].n++;
}

/* Executions come in the order of their starts. */
static void look(const struct trace *t, const struct timeline_focus *o, struct found *f)
{
	struct join_activity a;

	for (size_t i = 0; i < trace__execs(t); i++) {
		const struct proc *p;

		join__activity_brief(t->in.join, i, &a);
		if (a.kind != GPUBPF_ACTIVITY_KERNEL || strcmp(t->key_display[a.key], o->kernel) != 0)
			continue;
		p = join__lane(t->in.join, a.lane)->session->proc;
		if (!p || !p->selected) {
			f->not_asked++;
		} else if (a.time != JOIN_TIME_VALID) {
			f->untimed++;
		} else {
			count_stream(t, f, a.lane);
			if (++f->n != (o->occurrence ? o->occurrence : 1))
				continue;
			f->index = i;
			f->start = a.start;
			f->end = a.end;
		}
	}
}

/* "; those that contain it: 'a', 'b' and 2 more", or the nearest. */
static int say_no_such_name(const struct trace *t, const char *name, struct err *err)
{
	size_t nkeys = t->in.join ? join__keys(t->in.join) : 0, n = 0, with = 0, used = 0;
	const char **names = calloc(nkeys + 1, sizeof(*names)), *nearest;
	char hint[NAMES_SHOWN * (NAME_ROOM + 8) + 64] = "", safe[NAME_ROOM];

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; i < nkeys; i++) {
		size_t k = 0;

		while (t->key_display[i] && k < n && strcmp(names[k], t->key_display[i]) != 0)
			k++;
		if (t->key_display[i] && k == n)
			names[n++] = t->key_display[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (!strstr(names[i], name) || with++ >= NAMES_SHOWN)
			continue;
		used += (size_t)snprintf(hint + used, sizeof(hint) - used, "%s '%s'",
					 with > 1 ? "," : "; it is a part of",
					 fmt_safe(safe, sizeof(safe), names[i]));
	}
	if (with > NAMES_SHOWN)
		snprintf(hint + used, sizeof(hint) - used, " and of %zu more", with - NAMES_SHOWN);
	nearest = with ? NULL : opts_nearest(name, names, n);
	if (nearest)
		snprintf(hint, sizeof(hint), "; did you mean '%s'?", fmt_safe(safe, sizeof(safe), nearest));
	free(names);
	return err_set(err, -ENOENT, "no kernel is called '%s'%s; `gpubpf report` lists the names",
		       fmt_safe(safe, sizeof(safe), name), hint);
}

static int say_which(const struct trace *t, const struct timeline_focus *o, const struct found *f,
		     struct err *err)
{
	char where[STREAMS_SHOWN * 96 + 64] = "", safe[NAME_ROOM];
	size_t used = 0;

	for (size_t i = 0; i < f->streams; i++) {
		const struct join_lane *l = join__lane(t->in.join, f->stream[i].lane);

		used += (size_t)snprintf(where + used, sizeof(where) - used,
					 "%sprocess %u, GPU %u, context %u, stream %u: %zu", i ? "; " : "",
					 l->session->proc->tgid, l->device, l->context, l->stream,
					 f->stream[i].n);
	}
	if (f->unseen)
		snprintf(where + used, sizeof(where) - used, "; elsewhere: %zu", f->unseen);
	fmt_safe(safe, sizeof(safe), o->kernel);
	if (!o->occurrence)
		return err_set(
			err, -EINVAL,
			"'%s' ran %zu times (%s): say which one with --focus-occurrence, 1 to %zu in the "
			"order of their starts",
			safe, f->n, where, f->n);
	return err_set(err, -ENOENT, "'%s' has no occurrence %" PRIu64 " but %zu: %s", safe, o->occurrence,
		       f->n, where);
}

static int find(struct tl *tl, const struct timeline_focus *o)
{
	const struct trace *t = tl->t;
	struct found f = { 0 };
	char safe[NAME_ROOM];

	if (!t->in.join)
		return err_set(tl->err, -ENOENT,
			       "the capture has no device observer: it does not say when a kernel ran");
	look(t, o, &f);
	fmt_safe(safe, sizeof(safe), o->kernel);
	if (!f.n && f.untimed)
		return err_set(tl->err, -ENOENT,
			       "none of the %zu executions of '%s' has valid times: there is nothing to show",
			       f.untimed, safe);
	if (!f.n && f.not_asked)
		return err_set(tl->err, -ENOENT, "'%s' ran in processes that -p leaves out alone (%zu times)",
			       safe, f.not_asked);
	if (!f.n)
		return say_no_such_name(t, o->kernel, tl->err);
	if (o->occurrence ? o->occurrence > f.n : f.n > 1)
		return say_which(t, o, &f, tl->err);
	tl->focus.execution = true;
	tl->focus.index = f.index;
	tl->focus.start = f.start;
	tl->focus.end = f.end;
	return 0;
}

int tl_focus__prepare(struct tl *tl)
{
	const struct timeline_focus *o = tl->o->focus;

	return o && o->kernel ? find(tl, o) : 0;
}

/* ---- What is shown of it ---- */

void tl_focus__restart(struct tl *tl)
{
	struct tl_focus *f = &tl->focus;

	f->there = false;
	f->events = f->twins = f->twin_moments = 0;
	f->first = f->last = tl->t->start; /* there is what is about the capture as a whole */
}

void tl_focus__see(struct tl *tl, const struct tl_event *e)
{
	struct tl_focus *f = &tl->focus;
	uint64_t end = e->type == TL_SLICE ? e->end : e->start;

	if (e->start < f->first)
		f->first = e->start;
	if (end > f->last)
		f->last = end;
	if (e->type == TL_CLOSE || e->type == TL_SAMPLE)
		return;
	if (e->focus) {
		f->there = true;
		f->moment = e->type == TL_INSTANT; /* no row was free */
		f->ordinal = f->events;
	} else if (f->execution && e->type != TL_OPEN && e->start == f->start) {
		f->twins += end == f->end;
		f->twin_moments += end == f->start;
	}
	f->events++;
}

static int settle_range(struct tl *tl, const struct timeline_focus *o)
{
	struct tl_focus *f = &tl->focus;
	uint64_t start = tl->t->start, from, to;

	if (__builtin_add_overflow(start, o->from, &from) || __builtin_add_overflow(start, o->to, &to) ||
	    to > f->last)
		return err_set(tl->err, -ERANGE,
			       "%" PRIu64 " ns to %" PRIu64
			       " ns is not all inside what there is to show: 0 ns to %" PRIu64
			       " ns since the start of the capture",
			       o->from, o->to, f->last - start);
	if (f->execution && (f->end < from || f->start > to))
		return err_set(tl->err, -ERANGE,
			       "the execution of '%.200s' is not in that time: it ran from %" PRId64
			       " ns to %" PRId64 " ns since the start of the capture",
			       o->kernel, (int64_t)(f->start - start), (int64_t)(f->end - start));
	f->from = from;
	f->to = to;
	return 0;
}

/* As much on each side as it took, but not beyond what there is: a viewer passes over a link to that. */
static void settle_around(struct tl_focus *f)
{
	uint64_t length = f->end - f->start, more = length > LEAST_CONTEXT ? length : LEAST_CONTEXT;

	f->from = f->start - f->first > more ? f->start - more : f->first;
	f->to = f->last - f->end > more ? f->end + more : f->last;
}

int tl_focus__settle(struct tl *tl, struct timeline_link *link)
{
	const struct timeline_focus *o = tl->o->focus;
	struct tl_focus *f = &tl->focus;
	uint64_t end = f->moment ? f->start : f->end;
	int rc = 0;

	if (!o)
		return 0;
	if (f->execution && !f->there)
		return err_set(
			tl->err, -ENOENT,
			"--max-output-bytes left this execution of '%.200s' out of the trace: allow more, or "
			"leave it out",
			o->kernel);
	if (o->has_range)
		rc = settle_range(tl, o);
	else
		settle_around(f);
	if (rc)
		return rc;
	link->from = tl_perfetto_time(tl, f->from);
	link->to = tl_perfetto_time(tl, f->to);
	link->has_slice = f->execution;
	link->start = tl_perfetto_time(tl, f->start);
	link->duration = tl_perfetto_time(tl, end) - link->start;
	link->twins = f->moment ? f->twin_moments : f->twins;
	return 0;
}
