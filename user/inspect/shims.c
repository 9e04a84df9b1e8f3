/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "inspect/shims.h"

#include <errno.h>

#include "inspect/jsonsafe.h"
#include "util/fmt.h"

json_t *inspect_shims_json(const Gpubpf__Meta *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->n_shim; i++) {
		const Gpubpf__Shim *s = m->shim[i];
		json_t *o = json_object();

		json_put_text(o, "path", s->path);
		json_put_text(o, "opened_as", s->opened_as);
		json_put_text(o, "origin", s->origin);
		json_put_if(o, "dev", s->has_dev, s->dev);
		json_put_if(o, "ino", s->has_ino, s->ino);
		json_put_if(o, "view_pid", s->has_view_pid, s->view_pid);
		json_put_if(o, "sites", s->has_sites, s->sites);
		json_put_if(o, "attached_ns", s->has_attached_ns, s->attached_ns);
		if (s->has_build_id)
			json_put_bytes(o, "build_id", s->build_id.data, s->build_id.len);
		json_array_append_new(a, o);
	}
	return a;
}

json_t *inspect_probes_json(const Gpubpf__Counts *c)
{
	json_t *a = json_array();

	for (size_t i = 0; i < c->n_probe; i++) {
		const Gpubpf__ProbeCounts *p = c->probe[i];
		json_t *o = json_object();

		json_put_text(o, "probe", p->probe);
		json_put_if(o, "hits", p->has_hits, p->hits);
		json_put_if(o, "items", p->has_items, p->items);
		json_put_if(o, "lost_hits", p->has_lost_hits, p->lost_hits);
		json_put_if(o, "lost_items", p->has_lost_items, p->lost_items);
		json_put_if(o, "faults", p->has_faults, p->faults);
		json_put_if(o, "cut_items", p->has_cut_items, p->cut_items);
		json_put_if(o, "lost_writer_items", p->has_lost_writer_items, p->lost_writer_items);
		json_array_append_new(a, o);
	}
	return a;
}

static int probe_row(struct fmt_table *t, const Gpubpf__ProbeCounts *p)
{
	const uint64_t terms[] = {
		p->hits, p->items, p->lost_hits, p->lost_items, p->faults, p->cut_items, p->lost_writer_items,
	};
	char buf[FMT_NUM];
	int e = fmt_table__cell(t, p->probe);

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]) && !e; i++)
		e = fmt_table__cell(t, fmt_count(buf, terms[i]));
	return e;
}

static int probes_text(const Gpubpf__Counts *c, FILE *f)
{
	static const char *const heads[] = { "probe",      "hits",       "items",     "lost hits",
					     "lost items", "unreadable", "cut items", "not written" };
	struct fmt_table *t = fmt_table__new(sizeof(heads) / sizeof(heads[0]));
	int e = t ? 0 : -ENOMEM;

	for (unsigned i = 0; i < sizeof(heads) / sizeof(heads[0]) && !e; i++) {
		fmt_table__align(t, i, i ? FMT_RIGHT : FMT_LEFT);
		e = fmt_table__cell(t, heads[i]);
	}
	for (size_t i = 0; i < c->n_probe && !e; i++)
		e = probe_row(t, c->probe[i]);
	if (!e)
		fmt_table__print(t, f, 2, 0, fmt_color(f));
	fmt_table__free(t);
	return e;
}

int inspect_shims_text(const Gpubpf__Meta *m, const Gpubpf__Counts *c, FILE *f)
{
	if (!m->n_shim)
		return 0;
	fputs("\nShim (the device observer's library; counted in the kernel)\n", f);
	for (size_t i = 0; i < m->n_shim; i++) {
		const Gpubpf__Shim *s = m->shim[i];

		fputs("  ", f);
		fmt_put_safe(f, s->path ? s->path : "?");
		fputs(", ", f);
		fmt_put_safe(f, s->origin ? s->origin : "?");
		if (s->has_view_pid)
			fprintf(f, ", process %u", s->view_pid);
		fprintf(f, ", %u sites\n", s->sites);
	}
	return c && c->n_probe ? probes_text(c, f) : 0;
}
