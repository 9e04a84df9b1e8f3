/* SPDX-License-Identifier: GPL-2.0-or-later */
/* API calls on the tracks of their threads, and what they say of memory. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/nest.h"
#include "model/member.h"
#include "timeline/priv.h"

/* ---- Processes and threads ---- */

static const Gpubpf__Process *described(const struct tl *tl, uint32_t tgid)
{
	const Gpubpf__Meta *m = tl->t->in.meta;

	for (size_t i = 0; i < m->n_process; i++)
		if (m->process[i]->tgid == tgid)
			return m->process[i];
	return NULL;
}

struct tl_proc *tl__proc(struct tl *tl, const struct proc *p, int *rc)
{
	uint64_t key[2] = { p->tgid, p->key[1] };
	const Gpubpf__Process *d;
	struct tl_proc *to;
	const Gpubpf__Member *member = member_of(tl->t->in.meta, p->tgid);
	char name[192] = "", of[96];
	uint32_t track;
	size_t n;

	*rc = 0;
	if (!p->selected)
		return NULL;
	to = hmap__put(&tl->procs, key);
	if (to && !to->track) {
		d = described(tl, p->tgid);
		if (p->comm[0])
			snprintf(name, sizeof(name), "%.16s", p->comm);
		else if (d && d->comm && d->comm[0])
			snprintf(name, sizeof(name), "%.48s", d->comm);
		n = strlen(name);
		if (member) {
			member_name(member, of, sizeof(of));
			snprintf(name + n, sizeof(name) - n, "%s%s", n ? ", " : "", of);
		}
		track = tl_tracks__add(&tl->tracks, TL_PROCESS, 0, name[0] ? name : NULL);
		if (track != TL_NO_TRACK) {
			tl->tracks.track[track].pid = p->tgid;
			tl->tracks.track[track].life = (uint32_t)p->key[1];
			to->track = track + 1;
		}
	}
	if (!to || !to->track) {
		*rc = -ENOMEM;
		return NULL;
	}
	return to;
}

struct tl_thread *tl__thread(struct tl *tl, const struct proc *p, uint32_t tid, int *rc)
{
	uint64_t key[2] = { (uint64_t)p->tgid << 32 | tid, p->key[1] };
	struct tl_thread *th = hmap__get(&tl->threads, key);
	struct tl_proc *proc;
	uint32_t track;

	*rc = 0;
	if (th)
		return th;
	proc = tl__proc(tl, p, rc);
	if (!proc)
		return NULL;
	th = hmap__put(&tl->threads, key);
	track = tl_tracks__add(&tl->tracks, TL_THREAD, proc->track, NULL);
	if (!th || track == TL_NO_TRACK) {
		*rc = -ENOMEM;
		return NULL;
	}
	tl->tracks.track[track].pid = p->tgid;
	tl->tracks.track[track].tid = tid;
	tl->tracks.track[track].life = (uint32_t)p->key[1];
	th->rows.track = track;
	return th;
}

/* Processes by pid, then their threads by id: an order that does not depend on who came first. */
static int by_id(const void *a, const void *b)
{
	const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;

	if (x->proc->tgid != y->proc->tgid)
		return x->proc->tgid < y->proc->tgid ? -1 : 1;
	if (x->proc->key[1] != y->proc->key[1])
		return x->proc->key[1] < y->proc->key[1] ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static int add_threads(struct tl *tl)
{
	struct hmap *all = &tl->t->m->procs.threads;
	struct thread **v = calloc(all->n + 1, sizeof(*v));
	size_t n = 0;
	int rc = 0;

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < all->n; i++) {
		struct thread *th = hmap__at(all, i);

		if (th->proc && th->selected)
			v[n++] = th;
	}
	qsort(v, n, sizeof(*v), by_id);
	for (size_t i = 0; !rc && i < n; i++)
		tl__thread(tl, v[i]->proc, v[i]->tid, &rc);
	free(v);
	return rc;
}

static int add_texts(struct tl *tl)
{
	size_t napis = apitab__size(tl->t->in.tab);

	tl->api_name = calloc(napis + 1, sizeof(*tl->api_name));
	tl->kernel_value = calloc(trace__kernels(tl->t) + 1, sizeof(*tl->kernel_value));
	if (!tl->api_name || !tl->kernel_value)
		return -ENOMEM;
	/* names are the viewer's: those of entry points that nobody called are not in it */
	for (size_t i = 0; i < napis; i++)
		if (tl->t->m->in_file[i] || tl->t->m->apis[i].calls || tl->t->m->apis[i].nested) {
			tl->api_name[i] = tl_texts__add(&tl->names, trace__symbol(tl->t, (uint32_t)i));
			if (!tl->api_name[i])
				return -ENOMEM;
		}
	for (size_t i = 0; i < trace__kernels(tl->t); i++) {
		tl->kernel_value[i] = tl_texts__add(&tl->values, trace__kernel(tl->t, i)->display);
		if (!tl->kernel_value[i])
			return -ENOMEM;
	}
	return 0;
}

