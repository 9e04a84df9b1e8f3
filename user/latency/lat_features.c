/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tells slow calls from the others: the share of each that is something, side by side. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "latency/lat.h"
#include "util/fmt.h"

static unsigned decade(uint64_t us)
{
	unsigned d = 0;

	for (; us >= 10; us /= 10)
		d++;
	return d;
}

void lat_facts_of_call(struct lat_facts *f, const struct latency *l, const struct view *v,
		       const struct lat_thread *th, const struct breakdown *in, uint32_t kernel,
		       bool first_of_kernel)
{
	uint64_t bytes;

	(void)l;
	lat_facts__add(f, LAT_F_API, v->c->api);
	if (kernel)
		lat_facts__add(f, LAT_F_KERNEL, kernel);
	lat_facts__add(f, LAT_F_THREAD, th->number);
	if (plan_arg(v->p, v->c, PLAN_BYTES, &bytes) && bytes)
		lat_facts__add(f, LAT_F_BYTES, (63 - (unsigned)__builtin_clzll(bytes)) / 2);
	if (first_of_kernel)
		lat_facts__add(f, LAT_F_FIRST_KERNEL, 0);
	if (!th->calls)
		lat_facts__add(f, LAT_F_FIRST_THREAD, 0);
	else if (v->c->t_entry >= th->last_return)
		lat_facts__add(f, LAT_F_PAUSE, decade((v->c->t_entry - th->last_return) / 1000));
	if (th->nested)
		lat_facts__add(f, LAT_F_NESTED, 0);
	if (v->outcome == OUTCOME_FAILED)
		lat_facts__add(f, LAT_F_FAILED, 0);
	if (v->captured)
		lat_facts__add(f, LAT_F_CAPTURED, 0);
	if (!in)
		return;
	if (in->involuntary)
		lat_facts__add(f, LAT_F_PREEMPTED, 0);
	if (in->migrations)
		lat_facts__add(f, LAT_F_MIGRATED, 0);
	if (in->faults)
		lat_facts__add(f, LAT_F_FAULTED, 0);
	if (in->major_faults)
		lat_facts__add(f, LAT_F_MAJOR, 0);
}

static const struct lat_words kinds[LAT_F_KINDS] = {
	[LAT_F_API] = { "api", "entry point" },
	[LAT_F_KERNEL] = { "kernel", "kernel" },
	[LAT_F_THREAD] = { "thread", "thread" },
	[LAT_F_LANE] = { "stream", "stream" },
	[LAT_F_BYTES] = { "bytes", "size" },
	[LAT_F_FIRST_KERNEL] = { "first_of_kernel", "first launch of this kernel and shape" },
	[LAT_F_FIRST_THREAD] = { "first_of_thread", "first call of its thread" },
	[LAT_F_PAUSE] = { "pause", "time since its thread's call before" },
	[LAT_F_NESTED] = { "nested", "made other traced calls inside" },
	[LAT_F_FAILED] = { "failed", "returned an error" },
	[LAT_F_CAPTURED] = { "captured", "recorded into a graph" },
	[LAT_F_PREEMPTED] = { "preempted", "lost its processor to another thread" },
	[LAT_F_MIGRATED] = { "migrated", "came back on another processor" },
	[LAT_F_FAULTED] = { "page_fault", "met a page fault" },
	[LAT_F_MAJOR] = { "major_fault", "met a page fault that read from a disk" },
	[LAT_F_EVENT] = { "event", "an event had to be waited for first" },
	[LAT_F_DEFAULT] = { "default_stream", "the default stream made it wait" },
	[LAT_F_GRAPH] = { "graph", "ran as a graph" },
};

