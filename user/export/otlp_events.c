// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Traces and logs. What has a beginning and an end is a span: a process, its calls, and as their children what they ran.
 * What is a moment alone, or has no time that can be believed, is a log record: a span of length 0 would be a measurement
 * that nobody made (R19).
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "export/otlp.h"
#include "export/samples.h"
#include "model/cuda_abi.h"

enum id_kind { ID_WORK = 3, ID_CALL, ID_EXEC, ID_SHIM_CALL }; /* 1 and 2: of processes */

#define KIND_INTERNAL 1
#define STATUS_ERROR 2
#define SEVERITY_INFO 9
#define SEVERITY_WARN 13

struct event {
	struct otlp_process *p;
	bool is_span;
	uint64_t id, parent; /* of a span */
	bool timed;          /* of a log record: it is a moment */
	uint64_t start, end; /* wall clock; end of a span */
	int severity;
};

/* False: no clock shows it. */
static bool place(struct otlp *o, struct event *e, uint64_t mono, uint64_t took)
{
	e->timed = wall__at(&o->wall, mono, &e->start) && !__builtin_add_overflow(e->start, took, &e->end);
	if (!e->timed)
		o->beyond++;
	return e->timed;
}

static void put_ids(FILE *f, const struct otlp_process *p, const char *field, uint64_t span)
{
	fprintf(f, "\"traceId\":\"%016" PRIx64 "%016" PRIx64 "\",\"%s\":\"%016" PRIx64 "\"", p->trace[0],
		p->trace[1], field, span);
}

static bool wanted(const struct otlp *o, const struct event *e)
{
	return e->is_span == (o->signal == OTLP_TRACES);
}

/* The fields that spans and log records begin with; attributes follow. NULL: no memory. */
static FILE *begin(struct otlp *o, const struct event *e, const char *name, const char *event_name,
		   struct otlp_attrs *a)
{
	FILE *f = otlp__item(o, e->p);

	if (!f)
		return NULL;
	putc('{', f);
	if (e->is_span) {
		struct otlp_process *p = e->p;

		put_ids(f, p, "spanId", e->id);
		if (e->parent)
			fprintf(f, ",\"parentSpanId\":\"%016" PRIx64 "\"", e->parent);
		fputs(",\"name\":", f);
		otlp_put_text(f, name);
		fprintf(f,
			",\"kind\":%d,\"startTimeUnixNano\":\"%" PRIu64 "\",\"endTimeUnixNano\":\"%" PRIu64
			"\",",
			KIND_INTERNAL, e->start, e->end);
		p->first = !p->spans || e->start < p->first ? e->start : p->first;
		p->last = !p->spans || e->end > p->last ? e->end : p->last;
		p->spans++;
	} else {
		put_ids(f, e->p, "spanId", e->p->root);
		if (e->timed)
			fprintf(f, ",\"timeUnixNano\":\"%" PRIu64 "\"", e->start);
		fprintf(f,
			",\"observedTimeUnixNano\":\"%" PRIu64
			"\",\"severityNumber\":%d,\"eventName\":\"%s\",",
			o->seen_at, e->severity, event_name);
		fputs("\"body\":{\"stringValue\":", f);
		otlp_put_text(f, name);
		fputs("},", f);
	}
	otlp_attrs__begin(a, f, "attributes");
	return f;
}

static int end(struct otlp *o, const struct event *e, FILE *f)
{
	putc('}', f);
	return otlp__item_done(o, e->p);
}

static void put_dim(struct otlp_attrs *a, const char *key, const uint32_t d[3])
{
	char text[48];

	snprintf(text, sizeof(text), "%ux%ux%u", d[0], d[1], d[2]);
	otlp_attrs__text(a, key, text);
}

/* ---- Calls ---- */

static const char *call_quality(const struct view *v)
{
	if (v->timed)
		return "valid";
	if (v->outcome == OUTCOME_OPEN)
		return "open_at_the_end";
	return v->c->flags & GPUBPF_CALL_RETURNED ? "return_before_entry" : "entry_only";
}