int tl_calls__prepare(struct tl *tl)
{
	int rc;

	hmap__init(&tl->threads, 16, sizeof(struct tl_thread));
	hmap__init(&tl->procs, 16, sizeof(struct tl_proc));
	for (unsigned i = 0; i < MEM_KINDS; i++)
		tl->alloc_track[i] = TL_NO_TRACK;
	rc = add_texts(tl);
	return rc ? rc : add_threads(tl);
}

void tl_calls__clear(struct tl *tl)
{
	for (size_t i = 0; i < tl->threads.n; i++) {
		struct tl_thread *th = hmap__at(&tl->threads, i);

		tl_rows__clear(&th->rows);
		free(th->inside);
	}
	for (size_t i = 0; i < tl->procs.n; i++)
		tl_rows__clear(&((struct tl_proc *)hmap__at(&tl->procs, i))->modules);
	if (tl->threads.entry_size) {
		hmap__clear(&tl->threads);
		hmap__clear(&tl->procs);
	}
	free(tl->api_name);
	free(tl->kernel_value);
}

/* ---- Memory, as calls have it (R13): never what is resident ---- */

static int sample_memory(struct tl *tl, const struct allocs *a, uint64_t t)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < MEM_KINDS; i++) {
		uint64_t now = a->row[i].live.bytes;
		struct tl_event *e;

		if (now == tl->alloc_now[i])
			continue;
		tl->alloc_now[i] = now;
		if (tl->alloc_track[i] == TL_NO_TRACK) {
			char name[96];

			snprintf(name, sizeof(name), "Allocated by calls: %s memory (all processes)",
				 mem_kind_names[i]);
			tl->alloc_track[i] = tl_tracks__add(&tl->tracks, TL_COUNTER, 0, name);
			if (tl->alloc_track[i] == TL_NO_TRACK)
				return -ENOMEM;
			tl->tracks.track[tl->alloc_track[i]].unit = TL_BYTES;
		}
		e = tl__new(tl, TL_SAMPLE, TIMELINE_COUNTER, tl->alloc_track[i], t);
		e->end = now;
		rc = tl__event(tl, e);
	}
	return rc;
}

/* What a call did to memory is in the model when the next record comes. */
static int memory_before(struct tl *tl)
{
	if (!tl->alloc_pending)
		return 0;
	tl->alloc_pending = false;
	return sample_memory(tl, &tl->t->again->allocs, tl->alloc_time);
}

static int on_record(const struct gpubpf_rec *rec, void *arg)
{
	struct tl *tl = arg;
	int rc = memory_before(tl);

	/* a process that ended has no memory */
	if (!rc && rec->kind == GPUBPF_REC_TASK)
		rc = sample_memory(tl, &tl->t->again->allocs, ((const struct gpubpf_task *)rec)->time);
	return rc ? rc : tl_marks__record(tl, rec);
}

/* ---- Calls ---- */

static void parts_of(struct tl_event *e, const struct gpubpf_latency *rec)
{
	struct breakdown b;

	breakdown_of_call(rec, &b);
	/* how long each took is known, not when: they are no slices */
	tl_text(e, TL_KEY_PARTS, "in no order; those that are 0 are left out");
	for (unsigned i = 0; i < BREAKDOWN_CAUSES; i++)
		if (b.ns[i])
			tl_arg(e, (enum tl_key)(TL_KEY_ON_CPU + i), TL_UINT, b.ns[i]);
	if (b.has_irq)
		tl_arg(e, TL_KEY_IRQ, TL_UINT, b.irq);
	tl_arg(e, TL_KEY_PAGE_FAULTS, TL_UINT, b.faults);
	if (b.major_faults)
		tl_arg(e, TL_KEY_MAJOR_FAULTS, TL_UINT, b.major_faults);
	if (rec->flags & GPUBPF_LATENCY_OFF) {
		tl_arg(e, TL_KEY_SWITCHES, TL_UINT, (uint64_t)b.voluntary + b.involuntary);
		tl_arg(e, TL_KEY_PREEMPTIONS, TL_UINT, b.involuntary);
		tl_arg(e, TL_KEY_MIGRATIONS, TL_UINT, b.migrations);
	}
}
_Static_assert(TL_KEY_ON_CPU + BREAKDOWN_UNACCOUNTED == TL_KEY_UNACCOUNTED, "keys.h has them in this order");

static void times_of(struct tl_event *e, const struct view *v)
{
	const struct gpubpf_call *c = v->c;

	if (v->outcome == OUTCOME_OPEN) {
		e->type = TL_OPEN;
		e->timing = TL_HOST_OPEN;
	} else if (v->outcome == OUTCOME_UNKNOWN) {
		e->type = TL_INSTANT;
		e->timing = TL_HOST_ENTRY;
	} else if (!v->timed) {
		e->type = TL_INSTANT;
		e->timing = TL_HOST_BAD;
	} else {
		e->end = c->t_return;
	}
}

