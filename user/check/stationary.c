/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stationarity: whether the gaps between marks stay the same from the beginning of a capture to its end (R34, R35). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/blocks.h"
#include "check/marks.h"
#include "model/procs.h"
#include "util/fmt.h"

/* On pass and on fail: a mark that is not there makes one gap of two. */
static void holes(struct check_cx *x, struct check_result *r, enum check_population p,
		  const struct check_marks *m)
{
	const struct inspection *in = &x->t.in;
	const struct ledger_line *l = &in->ledger.line[0];
	uint64_t undecodable = in->status->bad_records + in->status->unknown_records +
			       in->status->damaged_blocks;
	uint64_t lost = p == CHECK_LAUNCHES ? l->lost_ring + l->lost_thread + l->lost_depth + l->lost_writer
			: p == CHECK_EXECUTIONS ? check_missing_executions(x)
						: 0;

	check_say(x, r,
		  "; unusable marks %" PRIu64 ", marks of no known name %" PRIu64
		  ", records that do not decode %" PRIu64,
		  m->unusable, m->unresolved, undecodable);
	check_figure(r, "unusable", m->unusable);
	check_figure(r, "unresolved", m->unresolved);
	check_figure(r, "undecodable", undecodable);
	if (p != CHECK_NVTX) {
		check_say(x, r, ", records known to be lost %" PRIu64, lost);
		check_figure(r, "lost", lost);
	}
	if (m->unusable || m->unresolved || undecodable || lost)
		check_say(x, r, " (a hole merges two gaps into one of twice the length)");
}

static void block_figures(struct check_result *r, const struct blocks *b)
{
	check_figure(r, "block_size", b->size);
	check_figure(r, "blocks", blocks__count(b));
	check_figure(r, "trailing_gaps", b->trailing);
	check_figure(r, "median_ns", b->median);
	check_figure(r, "lowest_block_median_ns", b->lowest);
	check_figure(r, "lowest_block", b->lowest_at);
	check_figure(r, "highest_block_median_ns", b->highest);
	check_figure(r, "highest_block", b->highest_at);
}

static void score(struct check_cx *x, struct check_result *r, const struct blocks *b)
{
	char low[FMT_NUM], high[FMT_NUM], all[FMT_NUM], part[FMT_NUM], most[FMT_NUM];
	double spread;
	bool known = blocks__spread(b, &spread);

	block_figures(r, b);
	r->state = known && spread <= x->c->tolerance ? CHECK_PASSED : CHECK_FAILED;
	check_say(x, r, ", %" PRIu64 " blocks of %" PRIu64 "%s", blocks__count(b), b->size,
		  x->c->block_size ? "" : " (auto)");
	if (b->trailing)
		check_say(x, r,
			  ", the last one made of the %" PRIu64 " trailing gaps and %" PRIu64 " before them",
			  b->trailing, b->size - b->trailing);
	check_say(x, r,
		  ": block medians from %s (block %" PRIu64 ") to %s (block %" PRIu64 "), median of all %s",
		  fmt_ns(low, b->lowest), b->lowest_at, fmt_ns(high, b->highest), b->highest_at,
		  fmt_ns(all, b->median));
	if (known) {
		check_figure_real(r, "spread", spread);
		check_say(x, r, ": %s apart, %s %s", fmt_percent(part, spread),
			  r->state == CHECK_PASSED ? "within" : "more than",
			  fmt_percent(most, x->c->tolerance));
	}
	if (r->state == CHECK_FAILED)
		check_advise(x, r, CHECK_ADVICE_WHICH_GAP);
}

static void of_process(struct check_cx *x, const char *name, enum check_population p,
		       const struct check_marks *all, const struct check_mark *m, size_t n)
{
	size_t gaps = n ? n - 1 : 0;
	uint64_t size = x->c->block_size;
	uint64_t *gap = malloc((gaps + 1) * sizeof(*gap));
	struct check_result *r = check_add(x, "stationarity", name);
	struct blocks b;

	for (size_t i = 0; gap && i < gaps; i++)
		gap[i] = m[i + 1].t - m[i].t;
	if (!gap || blocks_of(gap, gaps, x->c->block_size, &b)) {
		x->rc = -ENOMEM;
		free(gap);
		return;
	}
	free(gap);
	if (n)
		check_figure(r, "pid", m->proc[0]);
	check_figure(r, "gaps", gaps);
	check_figure_real(r, "tolerance", x->c->tolerance);
	if (n)
		check_say(x, r, "process %" PRIu64 ": ", m->proc[0]);
	check_say(x, r, "%zu gaps", gaps);
	if (b.size) {
		score(x, r, &b);
	} else {
		check_say(x, r, ", at least %" PRIu64 " are needed for blocks of %s%" PRIu64, b.needed,
			  size ? "" : "at least ", size ? size : BLOCKS_AUTO_GAPS / BLOCKS_AUTO);
		check_figure(r, "gaps_needed", b.needed);
		check_advise(x, r,
			     check_marks__all(all) ? CHECK_ADVICE_MARKS
			     : p == CHECK_NVTX     ? CHECK_ADVICE_NO_SUCH_NVTX
						   : CHECK_ADVICE_NO_SUCH_KERNEL);
		if (p == CHECK_NVTX && !join__markers(x->t.in.join))
			check_advise(x, r, CHECK_ADVICE_NVTX);
	}
	holes(x, r, p, all);
	check_timing(x, r, p);
}

static void check_one(struct check_cx *x, const char *name)
{
	enum check_population p = check_population(x, x->c->marks);
	const struct check_mark *of;
	struct check_marks m = { 0 };
	size_t at = 0, n;

	if (!check_sees(x, p)) {
		check_blind(x, check_add(x, "stationarity", name), p);
		return;
	}
	if (!check_marks__read(x, p, name, &m)) {
		if (!m.n)
			of_process(x, name, p, &m, NULL, 0);
		while ((of = check_marks__next(&m, &at, &n)))
			of_process(x, name, p, &m, of, n);
	}
	check_marks__clear(&m);
}

void check_stationarity(struct check_cx *x)
{
	for (size_t i = 0; i < x->c->stationary.n; i++)
		check_one(x, x->c->stationary.text[i]);
}
