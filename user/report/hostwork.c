/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections about what threads of the host spent on the device's behalf: waits and module loads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/cuda_abi.h"
#include "report/report.h"

static int stream_cell(struct rows *rows, const struct sync_row *s)
{
	char buf[48];

	switch (s->on) {
	case SYNC_NO_STREAM:
		return row__text(rows, NULL);
	case SYNC_STREAM_UNREAD:
		row__maybe(rows, false, true, 0);
		return 0;
	default:
		break;
	}
	if (s->stream == CUDA_STREAM_NULL)
		return row__text(rows, "legacy default");
	if (s->stream == CUDA_STREAM_PER_THREAD)
		snprintf(buf, sizeof(buf), "per-thread default of %u", s->tid);
	else
		snprintf(buf, sizeof(buf), "0x%llx", (unsigned long long)s->stream);
	return row__text(rows, buf);
}

int build_waits(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < r->m->syncs.rows.n; i++) {
		const struct sync_row *s = hmap__at(&r->m->syncs.rows, i);
		const struct tally *t = &s->calls;
		bool unmeasured = t->unknown > 0;

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, tally__done(t) + t->captured + t->failed + t->open);
		row__maybe(rows, !t->unknown || t->ok || t->failed, true, t->failed);
		row__number(rows, t->open);
		row__maybe(rows, s->time.n, unmeasured, s->time.sum);
		row__maybe(rows, s->time.n, unmeasured, s->time.n ? s->time.sum / s->time.n : 0);
		row__quantiles(rows, &s->time, unmeasured);
		row__maybe(rows, s->time.n, unmeasured, s->time.max);
		row__maybe(rows, s->proc, false, s->proc ? s->proc->tgid : 0);
		if (row__text(rows, s->plan->api->kind) || stream_cell(rows, s) ||
		    row__text(rows, s->plan->api->symbol))
			return -ENOMEM;
	}
	return 0;
}

/* Distinct names of kernels that ran: a total of loads means little without it (R54). */
static uint64_t kernels_that_ran(const struct report *r)
{
	struct hmap names;
	uint64_t n;

	hmap__init(&names, sizeof(uint64_t), sizeof(uint64_t));
	for (size_t i = 0; i < r->dev->keys.n; i++) {
		const struct ran *ran = hmap__at(&r->dev->keys, i);
		const struct join_key *key = join__key(r->in.join, ran->key[0]);

		if (key->kind == GPUBPF_ACTIVITY_KERNEL && !hmap__put(&names, (uint64_t[1]){ key->name })) {
			hmap__clear(&names);
			return UINT64_MAX;
		}
	}
	n = names.n;
	hmap__clear(&names);
	return n;
}

/* Calls that load, compile or link, as the host observer timed them. */
struct load_calls {
	uint64_t calls, untimed;
	struct hist time;
};

static int load_calls(const struct report *r, const char *detail, struct load_calls *n)
{
	int rc = 0;

	memset(n, 0, sizeof(*n));
	for (size_t i = 0; !rc && i < r->m->nplans; i++) {
		const struct api *a = r->m->plans[i].api;
		const struct apistat *s = &r->m->apis[i];

		if (!a || a->cls != API_MODULE || strcmp(a->detail, detail) != 0)
			continue;
		n->calls += s->calls;
		n->untimed += s->unmeasured;
		rc = hist__merge(&n->time, &s->time);
	}
	return rc;
}

static void call_cells(const struct report *r, struct rows *rows, const struct load_calls *n)
{
	bool alone = r->in.host_left_out;

	row__maybe(rows, !alone, true, n->calls);
	row__maybe(rows, n->time.n, n->untimed || alone, n->time.sum);
	row__maybe(rows, n->time.n, n->untimed || alone, n->time.max);
}

int build_module_loads(const struct report *r, struct rows *rows)
{
	uint64_t loads = 0, unloads = 0, untimed = 0, bytes = 0, modules = 0, kernels;
	struct load_calls load, link = { 0 };
	struct hist time = { 0 };
	int rc = load_calls(r, "load", &load);

	if (!rc)
		rc = load_calls(r, "link", &link);

	for (size_t i = 0; !rc && i < r->loads.rows.n; i++) {
		const struct load_row *l = hmap__at(&r->loads.rows, i);

		if (!l->proc->selected)
			continue;
		modules++;
		loads += l->loads;
		unloads += l->unloads;
		untimed += l->untimed;
		bytes += l->loads * l->bytes;
		rc = hist__merge(&time, &l->time);
	}
	kernels = kernels_that_ran(r);
	if (rc || kernels == UINT64_MAX)
		rc = -ENOMEM;
	else if (loads || load.calls || link.calls)
		rc = rows__add(rows);
	if (rc || !rows->n)
		goto out;
	row__number(rows, loads);
	row__number(rows, modules);
	row__number(rows, unloads);
	row__number(rows, untimed);
	row__number(rows, bytes);
	row__maybe(rows, time.n, true, time.sum);
	row__maybe(rows, time.n, true, time.n ? time.sum / time.n : 0);
	row__quantiles(rows, &time, true);
	row__maybe(rows, time.n, true, time.max);
	row__number(rows, kernels);
	call_cells(r, rows, &load);
	call_cells(r, rows, &link);
	row__maybe(rows, load.time.n && kernels, load.untimed || r->in.host_left_out,
		   kernels ? load.time.sum / kernels : 0);
	row__maybe(rows, false, true, 0);
	row__maybe(rows, false, true, 0);
	row__number(rows, loads);
out:
	hist__clear(&time);
	hist__clear(&load.time);
	hist__clear(&link.time);
	return rc;
}

int build_modules(const struct report *r, struct rows *rows)
{
	for (size_t i = 0; i < r->loads.rows.n; i++) {
		const struct load_row *l = hmap__at(&r->loads.rows, i);

		if (!l->proc->selected)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, l->loads);
		row__number(rows, l->unloads);
		row__number(rows, l->untimed);
		row__number(rows, l->bytes);
		row__maybe(rows, l->time.n, true, l->time.sum);
		row__maybe(rows, l->time.n, true, l->time.n ? l->time.sum / l->time.n : 0);
		row__maybe(rows, l->time.n, true, l->time.max);
		row__number(rows, l->proc->tgid);
		row__maybe(rows, l->has_crc, true, l->crc);
	}
	return 0;
}
