// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/members.h"

#include <errno.h>
#include <inttypes.h>

#include "inspect/jsonsafe.h"
#include "model/member.h"
#include "util/fmt.h"

static const char *const heads[] = { "",        "host",     "process ids", "began", "took",
				     "records", "moved by", "clock",       "calls", "verdict" };
#define COLUMNS (sizeof(heads) / sizeof(heads[0]))

/* How its times stand against those of members of other machines. */
static void clock_text(const Gpubpf__Meta *meta, const Gpubpf__Member *m, char *buf, size_t n)
{
	bool alone = true;
	char ns[FMT_NUM];

	for (size_t i = 0; i < meta->n_member; i++)
		alone = alone && member_same_clock(meta->member[0], meta->member[i]);
	if (alone)
		snprintf(buf, n, "the same");
	else if (m->has_error_ns)
		snprintf(buf, n, "± %s (%.16s)", fmt_ns(ns, m->error_ns),
			 m->error_from ? m->error_from : "?");
	else
		snprintf(buf, n, "error not known");
}

static uint64_t calls_of(const Gpubpf__Member *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < m->n_ledger; i++)
		n += m->ledger[i]->calls;
	return n;
}

static int row(const struct inspection *s, const Gpubpf__Member *m, struct fmt_table *t)
{
	uint64_t origin = s->meta->has_start_ns ? s->meta->start_ns : 0;
	char index[24], ids[32], began[FMT_NUM], took[FMT_NUM] = "not known", records[FMT_NUM],
						 shift[FMT_NUM], clock[64], calls[FMT_NUM] = "not counted";
	const char *cells[COLUMNS];
	int rc = 0;

	snprintf(index, sizeof(index), "%u", m->index);
	snprintf(ids, sizeof(ids), "+ %" PRIu64, (uint64_t)m->index * MEMBER_IDS);
	if (m->has_start_ns && m->start_ns >= origin)
		fmt_ns(began, m->start_ns - origin);
	else
		snprintf(began, sizeof(began), "not known");
	if (m->has_start_ns && m->has_end_ns && m->end_ns >= m->start_ns)
		fmt_ns(took, m->end_ns - m->start_ns);
	fmt_count(records, m->records);
	fmt_ns(shift, m->shift_ns);
	clock_text(s->meta, m, clock, sizeof(clock));
	if (m->n_ledger)
		fmt_count(calls, calls_of(m));
	cells[0] = index;
	cells[1] = m->host && m->host->hostname ? m->host->hostname : "-";
	cells[2] = ids;
	cells[3] = began;
	cells[4] = took;
	cells[5] = records;
	cells[6] = shift;
	cells[7] = clock;
	cells[8] = calls;
	cells[9] = m->verdict;
	for (size_t i = 0; !rc && i < COLUMNS; i++)
		rc = fmt_table__cell(t, cells[i]);
	return rc;
}

int inspect_members_text(const struct inspection *s, FILE *f)
{
	struct fmt_table *t;
	int rc = 0;

	if (!s->meta->n_member)
		return 0;
	fputs("\nMembers: the captures that this one was merged of\n", f);
	t = fmt_table__new(COLUMNS);
	if (!t)
		return -ENOMEM;
	for (unsigned i = 2; i < COLUMNS - 1; i++)
		fmt_table__align(t, i, FMT_RIGHT);
	for (unsigned i = 0; !rc && i < COLUMNS; i++)
		rc = fmt_table__cell(t, heads[i]);
	for (size_t i = 0; !rc && i < s->meta->n_member; i++)
		rc = row(s, s->meta->member[i], t);
	if (!rc)
		fmt_table__print(t, f, 2, 0, fmt_color(f));
	fmt_table__free(t);
	for (size_t i = 0; !rc && i < s->meta->n_member; i++) {
		const Gpubpf__Member *m = s->meta->member[i];

		if (!m->headline)
			continue;
		fprintf(f, "  %u: ", m->index);
		fmt_put_safe(f, m->headline);
		putc('\n', f);
	}
	return rc;
}

/* ---- JSON ---- */

static void put_list(json_t *o, const char *name, char **words, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_safe_string(words[i]));
	json_object_set_new(o, name, a);
}

static void put_ledger(json_t *o, const Gpubpf__Member *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_ledger; i++) {
		const Gpubpf__LedgerLine *l = m->ledger[i];
		json_t *e = json_add_object(a);

		json_put_text(e, "population", l->population);
		json_put_int(e, "calls", l->calls);
		json_put_if(e, "nested", l->has_nested, l->nested);
		json_put_int(e, "failed", l->failed);
		json_put_int(e, "recorded", l->recorded);
		json_put_int(e, "lost_ring", l->lost_ring);
		json_put_int(e, "lost_thread", l->lost_thread);
		json_put_int(e, "lost_depth", l->lost_depth);
		json_put_int(e, "lost_writer", l->lost_writer);
		json_put_int(e, "abandoned", l->abandoned);
		json_put_int(e, "in_flight", l->in_flight);
		json_object_set_new(e, "unexplained", json_integer(l->unexplained));
	}
	if (m->n_ledger)
		json_object_set_new(o, "ledger", a);
	else
		json_decref(a);
}

json_t *inspect_members_json(const Gpubpf__Meta *meta)
{
	json_t *a = meta->n_member ? json_array() : NULL;

	for (size_t i = 0; a && i < meta->n_member; i++) {
		const Gpubpf__Member *m = meta->member[i];
		json_t *o = json_add_object(a);

		json_put_int(o, "index", m->index);
		json_put_int(o, "ids_from", (uint64_t)m->index * MEMBER_IDS);
		json_put_text(o, "identity", m->identity);
		if (m->host) {
			json_put_text(o, "hostname", m->host->hostname);
			json_put_text(o, "boot_id", m->host->boot_id);
		}
		json_put_text(o, "mode", m->mode);
		put_list(o, "command", m->command, m->n_command);
		json_put_if(o, "start_ns", m->has_start_ns, m->start_ns);
		json_put_if(o, "end_ns", m->has_end_ns, m->end_ns);
		json_put_text(o, "end_reason", m->end_reason);
		json_put_int(o, "shift_ns", m->shift_ns);
		json_put_if(o, "error_ns", m->has_error_ns, m->error_ns);
		json_put_text(o, "error_from", m->error_from);
		json_put_text(o, "verdict", m->verdict);
		json_put_text(o, "headline", m->headline);
		put_list(o, "missing", m->missing, m->n_missing);
		json_put_int(o, "records", m->records);
		put_ledger(o, m);
		json_put_if(o, "device_calls", m->has_device_calls, m->device_calls);
		json_put_if(o, "device_matched", m->has_device_matched, m->device_matched);
		if (m->has_device_unexplained)
			json_object_set_new(o, "device_unexplained", json_integer(m->device_unexplained));
	}
	return a;
}
