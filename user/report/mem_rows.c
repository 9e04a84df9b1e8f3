/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the sections that --memory adds. Allocated is not resident (R13); zero is not "nobody looked" (R38). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/more.h"

/* Memory belongs to processes. */
static bool of_threads(const struct report *r)
{
	return r->o.model.filter.ntids != 0;
}

static void since_cells(const struct report *r, struct rows *rows, bool there, uint64_t at)
{
	row__maybe(rows, there && at >= r->m->first_ns, false, at - r->m->first_ns);
	row__maybe(rows, there, false, at);
}

/* ---- What is known at all ---- */

struct evidence {
	uint64_t watched, missing, refused, calls, lost;
};

static void count_api(const struct report *r, size_t id, struct evidence *e)
{
	const Gpubpf__Counts *c = r->in.counts;

	e->calls += r->m->apis[id].calls;
	for (size_t i = 0; c && i < c->n_api; i++)
		if (c->api[i]->api == id)
			e->lost += c->api[i]->lost_ring + c->api[i]->lost_thread + c->api[i]->lost_depth;
	for (size_t i = 0; i < r->in.meta->n_api; i++) {
		const Gpubpf__Api *a = r->in.meta->api[i];

		if (a->id != id)
			continue;
		e->refused += a->has_error && a->error;
		e->missing += !(a->has_error && a->error) && a->missing;
		e->watched += !(a->has_error && a->error) && !a->missing;
	}
}

static const char *evidence_text(const struct report *r, const struct evidence *e)
{
	if (r->in.host_left_out)
		return "none: the host observer was left out";
	if (e->calls)
		return "recorded";
	if (e->lost)
		return "none: the records were lost";
	if (e->watched)
		return "recorded zero";
	return e->refused   ? "none: not attached to"
	       : e->missing ? "none to be had: not in this driver"
			    : "none: not watched";
}

static int evidence_row(const struct report *r, struct rows *rows, const char *kind, const char *of,
			const char *memory)
{
	bool there = !r->in.host_left_out;
	struct evidence e = { 0 };

	for (size_t i = 0; i < r->m->nplans; i++)
		if (r->m->plans[i].api && strcmp(r->m->plans[i].api->kind, kind) == 0)
			count_api(r, i, &e);
	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, e.watched);
	row__number(rows, e.missing);
	row__number(rows, e.refused);
	row__maybe(rows, there && (e.watched || e.calls), true, e.calls);
	row__maybe(rows, there && r->in.counts && (e.watched || e.calls), true, e.lost);
	return row__text(rows, evidence_text(r, &e)) || row__text(rows, of) || row__text(rows, memory)
		       ? -ENOMEM
		       : 0;
}

int build_memory_evidence(const struct report *r, struct rows *rows)
{
	static const char *const others[][3] = {
		{ "place.prefetch", "prefetch", "managed" },
		{ "place.advise", "advise", "managed" },
		{ "place.attach", "attach", "managed" },
		{ "pool.create", "create", "pool" },
		{ "pool.trim", "trim", "pool" },
		{ "pool.attribute", "ask", "pool" },
		{ "pool.destroy", "destroy", "pool" },
		{ "map.virtual", "map", "virtual" },
	};
	char kind[32];
	int rc = 0;

	for (int f = 0; f < 2 && !of_threads(r); f++) {
		for (int k = 0; !rc && k < MEM_OTHER; k++) {
			/* pitched memory is freed as the device's */
			if (f && k == MEM_PITCH)
				continue;
			if (f && k == MEM_MANAGED)
				continue;
			snprintf(kind, sizeof(kind), "%s.%s", f ? "free" : "alloc", mem_kind_names[k]);
			rc = evidence_row(r, rows, kind, f ? "free" : "allocation", mem_kind_names[k]);
		}
	}
	for (size_t i = 0; !rc && !of_threads(r) && i < sizeof(others) / sizeof(others[0]); i++)
		rc = evidence_row(r, rows, others[i][0], others[i][1], others[i][2]);
	return rc;
}

/* ---- Over time ---- */

static int peak_row(const struct report *r, struct rows *rows, const struct memory_peak *p, uint64_t end,
		    bool known, const char *kind)
{
	if (rows__add(rows))
		return -ENOMEM;
	row__maybe(rows, known, true, p->bytes);
	row__number(rows, p->n);
	since_cells(r, rows, true, p->at);
	row__maybe(rows, known, true, end);
	return row__text(rows, kind);
}

int build_memory_peaks(const struct report *r, struct rows *rows)
{
	const struct memory *m = r->m->memory;
	int rc = 0;

	if (!m || of_threads(r))
		return 0;
	for (int k = 0; !rc && k < MEM_KINDS; k++) {
		const struct mem_row *row = &r->m->allocs.row[k];

		if (m->peak[k].n)
			rc = peak_row(r, rows, &m->peak[k], row->live.bytes,
				      row->bytes_unknown < row->allocated.n, mem_kind_names[k]);
	}
	if (!rc && m->total.n)
		rc = peak_row(r, rows, &m->total, r->m->allocs.total_live.bytes, true, "all");
	return rc;
}

