/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One JSON object: the same tables as text and CSV, and the slowest calls with what was around them. */
#include <errno.h>
#include <inttypes.h>

#include "cmd.h"
#include "inspect/cost.h"
#include "inspect/jsonsafe.h"
#include "latency/lat.h"

int latency_json_put(FILE *f, const char *lead, json_t *v)
{
	int rc = -ENOMEM;

	if (v) {
		fputs(lead, f);
		rc = json_dumpf(v, f, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII) && !ferror(f)
			     ? -ENOMEM
			     : 0;
	}
	json_decref(v);
	return rc;
}

static json_t *ns_of(uint64_t t, const struct lat_pick *p)
{
	return json_integer(t >= p->entry ? (json_int_t)(t - p->entry) : -(json_int_t)(p->entry - t));
}

static json_t *beside(const struct latency *l, const struct lat_beside *b, const struct lat_pick *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "api", json_safe_string(latency__api_name(l, b->api)));
	json_object_set_new(o, "tid", json_integer(b->tid));
	json_object_set_new(o, "entry_ns", ns_of(b->entry, p));
	json_object_set_new(o, "return_ns", b->has_ret ? ns_of(b->ret, p) : json_null());
	return o;
}

static json_t *breakdown(const struct breakdown *b)
{
	json_t *o = json_object();

	for (int i = 0; i < BREAKDOWN_CAUSES; i++) {
		char key[64];

		snprintf(key, sizeof(key), "%s_ns", breakdown_names[i]);
		json_object_set_new(o, key, json_integer((json_int_t)b->ns[i]));
	}
	json_object_set_new(o, "voluntary_switches", json_integer(b->voluntary));
	json_object_set_new(o, "involuntary_switches", json_integer(b->involuntary));
	json_object_set_new(o, "migrations", json_integer(b->migrations));
	json_object_set_new(o, "page_faults", json_integer(b->faults));
	json_object_set_new(o, "major_faults", json_integer(b->major_faults));
	return o;
}

static json_t *wait_of(const struct latency *l, const struct gpubpf_waker *w, const struct lat_pick *p)
{
	enum wait_end end = latency__wait_end(l, w);
	json_t *o = json_object();
	char futex[24];

	snprintf(futex, sizeof(futex), "0x%" PRIx64, (uint64_t)w->futex);
	json_object_set_new(o, "from_ns", ns_of(w->t_wait, p));
	json_object_set_new(o, "to_ns", ns_of(w->t_wake, p));
	json_object_set_new(o, "futex", json_string(futex));
	json_object_set_new(o, "woken", json_string(wait_end_names[end]));
	if (!wait_end_has_waker(end))
		return o;
	json_object_set_new(o, "waker_pid", json_integer(w->waker_tgid));
	json_object_set_new(o, "waker_tid", json_integer(w->waker_tid));
	json_object_set_new(o, "waker_name", json_safe_string(w->comm));
	if (wait_by_name(w->by))
		json_object_set_new(o, "by", json_string(wait_by_name(w->by)));
	if (end == WAIT_END_IN_CALL) {
		json_object_set_new(o, "waker_api", json_safe_string(latency__api_name(l, w->waker_api)));
		json_object_set_new(o, "waker_entry_ns", ns_of(w->waker_entry, p));
	}
	return o;
}

