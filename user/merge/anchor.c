// SPDX-License-Identifier: GPL-2.0-or-later
/* Where the clocks of captures stand against each other (R23): by arithmetic, or not at all. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "merge/priv.h"
#include "model/member.h"
#include "util/err.h"
#include "util/fmt.h"

/* Readings of one pair are that far apart where their bound is not known. */
#define NO_BOUND UINT64_C(1000000)
/* What is beyond the bounds of two pairs, and is still no step. */
#define SLACK UINT64_C(10000)

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static uint64_t bound_of(const Gpubpf__ClockPair *p)
{
	return p->has_error_ns ? p->error_ns : NO_BOUND;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static const Gpubpf__ClockPair *tightest(const Gpubpf__Meta *m)
{
	const Gpubpf__ClockPair *best = NULL;

	for (size_t i = 0; i < m->n_clock; i++)
		if (m->clock[i]->has_realtime_ns && (!best || bound_of(m->clock[i]) < bound_of(best)))
			best = m->clock[i];
	return best;
}

static int stepped(const struct merge_member *at, const Gpubpf__ClockPair *best, const Gpubpf__ClockPair *p,
		   uint64_t by, struct err *err)
{
	bool slept = best->has_boottime_ns && p->has_boottime_ns &&
		     distance(p->boottime_ns - p->monotonic_ns, best->boottime_ns - best->monotonic_ns) >
			     by / 2;
	char text[FMT_NUM];

	return err_set(
		err, -EINVAL,
		"%s: %s during the recording (by %s between two of its clock pairs): its times have no single place "
		"on the wall clock. Record again%s",
		at->path, slept ? "the machine slept" : "the wall clock was set", fmt_ns(text, by),
		slept ? "" : ", when the clock has been set");
}

static int read_clock(struct merge_member *at, struct err *err)
{
	const Gpubpf__Meta *m = at->meta;
	const Gpubpf__ClockPair *best = tightest(m);

	if (!best)
		return err_set(
			err, -EINVAL,
			"%s: no clock pair ties its times to the wall clock, so it cannot be merged: record again "
			"(gpubpf record writes them by itself)",
			at->path);
	at->offset = best->realtime_ns - best->monotonic_ns;
	at->has_bracket = best->has_error_ns;
	at->bracket = best->error_ns;
	at->has_utc = true;
	for (size_t i = 0; i < m->n_clock; i++) {
		const Gpubpf__ClockPair *p = m->clock[i];
		uint64_t by = distance(p->realtime_ns - p->monotonic_ns, at->offset);

		if (!p->has_realtime_ns)
			continue;
		if (p->realtime_ns < p->monotonic_ns)
			return err_set(
				err, -EINVAL,
				"%s: its wall clock stood before 1970 when the machine started, which is no time to merge by: "
				"set the clock and record again",
				at->path);
		if (by > sum(sum(bound_of(p), bound_of(best)), SLACK))
			return stepped(at, best, p, by, err);
		at->has_utc = at->has_utc && p->has_utc_error_ns;
		if (p->has_utc_error_ns && p->utc_error_ns > at->utc)
			at->utc = p->utc_error_ns;
	}
	return 0;
}

static void own_error(const struct merge_opts *o, struct merge_member *at)
{
	Gpubpf__Member *p = &at->pub;

	p->has_error_ns = at->has_bracket && (o->has_host_error || at->has_utc);
	if (!p->has_error_ns)
		return;
	/* half of what lies between two machines for each */
	p->error_ns = sum(at->bracket,
			  o->has_host_error ? o->host_error_ns / 2 + o->host_error_ns % 2 : at->utc);
	p->error_from = o->has_host_error ? "given" : "kernel";
}

/* Members of one boot have one clock: the tightest pair of all says where it stands. */
static int group(struct merge *m, size_t *clocks, struct err *err)
{
	struct merge_member *odd = NULL, *other = NULL;

	for (size_t i = 0; i < m->n; i++) {
		struct merge_member *at = &m->member[i], *first;

		for (at->clock = 0; at->clock < i; at->clock++)
			if (member_same_clock(&m->member[at->clock].pub, &at->pub))
				break;
		first = &m->member[at->clock];
		if (first == at) {
			++*clocks;
			continue;
		}
		if (distance(at->offset, first->offset) > sum(sum(at->bracket, first->bracket), SLACK)) {
			odd = at;
			other = first;
		}
		if (at->has_bracket && (!first->has_bracket || at->bracket < first->bracket)) {
			first->offset = at->offset;
			first->bracket = at->bracket;
			first->has_bracket = true;
		}
	}
	if (odd && *clocks > 1)
		return err_set(
			err, -EINVAL,
			"%s and %s: the wall clock of their machine was set between the two, so that only one of them can stand right "
			"against other machines: leave one out, or merge the captures of this machine alone",
			other->path, odd->path);
	return 0;
}

static int check_errors(struct merge *m, struct merge_result *r, struct err *err)
{
	const struct merge_opts *o = m->o;
	uint64_t most = o->has_max_error ? o->max_error_ns : MERGE_ERROR_MAX, ns;
	char text[FMT_NUM], limit[FMT_NUM];

	r->has_error = true;
	for (size_t i = 0; i < m->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct merge_member *a = &m->member[k], *b = &m->member[i];

			if (!member_error(&a->pub, &b->pub, &ns)) {
				r->has_error = false;
				if (o->has_max_error)
					return err_set(
						err, -EINVAL,
						"%s and %s are of two machines, and nobody knows how far their clocks can be "
						"apart: say it with --host-error, or merge without --max-error",
						a->path, b->path);
				continue;
			}
			r->error_ns = ns > r->error_ns ? ns : r->error_ns;
			if (ns > most)
				return err_set(
					err, -EINVAL,
					"%s and %s: their clocks can be %s apart, more than %s: synchronize the machines' clocks "
					"(chrony, PTP) and record again, or accept it with --max-error",
					a->path, b->path, fmt_ns(text, ns), fmt_ns(limit, most));
		}
	return 0;
}

int merge_anchor(struct merge *m, struct merge_result *r, struct err *err)
{
	uint64_t least = UINT64_MAX;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n; i++)
		rc = read_clock(&m->member[i], err);
	if (!rc)
		rc = group(m, &r->clocks, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < m->n; i++) {
		struct merge_member *at = &m->member[i], *first = &m->member[at->clock];

		at->offset = first->offset;
		at->bracket = first->bracket;
		at->has_bracket = first->has_bracket;
		least = at->offset < least ? at->offset : least;
		own_error(m->o, at);
	}
	/* Of the machine that runs for the longest: so no time gets below zero. */
	for (size_t i = 0; i < m->n; i++)
		m->member[i].pub.shift_ns = m->member[i].offset - least;
	return check_errors(m, r, err);
}
