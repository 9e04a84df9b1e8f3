/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about the two observers: what they agree on, and how far the times can be trusted. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/procs.h"
#include "report/report.h"

static int observer_cells(const struct ledger *l, struct rows *rows, const struct ledger_device_line *n)
{
	bool host = !l->host_left_out;

	row__number(rows, n->calls);
	row__number(rows, n->matched);
	row__number(rows, n->failed);
	row__maybe(rows, host, true, n->captured);
	row__maybe(rows, host, true, n->no_work);
	row__number(rows, n->device_launched);
	row__maybe(rows, host, true, n->outside);
	row__number(rows, n->invalid_time);
	row__number(rows, n->in_flight);
	row__maybe(rows, host, true, n->abandoned);
	row__number(rows, n->lost_ring);
	row__number(rows, n->lost_shim);
	row__number(rows, n->dropped);
	row__number(rows, n->ambiguous);
	row__number(rows, n->unexplained > 0 ? (uint64_t)n->unexplained : 0);
	row__number(rows, n->unexplained < 0 ? -(uint64_t)n->unexplained : 0);
	row__number(rows, n->executions);
	return row__text(rows, host ? "host observer" : "device observer") ? -ENOMEM
									   : row__text(rows, n->population);
}

int build_observers(const struct report *r, struct rows *rows)
{
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		const struct ledger_device_line *n = &r->ledger.device.line[p];

		if (!n->calls && !n->executions)
			continue;
		if (rows__add(rows) || observer_cells(&r->ledger, rows, n))
			return -ENOMEM;
	}
	return 0;
}

/* "13.0" of 13000 */
static int version_cell(struct rows *rows, bool there, uint32_t v)
{
	char buf[32];

	if (!there || !v) {
		row__maybe(rows, false, true, 0);
		return 0;
	}
	snprintf(buf, sizeof(buf), "%u.%u", v / 1000, v % 1000 / 10);
	return row__text(rows, buf);
}

static const char *clock_text(const struct join_session *s)
{
	switch (s->has_hello ? s->hello.time_source : 0) {
	case GPUBPF_TIME_MONOTONIC:
		return "CLOCK_MONOTONIC, read by CUPTI";
	case GPUBPF_TIME_CUPTI:
		return s->clock_pairs ? "CUPTI's clock, tied by pairs" : "CUPTI's clock, not tied";
	default:
		return NULL;
	}
}

static const char *arming_text(const struct join_session *s)
{
	switch (s->has_hello ? s->hello.arming : 0) {
	case GPUBPF_ARMED_INLINE:
		return "before the first call";
	case GPUBPF_ARMED_ATTACH:
		return "on a running process";
	default:
		return NULL;
	}
}

static int end_cell(struct rows *rows, const struct join_session *s)
{
	static const char *const ends[] = { NULL, "asked for", "process ended",
					    "asked for; work was still running" };
	const char *reason = join_reason_name(s->reason);
	char buf[96];

	switch (s->state) {
	case JOIN_SESSION_FAILED:
		snprintf(buf, sizeof(buf), "never armed: %s", reason ? reason : "no reason was given");
		return row__text(rows, buf);
	case JOIN_SESSION_OPEN:
		return row__text(rows, "not seen");
	default:
		return row__text(rows, s->disarm < sizeof(ends) / sizeof(ends[0]) && ends[s->disarm]
					       ? ends[s->disarm]
					       : "not known");
	}
}

/* What was refused, by what code: unsupported and not permitted are neither zero nor absent (R5). */
static int refused_cell(struct rows *rows, const struct join_session *s)
{
	char buf[512] = "";
	size_t n = 0;

	for (unsigned i = 0; i < JOIN_FACILITIES; i++) {
		const char *name = join_facility_name(i);

		if (!s->facility[i].tried || !s->facility[i].result || n >= sizeof(buf))
			continue;
		if (name)
			n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%s (%d)", n ? ", " : "", name,
					      s->facility[i].result);
		else
			n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%sfacility %u (%d)", n ? ", " : "",
					      i, s->facility[i].result);
	}
	return row__text(rows, n ? buf : NULL);
}

static int lost_cells(struct rows *rows, const struct join_session *s)
{
	char buf[512] = "";
	size_t n = 0;

	for (unsigned i = 0; i < JOIN_LOSSES; i++) {
		const char *name = join_loss_name(i);
		char number[24];

		if (!s->loss[i] || n >= sizeof(buf))
			continue;
		snprintf(number, sizeof(number), "loss %u", i);
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%s %" PRIu64, n ? ", " : "",
				      name ? name : number, s->loss[i]);
	}
	return row__text(rows, n ? buf : NULL);
}

static int text_or_unmeasured(struct rows *rows, const char *text)
{
	if (text && text[0])
		return row__text(rows, text);
	row__maybe(rows, false, true, 0);
	return 0;
}

