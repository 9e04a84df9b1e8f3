/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVTX by domain and name. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "model/procs.h"
#include "report/extras.h"
#include "util/hist.h"
#include "util/hmap.h"

struct payloads {
	uint64_t n;
	uint64_t numbers; /* of these: finite, and all of one kind */
	uint32_t kind;    /* enum gpubpf_payload */
	bool several;     /* kinds */
	uint64_t min, max;
	double sum;
};

struct label_row {
	/* struct proc *; 1 + thread; domain, name, which of the two are there */
	uint64_t key[4];
	uint64_t ranges, open, ends_alone, untimed, elsewhere, marks;
	struct hist time;
	bool data; /* CUPTI was to give what comes beside the name */
	struct payloads payloads;
	uint64_t categories;
	uint32_t category; /* the last one that was new */
};

struct category {
	uint64_t key[2]; /* row, category */
	bool known;
};

struct labels {
	struct hmap rows, categories;
};
enum { HAS_DOMAIN = 1, HAS_NAME = 2 };

/* A text that never came keeps its number apart from those of texts (R9). */
#define UNRESOLVED (1u << 31)

static uint32_t text_key(uint32_t number, uint32_t id)
{
	return number ? number : id ? id | UNRESOLVED : 0;
}

static struct label_row *row_of(const struct report *r, struct hmap *found, const struct join_marker *m)
{
	uint64_t key[4] = { (uintptr_t)m->session->proc,
			    r->o.model.threads && m->has_thread ? 1 + (uint64_t)m->thread : 0,
			    (uint64_t)text_key(m->domain, m->domain_id) << 32 | text_key(m->name, m->name_id),
			    (m->has_domain ? HAS_DOMAIN : 0) | (m->has_name ? HAS_NAME : 0) };

	return hmap__put(found, key);
}

