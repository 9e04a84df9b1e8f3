// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/device.h"
#include "inspect/jsonsafe.h"
#include "model/procs.h"
#include "usdt/contract.h"

static void ledger_line(json_t *o, const struct ledger *l, const struct ledger_device_line *n)
{
	json_put_text(o, "population", n->population);
	json_put_int(o, "calls", n->calls);
	for (unsigned i = 0; i < DEVICE_TERMS; i++) {
		if (ledger_device_measured(l, device_terms[i].offset))
			json_put_int(o, device_terms[i].key,
				     *(const uint64_t *)((const char *)n + device_terms[i].offset));
		else
			json_put_unmeasured(o, device_terms[i].key);
	}
	json_object_set_new(o, "unexplained", json_integer(n->unexplained));
	json_put_int(o, "executions", n->executions);
}

static json_t *ledger(const struct ledger *l)
{
	const struct ledger_device *d = &l->device;
	json_t *o = json_object(), *a = json_array();

	json_put_text(o, "computed_by",
		      l->host_left_out ? "this reader, from the records of the device observer alone"
				       : "this reader, from the records of both observers");
	json_put_text(o, "calls_counted_by", l->host_left_out ? "device observer" : "host observer");
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++)
		ledger_line(json_add_object(a), l, &d->line[p]);
	json_object_set_new(o, "populations", a);
	a = json_object();
	ledger_line(a, l, &d->total);
	json_object_set_new(o, "total", a);
	return o;
}

static void hello(json_t *o, const struct gpubpf_hello *h)
{
	json_put_text(o, "shim_version", h->version);
	json_put_bytes(o, "shim_build_id", h->build_id, sizeof(h->build_id));
	json_put_if(o, "cupti_version", h->cupti_version != 0, h->cupti_version);
	json_put_if(o, "driver_version", h->driver_version != 0, h->driver_version);
	json_put_text(o, "cupti_path", h->cupti_path[0] ? h->cupti_path : NULL);
	json_put_text(o, "arming",
		      h->arming == GPUBPF_ARMED_INLINE   ? "inline"
		      : h->arming == GPUBPF_ARMED_ATTACH ? "attach"
							 : NULL);
	json_put_text(o, "time_source",
		      h->time_source == GPUBPF_TIME_MONOTONIC ? "monotonic"
		      : h->time_source == GPUBPF_TIME_CUPTI   ? "cupti_with_clock_pairs"
							      : NULL);
}

static json_t *losses(const uint64_t *loss)
{
	json_t *o = json_object();

	for (unsigned i = 0; join_loss_name(i) || i == 0; i++)
		if (join_loss_name(i))
			json_put_int(o, join_loss_name(i), loss[i]);
	return o;
}

static void facilities(json_t *o, const struct join_session *s)
{
	json_t *f = json_object();

	for (unsigned i = 0; i < JOIN_FACILITIES; i++)
		if (s->facility[i].tried && join_facility_name(i))
			json_object_set_new(f, join_facility_name(i), json_integer(s->facility[i].result));
	json_object_set_new(o, "facilities", f);
}

static json_t *sessions(const struct join *j)
{
	json_t *a = json_array();

	for (size_t i = 0; i < join__sessions(j); i++) {
		const struct join_session *s = join__session(j, i);
		json_t *o = json_add_object(a);

		json_put_int(o, "pid", s->proc->tgid);
		json_put_int(o, "session", s->number);
		json_put_text(o, "state",
			      s->state == JOIN_SESSION_OPEN ? "open" : inspect_session_state(s->state));
		json_put_text(o, "reason", join_reason_name(s->reason));
		if (s->reason)
			json_object_set_new(o, "reason_value", json_integer(s->reason_value));
		json_put_if(o, "armed_from_ns", s->state != JOIN_SESSION_FAILED, s->armed_from);
		json_put_if(o, "armed_ns", s->state != JOIN_SESSION_FAILED, s->armed_at);
		json_put_if(o, "ended_ns", s->state == JOIN_SESSION_ENDED, s->ended);
		if (s->has_hello)
			hello(o, &s->hello);
		json_put_int(o, "calls", s->calls);
		json_put_int(o, "activities", s->activities);
		json_put_int(o, "clock_pairs", s->clock_pairs);
		json_put_if(o, "clock_error_ns", s->has_clock_error, s->clock_error_ns);
		json_put_int(o, "cupti_errors", s->errors);
		facilities(o, s);
		json_object_set_new(o, "losses", losses(s->loss));
	}
	return a;
}

static json_t *times(const struct join_totals *t)
{
	json_t *o = json_object();

	for (unsigned k = GPUBPF_ACTIVITY_KERNEL; k <= GPUBPF_ACTIVITY_OVERHEAD; k++) {
		const struct join_times *n = &t->times[k];
		json_t *e;

		if (!n->records && k > GPUBPF_ACTIVITY_SET)
			continue;
		e = json_object();
		json_put_int(e, "records", n->records);
		for (unsigned i = 0; i < JOIN_TIMES; i++)
			json_put_int(e, join_time_name((enum join_time)i), n->by[i]);
		json_put_text(e, "reason", join_times_reason((enum gpubpf_activity_kind)k, n));
		json_object_set_new(o, join_kind_name(k), e);
	}
	return o;
}

