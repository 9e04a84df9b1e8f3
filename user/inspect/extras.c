/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `record --cupti` asked for, in `gpubpf inspect`: where it was asked for. */
#include <inttypes.h>

#include "inspect/device.h"
#include "inspect/jsonsafe.h"
#include "model/procs.h"
#include "util/fmt.h"

#define EXTERNAL_KINDS 8

/* Some session was given this facility. */
static bool agreed(const struct join *j, enum gpubpf_facility facility)
{
	for (size_t i = 0; i < join__sessions(j); i++) {
		const struct join_facility *f = &join__session(j, i)->facility[facility];

		if (f->tried && !f->result)
			return true;
	}
	return false;
}

struct external_counts {
	uint64_t records, with_call, by_kind[EXTERNAL_KINDS], unknown_kind;
};

static void count_external(const struct join *j, struct external_counts *n)
{
	*n = (struct external_counts){ .records = join__externals(j) };
	for (size_t i = 0; i < n->records; i++) {
		struct join_external e;

		join__external(j, i, &e);
		n->with_call += e.has_call;
		if (e.kind < EXTERNAL_KINDS && join_external_name(e.kind))
			n->by_kind[e.kind]++;
		else
			n->unknown_kind++;
	}
}

static void external_text(const struct join *j, FILE *f)
{
	struct external_counts n;
	char a[FMT_NUM], b[FMT_NUM];

	count_external(j, &n);
	fprintf(f, "  external correlation: %s records, %s of calls that the device observer saw\n",
		fmt_count(a, n.records), fmt_count(b, n.with_call));
}

static json_t *external_json(const struct join *j)
{
	json_t *o = json_object(), *kinds = json_object();
	struct external_counts n;

	count_external(j, &n);
	json_put_int(o, "records", n.records);
	json_put_int(o, "of_seen_calls", n.with_call);
	for (unsigned k = 0; k < EXTERNAL_KINDS; k++)
		if (join_external_name(k))
			json_put_int(kinds, join_external_name(k), n.by_kind[k]);
	json_object_set_new(o, "by_kind", kinds);
	json_put_int(o, "of_unknown_kind", n.unknown_kind);
	return o;
}

struct marker_counts {
	uint64_t marks, ranges, ended, ends_alone, untimed;
	uint64_t payloads, extended, categories, colors;
};

static void count_markers(const struct join *j, struct marker_counts *n)
{
	*n = (struct marker_counts){ 0 };
	for (size_t i = 0; i < join__markers(j); i++) {
		struct join_marker m;

		join__marker(j, i, &m);
		n->marks += m.kind == GPUBPF_MARKER_INSTANT;
		n->ranges += m.kind == GPUBPF_MARKER_START;
		n->ended += m.kind == GPUBPF_MARKER_START && m.paired;
		n->ends_alone += m.kind == GPUBPF_MARKER_END && !m.paired;
		n->untimed += !m.has_time;
		n->payloads += m.has_payload;
		n->extended += m.has_payload && m.payload_kind == GPUBPF_PAYLOAD_EXTENDED;
		n->categories += m.has_category;
		n->colors += m.has_color;
	}
}

static void nvtx_text(const struct join *j, FILE *f)
{
	char a[FMT_NUM], b[FMT_NUM], c[FMT_NUM], d[FMT_NUM];
	struct marker_counts n;

	count_markers(j, &n);
	fprintf(f, "  NVTX: %s marks, %s ranges, %s of them open at the end, %s ends of ranges from before\n",
		fmt_count(a, n.marks), fmt_count(b, n.ranges), fmt_count(c, n.ranges - n.ended),
		fmt_count(d, n.ends_alone));
	if (!agreed(j, GPUBPF_FACILITY_NVTX_DATA)) {
		fputs("        payloads and categories: not measured\n", f);
		return;
	}
	fprintf(f, "        with a payload: %s, with a category: %s, with a color: %s",
		fmt_count(a, n.payloads), fmt_count(b, n.categories), fmt_count(c, n.colors));
	if (n.extended)
		fprintf(f, "; %s payloads are structures of the application's own, and not recorded",
			fmt_count(d, n.extended));
	if (join__marker_data_alone(j))
		fprintf(f, "; %s of marks or ranges that did not arrive",
			fmt_count(d, join__marker_data_alone(j)));
	fputc('\n', f);
}

