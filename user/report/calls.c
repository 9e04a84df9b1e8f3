/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about calls and who made them. */
#include <errno.h>
#include <stdio.h>

#include "model/cuda_abi.h"
#include "report/report.h"

static void stat_cells(struct rows *rows, const struct apistat *s)
{
	static const double quantiles[] = { 0.5, 0.99 };
	bool timed = s->time.n > 0, unmeasured = s->unmeasured > 0;
	uint64_t v = 0;

	row__number(rows, s->calls);
	row__maybe(rows, !unmeasured || s->returned, true, s->failed);
	row__maybe(rows, !unmeasured || s->returned, true, s->not_ready);
	row__number(rows, s->open);
	row__number(rows, s->nested);
	row__number(rows, s->unmeasured);
	row__number(rows, s->bad_time);
	row__maybe(rows, timed, unmeasured, s->time.sum);
	row__maybe(rows, timed, unmeasured, timed ? s->time.sum / s->time.n : 0);
	for (int i = 0; i < 2; i++) {
		hist__quantile(&s->time, quantiles[i], &v);
		row__maybe(rows, timed, unmeasured, v);
	}
	row__maybe(rows, timed, unmeasured, s->time.min);
	row__maybe(rows, timed, unmeasured, s->time.max);
}

int build_apis(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < r->m->nplans; i++) {
		const struct apistat *s = &r->m->apis[i];

		if (!s->calls && !s->nested)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		stat_cells(rows, s);
		if (row__text(rows, api_population(r->m->plans[i].api)) ||
		    row__text(rows, r->m->plans[i].api->kind) || row__text(rows, r->m->plans[i].api->symbol))
			return -ENOMEM;
	}
	return 0;
}

int build_threads(const struct report *r, struct rows *rows)
{
	for (size_t t = 0; t < r->m->procs.threads.n; t++) {
		const struct thread *th = hmap__at(&r->m->procs.threads, t);

		for (size_t i = 0; th->stats && i < r->m->nplans; i++) {
			if (!th->stats[i])
				continue;
			if (rows__add(rows))
				return -ENOMEM;
			row__number(rows, th->proc->tgid);
			row__number(rows, th->tid);
			stat_cells(rows, th->stats[i]);
			if (row__text(rows, r->m->plans[i].api->symbol))
				return -ENOMEM;
		}
	}
	return 0;
}

int build_failures(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < r->m->failures.n; i++) {
		const struct failure *f = hmap__at(&r->m->failures, i);
		const char *name = cuda_result_name((int32_t)f->key[1]);
		char unknown[48];

		snprintf(unknown, sizeof(unknown), "<unknown result %d>", (int32_t)f->key[1]);
		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, f->calls);
		row__number(rows, f->key[1]);
		if (row__text(rows, name ? name : unknown) ||
		    row__text(rows, r->m->plans[f->key[0]].api->symbol))
			return -ENOMEM;
	}
	return 0;
}

static const Gpubpf__Process *described(const struct report *r, const struct proc *p)
{
	/* metadata describes the first life of a pid that it saw */
	for (size_t i = 0; p->key[1] == 0 && i < r->in.meta->n_process; i++)
		if (r->in.meta->process[i]->tgid == p->tgid)
			return r->in.meta->process[i];
	return NULL;
}

int build_processes(const struct report *r, struct rows *rows)
{
	static const char *const ends[] = { NULL, "exited", "exec", "replaced (its end was not seen)" };

	for (size_t i = 0; i < r->m->procs.lives.n; i++) {
		const struct proc *p = hmap__at(&r->m->procs.lives, i);
		const Gpubpf__Process *d = described(r, p);
		char comm[sizeof(p->comm) + 1];
		const char *name = comm;

		if (!p->selected)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		snprintf(comm, sizeof(comm), "%.*s", (int)sizeof(p->comm), p->comm);
		if (!comm[0])
			name = d && d->comm && d->comm[0] ? d->comm : NULL;
		row__number(rows, p->tgid);
		row__maybe(rows, p->view_tgid || (d && d->has_view_pid), false,
			   p->view_tgid ? p->view_tgid
			   : d          ? d->view_pid
					: 0);
		row__maybe(rows, d && d->has_ns_pid, false, d ? d->ns_pid : 0);
		row__maybe(rows, p->parent, false, p->parent ? p->parent->tgid : 0);
		row__maybe(rows, !r->in.host_left_out, true, p->calls);
		row__maybe(rows, !r->in.host_left_out, true, p->threads);
		if (row__text(rows, d && d->origin && d->origin[0] ? d->origin : NULL) ||
		    row__text(rows, ends[p->end]) ||
		    row__text(rows, d && d->exe && d->exe[0] ? d->exe : NULL) || row__text(rows, name))
			return -ENOMEM;
	}
	return 0;
}
