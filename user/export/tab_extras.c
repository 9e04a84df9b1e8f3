// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of what the device observer has beside calls and executions. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/tables.h"

static const char *not_asked(const struct trace *t, unsigned facility, const char *why)
{
	const struct join *j = t->in.join;

	if (table_no_device(t))
		return table_no_device(t);
	for (size_t i = 0; i < join__sessions(j); i++) {
		const struct join_facility *f = &join__session(j, i)->facility[facility];

		if (f->tried && !f->result)
			return NULL;
	}
	return why;
}

/* ---- modules ---- */

static const struct tcol module_cols[] = {
	TCOL("id", ID, "number, in the order of arrival"),
	TCOL_R("session", "sessions", "that saw it"),
	TCOL_W("action", "load|unload", "which of the two"),
	TCOL("module", NUMBER, "CUPTI's id"),
	TCOL("context", NUMBER, "CUPTI's id"),
	TCOL_A("bytes", BYTES, "of the cubin that was loaded"),
	TCOL_AU("crc", HEX, "its CRC-32C"),
	TCOL_U("start_ns", TIME, "of the load or unload, as the callback saw it"),
	TCOL_U("end_ns", TIME, "likewise"),
	TCOL_U("duration_ns", DURATION, "between the two: work of the host, in no execution"),
	{ 0 },
};

static int module_rows(struct tables *x, const struct table *t)
{
	const struct join *j = x->t->in.join;
	int rc = 0;

	for (size_t i = 0; j && !rc && i < join__modules(j); i++) {
		const struct join_session *s;
		const struct gpubpf_module *m = join__module(j, i, &s);
		bool unload = m->flags & GPUBPF_MODULE_UNLOADED;
		struct trow *r = tables__begin(x, t);

		trow__number(r, i + 1);
		trow__number(r, tables__session(x, s));
		trow__text(r, unload ? "unload" : "load");
		trow__number(r, m->id);
		trow__number(r, m->context);
		trow__if(r, !unload, m->bytes);
		if (unload)
			trow__absent(r);
		else
			trow__seen(r, !(m->flags & GPUBPF_MODULE_NO_CRC), m->crc);
		trow__seen(r, m->start, m->start);
		trow__seen(r, m->end, m->end);
		trow__seen(r, m->start && m->end >= m->start, m->end - m->start);
		rc = tables__put(x);
	}
	return rc;
}

static const char *no_modules(const struct trace *t)
{
	return not_asked(t, GPUBPF_FACILITY_MODULES, "CUPTI was not asked for modules");
}

const struct table table_modules = { .name = "modules",
				     .meaning = "one row per load or unload of a module",
				     .cols = module_cols,
				     .rows = module_rows,
				     .unobserved = no_modules };

/* ---- markers ---- */

static const struct tcol marker_cols[] = {
	TCOL("id", ID, "number"),
	TCOL_R("session", "sessions", "that saw it"),
	TCOL_W("event", "mark|start|end",
	       "a moment, the start of a range (with its end where that came), an end without a start"),
	TCOL("range", NUMBER, "CUPTI's id"),
	TCOL_A("own_tid", NUMBER, "its thread, as the system numbers it"),
	TCOL_U("time_ns", TIME, "the moment, or the start"),
	TCOL_A("end_ns", TIME, "of a range; absent: its end did not come"),
	TCOL_A("duration_ns", DURATION, "of a range"),
	TCOL_R("timing", "timings", "how these times were taken"),
	TCOL_A("name", TEXT, "that the application gave it"),
	TCOL_A("domain", TEXT, "absent: the default one"),
	TCOL_A("ended_elsewhere", BOOL, "of a range with an end: by another thread"),
	TCOL_A("category", NUMBER, "of the application's own"),
	TCOL_A("color", HEX, "alpha, red, green, blue from the top byte"),
	TCOL_A("payload_kind", TEXT,
	       "uint64, int64, double, extended (a structure, whose value is not recorded) …"),
	TCOL_A("payload", TEXT, "its value"),
	{ 0 },
};

