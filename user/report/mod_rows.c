/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of the sections that --modules adds: host time, in no kernel's duration (R54). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/cost.h"
#include "report/more.h"

/* ---- Records of the device observer that fall into calls ---- */

struct span { /* a call of a process, and whose it is */
	const struct proc *proc;
	uint64_t from, to;
	size_t of;
};

/* By what they are: the join may stand on a model of its own. */
static int by_start(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	for (int i = 0; i < 2; i++)
		if (a->proc->key[i] != b->proc->key[i])
			return a->proc->key[i] < b->proc->key[i] ? -1 : 1;
	return (a->from > b->from) - (a->from < b->from);
}

static bool same(const struct proc *a, const struct proc *b)
{
	return a->key[0] == b->key[0] && a->key[1] == b->key[1];
}

static bool behind(const struct span *s, const struct proc *p, uint64_t t)
{
	const struct span probe = { .proc = p, .from = t };

	return by_start(s, &probe) > 0;
}

/* The span that began last and holds [from, to]; spans of several threads may overlap. NULL: none. */
static const struct span *holding(const struct span *s, size_t n, const struct proc *p, uint64_t from,
				  uint64_t to)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (behind(&s[mid], p, from))
			hi = mid;
		else
			lo = mid + 1;
	}
	for (unsigned look = 0; lo && look < 16; look++)
		if (same(s[--lo].proc, p) && s[lo].to >= to)
			return &s[lo];
	return NULL;
}

struct seen { /* of a kernel */
	uint64_t lazy, lazy_ns, modules;
};

struct look {
	const struct report *r;
	struct span *first, *lookup; /* of kernels */
	size_t nfirst, nlookup;
	struct seen *seen;
};

static void add_lazy(struct seen *s, const struct join_activity *a)
{
	s->lazy++;
	s->lazy_ns += a->end - a->start;
}

static void overhead_record(struct look *l, const struct join_activity *a)
{
	const struct join_lane *lane = join__lane(l->r->in.join, a->lane);
	const struct span *s;

	if (a->overhead != JOIN_OVERHEAD_LAZY_LOADING || !a->start || a->end < a->start)
		return;
	if (a->has_call) {
		s = holding(l->first, l->nfirst, a->call.proc, a->call.entry, a->call.entry);
		if (s && s->from == a->call.entry)
			add_lazy(&l->seen[s->of], a);
		return;
	}
	s = a->correlation ? NULL : holding(l->lookup, l->nlookup, lane->session->proc, a->start, a->end);
	if (s)
		add_lazy(&l->seen[s->of], a);
}

static int look_open(struct look *l, const struct report *r)
{
	const struct hmap *kernels = &r->m->modloads->merged;

	*l = (struct look){ .r = r };
	l->first = calloc(kernels->n + 1, sizeof(*l->first));
	l->lookup = calloc(kernels->n + 1, sizeof(*l->lookup));
	l->seen = calloc(kernels->n + 1, sizeof(*l->seen));
	if (!l->first || !l->lookup || !l->seen)
		return -ENOMEM;
	for (size_t i = 0; i < kernels->n; i++) {
		const struct mod_kernel *k = hmap__at(kernels, i);

		if (k->timed)
			l->first[l->nfirst++] = (struct span){ k->proc, k->first_entry,
							       k->first_entry + k->first_ns, i };
		if (k->lookups)
			l->lookup[l->nlookup++] = (struct span){ k->proc, k->lookup_entry, k->lookup_return,
								 i };
	}
	qsort(l->first, l->nfirst, sizeof(*l->first), by_start);
	qsort(l->lookup, l->nlookup, sizeof(*l->lookup), by_start);
	for (size_t i = 0; r->in.join && i < join__activities(r->in.join); i++) {
		struct join_activity a;

		join__activity_brief(r->in.join, i, &a);
		if (a.kind != GPUBPF_ACTIVITY_OVERHEAD)
			continue;
		join__activity(r->in.join, i, &a);
		overhead_record(l, &a);
	}
	for (size_t i = 0; r->in.join && i < join__modules(r->in.join); i++) {
		const struct join_session *session;
		const struct gpubpf_module *m = join__module(r->in.join, i, &session);
		const struct span *s = m->flags & GPUBPF_MODULE_UNLOADED
					       ? NULL
					       : holding(l->first, l->nfirst, session->proc, m->end, m->end);

		if (s)
			l->seen[s->of].modules++;
	}
	return 0;
}