static json_t *causality(const struct join *j)
{
	const struct join_totals *t = join__totals(j);
	json_t *o = json_object(), *a = json_array();

	json_put_int(o, "starts_before_entry", t->early);
	json_put_int(o, "beyond_clock_error", t->early_beyond);
	json_put_if(o, "worst_ns", t->early != 0, t->early_worst_ns);
	json_put_if(o, "clock_error_ns", t->has_clock_error, t->clock_error_ns);
	for (unsigned i = 0; i < t->nviolations; i++) {
		struct join_activity act;
		json_t *e = json_add_object(a);

		join__activity(j, t->violation[i].activity, &act);
		json_put_int(e, "early_ns", t->violation[i].early_ns);
		json_put_text(e, "kind", join_kind_name(act.kind));
		json_put_int(e, "pid", act.call.proc->tgid);
		json_put_int(e, "tid", act.call.tid);
		json_put_int(e, "correlation", act.correlation);
		json_put_int(e, "entry_ns", act.call.entry);
		json_put_int(e, "start_ns", act.start);
		json_put_int(e, "end_ns", act.end);
	}
	json_object_set_new(o, "worst", a);
	return o;
}

static json_t *probes(const struct inspection *s)
{
	json_t *o = json_object();

	for (unsigned i = 0; i < GPUBPF_PROBES; i++) {
		const struct join_gap *g = &join__totals(s->join)->probe[i];
		json_t *e = json_object();

		json_put_int(e, "batches", g->batches);
		json_put_int(e, "items", g->items);
		json_put_int(e, "missing_batches", g->lost_batches);
		json_put_int(e, "repeated_batches", g->repeated);
		json_put_int(e, "faults", g->faults);
		json_put_int(e, "cut_items", g->cut_items);
		json_put_int(e, "bad_items", g->bad_items);
		json_object_set_new(o, usdt_contract_probes[i], e);
	}
	return o;
}

static json_t *executions(const struct join_totals *t)
{
	json_t *o = json_object(), *links = json_object(), *orphans = json_object();

	json_put_int(o, "kernels", t->kernels);
	json_put_int(o, "copies", t->copies);
	json_put_int(o, "sets", t->sets);
	for (unsigned i = 0; i < JOIN_LINKS; i++)
		json_put_int(links, join_link_name((enum join_link)i), t->links[i]);
	json_object_set_new(o, "links", links);
	for (unsigned k = GPUBPF_ACTIVITY_KERNEL; k <= GPUBPF_ACTIVITY_GRAPH; k++)
		json_put_int(orphans, join_kind_name(k), t->orphans_by_kind[k]);
	json_object_set_new(o, "orphans", orphans);
	json_object_set_new(o, "times", times(t));
	return o;
}

static json_t *graphs(const struct join_totals *t)
{
	json_t *o = json_object();

	json_put_int(o, "graphs", t->graphs);
	json_put_int(o, "launches", t->graph_launches);
	json_put_int(o, "node_executions", t->graph_nodes);
	json_put_int(o, "shortfall", t->graph_shortfall);
	json_put_int(o, "launches_with_unknown_node_count", t->graph_unknown);
	return o;
}

json_t *inspect_device_json(const struct inspection *s)
{
	const struct join_totals *t;
	json_t *o;

	if (!s->join)
		return NULL;
	t = join__totals(s->join);
	o = json_object();
	json_put_text(o, "state", ledger_device_state_name(s->ledger.device.state));
	json_object_set_new(o, "ledger", ledger(&s->ledger));
	json_object_set_new(o, "executions", executions(t));
	json_object_set_new(o, "graphs", graphs(t));
	json_object_set_new(o, "causality", causality(s->join));
	json_object_set_new(o, "sessions", sessions(s->join));
	json_object_set_new(o, "probes", probes(s));
	json_object_set_new(o, "losses", losses(t->loss));
	json_put_int(o, "shim_calls", t->shim_calls);
	if (!s->host_left_out) {
		json_put_int(o, "shim_calls_without_host_record", t->shim_calls_no_host);
		json_put_int(o, "shim_calls_before_host_observer", t->shim_calls_early);
		json_put_int(o, "shim_calls_after_host_observer", t->shim_calls_late);
	}
	json_put_int(o, "shim_calls_ambiguous", t->shim_calls_ambiguous);
	json_put_int(o, "names", join__names(s->join));
	json_put_int(o, "names_incomplete", t->names_incomplete);
	json_put_int(o, "modules", join__modules(s->join));
	inspect_extras_json(s->join, o);
	return o;
}
