/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A slow call as a time line. Times are since its entry. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "latency/lat.h"
#include "util/fmt.h"

static void at(FILE *f, const struct lat_pick *p, uint64_t t)
{
	char b[FMT_NUM];

	if (t < p->entry)
		fprintf(f, "    %8s-%-10s ", "", fmt_ns(b, p->entry - t));
	else
		fprintf(f, "    %8s+%-10s ", "", fmt_ns(b, t - p->entry));
}

static void causes(const struct breakdown *b, FILE *f)
{
	char t[FMT_NUM];
	const char *lead = "";

	fprintf(f, "    %20s", "");
	for (int i = 0; i < BREAKDOWN_CAUSES; i++) {
		if (!b->ns[i])
			continue;
		fprintf(f, "%s%s %s", lead, fmt_ns(t, b->ns[i]), breakdown_words[i]);
		lead = ", ";
	}
	if (b->voluntary || b->involuntary)
		fprintf(f, "; gave the processor up %" PRIu32 " times, lost it %" PRIu32 " times",
			b->voluntary, b->involuntary);
	if (b->migrations)
		fprintf(f, "; %" PRIu32 " migrations", b->migrations);
	if (b->faults)
		fprintf(f, "; %" PRIu32 " page faults, %" PRIu32 " major", b->faults, b->major_faults);
	putc('\n', f);
}

static void before(const struct latency *l, const struct lat_story *s, FILE *f)
{
	const struct lat_beside *b = &s->before;
	char t[FMT_NUM];

	if (s->has_before) {
		at(f, s->pick, b->has_ret ? b->ret : b->entry);
		fprintf(f, "%s %s\n", latency__api_name(l, b->api),
			b->has_ret ? "returned" : "was entered, its return was not recorded");
	} else {
		fprintf(f, "    %20sno call of this thread before it is in the capture\n", "");
	}
	if (!s->pick->has_gap)
		return;
	fprintf(f, "    %20sbetween the calls, %s:\n", "", fmt_ns(t, s->pick->entry - s->pick->before));
	causes(&s->pick->gap, f);
}

static int waits(const struct latency *l, const struct lat_story *s, FILE *f)
{
	char t[FMT_NUM], *text = NULL;

	for (unsigned i = 0; i < s->nwait; i++) {
		const struct gpubpf_waker *w = &s->wait[i];

		if (latency__waker_text(l, w, &text))
			return -ENOMEM;
		at(f, s->pick, w->t_wake);
		fprintf(f, "blocked for %s in futex 0x%" PRIx64 ", woken by ", fmt_ns(t, wait_ns(w)),
			(uint64_t)w->futex);
		fmt_put_safe(f, text);
		free(text);
		if (latency__wait_end(l, w) == WAIT_END_IN_CALL && w->waker_entry < w->t_wake)
			fprintf(f, ", for %s by then", fmt_ns(t, w->t_wake - w->waker_entry));
		putc('\n', f);
	}
	if (s->nwaits > s->nwait)
		fprintf(f, "    %20s%" PRIu64 " shorter waits in futexes\n", "", s->nwaits - s->nwait);
	return 0;
}

static int inside(const struct latency *l, const struct lat_story *s, FILE *f)
{
	const struct lat_pick *p = s->pick;
	char t[FMT_NUM];

	if (p->has_inside)
		causes(&p->inside, f);
	for (uint64_t i = 0; i < s->nnested && i < LAT_NESTED_MAX; i++) {
		at(f, p, s->nested[i].entry);
		fprintf(f, "inside it: %s for %s\n", latency__api_name(l, s->nested[i].api),
			fmt_ns(t, s->nested[i].ret - s->nested[i].entry));
	}
	if (s->nnested > LAT_NESTED_MAX)
		fprintf(f, "    %20s%" PRIu64 " more calls inside it\n", "", s->nnested - LAT_NESTED_MAX);
	for (unsigned i = 0; i < s->nbeside; i++) {
		at(f, p, s->beside[i].entry);
		fprintf(f, "meanwhile thread %" PRIu32 ": %s for %s\n", s->beside[i].tid,
			latency__api_name(l, s->beside[i].api),
			fmt_ns(t, s->beside[i].ret - s->beside[i].entry));
	}
	return waits(l, s, f);
}