static void look_close(struct look *l)
{
	free(l->first);
	free(l->lookup);
	free(l->seen);
}

/* ---- By kernel ---- */

static int kernel_words(const struct report *r, struct rows *rows, const struct mod_kernel *k)
{
	const struct mod_row *load = k->has_load ? hmap__at(&r->m->modloads->rows, k->load_row) : NULL;
	const char *text = names__text(r->m->names, k->name);
	char *name = names__display(text, k->handle);
	int rc = name && !row__text(rows, load ? mod_image_names[load->image] : NULL) &&
				 !row__text(rows, load ? load->api->symbol : NULL) &&
				 !row__text(rows, text) && !row__text(rows, name)
			 ? 0
			 : -ENOMEM;

	free(name);
	return rc;
}

struct source {          /* a load call, and how many kernels came from it */
	uint64_t key[3]; /* process, row, entry */
	uint64_t kernels;
};

static struct source *source_of(struct hmap *sources, const struct mod_kernel *k)
{
	return hmap__put(sources, (uint64_t[3]){ (uintptr_t)k->proc, k->load_row, k->load_entry });
}

static int count_sources(struct hmap *sources, const struct hmap *kernels)
{
	for (size_t i = 0; i < kernels->n; i++) {
		const struct mod_kernel *k = hmap__at(kernels, i);
		struct source *s = k->has_load ? source_of(sources, k) : NULL;

		if (k->has_load && !s)
			return -ENOMEM;
		if (s)
			s->kernels++;
	}
	return 0;
}

static int kernel_row(const struct report *r, struct rows *rows, const struct mod_kernel *k,
		      const struct seen *seen, struct hmap *sources)
{
	const struct source *source = k->has_load ? source_of(sources, k) : NULL;
	bool cupti = r->in.join && !cost_no_overhead(&r->in);

	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, k->launches);
	row__maybe(rows, k->timed, true, k->first_ns);
	row__maybe(rows, k->rest, k->launches > 1, k->rest ? k->rest_ns / k->rest : 0);
	row__maybe(rows, k->lookups, true, k->lookup_ns);
	row__number(rows, k->lookups);
	row__maybe(rows, k->has_load && k->load_timed, true, k->load_ns);
	row__maybe(rows, source, true, source ? source->kernels : 0);
	row__maybe(rows, k->timed, true, k->nested);
	row__maybe(rows, k->timed, true, k->nested_ns);
	row__maybe(rows, cupti, true, seen->lazy);
	row__maybe(rows, cupti, true, seen->lazy_ns);
	row__maybe(rows, r->in.join && k->timed, true, seen->modules);
	row__number(rows, k->proc->tgid);
	row__number(rows, k->tid);
	return kernel_words(r, rows, k);
}

int build_load_kernels(const struct report *r, struct rows *rows)
{
	struct hmap sources;
	struct look l;
	int rc;

	if (!r->m->modloads)
		return 0;
	hmap__init(&sources, sizeof(((struct source *)0)->key), sizeof(struct source));
	rc = look_open(&l, r);
	if (!rc)
		rc = count_sources(&sources, &r->m->modloads->merged);
	for (size_t i = 0; !rc && i < r->m->modloads->merged.n; i++)
		rc = kernel_row(r, rows, hmap__at(&r->m->modloads->merged, i), &l.seen[i], &sources);
	hmap__clear(&sources);
	look_close(&l);
	return rc;
}

/* ---- By entry point ---- */

