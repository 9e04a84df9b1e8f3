/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "check/priv.h"
#include "check/samples.h"
#include "compare/evidence.h"
#include "report/device.h"
#include "util/err.h"

static const struct {
	const char *missing, *command;
} advices[] = {
#define X(name, missing, command) { missing, command },
	CHECK_ADVICES(X)
#undef X
};

void check_run__init(struct check_run *r, const struct check_config *c)
{
	memset(r, 0, sizeof(*r));
	r->c = c;
}

static void clear_result(struct check_result *r)
{
	free(r->subject);
	free(r->text);
	free(r->source);
	free(r->granularity);
	json_decref(r->figures);
	for (unsigned i = 0; i < r->nadvice; i++) {
		free(r->advice[i].missing);
		free(r->advice[i].command);
	}
	memset(r, 0, sizeof(*r));
}

void check_run__clear(struct check_run *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct check_capture *c = &r->capture[i];

		for (size_t k = 0; k < c->n; k++)
			clear_result(&c->result[k]);
		free(c->result);
		free(c->path);
		free(c->headline);
	}
	free(r->capture);
	check_samples__free(r->base);
	compare_evidence__free(r->base_evidence);
	free(r->base_error);
	memset(r, 0, sizeof(*r));
}

/* ---- Results ---- */

static void no_memory(struct check_cx *x)
{
	x->rc = -ENOMEM;
}

struct check_result *check_add(struct check_cx *x, const char *check, const char *subject)
{
	struct check_capture *c = x->to;
	struct check_result *r = x->spare;

	if (c->n == c->room) {
		size_t room = c->room ? c->room * 2 : 8;
		struct check_result *more = realloc(c->result, room * sizeof(*more));

		if (more) {
			c->result = more;
			c->room = room;
		}
	}
	if (c->n < c->room)
		r = &c->result[c->n++];
	else
		clear_result(r);
	if (r == x->spare)
		no_memory(x);
	memset(r, 0, sizeof(*r));
	r->check = check;
	r->subject = subject ? strdup(subject) : NULL;
	r->text = strdup("");
	r->figures = json_object();
	if ((subject && !r->subject) || !r->text || !r->figures)
		no_memory(x);
	return r;
}

void check_say(struct check_cx *x, struct check_result *r, const char *fmt, ...)
{
	char *more = NULL, *both = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&more, fmt, ap);
	va_end(ap);
	if (n < 0)
		more = NULL;
	if (!more || asprintf(&both, "%s%s", r->text ? r->text : "", more) < 0)
		no_memory(x);
	else {
		free(r->text);
		r->text = both;
	}
	free(more);
}

void check_source(struct check_cx *x, struct check_result *r, const char *source, const char *granularity)
{
	free(r->source);
	free(r->granularity);
	r->source = strdup(source);
	r->granularity = strdup(granularity);
	if (!r->source || !r->granularity)
		no_memory(x);
}

void check_advise_text(struct check_cx *x, struct check_result *r, const char *missing, const char *command)
{
	struct check_advice *a = &r->advice[r->nadvice];

	for (unsigned i = 0; i < r->nadvice; i++)
		if (r->advice[i].missing && !strcmp(r->advice[i].missing, missing))
			return;
	if (r->nadvice == CHECK_ADVICE_MAX)
		return;
	a->missing = strdup(missing);
	a->command = command && command[0] ? strdup(command) : NULL;
	r->nadvice++;
	if (!a->missing || (command && command[0] && !a->command))
		no_memory(x);
}

void check_advise(struct check_cx *x, struct check_result *r, enum check_advice_id id)
{
	check_advise_text(x, r, advices[id].missing, advices[id].command);
}

void check_advise_ledger(struct check_cx *x, struct check_result *r)
{
	const struct ledger *l = &x->t.in.ledger;

	for (unsigned i = 0; i < l->nreasons; i++)
		check_advise_text(x, r, l->reason[i].text, l->reason[i].remedy);
}

void check_figure(struct check_result *r, const char *name, uint64_t v)
{
	json_object_set_new(r->figures, name, json_integer((json_int_t)v));
}

void check_figure_real(struct check_result *r, const char *name, double v)
{
	json_object_set_new(r->figures, name, json_real(v));
}

/* ---- What checks share ---- */

bool check_has_device(const struct check_cx *x)
{
	enum ledger_device_state s = x->t.in.ledger.device.state;

	return x->t.in.join && (s == LEDGER_DEVICE_PARTIAL || s == LEDGER_DEVICE_WHOLE);
}

enum check_population check_population(const struct check_cx *x, enum check_population asked)
{
	if (asked != CHECK_AUTO)
		return asked;
	return check_has_device(x) || x->t.in.host_left_out ||
			       x->t.in.ledger.device.state == LEDGER_DEVICE_SILENT
		       ? CHECK_EXECUTIONS
		       : CHECK_LAUNCHES;
}

bool check_sees(const struct check_cx *x, enum check_population p)
{
	return p == CHECK_LAUNCHES ? !x->t.in.host_left_out : check_has_device(x);
}

bool check_blind(struct check_cx *x, struct check_result *r, enum check_population p)
{
	if (check_sees(x, p))
		return false;
	if (p == CHECK_LAUNCHES) {
		check_say(x, r, "the host observer was left out: its calls were not counted");
		check_advise(x, r, CHECK_ADVICE_HOST);
		return true;
	}
	if (x->t.in.ledger.device.state == LEDGER_DEVICE_SILENT) {
		check_say(x, r, "the device observer was armed and delivered no record at all");
		check_advise(x, r, CHECK_ADVICE_SILENT);
		return true;
	}
	check_say(x, r, "no device observer in this capture: what ran was not seen");
	check_advise(x, r, CHECK_ADVICE_DEVICE);
	return true;
}

