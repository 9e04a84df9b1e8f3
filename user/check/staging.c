/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Staging: which kinds of memory were allocated (R38). Zero is a finding only where somebody could have seen one: probes stood
 * at the entry points of that kind, from the start of the program.
 */
#include <inttypes.h>
#include <string.h>

#include "check/priv.h"

struct kind {
	uint64_t armed, refused, missing; /* entry points */
	uint64_t calls, failed;           /* by the counters, which lose nothing */
	uint64_t lost;                    /* of calls: no record */
};

static bool is_kind(const struct check_cx *x, uint32_t id, int kind)
{
	const struct api *a = apitab__get(x->t.in.tab, id);

	return a && a->cls == API_ALLOC && !strcmp(a->detail, mem_kind_names[kind]);
}

static void look(const struct check_cx *x, int kind, struct kind *k)
{
	const struct inspection *in = &x->t.in;

	memset(k, 0, sizeof(*k));
	for (size_t i = 0; i < in->meta->n_api; i++) {
		const Gpubpf__Api *a = in->meta->api[i];

		if (!is_kind(x, a->id, kind))
			continue;
		if (a->missing)
			k->missing++;
		else if (a->has_error && a->error)
			k->refused++;
		else
			k->armed++;
	}
	for (size_t i = 0; in->counts && i < in->counts->n_api; i++) {
		const Gpubpf__ApiCounts *n = in->counts->api[i];

		if (!is_kind(x, n->api, kind))
			continue;
		k->calls += n->entered;
		k->failed += n->failed;
		k->lost += n->lost_ring + n->lost_thread + n->lost_depth;
	}
}

static bool from_the_start(const Gpubpf__Meta *m)
{
	for (size_t i = 0; i < m->n_member; i++)
		if (!m->member[i]->mode || strcmp(m->member[i]->mode, "launch") != 0)
			return false;
	return m->n_member || (m->mode && !strcmp(m->mode, "launch"));
}

/* Why 0 is no zero; false: it is one. */
static bool no_evidence(struct check_cx *x, struct check_result *r, const struct kind *k)
{
	if (x->t.in.host_left_out) {
		check_say(x, r, "no evidence: the host observer was left out");
		check_advise(x, r, CHECK_ADVICE_HOST);
	} else if (!x->t.in.counts) {
		check_say(x, r, "no evidence: the capture holds no counters");
		check_advise_ledger(x, r);
	} else if (!k->armed || k->refused) {
		check_say(x, r,
			  "no evidence: of its entry points %" PRIu64 " were armed, %" PRIu64
			  " refused, %" PRIu64 " are not in the driver",
			  k->armed, k->refused, k->missing);
		check_advise(x, r, CHECK_ADVICE_ENTRY_POINTS);
	} else if (!from_the_start(x->t.in.meta)) {
		check_say(x, r,
			  "no evidence: none in the recording, and the recorder came to a program that ran");
		check_advise(x, r, CHECK_ADVICE_START);
	} else {
		return false;
	}
	return true;
}

static void check_kind(struct check_cx *x, int kind, enum check_wants wants)
{
	struct check_result *r = check_add(x, "staging", mem_kind_names[kind]);
	struct kind k;

	look(x, kind, &k);
	if (k.armed)
		check_source(x, r, "host observer: allocation calls, by counters that lose nothing",
			     "one count per call");
	if (!k.calls && no_evidence(x, r, &k))
		return;
	check_figure(r, "calls", k.calls);
	check_figure(r, "failed", k.failed);
	check_figure(r, "entry_points", k.armed);
	if (k.calls)
		check_say(x, r, "%" PRIu64 " calls that allocate, %" PRIu64 " of them failed", k.calls,
			  k.failed);
	else
		check_say(x, r, "a recorded zero: no call at %" PRIu64 " armed entry points", k.armed);
	check_say(x, r, "; %s", wants == CHECK_NONE ? "none is wanted" : "some are wanted");
	r->state = (wants == CHECK_SOME) == (k.calls > k.failed) ? CHECK_PASSED : CHECK_FAILED;
	if (r->state == CHECK_FAILED)
		check_advise(x, r, CHECK_ADVICE_WHICH_ALLOC);
}

void check_staging(struct check_cx *x)
{
	for (int i = 0; i < MEM_KINDS; i++)
		if (x->c->staging[i])
			check_kind(x, i, x->c->staging[i]);
}
