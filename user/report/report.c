/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

#include <errno.h>
#include <string.h>

#include "inspect/cost.h"
#include "report/coll_rows.h"
#include "report/extras.h"
#include "report/leaks.h"
#include "report/more.h"
#include "util/err.h"

/* Where there is one device, or all are of one kind, launch keys need not say on which they ran. */
static bool several_kinds(const struct report *r)
{
	const struct join_lane *first;

	if (!join__lanes(r->in.join) || report__device_kind(r))
		return false;
	first = join__lane(r->in.join, 0);
	for (size_t i = 1; i < join__lanes(r->in.join); i++) {
		const struct join_lane *lane = join__lane(r->in.join, (uint32_t)i);

		if (lane->device != first->device || lane->session->proc != first->session->proc)
			return true;
	}
	return false;
}

/* Everything but the join is made for the tables. */
static int read_device(struct report *r, struct err *err)
{
	const struct procs_filter *f = &r->o.model.filter;
	struct device_opts o = { .tids = f->tids, .ntids = f->ntids };
	int rc;

	if (!r->in.join)
		return 0;
	o.by_device = several_kinds(r);
	rc = device__new(&o, &r->dev);
	if (!rc)
		rc = device__read(r->dev, r->in.join);
	if (!rc)
		rc = loads__read(&r->loads, r->in.join);
	if (!rc)
		rc = collectives__read(r->in.join, r->in.meta, &r->coll);
	return rc ? err_set(err, rc, "%s: out of memory", r->in.path) : 0;
}

const char *report__device_kind(const struct report *r)
{
	const Gpubpf__Meta *m = r->in.meta;

	for (size_t i = 0; i < m->n_gpu; i++)
		if (!m->gpu[i]->name || !m->gpu[0]->name || strcmp(m->gpu[i]->name, m->gpu[0]->name) != 0)
			return NULL;
	return m->n_gpu ? m->gpu[0]->name : NULL;
}

const char *report__unobserved(const struct report *r, const struct section *s)
{
	if (s->build == build_cost)
		return cost_unknown(&r->in);
	if (s->build == build_memory_evidence || s->build == build_module_phases)
		return NULL; /* their rows say so */
	if (s->build == build_device_memory)
		return !r->in.join ? "no device observer in this capture" : extras_unobserved(r, s);
	if (s->build != build_processes && (!section__of_device(s) || s->build == build_waits))
		return r->in.host_left_out ? "host observer: left out" : NULL;
	if (s->build == build_processes)
		return NULL;
	if (!r->in.join)
		return "no device observer in this capture";
	if (collectives_section(s))
		return collectives_unobserved(r, s);
	if (extras_unobserved(r, s))
		return extras_unobserved(r, s);
	if (s->build == build_observers || s->build == build_sessions ||
	    join__totals(r->in.join)->armed_sessions || join__activities(r->in.join))
		return NULL;
	return "the device observer was never armed";
}

bool report__shows(const struct report *r, const struct section *s)
{
	if (r->o.chosen)
		return true;
	return (r->in.join || !section__of_device(s)) && !report__unobserved(r, s);
}

int report__open(struct report *r, const char *path, const struct report_opts *o, struct err *err)
{
	int rc;

	memset(r, 0, sizeof(*r));
	loads__init(&r->loads);
	stack_table__init(&r->stacks);
	r->o = *o;
	rc = inspection__open(&r->in, path, err);
	if (rc)
		return rc;
	for (size_t i = 0; i < o->nsections; i++)
		section__needs(o->sections[i], r->in.meta->stacks, &r->o.model);
	rc = model__new(r->in.tab, &r->o.model, &r->m);
	if (rc)
		return err_set(err, rc, "%s: out of memory", path);
	rc = inspection__read_model(&r->in, r->m, err);
	if (!rc)
		rc = read_device(r, err);
	if (!rc)
		rc = leaks__read(r, err);
	if (!rc)
		rc = inspection__check_filter(&r->in, r->m, err);
	if (rc)
		return rc;
	r->ledger = r->in.ledger;
	return 0;
}

void report__close(struct report *r)
{
	device__free(r->dev);
	collectives__free(r->coll);
	loads__clear(&r->loads);
	stack_table__clear(&r->stacks);
	inspection__close(&r->in); /* its join stands on the model */
	model__free(r->m);
}
