/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/cost.h"
#include "latency/lat.h"
#include "util/fmt.h"

#define BINS_MAX 24
#define BAR_WIDTH 40
#define DIFFERENCES_MAX 12
#define DIFFERENCE_MIN 0.01 /* a smaller edge says nothing */

static void title(FILE *f, const char *text, bool color)
{
	fprintf(f, "\n%s%s%s", color ? "\033[1m" : "", text, color ? "\033[0m" : "");
}

static int by_column(const void *x, const void *y, void *arg)
{
	const struct cell *a = x, *b = y;
	unsigned by = *(unsigned *)arg;

	return (a[by].number < b[by].number) - (a[by].number > b[by].number);
}

/* Rows of a section, the one with the most first. */
static int rows_of(struct latency *l, const struct lat_section *s, struct rows *rows)
{
	unsigned by = 0;
	int rc;

	memset(rows, 0, sizeof(*rows));
	rows->section = &s->s;
	rc = s->build(l, rows);
	if (rc || !s->s.sort || !rows->n)
		return rc;
	while (strcmp(s->s.columns[by].key, s->s.sort) != 0)
		by++;
	qsort_r(rows->cells, rows->n, section__columns(&s->s) * sizeof(struct cell), by_column, &by);
	return 0;
}

int latency_table(struct latency *l, const char *name, FILE *f, bool color)
{
	const struct lat_section *s = latency_sections;
	struct rows rows;
	size_t n;
	int rc;

	while (strcmp(s->s.name, name) != 0)
		s++;
	rc = rows_of(l, s, &rows);
	n = l->o.rows && l->o.rows < rows.n ? (size_t)l->o.rows : rows.n;
	if (!rc && rows.n) {
		title(f, s->s.title, color);
		fprintf(f, ": %s\n", s->s.population);
		if (s->s.note)
			fprintf(f, "  (%s)\n", s->s.note);
		rc = rows__table(&rows, f, n, color);
		if (rows.n > n)
			fprintf(f, "  %zu more (--rows 0 shows all)\n", rows.n - n);
	}
	rows__clear(&rows);
	return rc;
}

int latency_csv(struct latency *l, const struct lat_section *s, FILE *f)
{
	struct rows rows;
	int rc = rows_of(l, s, &rows);

	if (!rc)
		rows__csv(&rows, f, rows.n);
	rows__clear(&rows);
	return rc;
}

int latency_json_section(struct latency *l, const struct lat_section *s, FILE *f)
{
	struct rows rows;
	int rc = rows_of(l, s, &rows);

	if (!rc)
		rc = rows__json(&rows, f, rows.n);
	rows__clear(&rows);
	return rc;
}

/* ---- Histograms ---- */