/* Its return stands where its time puts it: what a call asks for can run before that. */
static void returned_by(const struct lat_pick *p, uint64_t t, bool *done, FILE *f)
{
	if (*done || !p->has_ret || p->ret > t)
		return;
	*done = true;
	at(f, p, p->ret);
	fputs("returned\n", f);
}

static int put_activity(const struct latency *l, uint32_t ref, FILE *f)
{
	struct join_activity a;
	char *name;

	join__activity_brief(l->in.join, ref - 1, &a);
	name = latency__activity_name(l, join__key(l->in.join, a.key));
	if (!name)
		return -ENOMEM;
	fmt_put_safe(f, name);
	free(name);
	return 0;
}

static int on_device(const struct latency *l, const struct lat_pick *p, FILE *f)
{
	char t[FMT_NUM];
	bool returned = false;
	int rc = 0;

	if (!p->has_start) {
		returned_by(p, UINT64_MAX, &returned, f);
		if (!latency__no_device(l))
			fprintf(f, "    %20snothing that ran with valid times is joined to it\n", "");
		return 0;
	}
	if (p->prev && p->prev_end > p->entry && p->prev_end <= p->start) {
		returned_by(p, p->prev_end, &returned, f);
		at(f, p, p->prev_end);
		fputs("the stream's work before it ended: ", f);
		rc = put_activity(l, p->prev, f);
		putc('\n', f);
	}
	returned_by(p, p->start, &returned, f);
	if (p->waited_unknown)
		fprintf(f, "    %20shad to wait for an event; what that stood for is not in the capture\n",
			"");
	for (int i = LAT_STREAM; p->has_part && i < LAT_PARTS; i++)
		if (p->part[i])
			fprintf(f, "    %20s%s %s\n", "", fmt_ns(t, p->part[i]),
				lat_part_words(LAT_START, (unsigned)i).text);
	at(f, p, p->start);
	fputs("started on the GPU: ", f);
	if (!rc)
		rc = put_activity(l, p->activity, f);
	fprintf(f, "%s\n", p->early ? " (before its call, by the clocks)" : "");
	returned_by(p, p->end, &returned, f);
	at(f, p, p->end);
	fprintf(f, "ended, after %s\n", fmt_ns(t, p->end - p->start));
	returned_by(p, UINT64_MAX, &returned, f);
	return rc;
}

static int story(const struct latency *l, const struct lat_story *s, FILE *f)
{
	const struct lat_pick *p = s->pick;
	const struct lat_kernel *k = lat_kernel__row(l, p->kernel);
	char t[FMT_NUM], w[FMT_NUM], shape[128];
	int rc;

	fprintf(f, "  %s: %s", fmt_ns(t, p->ns), latency__api_name(l, p->api));
	if (k) {
		fputs(" of ", f);
		fmt_put_safe(f, k->display);
		fprintf(f, "  %s", lat_kernel__shape(k, shape, sizeof(shape)));
	}
	fprintf(f, ", thread %" PRIu32 " of process %" PRIu32 ", %s after the start of the capture\n", p->tid,
		p->tgid, fmt_ns(w, latency__since(l, p->entry)));
	before(l, s, f);
	at(f, p, p->entry);
	fputs("entered\n", f);
	rc = latency_stack_story(l, p, f);
	if (!rc && inside(l, s, f))
		rc = -ENOMEM;
	return rc ? rc : on_device(l, p, f);
}

int latency_stories(const struct latency *l, unsigned population, enum lat_measure m, FILE *f, bool color)
{
	bool any = false;
	int rc = 0;

	for (size_t i = 0; !rc && i < l->nstories; i++) {
		const struct lat_story *s = &l->story[i];

		if (s->measure != m || s->population != population)
			continue;
		if (!any)
			fprintf(f, "\n%sThe slowest calls%s, %s\n", color ? "\033[1m" : "",
				color ? "\033[0m" : "", lat_measures[m].text);
		any = true;
		rc = story(l, s, f);
	}
	return rc;
}
