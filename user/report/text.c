/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/readiness.h"
#include "report/more.h"
#include "util/fmt.h"

static void put_reasons(FILE *f, const char *label, const struct ledger_reason *list, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		fprintf(f, "  %s: ", label);
		fmt_put_safe(f, list[i].text);
		if (list[i].remedy[0]) {
			fputs("\n    → ", f);
			fmt_put_safe(f, list[i].remedy);
		}
		putc('\n', f);
	}
}

static void device_notes(const struct report_head *h, FILE *f)
{
	char n[FMT_NUM];

	if (h->left_out)
		fprintf(f,
			"  note: %s records of the device belong to other processes or threads and are left out of the tables below\n",
			fmt_count(n, h->left_out));
	if (h->others)
		fprintf(f,
			"  note: %s records of the device are neither kernels nor copies nor sets and are in no table\n",
			fmt_count(n, h->others));
}

void report_verdict_text(const Gpubpf__Meta *meta, const struct ledger *l, FILE *f, bool color)
{
	const char *paint = l->verdict >= LEDGER_UNCONTRADICTED ? "\033[1;32m" : "\033[1;33m";
	char line[768];

	ledger_headline(l, line, sizeof(line));
	if (color)
		fputs(paint, f);
	fmt_put_safe(f, line);
	fputs(color ? "\033[0m\n" : "\n", f);
	inspect_readiness_lines(meta, f);
	put_reasons(f, "missing", l->reason, l->nreasons);
	put_reasons(f, "note", l->fact, l->nfacts);
}

static void verdict(const struct report_head *h, FILE *f, bool color)
{
	report_verdict_text(h->in->meta, &h->in->ledger, f, color);
	if (h->m->unknown_api)
		fprintf(f,
			"  note: %" PRIu64
			" calls of entry points that the metadata does not describe are in no table\n",
			h->m->unknown_api);
	if (h->in->meta->entry_only)
		fputs("  note: entry-only capture: results and durations were not measured\n", f);
	if (h->m->filtered)
		fprintf(f,
			"  note: %" PRIu64
			" calls of other processes or threads are left out of the tables below; "
			"the verdict is of the whole capture\n",
			h->m->filtered);
	if (h->m->xids)
		fprintf(f,
			"  note: %" PRIu64
			" GPU errors were reported by the kernel driver; `gpubpf inspect --records` lists them\n",
			h->m->xids);
	if (h->in->join)
		device_notes(h, f);
}

static void capture_line(const struct report_head *h, FILE *f)
{
	const Gpubpf__Meta *m = h->in->meta;
	char n[FMT_NUM], t[FMT_NUM];

	if (h->in->host_left_out)
		fprintf(f, "  host observer: left out");
	else
		fprintf(f, "  %s calls recorded", fmt_count(n, h->m->calls));
	if (h->m->calls > h->m->filtered + h->m->unknown_api && h->m->last_ns >= h->m->first_ns)
		fprintf(f, ", %s from the first to the last", fmt_ns(t, h->m->last_ns - h->m->first_ns));
	if (h->in->join && h->in->host_left_out)
		fprintf(f, "; %s calls for work seen by the device observer",
			fmt_count(n, join__totals(h->in->join)->shim_calls));
	if (h->in->join)
		fprintf(f, "; %s records of the device", fmt_count(n, join__totals(h->in->join)->activities));
	if (m->n_command) {
		fputs("; command:", f);
		for (size_t i = 0; i < m->n_command; i++) {
			putc(' ', f);
			fmt_put_safe(f, m->command[i]);
		}
	}
	putc('\n', f);
}

void report_head_text(const struct report_head *h, FILE *f, bool color)
{
	verdict(h, f, color);
	capture_line(h, f);
}

const char *cell__text(const struct cell *c, enum unit unit, char *buf)
{
	if (c->kind == CELL_UNMEASURED)
		return "not measured";
	if (c->kind == CELL_NONE)
		return "-";
	if (c->kind == CELL_TEXT)
		return c->text;
	if (c->kind == CELL_REAL) {
		if (unit == UNIT_SHARE)
			return fmt_percent(buf, c->real);
		snprintf(buf, FMT_NUM,
			 unit == UNIT_VALUE   ? "%.6g"
			 : unit == UNIT_RATIO ? "%.3f"
					      : "%.2f",
			 c->real);
		return buf;
	}
	if (c->kind == CELL_SIGNED && unit == UNIT_NS) {
		bool less = (int64_t)c->number < 0;
		char ns[FMT_NUM];

		fmt_ns(ns, less ? -c->number : c->number);
		snprintf(buf, FMT_NUM, "%s%.30s", less ? "-" : c->number ? "+" : "", ns);
		return buf;
	}
	if (c->kind == CELL_SIGNED) {
		snprintf(buf, FMT_NUM, "%" PRId64, (int64_t)c->number);
		return buf;
	}
	switch (unit) {
	case UNIT_RATE:
		fmt_bytes(buf, c->number);
		strncat(buf, "/s", FMT_NUM - strlen(buf) - 1);
		return buf;
	case UNIT_NS:
		return fmt_ns(buf, c->number);
	case UNIT_BYTES:
		return fmt_bytes(buf, c->number);
	case UNIT_ID:
		snprintf(buf, FMT_NUM, "%" PRIu64, c->number);
		return buf;
	case UNIT_HEX:
		snprintf(buf, FMT_NUM, "0x%" PRIx64, c->number);
		return buf;
	default:
		return fmt_count(buf, c->number);
	}
}

