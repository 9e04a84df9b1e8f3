/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "join/priv.h"

#include <errno.h>

int join__finish(struct join *j, const struct join_end *end)
{
	int rc;

	j->end = *end;
	rc = names_finish(j);
	if (!rc)
		rc = keys_finish(j);
	if (!rc)
		rc = sessions_finish(j);
	if (!rc)
		rc = extras_finish(j);
	if (!rc)
		rc = end->host_left_out ? nest_calls(j) : match_calls(j);
	if (!rc)
		rc = match_activities(j);
	if (!rc)
		rc = sort_activities(j);
	if (!rc)
		rc = account(j);
	return rc;
}

const struct join_totals *join__totals(const struct join *j)
{
	return &j->totals;
}

size_t join__activities(const struct join *j)
{
	return j->acts.n;
}

static uint64_t on_our_clock(const struct session *s, uint64_t t)
{
	return t ? session_to_monotonic(s, t) : 0;
}

void join__activity_brief(const struct join *j, size_t i, struct join_activity *to)
{
	const struct act *a = act_at(j, j->order[i]);
	const struct node *n = a->node ? hmap__at(&j->nodes, a->node - 1) : NULL;
	unsigned kind = key_of(j, a)->kind;

	*to = (struct join_activity){ .key = a->key,
				      .lane = a->lane,
				      .kind = (enum gpubpf_activity_kind)kind,
				      .time = judge_time(j, a),
				      .link = judge_link(j, a),
				      .start = a->start,
				      .end = a->end,
				      .correlation = a->correlation,
				      .has_node = n != NULL,
				      .graph = n ? (uint32_t)n->key[0] : 0,
				      .graph_node = n ? n->key[1] : 0 };
	if (kind == GPUBPF_ACTIVITY_COPY || kind == GPUBPF_ACTIVITY_SET)
		to->bytes = a->aux;
	else if (kind == GPUBPF_ACTIVITY_MEMORY)
		to->memory_bytes = a->aux;
	else if (kind == GPUBPF_ACTIVITY_OVERHEAD)
		to->overhead = (unsigned)a->aux;
}

static void fill_host_call(const struct join *j, uint32_t number, struct join_host_call *to)
{
	const struct bcall *b = bcall_at(j, number);
	const struct bthread *th = hmap__at(&j->bthreads, b->thread);

	*to = (struct join_host_call){ .number = number,
				       .proc = (const struct proc *)(uintptr_t)th->key[0],
				       .tid = (uint32_t)th->key[1],
				       .api = BCALL_API(b->info),
				       .population = BCALL_POPULATION(b->info),
				       .entry = b->entry,
				       .has_return = (b->info & BCALL_RETURNED) != 0,
				       .captured = (b->info & BCALL_CAPTURED) != 0,
				       .failed = (b->info & BCALL_FAILED) != 0 };
	if (to->has_return)
		to->ret = add_clamped(b->entry, unpack_dur(b->dur));
}

static void fill_shim_call(const struct join *j, const struct session *s, uint32_t number,
			   struct join_host_call *to)
{
	const struct scall *c = scall_at(j, number);
	const struct sthread *th = hmap__at(&j->sthreads, c->thread);

	*to = (struct join_host_call){ .number = number,
				       .proc = s->pub.proc,
				       .of_shim = true,
				       .tid = (uint32_t)th->key[1],
				       .population = population_of_work(SCALL_WORK(c->info)),
				       .entry = c->start,
				       .has_return = !(c->info & SCALL_NO_END),
				       .failed = (c->info & SCALL_FAILED) != 0 };
	if (to->has_return)
		to->ret = add_clamped(c->start, unpack_dur(c->dur));
}

void join__activity(const struct join *j, size_t i, struct join_activity *to)
{
	const struct act *a = act_at(j, j->order[i]);
	const struct session *s = session_of(j, a);
	struct scall *call;

	join__activity_brief(j, i, to);
	if (to->kind == GPUBPF_ACTIVITY_KERNEL && a->aux) {
		const struct latency *l = vec__at(&j->latency, (uint32_t)a->aux - 1);

		to->has_queued = l->has_queued;
		to->has_submitted = l->has_submitted;
		to->queued = on_our_clock(s, l->queued);
		to->submitted = on_our_clock(s, l->submitted);
	}
	if (!a->call || a->call == ACT_AMBIGUOUS)
		return;
	call = scall_at(j, a->call - 1);
	to->has_shim_call = true;
	to->shim_call = a->call - 1;
	to->call_start = call->start;
	to->call_failed = (call->info & SCALL_FAILED) != 0;
	to->has_call = to->link == JOIN_JOINED;
	if (to->has_call && j->end.host_left_out)
		fill_shim_call(j, s, call->info & SCALL_NESTED ? call->bcall - 1 : a->call - 1, &to->call);
	else if (to->has_call)
		fill_host_call(j, call->bcall - 1, &to->call);
}

size_t join__keys(const struct join *j)
{
	return j->canonical.n;
}

const struct join_key *join__key(const struct join *j, uint32_t key)
{
	return &((const struct key_entry *)hmap__at(&j->canonical, key))->u.raw.key;
}

size_t join__lanes(const struct join *j)
{
	return j->lanes.n;
}

const struct join_lane *join__lane(const struct join *j, uint32_t lane)
{
	return &((const struct lane *)hmap__at(&j->lanes, lane))->pub;
}

size_t join__names(const struct join *j)
{
	return j->nnames;
}

const char *join__name(const struct join *j, uint32_t name)
{
	return name && name <= j->nnames ? j->name_text[name] : NULL;
}

size_t join__sessions(const struct join *j)
{
	return j->sessions.n;
}

const struct join_session *join__session(const struct join *j, size_t i)
{
	return &j->by_proc[i]->pub;
}

size_t join__modules(const struct join *j)
{
	return j->modules.n;
}

const struct gpubpf_module *join__module(const struct join *j, size_t i, const struct join_session **session)
{
	const struct module_item *m = vec__at(&j->modules, (uint32_t)i);

	*session = &session_at(j, m->session)->pub;
	return &m->m;
}
