/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "latency/lat.h"

#define QUANTILES(key, what)                                                                                 \
	{ key "_p50_ns", "p50", UNIT_NS, what " of half the calls at most", false },                         \
		{ key "_p90_ns", "p90", UNIT_NS, what " of 90 % of the calls at most", false },              \
		{ key "_p99_ns", "p99", UNIT_NS, what " of 99 % of the calls at most", false },              \
		{ key "_p999_ns", "p99.9", UNIT_NS, what " of 99.9 % of the calls at most", false },         \
	{                                                                                                    \
		key "_max_ns", "max", UNIT_NS, "longest " what, false                                        \
	}

static void quantiles(struct rows *rows, const struct lat_dist *d)
{
	static const double q[] = { 0.5, 0.9, 0.99, 0.999 };

	for (int i = 0; i < 4; i++) {
		uint64_t v = 0;
		bool there = d && hist__quantile(&d->h, q[i], &v);

		row__maybe(rows, there, true, v);
	}
	row__maybe(rows, d && d->h.n, true, d ? d->h.max : 0);
}

static void counts(struct rows *rows, const struct lat_group *g)
{
	row__number(rows, g->calls);
	row__number(rows, g->measured);
	row__number(rows, g->entry_only);
	row__number(rows, g->open);
	row__number(rows, g->bad_time);
	row__number(rows, g->failed);
}

static void distributions(struct rows *rows, const struct lat_group *g)
{
	for (int m = 0; m < LAT_MEASURES; m++) {
		row__maybe(rows, g->d[m], true, g->d[m] ? g->d[m]->h.n : 0);
		quantiles(rows, g->d[m]);
		row__maybe(rows, g->d[m], true, g->d[m] ? g->d[m]->h.sum : 0);
	}
}

int build_lat_apis(struct latency *l, struct rows *rows)
{
	for (unsigned i = 0; i < l->napis + JOIN_POPULATIONS; i++) {
		if (!l->api[i].calls)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		counts(rows, &l->api[i]);
		distributions(rows, &l->api[i]);
		if (row__text(rows, latency__api_name(l, i)))
			return -ENOMEM;
	}
	return 0;
}

int build_lat_kernels(struct latency *l, struct rows *rows)
{
	char shape[128];

	for (size_t i = 0; i < l->nkernels; i++) {
		const struct lat_kernel *k = &l->kernel[i];

		if (!k->group.calls)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		counts(rows, &k->group);
		distributions(rows, &k->group);
		if (row__text(rows, lat_kernel__shape(k, shape, sizeof(shape))) ||
		    row__text(rows, k->display))
			return -ENOMEM;
	}
	return 0;
}

static int bars(struct rows *rows, const char *of, const char *name, const char *shape, enum lat_measure m,
		const struct lat_dist *d)
{
	for (unsigned b = 0; d && b < LAT_BARS; b++) {
		uint64_t below = 0;
		bool ends = lat_bar_below(b, &below);

		if (!d->bar[b])
			continue;
		if (rows__add(rows) || row__text(rows, of) || row__text(rows, name) ||
		    row__text(rows, shape) || row__text(rows, lat_measures[m].key))
			return -ENOMEM;
		row__number(rows, lat_bar_from(b));
		row__maybe(rows, ends, false, below);
		row__number(rows, d->bar[b]);
	}
	return 0;
}

int build_lat_histogram(struct latency *l, struct rows *rows)
{
	char shape[128];
	int rc = 0;

	for (unsigned i = 0; !rc && i < l->napis + JOIN_POPULATIONS; i++)
		for (int m = 0; !rc && m < LAT_MEASURES; m++)
			rc = bars(rows, "api", latency__api_name(l, i), NULL, (enum lat_measure)m,
				  l->api[i].d[m]);
	for (size_t i = 0; !rc && i < l->nkernels; i++)
		for (int m = 0; !rc && m < LAT_MEASURES; m++)
			rc = bars(rows, "kernel", l->kernel[i].display,
				  lat_kernel__shape(&l->kernel[i], shape, sizeof(shape)), (enum lat_measure)m,
				  l->kernel[i].group.d[m]);
	return rc;
}

