/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at single calls of either observer, and the words for what is seen. */
#include "join/priv.h"

size_t join__host_calls(const struct join *j)
{
	return j->bcalls.n;
}

enum join_fate join__host_call_fate(const struct join *j, uint32_t number)
{
	struct session *s;

	return judge_call(j, bcall_at(j, number), &s);
}

const char *join_fate_name(enum join_fate fate)
{
	static const char *const names[JOIN_FATES] = {
		[JOIN_FATE_RAN] = "ran",
		[JOIN_FATE_INVALID_TIME] = "invalid_time",
		[JOIN_FATE_FAILED] = "failed",
		[JOIN_FATE_CAPTURED] = "captured",
		[JOIN_FATE_NO_WORK] = "no_work",
		[JOIN_FATE_OUTSIDE] = "outside",
		[JOIN_FATE_IN_FLIGHT] = "in_flight",
		[JOIN_FATE_AMBIGUOUS] = "ambiguous",
		[JOIN_FATE_NOTHING_RAN] = "nothing_ran",
		[JOIN_FATE_UNSEEN] = "unseen",
	};

	return names[fate];
}

size_t join__shim_calls(const struct join *j)
{
	return j->scalls.n;
}

static enum join_shim_link link_of(const struct join *j, const struct scall *s)
{
	if (population_of_work(SCALL_WORK(s->info)) >= JOIN_POPULATIONS)
		return JOIN_SHIM_OTHER;
	if (j->end.host_left_out)
		return s->info & SCALL_NESTED ? JOIN_SHIM_NESTED : JOIN_SHIM_ALONE;
	if (s->info & SCALL_AMBIGUOUS)
		return JOIN_SHIM_AMBIGUOUS;
	if (s->bcall)
		return JOIN_SHIM_JOINED;
	if (s->info & SCALL_EARLY)
		return JOIN_SHIM_EARLY;
	return scall_late(j, s) ? JOIN_SHIM_LATE : JOIN_SHIM_NO_HOST_CALL;
}

void join__shim_call(const struct join *j, size_t i, struct join_shim_call *c)
{
	const struct scall *s = scall_at(j, (uint32_t)i);
	const struct sthread *th = hmap__at(&j->sthreads, s->thread);

	*c = (struct join_shim_call){ .session = &session_of_call(j, s)->pub,
				      .tid = (uint32_t)th->key[1],
				      .work = (enum gpubpf_work)SCALL_WORK(s->info),
				      .start = s->start,
				      .has_end = !(s->info & SCALL_NO_END),
				      .failed = (s->info & SCALL_FAILED) != 0,
				      .correlation = s->correlation,
				      .link = link_of(j, s),
				      .host_call = s->bcall ? s->bcall - 1 : 0,
				      .executions = s->info >> SCALL_ACTS_SHIFT };
	if (c->has_end)
		c->end = add_clamped(s->start, unpack_dur(s->dur));
}

const char *join_shim_link_name(enum join_shim_link link)
{
	static const char *const names[JOIN_SHIM_LINKS] = {
		[JOIN_SHIM_JOINED] = "joined",
		[JOIN_SHIM_ALONE] = "alone",
		[JOIN_SHIM_NESTED] = "nested",
		[JOIN_SHIM_AMBIGUOUS] = "ambiguous",
		[JOIN_SHIM_EARLY] = "before_host_observer",
		[JOIN_SHIM_LATE] = "after_host_observer",
		[JOIN_SHIM_NO_HOST_CALL] = "no_host_call",
		[JOIN_SHIM_OTHER] = "other_call",
	};

	return names[link];
}

const char *join_work_name(unsigned work)
{
	static const char *const names[] = {
		[GPUBPF_WORK_LAUNCH] = "launch", [GPUBPF_WORK_GRAPH] = "graph_launch",
		[GPUBPF_WORK_COPY] = "copy",     [GPUBPF_WORK_SET] = "set",
		[GPUBPF_WORK_ALLOC] = "alloc",   [GPUBPF_WORK_SYNC] = "sync",
	};

	return work < sizeof(names) / sizeof(names[0]) ? names[work] : NULL;
}
