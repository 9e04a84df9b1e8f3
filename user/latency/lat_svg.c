/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A picture that needs nothing beside it: histograms, average and slow parts, the slowest calls. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "latency/lat.h"
#include "util/fmt.h"

#define WIDTH 960
#define LEFT 110
#define SPAN 720
#define ROW 18
#define BINS_MAX 30

static const char *const colors[LAT_PARTS_MAX] = { "#4477aa", "#ee6677", "#ccbb44", "#66ccee",
						   "#228833", "#aa3377", "#bbbbbb", "#885533",
						   "#997700", "#004488", "#777777" };

static void escape(FILE *f, const char *s)
{
	char safe[200];

	for (const char *c = fmt_safe(safe, sizeof(safe), s); *c; c++) {
		if (*c == '<')
			fputs("&lt;", f);
		else if (*c == '>')
			fputs("&gt;", f);
		else if (*c == '&')
			fputs("&amp;", f);
		else
			putc(*c, f);
	}
}

static void text(FILE *f, int x, int y, const char *style, const char *s)
{
	fprintf(f, "<text x=\"%d\" y=\"%d\"%s>", x, y, style);
	escape(f, s);
	fputs("</text>\n", f);
}

static int heading(FILE *f, int y, const char *s)
{
	text(f, 10, y + 20, " font-weight=\"bold\" font-size=\"14\"", s);
	return y + 32;
}

static void bar(FILE *f, double x, int y, double w, const char *color, const char *what, uint64_t ns)
{
	char t[FMT_NUM];

	fprintf(f, "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\"><title>", x, y, w,
		ROW - 4, color);
	escape(f, what);
	fprintf(f, " %s</title></rect>\n", fmt_ns(t, ns));
}

static int histogram(FILE *f, int y, const struct lat_dist *d, enum lat_measure m, unsigned population)
{
	struct lat_bin bins[BINS_MAX];
	unsigned n = lat_bins(d, bins, BINS_MAX);
	char line[200], t[FMT_NUM], c[FMT_NUM];
	uint64_t most = 1;

	if (!n)
		return y;
	snprintf(line, sizeof(line), "%s, %s: %s calls", api_population_names[population],
		 lat_measures[m].text, fmt_count(c, d->h.n));
	y = heading(f, y, line);
	for (unsigned i = 0; i < n; i++)
		most = bins[i].n > most ? bins[i].n : most;
	for (unsigned i = 0; i < n; i++, y += ROW) {
		double w = (double)bins[i].n / (double)most * SPAN;

		text(f, LEFT - 8, y + 11, " text-anchor=\"end\"", fmt_ns(t, bins[i].from));
		if (!bins[i].n)
			continue;
		fprintf(f, "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#4477aa\"/>\n", LEFT,
			y, w < 1 ? 1 : w, ROW - 4);
		text(f, LEFT + (int)w + 6, y + 11, "", fmt_count(c, bins[i].n));
	}
	return y;
}

static int part_bar(FILE *f, int y, const char *label, enum lat_measure m, const uint64_t *ns)
{
	uint64_t sum = 0;
	double x = LEFT;

	text(f, LEFT - 8, y + 11, " text-anchor=\"end\"", label);
	for (unsigned i = 0; i < lat_part_count(m); i++)
		sum += ns[i];
	for (unsigned i = 0; sum && i < lat_part_count(m); i++) {
		double w = (double)ns[i] / (double)sum * SPAN;

		if (ns[i])
			bar(f, x, y, w, colors[i], lat_part_words(m, i).text, ns[i]);
		x += w;
	}
	return y + ROW;
}

