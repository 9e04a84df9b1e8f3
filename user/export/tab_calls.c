// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the records of the file, one by one: calls and what hangs on them. Filled by one pass. */
#include <errno.h>
#include <stdio.h>

#include "export/tables.h"
#include "latency/breakdown.h"
#include "util/err.h"

/* ---- calls ---- */

#define FATES "ran|invalid_time|failed|captured|no_work|outside|in_flight|ambiguous|nothing_ran|unseen"

static const struct tcol call_cols[] = {
	TCOL("id", ID, "number, in the order of the file"),
	TCOL_RA("process", "processes", "that made it"),
	TCOL("tid", NUMBER, "its thread, as in threads"),
	TCOL_R("api", "apis", "the entry point"),
	TCOL("depth", NUMBER, "0: by the application; n: inside n other traced calls"),
	TCOL("entry_ns", TIME, "it was entered"),
	TCOL_AU("return_ns", TIME, "it returned; absent: it had not when its thread or the capture ended"),
	TCOL_AU("duration_ns", DURATION, "between the two"),
	TCOL_R("timing", "timings", "how these times were taken"),
	TCOL_W("outcome", "ok|failed|open|unmeasured",
	       "open: had not returned; unmeasured: recorded at its entry alone"),
	TCOL_AU("result", SIGNED, "CUresult"),
	TCOL("captured", BOOL, "its stream was in capture: recorded into a graph, nothing ran"),
	TCOL_RA("launch_key", "launch_keys", "of a launch by the application"),
	TCOL_A("stream", HEX, "handle of the stream that it names; 0x0: the default one"),
	TCOL_A("bytes", BYTES, "that it names"),
	TCOL_WAU("device", FATES, "of calls for work: what became of it on the device"),
	{ 0 },
};

static enum timing timing_of_call(const struct view *v)
{
	if (v->outcome == OUTCOME_OPEN)
		return TIMING_CALL_OPEN;
	if (!(v->c->flags & GPUBPF_CALL_RETURNED))
		return TIMING_CALL_ENTRY;
	return v->timed ? TIMING_CALL : TIMING_CALL_BACKWARDS;
}

static void time_cells(struct trow *r, const struct view *v)
{
	bool returned = v->c->flags & GPUBPF_CALL_RETURNED, open = v->outcome == OUTCOME_OPEN;

	trow__number(r, v->c->t_entry);
	open ? trow__absent(r) : trow__seen(r, returned, v->c->t_return);
	open ? trow__absent(r) : trow__seen(r, v->timed, v->ns);
	trow__number(r, timing_of_call(v));
}

static void outcome_cells(struct trow *r, const struct view *v)
{
	static const char *const outcomes[] = {
		[OUTCOME_OK] = "ok",
		[OUTCOME_FAILED] = "failed",
		[OUTCOME_OPEN] = "open",
		[OUTCOME_UNKNOWN] = "unmeasured",
	};

	trow__text(r, outcomes[v->outcome]);
	if (v->c->flags & GPUBPF_CALL_RETURNED)
		trow__signed(r, v->c->result);
	else if (v->outcome == OUTCOME_OPEN)
		trow__absent(r);
	else
		trow__unmeasured(r);
	trow__number(r, v->captured);
}

static void work_cells(struct trow *r, const struct tables *x, const struct trace_call *c)
{
	const struct join *j = x->t->in.join;
	const struct view *v = c->v;
	struct stream_id stream;
	uint64_t bytes = 0;
	bool has_bytes;

	trow__if(r, c->kernel, c->kernel ? (uint64_t)(c->kernel - trace__kernel(x->t, 0)) + 1 : 0);
	if (stream_of(v, &stream))
		trow__number(r, stream.stream);
	else
		trow__absent(r);
	has_bytes = plan_arg(v->p, v->c, PLAN_BYTES, &bytes);
	trow__if(r, has_bytes, bytes);
	if (!c->has_work)
		trow__absent(r);
	else if (!j || c->work >= join__host_calls(j))
		trow__unmeasured(r);
	else
		trow__text(r, join_fate_name(join__host_call_fate(j, c->work)));
}

