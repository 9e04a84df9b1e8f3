// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>

#include "inspect/device.h"
#include "model/procs.h"
#include "usdt/contract.h"
#include "util/fmt.h"

#define SESSIONS_SHOWN 20
#define VIOLATIONS_SHOWN 5

#define TERM(key, head)                                                                                      \
	{                                                                                                    \
#key, head, offsetof(struct ledger_device_line, key)                                         \
	}
const struct device_term device_terms[DEVICE_TERMS] = {
	TERM(matched, "matched"),           TERM(failed, "failed"),
	TERM(captured, "captured"),         TERM(no_work, "no work"),
	TERM(outside, "not watched"),       TERM(invalid_time, "no valid time"),
	TERM(in_flight, "in flight"),       TERM(abandoned, "abandoned"),
	TERM(lost_ring, "lost: ring"),      TERM(lost_shim, "lost: shim"),
	TERM(dropped, "dropped by CUPTI"),  TERM(ambiguous, "ambiguous"),
	TERM(device_launched, "by device"),
};

const char *inspect_session_state(enum join_session_state s)
{
	static const char *const names[] = {
		[JOIN_SESSION_FAILED] = "failed",
		[JOIN_SESSION_OPEN] = "no end",
		[JOIN_SESSION_ENDED] = "ended",
	};

	return names[s];
}

static int number(struct fmt_table *t, uint64_t n)
{
	char buf[FMT_NUM];

	return fmt_table__cell(t, fmt_count(buf, n));
}

static uint64_t term(const struct ledger_device_line *n, unsigned i)
{
	return *(const uint64_t *)((const char *)n + device_terms[i].offset);
}

static int print(struct fmt_table *t, FILE *f, int r)
{
	if (!r)
		fmt_table__print(t, f, 2, 0, fmt_color(f));
	fmt_table__free(t);
	return r ? -ENOMEM : 0;
}

static struct fmt_table *table(unsigned columns, unsigned left)
{
	struct fmt_table *t = fmt_table__new(columns);

	for (unsigned i = left; t && i < columns; i++)
		fmt_table__align(t, i, FMT_RIGHT);
	return t;
}

static int ledger_row(struct fmt_table *t, const struct ledger_device_line *n,
		      const struct ledger_device_line *total)
{
	char buf[24];
	int r = fmt_table__cell(t, n->population);

	if (!r)
		r = number(t, n->calls);
	for (unsigned i = 0; !r && i < DEVICE_TERMS; i++)
		if (i == 0 || term(total, i))
			r = number(t, term(n, i));
	snprintf(buf, sizeof(buf), "%" PRId64, n->unexplained);
	if (!r)
		r = fmt_table__cell(t, buf);
	return r ? r : number(t, n->executions);
}

static int ledger(const struct inspection *s, FILE *f)
{
	const struct ledger_device *d = &s->ledger.device;
	unsigned columns = 4, shown = 0;
	struct fmt_table *t;
	int r;

	for (unsigned i = 0; i < DEVICE_TERMS; i++)
		shown += i == 0 || term(&d->total, i);
	if (s->host_left_out)
		fputs("\nLedger of calls that ask the device for work, as the device observer counted them (host observer: left out);\n"
		      "calls = the columns behind it but the last; executions: what ran for them on the device; captured into a graph,\n"
		      "no work, not watched, abandoned: not measured\n",
		      f);
	else
		fputs("\nLedger of calls that ask the device for work (by the application itself), joined from both observers by this reader;\n"
		      "calls = the columns behind it but the last; executions: what ran for them on the device\n",
		      f);
	t = table(columns + shown, 1);
	if (!t)
		return -ENOMEM;
	r = fmt_table__cell(t, "population") || fmt_table__cell(t, "calls");
	for (unsigned i = 0; !r && i < DEVICE_TERMS; i++)
		if (i == 0 || term(&d->total, i))
			r = fmt_table__cell(t, device_terms[i].head);
	if (!r)
		r = fmt_table__cell(t, "unexplained") || fmt_table__cell(t, "executions");
	for (unsigned p = 0; !r && p < JOIN_POPULATIONS; p++)
		r = ledger_row(t, &d->line[p], &d->total);
	if (!r)
		r = ledger_row(t, &d->total, &d->total);
	return print(t, f, r);
}

static int session_row(struct fmt_table *t, const struct join_session *s)
{
	char buf[FMT_NUM], text[96];
	const char *why = s->reason ? join_reason_name(s->reason) : NULL;
	int r;

	snprintf(text, sizeof(text), "%u", s->proc->tgid);
	r = fmt_table__cell(t, text);
	snprintf(text, sizeof(text), "%u", s->number);
	if (!r)
		r = fmt_table__cell(t, text) ||
		    fmt_table__cell(t, why ? why : inspect_session_state(s->state));
	if (!r)
		r = fmt_table__cell(t, !s->has_hello                            ? "not known"
				       : s->hello.arming == GPUBPF_ARMED_INLINE ? "at start"
				       : s->hello.arming == GPUBPF_ARMED_ATTACH ? "by attach"
										: "not known");
	snprintf(text, sizeof(text), "%u", s->hello.cupti_version);
	if (!r)
		r = fmt_table__cell(t, s->has_hello && s->hello.cupti_version ? text : "not known");
	if (!r)
		r = fmt_table__cell(t, s->state == JOIN_SESSION_ENDED && s->ended >= s->armed_at
					       ? fmt_ns(buf, s->ended - s->armed_at)
					       : "-");
	if (!r)
		r = number(t, s->calls) || number(t, s->activities);
	return r ? r
		 : fmt_table__cell(t, s->has_clock_error ? fmt_ns(buf, s->clock_error_ns) : "not measured");
}

