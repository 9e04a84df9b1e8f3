// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "inspect/cost.h"
#include "inspect/device.h"
#include "inspect/jsonsafe.h"
#include "inspect/latency.h"
#include "inspect/members.h"
#include "inspect/stacks.h"
#include "inspect/readiness.h"
#include "inspect/shims.h"
#include "model/cuda_abi.h"

#define SCHEMA 1

static void set_words(json_t *o, const char *name, char **words, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, json_safe_string(words[i]));
	if (n)
		json_object_set_new(o, name, a);
	else
		json_decref(a);
}

static json_t *host(const Gpubpf__Host *h)
{
	json_t *o = json_object();

	json_put_text(o, "hostname", h->hostname);
	json_put_text(o, "boot_id", h->boot_id);
	json_put_text(o, "kernel", h->kernel);
	json_put_text(o, "arch", h->arch);
	json_put_if(o, "cpus", h->has_cpus, h->cpus);
	json_put_text(o, "driver_version", h->driver_version);
	return o;
}

static json_t *clocks(const Gpubpf__Meta *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_clock; i++) {
		const Gpubpf__ClockPair *c = m->clock[i];
		json_t *o = json_add_object(a);

		json_put_int(o, "monotonic_ns", c->monotonic_ns);
		json_put_if(o, "realtime_ns", c->has_realtime_ns, c->realtime_ns);
		json_put_if(o, "boottime_ns", c->has_boottime_ns, c->boottime_ns);
		json_put_if(o, "error_ns", c->has_error_ns, c->error_ns);
		json_put_if(o, "utc_error_ns", c->has_utc_error_ns, c->utc_error_ns);
	}
	return a;
}

static json_t *libraries(const Gpubpf__Meta *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_library; i++) {
		const Gpubpf__Library *l = m->library[i];
		json_t *o = json_add_object(a);

		json_put_int(o, "index", l->index);
		json_put_text(o, "path", l->path);
		json_put_text(o, "opened_as", l->opened_as);
		json_put_if(o, "dev", l->has_dev, l->dev);
		json_put_if(o, "ino", l->has_ino, l->ino);
		if (l->has_build_id)
			json_put_bytes(o, "build_id", l->build_id.data, l->build_id.len);
		json_put_text(o, "version", l->version);
		json_put_if(o, "attached_ns", l->has_attached_ns, l->attached_ns);
	}
	return a;
}

static json_t *processes(const Gpubpf__Meta *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_process; i++) {
		const Gpubpf__Process *p = m->process[i];
		json_t *o = json_add_object(a);

		json_put_int(o, "pid", p->tgid);
		json_put_if(o, "view_pid", p->has_view_pid, p->view_pid);
		json_put_if(o, "ns_pid", p->has_ns_pid, p->ns_pid);
		json_put_if(o, "parent", p->has_parent, p->parent);
		json_put_if(o, "start_time", p->has_start_time, p->start_time);
		json_put_text(o, "comm", p->comm);
		json_put_text(o, "exe", p->exe);
		set_words(o, "cmdline", p->cmdline, p->n_cmdline);
		json_put_text(o, "cgroup", p->cgroup);
		json_put_text(o, "container", p->container);
		json_put_text(o, "origin", p->origin);
		json_put_if(o, "since_ns", p->has_since_ns, p->since_ns);
	}
	return a;
}