/* The process of a thread of this pass: its model has threads of its own. */
static uint64_t process_of(struct tables *x, const struct view *v)
{
	unsigned slot = v->c->tid % (sizeof(x->recent) / sizeof(x->recent[0]));

	if (x->recent[slot].thread != v->thread) {
		x->recent[slot].thread = v->thread;
		x->recent[slot].id = tables__process(x, v->proc);
	}
	return x->recent[slot].id;
}

static int call_row(struct tables *x, const struct trace_call *c)
{
	struct trow *r = tables__begin(x, &table_calls);
	const struct view *v = c->v;
	uint64_t process = process_of(x, v);

	trow__number(r, x->calls);
	trow__if(r, process, process);
	trow__number(r, v->c->tid);
	trow__number(r, v->c->api);
	trow__number(r, v->c->depth);
	time_cells(r, v);
	outcome_cells(r, v);
	work_cells(r, x, c);
	return tables__put(x);
}

const struct table table_calls = { .name = "calls",
				   .meaning = "one row per recorded call of a traced entry point",
				   .cols = call_cols,
				   .unobserved = table_no_host };

/* ---- call_times ---- */

static const struct tcol call_time_cols[] = {
	TCOL_R("call", "calls", "whose"),
	TCOL_W("interval", "call|before",
	       "the call itself, or the time since the thread's measured call before it"),
	TCOL("duration_ns", DURATION, "of the interval; the causes add up to it, or to it and excess_ns"),
	TCOL("on_cpu_ns", DURATION, "on a processor"),
	TCOL("runqueue_ns", DURATION, "waiting for a processor"),
	TCOL_U("throttled_ns", DURATION,
	       "throttled by its control group's quota; not measured: in runqueue_ns"),
	TCOL("futex_ns", DURATION, "blocked in futex"),
	TCOL("ioctl_nvidia_ns", DURATION, "blocked in ioctl on a GPU device"),
	TCOL("ioctl_ns", DURATION, "blocked in another ioctl"),
	TCOL("poll_ns", DURATION, "blocked in poll, select or epoll"),
	TCOL("sleep_ns", DURATION, "asleep"),
	TCOL("page_fault_ns", DURATION, "blocked in a page fault"),
	TCOL("other_ns", DURATION, "blocked in something else"),
	TCOL("unaccounted_ns", DURATION, "of no cause, as a switch was not seen"),
	TCOL("excess_ns", DURATION, "by which the causes are more than the duration"),
	TCOL_U("irq_ns", DURATION, "of on_cpu_ns: interrupts that came meanwhile"),
	TCOL("page_faults", COUNT, "major ones too"),
	TCOL("major_page_faults", COUNT, "of them"),
	TCOL("voluntary_switches", COUNT, "away from the thread"),
	TCOL("involuntary_switches", COUNT, "away from the thread"),
	TCOL("migrations", COUNT, "times that it came back on another processor"),
	TCOL("missed_switches", COUNT, "that were not seen"),
	{ 0 },
};

_Static_assert(BREAKDOWN_CAUSES == 11, "a column per cause, in the order of enum breakdown_cause");

static int call_time_row(struct tables *x, const char *interval, const struct breakdown *b)
{
	struct trow *r = tables__begin(x, &table_call_times);

	trow__number(r, x->calls);
	trow__text(r, interval);
	trow__number(r, b->duration);
	for (unsigned i = 0; i < BREAKDOWN_CAUSES; i++)
		trow__seen(r, i != BREAKDOWN_THROTTLED || b->has_throttled, b->ns[i]);
	trow__number(r, b->excess);
	trow__seen(r, b->has_irq, b->irq);
	trow__number(r, b->faults);
	trow__number(r, b->major_faults);
	trow__number(r, b->voluntary);
	trow__number(r, b->involuntary);
	trow__number(r, b->migrations);
	trow__number(r, b->missed);
	return tables__put(x);
}

