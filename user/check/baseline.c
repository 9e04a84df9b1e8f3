/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Against a baseline, by launch key (R24): budgets of single kernels, and that nothing takes longer than it did.
 *
 * A regression is found where the corrected test of user/compare/stats.h claims that a key takes longer, and its ratio is more
 * than what is allowed. None is there where the interval of the ratio ends below that, and a change of that size would have been
 * seen with the power that is asked for; or where the test claims that it takes less. What is neither is not evaluable: an absent finding is no proof (R32). Keys that the
 * baseline has not, that it alone has, and that are too few count as what they are (R31).
 */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/priv.h"
#include "check/samples.h"
#include "compare/evidence.h"
#include "inspect/jsonsafe.h"
#include "util/fmt.h"

#define COVERED 0.95 /* of the time of all kernels: what must be shown to be no slower */

static const char source[] = "device observer: kernel records of CUPTI, of both captures";
/* R29: what is compared across environments says so, wherever it stands. */
static void label(struct check_cx *x, struct check_result *r)
{
	if (x->environment != COMPARE_CONTROLLED)
		check_say(x, r, "; %s, non-causal: %s",
			  x->environment == COMPARE_CROSS_HOST ? "cross-host" : "cross-environment",
			  x->environment_why);
}

/* R29, R30. The evidence of both captures is that of `gpubpf diff`, and so is the verdict on it. */
static void judge_environments(struct check_cx *x)
{
	struct compare_evidence *here = NULL;

	if (!x->run->base_evidence)
		return;
	if (compare_evidence__of(&x->t.in, &here) ||
	    compare_evidence__judge(x->run->base_evidence, here, x->c->cross_environment, &x->environment,
				    &x->environment_why))
		x->rc = -ENOMEM;
	compare_evidence__free(here);
}

/* Whether the check ends here: there is no baseline, or it is no one's to compare with. */
static bool not_comparable(struct check_cx *x, struct check_result *r)
{
	if (!x->run->base) {
		check_say(x, r, "the baseline cannot be read: %s", x->run->base_error);
		check_advise(x, r, CHECK_ADVICE_BASELINE);
		return true;
	}
	if (check_blind(x, r, CHECK_EXECUTIONS))
		return true;
	if (x->run->base->several_kinds || check_several_kinds(x->t.in.meta)) {
		check_say(x, r, "devices of several kinds: launch keys of one are not those of another");
		check_advise(x, r, CHECK_ADVICE_ONE_KIND);
		return true;
	}
	if (!x->run->base->n) {
		check_say(x, r, "the baseline holds no kernel record with a name");
		check_advise(x, r, CHECK_ADVICE_DEVICE);
		return true;
	}
	json_object_set_new(r->figures, "environment", json_string(compare_verdict_name(x->environment)));
	json_object_set_new(r->figures, "causal", json_boolean(x->environment == COMPARE_CONTROLLED));
	json_object_set_new(r->figures, "environment_why",
			    json_safe_string(x->environment_why ? x->environment_why : ""));
	if (x->environment != COMPARE_INCONCLUSIVE)
		return false;
	check_say(x, r, "the two captures cannot be compared: %s",
		  x->environment_why ? x->environment_why : "");
	check_advise_ledger(x, r);
	check_advise(x, r, x->c->cross_environment ? CHECK_ADVICE_WHOLE : CHECK_ADVICE_ENVIRONMENT);
	return true;
}

/* ---- Budgets of kernels ---- */

static bool is_called(const struct check_sample *s, const char *name, bool pattern)
{
	if (pattern)
		return !fnmatch(name, s->display, 0) || !fnmatch(name, s->raw, 0);
	return !strcmp(s->display, name) || !strcmp(s->raw, name);
}

struct ratios {
	uint64_t keys, appeared, untimed;
	double worst;
	uint64_t a, b; /* medians of the worst */
	const char *key;
};

static int ratio_of(const struct check_samples *base, const struct check_sample *s, struct ratios *to)
{
	const struct check_sample *o = check_samples__find(base, s->key);
	size_t most = o && o->n > s->n ? o->n : s->n;
	uint64_t *room;
	double ratio;

	if (!o || !o->n || !s->n) {
		*(o ? &to->untimed : &to->appeared) += 1;
		return 0;
	}
	room = malloc(most * sizeof(*room));
	if (!room)
		return -ENOMEM;
	uint64_t b = check_sample__median(s, room), a = check_sample__median(o, room);

	free(room);
	if (!a) {
		to->untimed++;
		return 0;
	}
	ratio = (double)b / (double)a;
	if (!to->keys++ || ratio > to->worst) {
		to->worst = ratio;
		to->a = a;
		to->b = b;
		to->key = s->key;
	}
	return 0;
}

