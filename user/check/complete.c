/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completeness: a kernel ran as often as whoever knows the workload says (R33). Shortfall and excess are two numbers, both
 * positive; only the shortfall is held against the slack, and nothing is said of where an excess comes from.
 */
#include <inttypes.h>

#include "check/marks.h"

static const char *counted(enum check_population p)
{
	return p == CHECK_LAUNCHES ? "launches by the host observer" : "kernel records of the device";
}

static void score(struct check_cx *x, struct check_result *r, const struct check_kernel *k,
		  enum check_population p, const struct check_marks *m)
{
	uint64_t seen = check_marks__all(m), want = k->launches,
		 slack = k->has_slack ? k->slack : x->c->slack;
	uint64_t shortfall = seen < want ? want - seen : 0, excess = seen > want ? seen - want : 0;
	double ratio = (double)seen / (double)want;

	check_figure(r, "expected", want);
	check_figure(r, "seen", seen);
	check_figure(r, "shortfall", shortfall);
	check_figure(r, "excess", excess);
	check_figure(r, "slack", slack);
	check_figure_real(r, "dispatch_ratio", ratio);
	check_figure(r, "unresolved", m->unresolved);
	check_figure(r, "names", m->names);
	json_object_set_new(r->figures, "population",
			    json_string(p == CHECK_LAUNCHES ? "launches" : "executions"));
	r->state = shortfall > slack ? CHECK_FAILED : CHECK_PASSED;
	if (excess)
		check_say(x, r,
			  "overshoot: %" PRIu64 " %s, %" PRIu64 " expected: excess %" PRIu64
			  ", dispatch_ratio %.4g",
			  seen, counted(p), want, excess, ratio);
	else if (shortfall)
		check_say(x, r,
			  "%" PRIu64 " %s, %" PRIu64 " expected: shortfall %" PRIu64
			  ", %s the slack of %" PRIu64,
			  seen, counted(p), want, shortfall, shortfall > slack ? "more than" : "within",
			  slack);
	else
		check_say(x, r, "%" PRIu64 " %s, as expected", seen, counted(p));
	if (m->names > 1)
		check_say(x, r, "; %" PRIu64 " kernels fit the name", m->names);
	if (m->not_run)
		check_say(x, r, "; %" PRIu64 " more launches failed or were captured into a graph",
			  m->not_run);
}

/* What is not resolved may be this kernel: a name that is not known is no neighbour's, and no proof of absence (R9). */
static void explain(struct check_cx *x, struct check_result *r, const struct check_marks *m)
{
	json_t *shortfall = json_object_get(r->figures, "shortfall"),
	       *slack = json_object_get(r->figures, "slack");
	uint64_t lacking = (uint64_t)(json_integer_value(shortfall) - json_integer_value(slack));

	if (m->unresolved)
		check_say(x, r, "; %" PRIu64 " of no known name may be some of these", m->unresolved);
	if (r->state != CHECK_FAILED)
		return;
	if (m->unresolved >= lacking) {
		r->state = CHECK_NOT_EVALUABLE;
		check_advise(x, r, CHECK_ADVICE_NAMES);
	}
	if (!m->names)
		check_advise(x, r, CHECK_ADVICE_NO_SUCH_KERNEL);
	check_advise_ledger(x, r);
	if (!r->nadvice)
		check_advise(x, r, CHECK_ADVICE_WHICH_LAUNCH);
}

static void check_one(struct check_cx *x, const struct check_kernel *k)
{
	enum check_population p = check_population(x, x->c->count);
	struct check_result *r = check_add(x, "completeness", k->name);
	struct check_marks m = { 0 };

	if (check_blind(x, r, p))
		return;
	if (!check_marks__read(x, p, k->name, &m)) {
		score(x, r, k, p, &m);
		explain(x, r, &m);
		check_source(x, r,
			     p == CHECK_LAUNCHES ? "host observer: launch calls (uprobes in libcuda)"
						 : "device observer: kernel records of CUPTI",
			     p == CHECK_LAUNCHES ? "one record per call" : "one record per execution");
	}
	check_marks__clear(&m);
}

void check_completeness(struct check_cx *x)
{
	for (size_t i = 0; i < x->c->nkernels; i++)
		if (x->c->kernels[i].has_launches)
			check_one(x, &x->c->kernels[i]);
}
