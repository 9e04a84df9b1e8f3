/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Budgets: launch delay and busy time of devices. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "check/priv.h"
#include "model/procs.h"
#include "report/device.h"
#include "util/fmt.h"

static void explain(struct check_cx *x, struct check_result *r, enum check_advice_id id)
{
	if (r->state == CHECK_FAILED)
		check_advise(x, r, id);
}

static void check_delay(struct check_cx *x)
{
	struct check_result *r = check_add(x, "budget", "max-delay-p99");
	char p99[FMT_NUM], most[FMT_NUM], n[FMT_NUM];
	struct device *d;
	struct hist all = { 0 };
	uint64_t v, early = 0;

	if (check_blind(x, r, CHECK_EXECUTIONS))
		return;
	d = check_device(x);
	for (size_t i = 0; d && i < d->devices.n; i++) {
		const struct place *p = hmap__at(&d->devices, i);

		early += p->waits.early;
		if (hist__merge(&all, &p->waits.delay))
			x->rc = -ENOMEM;
	}
	check_source(x, r, "both observers: entry of the call, start of its first record on the device",
		     "one delay per call; the percentile is within 1 %");
	if (x->t.in.host_left_out)
		check_source(x, r,
			     "device observer alone: CUPTI's entry of the call, start of its first record",
			     "one delay per call; the percentile is within 1 %");
	check_figure(r, "calls", all.n);
	check_figure(r, "early", early);
	check_figure(r, "max_ns", x->c->delay_ns);
	if (!hist__quantile(&all, 0.99, &v)) {
		check_say(x, r, "no call was matched with what it started");
		check_advise(x, r, CHECK_ADVICE_DELAYS);
		return;
	}
	check_figure(r, "p99_ns", v);
	r->state = v <= x->c->delay_ns ? CHECK_PASSED : CHECK_FAILED;
	check_say(x, r, "launch delay p99 %s of %s calls, %s %s", fmt_ns(p99, v), fmt_count(n, all.n),
		  r->state == CHECK_PASSED ? "within" : "more than", fmt_ns(most, x->c->delay_ns));
	if (early)
		check_say(x, r, "; %" PRIu64 " records that start before their call are left out", early);
	explain(x, r, CHECK_ADVICE_WHICH_SLOW);
	hist__clear(&all);
}

/* What is missing can only add to what was busy: a pass stands, a fail may be the loss. */
static void busy_of(struct check_cx *x, const struct place *p)
{
	char subject[64], share[FMT_NUM], least[FMT_NUM], window[FMT_NUM];
	uint64_t all, missing = check_missing_executions(x) + p->unplaced;
	struct check_result *r;
	double busy;

	snprintf(subject, sizeof(subject), "min-busy device %" PRIu32 " of process %" PRIu32, p->device,
		 p->proc->tgid);
	r = check_add(x, "budget", subject);
	check_timing(x, r, CHECK_EXECUTIONS);
	all = p->busy.ran.last - p->busy.ran.first;
	if (!p->busy.ran.begun || !all) {
		check_say(x, r, "no record has times");
		check_advise_ledger(x, r);
		return;
	}
	busy = (double)p->busy.ran.above_zero / (double)all;
	check_figure(r, "busy_ns", p->busy.ran.above_zero);
	check_figure(r, "window_ns", all);
	check_figure_real(r, "busy", busy);
	check_figure_real(r, "min", x->c->busy);
	check_figure(r, "missing", missing);
	r->state = busy >= x->c->busy ? CHECK_PASSED : CHECK_FAILED;
	check_say(x, r, "busy %s of %s with work of this process (others are not seen), %s %s",
		  fmt_percent(share, busy), fmt_ns(window, all),
		  r->state == CHECK_PASSED ? "at least" : "less than", fmt_percent(least, x->c->busy));
	explain(x, r, CHECK_ADVICE_WHICH_IDLE);
	if (r->state == CHECK_FAILED && missing) {
		r->state = CHECK_NOT_EVALUABLE;
		check_say(x, r,
			  "; %" PRIu64 " executions are missing or have no time, and may have filled it",
			  missing);
		check_advise_ledger(x, r);
	}
}

static void check_busy(struct check_cx *x)
{
	struct device *d = check_device(x);

	if (!d || !d->devices.n) {
		struct check_result *r = check_add(x, "budget", "min-busy");

		if (!check_blind(x, r, CHECK_EXECUTIONS)) {
			check_say(x, r, "nothing ran on a device");
			check_advise(x, r, CHECK_ADVICE_SILENT);
		}
		return;
	}
	for (size_t i = 0; i < d->devices.n; i++)
		busy_of(x, hmap__at(&d->devices, i));
}

void check_budgets(struct check_cx *x)
{
	if (x->c->has_delay)
		check_delay(x);
	if (x->c->has_busy)
		check_busy(x);
}