static json_t *gpus_and_notes(const Gpubpf__Meta *m, json_t *meta)
{
	json_t *gpus = json_array(), *notes = json_array(), *options = json_object(), *targets = json_array();

	for (size_t i = 0; i < m->n_gpu; i++) {
		json_t *o = json_add_object(gpus);

		json_put_text(o, "uuid", m->gpu[i]->uuid);
		json_put_text(o, "name", m->gpu[i]->name);
		json_put_text(o, "bus_id", m->gpu[i]->bus_id);
	}
	for (size_t i = 0; i < m->n_note; i++) {
		json_t *o = json_add_object(notes);

		json_put_int(o, "time_ns", m->note[i]->time_ns);
		json_put_text(o, "code", m->note[i]->code);
		json_put_text(o, "text", m->note[i]->text);
		json_put_if(o, "pid", m->note[i]->has_tgid, m->note[i]->tgid);
	}
	for (size_t i = 0; i < m->n_option; i++) {
		json_t *name = json_safe_string(m->option[i]->name);

		json_put_text(options, name ? json_string_value(name) : "", m->option[i]->value);
		json_decref(name);
	}
	for (size_t i = 0; i < m->n_target; i++)
		json_array_append_new(targets, json_integer(m->target[i]));
	json_object_set_new(meta, "targets", targets);
	json_object_set_new(meta, "options", options);
	json_object_set_new(meta, "gpus", gpus);
	json_object_set_new(meta, "notes", notes);
	return meta;
}

static json_t *metadata(const struct inspection *s)
{
	const Gpubpf__Meta *m = s->meta;
	json_t *o = json_object();
	uint64_t wall;

	json_put_text(o, "gpubpf_version", m->gpubpf_version);
	json_put_if(o, "wire_abi", m->has_wire_abi, m->wire_abi);
	json_put_if(o, "start_ns", m->has_start_ns, m->start_ns);
	if (m->has_start_ns && inspect_wall(s, m->start_ns, &wall))
		json_put_int(o, "start_realtime_ns", wall);
	json_put_text(o, "mode", m->mode);
	json_put_text(o, "attach", m->attach);
	if (m->has_entry_only)
		json_object_set_new(o, "entry_only", json_boolean(m->entry_only));
	set_words(o, "command", m->command, m->n_command);
	if (m->host)
		json_object_set_new(o, "host", host(m->host));
	json_object_set_new(o, "clock_pairs", clocks(m));
	json_object_set_new(o, "libraries", libraries(m));
	json_object_set_new(o, "shims", inspect_shims_json(m));
	json_object_set_new(o, "processes", processes(m));
	return gpus_and_notes(m, o);
}

static json_t *entry_points(const struct inspection *s, bool apis)
{
	json_t *o = json_object(), *a;

	json_put_int(o, "armed", s->armed);
	json_put_int(o, "missing", s->missing);
	json_put_int(o, "refused", s->refused);
	json_put_int(o, "undecodable", s->bad_apis);
	if (!apis)
		return o;
	a = json_array();
	for (size_t i = 0; i < s->meta->n_api; i++) {
		const Gpubpf__Api *p = s->meta->api[i];
		json_t *e = json_add_object(a);

		json_put_int(e, "id", p->id);
		json_put_text(e, "symbol", p->symbol);
		json_put_text(e, "kind", p->kind);
		json_put_text(e, "signature", p->signature);
		json_put_text(e, "state", inspect_api_state(p));
		json_put_if(e, "library", p->has_library, p->library);
		json_put_if(e, "offset", p->has_offset, p->offset);
		json_put_text(e, "probe", p->probe);
		if (p->has_error && p->error)
			json_object_set_new(e, "error", json_integer(p->error));
	}
	json_object_set_new(o, "list", a);
	return o;
}

static json_t *api_counts(const struct inspection *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->counts->n_api; i++) {
		const Gpubpf__ApiCounts *c = s->counts->api[i];
		const struct api *api = apitab__get(s->tab, c->api);
		json_t *o = json_add_object(a);

		json_put_int(o, "id", c->api);
		json_put_text(o, "symbol", api ? api->symbol : NULL);
		json_put_text(o, "population", api ? api_population(api) : NULL);
		json_put_if(o, "entered", c->has_entered, c->entered);
		json_put_if(o, "nested", c->has_nested, c->nested);
		json_put_if(o, "returned", c->has_returned, c->returned);
		json_put_if(o, "failed", c->has_failed, c->failed);
		json_put_if(o, "recorded", c->has_recorded, c->recorded);
		json_put_if(o, "lost_ring", c->has_lost_ring, c->lost_ring);
		json_put_if(o, "lost_thread", c->has_lost_thread, c->lost_thread);
		json_put_if(o, "lost_depth", c->has_lost_depth, c->lost_depth);
		json_put_if(o, "abandoned", c->has_abandoned, c->abandoned);
		json_put_if(o, "orphan_return", c->has_orphan_return, c->orphan_return);
		json_put_if(o, "unmeasured", c->has_unmeasured, c->unmeasured);
		json_put_if(o, "in_flight", c->has_in_flight, c->in_flight);
		if (c->api < GPUBPF_API_MAX)
			json_put_int(o, "records_in_file", s->in_file[c->api]);
	}
	return a;
}