static int call_time_rows(struct tables *x, const struct view *v)
{
	struct breakdown b;
	int rc;

	breakdown_of_call(v->latency, &b);
	rc = call_time_row(x, "call", &b);
	if (!rc && breakdown_of_gap(v->latency, &b))
		rc = call_time_row(x, "before", &b);
	return rc;
}

static const char *no_call_times(const struct trace *t)
{
	if (t->in.breakdowns)
		return NULL;
	return table_no_host(t) ? table_no_host(t) : "recorded without --latency";
}

static bool nothing_of_latency(const struct trace *t)
{
	return !t->in.breakdowns;
}

const struct table table_call_times = {
	.name = "call_times",
	.meaning = "one row per interval of a call that `record --latency` measured: where its time went",
	.cols = call_time_cols,
	.unobserved = no_call_times,
	.nothing = nothing_of_latency
};

/* ---- allocations ---- */

static const struct tcol allocation_cols[] = {
	TCOL_R("call", "calls", "that allocates or frees; its outcome says whether it did"),
	TCOL_RA("process", "processes", "whose memory"),
	TCOL_W("action", "allocate|free", "which of the two"),
	TCOL("memory", TEXT, "kind: device, pitch, managed, host, registered, pool, virtual, array, other"),
	TCOL_A("address", HEX, "or handle; of an allocation once it returned"),
	TCOL_A("bytes", BYTES, "allocated; allocated is not resident"),
	{ 0 },
};

static int allocation_row(struct tables *x, const struct view *v)
{
	struct trow *r = tables__begin(x, &table_allocations);
	bool alloc = v->p->api->cls == API_ALLOC;
	uint64_t process = process_of(x, v), base = 0, bytes = 0;
	bool has_base, has_bytes;

	trow__number(r, x->calls);
	trow__if(r, process, process);
	trow__text(r, alloc ? "allocate" : "free");
	trow__text(r, mem_kind_names[v->p->mem]);
	has_base = alloc ? alloc_address(v, &base) : plan_arg(v->p, v->c, PLAN_PTR, &base);
	has_bytes = alloc && alloc_bytes(v, &bytes);
	trow__if(r, has_base, base);
	trow__if(r, has_bytes, bytes);
	return tables__put(x);
}

const struct table table_allocations = {
	.name = "allocations",
	.meaning = "one row per recorded call by the application that allocates or frees memory",
	.cols = allocation_cols,
	.unobserved = table_no_host
};

int pass_call(const struct trace_call *c, void *arg)
{
	struct tables *x = arg;
	const struct view *v = c->v;
	int rc = 0;

	if (x->calls == UINT32_MAX)
		return err_set(x->err, -EFBIG, "%s: more calls than can be numbered", x->t->in.path);
	x->calls++;
	if (x->call_id && c->has_work && c->work < join__host_calls(x->t->in.join))
		x->call_id[c->work] = (uint32_t)x->calls;
	if (tables__wants(x, &table_calls))
		rc = call_row(x, c);
	if (!rc && v->latency && tables__wants(x, &table_call_times))
		rc = call_time_rows(x, v);
	if (!rc && !v->c->depth && (v->p->api->cls == API_ALLOC || v->p->api->cls == API_FREE) &&
	    tables__wants(x, &table_allocations))
		rc = allocation_row(x, v);
	return rc;
}

/* ---- clock_pairs ---- */

static const struct tcol clock_pair_cols[] = {
	TCOL_W("by", "recorder|shim", "who read the clocks"),
	TCOL_A("pid", NUMBER, "of the shim's process, as in processes"),
	TCOL_A("session", NUMBER, "of that process: sessions.number"),
	TCOL("monotonic_ns", TIME, "CLOCK_MONOTONIC"),
	TCOL_A("realtime_ns", WALL, "CLOCK_REALTIME at that moment"),
	TCOL_A("boottime_ns", NUMBER, "CLOCK_BOOTTIME at that moment, ns"),
	TCOL_A("cupti_ns", NUMBER, "CUPTI's clock at that moment, ns"),
	TCOL_A("error_ns", DURATION, "how far apart the readings can be, at most"),
	{ 0 },
};