static void call_attributes(const struct otlp *o, const struct trace_call *c, struct otlp_attrs *a)
{
	const struct view *v = c->v;

	otlp_attrs__int(a, "thread.id", v->thread->tid);
	otlp_attrs__text(a, "gpubpf.population", api_population_names[v->p->population]);
	if (v->c->depth)
		otlp_attrs__int(a, "gpubpf.call.depth", v->c->depth);
	if (c->kernel) {
		otlp_attrs__text(a, "gpubpf.kernel", c->kernel->display);
		if (c->kernel->key.has & LAUNCH_HAS_GRID)
			put_dim(a, "gpubpf.grid", c->kernel->key.grid);
		if (c->kernel->key.has & LAUNCH_HAS_BLOCK)
			put_dim(a, "gpubpf.block", c->kernel->key.block);
	}
	if (v->captured)
		otlp_attrs__bool(a, "gpubpf.captured", true);
	if (c->has_work && o->t->in.join && c->work < join__host_calls(o->t->in.join))
		otlp_attrs__text(a, "gpubpf.on_device",
				 join_fate_name(join__host_call_fate(o->t->in.join, c->work)));
	if (v->outcome == OUTCOME_OK || v->outcome == OUTCOME_FAILED) {
		int32_t result = v->c->result;

		if (result >= 0)
			otlp_attrs__int(a, "gpubpf.result", (uint64_t)result);
		otlp_attrs__text(a, "gpubpf.result.name", cuda_result_name(result));
	}
	otlp_attrs__text(a, "gpubpf.timing.source", "bpf_uprobe");
	otlp_attrs__text(a, "gpubpf.timing.quality", call_quality(v));
}

static int on_call(const struct trace_call *c, void *arg)
{
	struct otlp *o = arg;
	const struct view *v = c->v;
	struct event e = { .is_span = v->timed, .severity = SEVERITY_INFO };
	const char *name = v->p->api->symbol;
	struct otlp_attrs a;
	FILE *f;

	progress__add(&o->progress, 1);
	if (!v->thread->selected)
		return 0;
	e.p = otlp__process(o, v->proc);
	if (!e.p)
		return -ENOMEM;
	e.id = c->has_work ? identity__id(&o->id, ID_WORK, c->work)
			   : identity__id(&o->id, ID_CALL, o->other_calls++);
	e.parent = e.p->root;
	if (!place(o, &e, v->c->t_entry, v->timed ? v->ns : 0) || !wanted(o, &e))
		return 0;
	f = begin(o, &e, name, "gpubpf.call", &a);
	if (!f)
		return -ENOMEM;
	call_attributes(o, c, &a);
	otlp_attrs__end(&a);
	if (v->outcome == OUTCOME_FAILED && e.is_span) {
		fprintf(f, ",\"status\":{\"code\":%d,\"message\":", STATUS_ERROR);
		otlp_put_text(f, cuda_result_name(v->c->result) ? cuda_result_name(v->c->result) : "error");
		putc('}', f);
	}
	return end(o, &e, f);
}

/* Where the host observer was left out: the calls that the shim saw. */
static int put_shim_calls(struct otlp *o)
{
	static const char *const names[] = {
		[GPUBPF_WORK_LAUNCH] = "<launch>",    [GPUBPF_WORK_GRAPH] = "<graph launch>",
		[GPUBPF_WORK_COPY] = "<copy>",        [GPUBPF_WORK_SET] = "<set>",
		[GPUBPF_WORK_ALLOC] = "<allocation>", [GPUBPF_WORK_SYNC] = "<synchronization>"
	};
	const struct join *j = o->t->in.join;
	int rc = 0;

	for (size_t i = 0; !rc && i < join__shim_calls(j); i++) {
		struct event e = { .severity = SEVERITY_INFO };
		struct join_shim_call c;
		struct otlp_attrs a;
		FILE *f;

		join__shim_call(j, i, &c);
		if (!c.session->proc->selected)
			continue;
		e.is_span = c.has_end && c.end >= c.start;
		e.p = otlp__process(o, c.session->proc);
		if (!e.p)
			return -ENOMEM;
		e.id = identity__id(&o->id, ID_SHIM_CALL, i);
		e.parent = e.p->root;
		if (!place(o, &e, c.start, e.is_span ? c.end - c.start : 0) || !wanted(o, &e))
			continue;
		f = begin(o, &e, join_work_name(c.work) ? names[c.work] : "<call>", "gpubpf.call", &a);
		if (!f)
			return -ENOMEM;
		otlp_attrs__int(&a, "thread.id", c.tid);
		otlp_attrs__int(&a, "gpubpf.correlation", c.correlation);
		otlp_attrs__text(&a, "gpubpf.link", join_shim_link_name(c.link));
		if (c.has_end)
			otlp_attrs__bool(&a, "gpubpf.failed", c.failed);
		otlp_attrs__text(&a, "gpubpf.timing.source", "cupti_callback");
		otlp_attrs__text(&a, "gpubpf.timing.quality", e.is_span ? "valid" : "start_only");
		otlp_attrs__end(&a);
		rc = end(o, &e, f);
	}
	return rc;
}

