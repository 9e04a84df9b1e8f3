/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "check/check.h"
#include "inspect/jsonsafe.h"

static json_t *advice_json(const struct check_result *r)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < r->nadvice; i++) {
		json_t *o = json_add_object(list);

		json_put_text(o, "missing", r->advice[i].missing);
		json_put_text(o, "command", r->advice[i].command);
	}
	return list;
}

static void add_result(json_t *list, const struct check_result *r)
{
	json_t *o = json_add_object(list);

	json_put_text(o, "state", check_state_name(r->state));
	json_put_text(o, "check", r->check);
	json_put_text(o, "subject", r->subject);
	json_put_text(o, "text", r->text);
	json_put_text(o, "source", r->source);
	json_put_text(o, "granularity", r->granularity);
	json_object_set(o, "figures", r->figures);
	if (r->state != CHECK_PASSED)
		json_object_set_new(o, "explain", advice_json(r));
}

int check_json(const struct check_run *r, FILE *f)
{
	json_t *o = json_object(), *captures = json_array();
	char line[256];
	int rc;

	check_run__summary(r, line, sizeof(line));
	json_put_text(o, "state", check_state_name(r->state));
	json_put_int(o, "exit_status", (uint64_t)check_run__status(r));
	json_put_text(o, "text", line);
	json_put_int(o, "passed", r->count[CHECK_PASSED]);
	json_put_int(o, "failed", r->count[CHECK_FAILED]);
	json_put_int(o, "not_evaluable", r->count[CHECK_NOT_EVALUABLE]);
	for (size_t i = 0; i < r->n; i++) {
		const struct check_capture *c = &r->capture[i];
		json_t *e = json_add_object(captures), *results = json_array();

		json_put_text(e, "file", c->path);
		json_put_text(e, "verdict", c->verdict);
		json_put_text(e, "headline", c->headline);
		for (size_t k = 0; k < c->n; k++)
			add_result(results, &c->result[k]);
		json_object_set_new(e, "checks", results);
	}
	json_object_set_new(o, "captures", captures);
	rc = json_dumpf(o, f, JSON_COMPACT) ? -ENOMEM : 0;
	putc('\n', f);
	json_decref(o);
	return rc;
}