static bool payload_text(const struct join_marker *m, char *buf, size_t n)
{
	double d;

	switch (m->payload_kind) {
	case GPUBPF_PAYLOAD_EXTENDED:
		return false;
	case GPUBPF_PAYLOAD_UINT64:
		snprintf(buf, n, "%" PRIu64, m->payload);
		return true;
	case GPUBPF_PAYLOAD_INT64:
		snprintf(buf, n, "%" PRId64, (int64_t)m->payload);
		return true;
	case GPUBPF_PAYLOAD_DOUBLE:
		memcpy(&d, &m->payload, sizeof(d));
		snprintf(buf, n, "%.17g", d);
		return true;
	default:
		snprintf(buf, n, "0x%" PRIx64, m->payload);
		return true;
	}
}

static const char *label(const struct join *j, uint32_t name, uint32_t id, char *buf, size_t n)
{
	const char *text = join__name(j, name);

	snprintf(buf, n, "<unresolved 0x%x>", id);
	return text ? text : buf;
}

static void payload_cells(struct trow *r, const struct join_marker *m, char *kind, size_t nkind, char *text,
			  size_t ntext)
{
	const char *name = join_payload_name(m->payload_kind);

	if (!name)
		snprintf(kind, nkind, "%" PRIu32, m->payload_kind);
	trow__text(r, !m->has_payload ? NULL : name ? name : kind);
	trow__text(r, m->has_payload && payload_text(m, text, ntext) ? text : NULL);
}

/* Where nothing ties CUPTI's clock to ours, its times are no times of ours. */
static bool tied(const struct join_marker *m)
{
	return !m->session->has_hello || m->session->hello.time_source != GPUBPF_TIME_CUPTI ||
	       m->session->has_clock_error;
}

static enum join_time time_of(const struct join_marker *m)
{
	return !m->has_time ? JOIN_TIME_ZERO : tied(m) ? JOIN_TIME_VALID : JOIN_TIME_UNANCHORED;
}

static int marker_row(struct tables *x, const struct table *t, uint64_t id, const struct join_marker *m)
{
	static const char *const events[] = {
		[GPUBPF_MARKER_INSTANT] = "mark", [GPUBPF_MARKER_START] = "start", [GPUBPF_MARKER_END] = "end"
	};
	const struct join *j = x->t->in.join;
	char name[32], domain[32], kind[16], payload[40];
	struct trow *r = tables__begin(x, t);

	trow__number(r, id);
	trow__number(r, tables__session(x, m->session));
	trow__text(r, events[m->kind <= GPUBPF_MARKER_END ? m->kind : GPUBPF_MARKER_INSTANT]);
	trow__number(r, m->id);
	trow__if(r, m->has_thread, m->thread);
	trow__seen(r, m->has_time && tied(m), m->time);
	trow__if(r, m->has_end && tied(m), m->end);
	trow__if(r, m->has_end && m->has_time && m->end >= m->time, m->end - m->time);
	trow__number(r, timing_of(m->session, time_of(m)));
	trow__text(r, m->has_name ? label(j, m->name, m->name_id, name, sizeof(name)) : NULL);
	trow__text(r, m->has_domain ? label(j, m->domain, m->domain_id, domain, sizeof(domain)) : NULL);
	trow__if(r, m->has_end, m->ended_elsewhere);
	trow__if(r, m->has_category, m->category);
	trow__if(r, m->has_color, m->color);
	payload_cells(r, m, kind, sizeof(kind), payload, sizeof(payload));
	return tables__put(x);
}

static int marker_rows(struct tables *x, const struct table *t)
{
	const struct join *j = x->t->in.join;
	uint64_t id = 0;
	int rc = 0;

	for (size_t i = 0; j && !rc && i < join__markers(j); i++) {
		struct join_marker m;

		join__marker(j, i, &m);
		/* in the row of its start */
		if (m.kind == GPUBPF_MARKER_END && m.paired)
			continue;
		rc = marker_row(x, t, ++id, &m);
	}
	return rc;
}

static const char *no_markers(const struct trace *t)
{
	return not_asked(t, GPUBPF_FACILITY_NVTX, "recorded without --cupti nvtx");
}

const struct table table_markers = { .name = "markers",
				     .meaning = "one row per NVTX mark and range",
				     .cols = marker_cols,
				     .rows = marker_rows,
				     .unobserved = no_markers };

/* ---- external_ids ---- */