int build_lat_states(struct latency *l, struct rows *rows)
{
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		const struct lat_states *s = &l->states[p];

		if (!s->calls || latency__no_device(l))
			continue;
		if (rows__add(rows) || row__text(rows, api_population_names[p]))
			return -ENOMEM;
		row__number(rows, s->calls);
		row__number(rows, s->after_return);
		row__number(rows, s->after_entry);
		row__number(rows, s->inside);
		row__number(rows, s->early);
		row__number(rows, s->untimed);
		row__number(rows, s->failed);
		row__number(rows, s->captured);
		row__number(rows, s->open);
		row__number(rows, s->nothing);
	}
	return 0;
}

static int split_rows(struct rows *rows, unsigned population, enum lat_measure m, const struct lat_study *s)
{
	struct lat_tail t;
	uint64_t slow;

	if (!s->split.n || !lat_study__tail(s, &t))
		return 0;
	slow = hist__from(&s->split, t.from);
	for (unsigned i = 0; i < lat_part_count(m); i++) {
		uint64_t all_ns = s->part[i].n, slow_ns = hist__from(&s->part[i], t.from);

		if (rows__add(rows) || row__text(rows, api_population_names[population]) ||
		    row__text(rows, lat_measures[m].key) || row__text(rows, lat_part_words(m, i).key) ||
		    row__text(rows, lat_part_words(m, i).text))
			return -ENOMEM;
		row__number(rows, s->split.n);
		row__number(rows, s->had[i].n);
		row__number(rows, all_ns / s->split.n);
		row__real(rows, s->split.sum, false,
			  s->split.sum ? (double)all_ns / (double)s->split.sum : 0);
		row__number(rows, slow);
		row__maybe(rows, slow, true, slow ? slow_ns / slow : 0);
		row__number(rows, all_ns);
		row__number(rows, t.from);
	}
	return 0;
}

int build_lat_split(struct latency *l, struct rows *rows)
{
	int rc = 0;

	for (unsigned p = 0; p < LAT_POPULATIONS; p++)
		for (int m = 0; !rc && m < LAT_MEASURES; m++)
			rc = split_rows(rows, p, (enum lat_measure)m, &l->study[m][p]);
	return rc;
}

static int difference_rows(struct latency *l, struct rows *rows, unsigned p, enum lat_measure m)
{
	struct lat_differences d;
	int rc = latency__differences(l, m, p, &d);

	for (size_t i = 0; !rc && i < d.n; i++) {
		const struct lat_difference *x = &d.d[i];

		if (rows__add(rows) || row__text(rows, api_population_names[p]) ||
		    row__text(rows, lat_measures[m].key) || row__text(rows, x->key) ||
		    row__text(rows, x->text)) {
			rc = -ENOMEM;
			break;
		}
		row__number(rows, d.tail.slow);
		row__number(rows, x->slow);
		row__real(rows, d.tail.slow, false, d.tail.slow ? (double)x->slow / (double)d.tail.slow : 0);
		row__number(rows, d.tail.others);
		row__number(rows, x->others);
		row__real(rows, d.tail.others, false,
			  d.tail.others ? (double)x->others / (double)d.tail.others : 0);
	}
	lat_differences__clear(&d);
	return rc;
}

int build_lat_differences(struct latency *l, struct rows *rows)
{
	int rc = 0;

	for (unsigned p = 0; p < LAT_POPULATIONS; p++)
		for (int m = 0; !rc && m < LAT_MEASURES; m++)
			rc = difference_rows(l, rows, p, (enum lat_measure)m);
	return rc;
}

