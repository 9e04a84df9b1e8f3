// SPDX-License-Identifier: GPL-2.0-or-later
/* One page that loads nothing: the tables of the text, each sorted by a click on a column's head. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"
#include "util/fmt.h"

#define ROWS_MAX 2000 /* per table: what a browser lays out at once */

static const char before[] =
	"<!doctype html>\n<html lang=en><meta charset=utf-8>\n"
	"<meta http-equiv=Content-Security-Policy content=\"default-src 'none';style-src 'unsafe-inline';"
	"script-src 'unsafe-inline'\">\n"
	"<meta name=viewport content='width=device-width'><title>gpubpf diff</title>\n"
	"<style>:root{color-scheme:light dark}body{font:14px system-ui,sans-serif;margin:1.5em}"
	"table{border-collapse:collapse;margin:.5em 0 2em}th,td{padding:.2em .6em;text-align:left;white-space:nowrap}"
	"th{cursor:pointer;position:sticky;top:0;background:Canvas;border-bottom:1px solid}"
	"td.n{text-align:right;font-variant-numeric:tabular-nums}tr:nth-child(even) td{background:#8881}"
	"pre{white-space:pre-wrap}h2{margin-bottom:0}p{margin:.2em 0}.t{overflow-x:auto}</style>\n";

static const char after[] =
	"<script>for(const h of document.querySelectorAll('th'))h.onclick=()=>{const i=h.cellIndex,"
	"b=h.closest('table').tBodies[0],d=h.dataset.d=h.dataset.d=='1'?'-1':'1',"
	"v=r=>{const c=r.cells[i];return'v'in c.dataset?+c.dataset.v:c.textContent};"
	"[...b.rows].sort((x,y)=>{const p=v(x),q=v(y);return d*(typeof p!=typeof q?(typeof p=='number'?-1:1)*d:"
	"typeof p=='number'?q-p:p<q?-1:p>q)}).forEach(r=>b.append(r))}</script>\n</html>\n";

static void put_text(FILE *f, const char *s)
{
	char one[2] = { 0 };

	for (; *s; s++) {
		switch (*s) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		default:
			one[0] = *s;
			if ((unsigned char)*s < 0x20 && *s != '\n')
				fprintf(f, "\\x%02x", (unsigned char)*s);
			else
				fputs(one, f);
		}
	}
}

static void put_cell(FILE *f, const struct cell *c, enum unit unit)
{
	char buf[FMT_NUM];

	if (c->kind == CELL_NUMBER)
		fprintf(f, "<td class=n data-v=%" PRIu64 ">", c->number);
	else if (c->kind == CELL_SIGNED)
		fprintf(f, "<td class=n data-v=%" PRId64 ">", (int64_t)c->number);
	else if (c->kind == CELL_REAL)
		fprintf(f, "<td class=n data-v=%g>", c->real);
	else
		fputs("<td>", f);
	put_text(f, cell__text(c, unit, buf));
}

static void put_table(const struct rows *rows, FILE *f)
{
	const struct column *column = rows->section->columns;
	unsigned columns = section__columns(rows->section);
	size_t n = rows->n < ROWS_MAX ? rows->n : ROWS_MAX;

	fputs("<div class=t><table><thead><tr>", f);
	for (unsigned i = 0; i < columns; i++) {
		if (!column[i].head)
			continue;
		fputs("<th title=\"", f);
		put_text(f, column[i].meaning);
		fputs("\">", f);
		put_text(f, column[i].head);
	}
	fputs("<tbody>\n", f);
	for (size_t r = 0; r < n; r++) {
		fputs("<tr>", f);
		for (unsigned i = 0; i < columns; i++)
			if (column[i].head)
				put_cell(f, &rows->cells[r * columns + i], column[i].unit);
		putc('\n', f);
	}
	fputs("</table></div>\n", f);
	if (rows->n > n)
		fprintf(f, "<p>%zu more: --json and --csv have them\n", rows->n - n);
}

static int section(const struct compare *c, const struct section *s, FILE *f)
{
	const char *withheld = compare__withheld(c, s);
	struct rows rows;
	int rc = compare__rows(c, s, &rows);

	if (!rc && (rows.n || withheld)) {
		fprintf(f, "<h2>%s%s</h2>\n<p>", s->title, compare_label(c, s));
		put_text(f, rows.n ? s->population : withheld);
		if (rows.n && s->note) {
			fputs("<p>", f);
			put_text(f, s->note);
		}
		putc('\n', f);
		if (rows.n)
			put_table(&rows, f);
	}
	rows__clear(&rows);
	return rc;
}

/* The head's own text, made harmless. */
static int head(const struct compare *c, FILE *f)
{
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);
	int rc = to ? compare_head_text(c, to, false) : -1;

	if (to && fclose(to))
		rc = -1;
	fprintf(f, "<h1>gpubpf diff: %s</h1>\n<pre>", compare_verdict_name(c->verdict));
	if (!rc)
		put_text(f, text);
	fputs("</pre>\n", f);
	free(text);
	return rc;
}

int compare_html(const struct compare *c, FILE *f)
{
	const struct section *s;
	int rc;

	fputs(before, f);
	rc = head(c, f);
	for (size_t i = 0; !rc && (s = compare_section_at(NULL, i)); i++)
		if (compare__asked(c, s))
			rc = section(c, s, f);
	fputs(after, f);
	return rc ? -ENOMEM : 0;
}
