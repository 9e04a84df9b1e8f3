// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <time.h>

#include "inspect/cost.h"
#include "inspect/device.h"
#include "inspect/latency.h"
#include "inspect/members.h"
#include "inspect/stacks.h"
#include "inspect/readiness.h"
#include "inspect/shims.h"
#include "model/cuda_abi.h"
#include "util/fmt.h"

#define PROCESSES_SHOWN 20
#define NOTES_SHOWN 20

__attribute__((format(printf, 3, 4))) static void field(FILE *f, const char *name, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	fprintf(f, "  %-12s ", name);
	fmt_put_safe(f, buf);
	putc('\n', f);
}

static void list(FILE *f, const char *name, char **words, size_t n)
{
	fprintf(f, "  %-12s", name);
	for (size_t i = 0; i < n; i++) {
		putc(' ', f);
		fmt_put_safe(f, words[i]);
	}
	putc('\n', f);
}

static void verdict(const struct inspection *s, FILE *f)
{
	const struct ledger *l = &s->ledger;
	char line[768];

	ledger_headline(l, line, sizeof(line));
	fmt_put_safe(f, line);
	putc('\n', f);
	for (int facts = 0; facts < 2; facts++) {
		unsigned n = facts ? l->nfacts : l->nreasons;

		for (unsigned i = 0; i < n; i++) {
			const struct ledger_reason *r = facts ? &l->fact[i] : &l->reason[i];

			fputs(facts ? "  note: " : "  missing: ", f);
			fmt_put_safe(f, r->text);
			if (r->remedy[0])
				fprintf(f, "\n           → %s", r->remedy);
			putc('\n', f);
		}
	}
	if (s->bad_apis)
		fprintf(f, "  note: %u descriptions of entry points in the metadata cannot be used\n",
			s->bad_apis);
}