static int slowest_row(const struct latency *l, struct rows *rows, const struct lat_story *s, uint64_t rank)
{
	const struct lat_kernel *k = lat_kernel__row(l, s->pick->kernel);
	const struct lat_pick *p = s->pick;
	char shape[128];

	if (rows__add(rows) || row__text(rows, api_population_names[s->population]) ||
	    row__text(rows, lat_measures[s->measure].key))
		return -ENOMEM;
	row__number(rows, rank);
	if (row__text(rows, latency__api_name(l, p->api)) || row__text(rows, k ? k->display : NULL) ||
	    row__text(rows, k ? lat_kernel__shape(k, shape, sizeof(shape)) : NULL))
		return -ENOMEM;
	row__number(rows, p->tgid);
	row__number(rows, p->tid);
	row__number(rows, latency__since(l, p->entry));
	row__maybe(rows, p->has_ret, true, p->ret - p->entry);
	row__maybe(rows, p->has_start && !p->early, !p->has_start, p->start - p->entry);
	for (int i = 0; i < LAT_PARTS; i++)
		row__maybe(rows, p->has_part, true, p->part[i]);
	row__maybe(rows, p->has_start, true, p->end - p->start);
	for (int i = 0; i < BREAKDOWN_CAUSES; i++)
		row__maybe(rows, p->has_inside, true, p->inside.ns[i]);
	return 0;
}

int build_lat_slowest(struct latency *l, struct rows *rows)
{
	uint64_t rank = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < l->nstories; i++) {
		const struct lat_story *s = &l->story[i];

		if (i && (s->measure != s[-1].measure || s->population != s[-1].population))
			rank = 0;
		rc = slowest_row(l, rows, s, ++rank);
	}
	return rc;
}

#define COUNTS                                                                                               \
	{ "calls", "calls", UNIT_COUNT, "calls made by the application", false },                            \
		{ "measured", "measured", UNIT_COUNT, "of them, from entry to return", false },              \
		{ "entry_only", "entry only", UNIT_COUNT, "recorded at their entry alone", true },           \
		{ "open", "open", UNIT_COUNT, "had not returned at the end", true },                         \
		{ "bad_time", "bad time", UNIT_COUNT, "returned before they were entered", true },           \
	{                                                                                                    \
		"failed", "failed", UNIT_COUNT, "returned an error", true                                    \
	}
#define HIDDEN_QUANTILES(key, what)                                                                          \
	{ key "_p50_ns", NULL, UNIT_NS, what " of half the calls at most", false },                          \
		{ key "_p90_ns", NULL, UNIT_NS, what " of 90 % of the calls at most", false },               \
		{ key "_p99_ns", NULL, UNIT_NS, what " of 99 % of the calls at most", false },               \
		{ key "_p999_ns", NULL, UNIT_NS, what " of 99.9 % of the calls at most", false },            \
	{                                                                                                    \
		key "_max_ns", NULL, UNIT_NS, "longest " what, false                                         \
	}
#define DISTRIBUTIONS                                                                                        \
	{ "own_calls", NULL, UNIT_COUNT, "calls with a time from entry to return", false },                  \
		QUANTILES("own", "time from entry to return"),                                               \
		{ "own_ns", "total", UNIT_NS, "sum of these times", false },                                 \
		{ "start_calls", NULL, UNIT_COUNT, "calls with a time from entry to start on the GPU",       \
		  false },                                                                                   \
		HIDDEN_QUANTILES("start", "time from entry to start on the GPU"),                            \
		{ "start_ns", NULL, UNIT_NS, "sum of these times", false },                                  \
		{ "queue_calls", NULL, UNIT_COUNT, "calls with a time from return to start on the GPU",      \
		  false },                                                                                   \
		HIDDEN_QUANTILES("queue", "time from return to start on the GPU"),                           \
	{                                                                                                    \
		"queue_ns", NULL, UNIT_NS, "sum of these times", false                                       \
	}

