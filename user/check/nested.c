/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nested ranges (R37). A range FIRST:END is half-open and counts marks: its time is that from mark FIRST to mark END, or to
 * the end of the capture where END is the number of marks. Between marks that are
 * executions, executions are counted by their start; between others, launches by the entry of their call. From each range to the next
 * outer one the count grows strictly, and by at least what the width grows less the slack: one launch per mark at least.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check/marks.h"
#include "model/procs.h"

/* How many are before `t`: m is in the order of time. */
static size_t before(const struct check_mark *m, size_t n, uint64_t t)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m[mid].t < t)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint64_t in_range(const struct check_range *g, const struct check_mark *mark, size_t nmarks,
			 const struct check_mark *m, size_t n)
{
	size_t end = g->end == nmarks ? n : before(m, n, mark[g->end].t);

	return end - before(m, n, mark[g->first].t);
}

static void put_range(json_t *list, const struct check_range *g, uint64_t count)
{
	json_t *o = json_object();

	json_object_set_new(o, "first", json_integer((json_int_t)g->first));
	json_object_set_new(o, "end", json_integer((json_int_t)g->end));
	json_object_set_new(o, "count", json_integer((json_int_t)count));
	json_array_append_new(list, o);
}

static void score(struct check_cx *x, struct check_result *r, enum check_population of,
		  const struct check_mark *mark, size_t nmarks, const struct check_mark *m, size_t n)
{
	const struct check_config *c = x->c;
	json_t *list = json_array();
	uint64_t last = 0;

	r->state = CHECK_PASSED;
	for (size_t i = 0; i < c->nranges; i++) {
		const struct check_range *g = &c->range[i];
		uint64_t count = in_range(g, mark, nmarks, m, n);
		uint64_t width = g->end - g->first, inner = i ? g[-1].end - g[-1].first : 0;
		uint64_t need = width - inner > c->nested_slack ? width - inner - c->nested_slack : 0;

		check_say(x, r, "%s%" PRIu64 ":%" PRIu64 " has %" PRIu64, i ? ", " : "", g->first, g->end,
			  count);
		put_range(list, g, count);
		if (i && count <= last) {
			check_say(x, r, " (no more than the range inside it)");
			r->state = CHECK_FAILED;
		} else if (i && count - last < need) {
			check_say(x, r, " (%" PRIu64 " more, at least %" PRIu64 " are wanted)", count - last,
				  need);
			r->state = CHECK_FAILED;
		}
		last = count;
	}
	check_say(x, r, " %s; slack %llu", of == CHECK_EXECUTIONS ? "kernel records" : "launches",
		  c->nested_slack);
	json_object_set_new(r->figures, "ranges", list);
	check_figure(r, "slack", c->nested_slack);
	if (r->state == CHECK_FAILED) {
		check_advise_ledger(x, r);
		if (!r->nadvice)
			check_advise(x, r, CHECK_ADVICE_WHICH_GAP);
	}
}

/* Of the launches, those of the marks' process. */
static const struct check_mark *of_same(const struct check_marks *all, const struct check_mark *mark,
					size_t *n)
{
	const struct check_mark *m;
	size_t at = 0;

	while ((m = check_marks__next(all, &at, n)))
		if (check_mark__same(m, mark))
			return m;
	*n = 0;
	return NULL;
}

static void of_process(struct check_cx *x, const struct check_marks *marks, const struct check_mark *mark,
		       size_t nmarks, enum check_population of, const struct check_marks *launches)
{
	const struct check_range *outer = &x->c->range[x->c->nranges - 1];
	struct check_result *r = check_add(x, "nested", x->c->nested_marks);
	const struct check_mark *m;
	size_t n;

	check_say(x, r, "process %" PRIu64 ", %zu marks: ", mark->proc[0], nmarks);
	check_figure(r, "pid", mark->proc[0]);
	check_figure(r, "marks", nmarks);
	check_figure(r, "unusable", marks->unusable);
	if (outer->end > nmarks) {
		check_say(x, r, "the range %" PRIu64 ":%" PRIu64 " needs %" PRIu64, outer->first, outer->end,
			  outer->end);
		check_advise(x, r, CHECK_ADVICE_RANGE);
	} else {
		m = of_same(launches, mark, &n);
		score(x, r, of, mark, nmarks, m, n);
	}
	check_say(x, r, "; unusable marks %" PRIu64, marks->unusable);
}

static void no_marks(struct check_cx *x, enum check_population p, const struct check_marks *marks)
{
	struct check_result *r = check_add(x, "nested", x->c->nested_marks);

	check_say(x, r, "no mark of this name; unusable marks %" PRIu64, marks->unusable);
	check_advise(x, r,
		     p != CHECK_NVTX                ? CHECK_ADVICE_NO_SUCH_KERNEL
		     : !join__markers(x->t.in.join) ? CHECK_ADVICE_NVTX
						    : CHECK_ADVICE_NO_SUCH_NVTX);
	check_timing(x, r, p);
}

void check_nested(struct check_cx *x)
{
	enum check_population p = check_population(x, x->c->marks);
	/* times of the host and of the device are not mixed, unless nobody saw the host's */
	enum check_population of = p == CHECK_EXECUTIONS || x->t.in.host_left_out ? CHECK_EXECUTIONS
										  : CHECK_LAUNCHES;
	struct check_marks marks = { 0 }, launches = { 0 };
	const struct check_mark *mark;
	size_t at = 0, n;

	if (!x->c->nranges)
		return;
	if (!check_sees(x, p)) {
		check_blind(x, check_add(x, "nested", x->c->nested_marks), p);
		return;
	}
	if (!check_marks__read(x, p, x->c->nested_marks, &marks) &&
	    !check_marks__read(x, of, x->c->nested_kernel, &launches)) {
		if (!marks.n)
			no_marks(x, p, &marks);
		while ((mark = check_marks__next(&marks, &at, &n))) {
			of_process(x, &marks, mark, n, of, &launches);
			check_timing(x, &x->to->result[x->to->n - 1], p);
		}
	}
	check_marks__clear(&marks);
	check_marks__clear(&launches);
}
