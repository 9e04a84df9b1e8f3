// SPDX-License-Identifier: GPL-2.0-or-later
/* Metrics: one line, sums over the whole capture. What nobody measured is not there. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>

#include "export/otlp.h"
#include "report/device.h"

#define CUMULATIVE 2

/* Bounds of the histogram: 2^k - 1 ns, so that counts of whole nanoseconds are exact. 1 us … 17 s */
#define FIRST_BOUND 10
#define LAST_BOUND 34

struct metrics {
	struct otlp *o;
	FILE *f;
	uint64_t start;
	bool some_metric, some_point;
};

static void begin_metric(struct metrics *m, const char *name, const char *unit, const char *what,
			 const char *kind)
{
	fprintf(m->f, "%s{\"name\":\"%s\",\"unit\":\"%s\",\"description\":\"%s\",\"%s\":{\"dataPoints\":[",
		m->some_metric ? "," : "", name, unit, what, kind);
	m->some_metric = true;
	m->some_point = false;
}

static void end_sum(struct metrics *m)
{
	fprintf(m->f, "],\"aggregationTemporality\":%d,\"isMonotonic\":true}}", CUMULATIVE);
}

static void begin_point(struct metrics *m, struct otlp_attrs *a)
{
	fprintf(m->f, "%s{\"startTimeUnixNano\":\"%" PRIu64 "\",\"timeUnixNano\":\"%" PRIu64 "\",",
		m->some_point ? "," : "", m->start, m->o->seen_at);
	m->some_point = true;
	otlp_attrs__begin(a, m->f, "attributes");
}

/* The format's integers are signed. */
static void end_point(struct metrics *m, struct otlp_attrs *a, uint64_t value)
{
	otlp_attrs__end(a);
	fprintf(m->f, ",\"asInt\":\"%" PRIu64 "\"}", value < INT64_MAX ? value : INT64_MAX);
}

static void point(struct metrics *m, const char *key, const char *word, uint64_t value)
{
	struct otlp_attrs a;

	begin_point(m, &a);
	otlp_attrs__text(&a, key, word);
	end_point(m, &a, value);
}

static void point2(struct metrics *m, const char *population, const char *key, const char *word,
		   uint64_t value)
{
	struct otlp_attrs a;

	begin_point(m, &a);
	otlp_attrs__text(&a, "gpubpf.population", population);
	otlp_attrs__text(&a, key, word);
	end_point(m, &a, value);
}

/* ---- The ledger ---- */

static void put_calls(struct metrics *m, const struct ledger *l)
{
	static const struct {
		const char *name;
		size_t at;
	} lost[] = { { "ring", offsetof(struct ledger_line, lost_ring) },
		     { "thread", offsetof(struct ledger_line, lost_thread) },
		     { "depth", offsetof(struct ledger_line, lost_depth) },
		     { "writer", offsetof(struct ledger_line, lost_writer) } };

	if (!l->has_counts || l->host_left_out)
		return;
	begin_metric(m, "gpubpf.calls", "{call}",
		     "API calls made by the application, by counters that lose nothing", "sum");
	for (unsigned i = 0; i < API_POPULATIONS; i++)
		point(m, "gpubpf.population", l->line[i].population, l->line[i].calls - l->line[i].nested);
	end_sum(m);
	begin_metric(m, "gpubpf.calls.failed", "{call}", "Of these: returned an error", "sum");
	for (unsigned i = 0; i < API_POPULATIONS; i++)
		point(m, "gpubpf.population", l->line[i].population, l->line[i].failed);
	end_sum(m);
	begin_metric(m, "gpubpf.calls.lost", "{call}", "Calls, nested ones too, whose record was lost",
		     "sum");
	for (unsigned i = 0; i < API_POPULATIONS; i++)
		for (unsigned k = 0; k < sizeof(lost) / sizeof(lost[0]); k++)
			point2(m, l->line[i].population, "gpubpf.reason", lost[k].name,
			       *(const uint64_t *)(const void *)((const char *)&l->line[i] + lost[k].at));
	end_sum(m);
}

