/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "top/top_layout.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "top/top_table.h"
#include "util/fmt.h"

/* One column each, at a whole character. */
static void cut(char *text, unsigned columns)
{
	unsigned seen = 0;

	for (char *p = text; *p; p++) {
		if (((unsigned char)*p & 0xc0) == 0x80)
			continue;
		if (seen++ == columns) {
			*p = '\0';
			return;
		}
	}
}

struct page {
	struct top_text *out;
	unsigned rows, columns;
};

__attribute__((format(printf, 3, 4))) static void put(struct page *p, enum top_style style, const char *fmt,
						      ...)
{
	char raw[2048];
	va_list ap;

	if (p->out->n == p->rows)
		return;
	va_start(ap, fmt);
	vsnprintf(raw, sizeof(raw), fmt, ap);
	va_end(ap);
	fmt_safe(p->out->line[p->out->n].text, sizeof(p->out->line[0].text), raw);
	cut(p->out->line[p->out->n].text, p->columns);
	p->out->line[p->out->n++].style = style;
}

static uint64_t per_second(uint64_t n, uint64_t length)
{
	return length ? (uint64_t)((double)n * 1e9 / (double)length + 0.5) : 0;
}

static size_t lost(const struct top_view *v, uint64_t *now, uint64_t *total)
{
	size_t n = 0;

	*now = *total = 0;
	for (size_t i = 0; i < v->nlosses; i++) {
		if (v->loss[i].kept)
			continue;
		*now += v->loss[i].now;
		*total += v->loss[i].total;
		n++;
	}
	return n;
}

static void put_losses(struct page *p, const struct top_view *v)
{
	char a[FMT_NUM], b[FMT_NUM];
	uint64_t now, total;
	size_t n = lost(v, &now, &total);

	if (n)
		put(p, TOP_BAD, "LOST %s, %s of them now: %s%s", fmt_count(a, total), fmt_count(b, now),
		    v->loss[0].text, n > 1 ? " …" : "");
	else if (v->nlosses)
		put(p, TOP_PLAIN, "lost: nothing; late: %s", v->loss[0].text);
	else
		put(p, TOP_PLAIN, "lost: nothing known");
}

static void put_rates(struct page *p, const struct top_view *v)
{
	char n[7][FMT_NUM];
	uint64_t l = v->length;

	put(p, v->failed.n ? TOP_BAD : TOP_PLAIN,
	    "launches %s/s  graphs %s/s  copies %s/s %s/s  sets %s/s  calls %s/s  failed %s",
	    fmt_count(n[0], per_second(v->launches.n, l)), fmt_count(n[1], per_second(v->graphs.n, l)),
	    fmt_count(n[2], per_second(v->copies.n, l)), fmt_bytes(n[3], per_second(v->bytes.n, l)),
	    fmt_count(n[4], per_second(v->sets.n, l)), fmt_count(n[5], per_second(v->calls.n, l)),
	    fmt_count(n[6], v->failed.n));
}

static void put_gpus(struct page *p, const struct top_view *v)
{
	char line[512] = "", busy[FMT_NUM], ago[FMT_NUM];
	size_t at = 0;

	if (!v->has_device) {
		put(p, TOP_PLAIN, "GPU: absent: %s", v->device_absent);
		return;
	}
	if (!v->gpu_length) {
		put(p, TOP_PLAIN, "GPU: its figures come a second later");
		return;
	}
	for (size_t i = 0; i < v->ngpus && at < sizeof(line) - 64; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, "%s%s of GPU %u (pid %u)", i ? ", " : "",
				       fmt_percent(busy, (double)v->gpu[i].busy / (double)v->gpu_length),
				       v->gpu[i].device, v->gpu[i].pid);
	put(p, TOP_PLAIN, "GPU busy, %s ago: %s%s%s",
	    fmt_ns(ago, v->at + v->length - v->gpu_at - v->gpu_length), at ? line : "nothing ran yet",
	    v->device_absent[0] ? "; absent: " : "", v->device_absent);
}

static void put_tabs(struct page *p, const struct top_state *st)
{
	char line[256];
	size_t at = 0;

	for (unsigned i = 0; i < TOP_TABLES; i++)
		at += (size_t)snprintf(line + at, sizeof(line) - at, st->table == i ? "[%u %s] " : " %u %s  ",
				       i + 1, top_table_name(i));
	put(p, TOP_TABS, "%s by %s", line, top_table_column(st->table, st->sort[st->table]));
}

static void put_table(struct page *p, const struct top_view *v, struct top_state *st, unsigned help)
{
	size_t room, n = top_table_rows(v, st->table);
	size_t *order = calloc(n + 1, sizeof(*order));
	char line[2 * TOP_NAME];

	top_table_header(v, st->table, line, sizeof(line));
	put(p, TOP_HEADER, "%s", line);
	room = p->rows > p->out->n + help ? p->rows - p->out->n - help : 0;
	if (st->scroll + room > n)
		st->scroll = n > room ? n - room : 0;
	if (order)
		top_table_order(v, st->table, st->sort[st->table], order);
	for (size_t i = st->scroll; order && i < n && i - st->scroll < room; i++) {
		top_table_row(v, st->table, order[i], line, sizeof(line));
		put(p, TOP_PLAIN, "%s", line);
	}
	free(order);
	if (!n && room)
		put(p, TOP_PLAIN, "%s", top_table_nothing(v, st->table));
}

void top_state_sort(struct top_state *st)
{
	unsigned next = st->sort[st->table] + 1;

	st->sort[st->table] = top_table_column(st->table, next) ? next : 0;
}

void top_layout(const struct top_view *v, struct top_state *st, unsigned rows, unsigned columns,
		struct top_text *out)
{
	struct page p = { out, rows < TOP_LINES_MAX ? rows : TOP_LINES_MAX,
			  columns < TOP_COLUMNS_MAX ? columns : TOP_COLUMNS_MAX };
	unsigned help = p.rows > 2;
	uint64_t now, total;
	char at[FMT_NUM], length[FMT_NUM];

	out->n = 0;
	if (!v) {
		put(&p, TOP_TITLE, "gpubpf top  the first interval is not over");
	} else {
		p.rows -= help;
		put(&p, TOP_TITLE, "%sgpubpf top  at %s, of %s%s%s",
		    lost(v, &now, &total) && p.rows < 2 ? "LOST " : "", fmt_ns(at, v->at + v->length),
		    fmt_ns(length, v->length), st->paused ? "  PAUSED" : "", v->last ? "  ended" : "");
		put_losses(&p, v);
		put_rates(&p, v);
		put_gpus(&p, v);
		put(&p, TOP_PLAIN, "%s", v->verdict);
		put_tabs(&p, st);
		put_table(&p, v, st, 0);
		p.rows += help;
	}
	while (help && out->n + 1 < p.rows)
		put(&p, TOP_PLAIN, " ");
	if (help && st->message[0])
		put(&p, TOP_HELP, "%s", st->message);
	else if (help)
		put(&p, TOP_HELP, "q quit  p pause  s sort  1-%d tables  arrows, page keys: scroll",
		    TOP_TABLES);
}
