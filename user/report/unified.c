/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unified memory by counter, and each counter that was asked for: refused, zero and not asked for are three things (R5). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "model/procs.h"
#include "report/extras.h"
#include "util/hmap.h"

struct unified_row {
	/* struct proc *; counter, cause; source, destination */
	uint64_t key[3];
	struct join_unified first;
	uint64_t events, bytes, groups, untimed, took;
};

static uint64_t place_key(const struct join_unified_place *p)
{
	return !p->there ? 0 : p->host ? 1 : 2 + (uint64_t)p->device;
}

/* Two devices' numbers in one word: a device of a process has a small ordinal, and what has not is kept apart all the same. */
static uint64_t places_key(const struct join_unified *u)
{
	return u->has_devices ? (uint64_t)1 << 63 | u->devices
			      : place_key(&u->src) * 2147483647 + place_key(&u->dst);
}

static int add_unified(struct hmap *found, const struct join_unified *u)
{
	uint64_t key[3] = { (uintptr_t)u->session->proc, (uint64_t)u->flags << 32 | u->counter,
			    places_key(u) };
	struct unified_row *x;

	if (!join_unified_cause(u))
		key[1] = u->counter;
	x = hmap__put(found, key);
	if (!x)
		return -ENOMEM;
	if (!x->events)
		x->first = *u;
	x->events++;
	x->bytes += u->has_bytes ? u->value : 0;
	x->groups += u->has_groups ? u->value : 0;
	x->untimed += !u->has_took;
	x->took += u->took;
	return 0;
}

static int place_cell(struct rows *rows, const struct join_unified_place *p)
{
	char text[32];

	snprintf(text, sizeof(text), "device %u", p->device);
	return row__text(rows, !p->there ? NULL : p->host ? "host" : text);
}

static int devices_cell(struct rows *rows, const struct join_unified *u)
{
	char text[128] = "";
	size_t n = 0;

	for (unsigned i = 0; u->has_devices && i < 32 && n < sizeof(text); i++)
		if (u->devices >> i & 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n ? " " : "", i);
	return row__text(rows, n ? text : NULL);
}

static int counter_cell(struct rows *rows, unsigned counter)
{
	const char *name = join_unified_name(counter);
	char number[32];

	snprintf(number, sizeof(number), "counter %u", counter);
	return row__text(rows, name ? name : number);
}

static bool has_span(unsigned counter)
{
	return counter != JOIN_UNIFIED_CPU_FAULT && counter != JOIN_UNIFIED_THRASHING &&
	       counter != JOIN_UNIFIED_REMOTE_MAP;
}

static int unified_cells(struct rows *rows, const struct unified_row *x)
{
	const struct join_unified *u = &x->first;
	bool span = has_span(u->counter);

	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, x->events);
	row__maybe(rows, u->has_bytes, false, x->bytes);
	row__maybe(rows, u->has_groups, false, x->groups);
	row__maybe(rows, span && x->untimed < x->events, span, x->took);
	row__maybe(rows, span, false, x->untimed);
	row__number(rows, u->session->proc->tgid);
	if (place_cell(rows, &u->src) || place_cell(rows, &u->dst) || devices_cell(rows, u) ||
	    row__text(rows, join_unified_cause(u)) || row__text(rows, "counted"))
		return -ENOMEM;
	return counter_cell(rows, u->counter);
}

/* A counter without an event: of a session that was given it zero, of one that was not unmeasured. */
static int empty_cells(struct rows *rows, const struct join_session *s, unsigned counter)
{
	const struct join_facility *f = &s->facility[GPUBPF_FACILITY_UNIFIED + counter];
	char state[48] = "counted";
	bool bytes = counter != JOIN_UNIFIED_CPU_FAULT && counter != JOIN_UNIFIED_GPU_FAULT &&
		     counter != JOIN_UNIFIED_THROTTLING;

	if (f->result)
		snprintf(state, sizeof(state), "refused (%d)", f->result);
	if (rows__add(rows))
		return -ENOMEM;
	row__maybe(rows, !f->result, true, 0);
	row__maybe(rows, !f->result && bytes, bytes, 0);
	row__maybe(rows, !f->result && counter == JOIN_UNIFIED_GPU_FAULT, counter == JOIN_UNIFIED_GPU_FAULT,
		   0);
	row__maybe(rows, !f->result && has_span(counter), has_span(counter), 0);
	row__maybe(rows, !f->result && has_span(counter), has_span(counter), 0);
	row__number(rows, s->proc->tgid);
	for (int i = 0; i < 4; i++)
		if (row__text(rows, NULL))
			return -ENOMEM;
	return row__text(rows, state) ? -ENOMEM : counter_cell(rows, counter);
}

struct told {
	uint64_t key[2]; /* struct proc *, counter */
};

/* Each counter of each process that no event tells of; a session that was given it speaks for the others. */
static int add_empty(const struct report *r, struct rows *rows, struct hmap *told, bool refused)
{
	for (size_t i = 0; i < join__sessions(r->in.join); i++) {
		const struct join_session *s = join__session(r->in.join, i);

		for (unsigned k = 1; s->proc->selected && k <= GPUBPF_UNIFIED_COUNTERS; k++) {
			const struct join_facility *f = &s->facility[GPUBPF_FACILITY_UNIFIED + k];
			uint64_t key[2] = { (uintptr_t)s->proc, k };

			if (!f->tried || !f->result == refused || hmap__get(told, key))
				continue;
			if (!hmap__put(told, key) || empty_cells(rows, s, k))
				return -ENOMEM;
		}
	}
	return 0;
}

int build_unified(const struct report *r, struct rows *rows)
{
	struct hmap found, told;
	int rc = 0;

	hmap__init(&found, sizeof(((struct unified_row *)0)->key), sizeof(struct unified_row));
	hmap__init(&told, sizeof(((struct told *)0)->key), sizeof(struct told));
	for (size_t i = 0; !rc && i < join__unifieds(r->in.join); i++) {
		struct join_unified u;

		join__unified(r->in.join, i, &u);
		if (!u.session->proc->selected)
			continue;
		rc = add_unified(&found, &u);
		if (!rc && !hmap__put(&told, (uint64_t[2]){ (uintptr_t)u.session->proc, u.counter }))
			rc = -ENOMEM;
	}
	for (size_t i = 0; !rc && i < found.n; i++)
		rc = unified_cells(rows, hmap__at(&found, i));
	if (!rc)
		rc = add_empty(r, rows, &told, false);
	if (!rc)
		rc = add_empty(r, rows, &told, true);
	hmap__clear(&told);
	hmap__clear(&found);
	return rc;
}