#define TERM(word)                                                                                           \
	{                                                                                                    \
#word, offsetof(struct ledger_device_line, word)                                             \
	}

static void put_terms(struct metrics *m, const struct ledger *l)
{
	static const struct {
		const char *name;
		size_t at;
	} terms[] = { TERM(matched),         TERM(failed),     TERM(captured),     TERM(no_work),
		      TERM(device_launched), TERM(outside),    TERM(invalid_time), TERM(in_flight),
		      TERM(abandoned),       TERM(lost_ring),  TERM(lost_shim),    TERM(dropped),
		      TERM(ambiguous),       TERM(unexplained) };

	if (l->device.state < LEDGER_DEVICE_SILENT)
		return;
	begin_metric(m, "gpubpf.device.calls", "{call}",
		     "What became of the calls that ask for work, each in one term, by both observers",
		     "gauge");
	for (unsigned i = 0; i < JOIN_POPULATIONS; i++)
		for (unsigned k = 0; k < sizeof(terms) / sizeof(terms[0]); k++)
			if (ledger_device_measured(l, terms[k].at))
				point2(m, l->device.line[i].population, "gpubpf.term", terms[k].name,
				       *(const uint64_t *)(const void *)((const char *)&l->device.line[i] +
									 terms[k].at));
	fputs("]}}", m->f);
}

static void put_losses(struct metrics *m, const struct ledger *l)
{
	begin_metric(m, "gpubpf.losses", "1",
		     "What is known to be missing, by reason; 0: the reason has no number", "gauge");
	for (unsigned i = 0; i < l->nreasons; i++)
		point(m, "gpubpf.reason", l->reason[i].code, l->reason[i].count);
	fputs("]}}", m->f);
	begin_metric(m, "gpubpf.verdict", "1", "1 for the capture's verdict, 0 for each other", "gauge");
	for (enum ledger_verdict v = LEDGER_NOT_EVALUABLE; v <= LEDGER_RECONCILED; v++)
		point(m, "gpubpf.verdict", ledger_verdict_name(v), l->verdict == v);
	fputs("]}}", m->f);
}

/* ---- The devices ---- */

static void put_executions(struct metrics *m, const struct device *d, const struct join *j)
{
	static const enum gpubpf_activity_kind kinds[RAN_KINDS] = { GPUBPF_ACTIVITY_KERNEL,
								    GPUBPF_ACTIVITY_COPY,
								    GPUBPF_ACTIVITY_SET };
	uint64_t ns[RAN_KINDS] = { 0 }, bytes[RAN_KINDS] = { 0 };
	struct otlp_attrs a;

	for (size_t i = 0; i < d->keys.n; i++) {
		const struct ran *r = hmap__at(&d->keys, i);
		enum ran_kind kind = ran_kind(join__key(j, r->key[0])->kind);

		if (kind == RAN_KINDS)
			continue;
		ns[kind] += r->time.sum;
		bytes[kind] += r->bytes;
	}
	begin_metric(m, "gpubpf.executions", "{execution}",
		     "Kernels, copies and sets that ran, nodes of graphs too", "sum");
	for (unsigned k = 0; k < RAN_KINDS; k++)
		for (unsigned t = 0; t < JOIN_TIMES; t++) {
			begin_point(m, &a);
			otlp_attrs__text(&a, "gpubpf.kind", join_kind_name(kinds[k]));
			otlp_attrs__text(&a, "gpubpf.timing.quality", join_time_name(t));
			end_point(m, &a, d->times[k].by[t]);
		}
	end_sum(m);
	begin_metric(m, "gpubpf.execution.time", "ns",
		     "Durations of these, added up, where they were measured", "sum");
	for (unsigned k = 0; k < RAN_KINDS; k++)
		point(m, "gpubpf.kind", join_kind_name(kinds[k]), ns[k]);
	end_sum(m);
	begin_metric(m, "gpubpf.execution.bytes", "By", "Bytes that copies and sets moved and wrote", "sum");
	for (unsigned k = RAN_COPY; k < RAN_KINDS; k++)
		point(m, "gpubpf.kind", join_kind_name(kinds[k]), bytes[k]);
	end_sum(m);
}