static json_t *counters(const struct inspection *s)
{
	json_t *o = json_object(), *results = json_array(), *globals = json_object();

	json_put_int(o, "time_ns", s->counts->time_ns);
	if (s->host_left_out)
		json_put_unmeasured(o, "by_entry_point");
	else
		json_object_set_new(o, "by_entry_point", api_counts(s));
	for (size_t i = 0; i < s->counts->n_result; i++) {
		const Gpubpf__ResultCount *c = s->counts->result[i];
		const struct api *api = apitab__get(s->tab, c->api);
		json_t *e = json_add_object(results);

		json_put_int(e, "id", c->api);
		json_put_text(e, "symbol", api ? api->symbol : NULL);
		json_object_set_new(e, "result", json_integer(c->result));
		json_put_text(e, "name", cuda_result_name(c->result));
		json_put_int(e, "calls", c->count);
	}
	if (s->host_left_out)
		json_decref(results);
	else
		json_object_set_new(o, "results", results);
	for (size_t i = 0; i < s->counts->n_global; i++) {
		json_t *name = json_safe_string(s->counts->global[i]->name);

		json_put_int(globals, name ? json_string_value(name) : "", s->counts->global[i]->count);
		json_decref(name);
	}
	json_object_set_new(o, "global", globals);
	json_object_set_new(o, "probes", inspect_probes_json(s->counts));
	return o;
}

static void ledger_line(json_t *o, const struct ledger_line *n)
{
	json_put_text(o, "population", n->population);
	json_put_int(o, "calls", n->calls);
	json_put_int(o, "nested", n->nested);
	json_put_int(o, "failed", n->failed);
	json_put_int(o, "recorded", n->recorded);
	json_put_int(o, "lost_ring", n->lost_ring);
	json_put_int(o, "lost_thread", n->lost_thread);
	json_put_int(o, "lost_depth", n->lost_depth);
	json_put_int(o, "lost_writer", n->lost_writer);
	json_put_int(o, "abandoned", n->abandoned);
	json_put_int(o, "in_flight", n->in_flight);
	json_object_set_new(o, "unexplained", json_integer(n->unexplained));
	json_put_int(o, "orphan_returns", n->orphan_returns);
	json_put_int(o, "in_file", n->in_file);
}

static json_t *reasons(const struct ledger_reason *list, unsigned n)
{
	json_t *a = json_array();

	for (unsigned i = 0; i < n; i++) {
		json_t *o = json_add_object(a);

		json_put_text(o, "code", list[i].code);
		json_put_if(o, "count", list[i].count != 0, list[i].count);
		json_put_text(o, "text", list[i].text);
		json_put_text(o, "remedy", list[i].remedy[0] ? list[i].remedy : NULL);
	}
	return a;
}

static json_t *ledger(const struct inspection *s)
{
	json_t *o = json_object(), *a = json_array();

	for (unsigned p = 0; p < API_POPULATIONS; p++)
		ledger_line(json_add_object(a), &s->ledger.line[p]);
	json_object_set_new(o, "populations", a);
	a = json_object();
	ledger_line(a, &s->ledger.total);
	json_object_set_new(o, "total", a);
	return o;
}

static json_t *footer(const struct inspection *s)
{
	json_t *o = json_object();

	json_put_int(o, "end_ns", s->footer->end_ns);
	json_put_text(o, "end_reason", s->footer->end_reason);
	json_put_int(o, "records", s->footer->records);
	json_put_int(o, "blocks", s->footer->blocks);
	json_put_text(o, "verdict_when_written", s->footer->verdict);
	if (s->footer->has_exit_status)
		json_object_set_new(o, "exit_status", json_integer(s->footer->exit_status));
	return o;
}