static json_t *story(const struct latency *l, const struct lat_story *s)
{
	const struct lat_pick *p = s->pick;
	const struct lat_kernel *k = lat_kernel__row(l, p->kernel);
	json_t *o = json_object(), *list = json_array();

	json_object_set_new(o, "population", json_string(api_population_names[s->population]));
	json_object_set_new(o, "measure", json_string(lat_measures[s->measure].key));
	json_object_set_new(o, "ns", json_integer((json_int_t)p->ns));
	json_object_set_new(o, "api", json_safe_string(latency__api_name(l, p->api)));
	if (k)
		json_object_set_new(o, "kernel", json_safe_string(k->display));
	json_object_set_new(o, "pid", json_integer(p->tgid));
	json_object_set_new(o, "tid", json_integer(p->tid));
	json_object_set_new(o, "entry_since_start_ns", json_integer((json_int_t)latency__since(l, p->entry)));
	if (s->has_before)
		json_object_set_new(o, "before", beside(l, &s->before, p));
	if (p->has_gap)
		json_object_set_new(o, "gap", breakdown(&p->gap));
	if (p->has_inside)
		json_object_set_new(o, "inside", breakdown(&p->inside));
	json_object_set_new(o, "stack", latency_stack_json(l, p));
	for (uint64_t i = 0; i < s->nnested && i < LAT_NESTED_MAX; i++)
		json_array_append_new(list, beside(l, &s->nested[i], p));
	json_object_set_new(o, "nested", list);
	json_object_set_new(o, "nested_calls", json_integer((json_int_t)s->nnested));
	list = json_array();
	for (unsigned i = 0; i < s->nbeside; i++)
		json_array_append_new(list, beside(l, &s->beside[i], p));
	json_object_set_new(o, "beside", list);
	list = json_array();
	for (unsigned i = 0; i < s->nwait; i++)
		json_array_append_new(list, wait_of(l, &s->wait[i], p));
	json_object_set_new(o, "futex_waits", list);
	json_object_set_new(o, "futex_waits_in_all", json_integer((json_int_t)s->nwaits));
	json_object_set_new(o, "return_ns", p->has_ret ? ns_of(p->ret, p) : json_null());
	if (!p->has_start)
		return o;
	json_object_set_new(o, "start_ns", ns_of(p->start, p));
	json_object_set_new(o, "end_ns", ns_of(p->end, p));
	if (p->prev)
		json_object_set_new(o, "stream_free_ns", ns_of(p->prev_end, p));
	json_object_set_new(o, "waited_for_event", json_boolean(p->waited_event));
	json_object_set_new(o, "waited_for_unknown", json_boolean(p->waited_unknown));
	for (int i = 0; p->has_part && i < LAT_PARTS; i++) {
		char key[64];

		snprintf(key, sizeof(key), "%s_ns", lat_part_words(LAT_START, (unsigned)i).key);
		json_object_set_new(o, key, json_integer((json_int_t)p->part[i]));
	}
	return o;
}

static int because(FILE *f, const char *key, const char *why)
{
	fprintf(f, ",\n\"%s\":", key);
	return latency_json_put(f, "", why ? json_string(why) : json_null());
}

/* What the recorder could not tell of the time inside calls. */
static json_t *absences(const struct latency *l)
{
	const Gpubpf__Latency *m = l->in.meta->latency;
	json_t *list = json_array();

	for (size_t i = 0; m && i < m->n_absent; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "what", json_safe_string(m->absent[i]->what));
		json_object_set_new(o, "why", json_safe_string(m->absent[i]->why));
		json_array_append_new(list, o);
	}
	return list;
}

int latency_json(struct latency *l, FILE *f)
{
	int rc;

	fputs("{\"schema\":\"gpubpf.latency/1\",\"gpubpf_version\":\"" GPUBPF_VERSION "\",", f);
	rc = latency_json_put(f, "\"file\":", json_safe_string(l->in.path));
	if (!rc)
		rc = report_verdict_json(&l->in.ledger, f);
	fprintf(f, ",\n\"calls\":%" PRIu64 ",\"calls_recorded\":%" PRIu64, l->selected, l->m->calls);
	if (!rc)
		rc = because(f, "start_unmeasured_because", latency__no_device(l));
	if (!rc)
		rc = because(f, "inside_unmeasured_because", latency__no_inside(l));
	if (!rc)
		rc = because(f, "idle_unmeasured_because", latency__no_device(l));
	if (!rc)
		rc = because(f, "wakers_unmeasured_because", latency__no_wakers(l));
	if (!rc)
		rc = latency_json_put(f, ",\n\"inside_absent\":", absences(l));
	fprintf(f, ",\n\"futex_waits_left_out\":%" PRIu64, l->m->waits.cut);
	if (!rc && !cost_unknown(&l->in))
		rc = latency_json_put(f, ",\n\"cost\":", inspect_cost_json(&l->in));
	fputs(",\n\"sections\":{", f);
	for (const struct lat_section *s = latency_sections; !rc && s->s.name; s++) {
		fprintf(f, "%s\"%s\":{", s == latency_sections ? "\n" : ",\n", s->s.name);
		rc = latency_json_put(f, "\"population\":", json_string(s->s.population));
		if (!rc && s->s.note)
			rc = latency_json_put(f, ",\"note\":", json_string(s->s.note));
		if (!rc)
			rc = latency_json_section(l, s, f);
		putc('}', f);
	}
	fputs("},\n\"stories\":[", f);
	for (size_t i = 0; !rc && i < l->nstories; i++)
		rc = latency_json_put(f, i ? ",\n" : "\n", story(l, &l->story[i]));
	fputs("],\n\"idle_stories\":[", f);
	if (!rc)
		rc = latency_idle_json(l, f);
	fputs("]}\n", f);
	return rc;
}
