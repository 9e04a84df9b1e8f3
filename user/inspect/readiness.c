// SPDX-License-Identifier: GPL-2.0-or-later
#include "inspect/readiness.h"

#include <inttypes.h>
#include <string.h>

#include "gate/stored.h"
#include "inspect/jsonsafe.h"
#include "util/fmt.h"

#define PROCESSES_SHOWN 8

static json_t *shim_json(const Gpubpf__GateStatus *s)
{
	json_t *o = json_object(), *kinds = json_array(), *notes = json_array();

	json_put_text(o, "source", s->source);
	json_put_int(o, "sequence", s->sequence);
	json_put_text(o, "lifecycle", s->lifecycle);
	json_put_text(o, "readiness", s->readiness);
	json_put_text(o, "reason", s->reason);
	json_put_int(o, "now_ns", s->now_ns);
	json_put_if(o, "first_touch_ns", s->has_first_touch_ns, s->first_touch_ns);
	json_put_if(o, "deadline_ns", s->has_deadline_ns, s->deadline_ns);
	json_put_if(o, "warmup_ns", s->has_warmup_ns, s->warmup_ns);
	for (size_t i = 0; i < s->n_kind; i++) {
		json_t *k = json_object();

		json_put_text(k, "name", s->kind[i]->name);
		json_object_set_new(k, "required", json_boolean(s->kind[i]->required));
		json_object_set_new(k, "result", json_integer(s->kind[i]->result));
		json_array_append_new(kinds, k);
	}
	for (size_t i = 0; i < s->n_note; i++)
		json_array_append_new(notes, json_safe_string(s->note[i]));
	/* over a probe no kinds come: absent, not none */
	if (s->n_kind)
		json_object_set(o, "kinds", kinds);
	json_decref(kinds);
	json_object_set_new(o, "notes", notes);
	return o;
}

static json_t *host_json(const Gpubpf__Readiness *r)
{
	json_t *o = json_object();

	json_put_if(o, "init_entry_ns", r->has_init_entry_ns, r->init_entry_ns);
	json_put_if(o, "init_return_ns", r->has_init_return_ns, r->init_return_ns);
	if (r->has_init_result)
		json_object_set_new(o, "init_result", json_integer(r->init_result));
	json_put_if(o, "first_context_ns", r->has_first_context_ns, r->first_context_ns);
	json_put_if(o, "first_module_ns", r->has_first_module_ns, r->first_module_ns);
	json_put_if(o, "first_work_ns", r->has_first_work_ns, r->first_work_ns);
	json_put_if(o, "armed_ns", r->has_armed_ns, r->armed_ns);
	return o;
}

json_t *inspect_readiness_json(const Gpubpf__Meta *m)
{
	json_t *o, *list;
	struct gate_sum sum;
	char line[320];

	gate_sum(m, &sum);
	if (!sum.stated)
		return NULL;
	o = json_object();
	list = json_array();
	gate_sum_text(&sum, line, sizeof(line));
	json_put_text(o, "readiness", gate_sum_word(&sum));
	if (sum.first && sum.first->reason)
		json_put_text(o, "reason", sum.first->reason);
	json_put_text(o, "text", line);
	json_put_int(o, "processes_ready", sum.ready_processes);
	json_put_int(o, "processes_proven_before_first_context", sum.proven);
	for (size_t i = 0; i < m->n_readiness; i++) {
		const Gpubpf__Readiness *r = m->readiness[i];
		json_t *p = json_object();

		json_put_int(p, "pid", r->tgid);
		json_put_text(p, "readiness", r->readiness);
		json_put_text(p, "reason", r->reason);
		json_put_text(p, "before_first_context", r->order);
		if (r->shim)
			json_object_set_new(p, "shim", shim_json(r->shim));
		json_object_set_new(p, "host", host_json(r));
		json_array_append_new(list, p);
	}
	json_object_set_new(o, "processes", list);
	return o;
}

json_t *inspect_coverage_json(const Gpubpf__Meta *m)
{
	json_t *a;

	/* an empty list says that nothing is to be said: not for a capture that could not say it */
	if (!m->n_readiness && !m->n_coverage)
		return NULL;
	a = json_array();
	for (size_t i = 0; i < m->n_coverage; i++) {
		json_t *o = json_object();

		json_put_text(o, "code", m->coverage[i]->code);
		json_put_text(o, "text", m->coverage[i]->text);
		json_put_if(o, "pid", m->coverage[i]->tgid != 0, m->coverage[i]->tgid);
		json_array_append_new(a, o);
	}
	return a;
}