static void say_ratio(struct check_cx *x, struct check_result *r, const struct check_kernel *k,
		      const struct ratios *w)
{
	char a[FMT_NUM], b[FMT_NUM];

	r->state = w->worst <= k->ratio ? CHECK_PASSED : CHECK_FAILED;
	check_figure_real(r, "ratio", w->worst);
	check_figure_real(r, "max", k->ratio);
	check_figure(r, "median_ns", w->b);
	check_figure(r, "baseline_median_ns", w->a);
	check_figure(r, "launch_keys", w->keys);
	check_figure(r, "appeared", w->appeared);
	check_say(x, r,
		  "median %s, baseline %s: ratio %.4g, %s %.4g; the highest of %" PRIu64 " launch keys: %s",
		  fmt_ns(b, w->b), fmt_ns(a, w->a), w->worst,
		  r->state == CHECK_PASSED ? "within" : "more than", k->ratio, w->keys, w->key);
	if (w->appeared)
		check_say(x, r, "; %" PRIu64 " launch keys appeared, which have no ratio", w->appeared);
	label(x, r);
	if (r->state == CHECK_FAILED)
		check_advise(x, r, CHECK_ADVICE_WHICH_SLOW);
}

static void check_ratio(struct check_cx *x, const struct check_samples *here, const struct check_kernel *k)
{
	struct check_result *r = check_add(x, "budget", k->name);
	struct ratios w = { 0 };
	bool found = false;

	if (not_comparable(x, r))
		return;
	for (int pattern = 0; pattern < 2 && !found; pattern++)
		for (size_t i = 0; i < here->n; i++) {
			if (!is_called(&here->s[i], k->name, pattern))
				continue;
			found = true;
			/* of equal keys the first has the times */
			if ((!i || strcmp(here->s[i].key, here->s[i - 1].key) != 0) &&
			    ratio_of(x->run->base, &here->s[i], &w))
				x->rc = -ENOMEM;
		}
	check_source(x, r, source,
		     "one time per record, nanoseconds; medians of all records of a launch key");
	if (w.keys) {
		say_ratio(x, r, k, &w);
	} else {
		check_say(x, r,
			  found ? "no launch key of it is in both captures"
				: "no kernel of this name in the capture");
		check_advise(x, r, found ? CHECK_ADVICE_COMMON : CHECK_ADVICE_NO_SUCH_KERNEL);
	}
}

/* ---- No regression ---- */

struct pair {
	const struct check_sample *a, *b;
	struct stats_result s;
	double p;
};

struct verdicts {
	size_t keys, worse, fine, open, few, appeared, vanished;
	double worse_ns, fine_ns;
	double detectable;                 /* the largest of what is fine */
	const struct pair *worst, *widest; /* of the worse ones; of the open ones, by time */
};

static int fill(struct stats_blocks *to, const struct check_sample *s)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < s->n; i++)
		rc = stats_blocks__add(to, s->ns[i]);
	return rc;
}

static int compare(const struct check_config *c, struct pair *p)
{
	struct stats_blocks a = { 0 }, b = { 0 };
	const struct stats_blocks *va = &a, *vb = &b;
	struct stats_opts o = { .power = c->power };
	int rc = fill(&a, p->a);

	if (!rc)
		rc = fill(&b, p->b);
	if (!rc)
		rc = stats_compare(&(struct stats_arm){ &va, 1 }, &(struct stats_arm){ &vb, 1 }, &o, &p->s);
	stats_blocks__clear(&a);
	stats_blocks__clear(&b);
	return rc;
}

static void judge(const struct check_config *c, const struct pair *p, struct verdicts *t)
{
	const struct stats_opts o = { .power = c->power };
	enum stats_finding finding = stats_judge(&p->s, p->p, &o);
	double most = 1 + c->regression;

	t->keys++;
	if (p->s.unit == STATS_UNIT_NONE) {
		t->few++;
	} else if (finding == STATS_MORE && p->s.ratio > most) {
		t->worse++;
		t->worse_ns += (double)p->b->sum;
		if (!t->worst || p->s.ratio > t->worst->s.ratio)
			t->worst = p;
	} else if (finding == STATS_LESS || (p->s.high <= most && p->s.detectable <= c->regression)) {
		t->fine++;
		t->fine_ns += (double)p->b->sum;
		if (finding != STATS_LESS && p->s.detectable > t->detectable)
			t->detectable = p->s.detectable;
	} else {
		t->open++;
		if (!t->widest || p->b->sum > t->widest->b->sum)
			t->widest = p;
	}
}

static bool first_of_equals(const struct check_samples *s, size_t i)
{
	return !i || strcmp(s->s[i].key, s->s[i - 1].key) != 0;
}