static const struct column api_columns[] = {
	COUNTS, DISTRIBUTIONS, { "api", "entry point", UNIT_TEXT, "entry point of the driver", false }, { 0 }
};
/* Names stand last: they may be long. */
static const struct column kernel_columns[] = { COUNTS,
						DISTRIBUTIONS,
						{ "shape", "grid × block", UNIT_TEXT,
						  "grid, block, cluster, dynamic shared memory", false },
						{ "kernel", "kernel", UNIT_TEXT, "function", false },
						{ 0 } };
static const struct column histogram_columns[] = {
	{ "of", "of", UNIT_TEXT, "api or kernel", false },
	{ "name", "name", UNIT_TEXT, "which one", false },
	{ "shape", "shape", UNIT_TEXT, "of a kernel", false },
	{ "measure", "measure", UNIT_TEXT,
	  "own: entry to return; start: entry to start on the GPU; queue: return to start", false },
	{ "from_ns", "from", UNIT_NS, "least time", false },
	{ "below_ns", "below", UNIT_NS, "first time that is more", false },
	{ "calls", "calls", UNIT_COUNT, "calls that took so long", false },
	{ 0 }
};
static const struct column state_columns[] = {
	{ "population", "calls for work", UNIT_TEXT, "what was asked for", false },
	{ "calls", "calls", UNIT_COUNT, "the sum of what follows", false },
	{ "after_return", "started after return", UNIT_COUNT,
	  "first execution started when the call had returned", false },
	{ "after_entry", "after entry", UNIT_COUNT, "the same, but the return was not recorded", true },
	{ "inside", "inside the call", UNIT_COUNT, "started before the call returned", true },
	{ "early", "before entry", UNIT_COUNT, "started before the call was entered, by the clocks", true },
	{ "untimed", "no valid time", UNIT_COUNT, "ran, without times that hold", true },
	{ "failed", "failed", UNIT_COUNT, "returned an error", true },
	{ "captured", "captured", UNIT_COUNT, "recorded into a graph", true },
	{ "open", "open", UNIT_COUNT, "had not returned at the end", true },
	{ "nothing", "nothing joined", UNIT_COUNT, "no execution is joined to it", true },
	{ 0 }
};
#define LOCK                                                                                                 \
	{ "pid", "pid", UNIT_ID, "process", false },                                                         \
		{ "futex", "futex", UNIT_HEX, "its address; of futex_waitv() that of the list", false },     \
	{                                                                                                    \
		"api", "waited in", UNIT_TEXT, "entry point that the waiting threads were in", false         \
	}
