/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What holds of a finished join, whatever went into it. */
#ifndef TESTS_FUZZ_JOIN_LOOK_H
#define TESTS_FUZZ_JOIN_LOOK_H

#include <stdlib.h>

#include "join/join.h"

static inline void join_look_extras(const struct join *j)
{
	for (size_t i = 0; i < join__externals(j); i++) {
		struct join_external e;

		join__external(j, i, &e);
		join_external_name(e.kind);
		if (!e.session->proc || (e.has_work && !e.has_call))
			abort();
	}
	for (size_t i = 0; i < join__markers(j); i++) {
		struct join_marker m;

		join__marker(j, i, &m);
		join__name(j, m.name);
		join__name(j, m.domain);
		if (!m.session->proc || (m.has_end && (!m.has_time || m.end < m.time || !m.paired)))
			abort();
	}
	for (size_t i = 0; i < join__unifieds(j); i++) {
		struct join_unified u;

		join__unified(j, i, &u);
		join_unified_name(u.counter);
		join_unified_cause(&u);
		if (!u.session->proc)
			abort();
	}
}

static inline void join_look_calls(const struct join *j, bool host_left_out)
{
	struct join_shim_call c;

	for (size_t i = 0; i < join__shim_calls(j); i++) {
		join__shim_call(j, i, &c);
		if (!c.session->proc || !join_shim_link_name(c.link) || (c.has_end && c.end < c.start) ||
		    (c.link == JOIN_SHIM_JOINED && c.host_call >= join__host_calls(j)))
			abort();
		join_work_name(c.work);
	}
	for (size_t i = 0; !host_left_out && i < join__host_calls(j); i++)
		if (!join_fate_name(join__host_call_fate(j, (uint32_t)i)))
			abort();
}

static inline void join_look(const struct join *j, bool host_left_out)
{
	const struct join_totals *t = join__totals(j);
	struct join_activity a;
	uint64_t last = 0, links = 0;

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		const struct join_line *l = &t->line[p];

		if (l->calls != l->matched + l->failed + l->captured + l->invalid_time + l->no_work +
					l->device_launched + l->outside + l->in_flight + l->lost_shim +
					l->lost_ring + l->dropped + l->ambiguous + l->unexplained)
			abort();
	}
	for (size_t i = 0; i < join__activities(j); i++) {
		join__activity(j, i, &a);
		join__name(j, join__key(j, a.key)->name);
		if (!join__lane(j, a.lane)->session->proc || (a.has_call && !a.call.proc))
			abort();
		if (a.time != JOIN_TIME_VALID)
			continue;
		if (a.start < last || a.end < a.start)
			abort();
		last = a.start;
	}
	join_look_extras(j);
	join_look_calls(j, host_left_out);
	for (unsigned i = 0; i < JOIN_LINKS; i++)
		links += t->links[i];
	if (t->activities != join__activities(j) || links > t->activities)
		abort();
}

#endif
