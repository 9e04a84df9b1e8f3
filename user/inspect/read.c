// SPDX-License-Identifier: GPL-2.0-or-later
/* Reading a capture to its end. */
#include <errno.h>
#include <string.h>

#include "events.h"
#include "inspect/inspect.h"
#include "model/member.h"
#include "usdt/contract.h"
#include "util/err.h"

static void count(struct inspection *s, const struct gpubpf_rec *rec)
{
	const struct gpubpf_call *c = (const struct gpubpf_call *)rec;

	switch (rec->kind) {
	case GPUBPF_REC_CALL:
		if (c->flags & GPUBPF_CALL_OPEN)
			s->open_calls++;
		else
			s->calls++, s->in_file[c->api]++;
		return;
	case GPUBPF_REC_TASK:
		s->tasks++;
		return;
	case GPUBPF_REC_XID:
		s->xids++;
		return;
	case GPUBPF_REC_SHIM:
		s->batches++;
		return;
	case GPUBPF_REC_LATENCY:
		s->breakdowns++;
		return;
	case GPUBPF_REC_WAKER:
		s->waits++;
		return;
	case GPUBPF_REC_STACK:
		stack_counts__add(&s->stacks, rec);
		return;
	}
}

static int no_memory(const struct inspection *s, int r, struct err *err)
{
	return r == -ENOMEM ? err_set(err, r, "%s: out of memory", s->path) : r;
}

/* Whether the recorder says that a shim was there. A file that was cut before it could say so is read twice. */
static bool expects_shim(const struct inspection *s)
{
	return s->meta->n_shim || (s->counts && s->counts->n_probe);
}

static int tapped_call(const struct view *v, void *arg)
{
	struct inspection *s = arg;
	int r = s->join ? join__call(v, s->join) : 0;

	return r ? r : s->tap(v, s->tap_arg);
}

/* A second pass stands on a model of our own: the caller has seen its calls by then. */
static int begin_join(struct inspection *s, struct model *m)
{
	int r = join__new(m, &s->join);

	if (!r && s->stream)
		join__stream(s->join, s->stream, s->stream_arg);
	if (!r && (!s->tap || m == s->own_model))
		model__watch(m, join__call, s->join);
	return r;
}

static int feed(const struct inspection *s, struct model *m, const struct gpubpf_rec *rec)
{
	int r = model__add(m, rec);

	if (!r && s->join && rec->kind != GPUBPF_REC_CALL)
		r = join__record(s->join, rec);
	return r;
}

static int pass(struct inspection *s, struct model *m, bool counting, inspection_fn *fn, void *arg,
		struct err *err)
{
	const struct gpubpf_rec *rec;
	int r;

	while ((r = capture_reader__next(s->reader, &rec, err)) > 0) {
		if (counting)
			count(s, rec);
		r = m ? no_memory(s, feed(s, m, rec), err) : 0;
		if (!r && fn)
			r = fn(s, rec, arg);
		if (r)
			return r;
	}
	if (r < 0)
		return err_prefix(err, r, "%s", s->path);
	return m ? no_memory(s, model__finish(m), err) : 0;
}

static uint64_t stopped_of(uint32_t tgid, const void *arg)
{
	const Gpubpf__Member *m = member_of(arg, tgid);

	return m && m->has_stopped_ns ? m->stopped_ns : 0;
}

static struct join_end end_of(const struct inspection *s)
{
	struct join_end end = { .host_left_out = s->host_left_out };

	if (s->footer && s->footer->has_stopped_ns)
		end.stopped_ns = s->footer->stopped_ns;
	if (s->meta->n_member) {
		end.stopped_of = stopped_of;
		end.stopped_arg = s->meta;
	}
	for (size_t i = 0; s->footer && s->counts && i < s->counts->n_probe; i++) {
		const Gpubpf__ProbeCounts *c = s->counts->probe[i];

		end.has_lost_items = true;
		for (unsigned p = 0; p < GPUBPF_PROBES; p++)
			if (!strcmp(c->probe, usdt_contract_probes[p]))
				end.lost_items[p] = c->lost_items + c->cut_items + c->lost_writer_items;
	}
	return end;
}

static int second_pass(struct inspection *s, const struct model *like, struct err *err)
{
	struct model_opts o = { 0 };
	int r;

	if (like)
		o.filter = like->procs.filter;
	r = model__new(s->tab, &o, &s->own_model);
	if (!r)
		r = begin_join(s, s->own_model);
	if (!r)
		r = capture_reader__rewind(s->reader);
	return r ? no_memory(s, r, err) : pass(s, s->own_model, false, NULL, NULL, err);
}

static int read_all(struct inspection *s, struct model *m, inspection_fn *fn, void *arg, struct err *err)
{
	const struct model *like = m;
	struct join_end end;
	int r = 0;

	if (expects_shim(s)) {
		if (!m) {
			r = model__new(s->tab, &(struct model_opts){ 0 }, &s->own_model);
			m = s->own_model;
		}
		if (!r)
			r = begin_join(s, m);
		if (r)
			return no_memory(s, r, err);
	}
	r = pass(s, m, true, fn, arg, err);
	if (!r && !s->join && s->batches)
		r = second_pass(s, like, err);
	if (r)
		return r;
	if (s->join && !s->batches) { /* a shim was attached to and never spoke */
		join__free(s->join);
		s->join = NULL;
	}
	/* a file that says so and holds such calls is read for what it holds */
	s->host_left_out = s->meta->host_left_out && !s->calls && !s->open_calls &&
			   !(s->counts && s->counts->n_api);
	end = end_of(s);
	if (s->join)
		r = no_memory(s, join__finish(s->join, &end), err);
	if (r)
		return r;
	ledger_compute(&(struct ledger_input){ .tab = s->tab,
					       .counts = s->counts,
					       .meta = s->meta,
					       .host_left_out = s->host_left_out,
					       .status = s->status,
					       .footer = s->footer,
					       .in_file = s->in_file,
					       .nin_file = GPUBPF_API_MAX,
					       .join = s->stream ? NULL : s->join },
		       &s->ledger);
	return 0;
}

int inspection__read(struct inspection *s, inspection_fn *fn, void *arg, struct err *err)
{
	return read_all(s, NULL, fn, arg, err);
}

int inspection__read_model(struct inspection *s, struct model *m, struct err *err)
{
	if (s->tap)
		model__watch(m, tapped_call, s);
	return read_all(s, m, NULL, NULL, err);
}

int inspection__check_filter(const struct inspection *s, const struct model *m, struct err *err)
{
	const struct procs_filter *f = &m->procs.filter;

	for (size_t i = 0; i < f->npids; i++) {
		bool there = false;

		for (size_t k = 0; k < m->procs.lives.n && !there; k++)
			there = ((const struct proc *)hmap__at(&m->procs.lives, k))->tgid == f->pids[i];
		if (!there)
			return err_set(
				err, -ESRCH,
				"%s: no process %u in this capture; `gpubpf report --section processes` lists them",
				s->path, f->pids[i]);
	}
	for (size_t i = 0; i < f->ntids; i++) {
		bool there = false;

		for (size_t k = 0; k < m->procs.threads.n && !there; k++) {
			const struct thread *th = hmap__at(&m->procs.threads, k);

			there = th->tid == f->tids[i] && th->selected;
		}
		if (!there)
			return err_set(
				err, -ESRCH,
				"%s: no thread %u in this capture; `gpubpf report --threads --section threads` "
				"lists them",
				s->path, f->tids[i]);
	}
	return 0;
}
