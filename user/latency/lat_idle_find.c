/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ran, as lat_idle needs it: on which device, and whether somebody can be blamed for the time before it. */
#include "latency/lat.h"

static bool chooses(const struct latency *l)
{
	const struct procs_filter *f = &l->o.model.filter;

	return f->npids || f->ntids || l->o.napis || l->o.nkernels || l->o.has_from || l->o.has_to;
}

static enum idle_cause nobodys(enum join_link link)
{
	switch (link) {
	case JOIN_NO_HOST_CALL:
		return IDLE_NO_HOST_CALL;
	case JOIN_AMBIGUOUS:
		return IDLE_AMBIGUOUS;
	case JOIN_OTHER_CALL:
		return IDLE_OTHER_CALL;
	case JOIN_DEVICE_LAUNCHED:
		return IDLE_DEVICE_LAUNCHED;
	default:
		return IDLE_ORPHAN;
	}
}

static enum idle_cause why(const struct latency *l, const struct join_activity *a, bool wanted, bool first)
{
	if (chooses(l) && !wanted)
		return IDLE_NOT_CHOSEN;
	if (!a->has_call)
		return nobodys(a->link);
	if (!first)
		return IDLE_NODE;
	return a->start < a->call.entry ? IDLE_EARLY : IDLE_CAUSES;
}

int lat_idle_ran(struct latency *l, size_t i, const struct join_activity *a, bool wanted, bool first,
		 uint64_t wait_end)
{
	const struct join_lane *lane = join__lane(l->in.join, a->lane);
	struct idle_ran r = { .proc = lane->session->proc,
			      .session = lane->session,
			      .device = lane->device,
			      .activity = (uint32_t)i,
			      .start = a->start,
			      .end = a->end };

	/* as the report does; a graph whose nodes CUPTI does not trace is one record, and keeps its device busy, too */
	if (a->time != JOIN_TIME_VALID || a->kind < GPUBPF_ACTIVITY_KERNEL || a->kind > GPUBPF_ACTIVITY_GRAPH)
		return 0;
	r.why = why(l, a, wanted, first);
	if (r.why == IDLE_CAUSES)
		r.caller = (struct idle_caller){ .proc = a->call.proc,
						 .tgid = a->call.proc->tgid,
						 .tid = a->call.tid,
						 .api = (uint16_t)lat_api_of(l, &a->call),
						 .entry = a->call.entry,
						 .ret = a->call.ret,
						 .has_ret = a->call.has_return,
						 .of_shim = a->call.of_shim,
						 .wait_end = wait_end };
	return lat_idle__ran(&l->idle, &r);
}
