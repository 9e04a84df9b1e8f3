// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <jansson.h>

#include "cmd.h"
#include "compare/priv.h"
#include "inspect/jsonsafe.h"

static int put_summary(const struct compare *c, FILE *f)
{
	struct compare_summary s;
	json_t *o;

	if (!compare__shows(c))
		return 0;
	if (compare_summary(c, &s))
		return -ENOMEM;
	o = json_object();
	if (!o)
		return -ENOMEM;
	for (int i = 0; i < 5; i++)
		json_put_int(o, stats_finding_name((enum stats_finding)i), s.findings[i]);
	json_put_int(o, "appeared", s.appeared);
	json_put_int(o, "vanished", s.vanished);
	json_put_int(o, "unequal_counts", s.unequal);
	for (int i = 0; i < 2; i++) {
		const char *key = i ? "gpu_time_b_ns" : "gpu_time_a_ns";

		if (s.timed[i])
			json_put_int(o, key, (uint64_t)s.total_ns[i]);
		else
			json_put_unmeasured(o, key);
	}
	return json_write(f, ",\n\"launch_keys\":", o);
}

static int section(const struct compare *c, const struct section *s, uint64_t limit, FILE *f, bool first)
{
	const char *withheld = compare__withheld(c, s);
	struct rows rows;
	int rc = compare__rows(c, s, &rows);
	size_t n = limit && limit < rows.n ? (size_t)limit : rows.n;

	if (!rc) {
		fprintf(f, "%s\n\"%s\":{\"causal\":%s", first ? "" : ",", s->name,
			c->verdict == COMPARE_CONTROLLED ? "true" : "false");
		rc = json_write(f, ",\"population\":", json_string(s->population));
	}
	if (!rc && s->note)
		rc = json_write(f, ",\"note\":", json_string(s->note));
	if (!rc && withheld && !rows.n) {
		fputs(",\"unmeasured\":true", f);
		rc = json_write(f, ",\"unmeasured_because\":", json_string(withheld));
	}
	if (!rc)
		rc = rows__json(&rows, f, n);
	fputs("}", f);
	rows__clear(&rows);
	return rc;
}

int compare_json(const struct compare *c, const struct section *const *sections, uint64_t limit, FILE *f)
{
	json_t *reasons = json_array();
	const struct section *s;
	int rc;

	fputs("{\"schema\":\"gpubpf.diff/1\",\"gpubpf_version\":\"" GPUBPF_VERSION "\"", f);
	fprintf(f, ",\n\"verdict\":\"%s\",\"causal\":%s", compare_verdict_name(c->verdict),
		c->verdict == COMPARE_CONTROLLED ? "true" : "false");
	rc = json_write(f, ",\"text\":", json_string(compare_words(c)));
	for (size_t i = 0; reasons && i < c->nreasons; i++)
		json_array_append_new(reasons, json_safe_string(c->reason[i]));
	rc = json_write(f, ",\"evidence\":", reasons) ? -ENOMEM : rc;
	fprintf(f, ",\n\"captures_a\":%zu,\"captures_b\":%zu,\"tests\":%zu", c->arm[0], c->arm[1], c->tests);
	if (!rc)
		rc = put_summary(c, f);
	fputs(",\n\"sections\":{", f);
	for (size_t i = 0; !rc && (s = compare_section_at(sections, i)); i++)
		if (sections || compare__asked(c, s))
			rc = section(c, s, limit, f, !i);
	fputs("}}\n", f);
	return rc;
}