static void begin_place(struct metrics *m, const struct place *p, struct otlp_attrs *a)
{
	begin_point(m, a);
	otlp_attrs__int(a, "process.pid", p->proc->tgid);
	if (p->proc->key[1])
		otlp_attrs__int(a, "gpubpf.process.earlier_lives", p->proc->key[1]);
	otlp_attrs__int(a, "gpubpf.device", p->device);
}

static void put_histogram(struct metrics *m, const struct place *p)
{
	const struct hist *h = &p->waits.delay;
	struct otlp_attrs a;
	uint64_t below = 0;

	begin_place(m, p, &a);
	otlp_attrs__end(&a);
	fprintf(m->f, ",\"count\":\"%" PRIu64 "\",\"sum\":%" PRIu64, h->n, h->sum);
	if (h->n)
		fprintf(m->f, ",\"min\":%" PRIu64 ",\"max\":%" PRIu64, h->min, h->max);
	fputs(",\"bucketCounts\":[", m->f);
	for (unsigned k = FIRST_BOUND; k <= LAST_BOUND; k++) {
		uint64_t upto = h->n - hist__from(h, UINT64_C(1) << k);

		fprintf(m->f, "\"%" PRIu64 "\",", upto - below);
		below = upto;
	}
	fprintf(m->f, "\"%" PRIu64 "\"],\"explicitBounds\":[", h->n - below);
	for (unsigned k = FIRST_BOUND; k <= LAST_BOUND; k++)
		fprintf(m->f, "%s%" PRIu64, k == FIRST_BOUND ? "" : ",", (UINT64_C(1) << k) - 1);
	fputs("]}", m->f);
}

static void put_places(struct metrics *m, const struct device *d)
{
	struct otlp_attrs a;

	begin_metric(m, "gpubpf.device.busy_time", "ns",
		     "Time in which something of this process ran on the device, and nothing else is seen",
		     "sum");
	for (size_t i = 0; i < d->devices.n; i++) {
		const struct place *p = hmap__at(&d->devices, i);

		begin_place(m, p, &a);
		end_point(m, &a, p->busy.ran.above_zero);
	}
	end_sum(m);
	begin_metric(m, "gpubpf.launch.delay", "ns",
		     "Entry of a call to the start of the first thing that it started on the device",
		     "histogram");
	for (size_t i = 0; i < d->devices.n; i++)
		put_histogram(m, hmap__at(&d->devices, i));
	fprintf(m->f, "],\"aggregationTemporality\":%d}}", CUMULATIVE);
}

int otlp_metrics(struct otlp *o, struct err *err)
{
	const struct ledger *l = &o->t->in.ledger;
	struct metrics m = { .o = o, .f = o->out->f };
	struct device *d = NULL;
	int rc = 0;

	(void)err;
	wall__at(&o->wall, o->t->start, &m.start); /* as when it was opened */
	if (o->t->in.join && l->device.state != LEDGER_DEVICE_FAILED) {
		rc = device__new(&(struct device_opts){ 0 }, &d);
		if (!rc)
			rc = device__read(d, o->t->in.join);
	}
	if (rc)
		goto out;
	fputs("{\"resourceMetrics\":[{", m.f);
	otlp__resource(o, NULL, m.f);
	fputs(",\"scopeMetrics\":[{", m.f);
	otlp__scope(m.f);
	fputs(",\"metrics\":[", m.f);
	put_calls(&m, l);
	put_terms(&m, l);
	if (d) {
		put_executions(&m, d, o->t->in.join);
		put_places(&m, d);
	}
	put_losses(&m, l);
	fputs("]}]}]}\n", m.f);
out:
	device__free(d);
	return rc;
}
