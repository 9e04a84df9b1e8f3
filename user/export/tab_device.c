// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the device observer: its sessions, the calls that it saw, what ran. */
#include <stdio.h>

#include "export/tables.h"
#include "inspect/device.h"

/* ---- sessions ---- */

static const struct tcol session_cols[] = {
	TCOL("id", ID, "number"),
	TCOL_R("process", "processes", "that was armed"),
	TCOL("number", NUMBER, "from 1, of its process"),
	TCOL_W("state", "failed|open|ended", "open: armed, and its end was not seen"),
	TCOL_A("reason", TEXT, "why it failed"),
	TCOL_A("armed_from_ns", TIME, "arming began"),
	TCOL_A("armed_ns", TIME, "all was on"),
	TCOL_A("ended_ns", TIME, "nothing more came"),
	TCOL_A("time_source", TEXT,
	       "monotonic: CUPTI asked for CLOCK_MONOTONIC; cupti_with_clock_pairs: its own clock"),
	TCOL_A("arming", TEXT, "inline: before the first CUDA call returned; attach: a recorder came later"),
	TCOL_A("shim_version", TEXT, "of the shim"),
	TCOL_A("cupti_version", NUMBER, "cuptiGetVersion()"),
	TCOL_A("driver_version", NUMBER, "of CUDA, as the driver says it"),
	TCOL("calls", COUNT, "calls that arrived: for work, allocations and waits"),
	TCOL("activities", COUNT, "records of activities that arrived"),
	TCOL("clock_pairs", COUNT, "readings of the clocks"),
	TCOL_U("clock_error_ns", DURATION,
	       "bound on what separates an execution's time from CLOCK_MONOTONIC"),
	TCOL("cupti_errors", COUNT, "later failures of CUPTI"),
	{ 0 },
};

static const char *source_name(const struct join_session *s)
{
	return !s->has_hello                                   ? NULL
	       : s->hello.time_source == GPUBPF_TIME_MONOTONIC ? "monotonic"
	       : s->hello.time_source == GPUBPF_TIME_CUPTI     ? "cupti_with_clock_pairs"
							       : NULL;
}

static const char *arming_name(const struct join_session *s)
{
	return !s->has_hello                            ? NULL
	       : s->hello.arming == GPUBPF_ARMED_INLINE ? "inline"
	       : s->hello.arming == GPUBPF_ARMED_ATTACH ? "attach"
							: NULL;
}

static int session_rows(struct tables *x, const struct table *t)
{
	static const char *const states[] = {
		[JOIN_SESSION_FAILED] = "failed",
		[JOIN_SESSION_OPEN] = "open",
		[JOIN_SESSION_ENDED] = "ended",
	};
	const struct join *j = x->t->in.join;
	int rc = 0;

	for (size_t i = 0; j && !rc && i < join__sessions(j); i++) {
		const struct join_session *s = join__session(j, i);
		const struct gpubpf_hello *h = s->has_hello ? &s->hello : NULL;
		struct trow *r = tables__begin(x, t);

		trow__number(r, i + 1);
		trow__number(r, tables__process(x, s->proc));
		trow__number(r, s->number);
		trow__text(r, states[s->state]);
		trow__text(r, join_reason_name(s->reason));
		trow__if(r, s->state != JOIN_SESSION_FAILED, s->armed_from);
		trow__if(r, s->state != JOIN_SESSION_FAILED, s->armed_at);
		trow__if(r, s->state == JOIN_SESSION_ENDED, s->ended);
		trow__text(r, source_name(s));
		trow__text(r, arming_name(s));
		trow__text(r, h && h->version[0] ? h->version : NULL);
		trow__if(r, h && h->cupti_version, h ? h->cupti_version : 0);
		trow__if(r, h && h->driver_version, h ? h->driver_version : 0);
		trow__number(r, s->calls);
		trow__number(r, s->activities);
		trow__number(r, s->clock_pairs);
		trow__seen(r, s->has_clock_error, s->clock_error_ns);
		trow__number(r, s->errors);
		rc = tables__put(x);
	}
	return rc;
}

static const char *no_shim(const struct trace *t)
{
	return t->in.join ? NULL : "no device observer in this capture";
}

const struct table table_sessions = { .name = "sessions",
				      .meaning = "one row per arming of the device observer in a process",
				      .cols = session_cols,
				      .rows = session_rows,
				      .unobserved = no_shim };