static json_t *nvtx_json(const struct join *j)
{
	json_t *o = json_object();
	struct marker_counts n;
	uint64_t alone = join__marker_data_alone(j);
	const struct {
		const char *name;
		const uint64_t *n;
	} data[] = { { "with_payload", &n.payloads },
		     { "with_extended_payload", &n.extended },
		     { "with_category", &n.categories },
		     { "with_color", &n.colors },
		     { "data_without_marker", &alone } };

	count_markers(j, &n);
	json_put_int(o, "marks", n.marks);
	json_put_int(o, "ranges", n.ranges);
	json_put_int(o, "ranges_open_at_the_end", n.ranges - n.ended);
	json_put_int(o, "ends_without_start", n.ends_alone);
	json_put_int(o, "records_without_time", n.untimed);
	for (size_t i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
		if (agreed(j, GPUBPF_FACILITY_NVTX_DATA))
			json_put_int(o, data[i].name, *data[i].n);
		else
			json_put_unmeasured(o, data[i].name);
	}
	return o;
}

struct unified_counts {
	uint64_t events, by[GPUBPF_UNIFIED_COUNTERS + 1]; /* 0: counters that are not known */
	struct {
		bool tried, given;
		int32_t result; /* of the last that was refused */
	} counter[GPUBPF_UNIFIED_COUNTERS + 1];
};

static void count_unified(const struct join *j, struct unified_counts *n)
{
	*n = (struct unified_counts){ .events = join__unifieds(j) };
	for (size_t i = 0; i < n->events; i++) {
		struct join_unified u;

		join__unified(j, i, &u);
		n->by[join_unified_name(u.counter) ? u.counter : 0]++;
	}
	for (size_t i = 0; i < join__sessions(j); i++) {
		for (unsigned k = 1; k <= GPUBPF_UNIFIED_COUNTERS; k++) {
			const struct join_facility *f = &join__session(j, i)
								 ->facility[GPUBPF_FACILITY_UNIFIED + k];

			n->counter[k].tried |= f->tried;
			n->counter[k].given |= f->tried && !f->result;
			if (f->result)
				n->counter[k].result = f->result;
		}
	}
}

static void unified_text(const struct join *j, FILE *f)
{
	struct unified_counts n;
	char a[FMT_NUM];

	count_unified(j, &n);
	fprintf(f, "  unified memory: %s events", fmt_count(a, n.events));
	for (unsigned k = 1; k <= GPUBPF_UNIFIED_COUNTERS; k++) {
		if (n.counter[k].given)
			fprintf(f, "; %s: %s", join_unified_name(k), fmt_count(a, n.by[k]));
		else if (n.counter[k].tried)
			fprintf(f, "; %s: refused (%d)", join_unified_name(k), n.counter[k].result);
	}
	fputc('\n', f);
}

/* A counter that was refused has no number of events (R5, R14). */
static json_t *unified_json(const struct join *j)
{
	json_t *o = json_object(), *counters = json_object();
	struct unified_counts n;

	count_unified(j, &n);
	json_put_int(o, "events", n.events);
	for (unsigned k = 1; k <= GPUBPF_UNIFIED_COUNTERS; k++) {
		json_t *c = json_object();

		json_put_if(c, "events", n.counter[k].given, n.by[k]);
		if (n.counter[k].tried && !n.counter[k].given)
			json_object_set_new(c, "refused_with", json_integer(n.counter[k].result));
		json_object_set_new(counters, join_unified_name(k), c);
	}
	json_object_set_new(o, "counters", counters);
	json_put_int(o, "of_unknown_counters", n.by[0]);
	return o;
}

static bool tried(const struct join *j, enum gpubpf_facility facility)
{
	for (size_t i = 0; i < join__sessions(j); i++)
		if (join__session(j, i)->facility[facility].tried)
			return true;
	return false;
}

void inspect_extras_text(const struct join *j, FILE *f)
{
	if (agreed(j, GPUBPF_FACILITY_EXTERNAL) || join__externals(j))
		external_text(j, f);
	if (agreed(j, GPUBPF_FACILITY_NVTX) || join__markers(j))
		nvtx_text(j, f);
	if (tried(j, GPUBPF_FACILITY_UNIFIED) || join__unifieds(j))
		unified_text(j, f);
}

void inspect_extras_json(const struct join *j, json_t *o)
{
	if (agreed(j, GPUBPF_FACILITY_EXTERNAL) || join__externals(j))
		json_object_set_new(o, "external", external_json(j));
	if (agreed(j, GPUBPF_FACILITY_NVTX) || join__markers(j))
		json_object_set_new(o, "nvtx", nvtx_json(j));
	if (tried(j, GPUBPF_FACILITY_UNIFIED) || join__unifieds(j))
		json_object_set_new(o, "unified_memory", unified_json(j));
}
