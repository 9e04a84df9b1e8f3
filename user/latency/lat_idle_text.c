/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Idle time for people: tables, then the longest gaps as time lines. Times are since the start of the gap. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "latency/lat.h"
#include "model/procs.h"
#include "util/fmt.h"

struct telling {
	const struct latency *l;
	const struct idle_story *st;
	const struct idle_gap *g;
	const struct idle_thread *th; /* NULL: nobody's */
	struct join_activity after;
};

static void at(const struct telling *t, uint64_t time, FILE *f)
{
	char b[FMT_NUM];

	fprintf(f, "    %8s+%-10s ", "", fmt_ns(b, time - t->g->start));
}

static int put_activity(const struct latency *l, uint32_t number, FILE *f)
{
	struct join_activity a;
	char *name;

	join__activity_brief(l->in.join, number, &a);
	name = latency__activity_name(l, join__key(l->in.join, a.key));
	if (!name)
		return -ENOMEM;
	fmt_put_safe(f, name);
	free(name);
	return 0;
}

static void segment(const struct telling *t, const struct idle_segment *s, FILE *f)
{
	char b[FMT_NUM];
	const char *lead = ": ";

	at(t, s->from, f);
	if (s->cause == IDLE_OUTSIDE)
		fputs("outside of CUDA", f);
	else if (s->cause == IDLE_BEFORE)
		fputs("before the call", f);
	else
		fprintf(f, "%s %s", s->cause == IDLE_EITHER ? "in or behind" : "in",
			latency__api_name(t->l, s->api));
	fprintf(f, " for %s", fmt_ns(b, s->to - s->from));
	for (int i = 0; s->has_parts && i < BREAKDOWN_CAUSES; i++) {
		if (!s->part[i])
			continue;
		fprintf(f, "%s%s %s", lead, fmt_ns(b, s->part[i]), breakdown_words[i]);
		lead = ", ";
	}
	fprintf(f, "%s\n", s->shared ? " (shared by overlap: only some of it is in the gap)" : "");
}

static int ending_call(const struct telling *t, FILE *f)
{
	const struct join_host_call *c = &t->after.call;
	struct lat_pick call = lat_pick_of_call(c);
	char b[FMT_NUM], d[FMT_NUM];

	if (c->entry >= t->g->start) {
		at(t, c->entry, f);
		fprintf(f, "%s was entered: launch delay %s\n", latency__api_name(t->l, lat_api_of(t->l, c)),
			fmt_ns(b, t->after.start - c->entry));
	} else {
		fprintf(f, "    %20s%s had been entered %s before the gap: launch delay %s\n", "",
			latency__api_name(t->l, lat_api_of(t->l, c)), fmt_ns(b, t->g->start - c->entry),
			fmt_ns(d, t->after.start - c->entry));
	}
	return latency_stack_story(t->l, &call, f);
}

static int time_line(const struct telling *t, FILE *f)
{
	const struct idle_story *st = t->st;
	char b[FMT_NUM];
	bool told = false;
	int rc = 0;

	for (unsigned i = 0; i < st->nsegments; i++) {
		if (!told && st->segment[i].from >= t->after.call.entry) {
			rc = ending_call(t, f);
			told = true;
		}
		segment(t, &st->segment[i], f);
	}
	if (!told)
		rc = ending_call(t, f);
	if (st->others)
		fprintf(f, "    %20s%" PRIu64 " shorter pieces of time, %s, are left out\n", "", st->others,
			fmt_ns(b, st->others_ns));
	if (t->g->ready > t->g->tail) {
		at(t, t->g->tail, f);
		fprintf(f, "waiting for an event or another stream: %s\n",
			fmt_ns(b, t->g->ready - t->g->tail));
	}
	if (t->g->end <= t->g->ready)
		return rc;
	at(t, t->g->ready, f);
	fprintf(f, "%s: %s\n",
		t->g->why == IDLE_SUBMISSION ? "submission"
					     : "on its way to the start; its return was not recorded",
		fmt_ns(b, t->g->end - t->g->ready));
	return rc;
}