/* ---- kernels ---- */

static const struct tcol kernel_cols[] = {
	TCOL("id", ID, "number"),
	TCOL("name", TEXT, "what every output calls it: demangled, or <unresolved 0x…>"),
	TCOL_AU("symbol", TEXT, "its name in the module; not measured: it did not arrive"),
	TCOL("grid_x", NUMBER, "blocks"),
	TCOL("grid_y", NUMBER, "blocks"),
	TCOL("grid_z", NUMBER, "blocks"),
	TCOL("block_x", NUMBER, "threads"),
	TCOL("block_y", NUMBER, "threads"),
	TCOL("block_z", NUMBER, "threads"),
	TCOL_A("cluster_x", NUMBER, "blocks, of a launch with clusters"),
	TCOL_A("cluster_y", NUMBER, "blocks"),
	TCOL_A("cluster_z", NUMBER, "blocks"),
	TCOL("registers", NUMBER, "per thread"),
	TCOL("static_shared_bytes", BYTES, "of shared memory, per block"),
	TCOL("dynamic_shared_bytes", BYTES, "of shared memory, per block"),
	TCOL("local_bytes_per_thread", BYTES, "of local memory"),
	TCOL("cache_config", NUMBER, "as CUPTI has it"),
	{ 0 },
};

static int kernel_row(struct tables *x, const struct table *t, uint32_t i)
{
	const struct join_key *k = join__key(x->t->in.join, i);
	const char *symbol = join__name(x->t->in.join, k->name);
	struct trow *r = tables__begin(x, t);

	trow__number(r, i + 1);
	trow__text(r, x->t->key_display[i]);
	symbol ? trow__text(r, symbol) : trow__unmeasured(r);
	for (unsigned d = 0; d < 3; d++)
		trow__number(r, k->grid[d]);
	for (unsigned d = 0; d < 3; d++)
		trow__number(r, k->block[d]);
	for (unsigned d = 0; d < 3; d++)
		trow__if(r, k->has_cluster, k->cluster[d]);
	trow__number(r, k->registers);
	trow__number(r, k->static_shared);
	trow__number(r, k->dynamic_shared);
	trow__number(r, k->local_per_thread);
	trow__number(r, k->cache_config);
	return tables__put(x);
}

static int kernel_rows(struct tables *x, const struct table *t)
{
	const struct join *j = x->t->in.join;
	int rc = 0;

	for (uint32_t i = 0; j && !rc && i < join__keys(j); i++)
		if (join__key(j, i)->kind == GPUBPF_ACTIVITY_KERNEL)
			rc = kernel_row(x, t, i);
	return rc;
}

const struct table table_kernels = {
	.name = "kernels",
	.meaning =
		"one row per kernel and shape that ran: the launch key of the device, with what the compiler fixed",
	.cols = kernel_cols,
	.rows = kernel_rows,
	.unobserved = table_no_device
};

/* ---- device_calls ---- */

static const struct tcol device_call_cols[] = {
	TCOL("id", ID, "number, in the order of arrival"),
	TCOL_R("session", "sessions", "that saw it"),
	TCOL("own_tid", NUMBER, "its thread, in its own pid namespace"),
	TCOL("work", TEXT, "launch, graph_launch, copy, set, alloc or sync"),
	TCOL("start_ns", TIME, "CUPTI's callback at its entry"),
	TCOL_A("end_ns", TIME, "and at its end, within 1 us for calls longer than 2 s; absent: not seen"),
	TCOL_A("duration_ns", DURATION, "between the two"),
	TCOL_R("timing", "timings", "how these times were taken"),
	TCOL_A("failed", BOOL, "it returned an error"),
	TCOL("correlation", NUMBER, "CUPTI's id; comes round after 2^32 calls of a process"),
	TCOL_W("link",
	       "joined|alone|nested|ambiguous|before_host_observer|after_host_observer|no_host_call|other_call",
	       "joined: to `call`; alone, nested: the host observer was left out; other_call: no work, not joined"),
	TCOL_RA("call", "calls", "of the host, that it is"),
	TCOL("executions", COUNT, "that carry its correlation id"),
	{ 0 },
};