int build_memory_live(const struct report *r, struct rows *rows)
{
	static const int kinds[] = {
		MEM_DEVICE, MEM_MANAGED, MEM_POOL, MEM_VIRTUAL, MEM_HOST, MEM_REGISTERED
	};
	const struct memory *m = r->m->memory;

	for (unsigned i = 0; m && !of_threads(r) && i < m->points; i++) {
		const struct memory_point *p = &m->point[i];

		if (!p->changes)
			continue;
		if (rows__add(rows))
			return -ENOMEM;
		since_cells(r, rows, true, m->first + ((uint64_t)i << m->shift));
		row__number(rows, p->changes);
		row__number(rows, p->n);
		row__number(rows, p->bytes);
		row__number(rows, p->peak);
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			row__number(rows, p->kind[kinds[k]] + (k ? 0 : p->kind[MEM_PITCH]));
	}
	return 0;
}

/* ---- Frees ---- */

int build_free_matches(const struct report *r, struct rows *rows)
{
	const struct memory *m = r->m->memory;

	for (size_t i = 0; m && !of_threads(r) && i < m->matches.n; i++) {
		const struct memory_match *x = hmap__at(&m->matches, i);
		uint64_t p50 = 0;

		if (rows__add(rows))
			return -ENOMEM;
		hist__quantile(&x->life, 0.5, &p50);
		row__number(rows, x->n);
		row__maybe(rows, x->unsized < x->n, true, x->bytes);
		row__maybe(rows, x->life.n, true, p50);
		row__maybe(rows, x->life.n, true, x->life.max);
		if (row__text(rows, x->key[1] ? "another" : "the same") ||
		    row__text(rows, mem_kind_names[x->key[0] >> 8]) ||
		    row__text(rows, mem_kind_names[x->key[0] & 0xff]))
			return -ENOMEM;
	}
	return 0;
}

/* ---- The device observer's word ---- */

struct told {
	uint64_t key[2]; /* process; operation, kind */
	const struct proc *proc;
	uint64_t records, bytes;
};

static int told_row(struct rows *rows, const struct told *x)
{
	unsigned op = (unsigned)(x->key[1] >> 8), kind = (unsigned)x->key[1] & 0xff;
	char number[32], of[32];

	snprintf(number, sizeof(number), "operation %u", op);
	snprintf(of, sizeof(of), "kind %u", kind);
	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, x->records);
	row__number(rows, x->bytes);
	row__number(rows, x->proc->tgid);
	if (row__text(rows, op == JOIN_MEMORY_ALLOCATION ? "allocation"
			    : op == JOIN_MEMORY_RELEASE  ? "release"
							 : number))
		return -ENOMEM;
	return row__text(rows, join_memory_name(kind) ? join_memory_name(kind) : of);
}

static int add_told(const struct report *r, struct hmap *told, size_t i)
{
	const struct join_key *key;
	const struct proc *proc;
	struct join_activity a;
	struct told *x;

	join__activity_brief(r->in.join, i, &a);
	proc = join__lane(r->in.join, a.lane)->session->proc;
	if (a.kind != GPUBPF_ACTIVITY_MEMORY || !proc->selected)
		return 0;
	key = join__key(r->in.join, a.key);
	x = hmap__put(told, (uint64_t[2]){ (uintptr_t)proc, (uint64_t)key->copy_kind << 8 | key->src_kind });
	if (!x)
		return -ENOMEM;
	x->proc = proc;
	x->records++;
	if (__builtin_add_overflow(x->bytes, a.memory_bytes, &x->bytes))
		x->bytes = UINT64_MAX;
	return 0;
}

int build_device_memory(const struct report *r, struct rows *rows)
{
	struct hmap told;
	int rc = 0;

	hmap__init(&told, sizeof(((struct told *)0)->key), sizeof(struct told));
	for (size_t i = 0; !rc && !of_threads(r) && i < join__activities(r->in.join); i++)
		rc = add_told(r, &told, i);
	for (size_t i = 0; !rc && i < told.n; i++)
		rc = told_row(rows, hmap__at(&told, i));
	hmap__clear(&told);
	return rc;
}

/* ---- Pools ---- */

static uint64_t touched(const struct memory_pool *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->nstretches; i++)
		n += p->stretches[i].to - p->stretches[i].from;
	return n;
}

static int pool_words(struct rows *rows, const struct memory_pool *p)
{
	char handle[32];

	snprintf(handle, sizeof(handle), "0x%" PRIx64, p->key[1]);
	if (row__text(rows, p->created && p->destroyed ? "created, destroyed"
			    : p->created               ? "created"
			    : p->destroyed             ? "destroyed"
						       : NULL))
		return -ENOMEM;
	row__number(rows, p->proc->tgid);
	return row__text(rows, p->key[2] ? handle : "current");
}

