/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest gaps of devices. Times but `from_ns` of the whole are since the start of the gap. */
#include <errno.h>
#include <stdlib.h>

#include "inspect/jsonsafe.h"
#include "latency/lat.h"
#include "model/procs.h"

static json_t *since(uint64_t t, const struct idle_gap *g)
{
	return json_integer(t >= g->start ? (json_int_t)(t - g->start) : -(json_int_t)(g->start - t));
}

static int put_name(const struct latency *l, json_t *o, const char *key, uint32_t number)
{
	struct join_activity a;
	char *name;

	join__activity_brief(l->in.join, number, &a);
	name = latency__activity_name(l, join__key(l->in.join, a.key));
	if (!name)
		return -ENOMEM;
	json_object_set_new(o, key, json_safe_string(name));
	free(name);
	return 0;
}

static json_t *segment(const struct latency *l, const struct idle_gap *g, const struct idle_segment *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "what",
			    json_string(s->cause == IDLE_OUTSIDE  ? "outside"
					: s->cause == IDLE_BEFORE ? "before_call"
					: s->cause == IDLE_EITHER ? "in_call_or_outside"
								  : "in_call"));
	if (s->cause == IDLE_IN_CALL || s->cause == IDLE_EITHER)
		json_object_set_new(o, "api", json_safe_string(latency__api_name(l, s->api)));
	json_object_set_new(o, "from_ns", since(s->from, g));
	json_object_set_new(o, "to_ns", since(s->to, g));
	json_object_set_new(o, "shared_by_overlap", json_boolean(s->shared));
	for (int i = 0; s->has_parts && i < BREAKDOWN_CAUSES; i++) {
		char key[64];

		snprintf(key, sizeof(key), "%s_ns", breakdown_names[i]);
		json_object_set_new(o, key, json_integer((json_int_t)s->part[i]));
	}
	return o;
}

static json_t *next(const struct latency *l, const struct idle_gap *g, const struct idle_thread *th)
{
	struct join_activity a;
	json_t *o = json_object(), *stack;
	struct lat_pick call;

	join__activity(l->in.join, g->after, &a);
	call = lat_pick_of_call(&a.call);
	json_object_set_new(o, "pid", json_integer(th->tgid));
	json_object_set_new(o, "tid", json_integer(th->tid));
	json_object_set_new(o, "process", json_safe_string(th->proc->comm));
	json_object_set_new(o, "api", json_safe_string(latency__api_name(l, lat_api_of(l, &a.call))));
	json_object_set_new(o, "entry_ns", since(a.call.entry, g));
	json_object_set_new(o, "return_ns", a.call.has_return ? since(a.call.ret, g) : json_null());
	json_object_set_new(o, "delay_ns", json_integer((json_int_t)(a.start - a.call.entry)));
	stack = latency_stack_json(l, &call);
	if (stack)
		json_object_set_new(o, "stack", stack);
	return o;
}

static int story(const struct latency *l, const struct idle_story *st, json_t *o)
{
	const struct idle_gap *g = &l->idle.gap[st->gap];
	const struct idle_device *d = lat_idle__device(&l->idle, g->device);
	const struct idle_thread *th = lat_idle__thread_of(&l->idle, g);
	json_t *causes = json_object(), *list = json_array();
	char key[LAT_IDLE_WORDS];
	int rc;

	json_object_set_new(o, "device", json_integer(d->device));
	if (d->proc)
		json_object_set_new(o, "device_pid", json_integer(d->proc->tgid));
	json_object_set_new(o, "from_ns", json_integer((json_int_t)latency__since(l, g->start)));
	json_object_set_new(o, "ns", json_integer((json_int_t)(g->end - g->start)));
	json_object_set_new(o, "next", th ? next(l, g, th) : json_null());
	json_object_set_new(o, "shared_by_overlap", json_boolean(st->shared));
	for (unsigned i = 0; i < IDLE_CAUSES; i++)
		if (st->ns[i])
			json_object_set_new(causes, lat_idle_key((enum idle_cause)i, key),
					    json_integer((json_int_t)st->ns[i]));
	json_object_set_new(o, "causes_ns", causes);
	for (unsigned i = 0; i < st->nsegments; i++)
		json_array_append_new(list, segment(l, g, &st->segment[i]));
	json_object_set_new(o, "timeline", list);
	json_object_set_new(o, "timeline_left_out", json_integer((json_int_t)st->others));
	json_object_set_new(o, "timeline_left_out_ns", json_integer((json_int_t)st->others_ns));
	rc = put_name(l, o, "ended", g->before);
	return rc ? rc : put_name(l, o, "started", g->after);
}

int latency_idle_json(const struct latency *l, FILE *f)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < l->idle.nstories; i++) {
		json_t *o = json_object();

		rc = story(l, &l->idle.story[i], o);
		if (rc)
			json_decref(o);
		else
			rc = latency_json_put(f, i ? ",\n" : "\n", o);
	}
	return rc;
}