/* How many calls of each row CUPTI's compiler ran in. False: it told of no compiler at all, which says nothing. */
static int count_compiled(const struct report *r, uint64_t *compiled, bool *there)
{
	const struct modloads *m = r->m->modloads;
	struct span *spans = calloc(m->nspans + 1, sizeof(*spans));
	uint8_t *hit = calloc(m->nspans + 1, 1);

	*there = false;
	for (size_t i = 0; spans && i < m->nspans; i++)
		spans[i] = (struct span){ m->spans[i].proc, m->spans[i].entry, m->spans[i].ret, i };
	if (spans)
		qsort(spans, m->nspans, sizeof(*spans), by_start);
	for (size_t i = 0; spans && hit && r->in.join && i < join__activities(r->in.join); i++) {
		struct join_activity a;
		const struct span *s;

		join__activity_brief(r->in.join, i, &a);
		if (a.kind != GPUBPF_ACTIVITY_OVERHEAD || a.overhead != JOIN_OVERHEAD_COMPILER)
			continue;
		*there = !m->too_many;
		s = holding(spans, m->nspans, join__lane(r->in.join, a.lane)->session->proc, a.start, a.end);
		if (s && !hit[s->of]) {
			hit[s->of] = 1;
			compiled[m->spans[s->of].row]++;
		}
	}
	free(hit);
	free(spans);
	return spans && hit ? 0 : -ENOMEM;
}

static int call_row(struct rows *rows, const struct mod_row *x, bool told, uint64_t compiled)
{
	const struct tally *t = &x->calls;
	uint64_t done = tally__done(t) + t->captured, known = 0;
	bool loads = strcmp(x->api->detail, "load") == 0;
	uint64_t p50 = 0;

	hist__quantile(&x->time, 0.5, &p50);
	if (rows__add(rows))
		return -ENOMEM;
	row__number(rows, done);
	row__maybe(rows, !t->unknown || t->ok || t->failed, true, t->failed);
	row__number(rows, t->open);
	row__number(rows, x->nested);
	row__maybe(rows, x->time.n, t->unknown, x->time.sum);
	row__maybe(rows, x->time.n, t->unknown, x->time.n ? x->time.sum / x->time.n : 0);
	row__maybe(rows, x->time.n, t->unknown, p50);
	row__maybe(rows, x->time.n, t->unknown, x->time.max);
	row__maybe(rows, loads, false, x->functions);
	row__maybe(rows, loads, false, x->kernels);
	row__maybe(rows, loads && x->image == MOD_IMAGE_CUBIN, loads, 0);
	row__maybe(rows, loads && (told || x->image == MOD_IMAGE_CUBIN), loads, compiled);
	known = x->image == MOD_IMAGE_CUBIN ? done - (compiled < done ? compiled : done) : 0;
	row__maybe(rows, loads && x->image != MOD_IMAGE_UNREAD && x->image != MOD_IMAGE_FATBIN, loads, known);
	row__maybe(rows, loads, false, done - (compiled < done ? compiled : done) - known);
	row__number(rows, x->proc->tgid);
	if (x->image != MOD_IMAGE_UNREAD) {
		if (row__text(rows, mod_image_names[x->image]))
			return -ENOMEM;
	} else {
		row__maybe(rows, false, loads, 0);
	}
	return row__text(rows, x->api->symbol);
}

int build_load_calls(const struct report *r, struct rows *rows)
{
	const struct modloads *m = r->m->modloads;
	uint64_t *compiled;
	bool told;
	int rc;

	if (!m)
		return 0;
	compiled = calloc(m->rows.n + 1, sizeof(*compiled));
	rc = compiled ? count_compiled(r, compiled, &told) : -ENOMEM;
	for (size_t i = 0; !rc && i < m->rows.n; i++)
		rc = call_row(rows, hmap__at(&m->rows, i), told, compiled[i]);
	free(compiled);
	return rc;
}

/* ---- Phases ---- */

struct phase {
	const char *name, *source, *absent; /* absent: why it is not measured */
	uint64_t count, untimed, ns, slowest;
};

static int phase_row(const struct report *r, struct rows *rows, const struct phase *p)
{
	uint64_t kernels = r->m->modloads->merged.n;
	bool timed = !p->absent && (p->untimed < p->count || !p->count);

	if (rows__add(rows))
		return -ENOMEM;
	row__maybe(rows, !p->absent, true, p->count);
	row__maybe(rows, !p->absent, true, p->untimed);
	row__maybe(rows, timed, true, p->ns);
	row__maybe(rows, timed, true, p->slowest);
	row__maybe(rows, timed && kernels, !timed, kernels ? p->ns / kernels : 0);
	return row__text(rows, p->source) || row__text(rows, p->absent ? p->absent : "measured") ||
			       row__text(rows, p->name)
		       ? -ENOMEM
		       : 0;
}