static int clock_pair_row(struct tables *x, const Gpubpf__ClockPair *c)
{
	struct trow *r = tables__begin(x, &table_clock_pairs);

	trow__text(r, "recorder");
	trow__absent(r);
	trow__absent(r);
	trow__number(r, c->monotonic_ns);
	trow__if(r, c->has_realtime_ns, c->realtime_ns);
	trow__if(r, c->has_boottime_ns, c->boottime_ns);
	trow__absent(r);
	trow__if(r, c->has_error_ns, c->error_ns);
	return tables__put(x);
}

static int recorder_pairs(struct tables *x)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_clock; i++)
		rc = clock_pair_row(x, m->clock[i]);
	return rc;
}

static int shim_pairs(struct tables *x, const struct gpubpf_shim *batch)
{
	const struct gpubpf_status *st = (const struct gpubpf_status *)batch->items;
	int rc = 0;

	if (batch->probe != GPUBPF_PROBE_STATUS || batch->item_size != sizeof(*st))
		return 0;
	for (uint32_t i = 0; !rc && i < batch->count; i++, st++) {
		struct trow *r;

		if (st->kind != GPUBPF_STATUS_CLOCK)
			continue;
		r = tables__begin(x, &table_clock_pairs);
		trow__text(r, "shim");
		trow__number(r, batch->tgid);
		trow__number(r, st->session);
		trow__number(r, st->a);
		trow__if(r, st->b, st->b);
		trow__if(r, st->c, st->c);
		trow__if(r, st->d, st->d);
		trow__number(r, st->e);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_clock_pairs = {
	.name = "clock_pairs",
	.meaning = "one row per reading of several clocks at one moment: what ties them together",
	.cols = clock_pair_cols
};

/* ---- gpu_errors ---- */

static const struct tcol gpu_error_cols[] = {
	TCOL("time_ns", TIME, "the driver reported it"),
	TCOL("xid", NUMBER, "its number"),
	TCOL_A("device", TEXT, "PCI address"),
	TCOL_A("message", TEXT, "of the driver"),
	{ 0 },
};

static int gpu_error_row(struct tables *x, const struct gpubpf_xid *e)
{
	struct trow *r = tables__begin(x, &table_gpu_errors);

	trow__number(r, e->time);
	trow__number(r, e->code);
	trow__text(r, e->device[0] ? e->device : NULL);
	trow__text(r, e->message[0] ? e->message : NULL);
	return tables__put(x);
}

static bool no_xids(const struct trace *t)
{
	return !t->in.xids;
}

const struct table table_gpu_errors = {
	.name = "gpu_errors",
	.meaning = "one row per GPU error (Xid) that the kernel driver reported",
	.cols = gpu_error_cols,
	.nothing = no_xids
};

int pass_record(const struct gpubpf_rec *rec, void *arg)
{
	struct tables *x = arg;
	int rc = 0;

	if (rec->kind == GPUBPF_REC_SHIM && tables__wants(x, &table_clock_pairs))
		rc = shim_pairs(x, (const struct gpubpf_shim *)rec);
	else if (rec->kind == GPUBPF_REC_WAKER && tables__wants(x, &table_call_waits))
		rc = pass_wait(x, (const struct gpubpf_waker *)rec);
	else if (rec->kind == GPUBPF_REC_STACK && tables__wants(x, &table_call_stacks))
		rc = pass_stack(x, (const struct gpubpf_stack *)rec);
	else if (rec->kind == GPUBPF_REC_XID && tables__wants(x, &table_gpu_errors))
		rc = gpu_error_row(x, (const struct gpubpf_xid *)rec);
	return rc;
}

int pass_begin(struct tables *x)
{
	x->calls = 0;
	return tables__wants(x, &table_clock_pairs) ? recorder_pairs(x) : 0;
}
