/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sections of what `record --cupti` asks for: present where it was asked for and CUPTI agreed (R5). */
#include "report/extras.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/procs.h"
#include "report/more.h"
#include "util/hmap.h"

/* ---- Whether anybody looked ---- */

static const struct asked_for {
	int (*build)(const struct report *r, struct rows *rows);
	enum gpubpf_facility facility;
	const char *not_asked, *refused;
} asked_for[] = {
	{ build_external, GPUBPF_FACILITY_EXTERNAL, "not asked for: record --cupti external does",
	  "CUPTI refused records of external correlation" },
	{ build_nvtx, GPUBPF_FACILITY_NVTX, "not asked for: record --cupti nvtx does",
	  "CUPTI refused records of NVTX" },
	{ build_device_memory, GPUBPF_FACILITY_MEMORY, "not asked for: record --cupti memory does",
	  "CUPTI refused records of memory" },
	{ build_unified, GPUBPF_FACILITY_UNIFIED, "not asked for: record --cupti unified-memory does",
	  "the session ended before CUPTI could be asked for its counters" },
};

const char *extras_unobserved(const struct report *r, const struct section *s)
{
	const struct asked_for *a = NULL;
	bool tried = false;

	for (size_t i = 0; i < sizeof(asked_for) / sizeof(asked_for[0]); i++)
		if (asked_for[i].build == s->build)
			a = &asked_for[i];
	if (!a)
		return NULL;
	for (size_t i = 0; i < join__sessions(r->in.join); i++) {
		const struct join_facility *f = &join__session(r->in.join, i)->facility[a->facility];

		tried |= f->tried;
		/* Which counters were refused its rows say. */
		if ((f->tried && !f->result) || (s->build == build_unified && f[1].tried))
			return NULL;
	}
	return tried ? a->refused : a->not_asked;
}

/* ---- External correlation ---- */

struct external_row {
	uint64_t key[2]; /* struct proc *, kind */
	uint64_t records, ids, calls, work, other;
};

struct seen {
	uint64_t key[3]; /* one of the following, and what tells them apart */
};
enum { SEEN_ID = 1, SEEN_CALL = 2 };

/* 1: for the first time. -ENOMEM. */
static int first_time(struct hmap *seen, uint64_t which, uint64_t a, uint64_t b)
{
	size_t before = seen->n;

	if (!hmap__put(seen, (uint64_t[3]){ which, a, b }))
		return -ENOMEM;
	return seen->n != before;
}

static int add_external(struct hmap *found, struct hmap *seen, const struct join_external *e)
{
	struct external_row *x = hmap__put(found, (uint64_t[2]){ (uintptr_t)e->session->proc, e->kind });
	int first;

	if (!x)
		return -ENOMEM;
	x->records++;
	first = first_time(seen, (uint64_t)e->kind << 8 | SEEN_ID, (uintptr_t)e->session->proc, e->id);
	if (first < 0)
		return first;
	x->ids += (uint64_t)first;
	if (!e->has_call) {
		x->other++;
		return 0;
	}
	first = first_time(seen, (uint64_t)e->kind << 8 | SEEN_CALL, (uintptr_t)e->session, e->correlation);
	if (first < 0)
		return first;
	x->calls += (uint64_t)first;
	x->work += (uint64_t)(first && e->has_work);
	return 0;
}

static uint64_t calls_of(const struct report *r, const struct proc *proc)
{
	uint64_t n = 0;

	for (size_t i = 0; i < join__sessions(r->in.join); i++)
		if (join__session(r->in.join, i)->proc == proc)
			n += join__session(r->in.join, i)->calls;
	return n;
}

static int external_cells(const struct report *r, struct rows *rows, const struct external_row *x)
{
	const struct proc *proc = (const struct proc *)(uintptr_t)x->key[0];
	const char *name = join_external_name((unsigned)x->key[1]);
	char number[32];

	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, x->records);
	row__number(rows, x->ids);
	row__number(rows, x->calls);
	row__number(rows, x->work);
	row__number(rows, x->other);
	row__number(rows, calls_of(r, proc));
	row__number(rows, proc->tgid);
	snprintf(number, sizeof(number), "kind %u", (unsigned)x->key[1]);
	return row__text(rows, name ? name : number);
}

int build_external(const struct report *r, struct rows *rows)
{
	struct hmap found, seen;
	int rc = 0;

	hmap__init(&found, sizeof(((struct external_row *)0)->key), sizeof(struct external_row));
	hmap__init(&seen, sizeof(((struct seen *)0)->key), sizeof(struct seen));
	for (size_t i = 0; !rc && i < join__externals(r->in.join); i++) {
		struct join_external e;

		join__external(r->in.join, i, &e);
		if (e.session->proc->selected)
			rc = add_external(&found, &seen, &e);
	}
	for (size_t i = 0; !rc && i < found.n; i++)
		rc = external_cells(r, rows, hmap__at(&found, i));
	hmap__clear(&seen);
	hmap__clear(&found);
	return rc;
}