static const struct column lock_columns[] = {
	{ "total_ns", "blocked", UNIT_NS, "time that threads were blocked in it", false },
	{ "longest_ns", "longest", UNIT_NS, "longest wait", false },
	{ "waits", "waits", UNIT_COUNT, "times that a thread was blocked", false },
	{ "calls", "calls", UNIT_COUNT, "calls with such waits", false },
	LOCK,
	{ "share", "share", UNIT_SHARE, "of the time, ended by the waker with most of it", false },
	{ "waker", "woken most by", UNIT_TEXT, "that waker", false },
	{ 0 }
};
static const struct column waker_columns[] = {
	{ "total_ns", "blocked", UNIT_NS, "time of the waits that ended so", false },
	{ "longest_ns", "longest", UNIT_NS, "longest of them", false },
	{ "waits", "waits", UNIT_COUNT, "how many", false },
	LOCK,
	{ "woken", NULL, UNIT_TEXT,
	  "in_call, outside_calls, unsure, observer, ended, untraced, kernel, timeout, interrupt, unknown",
	  false },
	{ "waker_pid", NULL, UNIT_ID, "process of who woke", false },
	{ "waker_tid", NULL, UNIT_ID, "thread of who woke", false },
	{ "waker_name", NULL, UNIT_TEXT, "its name", false },
	{ "waker_api", NULL, UNIT_TEXT, "entry point that it was in: in_call", false },
	{ "by", NULL, UNIT_TEXT, "what it woke with: futex, exit, other, kernel", false },
	{ "text", "woken by", UNIT_TEXT, "the same in words", false },
	{ 0 }
};
static const struct column split_columns[] = {
	{ "population", "calls", UNIT_TEXT, "what was asked for", false },
	{ "measure", "measure", UNIT_TEXT, "whose parts these are", false },
	{ "part", NULL, UNIT_TEXT, "name of the part", false },
	{ "text", "part", UNIT_TEXT, "what it means", false },
	{ "calls", NULL, UNIT_COUNT, "calls whose parts are known", false },
	{ "calls_with", NULL, UNIT_COUNT, "of them, with some of this part", false },
	{ "mean_ns", "average", UNIT_NS, "of all calls whose parts are known", false },
	{ "share", "share", UNIT_SHARE, "of the whole time", false },
	{ "slow_calls", NULL, UNIT_COUNT, "slow calls whose parts are known", false },
	{ "slow_mean_ns", "slow", UNIT_NS, "average of the slow calls", false },
	{ "total_ns", NULL, UNIT_NS, "sum", false },
	{ "slow_from_ns", NULL, UNIT_NS, "from here on a call is slow", false },
	{ 0 }
};
static const struct column difference_columns[] = {
	{ "population", "calls", UNIT_TEXT, "what was asked for", false },
	{ "measure", "slow by", UNIT_TEXT, "by which time calls are slow", false },
	{ "feature", NULL, UNIT_TEXT, "kind of what is compared", false },
	{ "text", "what", UNIT_TEXT, "what is compared", false },
	{ "slow_calls", NULL, UNIT_COUNT, "slow calls", false },
	{ "slow", NULL, UNIT_COUNT, "of them, that are this", false },
	{ "slow_share", "of slow ones", UNIT_SHARE, "share of the slow calls", false },
	{ "other_calls", NULL, UNIT_COUNT, "all others", false },
	{ "others", NULL, UNIT_COUNT, "of them, that are this", false },
	{ "other_share", "of others", UNIT_SHARE, "share of the others", false },
	{ 0 }
};
#define PART(key, what)                                                                                      \
	{                                                                                                    \
		key "_ns", NULL, UNIT_NS, "part: " what, false                                               \
	}
static const struct column slowest_columns[] = {
	{ "population", NULL, UNIT_TEXT, "what was asked for", false },
	{ "measure", "slow by", UNIT_TEXT, "by which time the calls are ranked", false },
	{ "rank", "rank", UNIT_ID, "1: the slowest", false },
	{ "api", "entry point", UNIT_TEXT, "entry point of the driver", false },
	{ "kernel", "kernel", UNIT_TEXT, "launched function", false },
	{ "shape", NULL, UNIT_TEXT, "grid, block, cluster, dynamic shared memory", false },
	{ "pid", "pid", UNIT_ID, "process", false },
	{ "tid", "tid", UNIT_ID, "thread", false },
	{ "entry_ns", "entered at", UNIT_NS, "since the start of the capture", false },
	{ "own_ns", "entry → return", UNIT_NS, "time inside the call", false },
	{ "start_ns", "entry → start", UNIT_NS, "time to the start of its first execution", false },
	PART("in_call", "inside the call"),
	PART("stream_busy", "busy with earlier work of the stream"),
	PART("event_wait", "waiting for an event or another stream"),
	PART("device_busy_others", "not known; other streams of the device were busy"),
	PART("submission", "submission"),
	PART("submitted", "submitted, not started"),
	PART("unknown", "not known"),
	{ "ran_ns", NULL, UNIT_NS, "the execution itself", false },
	PART("on_cpu", "inside the call: on a processor"),
	PART("runqueue", "inside the call: waiting for a processor"),
	PART("throttled", "inside the call: throttled"),
	PART("futex", "inside the call: blocked in futex"),
	PART("ioctl_nvidia", "inside the call: blocked in ioctl on a GPU device"),
	PART("ioctl", "inside the call: blocked in another ioctl"),
	PART("poll", "inside the call: blocked in poll, select or epoll"),
	PART("sleep", "inside the call: asleep"),
	PART("page_fault", "inside the call: blocked in a page fault"),
	PART("other", "inside the call: blocked in something else"),
	PART("unaccounted", "inside the call: unaccounted"),
	{ 0 }
};
_Static_assert(sizeof(slowest_columns) / sizeof(slowest_columns[0]) == 13 + LAT_PARTS + BREAKDOWN_CAUSES,
	       "columns");

