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

void inspect_extras_text(const struct join *j, FILE *f)
{
	if (agreed(j, GPUBPF_FACILITY_EXTERNAL) || join__externals(j))
		external_text(j, f);
}

void inspect_extras_json(const struct join *j, json_t *o)
{
	if (agreed(j, GPUBPF_FACILITY_EXTERNAL) || join__externals(j))
		json_object_set_new(o, "external", external_json(j));
}
