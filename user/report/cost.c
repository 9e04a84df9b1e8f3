/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspect/cost.h"

#include <errno.h>
#include <stdio.h>

#include "report/report.h"

static int cells(struct rows *rows, const struct cost_line *l)
{
	char what[512];
	bool no = l->absent;

	if (rows__add(rows) || row__text(rows, l->part))
		return -ENOMEM;
	row__maybe(rows, l->has_calls, false, l->calls);
	row__maybe(rows, l->has_timed, false, l->timed);
	row__maybe(rows, l->has_each, no, l->each_ns);
	row__maybe(rows, l->has_spread, false, l->low_ns);
	row__maybe(rows, l->has_spread, false, l->high_ns);
	row__maybe(rows, l->has_total, no, l->total_ns);
	row__real(rows, l->has_share, false, l->share);
	snprintf(what, sizeof(what), "%s%s%s", l->text, no ? ": " : "", no ? l->absent : "");
	return row__text(rows, l->what) || row__text(rows, what) ? -ENOMEM : 0;
}

int build_cost(const struct report *r, struct rows *rows)
{
	struct cost c;
	int rc = 0;

	if (cost_unknown(&r->in))
		return 0;
	cost_read(&r->in, &c);
	for (unsigned i = 0; i < c.n && !rc; i++)
		rc = cells(rows, &c.line[i]);
	return rc;
}