/* A rare column has something to say when a cell is neither empty nor zero. */
static bool shown(const struct rows *rows, unsigned column, unsigned columns)
{
	const struct column *c = &rows->section->columns[column];

	if (!c->head)
		return false;
	for (size_t i = 0; c->rare && i < rows->n; i++) {
		const struct cell *cell = &rows->cells[i * columns + column];

		if (cell->kind == CELL_TEXT || cell->kind == CELL_UNMEASURED || cell->number ||
		    cell->real != 0)
			return true;
	}
	return !c->rare;
}

static int fill(struct fmt_table *t, const struct rows *rows, const unsigned *pick, unsigned npick, size_t n)
{
	unsigned columns = section__columns(rows->section);
	char buf[FMT_NUM];
	int rc = 0;

	for (unsigned p = 0; !rc && p < npick; p++) {
		enum unit unit = rows->section->columns[pick[p]].unit;

		if (unit != UNIT_TEXT && p + 1 < npick)
			fmt_table__align(t, p, FMT_RIGHT);
		rc = fmt_table__cell(t, rows->section->columns[pick[p]].head);
	}
	for (size_t i = 0; !rc && i < n; i++)
		for (unsigned p = 0; !rc && p < npick; p++)
			rc = fmt_table__cell(t, cell__text(&rows->cells[i * columns + pick[p]],
							   rows->section->columns[pick[p]].unit, buf));
	return rc;
}

int rows__table(const struct rows *rows, FILE *f, size_t n, bool color)
{
	unsigned columns = section__columns(rows->section), npick = 0, *pick = calloc(columns, sizeof(*pick));
	struct fmt_table *t = NULL;
	int rc = -ENOMEM;

	if (!pick)
		return rc;
	for (unsigned c = 0; c < columns; c++)
		if (shown(rows, c, columns))
			pick[npick++] = c;
	t = fmt_table__new(npick);
	if (t)
		rc = fill(t, rows, pick, npick, n);
	if (!rc)
		fmt_table__print(t, f, 2, fmt_columns(f), color);
	fmt_table__free(t);
	free(pick);
	return rc;
}

static const char *why_empty(const struct report *r, const struct section *s)
{
	bool threads = r->o.model.filter.ntids;

	if (threads && section__of_memory(s))
		return "not shown for a choice of threads (memory belongs to processes)";
	if (threads && (s->build == build_devices || s->build == build_streams || s->build == build_gaps))
		return "not shown for a choice of threads (a device's time belongs to all of them)";
	if (s->build == build_threads && !r->o.model.threads)
		return "not counted (--threads counts them)";
	return "none recorded";
}

static int section(const struct report *r, const struct section *s, FILE *f, bool color)
{
	struct rows rows;
	char more[FMT_NUM];
	int rc = report__rows(r, s, &rows);
	size_t n = r->o.limit && r->o.limit < rows.n ? (size_t)r->o.limit : rows.n;

	if (rc)
		goto out;
	fprintf(f, "\n%s%s%s", color ? "\033[1m" : "", s->title, color ? "\033[0m" : "");
	if (!rows.n) {
		if (report__unobserved(r, s))
			fprintf(f, ": not measured (%s)\n", report__unobserved(r, s));
		else
			fprintf(f, ": %s\n", why_empty(r, s));
		goto out;
	}
	fprintf(f, ": %s\n", s->population);
	if (report__note(r, s))
		fprintf(f, "  (%s)\n", report__note(r, s));
	rc = rows__table(&rows, f, n, color);
	if (rows.n > n)
		fprintf(f, "  %s more (-n 0 shows all)\n", fmt_count(more, rows.n - n));
out:
	rows__clear(&rows);
	return rc;
}

int report_text(const struct report *r, FILE *f)
{
	const struct report_head h = { .in = &r->in,
				       .m = r->m,
				       .left_out = r->dev ? r->dev->left_out : 0,
				       .others = r->dev ? r->dev->others : 0 };
	bool color = fmt_color(f);
	int rc = 0;

	report_head_text(&h, f, color);
	for (size_t i = 0; !rc && i < r->o.nsections; i++)
		if (report__shows(r, r->o.sections[i]))
			rc = section(r, r->o.sections[i], f, color);
	return rc;
}
