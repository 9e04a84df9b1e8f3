/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about memory. Allocated is not resident (R13). */
#include <errno.h>

#include "report/report.h"

static bool any(const struct tally *t)
{
	return t->ok || t->captured || t->failed || t->open || t->unknown;
}

static void sum_cells(struct rows *rows, const struct mem_sum *s, bool known, bool sized)
{
	row__maybe(rows, known, true, s->n);
	row__maybe(rows, known && sized, true, s->bytes);
}

int build_memory(const struct report *r, struct rows *rows)
{
	/* memory belongs to processes: a choice of threads would count frees without their allocations */
	for (int k = 0; k < MEM_KINDS && !r->o.model.filter.ntids; k++) {
		const struct mem_row *m = &r->m->allocs.row[k];
		bool sized = !m->allocated.n || m->bytes_unknown < m->allocated.n;
		bool known = !m->allocated.n || m->no_address.n < m->allocated.n;

		if (!any(&m->calls))
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, m->allocated.n);
		row__maybe(rows, sized, true, m->allocated.bytes);
		sum_cells(rows, &m->freed, known, sized);
		sum_cells(rows, &m->live, known, sized);
		row__maybe(rows, known && sized, true, m->peak_bytes);
		sum_cells(rows, &m->exited, known, sized);
		sum_cells(rows, &m->lost_track, known, sized);
		row__number(rows, m->no_address.n);
		row__number(rows, m->bytes_unknown);
		row__number(rows, m->calls.captured);
		row__maybe(rows, !m->calls.unknown || m->calls.ok || m->calls.failed, true, m->calls.failed);
		row__number(rows, m->calls.open);
		if (row__text(rows, mem_kind_names[k]))
			return -ENOMEM;
	}
	return 0;
}

int build_frees(const struct report *r, struct rows *rows)
{
	for (int k = 0; k < MEM_KINDS && !r->o.model.filter.ntids; k++) {
		const struct free_row *f = &r->m->allocs.frees[k];
		bool known;

		if (!any(&f->calls))
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		known = f->unmatched < tally__done(&f->calls) || !tally__done(&f->calls);
		row__number(rows, tally__done(&f->calls));
		row__maybe(rows, known, true, f->matched);
		row__maybe(rows, known, true, f->unknown);
		row__number(rows, f->null);
		row__number(rows, f->unmatched);
		row__number(rows, f->calls.captured);
		row__maybe(rows, !f->calls.unknown || f->calls.ok || f->calls.failed, true, f->calls.failed);
		row__number(rows, f->calls.open);
		if (row__text(rows, mem_kind_names[k]))
			return -ENOMEM;
	}
	return 0;
}
