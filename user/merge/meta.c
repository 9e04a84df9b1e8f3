// SPDX-License-Identifier: GPL-2.0-or-later
/* Metadata of a merged capture: what all members have alike, and what each has of its own. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "merge/priv.h"
#include "util/err.h"

#define COST_ABSENT "the captures were recorded apart: gpubpf inspect of each says what recording it cost"

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The text that every member has; NULL: they differ. */
#define COMMON(m, field)                                                                                     \
	({                                                                                                   \
		char *text_ = (m)->member[0].meta->field;                                                    \
		for (size_t i_ = 1; i_ < (m)->n; i_++)                                                       \
			if (!same((m)->member[i_].meta->field, text_))                                       \
				text_ = NULL;                                                                \
		text_;                                                                                       \
	})

static bool all_have_host(const struct merge *m)
{
	for (size_t i = 0; i < m->n; i++)
		if (!m->member[i].meta->host)
			return false;
	return true;
}

static void common_host(const struct merge *m, Gpubpf__Host *h)
{
	const Gpubpf__Host *first = m->member[0].meta->host;

	gpubpf__host__init(h);
	h->hostname = COMMON(m, host->hostname);
	h->boot_id = COMMON(m, host->boot_id);
	h->kernel = COMMON(m, host->kernel);
	h->arch = COMMON(m, host->arch);
	h->driver_version = COMMON(m, host->driver_version);
	if (h->boot_id && first->has_cpus) {
		h->has_cpus = true;
		h->cpus = first->cpus;
	}
}

/* Kinds that any can tell; what one cannot is said of it. */
static int common_latency(struct merge *m, Gpubpf__Latency *l)
{
	size_t causes = 1, absents = m->n;

	gpubpf__latency__init(l);
	for (size_t i = 0; i < m->n; i++) {
		const Gpubpf__Latency *of = m->member[i].meta->latency;

		causes += of ? of->n_cause : 0;
		absents += of ? of->n_absent : 1;
	}
	l->cause = merge_keep(m, causes * sizeof(*l->cause));
	l->absent = merge_keep(m, absents * sizeof(*l->absent));
	if (!l->cause || !l->absent)
		return -ENOMEM;
	for (size_t i = 0; i < m->n; i++) {
		const Gpubpf__Latency *of = m->member[i].meta->latency;

		if (of && of->store)
			l->store = of->store;
		for (size_t k = 0; of && k < of->n_cause; k++) {
			size_t at = 0;

			while (at < l->n_cause && strcmp(l->cause[at], of->cause[k]) != 0)
				at++;
			l->cause[at] = of->cause[k];
			l->n_cause += at == l->n_cause;
		}
		for (size_t k = 0; k < (of ? of->n_absent : 1); k++) {
			Gpubpf__Absence *a = merge_keep(m, sizeof(*a));

			if (!a)
				return -ENOMEM;
			gpubpf__absence__init(a);
			a->what = of ? of->absent[k]->what : "breakdowns";
			a->why = merge_text(m, "member %zu: %s", i + 1,
					    of ? of->absent[k]->why : "recorded without --latency");
			if (!a->why)
				return -ENOMEM;
			l->absent[l->n_absent++] = a;
		}
	}
	return 0;
}

static int common_parts(struct merge *m, Gpubpf__Meta *meta)
{
	Gpubpf__Latency *latency = merge_keep(m, sizeof(*latency));
	Gpubpf__Cost *cost = merge_keep(m, sizeof(*cost));
	Gpubpf__Host *host = merge_keep(m, sizeof(*host));
	bool timed = false;

	if (!latency || !cost || !host)
		return -ENOMEM;
	gpubpf__cost__init(cost);
	cost->absent = COST_ABSENT;
	meta->cost = cost;
	if (all_have_host(m)) {
		common_host(m, host);
		meta->host = host;
	}
	for (size_t i = 0; i < m->n; i++) {
		timed |= m->member[i].meta->latency != NULL;
		if (m->member[i].meta->stacks && !meta->stacks)
			meta->stacks = m->member[i].meta->stacks;
	}
	if (!timed)
		return 0;
	meta->latency = latency;
	return common_latency(m, latency);
}

/* A setting of the recorder is said where all members have it. */
static void common_settings(const struct merge *m, Gpubpf__Meta *meta)
{
	const Gpubpf__Meta *first = m->member[0].meta;

	meta->has_entry_only = first->has_entry_only;
	meta->entry_only = first->entry_only;
	meta->has_measure_one_of = first->has_measure_one_of;
	meta->measure_one_of = first->measure_one_of;
	meta->has_host_left_out = meta->host_left_out = first->host_left_out;
	for (size_t i = 1; i < m->n; i++) {
		const Gpubpf__Meta *of = m->member[i].meta;

		meta->has_entry_only &= of->has_entry_only && of->entry_only == meta->entry_only;
		meta->has_measure_one_of &= of->has_measure_one_of &&
					    of->measure_one_of == meta->measure_one_of;
	}
	if (!meta->has_entry_only)
		meta->entry_only = false;
}