/* What ran for it; why nothing did. Without a device observer it has its number alone: nobody counted. */
static int work_of(struct tl *tl, struct tl_event *e, uint32_t work)
{
	const struct join *j = tl->t->in.join;
	enum join_fate fate;

	tl_arg(e, TL_KEY_WORK, TL_UINT, work);
	if (!tl->runs)
		return 0;
	e->work = work;
	e->flows_out = tl__runs(tl, work);
	tl_arg(e, TL_KEY_EXECUTIONS, TL_UINT, e->flows_out);
	if (e->flows_out > TL_FLOWS_MAX)
		tl_arg(e, TL_KEY_CUT_FLOWS, TL_UINT, e->flows_out - TL_FLOWS_MAX);
	if (work >= join__host_calls(j))
		return 0;
	fate = join__host_call_fate(j, work);
	if (fate == JOIN_FATE_RAN)
		return 0;
	if (!tl->fate_value[fate])
		tl->fate_value[fate] = tl_texts__add(&tl->values, join_fate_name(fate));
	if (!tl->fate_value[fate])
		return -ENOMEM;
	tl_arg(e, TL_KEY_FATE, TL_VALUE, tl->fate_value[fate]);
	return 0;
}

static int args_of(struct tl *tl, struct tl_event *e, const struct trace_call *c)
{
	const struct view *v = c->v;
	uint64_t bytes;
	int rc = 0;

	if (v->c->flags & GPUBPF_CALL_RETURNED && v->outcome != OUTCOME_OPEN)
		tl_arg(e, TL_KEY_RESULT, TL_INT, (uint64_t)(int64_t)v->c->result);
	if (c->kernel)
		tl_arg(e, TL_KEY_KERNEL, TL_VALUE, tl->kernel_value[c->kernel - tl->t->kernel]);
	if (plan_arg(v->p, v->c, PLAN_BYTES, &bytes))
		tl_arg(e, TL_KEY_BYTES, TL_UINT, bytes);
	if (v->captured)
		tl_arg(e, TL_KEY_CAPTURED, TL_BOOL, 1);
	if (c->has_work)
		rc = work_of(tl, e, c->work);
	if (v->latency)
		parts_of(e, v->latency);
	return rc;
}

static int on_call(const struct trace_call *c, void *arg)
{
	struct tl *tl = arg;
	const struct view *v = c->v;
	struct tl_thread *th;
	struct tl_event *e;
	int rc = memory_before(tl);

	tl__progress(tl, 1);
	if (tl->semantic)
		tl_semantic__seen(tl);
	if (rc || !v->thread->selected)
		return rc;
	if (tl->last_seen == v->thread) {
		th = tl->last_thread;
	} else {
		th = tl__thread(tl, v->proc, v->thread->tid, &rc);
		if (!th)
			return rc;
		tl->last_seen = v->thread;
		tl->last_thread = th;
	}
	e = tl__new(tl, TL_SLICE, TIMELINE_CALL, th->rows.track, v->c->t_entry);
	e->name = tl->api_name[v->c->api];
	times_of(e, v);
	if (tl->semantic)
		tl_semantic__call(tl, e);
	rc = args_of(tl, e, c);
	if (rc)
		return rc;
	e->has_work = c->has_work;
	if (v->p->api->cls == API_ALLOC || v->p->api->cls == API_FREE) {
		tl->alloc_pending = true;
		tl->alloc_time = v->c->flags & GPUBPF_CALL_RETURNED ? v->c->t_return : v->c->t_entry;
	}
	return v->c->depth ? tl_thread__nested(tl, th, e, v->c->depth) : tl_thread__call(tl, th, e);
}

int tl_calls__walk(struct tl *tl)
{
	const struct trace_visitor v = { .call = on_call, .record = on_record, .arg = tl };
	int rc;

	memset(tl->alloc_now, 0, sizeof(tl->alloc_now));
	tl->alloc_pending = false;
	tl->last_seen = NULL;
	for (size_t i = 0; i < tl->threads.n; i++)
		tl_thread__restart(hmap__at(&tl->threads, i));
	if (tl->t->in.host_left_out) {
		/* records of losses are there all the same */
		rc = tl_device__alone(tl);
		return rc ? rc
			  : trace__pass(tl->t, &(struct trace_visitor){ .record = on_record, .arg = tl },
					tl->err);
	}
	rc = trace__pass(tl->t, &v, tl->err);
	if (!rc && tl->alloc_pending)
		rc = sample_memory(tl, &tl->t->m->allocs, tl->alloc_time);
	for (size_t i = 0; !rc && i < tl->threads.n; i++)
		rc = tl_thread__flush(tl, hmap__at(&tl->threads, i));
	return rc;
}
