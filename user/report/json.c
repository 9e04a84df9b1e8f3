/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One JSON object, written row by row: memory does not grow with the tables. A key that is not there does not
 * apply; a value that was not observed is null and has "<key>_unmeasured": true beside it (R14).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "cmd.h"
#include "inspect/jsonsafe.h"
#include "inspect/readiness.h"
#include "report/more.h"

/* jansson's integers are signed: what does not fit is written as a real number of the same size. */
static json_t *number(uint64_t n)
{
	return n <= INT64_MAX ? json_integer((json_int_t)n) : json_real((double)n);
}

static json_t *hex(uint64_t n)
{
	return json_sprintf("0x%" PRIx64, n);
}

static int set_unmeasured(json_t *o, const char *key)
{
	char name[64];

	snprintf(name, sizeof(name), "%s_unmeasured", key);
	return json_object_set_new(o, key, json_null()) || json_object_set_new(o, name, json_true());
}

static json_t *row(const struct section *s, const struct cell *cells, unsigned columns)
{
	json_t *o = json_object();

	for (unsigned i = 0; o && i < columns; i++) {
		const struct cell *c = &cells[i];
		const char *key = s->columns[i].key;
		int bad = 0;

		if (c->kind == CELL_UNMEASURED)
			bad = set_unmeasured(o, key);
		else if (c->kind == CELL_TEXT)
			bad = json_object_set_new(o, key, json_safe_string(c->text));
		else if (c->kind == CELL_SIGNED)
			bad = json_object_set_new(o, key, json_integer((json_int_t)c->number));
		else if (c->kind == CELL_REAL)
			bad = json_object_set_new(o, key, json_real(c->real));
		else if (c->kind == CELL_NUMBER)
			bad = json_object_set_new(
				o, key, s->columns[i].unit == UNIT_HEX ? hex(c->number) : number(c->number));
		if (bad) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

static json_t *columns_of(const struct section *s)
{
	static const char *const units[] = { "text",  "count", "ns",          "bytes", "id",   "hex",
					     "share", "mean",  "bytes_per_s", "value", "ratio" };
	json_t *o = json_object();

	for (const struct column *c = s->columns; o && c->key; c++) {
		json_t *v = json_pack("{s:s, s:s}", "unit", units[c->unit], "meaning", c->meaning);

		if (!v || json_object_set_new(o, c->key, v)) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

int rows__json(const struct rows *rows, FILE *f, size_t n)
{
	unsigned columns = section__columns(rows->section);
	int rc = json_write(f, ",\"columns\":", columns_of(rows->section));

	fprintf(f, ",\"row_count\":%zu,\"rows_left_out\":%zu,\"rows\":[", rows->n, rows->n - n);
	for (size_t i = 0; !rc && i < n; i++)
		rc = json_write(f, i ? ",\n" : "\n", row(rows->section, rows->cells + i * columns, columns));
	putc(']', f);
	return rc;
}

static int section(const struct report *r, const struct section *s, FILE *f, bool first)
{
	struct rows rows;
	int rc = report__rows(r, s, &rows);
	size_t n = r->o.limit && r->o.limit < rows.n ? (size_t)r->o.limit : rows.n;

	if (rc)
		goto out;
	fprintf(f, "%s\n\"%s\":{", first ? "" : ",", s->name);
	rc = json_write(f, "\"population\":", json_string(s->population));
	if (!rc && report__note(r, s))
		rc = json_write(f, ",\"note\":", json_string(report__note(r, s)));
	if (!rc && report__unobserved(r, s)) {
		fputs(",\"unmeasured\":true", f);
		rc = json_write(f, ",\"unmeasured_because\":", json_string(report__unobserved(r, s)));
	}
	if (!rc)
		rc = rows__json(&rows, f, n);
	fputs("}", f);
out:
	rows__clear(&rows);
	return rc;
}

static json_t *reasons(const struct ledger_reason *list, unsigned n)
{
	json_t *a = json_array();

	for (unsigned i = 0; a && i < n; i++) {
		json_t *o = json_object();

		if (!o || json_object_set_new(o, "code", json_safe_string(list[i].code)) ||
		    json_object_set_new(o, "text", json_safe_string(list[i].text)) ||
		    (list[i].count && json_object_set_new(o, "count", number(list[i].count))) ||
		    (list[i].remedy[0] &&
		     json_object_set_new(o, "remedy", json_safe_string(list[i].remedy))) ||
		    json_array_append_new(a, o)) {
			json_decref(a);
			return NULL;
		}
	}
	return a;
}

int report_verdict_json(const struct ledger *l, FILE *f)
{
	char line[768];
	int rc;

	ledger_headline(l, line, sizeof(line));
	fputs(",\n\"verdict\":{", f);
	rc = json_write(f, "\"verdict\":", json_string(ledger_verdict_name(l->verdict)));
	if (!rc)
		rc = json_write(f, ",\"text\":", json_safe_string(line));
	if (!rc)
		rc = json_write(f, ",\"reasons\":", reasons(l->reason, l->nreasons));
	if (!rc)
		rc = json_write(f, ",\"facts\":", reasons(l->fact, l->nfacts));
	fputs("}", f);
	return rc;
}

/* Absent where nothing is known of it. */
static int readiness(const struct report *r, FILE *f)
{
	json_t *o = inspect_readiness_json(r->in.meta), *coverage = inspect_coverage_json(r->in.meta);
	int rc = 0;

	if (o)
		rc = json_write(f, ",\n\"capture_readiness\":", o);
	if (!rc && coverage)
		return json_write(f, ",\n\"capture_coverage\":", coverage);
	json_decref(coverage);
	return rc;
}

static int capture(const struct report *r, FILE *f)
{
	const struct model *m = r->m;
	json_t *o = json_object(), *command = json_array();
	bool counted = m->calls > m->filtered + m->unknown_api;
	int bad = !o || !command;

	for (size_t i = 0; !bad && i < r->in.meta->n_command; i++)
		bad = json_array_append_new(command, json_safe_string(r->in.meta->command[i]));
	bad = bad || json_object_set_new(o, "records", number(m->records)) ||
	      (r->in.host_left_out ? set_unmeasured(o, "call_records") ||
					     json_object_set_new(o, "host_observer", json_string("left out"))
				   : json_object_set_new(o, "call_records", number(m->calls))) ||
	      json_object_set_new(o, "task_records", number(m->tasks)) ||
	      json_object_set_new(o, "gpu_error_records", number(m->xids)) ||
	      json_object_set_new(o, "undescribed_calls", number(m->unknown_api)) ||
	      json_object_set_new(o, "filtered_calls", number(m->filtered)) ||
	      (r->in.host_left_out
		       ? set_unmeasured(o, "live_bytes_peak")
		       : json_object_set_new(o, "live_bytes_peak", number(m->allocs.total_peak))) ||
	      (r->in.meta->has_entry_only &&
	       json_object_set_new(o, "entry_only", json_boolean(r->in.meta->entry_only))) ||
	      (counted && json_object_set_new(o, "first_call_ns", number(m->first_ns))) ||
	      (counted && json_object_set_new(o, "last_call_ns", number(m->last_ns))) ||
	      (json_array_size(command) && json_object_set(o, "command", command));
	if (!bad && r->in.join)
		bad = (r->in.host_left_out &&
		       json_object_set_new(o, "calls_seen_by_device_observer",
					   number(join__totals(r->in.join)->shim_calls))) ||
		      json_object_set_new(o, "device_records",
					  number(join__totals(r->in.join)->activities)) ||
		      json_object_set_new(o, "filtered_device_records", number(r->dev->left_out)) ||
		      json_object_set_new(o, "other_device_records", number(r->dev->others));
	json_decref(command);
	if (bad) {
		json_decref(o);
		return -ENOMEM;
	}
	return json_write(f, ",\n\"capture\":", o);
}

int report_json(const struct report *r, FILE *f)
{
	bool first = true;
	int rc;

	fputs("{\"schema\":\"gpubpf.report/1\",\"gpubpf_version\":\"" GPUBPF_VERSION "\",", f);
	rc = json_write(f, "\"file\":", json_safe_string(r->in.path));
	if (!rc)
		rc = report_verdict_json(&r->ledger, f);
	if (!rc)
		rc = readiness(r, f);
	if (!rc)
		rc = capture(r, f);
	fputs(",\n\"sections\":{", f);
	for (size_t i = 0; !rc && i < r->o.nsections; i++) {
		if (!report__shows(r, r->o.sections[i]))
			continue;
		rc = section(r, r->o.sections[i], f, first);
		first = false;
	}
	fputs("}}\n", f);
	return rc;
}