static void wall_clock(const struct inspection *s, FILE *f, const char *name, uint64_t mono)
{
	uint64_t wall;
	struct tm tm;
	time_t sec;
	char buf[40];

	if (!inspect_wall(s, mono, &wall)) {
		field(f, name,
		      "%" PRIu64 " ns of the monotonic clock (no clock pair: wall time is not known)", mono);
		return;
	}
	sec = (time_t)(wall / 1000000000);
	if (!gmtime_r(&sec, &tm) || !strftime(buf, sizeof(buf), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	field(f, name, "%s.%09u UTC", buf, (unsigned)(wall % 1000000000));
}

static void ended(const struct inspection *s, FILE *f)
{
	char buf[FMT_NUM];

	if (!s->footer) {
		field(f, "ended", "without a footer: the recorder was killed or the disk was full");
		return;
	}
	wall_clock(s, f, "ended", s->footer->end_ns);
	field(f, "because", "%s", s->footer->end_reason);
	if (s->meta->has_start_ns && s->footer->end_ns >= s->meta->start_ns)
		field(f, "duration", "%s", fmt_ns(buf, s->footer->end_ns - s->meta->start_ns));
	if (s->footer->has_exit_status)
		field(f, "exit status", "%d", s->footer->exit_status);
}

static void clocks(const struct inspection *s, FILE *f)
{
	uint64_t worst = 0;
	bool bounded = s->meta->n_clock > 0;
	char buf[FMT_NUM];

	for (size_t i = 0; i < s->meta->n_clock; i++) {
		bounded &= s->meta->clock[i]->has_error_ns;
		worst = s->meta->clock[i]->error_ns > worst ? s->meta->clock[i]->error_ns : worst;
	}
	if (bounded)
		field(f, "clock pairs", "%zu, each within %s", s->meta->n_clock, fmt_ns(buf, worst));
	else
		field(f, "clock pairs", "%zu%s", s->meta->n_clock,
		      s->meta->n_clock ? ", error not measured" : "");
}

static void capture(const struct inspection *s, FILE *f)
{
	const Gpubpf__Meta *m = s->meta;
	const Gpubpf__Host *h = m->host;
	char buf[FMT_NUM];

	fputs("\nCapture\n", f);
	field(f, "file", "%s, %s", s->path, fmt_bytes(buf, s->status->file_bytes));
	if (m->gpubpf_version)
		field(f, "written by", "gpubpf %s", m->gpubpf_version);
	if (m->n_command)
		list(f, "command", m->command, m->n_command);
	if (m->mode)
		field(f, "mode", "%s", m->mode);
	if (m->n_target) {
		fprintf(f, "  %-12s", "targets");
		for (size_t i = 0; i < m->n_target; i++)
			fprintf(f, " %u", m->target[i]);
		putc('\n', f);
	}
	if (s->host_left_out)
		field(f, "observers", "the device observer; host observer: left out (--no-host)");
	if (m->attach)
		field(f, "attached by", "%s%s", m->attach,
		      m->entry_only ? ", entries only: no results, no durations" : "");
	if (m->has_start_ns)
		wall_clock(s, f, "started", m->start_ns);
	ended(s, f);
	clocks(s, f);
	if (h && h->hostname)
		field(f, "host", "%s", h->hostname);
	if (h && h->kernel)
		field(f, "kernel", "%s%s%s", h->kernel, h->arch ? " " : "", h->arch ? h->arch : "");
	if (h && h->has_cpus)
		field(f, "CPUs", "%u", h->cpus);
	if (h && h->driver_version)
		field(f, "driver", "%s", h->driver_version);
	for (size_t i = 0; i < m->n_gpu; i++)
		field(f, "GPU", "%s %s %s", m->gpu[i]->name ? m->gpu[i]->name : "",
		      m->gpu[i]->bus_id ? m->gpu[i]->bus_id : "", m->gpu[i]->uuid ? m->gpu[i]->uuid : "");
	for (size_t i = 0; i < m->n_option; i++)
		field(f, i ? "" : "options", "%s=%s", m->option[i]->name, m->option[i]->value);
	for (size_t i = 0; i < m->n_library; i++)
		field(f, i ? "" : "libraries", "%u %s%s%s", m->library[i]->index,
		      m->library[i]->path        ? m->library[i]->path
		      : m->library[i]->opened_as ? m->library[i]->opened_as
						 : "",
		      m->library[i]->version ? " version " : "",
		      m->library[i]->version ? m->library[i]->version : "");
}

static int cells(struct fmt_table *t, unsigned n, ...)
{
	va_list ap;
	int r = 0;

	va_start(ap, n);
	while (!r && n--)
		r = fmt_table__cell(t, va_arg(ap, const char *));
	va_end(ap);
	return r;
}

static int number(struct fmt_table *t, uint64_t n)
{
	char buf[FMT_NUM];

	return fmt_table__cell(t, fmt_count(buf, n));
}

static struct fmt_table *table(unsigned columns, unsigned left)
{
	struct fmt_table *t = fmt_table__new(columns);

	for (unsigned i = left; t && i < columns; i++)
		fmt_table__align(t, i, FMT_RIGHT);
	return t;
}

static int print(struct fmt_table *t, FILE *f, int r)
{
	if (!r)
		fmt_table__print(t, f, 2, 0, fmt_color(f));
	fmt_table__free(t);
	return r;
}

static int processes(const struct inspection *s, FILE *f)
{
	const Gpubpf__Meta *m = s->meta;
	struct fmt_table *t;
	char pid[24], parent[24];
	int r;

	if (!m->n_process)
		return 0;
	fprintf(f, "\nProcesses (%zu)\n", m->n_process);
	t = table(5, 0);
	if (!t)
		return -ENOMEM;
	r = cells(t, 5, "pid", "parent", "comm", "origin", "executable");
	for (size_t i = 0; !r && i < m->n_process && i < PROCESSES_SHOWN; i++) {
		const Gpubpf__Process *p = m->process[i];

		snprintf(pid, sizeof(pid), "%u", p->tgid);
		snprintf(parent, sizeof(parent), "%u", p->parent);
		r = cells(t, 5, pid, p->has_parent ? parent : "", p->comm ? p->comm : "",
			  p->origin ? p->origin : "", p->exe ? p->exe : "");
	}
	r = print(t, f, r);
	if (m->n_process > PROCESSES_SHOWN)
		fprintf(f, "  %zu more (--json has all)\n", m->n_process - PROCESSES_SHOWN);
	return r;
}

static void notes(const struct inspection *s, FILE *f)
{
	if (s->meta->n_note)
		fprintf(f, "\nNotes (%zu)\n", s->meta->n_note);
	for (size_t i = 0; i < s->meta->n_note && i < NOTES_SHOWN; i++)
		field(f, s->meta->note[i]->code, "%s", s->meta->note[i]->text);
	if (s->meta->n_note > NOTES_SHOWN)
		fprintf(f, "  %zu more (--json has all)\n", s->meta->n_note - NOTES_SHOWN);
}

static int entry_points(const struct inspection *s, FILE *f, bool apis)
{
	struct fmt_table *t;
	char id[24], where[32];
	int r;

	if (s->host_left_out) {
		fputs("\nEntry points: host observer: left out, no probe stood in libcuda\n", f);
		return 0;
	}
	fprintf(f, "\nEntry points: %u armed, %u missing in the driver, %u refused%s\n", s->armed, s->missing,
		s->refused, apis ? "" : " (--apis lists them)");
	if (!apis || !s->meta->n_api)
		return 0;
	t = table(6, 1);
	if (!t)
		return -ENOMEM;
	for (unsigned i = 1; i < 6; i++)
		fmt_table__align(t, i, i == 4 ? FMT_RIGHT : FMT_LEFT);
	r = cells(t, 6, "id", "symbol", "kind", "state", "offset", "probe");
	for (size_t i = 0; !r && i < s->meta->n_api; i++) {
		const Gpubpf__Api *a = s->meta->api[i];

		snprintf(id, sizeof(id), "%u", a->id);
		snprintf(where, sizeof(where), "0x%" PRIx64, a->offset);
		r = cells(t, 6, id, a->symbol, a->kind, a->error ? strerror(a->error) : inspect_api_state(a),
			  a->has_offset ? where : "", a->probe ? a->probe : "");
	}
	return print(t, f, r);
}

static int counters(const struct inspection *s, FILE *f)
{
	struct fmt_table *t;
	char id[24];
	int r;

	if (!s->counts || s->host_left_out)
		return 0;
	fputs("\nAPI calls by entry point (counted in the kernel; nested: made inside another traced call)\n",
	      f);
	t = table(6, 1);
	if (!t)
		return -ENOMEM;
	r = cells(t, 6, "entry point", "calls", "nested", "failed", "records", "lost");
	for (size_t i = 0; !r && i < s->counts->n_api; i++) {
		const Gpubpf__ApiCounts *c = s->counts->api[i];
		const struct api *a = apitab__get(s->tab, c->api);

		if (!(c->entered | c->nested | c->recorded | c->orphan_return))
			continue;
		snprintf(id, sizeof(id), "<undescribed %u>", c->api);
		r = fmt_table__cell(t, a ? a->symbol : id);
		if (!r)
			r = number(t, c->entered) || number(t, c->nested) || number(t, c->failed) ||
			    number(t, c->recorded) ||
			    number(t, c->lost_ring + c->lost_thread + c->lost_depth);
	}
	return print(t, f, r ? -ENOMEM : 0);
}

static void results(const struct inspection *s, FILE *f)
{
	char buf[FMT_NUM];

	if (s->counts && s->counts->n_result)
		fputs("\nResults other than CUDA_SUCCESS, of the application's calls\n", f);
	for (size_t i = 0; s->counts && i < s->counts->n_result; i++) {
		const Gpubpf__ResultCount *c = s->counts->result[i];
		const struct api *a = apitab__get(s->tab, c->api);
		const char *name = cuda_result_name(c->result);

		fputs("  ", f);
		fmt_put_safe(f, a ? a->symbol : "<undescribed>");
		fprintf(f, ": %s × %d%s%s\n", fmt_count(buf, c->count), c->result, name ? " " : "",
			name ? name : "");
	}
	for (size_t i = 0; s->counts && i < s->counts->n_global; i++)
		if (s->counts->global[i]->count)
			field(f, s->counts->global[i]->name, "%s",
			      fmt_count(buf, s->counts->global[i]->count));
}

static int ledger_row(struct fmt_table *t, const struct ledger_line *n)
{
	const uint64_t terms[] = { n->calls,      n->recorded,  n->lost_ring, n->lost_thread,
				   n->lost_depth, n->abandoned, n->in_flight };
	char buf[24];
	int r = fmt_table__cell(t, n->population);

	for (unsigned i = 0; !r && i < sizeof(terms) / sizeof(terms[0]); i++)
		r = number(t, terms[i]);
	snprintf(buf, sizeof(buf), "%" PRId64, n->unexplained);
	if (!r)
		r = fmt_table__cell(t, buf);
	if (!r)
		r = number(t, n->lost_writer);
	return r ? r : number(t, n->in_file);
}

static int ledger(const struct inspection *s, FILE *f)
{
	struct fmt_table *t;
	int r;

	if (!s->ledger.has_counts || s->host_left_out)
		return 0;
	fputs("\nLedger of API calls, nested ones included: calls = recorded + lost + abandoned + open + unexplained\n",
	      f);
	t = table(11, 1);
	if (!t)
		return -ENOMEM;
	r = cells(t, 11, "population", "calls", "recorded", "lost: ring", "threads", "depth", "abandoned",
		  "open at end", "unexplained", "not written", "in file");
	for (unsigned p = 0; !r && p < API_POPULATIONS; p++)
		r = ledger_row(t, &s->ledger.line[p]);
	if (!r)
		r = ledger_row(t, &s->ledger.total);
	return print(t, f, r);
}

static void blocks(const struct inspection *s, FILE *f)
{
	const struct capture_status *st = s->status;
	char a[FMT_NUM], b[FMT_NUM];

	fputs("\nBlocks\n", f);
	for (unsigned k = 0; inspect_block_kind(k); k++)
		if (st->blocks[k])
			field(f, inspect_block_kind(k), "%s", fmt_count(a, st->blocks[k]));
	if (!s->host_left_out)
		field(f, "in records", "%s call records, %s of open calls", fmt_count(a, s->calls),
		      fmt_count(b, s->open_calls));
	field(f, s->host_left_out ? "in records" : "", "%s task records, %s GPU error records",
	      fmt_count(a, s->tasks), fmt_count(b, s->xids));
	if (s->batches)
		field(f, "", "%s batches of the device observer", fmt_count(a, s->batches));
	if (s->breakdowns)
		field(f, "", "%s breakdowns of calls' time", fmt_count(a, s->breakdowns));
	if (s->waits)
		field(f, "", "%s waits in a futex inside calls, with who ended them", fmt_count(a, s->waits));
	if (st->plain_bytes)
		field(f, "record bytes", "%s, stored in %s (%.1f %%)", fmt_bytes(a, st->plain_bytes),
		      fmt_bytes(b, st->stored_bytes),
		      100.0 * (double)st->stored_bytes / (double)st->plain_bytes);
	field(f, "damage",
	      "%" PRIu64 " blocks, %" PRIu64 " bytes outside blocks, %" PRIu64 " bytes of a torn last block",
	      st->damaged_blocks, st->damaged_bytes, st->tail_bytes);
	if (st->bad_records || st->unknown_records)
		field(f, "bad records",
		      "%" PRIu64 " blocks left at a malformed one, %" PRIu64 " of unknown kinds",
		      st->bad_records, st->unknown_records);
}

int inspect_text(const struct inspection *s, FILE *f, bool apis)
{
	int r;

	verdict(s, f);
	capture(s, f);
	r = inspect_members_text(s, f);
	if (!r)
		r = processes(s, f);
	notes(s, f);
	if (!r)
		r = entry_points(s, f, apis);
	if (!r)
		r = counters(s, f);
	inspect_latency_text(s, f);
	inspect_stacks_text(s, f);
	if (!r)
		r = inspect_shims_text(s->meta, s->counts, f);
	inspect_readiness_text(s->meta, f);
	if (!r)
		r = inspect_cost_text(s, f);
	results(s, f);
	if (!r)
		r = ledger(s, f);
	if (!r)
		r = inspect_device_text(s, f);
	blocks(s, f);
	return r;
}