const struct lat_section latency_sections[] = {
	{ { .name = "apis",
	    .title = "Time inside calls",
	    .population = "one row per entry point; entry → return on the host",
	    .columns = api_columns,
	    .sort = "own_ns" },
	  build_lat_apis },
	{ { .name = "kernels",
	    .title = "Launch keys",
	    .population = "one row per kernel and shape; entry → return on the host",
	    .columns = kernel_columns,
	    .sort = "own_ns" },
	  build_lat_kernels },
	{ { .name = "histogram",
	    .title = "Histograms",
	    .population = "calls by time",
	    .columns = histogram_columns },
	  build_lat_histogram },
	{ { .name = "starts",
	    .title = "Calls and the start of their work on the GPU",
	    .population = "calls that ask for work",
	    .columns = state_columns },
	  build_lat_states },
	{ { .name = "locks",
	    .title = "Locks",
	    .population =
		    "one row per futex and entry point; times that threads were blocked in it inside calls",
	    .note = "who woke a thread is seen: of a mutex the last one that had it, of anything else who signalled",
	    .columns = lock_columns,
	    .sort = "total_ns" },
	  build_lat_locks },
	{ { .name = "wakers",
	    .title = "Who ended these waits",
	    .population = "one row per futex, entry point and waker",
	    .columns = waker_columns,
	    .sort = "total_ns" },
	  build_lat_wakers },
	{ { .name = "parts",
	    .title = "Where the time went",
	    .population = "one row per part",
	    .columns = split_columns },
	  build_lat_split },
	{ { .name = "differences",
	    .title = "What tells slow calls from the others",
	    .population = "one row per thing that calls can be",
	    .columns = difference_columns },
	  build_lat_differences },
	{ { .name = "slowest",
	    .title = "The slowest calls",
	    .population = "one row per call",
	    .columns = slowest_columns },
	  build_lat_slowest },
	{ { .name = "idle_devices",
	    .title = "Idle time of the GPU",
	    .population = "one row per device; time in which nothing that was recorded ran on it",
	    .columns = lat_idle_device_columns,
	    .sort = "idle_ns" },
	  build_idle_devices },
	{ { .name = "idle",
	    .title = "What kept the GPU waiting",
	    .population =
		    "one row per thread that was to launch next, and what it did meanwhile; they add up to the idle time",
	    .columns = lat_idle_columns,
	    .sort = "lost_ns" },
	  build_idle },
	{ { .name = "idle_apis",
	    .title = "Calls in idle time",
	    .population = "one row per entry point; calls of the thread that was to launch next",
	    .columns = lat_idle_api_columns,
	    .sort = "lost_ns" },
	  build_idle_apis },
	{ { .name = "idle_gaps",
	    .title = "The longest gaps",
	    .population = "one row per gap",
	    .columns = lat_idle_gap_columns },
	  build_idle_gaps },
	{ { .name = "stacks",
	    .title = "Stacks",
	    .population = "one row per entry point and stack, of the calls whose stack was taken",
	    .columns = lat_stack_columns,
	    .sort = "own_ns" },
	  build_lat_stacks },
	{ { 0 }, NULL },
};
