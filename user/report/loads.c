/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/loads.h"

#include <errno.h>
#include <string.h>

struct number {
	uint64_t key[2]; /* process, CUPTI's number */
	uint32_t row;    /* + 1 */
	uint32_t zero;
};

void loads__init(struct loads *l)
{
	memset(l, 0, sizeof(*l));
	hmap__init(&l->rows, sizeof(((struct load_row *)0)->key), sizeof(struct load_row));
	hmap__init(&l->numbers, sizeof(((struct number *)0)->key), sizeof(struct number));
}

void loads__clear(struct loads *l)
{
	for (size_t i = 0; i < l->rows.n; i++)
		hist__clear(&((struct load_row *)hmap__at(&l->rows, i))->time);
	hmap__clear(&l->rows);
	hmap__clear(&l->numbers);
}

static void unload(struct loads *l, const struct proc *proc, const struct gpubpf_module *m)
{
	struct number *n = hmap__get(&l->numbers, (uint64_t[2]){ (uintptr_t)proc, m->id });

	if (n && n->row)
		((struct load_row *)hmap__at(&l->rows, n->row - 1))->unloads++;
	else
		l->unknown_unloads++;
}

static int load(struct loads *l, const struct proc *proc, const struct gpubpf_module *m)
{
	bool has_crc = !(m->flags & GPUBPF_MODULE_NO_CRC);
	uint64_t which = (uint64_t)has_crc << 32 | (has_crc ? m->crc : m->id);
	struct load_row *r = hmap__put(&l->rows, (uint64_t[3]){ (uintptr_t)proc, which, m->bytes });
	struct number *n = hmap__put(&l->numbers, (uint64_t[2]){ (uintptr_t)proc, m->id });

	if (!r || !n)
		return -ENOMEM;
	if (!r->loads) {
		r->number = (uint32_t)(l->rows.n - 1);
		r->proc = proc;
		r->has_crc = has_crc;
		r->crc = m->crc;
		r->bytes = m->bytes;
	}
	n->row = r->number + 1;
	r->loads++;
	if (!m->start || m->end < m->start) {
		r->untimed++;
		return 0;
	}
	return hist__add(&r->time, m->end - m->start);
}

int loads__add(struct loads *l, const struct proc *proc, const struct gpubpf_module *m)
{
	if (!(m->flags & GPUBPF_MODULE_UNLOADED))
		return load(l, proc, m);
	unload(l, proc, m);
	return 0;
}

int loads__read(struct loads *l, const struct join *j)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < join__modules(j); i++) {
		const struct join_session *s;
		const struct gpubpf_module *m = join__module(j, i, &s);

		rc = loads__add(l, s->proc, m);
	}
	return rc;
}
