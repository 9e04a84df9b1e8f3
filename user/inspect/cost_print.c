// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdio.h>

#include "inspect/cost.h"
#include "inspect/jsonsafe.h"
#include "util/fmt.h"

static int row(struct fmt_table *t, const struct cost_line *l)
{
	char calls[FMT_NUM], each[FMT_NUM], low[FMT_NUM], high[FMT_NUM], all[FMT_NUM], share[FMT_NUM],
		spread[2 * FMT_NUM + 8], what[512];
	const char *none = l->absent ? "not measured" : "-";

	snprintf(spread, sizeof(spread), "%s to %s", fmt_ns(low, l->low_ns), fmt_ns(high, l->high_ns));
	snprintf(what, sizeof(what), "%s%s%s", l->text, l->absent ? ": " : "", l->absent ? l->absent : "");
	return fmt_table__cell(t, l->part) ||
	       fmt_table__cell(t, l->has_calls ? fmt_count(calls, l->calls) : "-") ||
	       fmt_table__cell(t, l->has_each ? fmt_ns(each, l->each_ns) : none) ||
	       fmt_table__cell(t, l->has_spread ? spread : "-") ||
	       fmt_table__cell(t, l->has_total ? fmt_ns(all, l->total_ns) : none) ||
	       fmt_table__cell(t, l->has_share ? fmt_percent(share, l->share) : "-") ||
	       fmt_table__cell(t, what);
}

static int table(const struct cost *c, FILE *f)
{
	static const char *const heads[] = {
		"part", "calls", "each", "spread", "in all", "share", "of what"
	};
	struct fmt_table *t = fmt_table__new(7);
	int e = t ? 0 : -ENOMEM;

	for (unsigned i = 0; i < 7 && !e; i++) {
		fmt_table__align(t, i, i && i < 6 ? FMT_RIGHT : FMT_LEFT);
		e = fmt_table__cell(t, heads[i]);
	}
	for (unsigned i = 0; i < c->n && !e; i++)
		e = row(t, &c->line[i]);
	if (!e)
		fmt_table__print(t, f, 2, 0, fmt_color(f));
	fmt_table__free(t);
	return e ? -ENOMEM : 0;
}

int inspect_cost_text(const struct inspection *s, FILE *f)
{
	struct cost c;
	char n[FMT_NUM];
	int e;

	if (cost_unknown(s))
		return 0;
	cost_read(s, &c);
	fputs("\nWhat gpubpf cost", f);
	if (c.has_wall)
		fprintf(f, ", in %s that were recorded", fmt_ns(n, c.wall_ns));
	fprintf(f, "\n  (%s)\n", cost_note);
	e = table(&c, f);
	if (c.has_stepped)
		fprintf(f,
			"  %s of the calls were at entry points that the kernel has to single-step: they cost more\n",
			fmt_count(n, c.stepped));
	return e;
}

static void put_line(json_t *o, const struct cost_line *l)
{
	json_put_text(o, "part", l->part);
	json_put_text(o, "what", l->what);
	json_put_if(o, "calls", l->has_calls, l->calls);
	json_put_if(o, "measured", l->has_timed, l->timed);
	if (l->has_each)
		json_put_int(o, "each_ns", l->each_ns);
	else if (l->absent)
		json_put_unmeasured(o, "each_ns");
	json_put_if(o, "low_ns", l->has_spread, l->low_ns);
	json_put_if(o, "high_ns", l->has_spread, l->high_ns);
	if (l->has_total)
		json_put_int(o, "total_ns", l->total_ns);
	else if (l->absent)
		json_put_unmeasured(o, "total_ns");
	if (l->has_share)
		json_object_set_new(o, "share_of_a_thread", json_real(l->share));
	json_put_text(o, "because", l->absent);
	json_put_text(o, "text", l->text);
}

json_t *inspect_cost_json(const struct inspection *s)
{
	const Gpubpf__Cost *m = s->meta->cost;
	json_t *o, *a;
	struct cost c;

	if (cost_unknown(s))
		return NULL;
	cost_read(s, &c);
	o = json_object();
	a = json_array();
	json_put_if(o, "recorded_ns", c.has_wall, c.wall_ns);
	json_put_text(o, "note", cost_note);
	json_put_text(o, "probe", m ? m->probe : NULL);
	json_put_if(o, "single_stepped_calls", c.has_stepped, c.stepped);
	json_put_if(o, "measuring_ns", m && m->has_spent_ns, m ? m->spent_ns : 0);
	for (unsigned i = 0; i < c.n; i++)
		put_line(json_add_object(a), &c.line[i]);
	json_object_set_new(o, "parts", a);
	return o;
}