static json_t *file(const struct inspection *s)
{
	const struct capture_status *st = s->status;
	json_t *o = json_object(), *blocks = json_object(), *records = json_object();

	json_put_text(o, "path", s->path);
	json_put_int(o, "bytes", st->file_bytes);
	for (unsigned k = 0; inspect_block_kind(k); k++)
		json_put_int(blocks, inspect_block_kind(k), st->blocks[k]);
	json_object_set_new(o, "blocks", blocks);
	if (s->host_left_out) {
		json_put_unmeasured(records, "calls");
	} else {
		json_put_int(records, "calls", s->calls);
		json_put_int(records, "open_calls", s->open_calls);
	}
	json_put_int(records, "tasks", s->tasks);
	json_put_int(records, "xids", s->xids);
	json_put_int(records, "batches", s->batches);
	json_put_if(records, "breakdowns", s->breakdowns != 0, s->breakdowns);
	json_put_if(records, "futex_waits", s->waits != 0, s->waits);
	json_put_if(records, "stacks", s->stacks.calls != 0, s->stacks.calls);
	json_put_int(records, "unknown", st->unknown_records);
	json_object_set_new(o, "records", records);
	json_put_int(o, "plain_bytes", st->plain_bytes);
	json_put_int(o, "stored_bytes", st->stored_bytes);
	json_put_if(o, "first_ns", st->blocks[CAPTURE_BLOCK_RECORDS] != 0, st->first_ns);
	json_put_if(o, "last_ns", st->blocks[CAPTURE_BLOCK_RECORDS] != 0, st->last_ns);
	json_put_int(o, "damaged_blocks", st->damaged_blocks);
	json_put_int(o, "damaged_bytes", st->damaged_bytes);
	json_put_int(o, "tail_bytes", st->tail_bytes);
	json_put_int(o, "blocks_with_bad_records", st->bad_records);
	return o;
}

int inspect_json(const struct inspection *s, FILE *f, bool apis)
{
	json_t *o = json_object();
	char line[768];
	int r;

	ledger_headline(&s->ledger, line, sizeof(line));
	json_put_int(o, "schema", SCHEMA);
	json_put_text(o, "verdict", ledger_verdict_name(s->ledger.verdict));
	json_put_text(o, "headline", line);
	json_object_set_new(o, "reasons", reasons(s->ledger.reason, s->ledger.nreasons));
	json_object_set_new(o, "facts", reasons(s->ledger.fact, s->ledger.nfacts));
	/* absent where nothing is known of it */
	json_object_set_new(o, "capture_readiness", inspect_readiness_json(s->meta));
	json_object_set_new(o, "capture_coverage", inspect_coverage_json(s->meta));
	json_object_set_new(o, "metadata", metadata(s));
	json_object_set_new(o, "members", inspect_members_json(s->meta)); /* absent: not a merged capture */
	json_put_text(o, "host_observer", s->host_left_out ? "left out" : NULL);
	if (s->host_left_out) {
		json_put_unmeasured(o, "entry_points");
		json_put_unmeasured(o, "ledger");
	} else {
		json_object_set_new(o, "entry_points", entry_points(s, apis));
	}
	if (s->counts)
		json_object_set_new(o, "counters", counters(s));
	if (s->counts && !s->host_left_out)
		json_object_set_new(o, "ledger", ledger(s));
	json_object_set_new(o, "latency", inspect_latency_json(s));
	json_object_set_new(o, "cost", inspect_cost_json(s));
	json_object_set_new(o, "stacks", inspect_stacks_json(s));
	if (s->join)
		json_object_set_new(o, "device", inspect_device_json(s));
	if (s->footer)
		json_object_set_new(o, "footer", footer(s));
	json_object_set_new(o, "file", file(s));
	r = json_dumpf(o, f, JSON_INDENT(1)) && !ferror(f) ? -ENOMEM : 0;
	json_decref(o);
	putc('\n', f);
	return r;
}
