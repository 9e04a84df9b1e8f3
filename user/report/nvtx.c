/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVTX by domain and name. */
#include <errno.h>
#include <stdio.h>

#include "model/procs.h"
#include "report/extras.h"
#include "util/hist.h"
#include "util/hmap.h"

struct label_row {
	/* struct proc *; 1 + thread; domain, name, which of the two are there */
	uint64_t key[4];
	uint64_t ranges, open, ends_alone, untimed, elsewhere, marks;
	struct hist time;
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

static int add_marker(const struct report *r, struct hmap *found, const struct join_marker *m)
{
	struct label_row *l;

	if (m->kind == GPUBPF_MARKER_END && m->paired)
		return 0;
	l = row_of(r, found, m);
	if (!l)
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
	struct hmap found;
	int rc = 0;

	hmap__init(&found, sizeof(((struct label_row *)0)->key), sizeof(struct label_row));
	for (size_t i = 0; !rc && i < join__markers(r->in.join); i++) {
		struct join_marker m;

		join__marker(r->in.join, i, &m);
		if (wanted(r, &m))
			rc = add_marker(r, &found, &m);
	}
	for (size_t i = 0; !rc && i < found.n; i++)
		rc = label_cells(r, rows, hmap__at(&found, i));
	for (size_t i = 0; i < found.n; i++)
		hist__clear(&((struct label_row *)hmap__at(&found, i))->time);
	hmap__clear(&found);
	return rc;
}