static double as_double(uint32_t kind, uint64_t bits)
{
	double d;

	if (kind == GPUBPF_PAYLOAD_UINT64)
		return (double)bits;
	if (kind == GPUBPF_PAYLOAD_INT64)
		return (double)(int64_t)bits;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

static bool less(uint32_t kind, uint64_t a, uint64_t b)
{
	if (kind == GPUBPF_PAYLOAD_UINT64)
		return a < b;
	if (kind == GPUBPF_PAYLOAD_INT64)
		return (int64_t)a < (int64_t)b;
	return as_double(kind, a) < as_double(kind, b);
}

static void add_payload(struct payloads *p, const struct join_marker *m)
{
	uint32_t kind = m->payload_kind;
	uint64_t v = m->payload;

	if (!m->has_payload)
		return;
	p->several |= p->n && p->kind != kind;
	p->kind = kind;
	p->n++;
	if (kind != GPUBPF_PAYLOAD_DOUBLE && kind != GPUBPF_PAYLOAD_UINT64 && kind != GPUBPF_PAYLOAD_INT64)
		return;
	if (!isfinite(as_double(kind, v)))
		return;
	if (!p->numbers || less(kind, v, p->min))
		p->min = v;
	if (!p->numbers || less(kind, p->max, v))
		p->max = v;
	p->sum += as_double(kind, v);
	p->numbers++;
}

static int add_data(struct labels *found, struct label_row *l, const struct join_marker *m)
{
	const struct join_facility *f = &m->session->facility[GPUBPF_FACILITY_NVTX_DATA];
	uint64_t key[2] = { (uintptr_t)l, m->category };
	struct category *c;

	l->data |= f->tried && !f->result;
	add_payload(&l->payloads, m);
	if (!m->has_category)
		return 0;
	c = hmap__put(&found->categories, key);
	if (!c)
		return -ENOMEM;
	if (!c->known) {
		c->known = true;
		l->categories++;
		l->category = m->category;
	}
	return 0;
}

static int add_marker(const struct report *r, struct labels *found, const struct join_marker *m)
{
	struct label_row *l;

	if (m->kind == GPUBPF_MARKER_END && m->paired)
		return 0;
	l = row_of(r, &found->rows, m);
	if (!l || add_data(found, l, m))
		return -ENOMEM;
	if (m->kind == GPUBPF_MARKER_INSTANT) {
		l->marks++;
	} else if (m->kind == GPUBPF_MARKER_END) {
		l->ends_alone++;
	} else if (!m->paired) {
		l->open++;
	} else {
		l->ranges++;
		l->elsewhere += m->ended_elsewhere;
		l->untimed += !m->has_end;
		return m->has_end ? hist__add(&l->time, m->end - m->time) : 0;
	}
	return 0;
}

static int text_cell(const struct report *r, struct rows *rows, bool has, uint32_t number, const char *none)
{
	const char *text = join__name(r->in.join, number);
	char unresolved[32];

	snprintf(unresolved, sizeof(unresolved), "<unresolved 0x%x>", number & ~UNRESOLVED);
	return row__text(rows, !has ? none : text ? text : unresolved);
}

static void payload_cell(struct rows *rows, const struct payloads *p, uint64_t v)
{
	if (!p->numbers || p->several)
		row__none(rows);
	else if (p->kind == GPUBPF_PAYLOAD_UINT64)
		row__number(rows, v);
	else if (p->kind == GPUBPF_PAYLOAD_INT64)
		row__signed(rows, (int64_t)v);
	else
		row__real(rows, true, false, as_double(p->kind, v));
}

static int data_cells(struct rows *rows, const struct label_row *l)
{
	const struct payloads *p = &l->payloads;
	double mean = p->numbers ? p->sum / (double)p->numbers : 0;
	char kind[32];

	row__maybe(rows, l->data || p->n, true, p->n);
	payload_cell(rows, p, p->min);
	row__real(rows, p->numbers && !p->several && isfinite(mean), false, mean);
	payload_cell(rows, p, p->max);
	snprintf(kind, sizeof(kind), "kind %u", p->kind);
	if (row__text(rows, !p->n                        ? NULL
			    : p->several                 ? "several"
			    : join_payload_name(p->kind) ? join_payload_name(p->kind)
							 : kind))
		return -ENOMEM;
	row__maybe(rows, l->data || l->categories, true, l->categories);
	row__maybe(rows, l->categories == 1, false, l->category);
	return 0;
}

static int label_cells(const struct report *r, struct rows *rows, const struct label_row *l)
{
	const struct proc *proc = (const struct proc *)(uintptr_t)l->key[0];

	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, l->ranges);
	row__maybe(rows, l->time.n, l->ranges, l->time.sum);
	row__maybe(rows, l->time.n, l->ranges, l->time.n ? l->time.sum / l->time.n : 0);
	row__quantiles(rows, &l->time, l->ranges);
	row__maybe(rows, l->time.n, l->ranges, l->time.max);
	row__number(rows, l->open);
	row__number(rows, l->ends_alone);
	row__number(rows, l->untimed);
	row__number(rows, l->elsewhere);
	row__number(rows, l->marks);
	if (data_cells(rows, l))
		return -ENOMEM;
	row__number(rows, proc->tgid);
	row__maybe(rows, l->key[1], r->o.model.threads, l->key[1] - 1);
	if (text_cell(r, rows, l->key[3] & HAS_DOMAIN, (uint32_t)(l->key[2] >> 32), NULL))
		return -ENOMEM;
	return text_cell(r, rows, l->key[3] & HAS_NAME, (uint32_t)l->key[2],
			 l->ends_alone ? "<began before>" : "<unnamed>");
}

static bool wanted(const struct report *r, const struct join_marker *m)
{
	const struct procs_filter *f = &r->o.model.filter;

	if (!m->session->proc->selected)
		return false;
	for (size_t i = 0; i < f->ntids; i++)
		if (m->has_thread && f->tids[i] == m->thread)
			return true;
	return !f->ntids;
}

int build_nvtx(const struct report *r, struct rows *rows)
{
	struct labels found;
	int rc = 0;

	hmap__init(&found.rows, sizeof(((struct label_row *)0)->key), sizeof(struct label_row));
	hmap__init(&found.categories, sizeof(((struct category *)0)->key), sizeof(struct category));
	for (size_t i = 0; !rc && i < join__markers(r->in.join); i++) {
		struct join_marker m;

		join__marker(r->in.join, i, &m);
		if (wanted(r, &m))
			rc = add_marker(r, &found, &m);
	}
	for (size_t i = 0; !rc && i < found.rows.n; i++)
		rc = label_cells(r, rows, hmap__at(&found.rows, i));
	for (size_t i = 0; i < found.rows.n; i++)
		hist__clear(&((struct label_row *)hmap__at(&found.rows, i))->time);
	hmap__clear(&found.rows);
	hmap__clear(&found.categories);
	return rc;
}