int build_memory_pools(const struct report *r, struct rows *rows)
{
	const struct memory *m = r->m->memory;

	for (size_t i = 0; m && !of_threads(r) && i < m->pools.n; i++) {
		const struct memory_pool *p = hmap__at(&m->pools, i);
		bool used = p->n != 0;

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, p->n);
		row__number(rows, p->bytes);
		row__number(rows, p->freed);
		row__number(rows, p->other_thread);
		row__number(rows, p->other_call);
		row__maybe(rows, used, false, p->peak.bytes);
		row__maybe(rows, used && p->peak.at >= r->m->first_ns, false, p->peak.at - r->m->first_ns);
		row__maybe(rows, used && !p->scattered, used, touched(p));
		row__real(rows, used && !p->scattered && p->peak.bytes, used,
			  p->peak.bytes ? (double)touched(p) / (double)p->peak.bytes : 0);
		row__maybe(rows, used && !p->scattered, used, p->nstretches);
		row__number(rows, p->end_live);
		row__number(rows, p->end_bytes);
		row__maybe(rows, p->measured, false, p->holes);
		row__maybe(rows, p->measured, false, p->hole_bytes);
		row__maybe(rows, p->measured, false, p->largest_hole);
		row__number(rows, p->trims);
		row__maybe(rows, p->has_reserved, true, p->reserved);
		row__maybe(rows, p->reserved_most, true, p->reserved_most);
		row__maybe(rows, p->has_used, true, p->used);
		row__maybe(rows, p->used_most, true, p->used_most);
		if (pool_words(rows, p))
			return -ENOMEM;
	}
	return 0;
}

/* ---- Placement ---- */

static int advice_cell(struct rows *rows, enum memory_op op, uint32_t detail)
{
	/* CUmem_advise, CUmemAttach_flags (cuda.h) */
	static const char *const advice[] = { NULL,
					      "set read mostly",
					      "unset read mostly",
					      "set preferred location",
					      "unset preferred location",
					      "set accessed by",
					      "unset accessed by" };
	static const char *const attach[] = { NULL, "global", "host", NULL, "single" };
	const char *word = NULL;
	char number[32];

	if (op == MEMORY_ADVISE && detail < sizeof(advice) / sizeof(advice[0]))
		word = advice[detail];
	if (op == MEMORY_ATTACH && detail < sizeof(attach) / sizeof(attach[0]))
		word = attach[detail];
	snprintf(number, sizeof(number), "%" PRIu32, detail);
	return row__text(rows, word ? word : op == MEMORY_ADVISE || op == MEMORY_ATTACH ? number : NULL);
}

static int location_cell(struct rows *rows, uint64_t place)
{
	uint32_t id = (uint32_t)place;
	char text[48];

	switch ((enum memory_where)(place >> 32)) {
	case MEMORY_NOWHERE:
		return row__text(rows, NULL);
	case MEMORY_WHERE_UNREAD:
		row__maybe(rows, false, true, 0);
		return 0;
	case MEMORY_HOST:
		return row__text(rows, "host");
	case MEMORY_HOST_NODE_CURRENT:
		return row__text(rows, "host, the thread's NUMA node");
	case MEMORY_DEVICE:
		snprintf(text, sizeof(text), "device %" PRIu32, id);
		break;
	case MEMORY_HOST_NODE:
		snprintf(text, sizeof(text), "host, NUMA node %" PRIu32, id);
		break;
	default:
		snprintf(text, sizeof(text), "of type %" PRIu32, id);
	}
	return row__text(rows, text);
}

int build_placement(const struct report *r, struct rows *rows)
{
	const struct memory *m = r->m->memory;

	for (size_t i = 0; m && !of_threads(r) && i < m->places.n; i++) {
		const struct memory_place *p = hmap__at(&m->places, i);
		enum memory_op op = (enum memory_op)(p->key[1] >> 32);
		uint64_t done = tally__done(&p->calls);
		bool managed = op < MEMORY_RESERVE;

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, done);
		row__maybe(rows, p->unsized < done || !done, true, p->bytes);
		row__maybe(rows, managed, false, p->managed);
		row__maybe(rows, managed, false, p->elsewhere);
		row__maybe(rows, managed, false, done - p->managed - p->elsewhere);
		row__number(rows, p->calls.captured);
		row__maybe(rows, !p->calls.unknown || p->calls.ok || p->calls.failed, true, p->calls.failed);
		row__number(rows, p->calls.open);
		row__number(rows, p->proc->tgid);
		if (row__text(rows, memory_op_names[op]) || advice_cell(rows, op, (uint32_t)p->key[1]) ||
		    location_cell(rows, p->key[2]))
			return -ENOMEM;
	}
	return 0;
}