static int compare_all(struct check_cx *x, const struct check_samples *here, struct pair *pair,
		       struct verdicts *t)
{
	const struct check_samples *base = x->run->base;
	double *p = calloc(here->n + 1, sizeof(*p));
	size_t n = 0, tests = 0;
	int rc = p ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < here->n; i++) {
		const struct check_sample *a = check_samples__find(base, here->s[i].key);

		if (!first_of_equals(here, i))
			continue;
		if (!a) {
			t->appeared++;
			continue;
		}
		pair[n] = (struct pair){ .a = a, .b = &here->s[i] };
		rc = compare(x->c, &pair[n]);
		if (pair[n].s.unit != STATS_UNIT_NONE)
			p[tests++] = pair[n].s.p;
		n++;
	}
	for (size_t i = 0; i < base->n; i++)
		t->vanished += first_of_equals(base, i) && !check_samples__find(here, base->s[i].key);
	if (!rc)
		rc = stats_holm(p, tests);
	tests = 0;
	for (size_t i = 0; !rc && i < n; i++) {
		if (pair[i].s.unit != STATS_UNIT_NONE)
			pair[i].p = p[tests++];
		judge(x->c, &pair[i], t);
	}
	free(p);
	return rc;
}

static void say_pair(struct check_cx *x, struct check_result *r, const struct pair *p)
{
	char d[FMT_NUM];

	check_say(x, r, "; ratio %.4g (%.4g to %.4g), one of %s would have been seen: %s", p->s.ratio,
		  p->s.low, p->s.high, fmt_percent(d, p->s.detectable), p->b->key);
	check_figure_real(r, "ratio", p->s.ratio);
	check_figure_real(r, "low", p->s.low);
	check_figure_real(r, "high", p->s.high);
	json_object_set_new(r->figures, "launch_key", json_string(p->b->key));
}

static void regression_figures(struct check_cx *x, struct check_result *r, const struct verdicts *t,
			       double covered)
{
	check_figure_real(r, "max_regression", x->c->regression);
	check_figure_real(r, "power", x->c->power);
	check_figure(r, "launch_keys", t->keys);
	check_figure(r, "slower", t->worse);
	check_figure(r, "not_slower", t->fine);
	check_figure(r, "not_shown", t->open);
	check_figure(r, "too_few", t->few);
	check_figure(r, "appeared", t->appeared);
	check_figure(r, "vanished", t->vanished);
	check_figure_real(r, "share_not_slower", covered);
	if (t->fine)
		check_figure_real(r, "detectable", t->detectable);
}

static void score(struct check_cx *x, struct check_result *r, const struct check_samples *here,
		  const struct verdicts *t)
{
	char most[FMT_NUM], power[FMT_NUM], share[FMT_NUM], seen[FMT_NUM];
	double covered = here->sum ? t->fine_ns / (double)here->sum : 0;

	regression_figures(x, r, t, covered);
	r->state = t->worse ? CHECK_FAILED : covered >= COVERED ? CHECK_PASSED : CHECK_NOT_EVALUABLE;
	fmt_percent(most, x->c->regression);
	fmt_percent(power, x->c->power);
	if (t->worse)
		check_say(x, r, "%zu of %zu launch keys are slower than the baseline by more than %s",
			  t->worse, t->keys, most);
	else if (covered >= COVERED)
		check_say(
			x, r,
			"no launch key is slower than the baseline by more than %s; one of %s would have been seen with a power of %s",
			most, fmt_percent(seen, t->detectable), power);
	else
		check_say(x, r,
			  "whether a launch key is slower by more than %s is not shown with a power of %s",
			  most, power);
	check_say(
		x, r,
		"; shown of %zu launch keys with %s of the kernel time; not shown %zu, too few launches %zu, appeared %zu, vanished %zu",
		t->fine, fmt_percent(share, covered), t->open, t->few, t->appeared, t->vanished);
	if (t->worst || t->widest)
		say_pair(x, r, t->worst ? t->worst : t->widest);
	label(x, r);
	if (r->state == CHECK_FAILED)
		check_advise(x, r, CHECK_ADVICE_WHICH_SLOW);
	else if (r->state == CHECK_NOT_EVALUABLE)
		check_advise(x, r, t->keys ? CHECK_ADVICE_LONGER : CHECK_ADVICE_COMMON);
}

static void check_regression(struct check_cx *x, const struct check_samples *here)
{
	struct check_result *r = check_add(x, "no-regression", NULL);
	struct verdicts t = { 0 };
	struct pair *pair;

	if (not_comparable(x, r))
		return;
	pair = calloc(here->n + 1, sizeof(*pair));
	if (!pair || compare_all(x, here, pair, &t)) {
		x->rc = -ENOMEM;
		free(pair);
		return;
	}
	check_source(
		x, r, source,
		"one time per record, nanoseconds; the unit of the test is a block of launches that follow each other");
	score(x, r, here, &t);
	free(pair);
}

void check_baseline(struct check_cx *x)
{
	struct check_samples *here = NULL;

	if (!x->c->baseline)
		return;
	judge_environments(x);
	if (check_samples__of(&x->t, &here)) {
		x->rc = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < x->c->nkernels; i++)
		if (x->c->kernels[i].has_ratio)
			check_ratio(x, here, &x->c->kernels[i]);
	if (check_config__asks_regression(x->c))
		check_regression(x, here);
	check_samples__free(here);
}