/* ---- What ran ---- */

static uint64_t span_of_call(const struct otlp *o, const struct join_activity *a)
{
	if (!a->has_call)
		return 0;
	if (a->call.of_shim)
		return a->has_shim_call ? identity__id(&o->id, ID_SHIM_CALL, a->shim_call) : 0;
	return a->call.has_return ? identity__id(&o->id, ID_WORK, a->call.number) : 0;
}

static void put_key(const struct join_key *k, struct otlp_attrs *a)
{
	if (k->kind == GPUBPF_ACTIVITY_KERNEL) {
		put_dim(a, "gpubpf.grid", k->grid);
		put_dim(a, "gpubpf.block", k->block);
		if (k->has_cluster)
			put_dim(a, "gpubpf.cluster",
				(uint32_t[3]){ k->cluster[0], k->cluster[1], k->cluster[2] });
		otlp_attrs__int(a, "gpubpf.registers", k->registers);
		otlp_attrs__int(a, "gpubpf.shared.static", k->static_shared);
		otlp_attrs__int(a, "gpubpf.shared.dynamic", k->dynamic_shared);
	} else if (k->kind == GPUBPF_ACTIVITY_COPY) {
		otlp_attrs__text(a, "gpubpf.copy.direction", join_copy_name(k->copy_kind));
		otlp_attrs__text(a, "gpubpf.copy.from", join_memory_name(k->src_kind));
		otlp_attrs__text(a, "gpubpf.copy.to", join_memory_name(k->dst_kind));
	}
}

static void put_caller(struct otlp *o, const struct join_activity *x, struct otlp_attrs *a)
{
	uint64_t entry;

	otlp_attrs__int(a, "thread.id", x->call.tid);
	if (!x->call.of_shim)
		otlp_attrs__text(a, "gpubpf.call", trace__symbol(o->t, x->call.api));
	if (wall__at(&o->wall, x->call.entry, &entry))
		otlp_attrs__int(a, "gpubpf.call.entry_unix_nano", entry);
	if (x->time != JOIN_TIME_VALID)
		return;
	/* what starts before its call was entered has none: it is a violation of causality */
	otlp_attrs__bool(a, "gpubpf.started_before_call", x->start < x->call.entry);
	if (x->start >= x->call.entry)
		otlp_attrs__int(a, "gpubpf.since_call_ns", x->start - x->call.entry);
}

static void exec_attributes(struct otlp *o, const struct trace_exec *x, struct otlp_attrs *a)
{
	const struct join_session *s = x->lane->session;

	otlp_attrs__text(a, "gpubpf.kind", join_kind_name(x->a.kind));
	otlp_attrs__int(a, "gpubpf.device", x->lane->device);
	otlp_attrs__int(a, "gpubpf.context", x->lane->context);
	otlp_attrs__int(a, "gpubpf.stream", x->lane->stream);
	otlp_attrs__int(a, "gpubpf.correlation", x->a.correlation);
	put_key(x->key, a);
	if (x->a.kind == GPUBPF_ACTIVITY_COPY || x->a.kind == GPUBPF_ACTIVITY_SET)
		otlp_attrs__int(a, "gpubpf.bytes", x->a.bytes);
	if (x->a.has_node) {
		otlp_attrs__int(a, "gpubpf.graph", x->a.graph);
		otlp_attrs__int(a, "gpubpf.graph.node", x->a.graph_node);
	}
	if (x->a.has_call)
		put_caller(o, &x->a, a);
	otlp_attrs__text(a, "gpubpf.link", join_link_name(x->a.link));
	otlp_attrs__text(a, "gpubpf.timing.source",
			 timing_source_name(s->has_hello ? s->hello.time_source : 0));
	otlp_attrs__text(a, "gpubpf.timing.quality", join_time_name(x->a.time));
	if (x->a.time == JOIN_TIME_UNANCHORED && x->a.end >= x->a.start)
		otlp_attrs__int(a, "gpubpf.duration_ns", x->a.end - x->a.start);
	if (s->has_clock_error)
		otlp_attrs__int(a, "gpubpf.timing.error_ns", s->clock_error_ns);
}