static void quantile_line(const struct hist *h, FILE *f)
{
	static const struct {
		double q;
		const char *name;
	} list[] = { { 0.5, "p50" }, { 0.9, "p90" }, { 0.99, "p99" }, { 0.999, "p99.9" } };
	char t[FMT_NUM];
	uint64_t v;

	fputs("  ", f);
	for (unsigned i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		if (hist__quantile(h, list[i].q, &v))
			fprintf(f, "%s %s   ", list[i].name, fmt_ns(t, v));
	fprintf(f, "max %s   mean %s\n", fmt_ns(t, h->max), fmt_ns((char[FMT_NUM]){ 0 }, h->sum / h->n));
}

static void histogram(const struct lat_dist *d, const char *what, const char *shape, enum lat_measure m,
		      FILE *f, bool color)
{
	struct lat_bin bins[BINS_MAX];
	unsigned n = lat_bins(d, bins, BINS_MAX);
	uint64_t most = 1;
	char a[FMT_NUM], c[FMT_NUM], p[FMT_NUM];

	title(f, "Histogram of ", color);
	fmt_put_safe(f, what);
	fprintf(f, "%s%s, %s: %s calls\n", *shape ? "  " : "", shape, lat_measures[m].text,
		fmt_count(c, d->h.n));
	quantile_line(&d->h, f);
	for (unsigned i = 0; i < n; i++)
		most = bins[i].n > most ? bins[i].n : most;
	for (unsigned i = 0; i < n; i++) {
		/* a bar for every row that has calls */
		unsigned width = bins[i].n
					 ? 1 + (unsigned)((double)bins[i].n / (double)most * (BAR_WIDTH - 1))
					 : 0;

		fprintf(f, "  from %9s  %12s  %7s  ", fmt_ns(a, bins[i].from), fmt_count(c, bins[i].n),
			fmt_percent(p, (double)bins[i].n / (double)d->h.n));
		for (unsigned k = 0; k < width; k++)
			fputs("█", f);
		putc('\n', f);
	}
}

static const struct lat_group *group_at(const struct latency *l, bool kernels, size_t i)
{
	return kernels ? &l->kernel[i].group : &l->api[i];
}

static bool has_histogram(const struct latency *l, bool kernels, size_t i)
{
	const struct api *a;

	if (!group_at(l, kernels, i)->d[LAT_OWN])
		return false;
	if (kernels || i >= l->napis)
		return true;
	a = apitab__get(l->in.tab, (uint32_t)i);
	return a && latency__shown(l, api_population_index(a));
}

/* The one that took most of the time behind `last`; n: none. */
static size_t next_group(const struct latency *l, bool kernels, size_t n, size_t last)
{
	uint64_t limit = last < n ? group_at(l, kernels, last)->d[LAT_OWN]->h.sum : UINT64_MAX, most = 0;
	size_t best = n;

	for (size_t i = 0; i < n; i++) {
		uint64_t sum;

		if (!has_histogram(l, kernels, i))
			continue;
		sum = group_at(l, kernels, i)->d[LAT_OWN]->h.sum;
		if (sum > limit || (sum == limit && last < n && i <= last) || (best < n && sum <= most))
			continue;
		best = i;
		most = sum;
	}
	return best;
}

static void histograms_of(const struct latency *l, bool kernels, size_t i, FILE *f, bool color)
{
	const struct lat_group *g = group_at(l, kernels, i);
	char shape[128] = "";

	if (kernels)
		lat_kernel__shape(&l->kernel[i], shape, sizeof(shape));
	for (int m = 0; m < LAT_MEASURES; m++)
		if (g->d[m])
			histogram(g->d[m], kernels ? l->kernel[i].display : latency__api_name(l, (unsigned)i),
				  shape, (enum lat_measure)m, f, color);
}

/* Of the entry point and the launch key that took most of the time; of all that were asked for by name. */
static void histograms(const struct latency *l, FILE *f, bool color)
{
	for (int kernels = 0; kernels < 2; kernels++) {
		size_t n = kernels ? l->nkernels : l->napis + JOIN_POPULATIONS, i = n;
		uint64_t left = (kernels ? l->o.nkernels : l->o.napis) ? l->o.rows : 1;

		if (!left)
			left = n;
		for (; left && (i = next_group(l, kernels, n, i)) < n; left--)
			histograms_of(l, kernels, i, f, color);
	}
}

/* ---- Parts and differences ---- */

static void parts(const struct lat_study *s, unsigned population, enum lat_measure m, FILE *f, bool color)
{
	char a[FMT_NUM], b[FMT_NUM], c[FMT_NUM], d[FMT_NUM], share[64];
	struct lat_tail t;
	uint64_t slow, slow_ns;

	if (!lat_study__tail(s, &t) || !s->split.n)
		return;
	slow = hist__from(&s->split, t.from);
	title(f, "Where the time went", color);
	fprintf(f, ", %s: %s of %s %s; slow: the %s of %s and more\n", lat_measures[m].text,
		fmt_count(a, s->split.n), fmt_count(b, s->dist.h.n), api_population_names[population],
		fmt_count(c, t.slow), fmt_ns(d, t.from));
	/* calls of one length are slow together */
	snprintf(share, sizeof(share), "slowest %s",
		 t.slow > lat_slowest(s->dist.h.n) ? fmt_percent(a, (double)t.slow / (double)s->dist.h.n)
						   : "1 %");
	fprintf(f, "  %12s  %7s  %14s  %7s\n", "average", "", share, "");
	slow_ns = 0;
	for (unsigned i = 0; i < lat_part_count(m); i++)
		slow_ns += hist__from(&s->part[i], t.from);
	for (unsigned i = 0; i < lat_part_count(m); i++) {
		uint64_t all = s->part[i].n, of_slow = hist__from(&s->part[i], t.from);

		if (!all)
			continue;
		fprintf(f, "  %12s  %7s  %14s  %7s  %s\n", fmt_ns(a, all / s->split.n),
			fmt_percent(b, s->split.sum ? (double)all / (double)s->split.sum : 0),
			fmt_ns(c, slow ? of_slow / slow : 0),
			fmt_percent(d, slow_ns ? (double)of_slow / (double)slow_ns : 0),
			lat_part_words(m, i).text);
	}
	fprintf(f, "  %12s  %7s  %14s  %7s  the whole\n", fmt_ns(a, s->split.sum / s->split.n), "",
		fmt_ns(c, slow ? slow_ns / slow : 0), "");
}

static int differences(const struct latency *l, unsigned population, enum lat_measure m, FILE *f, bool color)
{
	struct lat_differences d;
	char a[FMT_NUM], b[FMT_NUM], t[FMT_NUM];
	int rc = latency__differences(l, m, population, &d);
	unsigned shown = 0;

	for (size_t i = 0; !rc && i < d.n && d.tail.others && shown < DIFFERENCES_MAX; i++) {
		double slow = (double)d.d[i].slow / (double)d.tail.slow;
		double others = (double)d.d[i].others / (double)d.tail.others;

		if (slow - others < DIFFERENCE_MIN)
			break;
		if (!shown++) {
			title(f, "What tells slow calls from the others", color);
			fprintf(f, ", %s of %s and more: %s slow, %s others\n", lat_measures[m].text,
				fmt_ns(t, d.tail.from), fmt_count(a, d.tail.slow),
				fmt_count(b, d.tail.others));
			fprintf(f, "  %12s  %9s\n", "of slow ones", "of others");
		}
		fprintf(f, "  %12s  %9s  ", fmt_percent(a, slow), fmt_percent(b, others));
		fmt_put_safe(f, d.d[i].text);
		putc('\n', f);
	}
	lat_differences__clear(&d);
	return rc;
}

/* ---- All ---- */

/* What the recorder could not tell of the time inside calls; inspect says why. */
static void absences(const struct latency *l, FILE *f)
{
	const Gpubpf__Latency *m = l->in.meta->latency;

	if (!m || !m->n_absent)
		return;
	fputs("  note: inside calls not told: ", f);
	for (size_t i = 0; i < m->n_absent; i++) {
		fputs(i ? ", " : "", f);
		fmt_put_safe(f, m->absent[i]->what);
	}
	fputs(" (gpubpf inspect says why)\n", f);
}

static void notes(const struct latency *l, FILE *f)
{
	char n[FMT_NUM];

	fprintf(f, "  %s calls", fmt_count(n, l->selected));
	if (l->m->calls > l->selected && !l->in.host_left_out)
		fprintf(f, " of %s recorded: nested ones, and those that were not asked for, are left out",
			fmt_count(n, l->m->calls));
	putc('\n', f);
	if (l->in.host_left_out)
		fputs("  note: calls are those that the device observer saw and that something ran for\n", f);
	if (l->in.meta->entry_only)
		fputs("  note: entry-only capture: the time inside calls was not measured\n", f);
	else if (l->in.meta->has_measure_one_of && l->in.meta->measure_one_of > 1)
		fprintf(f,
			"  note: of launches in a row one in %" PRIu32
			" was measured to its return (record --returns 1 measures all)\n",
			l->in.meta->measure_one_of);
	if (latency__no_inside(l))
		fprintf(f, "  note: where the time inside calls went was not measured (%s)\n",
			latency__no_inside(l));
	else
		absences(l, f);
	if (latency__no_wakers(l) && !latency__no_inside(l))
		fprintf(f, "  note: who ended waits in futexes was not seen (%s)\n", latency__no_wakers(l));
	if (l->m->waits.cut)
		fprintf(f, "  note: of calls with more than %d waits in futexes %s are left out\n",
			FUTEX_WAITS_MAX, fmt_count(n, l->m->waits.cut));
	if (latency__no_device(l))
		fprintf(f, "  note: calls to the start on the GPU: not measured (%s)\n",
			latency__no_device(l));
	if (l->excess)
		fprintf(f,
			"  note: in %s calls the parts are more than the whole, by what the clocks differ\n",
			fmt_count(n, l->excess));
}

int latency_text(struct latency *l, FILE *f)
{
	bool color = fmt_color(f);
	int rc;

	report_verdict_text(l->in.meta, &l->in.ledger, f, color);
	notes(l, f);
	if (!l->selected) {
		fputs("\nNo call that was asked for is in this capture.\n", f);
		return 0;
	}
	rc = latency_table(l, "apis", f, color);
	if (!rc)
		rc = latency_table(l, "kernels", f, color);
	histograms(l, f, color);
	if (!rc)
		rc = latency_table(l, "starts", f, color);
	if (!rc)
		rc = latency_table(l, "locks", f, color);
	if (!rc)
		rc = latency_table(l, "wakers", f, color);
	for (unsigned p = 0; !rc && p < LAT_POPULATIONS; p++) {
		if (!latency__shown(l, p))
			continue;
		for (int m = 0; m < LAT_MEASURES; m++)
			parts(&l->study[m][p], p, (enum lat_measure)m, f, color);
		for (int m = 0; !rc && m < LAT_QUEUE; m++)
			rc = differences(l, p, (enum lat_measure)m, f, color);
		for (int m = 0; !rc && m < LAT_QUEUE; m++)
			rc = latency_stories(l, p, (enum lat_measure)m, f, color);
	}
	if (!rc)
		rc = latency_idle_text(l, f, color);
	if (!rc)
		rc = latency_stacks_text(l, f, color);
	return rc ? rc : inspect_cost_text(&l->in, f);
}