static int story(const struct latency *l, const struct idle_story *st, FILE *f)
{
	struct telling t = { .l = l, .st = st, .g = &l->idle.gap[st->gap] };
	const struct idle_device *d = lat_idle__device(&l->idle, t.g->device);
	char a[FMT_NUM], b[FMT_NUM], c[FMT_NUM], words[LAT_IDLE_WORDS];
	int rc;

	t.th = lat_idle__thread_of(&l->idle, t.g);
	join__activity(l->in.join, t.g->after, &t.after);
	fprintf(f, "  %s: device %" PRIu32, fmt_ns(a, t.g->end - t.g->start), d->device);
	if (d->proc)
		fprintf(f, " of process %" PRIu32, d->proc->tgid);
	fprintf(f, ", from %s to %s after the start of the capture", fmt_ns(b, latency__since(l, t.g->start)),
		fmt_ns(c, latency__since(l, t.g->end)));
	if (t.th) {
		fprintf(f, "; next to launch: thread %" PRIu32 " of process %" PRIu32 " ", t.th->tid,
			t.th->tgid);
		fmt_put_safe(f, t.th->proc->comm);
	}
	fputc('\n', f);
	at(&t, t.g->start, f);
	fputs("ended on the GPU: ", f);
	rc = put_activity(l, t.g->before, f);
	fputc('\n', f);
	if (t.th && !rc)
		rc = time_line(&t, f);
	else if (!t.th)
		fprintf(f, "    %20s%s\n", "", lat_idle_text(l, (enum idle_cause)t.g->why, 0, words));
	at(&t, t.g->end, f);
	fputs("started on the GPU: ", f);
	if (!rc)
		rc = put_activity(l, t.g->after, f);
	fputc('\n', f);
	return rc;
}

static int shared_by_many(const struct latency *l)
{
	for (size_t i = 0; i < l->idle.devices.n; i++)
		for (size_t k = 0; k < i; k++)
			if (lat_idle__device(&l->idle, i)->device == lat_idle__device(&l->idle, k)->device)
				return 1;
	return 0;
}

static void notes(const struct latency *l, FILE *f)
{
	if (l->in.ledger.verdict < LEDGER_UNCONTRADICTED)
		fputs("  note: records are missing (the verdict above): a gap may hold work that is not known\n",
		      f);
	if (shared_by_many(l))
		fputs("  note: processes have devices of one number, and nothing says that they are one: each is shown for itself (--same-devices joins them)\n",
		      f);
	if (latency__no_inside(l))
		fprintf(f, "  note: what threads did in calls and between them was not recorded (%s)\n",
			latency__no_inside(l));
}

int latency_idle_text(struct latency *l, FILE *f, bool color)
{
	char n[FMT_NUM];
	int rc;

	if (latency__no_device(l)) {
		fprintf(f, "\n%sIdle time of the GPU%s: not measured (%s)\n", color ? "\033[1m" : "",
			color ? "\033[0m" : "", latency__no_device(l));
		return 0;
	}
	rc = latency_table(l, "idle_devices", f, color);
	notes(l, f);
	if (!rc && l->idle.cells.n)
		rc = latency_table(l, "idle", f, color);
	if (!rc)
		rc = latency_table(l, "idle_apis", f, color);
	if (!rc && !l->idle.ngaps)
		fprintf(f, "  no gap of %s or longer was ended by what was asked for\n",
			fmt_ns(n, l->idle.threshold));
	if (!rc && l->idle.nstories)
		fprintf(f, "\n%sThe longest gaps%s of the GPU\n", color ? "\033[1m" : "",
			color ? "\033[0m" : "");
	for (size_t i = 0; !rc && i < l->idle.nstories; i++)
		rc = story(l, &l->idle.story[i], f);
	return rc;
}
