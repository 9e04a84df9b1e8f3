/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Items of the activity probe that ran on no device, kept as they come: ids of other programming interfaces. */
#include "join/priv.h"

#include <errno.h>

void extras_init(struct join *j)
{
	vec__init(&j->externals, sizeof(struct external));
}

void extras_free(struct join *j)
{
	vec__clear(&j->externals);
}

static int on_external(struct join *j, const struct session *s, const struct gpubpf_activity *a,
		       uint64_t arrived)
{
	struct external *e = vec__add(&j->externals);

	if (!e)
		return -ENOMEM;
	e->session = s->number;
	e->kind = (uint32_t)a->u.raw[0];
	e->id = a->u.raw[1];
	e->correlation = a->correlation;
	e->arrival = (uint32_t)(arrived / 1000000);
	return 0;
}

int extras_item(struct join *j, struct session *s, const struct gpubpf_activity *a, uint64_t arrived)
{
	s->pub.activities++;
	return on_external(j, s, a, arrived);
}

size_t join__externals(const struct join *j)
{
	return j->externals.n;
}

void join__external(const struct join *j, size_t i, struct join_external *to)
{
	const struct external *e = vec__at(&j->externals, (uint32_t)i);
	const struct scall *c;

	*to = (struct join_external){ .session = &session_at(j, e->session)->pub,
				      .kind = e->kind,
				      .id = e->id,
				      .correlation = e->correlation };
	if (!e->call || e->call == ACT_AMBIGUOUS)
		return;
	c = scall_at(j, e->call - 1);
	to->has_call = true;
	to->has_work = population_of_work(SCALL_WORK(c->info)) < JOIN_POPULATIONS;
	to->thread = (uint32_t)((const struct sthread *)hmap__at(&j->sthreads, c->thread))->key[1];
}