static int write_common(struct merge *m, struct capture_writer *w, struct err *err)
{
	Gpubpf__Meta meta = GPUBPF__META__INIT;
	int rc = common_parts(m, &meta);

	if (rc)
		return err_set(err, rc, "out of memory");
	common_settings(m, &meta);
	meta.gpubpf_version = GPUBPF_VERSION;
	meta.has_wire_abi = true;
	meta.wire_abi = GPUBPF_WIRE_ABI;
	meta.mode = "merged";
	meta.attach = COMMON(m, attach);
	meta.has_start_ns = m->start_ns != UINT64_MAX;
	meta.start_ns = m->start_ns;
	return capture_writer__meta(w, &meta, err);
}

/* ---- Of one member ---- */

#define TIME(at, message, field)                                                                             \
	((message)->has_##field ? (void)((message)->field = merge_time(at, (message)->field)) : (void)0)

/* Copies of n messages of a member's metadata, in an array that may be changed; NULL: no memory. */
static void *copies(struct merge *m, void *const *from, size_t n, size_t size)
{
	void **to = merge_keep(m, (n + 1) * sizeof(*to));

	for (size_t i = 0; to && i < n; i++) {
		to[i] = merge_copy(m, from[i], size);
		if (!to[i])
			return NULL;
	}
	return to;
}

#define COPIES(m, out, meta, field)                                                                          \
	((out)->n_##field = (meta)->n_##field,                                                               \
	 (out)->field = copies(m, (void *const *)(meta)->field, (meta)->n_##field, sizeof(**(meta)->field)))

static int libraries_and_apis(struct merge *m, struct merge_member *at, Gpubpf__Meta *out)
{
	const Gpubpf__Meta *in = at->meta;
	bool fresh;
	int rc = 0;

	if (!COPIES(m, out, in, library) || !COPIES(m, out, in, api))
		return -ENOMEM;
	out->n_library = out->n_api = 0;
	for (size_t i = 0; !rc && i < in->n_library; i++) {
		Gpubpf__Library *l = out->library[out->n_library];
		uint32_t number = 0;

		*l = *in->library[i];
		rc = merge_library(m, at, l, &number, &fresh);
		l->index = number;
		TIME(at, l, attached_ns);
		out->n_library += !rc && fresh;
	}
	for (size_t i = 0; !rc && i < in->n_api; i++) {
		rc = merge_new_api(m, at, in->api[i], out->api[out->n_api], &fresh);
		out->n_api += !rc && fresh;
	}
	return rc;
}

static int processes(struct merge *m, const struct merge_member *at, Gpubpf__Meta *out)
{
	if (!COPIES(m, out, at->meta, process) || !COPIES(m, out, at->meta, shim))
		return -ENOMEM;
	for (size_t i = 0; i < out->n_process; i++) {
		Gpubpf__Process *p = out->process[i];

		p->tgid = merge_id(at, p->tgid);
		p->view_pid = merge_id(at, p->view_pid);
		p->ns_pid = merge_id(at, p->ns_pid);
		p->parent = merge_id(at, p->parent);
		TIME(at, p, since_ns);
	}
	for (size_t i = 0; i < out->n_shim; i++) {
		out->shim[i]->view_pid = merge_id(at, out->shim[i]->view_pid);
		TIME(at, out->shim[i], attached_ns);
	}
	out->n_target = at->meta->n_target;
	out->target = merge_keep(m, (out->n_target + 1) * sizeof(*out->target));
	for (size_t i = 0; out->target && i < out->n_target; i++)
		out->target[i] = merge_id(at, at->meta->target[i]);
	return out->target ? 0 : -ENOMEM;
}

static int said(struct merge *m, const struct merge_member *at, Gpubpf__Meta *out)
{
	if (!COPIES(m, out, at->meta, note) || !COPIES(m, out, at->meta, coverage))
		return -ENOMEM;
	for (size_t i = 0; i < out->n_note; i++) {
		Gpubpf__Note *n = out->note[i];

		n->time_ns = merge_time(at, n->time_ns);
		n->tgid = merge_id(at, n->tgid);
		n->text = merge_text(m, "member %u: %s", at->pub.index, n->text);
		if (!n->text)
			return -ENOMEM;
	}
	for (size_t i = 0; i < out->n_coverage; i++)
		out->coverage[i]->tgid = merge_id(at, out->coverage[i]->tgid);
	return 0;
}

static int gates(struct merge *m, const struct merge_member *at, Gpubpf__Meta *out)
{
	if (!COPIES(m, out, at->meta, readiness))
		return -ENOMEM;
	for (size_t i = 0; i < out->n_readiness; i++) {
		Gpubpf__Readiness *r = out->readiness[i];
		Gpubpf__GateStatus *s = r->shim ? merge_copy(m, r->shim, sizeof(*s)) : NULL;

		if (r->shim && !s)
			return -ENOMEM;
		r->shim = s;
		r->tgid = merge_id(at, r->tgid);
		TIME(at, r, init_entry_ns);
		TIME(at, r, init_return_ns);
		TIME(at, r, first_context_ns);
		TIME(at, r, first_module_ns);
		TIME(at, r, first_work_ns);
		TIME(at, r, armed_ns);
		if (!s)
			continue;
		s->now_ns = merge_time(at, s->now_ns);
		TIME(at, s, first_touch_ns);
		TIME(at, s, deadline_ns);
	}
	return 0;
}

/* Of the clock that all times are of: others' pairs are in their shift. */
static int clocks(struct merge *m, const struct merge_member *at, Gpubpf__Meta *out)
{
	if (at->pub.shift_ns)
		return 0;
	return COPIES(m, out, at->meta, clock) ? 0 : -ENOMEM;
}

static bool known_gpu(const struct merge *m, const struct merge_member *at, const Gpubpf__Gpu *g)
{
	for (const struct merge_member *k = m->member; k < at; k++)
		for (size_t i = 0; i < k->meta->n_gpu; i++)
			if (g->uuid && same(g->uuid, k->meta->gpu[i]->uuid))
				return true;
	return false;
}

static int gpus(struct merge *m, const struct merge_member *at, Gpubpf__Meta *out)
{
	if (!COPIES(m, out, at->meta, gpu))
		return -ENOMEM;
	out->n_gpu = 0;
	for (size_t i = 0; i < at->meta->n_gpu; i++)
		if (!known_gpu(m, at, at->meta->gpu[i]))
			out->gpu[out->n_gpu++] = at->meta->gpu[i];
	return 0;
}

static void describe(struct merge_member *at)
{
	const Gpubpf__Footer *f = at->footer;
	const Gpubpf__Meta *in = at->meta;
	Gpubpf__Member *p = &at->pub;

	p->host = in->host;
	p->n_gpu = in->n_gpu;
	p->gpu = in->gpu;
	p->gpubpf_version = in->gpubpf_version;
	p->mode = in->mode;
	p->n_command = in->n_command;
	p->command = in->command;
	p->n_option = in->n_option;
	p->option = in->option;
	p->n_fact = in->n_fact;
	p->fact = in->fact;
	p->has_start_ns = in->has_start_ns;
	p->start_ns = merge_time(at, in->start_ns);
	p->has_end_ns = f != NULL;
	p->end_ns = f ? merge_time(at, f->end_ns) : 0;
	p->has_stopped_ns = f && f->has_stopped_ns;
	p->stopped_ns = f ? merge_time(at, f->stopped_ns) : 0;
	p->end_reason = f ? f->end_reason : NULL;
}

static int write_member(struct merge *m, struct merge_member *at, struct capture_writer *w, struct err *err)
{
	Gpubpf__Meta out = GPUBPF__META__INIT;
	Gpubpf__Member *members[] = { &at->pub };
	int rc = libraries_and_apis(m, at, &out);

	if (rc == -E2BIG)
		return err_set(
			err, rc,
			"%s: more than %d different entry points in all captures together: merge fewer, or such of "
			"one driver version",
			at->path, GPUBPF_API_MAX);
	rc = rc ? rc : processes(m, at, &out);
	rc = rc ? rc : said(m, at, &out);
	rc = rc ? rc : gates(m, at, &out);
	rc = rc ? rc : clocks(m, at, &out);
	rc = rc ? rc : gpus(m, at, &out);
	if (rc)
		return err_set(err, rc, "%s: out of memory", at->path);
	describe(at);
	out.n_member = 1;
	out.member = members;
	return capture_writer__meta(w, &out, err);
}

int merge_write_meta(struct merge *m, struct capture_writer *w, struct err *err)
{
	int rc = write_common(m, w, err);

	for (size_t i = 0; !rc && i < m->n; i++)
		rc = write_member(m, &m->member[i], w, err);
	return rc;
}