static struct phase of_calls(const struct report *r, const char *name, const char *const *details)
{
	struct phase p = { .name = name,
			   .source = "calls",
			   .absent = r->in.host_left_out ? "host observer: left out" : NULL };

	for (size_t i = 0; i < r->m->nplans; i++) {
		const struct api *a = r->m->plans[i].api;
		const struct apistat *s = &r->m->apis[i];
		bool ours = false;

		for (size_t k = 0; a && a->cls == API_MODULE && details[k]; k++)
			ours |= strcmp(a->detail, details[k]) == 0;
		if (!ours)
			continue;
		p.count += s->calls;
		p.untimed += s->calls - s->time.n;
		p.ns += s->time.sum;
		p.slowest = s->time.n && s->time.max > p.slowest ? s->time.max : p.slowest;
	}
	return p;
}

static struct phase first_launches(const struct report *r)
{
	struct phase p = { .name = "first launches of kernels",
			   .source = "calls",
			   .absent = r->in.host_left_out ? "host observer: left out" : NULL };

	for (size_t i = 0; i < r->m->modloads->merged.n; i++) {
		const struct mod_kernel *k = hmap__at(&r->m->modloads->merged, i);

		p.count++;
		p.untimed += !k->timed;
		p.ns += k->timed ? k->first_ns : 0;
		p.slowest = k->timed && k->first_ns > p.slowest ? k->first_ns : p.slowest;
	}
	return p;
}

static struct phase of_cupti(const struct report *r, const char *name, unsigned overhead)
{
	const char *why = r->in.join ? cost_no_overhead(&r->in) : "no device observer in this capture";
	const struct join_overhead *o = r->in.join ? &join__totals(r->in.join)->overhead[overhead] : NULL;
	struct phase p = { .name = name, .source = "CUPTI" };

	if (!o || !o->records) {
		/* a compilation of 0.1 s has been seen without a record: none is no zero */
		p.absent = why ? why
			   : overhead == JOIN_OVERHEAD_COMPILER
				   ? "no record (CUPTI does not tell of every compilation)"
				   : NULL;
		return p;
	}
	p.count = o->records;
	p.untimed = o->untimed;
	p.ns = o->ns;
	p.slowest = o->longest;
	return p;
}

static struct phase of_shim(const struct report *r)
{
	struct phase p = { .name = "modules that the device observer saw loaded", .source = "shim" };

	if (!r->in.join)
		p.absent = "no device observer in this capture";
	for (size_t i = 0; i < r->loads.rows.n; i++) {
		const struct load_row *l = hmap__at(&r->loads.rows, i);

		if (!l->proc->selected)
			continue;
		p.count += l->loads;
		p.untimed += l->untimed;
		p.ns += l->time.sum;
		p.slowest = l->time.n && l->time.max > p.slowest ? l->time.max : p.slowest;
	}
	return p;
}

int build_module_phases(const struct report *r, struct rows *rows)
{
	static const char *const load[] = { "load", NULL }, *const link[] = { "link", NULL },
				 *const lookup[] = { "function", "kernel", "kernelfunc", "funcload", NULL };
	struct phase p[8];
	int rc = 0;

	if (!r->m->modloads)
		return 0;
	p[0] = of_calls(r, "calls that load", load);
	p[1] = of_calls(r, "calls that link", link);
	p[2] = of_calls(r, "calls that look functions up", lookup);
	p[3] = first_launches(r);
	p[4] = of_cupti(r, "compiler of the driver", JOIN_OVERHEAD_COMPILER);
	p[5] = of_cupti(r, "loading of modules", JOIN_OVERHEAD_MODULE_LOADING);
	p[6] = of_cupti(r, "lazy loading of functions", JOIN_OVERHEAD_LAZY_LOADING);
	p[7] = of_shim(r);
	for (size_t i = 0; !rc && i < sizeof(p) / sizeof(p[0]); i++)
		rc = phase_row(r, rows, &p[i]);
	return rc;
}