static int parts(FILE *f, int y, const struct lat_study *s, enum lat_measure m)
{
	uint64_t all[LAT_PARTS_MAX] = { 0 }, slow[LAT_PARTS_MAX] = { 0 }, n;
	struct lat_tail t;
	char line[200], count[FMT_NUM], from[FMT_NUM];

	if (!lat_study__tail(s, &t) || !s->split.n)
		return y;
	n = hist__from(&s->split, t.from);
	for (unsigned i = 0; i < lat_part_count(m); i++) {
		all[i] = s->part[i].n / s->split.n;
		slow[i] = n ? hist__from(&s->part[i], t.from) / n : 0;
	}
	snprintf(line, sizeof(line), "Where the time went, %s; slow: the %s of %s and more",
		 lat_measures[m].text, fmt_count(count, t.slow), fmt_ns(from, t.from));
	y = heading(f, y, line);
	y = part_bar(f, y, "average", m, all);
	y = part_bar(f, y, "slow", m, slow);
	for (unsigned i = 0; i < lat_part_count(m); i++) {
		if (!s->part[i].n)
			continue;
		bar(f, LEFT, y, 12, colors[i], lat_part_words(m, i).text, all[i]);
		text(f, LEFT + 18, y + 11, "", lat_part_words(m, i).text);
		y += ROW;
	}
	return y;
}

static int story(FILE *f, int y, const struct latency *l, const struct lat_story *s)
{
	const struct lat_pick *p = s->pick;
	const struct lat_kernel *k = lat_kernel__row(l, p->kernel);
	uint64_t end = p->has_start && p->end > p->entry ? p->end : p->has_ret ? p->ret : p->entry + 1;
	uint64_t from = p->entry;
	double scale = (double)SPAN / (double)(end > from ? end - from : 1);
	char line[300], t[FMT_NUM];

	snprintf(line, sizeof(line), "%s: %s %s", fmt_ns(t, p->ns), latency__api_name(l, p->api),
		 k ? k->display : "");
	text(f, LEFT, y + 11, "", line);
	y += ROW;
	if (p->has_ret)
		bar(f, LEFT, y, (double)(p->ret - p->entry) * scale, "#4477aa", "inside the call",
		    p->ret - p->entry);
	y += ROW;
	if (!p->has_start || p->early)
		return y + 4;
	if (p->prev_end > p->entry) {
		uint64_t busy = p->prev_end < p->start ? p->prev_end : p->start;

		bar(f, LEFT, y, (double)(busy - p->entry) * scale, colors[LAT_STREAM],
		    "earlier work of the stream", busy - p->entry);
	}
	bar(f, LEFT + (double)(p->start - from) * scale, y, (double)(p->end - p->start) * scale, "#222222",
	    "ran on the GPU", p->end - p->start);
	return y + ROW + 4;
}

static int body(struct latency *l, FILE *f)
{
	int y = 40;

	for (unsigned p = 0; p < LAT_POPULATIONS; p++) {
		if (!latency__shown(l, p))
			continue;
		for (int m = 0; m < LAT_MEASURES; m++)
			y = histogram(f, y, &l->study[m][p].dist, (enum lat_measure)m, p);
		for (int m = 0; m < LAT_MEASURES; m++)
			y = parts(f, y, &l->study[m][p], (enum lat_measure)m);
		for (int m = 0; m < LAT_QUEUE; m++) {
			bool any = false;
			char line[200];

			for (size_t i = 0; i < l->nstories; i++) {
				const struct lat_story *s = &l->story[i];

				if (s->population != p || (int)s->measure != m)
					continue;
				snprintf(line, sizeof(line), "The slowest calls, %s", lat_measures[m].text);
				if (!any)
					y = heading(f, y, line);
				any = true;
				y = story(f, y, l, s);
			}
		}
	}
	if (latency__no_device(l)) {
		y = heading(f, y, "Calls to the start on the GPU: not measured");
		text(f, LEFT, y + 11, "", latency__no_device(l));
		y += ROW;
	}
	return y + 20;
}

int latency_svg(struct latency *l, char **out, size_t *n)
{
	char line[768], *inner = NULL;
	size_t ninner;
	FILE *f = open_memstream(&inner, &ninner);
	int height, rc = 0;

	if (!f)
		return -ENOMEM;
	height = body(l, f);
	if (fclose(f)) {
		free(inner);
		return -ENOMEM;
	}
	*out = NULL;
	f = open_memstream(out, n);
	if (f) {
		ledger_headline(&l->in.ledger, line, sizeof(line));
		fprintf(f,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
			"font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
			WIDTH, height, WIDTH, height);
		text(f, 10, 20, " font-size=\"12\"", line);
		fputs(inner, f);
		fputs("</svg>\n", f);
	}
	if (!f || fclose(f))
		rc = -ENOMEM;
	free(inner);
	return rc;
}
