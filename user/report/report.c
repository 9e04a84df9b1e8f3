/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "util/err.h"

static int check_pids(const struct report *r, struct err *err)
{
	const struct procs_filter *f = &r->o.model.filter;

	for (size_t i = 0; i < f->npids; i++) {
		bool there = false;

		for (size_t k = 0; k < r->m->procs.lives.n && !there; k++)
			there = ((const struct proc *)hmap__at(&r->m->procs.lives, k))->tgid == f->pids[i];
		if (!there)
			return err_set(
				err, -ESRCH,
				"%s: no process %u in this capture; `gpubpf report --section processes` lists them",
				r->in.path, f->pids[i]);
	}
	for (size_t i = 0; i < f->ntids; i++) {
		bool there = false;

		for (size_t k = 0; k < r->m->procs.threads.n && !there; k++) {
			const struct thread *th = hmap__at(&r->m->procs.threads, k);

			there = th->tid == f->tids[i] && th->selected;
		}
		if (!there)
			return err_set(
				err, -ESRCH,
				"%s: no thread %u in this capture; `gpubpf report --threads --section threads` "
				"lists them",
				r->in.path, f->tids[i]);
	}
	return 0;
}

int report__open(struct report *r, const char *path, const struct report_opts *o, struct err *err)
{
	int rc;

	memset(r, 0, sizeof(*r));
	r->o = *o;
	rc = inspection__open(&r->in, path, err);
	if (rc)
		return rc;
	rc = model__new(r->in.tab, &o->model, &r->m);
	if (rc)
		return err_set(err, rc, "%s: out of memory", path);
	rc = inspection__read_model(&r->in, r->m, err);
	if (!rc)
		rc = check_pids(r, err);
	if (rc)
		return rc;
	r->ledger = r->in.ledger;
	return 0;
}

void report__close(struct report *r)
{
	inspection__close(&r->in); /* its join stands on the model */
	model__free(r->m);
}