static int value_text(const struct latency *l, const struct lat_fact *f, char **out)
{
	const struct lat_kernel *k;
	const struct lat_thread *th;
	const struct join_lane *lane;
	char shape[128], a[FMT_NUM], b[FMT_NUM];
	uint64_t ten = 1;

	switch ((enum lat_feature_kind)f->kind) {
	case LAT_F_API:
		return asprintf(out, "%s", latency__api_name(l, (unsigned)f->value));
	case LAT_F_KERNEL:
		k = lat_kernel__row(l, (uint32_t)f->value);
		return asprintf(out, "kernel %s  %s", k->display, lat_kernel__shape(k, shape, sizeof(shape)));
	case LAT_F_THREAD:
		th = hmap__at(&l->threads, f->value);
		return asprintf(out, "thread %" PRIu32 " of process %" PRIu32, th->tid, th->tgid);
	case LAT_F_LANE:
		lane = join__lane(l->in.join, (uint32_t)f->value);
		return asprintf(out, "stream %" PRIu32 " of device %" PRIu32 ", process %" PRIu32,
				lane->stream, lane->device, lane->session->proc->tgid);
	case LAT_F_BYTES:
		return asprintf(out, "from %s to below %s", fmt_bytes(a, UINT64_C(1) << 2 * f->value),
				f->value < 31 ? fmt_bytes(b, UINT64_C(4) << 2 * f->value) : "…");
	case LAT_F_PAUSE:
		for (uint64_t i = 0; i < f->value; i++)
			ten *= 10;
		return f->value ? asprintf(out, "came %s or more after its thread's call before",
					   fmt_ns(a, ten * 1000))
				: asprintf(out, "came less than %s after its thread's call before",
					   fmt_ns(a, 10000));
	default:
		return asprintf(out, "%s", kinds[f->kind].text);
	}
}

static struct lat_difference *add(struct lat_differences *d)
{
	if (d->n == d->room) {
		size_t room = d->room ? d->room * 2 : 32;
		struct lat_difference *v = realloc(d->d, room * sizeof(*v));

		if (!v)
			return NULL;
		d->d = v;
		d->room = room;
	}
	d->d[d->n] = (struct lat_difference){ 0 };
	return &d->d[d->n++];
}

static double edge(const struct lat_differences *d, const struct lat_difference *x)
{
	double slow = d->tail.slow ? (double)x->slow / (double)d->tail.slow : 0;

	return slow - (d->tail.others ? (double)x->others / (double)d->tail.others : 0);
}

static int by_edge(const void *x, const void *y, void *arg)
{
	double a = edge(arg, x), b = edge(arg, y);

	return (a < b) - (a > b);
}

static void set_shares(const struct lat_differences *d, struct lat_difference *x, const struct hist *h)
{
	x->slow = hist__from(h, d->tail.from);
	x->others = h->n - x->slow;
}

int latency__differences(const struct latency *l, enum lat_measure m, unsigned population,
			 struct lat_differences *d)
{
	const struct lat_study *s = &l->study[m][population];
	struct lat_difference *x;

	*d = (struct lat_differences){ 0 };
	if (!lat_study__tail(s, &d->tail))
		return 0;
	for (size_t i = 0; s->ready && i < s->features.n; i++) {
		const struct lat_feature *f = hmap__at(&s->features, i);

		if (!f->h.n) /* went into another one */
			continue;
		x = add(d);
		if (!x || value_text(l, &f->key, &x->text) < 0)
			return -ENOMEM;
		x->key = kinds[f->key.kind].key;
		set_shares(d, x, &f->h);
	}
	for (unsigned i = 0; i < lat_part_count(m); i++) {
		if (!s->had[i].n)
			continue;
		x = add(d);
		if (!x || asprintf(&x->text, "some of it %s", lat_part_words(m, i).text) < 0)
			return -ENOMEM;
		x->key = lat_part_words(m, i).key;
		set_shares(d, x, &s->had[i]);
	}
	if (d->n)
		qsort_r(d->d, d->n, sizeof(*d->d), by_edge, d);
	return 0;
}

void lat_differences__clear(struct lat_differences *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->d[i].text);
	free(d->d);
	*d = (struct lat_differences){ 0 };
}
