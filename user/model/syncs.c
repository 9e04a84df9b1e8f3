/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/syncs.h"

#include <errno.h>
#include <string.h>

void syncs__init(struct syncs *s)
{
	hmap__init(&s->rows, sizeof(((struct sync_row *)0)->key), sizeof(struct sync_row));
}

void syncs__clear(struct syncs *s)
{
	for (size_t i = 0; i < s->rows.n; i++)
		hist__clear(&((struct sync_row *)hmap__at(&s->rows, i))->time);
	hmap__clear(&s->rows);
}

int syncs__call(struct syncs *s, const struct view *v)
{
	bool has_stream = v->p->arg[PLAN_STREAM] >= 0;
	struct stream_id id = { 0 };
	struct sync_row *r;
	enum sync_on on = SYNC_NO_STREAM;

	if (v->p->api->cls != API_SYNC && has_stream)
		return 0;
	if (has_stream)
		on = stream_of(v, &id) ? SYNC_STREAM : SYNC_STREAM_UNREAD;
	r = hmap__put(&s->rows, (uint64_t[5]){ v->c->api, on, id.proc, id.stream, id.tid });
	if (!r)
		return -ENOMEM;
	if (!r->plan) {
		r->plan = v->p;
		r->on = on;
		r->proc = on == SYNC_STREAM ? v->proc : NULL;
		r->stream = id.stream;
		r->tid = (uint32_t)id.tid;
	}
	tally__add(&r->calls, v);
	return v->timed ? hist__add(&r->time, v->ns) : 0;
}