static int device_call_row(struct tables *x, const struct table *t, size_t i)
{
	struct trow *r = tables__begin(x, t);
	struct join_shim_call c;
	uint64_t call;

	join__shim_call(x->t->in.join, i, &c);
	call = c.link == JOIN_SHIM_JOINED ? tables__call(x, c.host_call) : 0;
	trow__number(r, i + 1);
	trow__number(r, tables__session(x, c.session));
	trow__number(r, c.tid);
	trow__text(r, join_work_name(c.work) ? join_work_name(c.work) : "unknown");
	trow__number(r, c.start);
	trow__if(r, c.has_end, c.end);
	trow__if(r, c.has_end, c.end - c.start);
	trow__number(r, c.has_end ? TIMING_SHIM : TIMING_SHIM_START);
	trow__if(r, c.has_end, c.failed);
	trow__number(r, c.correlation);
	trow__text(r, join_shim_link_name(c.link));
	trow__if(r, call, call);
	trow__number(r, c.executions);
	return tables__put(x);
}

static int device_call_rows(struct tables *x, const struct table *t)
{
	const struct join *j = x->t->in.join;
	int rc = j ? tables__call_ids(x) : 0;

	for (size_t i = 0; j && !rc && i < join__shim_calls(j); i++)
		rc = device_call_row(x, t, i);
	return rc;
}

const struct table table_device_calls = {
	.name = "device_calls",
	.meaning = "one row per call that the device observer saw: for work, allocations and waits",
	.cols = device_call_cols,
	.rows = device_call_rows,
	.unobserved = table_no_device
};

/* ---- executions ---- */

static const struct tcol execution_cols[] = {
	TCOL("id", ID, "number, in the order of the start; those without a time stand last"),
	TCOL("kind", TEXT, "kernel, copy, set, graph (a whole one), sync, memory, overhead"),
	TCOL_RA("kernel", "kernels", "of a kernel: what ran"),
	TCOL_R("session", "sessions", "that it was recorded in, and so its process"),
	TCOL("device", NUMBER, "as the process numbers it: two processes may mean two GPUs by one number"),
	TCOL("context", NUMBER, "CUPTI's id"),
	TCOL("stream", NUMBER, "CUPTI's id; not the handle in calls.stream"),
	TCOL_U("start_ns", TIME, "it started; not measured: timing says why"),
	TCOL_U("end_ns", TIME, "it ended"),
	TCOL_U("duration_ns", DURATION, "between the two"),
	TCOL_R("timing", "timings", "how these times were taken"),
	TCOL_W("link", "joined|no_host_call|orphan|ambiguous|other_call|device_launched",
	       "whether the call that asked for it is known, and why not"),
	TCOL_RA("call", "calls", "of the host, that asked for it"),
	TCOL_RA("device_call", "device_calls", "that has its correlation id"),
	TCOL("correlation", NUMBER, "CUPTI's id; 0: the device launched it"),
	TCOL_A("graph", NUMBER, "CUPTI's id of the graph whose node it is"),
	TCOL_A("graph_node", NUMBER, "CUPTI's id of the node"),
	TCOL_A("queued_ns", TIME, "queued, where CUPTI was asked for it"),
	TCOL_A("submitted_ns", TIME, "submitted, likewise"),
	TCOL_A("reported_start", NUMBER, "where the times are rejected: the start as CUPTI gave it"),
	TCOL_A("reported_end", NUMBER, "the end, likewise"),
	{ 0 },
};

static void exec_time_cells(struct trow *r, const struct trace_exec *e)
{
	bool valid = e->a.time == JOIN_TIME_VALID;

	trow__seen(r, valid, e->a.start);
	trow__seen(r, valid, e->a.end);
	trow__seen(r, valid || e->a.time == JOIN_TIME_UNANCHORED, e->a.end - e->a.start);
	trow__number(r, timing_of(e->lane->session, e->a.time));
}

static void exec_link_cells(struct trow *r, const struct tables *x, const struct trace_exec *e)
{
	uint64_t call = e->a.has_call && !e->a.call.of_shim ? tables__call(x, e->a.call.number) : 0;

	trow__text(r, join_link_name(e->a.link));
	trow__if(r, call, call);
	trow__if(r, e->a.has_shim_call, (uint64_t)e->a.shim_call + 1);
	trow__number(r, e->a.correlation);
	trow__if(r, e->a.has_node, e->a.graph);
	trow__if(r, e->a.has_node, e->a.graph_node);
}