void check_timing(struct check_cx *x, struct check_result *r, enum check_population p)
{
	const struct join_totals *t = x->t.in.join ? join__totals(x->t.in.join) : NULL;
	char granularity[160];

	if (p == CHECK_LAUNCHES) {
		check_source(x, r, "host observer: entries of launch calls (uprobes in libcuda)",
			     "one time per call, nanoseconds of CLOCK_MONOTONIC");
		return;
	}
	if (t && t->has_clock_error)
		snprintf(granularity, sizeof(granularity),
			 "one time per record, nanoseconds; off CLOCK_MONOTONIC by at most %" PRIu64 " ns",
			 t->clock_error_ns);
	else
		snprintf(granularity, sizeof(granularity),
			 "one time per record, nanoseconds; no bound of its clock's error is known");
	check_source(x, r,
		     p == CHECK_NVTX
			     ? "device observer: NVTX marks and starts of ranges, as CUPTI stamps them"
			     : "device observer: kernel records of CUPTI",
		     granularity);
}

uint64_t check_missing_executions(const struct check_cx *x)
{
	const struct ledger_device_line *t = &x->t.in.ledger.device.total;

	return t->lost_ring + t->lost_shim + t->dropped + t->invalid_time + t->outside + t->in_flight +
	       (t->unexplained > 0 ? (uint64_t)t->unexplained : 0);
}

struct device *check_device(struct check_cx *x)
{
	if (!x->dev && check_has_device(x)) {
		if (device__new(&(struct device_opts){ 0 }, &x->dev) || device__read(x->dev, x->t.in.join)) {
			no_memory(x);
			device__free(x->dev);
			x->dev = NULL;
		}
	}
	return x->dev;
}

/* ---- A capture ---- */

/* R1: whatever a capture without a record says, it is not healthy and no measurement. */
static void nothing_counts(struct check_cx *x)
{
	struct check_capture *c = x->to;

	for (size_t i = 0; i < c->n; i++) {
		struct check_result *r = &c->result[i];
		char *text = NULL;

		if (asprintf(&text, "the capture is empty%s%s", r->text && r->text[0] ? "; " : "",
			     r->text ? r->text : "") < 0)
			text = NULL;
		if (!text)
			no_memory(x);
		free(r->text);
		r->text = text;
		r->state = CHECK_NOT_EVALUABLE;
		check_advise(x, r, CHECK_ADVICE_CALLS);
	}
}

static void check_all(struct check_cx *x)
{
	const struct ledger *l = &x->t.in.ledger;
	char headline[768];

	ledger_headline(l, headline, sizeof(headline));
	x->to->headline = strdup(headline);
	x->to->verdict = ledger_verdict_name(l->verdict);
	if (!x->to->headline)
		no_memory(x);
	check_evidence(x);
	check_ledger(x);
	check_readiness(x);
	check_completeness(x);
	check_stationarity(x);
	check_nested(x);
	check_staging(x);
	check_budgets(x);
	check_baseline(x);
	if (l->verdict == LEDGER_EMPTY)
		nothing_counts(x);
}

int check_run__capture(struct check_run *r, const char *path, struct err *err)
{
	struct check_capture *more = realloc(r->capture, (r->n + 1) * sizeof(*more));
	struct check_result spare = { 0 }, *bad;
	struct check_cx x = { .run = r, .c = r->c, .err = err, .spare = &spare };
	int rc;

	if (!more)
		return err_set(err, -ENOMEM, "out of memory");
	r->capture = more;
	x.to = &more[r->n++];
	memset(x.to, 0, sizeof(*x.to));
	x.to->path = strdup(path);
	if (!x.to->path)
		return err_set(err, -ENOMEM, "out of memory");
	rc = trace__open(&x.t, path, &(struct model_opts){ 0 }, err);
	if (!rc)
		check_all(&x);
	/* a second pass may find what the first did not: the file is another by then */
	if (rc || (x.rc && x.rc != -ENOMEM)) {
		bad = check_add(&x, "capture", NULL);
		check_say(&x, bad, "it cannot be read: %s", err->msg);
		check_advise(&x, bad, CHECK_ADVICE_CAPTURE);
	}
	device__free(x.dev);
	free(x.environment_why);
	trace__close(&x.t);
	clear_result(&spare);
	if (rc == -ENOMEM || x.rc == -ENOMEM)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	err->msg[0] = '\0';
	return 0;
}

int check_run__baseline(struct check_run *r, struct err *err)
{
	struct trace t;
	int rc;

	if (!r->c->baseline)
		return 0;
	rc = trace__open(&t, r->c->baseline, &(struct model_opts){ 0 }, err);
	if (!rc)
		rc = compare_evidence__of(&t.in, &r->base_evidence);
	if (!rc)
		rc = check_samples__of(&t, &r->base);
	trace__close(&t);
	if (rc == -ENOMEM)
		return err_set(err, rc, "%s: out of memory", r->c->baseline);
	if (!rc)
		return 0;
	r->base_error = strdup(err->msg);
	err->msg[0] = '\0';
	return r->base_error ? 0 : -ENOMEM;
}

void check_run__finish(struct check_run *r)
{
	memset(r->count, 0, sizeof(r->count));
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->capture[i].n; k++)
			r->count[r->capture[i].result[k].state]++;
	r->state = r->count[CHECK_FAILED]                                     ? CHECK_FAILED
		   : r->count[CHECK_NOT_EVALUABLE] || !r->count[CHECK_PASSED] ? CHECK_NOT_EVALUABLE
									      : CHECK_PASSED;
}

int check_run__status(const struct check_run *r)
{
	return r->state == CHECK_PASSED ? 0 : r->state == CHECK_FAILED ? 1 : 2;
}
