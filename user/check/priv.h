/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One capture while it is checked. */
#ifndef GPUBPF_CHECK_PRIV_H
#define GPUBPF_CHECK_PRIV_H

#include "check/check.h"
#include "compare/compare.h"
#include "trace/trace.h"

struct device;

struct check_cx {
	struct check_run *run;
	const struct check_config *c;
	struct check_capture *to;
	struct trace t;
	struct err *err;
	struct device *dev;               /* made when first asked for: check_device() */
	struct check_result *spare;       /* for what found no memory */
	enum compare_verdict environment; /* against the baseline's */
	char *environment_why;
	int rc; /* -ENOMEM, and it stays */
};

/* A result of this capture, not evaluable so far: never NULL, and good until the next one is added. */
struct check_result *check_add(struct check_cx *x, const char *check, const char *subject);
/* Adds to the text. */
void check_say(struct check_cx *x, struct check_result *r, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void check_source(struct check_cx *x, struct check_result *r, const char *source, const char *granularity);
void check_advise(struct check_cx *x, struct check_result *r, enum check_advice_id id);
void check_advise_text(struct check_cx *x, struct check_result *r, const char *missing, const char *command);
/* The ledger's reasons, and what it says to each. */
void check_advise_ledger(struct check_cx *x, struct check_result *r);
void check_figure(struct check_result *r, const char *name, uint64_t v);
void check_figure_real(struct check_result *r, const char *name, double v);

/* Kernel records (executions) or launches of the host, with these words in the results. */
enum check_population check_population(const struct check_cx *x, enum check_population asked);
bool check_has_device(const struct check_cx *x); /* it was armed and delivered records */
bool check_sees(const struct check_cx *x, enum check_population p);
/* Why nothing can be said of this population: says it and is true. */
bool check_blind(struct check_cx *x, struct check_result *r, enum check_population p);
void check_timing(struct check_cx *x, struct check_result *r, enum check_population p);
/* What is known to be missing of what ran: busy times and counts are then lower bounds. */
uint64_t check_missing_executions(const struct check_cx *x);
struct device *check_device(struct check_cx *x); /* NULL: no device observer, or no memory (x->rc) */

/* Each adds its results. */
void check_evidence(struct check_cx *x); /* whatever is asked: unexplained launches, shortfall of graphs */
void check_ledger(struct check_cx *x);
void check_readiness(struct check_cx *x);
void check_completeness(struct check_cx *x);
void check_stationarity(struct check_cx *x);
void check_nested(struct check_cx *x);
void check_staging(struct check_cx *x);
void check_budgets(struct check_cx *x);
void check_baseline(struct check_cx *x);

#endif