static int execution_row(struct tables *x, const struct table *t, size_t i)
{
	struct trow *r = tables__begin(x, t);
	bool rejected;
	struct trace_exec e;

	trace__exec(x->t, i, &e);
	rejected = e.a.time != JOIN_TIME_VALID && e.a.time != JOIN_TIME_ZERO;
	trow__number(r, i + 1);
	trow__text(r, join_kind_name(e.a.kind) ? join_kind_name(e.a.kind) : "unknown");
	trow__if(r, e.a.kind == GPUBPF_ACTIVITY_KERNEL, (uint64_t)e.a.key + 1);
	trow__number(r, tables__session(x, e.lane->session));
	trow__number(r, e.lane->device);
	trow__number(r, e.lane->context);
	trow__number(r, e.lane->stream);
	exec_time_cells(r, &e);
	exec_link_cells(r, x, &e);
	trow__if(r, e.a.has_queued, e.a.queued);
	trow__if(r, e.a.has_submitted, e.a.submitted);
	trow__if(r, rejected, e.a.start);
	trow__if(r, rejected, e.a.end);
	return tables__put(x);
}

static int execution_rows(struct tables *x, const struct table *t)
{
	size_t n = trace__execs(x->t);
	int rc = n ? tables__call_ids(x) : 0;

	for (size_t i = 0; !rc && i < n; i++)
		rc = execution_row(x, t, i);
	return rc;
}

const struct table table_executions = {
	.name = "executions",
	.meaning = "one row per record of CUPTI about something that ran on a device",
	.cols = execution_cols,
	.rows = execution_rows,
	.unobserved = table_no_device
};

/* ---- copies ---- */

static const struct tcol copy_cols[] = {
	TCOL_R("execution", "executions", "with its times and links; one row each"),
	TCOL_W("operation", "copy|set", "which of the two"),
	TCOL_A("direction", TEXT, "of a copy: h host, d device, a array: h2d, d2h …; peer, unknown"),
	TCOL_A("src_memory", TEXT, "of a copy: kind of memory copied from"),
	TCOL_A("dst_memory", TEXT, "kind of memory copied to, or that was set"),
	TCOL("bytes", BYTES, "copied or set"),
	TCOL_A("async", BOOL, "of a copy: CUPTI says so"),
	TCOL_A("src_device", NUMBER, "of a copy between devices"),
	TCOL_A("dst_device", NUMBER, "of a copy between devices"),
	{ 0 },
};

static void memory_cell(struct trow *r, unsigned kind, char *buf, size_t n)
{
	const char *name = join_memory_name(kind);

	if (kind && !name)
		snprintf(buf, n, "<unknown kind %u>", kind);
	trow__text(r, kind && !name ? buf : name);
}

static void direction_cell(struct trow *r, unsigned kind, char *buf, size_t n)
{
	const char *name = join_copy_name(kind);

	if (!name)
		snprintf(buf, n, "<unknown kind %u>", kind);
	trow__text(r, name ? name : buf);
}

static int copy_row(struct tables *x, const struct table *t, size_t i, const struct join_activity *a)
{
	const struct join_key *k = join__key(x->t->in.join, a->key);
	bool copy = a->kind == GPUBPF_ACTIVITY_COPY;
	struct trow *r = tables__begin(x, t);
	char direction[32], src[32], dst[32];

	trow__number(r, i + 1);
	trow__text(r, copy ? "copy" : "set");
	if (copy) {
		direction_cell(r, k->copy_kind, direction, sizeof(direction));
		memory_cell(r, k->src_kind, src, sizeof(src));
		memory_cell(r, k->dst_kind, dst, sizeof(dst));
	} else {
		trow__absent(r);
		trow__absent(r);
		memory_cell(r, k->src_kind, dst, sizeof(dst));
	}
	trow__number(r, a->bytes);
	trow__if(r, copy, k->async);
	trow__if(r, k->has_peer, k->src_device);
	trow__if(r, k->has_peer, k->dst_device);
	return tables__put(x);
}

static int copy_rows(struct tables *x, const struct table *t)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < trace__execs(x->t); i++) {
		struct join_activity a;

		join__activity_brief(x->t->in.join, i, &a);
		if (a.kind == GPUBPF_ACTIVITY_COPY || a.kind == GPUBPF_ACTIVITY_SET)
			rc = copy_row(x, t, i, &a);
	}
	return rc;
}

const struct table table_copies = {
	.name = "copies",
	.meaning = "one row per execution that copied or set memory: what it moved",
	.cols = copy_cols,
	.rows = copy_rows,
	.unobserved = table_no_device
};