static const struct tcol external_cols[] = {
	TCOL("id", ID, "number, in the order of arrival"),
	TCOL_R("session", "sessions", "that saw it"),
	TCOL("kind", TEXT, "that the application chose: custom0 …"),
	TCOL("external", HEX, "id that the application gave"),
	TCOL("correlation", NUMBER, "of the call that it was given for"),
	TCOL("has_call", BOOL, "the device observer saw that call"),
	{ 0 },
};

static int external_rows(struct tables *x, const struct table *t)
{
	const struct join *j = x->t->in.join;
	int rc = 0;

	for (size_t i = 0; j && !rc && i < join__externals(j); i++) {
		struct trow *r = tables__begin(x, t);
		struct join_external e;
		char kind[16];

		join__external(j, i, &e);
		snprintf(kind, sizeof(kind), "%" PRIu32, e.kind);
		trow__number(r, i + 1);
		trow__number(r, tables__session(x, e.session));
		trow__text(r, join_external_name(e.kind) ? join_external_name(e.kind) : kind);
		trow__number(r, e.id);
		trow__number(r, e.correlation);
		trow__number(r, e.has_call);
		rc = tables__put(x);
	}
	return rc;
}

static const char *no_externals(const struct trace *t)
{
	return not_asked(t, GPUBPF_FACILITY_EXTERNAL, "recorded without --cupti external");
}

const struct table table_external_ids = {
	.name = "external_ids",
	.meaning = "one row per id that the application gave CUPTI for a call",
	.cols = external_cols,
	.rows = external_rows,
	.unobserved = no_externals
};

/* ---- unified_memory ---- */

static const struct tcol unified_cols[] = {
	TCOL("id", ID, "number, in the order of arrival"),
	TCOL_R("session", "sessions", "that saw it"),
	TCOL("counter", TEXT,
	     "bytes_htod, bytes_dtoh, cpu_faults, gpu_faults, thrashing, throttling, remote_map, bytes_dtod"),
	TCOL_A("bytes", BYTES, "moved"),
	TCOL_A("fault_groups", COUNT, "groups of faults of a GPU"),
	TCOL("address", HEX, "where"),
	TCOL_A("cause", TEXT, "prefetch, eviction …"),
	TCOL_U("start_ns", TIME, "when"),
	TCOL_A("duration_ns", DURATION, "of counters that have one"),
	TCOL_A("src_host", BOOL, "the source is the host"),
	TCOL_A("src_device", NUMBER, "the source is this device"),
	TCOL_A("dst_host", BOOL, "the destination is the host"),
	TCOL_A("dst_device", NUMBER, "the destination is this device"),
	{ 0 },
};

static void place_cells(struct trow *r, const struct join_unified_place *p)
{
	trow__if(r, p->there, p->host);
	trow__if(r, p->there && !p->host, p->device);
}

static int unified_rows(struct tables *x, const struct table *t)
{
	const struct join *j = x->t->in.join;
	int rc = 0;

	for (size_t i = 0; j && !rc && i < join__unifieds(j); i++) {
		struct trow *r = tables__begin(x, t);
		struct join_unified u;
		char counter[16];

		join__unified(j, i, &u);
		snprintf(counter, sizeof(counter), "%" PRIu32, u.counter);
		trow__number(r, i + 1);
		trow__number(r, tables__session(x, u.session));
		trow__text(r, join_unified_name(u.counter) ? join_unified_name(u.counter) : counter);
		trow__if(r, u.has_bytes, u.value);
		trow__if(r, u.has_groups, u.value);
		trow__number(r, u.address);
		trow__text(r, join_unified_cause(&u));
		trow__seen(r, u.has_start, u.start);
		trow__if(r, u.has_took, u.took);
		place_cells(r, &u.src);
		place_cells(r, &u.dst);
		rc = tables__put(x);
	}
	return rc;
}

static const char *no_unified(const struct trace *t)
{
	return not_asked(t, GPUBPF_FACILITY_UNIFIED, "recorded without --cupti unified-memory");
}

const struct table table_unified_memory = { .name = "unified_memory",
					    .meaning = "one row per event of unified memory",
					    .cols = unified_cols,
					    .rows = unified_rows,
					    .unobserved = no_unified };
