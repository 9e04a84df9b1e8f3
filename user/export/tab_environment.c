// SPDX-License-Identifier: GPL-2.0-or-later
/* Where and how the capture was made, as `inspect --environment` says it. */
#include <errno.h>

#include "environment/environment.h"
#include "export/tables.h"

static const struct tcol environment_cols[] = {
	TCOL_W("fact_group", "workload|device|driver|runtime|host|capture|timing", "what it is of"),
	TCOL("name", TEXT, "of the fact, once in its group; of a merged capture it begins with the member"),
	TCOL_A("value", TEXT, "with its unit"),
	TCOL_A("why_absent", TEXT, "why there is no value"),
	TCOL("per_run", BOOL, "differs from run to run by nature: not to be compared"),
	{ 0 },
};

static int environment_rows(struct tables *x, const struct table *t)
{
	struct environment *e;
	int rc = environment__of(&x->t->in, &e);

	for (size_t i = 0; !rc && i < environment__facts(e); i++) {
		const struct env_fact *f = environment__fact(e, i);
		struct trow *r = tables__begin(x, t);

		trow__text(r, f->group);
		trow__text(r, f->name);
		trow__text(r, f->value);
		trow__text(r, f->why_absent);
		trow__number(r, f->per_run);
		rc = tables__put(x);
	}
	environment__free(e);
	return rc;
}

const struct table table_environment = { .name = "environment",
					 .meaning = "one row per fact of where and how the capture was made",
					 .cols = environment_cols,
					 .rows = environment_rows };