static void put_coverage(const Gpubpf__Meta *m, uint32_t tgid, const char *indent, FILE *f)
{
	for (size_t i = 0; i < m->n_coverage; i++) {
		const Gpubpf__Coverage *c = m->coverage[i];

		if (c->tgid != tgid)
			continue;
		fputs(indent, f);
		fmt_put_safe(f, c->code);
		if (c->text && c->text[0]) {
			fputs(": ", f);
			fmt_put_safe(f, c->text);
		}
		putc('\n', f);
	}
}

static void put_process(const Gpubpf__Readiness *r, FILE *f)
{
	const char *remedy = "";

	fprintf(f, "  process %u: ", r->tgid);
	fmt_put_safe(f, r->readiness);
	if (r->reason && r->reason[0]) {
		fputs(", ", f);
		fmt_put_safe(f, r->reason);
		fputs(": ", f);
		fmt_put_safe(f, gate_stored_reason(r->reason, &remedy));
	}
	if (remedy[0])
		fprintf(f, "\n    → %s", remedy);
	putc('\n', f);
}

static bool is_ready(const Gpubpf__Readiness *r)
{
	return !strcmp(r->readiness, "ready");
}

void inspect_readiness_lines(const Gpubpf__Meta *m, FILE *f)
{
	struct gate_sum sum;
	char line[320];
	size_t shown = 0;

	gate_sum(m, &sum);
	if (!sum.stated)
		return;
	gate_sum_text(&sum, line, sizeof(line));
	fputs(sum.ready ? "  readiness: " : "  NOT READY: ", f);
	fmt_put_safe(f, line);
	putc('\n', f);
	for (size_t i = 0; i < m->n_readiness; i++) {
		const Gpubpf__Readiness *r = m->readiness[i];

		if (is_ready(r) || shown++ >= PROCESSES_SHOWN)
			continue;
		fputs("  ", f);
		put_process(r, f);
		put_coverage(m, r->tgid, "      ", f);
	}
	if (shown > PROCESSES_SHOWN)
		fprintf(f, "    %zu more processes (gpubpf inspect shows all)\n", shown - PROCESSES_SHOWN);
	/* notes of those that are ready are worth a line all the same */
	for (size_t i = 0; i < m->n_readiness; i++)
		if (is_ready(m->readiness[i]))
			put_coverage(m, m->readiness[i]->tgid, "    ", f);
	put_coverage(m, 0, "    ", f);
}

/* A moment as its distance from the first one that is known. */
static void put_moment(FILE *f, const char *name, bool there, uint64_t ns, uint64_t from)
{
	char buf[FMT_NUM];

	if (!there)
		fprintf(f, "      %-22s not seen\n", name);
	else
		fprintf(f, "      %-22s %s%s\n", name, ns < from ? "-" : "+",
			fmt_ns(buf, ns < from ? from - ns : ns - from));
}

void inspect_readiness_text(const Gpubpf__Meta *m, FILE *f)
{
	if (!m->n_readiness)
		return;
	fputs("\nReadiness of capture (the shim's word, and what the host observer saw)\n", f);
	for (size_t i = 0; i < m->n_readiness; i++) {
		const Gpubpf__Readiness *r = m->readiness[i];
		uint64_t from = r->has_init_entry_ns ? r->init_entry_ns : r->has_armed_ns ? r->armed_ns : 0;

		put_process(r, f);
		if (r->shim) {
			fprintf(f, "      shim says ");
			fmt_put_safe(f, r->shim->lifecycle);
			fputs(", ", f);
			fmt_put_safe(f, r->shim->readiness);
			fprintf(f, " (%s %" PRIu64 ")\n", !strcmp(r->shim->source, "file") ? "file" : "probe",
				r->shim->sequence);
		} else {
			fputs("      shim says nothing\n", f);
		}
		fputs("      before the first context: ", f);
		fmt_put_safe(f, r->order);
		putc('\n', f);
		put_moment(f, "cuInit entered", r->has_init_entry_ns, r->init_entry_ns, from);
		put_moment(f, "capture armed", r->has_armed_ns, r->armed_ns, from);
		put_moment(f, "cuInit returned", r->has_init_return_ns, r->init_return_ns, from);
		put_moment(f, "first context", r->has_first_context_ns, r->first_context_ns, from);
		put_moment(f, "first module load", r->has_first_module_ns, r->first_module_ns, from);
		put_moment(f, "first work", r->has_first_work_ns, r->first_work_ns, from);
		put_coverage(m, r->tgid, "      ", f);
	}
	put_coverage(m, 0, "    ", f);
}