static int sessions(const struct inspection *s, FILE *f)
{
	size_t n = join__sessions(s->join);
	struct fmt_table *t;
	int r;

	fprintf(f, "\nSessions of the device observer (%zu)\n", n);
	if (!n)
		return 0;
	t = table(9, 5);
	if (!t)
		return -ENOMEM;
	r = fmt_table__cell(t, "pid") || fmt_table__cell(t, "session") || fmt_table__cell(t, "state") ||
	    fmt_table__cell(t, "armed") || fmt_table__cell(t, "CUPTI") || fmt_table__cell(t, "lasted") ||
	    fmt_table__cell(t, "calls") || fmt_table__cell(t, "records") || fmt_table__cell(t, "clock error");
	for (size_t i = 0; !r && i < n && i < SESSIONS_SHOWN; i++)
		r = session_row(t, join__session(s->join, i));
	r = print(t, f, r);
	if (n > SESSIONS_SHOWN)
		fprintf(f, "  %zu more (--json has all)\n", n - SESSIONS_SHOWN);
	return r;
}

static int times(const struct join_totals *t, FILE *f)
{
	struct fmt_table *tab = table(7, 1);
	int r;

	if (!tab)
		return -ENOMEM;
	fputs("\nRecords of what ran, by kind, and whether their times hold\n", f);
	r = fmt_table__cell(tab, "kind") || fmt_table__cell(tab, "records") ||
	    fmt_table__cell(tab, "valid") || fmt_table__cell(tab, "0 to 0") ||
	    fmt_table__cell(tab, "end first") || fmt_table__cell(tab, "outside session") ||
	    fmt_table__cell(tab, "own clock");
	for (unsigned k = GPUBPF_ACTIVITY_KERNEL; !r && k <= GPUBPF_ACTIVITY_OVERHEAD; k++) {
		const struct join_times *n = &t->times[k];

		if (!n->records && k > GPUBPF_ACTIVITY_SET)
			continue;
		r = fmt_table__cell(tab, join_kind_name(k)) || number(tab, n->records);
		for (unsigned i = 0; !r && i < JOIN_TIMES; i++)
			r = number(tab, n->by[i]);
	}
	return print(tab, f, r);
}

static void causality(const struct inspection *s, FILE *f)
{
	const struct join_totals *t = join__totals(s->join);
	char a[FMT_NUM], b[FMT_NUM], c[FMT_NUM];

	fprintf(f, "  starts before their call's entry%s: %s, %s of them beyond the clock error (%s)\n",
		s->host_left_out ? ", as CUPTI's callback saw it" : "", fmt_count(a, t->early),
		fmt_count(b, t->early_beyond),
		t->has_clock_error ? fmt_ns(c, t->clock_error_ns) : "no bound known");
	for (unsigned i = 0; i < t->nviolations && i < VIOLATIONS_SHOWN; i++) {
		struct join_activity act;

		join__activity(s->join, t->violation[i].activity, &act);
		fprintf(f,
			"    %s early: %s, correlation id %u, start %" PRIu64 ", entry %" PRIu64 ", pid %u\n",
			fmt_ns(a, t->violation[i].early_ns), join_kind_name(act.kind), act.correlation,
			act.start, act.call.entry, act.call.proc->tgid);
	}
	if (t->nviolations > VIOLATIONS_SHOWN)
		fputs("    … (--json has the worst)\n", f);
}

static void links(const struct inspection *s, FILE *f)
{
	const struct join_totals *t = join__totals(s->join);
	char a[FMT_NUM], b[FMT_NUM], c[FMT_NUM], d[FMT_NUM];

	fprintf(f, "  executions joined to a call: %s; ", fmt_count(a, t->links[JOIN_JOINED]));
	if (!s->host_left_out)
		fprintf(f, "without the host's record of it: %s; ",
			fmt_count(b, t->links[JOIN_NO_HOST_CALL]));
	fprintf(f, "orphans: %s; ambiguous: %s\n", fmt_count(c, t->links[JOIN_ORPHAN]),
		fmt_count(d, t->links[JOIN_AMBIGUOUS]));
	if (t->graphs)
		fprintf(f,
			"  graphs: %s, launched %s times, %s nodes ran, %s fewer than in each graph's fullest launch\n",
			fmt_count(a, t->graphs), fmt_count(b, t->graph_launches),
			fmt_count(c, t->graph_nodes), fmt_count(d, t->graph_shortfall));
	for (unsigned i = 0; i < GPUBPF_PROBES; i++)
		if (t->probe[i].lost_batches || t->probe[i].repeated || t->probe[i].bad_items)
			fprintf(f, "  %s: %s batches missing, %s twice, %s items of no use\n",
				usdt_contract_probes[i], fmt_count(a, t->probe[i].lost_batches),
				fmt_count(b, t->probe[i].repeated), fmt_count(c, t->probe[i].bad_items));
}

int inspect_device_text(const struct inspection *s, FILE *f)
{
	int r;

	if (!s->join)
		return 0;
	r = sessions(s, f);
	if (!r)
		r = ledger(s, f);
	if (!r)
		r = times(join__totals(s->join), f);
	if (r)
		return r;
	links(s, f);
	causality(s, f);
	inspect_extras_text(s->join, f);
	return 0;
}