int build_sessions(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < join__sessions(r->in.join); i++) {
		const struct join_session *s = join__session(r->in.join, i);
		bool armed = s->state != JOIN_SESSION_FAILED;

		if (!s->proc || !s->proc->selected)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, s->proc->tgid);
		row__number(rows, s->number);
		row__number(rows, s->activities);
		row__number(rows, s->calls);
		row__maybe(rows, armed && s->armed_at >= s->armed_from, armed, s->armed_at - s->armed_from);
		row__maybe(rows, armed && s->state == JOIN_SESSION_ENDED && s->ended >= s->armed_at, armed,
			   s->ended - s->armed_at);
		row__maybe(rows, armed, false, s->armed_at);
		row__maybe(rows, s->has_clock_error, armed, s->clock_error_ns);
		row__number(rows, s->clock_pairs);
		row__number(rows, s->errors);
		row__maybe(rows, s->has_hello && s->hello.cupti_version, true, s->hello.cupti_version);
		if (version_cell(rows, s->has_hello, s->has_hello ? s->hello.driver_version : 0) ||
		    text_or_unmeasured(rows, s->has_hello ? s->hello.version : NULL) ||
		    text_or_unmeasured(rows, s->has_hello ? s->hello.cupti_path : NULL) ||
		    lost_cells(rows, s) || refused_cell(rows, s) ||
		    text_or_unmeasured(rows, arming_text(s)) || end_cell(rows, s) ||
		    text_or_unmeasured(rows, clock_text(s)))
			return -ENOMEM;
	}
	return 0;
}

int build_timestamps(const struct report *r, struct rows *rows)
{
	static const enum gpubpf_activity_kind kinds[RAN_KINDS] = { GPUBPF_ACTIVITY_KERNEL,
								    GPUBPF_ACTIVITY_COPY,
								    GPUBPF_ACTIVITY_SET };
	static const char *const names[RAN_KINDS] = { "kernels", "copies", "sets" };
	const struct join_totals *t = join__totals(r->in.join);

	for (int k = 0; k < RAN_KINDS; k++) {
		const struct join_times *n = &r->dev->times[k];
		const char *reason = join_times_reason(kinds[k], n);

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, n->records);
		row__number(rows, n->by[JOIN_TIME_VALID]);
		row__number(rows, n->by[JOIN_TIME_ZERO]);
		row__number(rows, n->by[JOIN_TIME_END_FIRST]);
		row__number(rows, n->by[JOIN_TIME_OUTSIDE]);
		row__number(rows, n->by[JOIN_TIME_UNANCHORED]);
		row__number(rows, r->dev->early[k].early);
		row__number(rows, r->dev->early[k].beyond);
		row__maybe(rows, r->dev->early[k].early, false, r->dev->early[k].worst);
		row__maybe(rows, t->has_clock_error, true, t->clock_error_ns);
		if (row__text(rows, reason       ? reason
				    : n->records ? NULL
						 : "no_records") ||
		    row__text(rows, names[k]))
			return -ENOMEM;
	}
	return 0;
}

static int display_cell(const struct report *r, struct rows *rows, uint32_t key)
{
	char *name = report__display(r, join__key(r->in.join, key));
	int rc = name ? row__text(rows, name) : -ENOMEM;

	free(name);
	return rc;
}

int build_causality(const struct report *r, struct rows *rows)
{
	const struct join_totals *t = join__totals(r->in.join);

	for (unsigned i = 0; i < t->nviolations; i++) {
		const struct join_violation *v = &t->violation[i];
		const struct join_session *s;
		struct join_activity a;

		join__activity(r->in.join, v->activity, &a);
		s = join__lane(r->in.join, a.lane)->session;
		if (!s->proc->selected)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, v->early_ns);
		row__maybe(rows, s->has_clock_error, true, s->clock_error_ns);
		row__maybe(rows, a.has_call, false, a.call.entry);
		row__number(rows, a.start);
		row__number(rows, s->proc->tgid);
		row__maybe(rows, a.has_call, false, a.call.tid);
		if (row__text(rows, !s->has_clock_error               ? "no bound is known"
				    : v->early_ns > s->clock_error_ns ? "beyond the bound"
								      : "within the bound") ||
		    display_cell(r, rows, a.key))
			return -ENOMEM;
	}
	return 0;
}

int build_orphans(const struct report *r, struct rows *rows)
{
	static const char *const why[JOIN_LINKS] = {
		[JOIN_NO_HOST_CALL] = "the host observer has no record of its call",
		[JOIN_ORPHAN] = "no call has its correlation id",
		[JOIN_AMBIGUOUS] = "several calls fit",
		[JOIN_OTHER_CALL] = "its call asks for no work: an allocation, a synchronization",
		[JOIN_DEVICE_LAUNCHED] =
			"the device launched it itself: a conditional graph node, or a kernel",
	};

	for (size_t i = 0; i < r->dev->keys.n; i++) {
		const struct ran *n = hmap__at(&r->dev->keys, i);

		for (int k = JOIN_JOINED + 1; k < JOIN_LINKS; k++) {
			if (!n->unlinked[k])
				continue;
			if (rows__add(rows))
				return -ENOMEM;
			row__number(rows, n->unlinked[k]);
			row__maybe(rows, n->unlinked_timed[k], true, n->unlinked_ns[k]);
			if (row__text(rows, join_link_name((enum join_link)k)) || row__text(rows, why[k]) ||
			    display_cell(r, rows, n->key[0]))
				return -ENOMEM;
		}
	}
	return 0;
}