static const char *exec_name(const struct trace_exec *x, char *buf, size_t n)
{
	const char *direction;

	if (x->display)
		return x->display;
	if (x->key->kind != GPUBPF_ACTIVITY_COPY)
		return x->key->kind == GPUBPF_ACTIVITY_SET ? "set" : "other activity";
	direction = join_copy_text(x->key->copy_kind);
	if (direction)
		snprintf(buf, n, "copy %s", direction);
	else
		snprintf(buf, n, "copy <unknown kind %u>", x->key->copy_kind);
	return buf;
}

static int put_exec(struct otlp *o, const struct trace_exec *x)
{
	struct event e = { .is_span = x->a.time == JOIN_TIME_VALID, .severity = SEVERITY_WARN };
	uint64_t call = span_of_call(o, &x->a);
	struct otlp_attrs a;
	char buf[64];
	FILE *f;

	e.p = otlp__process(o, x->lane->session->proc);
	if (!e.p)
		return -ENOMEM;
	e.id = identity__id(&o->id, ID_EXEC, x->index);
	e.parent = call ? call : e.p->root;
	if (!wanted(o, &e) || (e.is_span && !place(o, &e, x->a.start, x->a.end - x->a.start)))
		return 0;
	f = begin(o, &e, exec_name(x, buf, sizeof(buf)), "gpubpf.execution", &a);
	if (!f)
		return -ENOMEM;
	exec_attributes(o, x, &a);
	otlp_attrs__end(&a);
	if (call && e.is_span) {
		fputs(",\"links\":[{", f);
		put_ids(f, e.p, "spanId", call);
		putc(',', f);
		otlp_attrs__begin(&a, f, "attributes");
		otlp_attrs__text(&a, "gpubpf.link", join_link_name(x->a.link));
		otlp_attrs__end(&a);
		fputs("}]", f);
	}
	return end(o, &e, f);
}

static int put_execs(struct otlp *o)
{
	struct trace_exec x;
	int rc = 0;

	for (size_t i = 0; !rc && i < trace__execs(o->t); i++) {
		trace__exec(o->t, i, &x);
		progress__add(&o->progress, 1);
		if (x.lane->session->proc->selected)
			rc = put_exec(o, &x);
	}
	return rc;
}

/* ---- Processes ---- */

/* From the first to the last of its spans. */
static int put_root(struct otlp *o, struct otlp_process *p)
{
	struct event e = { .p = p, .is_span = true, .id = p->root, .start = p->first, .end = p->last };
	struct otlp_attrs a;
	FILE *f = begin(o, &e, p->proc->comm[0] ? p->proc->comm : "process", "", &a);

	if (!f)
		return -ENOMEM;
	otlp_attrs__int(&a, "process.pid", p->proc->tgid);
	otlp__notes(o, &a);
	if (o->beyond)
		otlp_attrs__int(&a, "gpubpf.left_out.beyond_the_clock", o->beyond);
	otlp_attrs__text(&a, "gpubpf.timing.source", "first and last of its spans");
	otlp_attrs__text(&a, "gpubpf.timing.quality", "derived");
	otlp_attrs__end(&a);
	return end(o, &e, f);
}

int otlp_events(struct otlp *o, struct err *err)
{
	const struct trace_visitor v = { .call = on_call, .arg = o };
	int rc = o->t->in.host_left_out ? put_shim_calls(o) : trace__pass(o->t, &v, err);

	if (!rc)
		rc = put_execs(o);
	for (size_t i = 0; !rc && i < o->processes.n; i++) {
		struct otlp_process *p = hmap__at(&o->processes, i);

		if (p->spans)
			rc = put_root(o, p);
		if (!rc)
			rc = otlp__flush(o, p);
	}
	return rc;
}
