/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records become elements. Nothing here trusts a content; what cannot be is counted as bad. */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int join__new(struct model *m, struct join **out)
{
	struct join *j = calloc(1, sizeof(*j));

	*out = j;
	if (!j)
		return -ENOMEM;
	j->model = m;
	vec__init(&j->bcalls, sizeof(struct bcall));
	vec__init(&j->scalls, sizeof(struct scall));
	vec__init(&j->acts, sizeof(struct act));
	vec__init(&j->latency, sizeof(struct latency));
	vec__init(&j->pieces, sizeof(struct piece));
	vec__init(&j->modules, sizeof(struct module_item));
	vec__init(&j->silent_graphs, sizeof(struct silent_graph));
	extras_init(j);
	hmap__init(&j->bthreads, 16, sizeof(struct bthread));
	hmap__init(&j->sthreads, 16, sizeof(struct sthread));
	hmap__init(&j->ns_threads, 16, sizeof(struct ns_thread));
	hmap__init(&j->procs, 8, sizeof(struct jproc));
	hmap__init(&j->sessions, 16, sizeof(struct session));
	hmap__init(&j->lanes, 24, sizeof(struct lane));
	hmap__init(&j->keys, sizeof(((struct key_entry *)0)->u), sizeof(struct key_entry));
	hmap__init(&j->canonical, sizeof(((struct key_entry *)0)->u), sizeof(struct key_entry));
	hmap__init(&j->nodes, 16, sizeof(struct node));
	hmap__init(&j->names, 16, sizeof(struct name_id));
	hmap__init(&j->graphs, 16, sizeof(struct graph));
	return 0;
}

static void clear_procs(struct join *j)
{
	for (size_t i = 0; i < j->procs.n; i++) {
		struct jproc *p = hmap__at(&j->procs, i);

		for (unsigned k = 0; k < GPUBPF_PROBES; k++)
			free(p->runs[k].v);
	}
	hmap__clear(&j->procs);
}

static void free_all(struct join *j)
{
	struct hmap *maps[] = { &j->bthreads, &j->sthreads,  &j->ns_threads, &j->sessions, &j->lanes,
				&j->keys,     &j->canonical, &j->nodes,      &j->names,    &j->graphs };
	struct vec *vecs[] = { &j->bcalls, &j->scalls,  &j->acts,         &j->latency,
			       &j->pieces, &j->modules, &j->silent_graphs };

	clear_procs(j);
	for (size_t i = 0; i < j->sessions.n; i++)
		session_clear(session_at(j, i));
	for (size_t i = 0; i < j->names.n; i++)
		free(((struct name_id *)hmap__at(&j->names, i))->text);
	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
		hmap__clear(maps[i]);
	for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++)
		vec__clear(vecs[i]);
	extras_free(j);
	free(j->name_text);
	free(j->order);
	free(j->by_proc);
	drop_index(j);
	free(j);
}

void join__free(struct join *j)
{
	if (j)
		free_all(j);
}

struct jproc *join_proc_of(struct join *j, const struct proc *p)
{
	uint64_t key = (uintptr_t)p;

	return hmap__put(&j->procs, &key);
}

struct jproc *join_proc(struct join *j, uint32_t tgid, uint64_t t)
{
	const struct proc *p;

	if (j->last_proc && j->last_tgid == tgid) {
		p = (const struct proc *)(uintptr_t)j->last_proc->key;
		if (t >= p->since && p->end == PROC_RUNNING)
			return j->last_proc;
	}
	p = procs__at(&j->model->procs, tgid, t);
	j->last_proc = p ? join_proc_of(j, p) : NULL;
	j->last_tgid = tgid;
	return j->last_proc;
}

/* ---- The host's calls ---- */

static struct bthread *thread_of(struct join *j, const struct view *v)
{
	struct bthread **recent = &j->recent[v->c->tid % 256], *th = *recent;
	uint64_t key[2] = { (uintptr_t)v->proc, v->c->tid };
	size_t before = j->bthreads.n;

	if (th && th->key[0] == key[0] && th->key[1] == key[1])
		return th;
	th = hmap__put(&j->bthreads, key);
	if (th && j->bthreads.n != before)
		th->number = (uint32_t)before;
	*recent = th;
	return th;
}

void join__stream(struct join *j, join_stream_fn *fn, void *arg)
{
	j->stream = fn;
	j->stream_arg = arg;
}

uint32_t join__stream_key(const struct join *j, uint32_t key)
{
	return ((struct key_entry *)hmap__at(&j->keys, key))->canonical;
}

size_t join__stream_keys(const struct join *j)
{
	return j->keys.n;
}

bool join_no_work(const struct view *v)
{
	uint64_t n;

	return (plan_arg(v->p, v->c, PLAN_BYTES, &n) && n == 0) ||
	       (v->p->api->cls == API_SET && ((plan_arg(v->p, v->c, PLAN_N, &n) && n == 0) ||
					      (plan_arg(v->p, v->c, PLAN_WIDTH, &n) && n == 0) ||
					      (plan_arg(v->p, v->c, PLAN_HEIGHT, &n) && n == 0)));
}

int join__call(const struct view *v, void *join)
{
	struct join *j = join;
	const struct gpubpf_call *c = v->c;
	struct bthread *th;
	struct bcall *b;

	if (v->p->population >= JOIN_POPULATIONS || j->stream)
		return 0;
	th = thread_of(j, v);
	b = th ? vec__add(&j->bcalls) : NULL;
	if (!b)
		return -ENOMEM;
	b->entry = c->t_entry;
	b->thread = th->number;
	b->info = (c->api & 0xfffu) | BCALL_SET_POPULATION(v->p->population);
	if (c->flags & GPUBPF_CALL_RETURNED) {
		b->info |= BCALL_RETURNED;
		b->dur = pack_dur(c->t_return > c->t_entry ? c->t_return - c->t_entry : 0, true);
	}
	if (v->outcome == OUTCOME_FAILED)
		b->info |= BCALL_FAILED;
	if (v->outcome == OUTCOME_OPEN)
		b->info |= BCALL_OPEN;
	if (v->captured)
		b->info |= BCALL_CAPTURED;
	if (c->depth)
		b->info |= BCALL_NESTED;
	if (v->p->population >= 2 && join_no_work(v))
		b->info |= BCALL_NO_WORK;
	return 0;
}

/* ---- The shim's items ---- */

static int on_call(struct join *j, struct session *s, const struct gpubpf_shim_call *i)
{
	uint64_t key[2] = { s->number, i->tid };
	struct sthread *th = j->last_sthread;
	struct scall *c;

	if (j->stream) {
		s->pub.calls++;
		return 0;
	}
	if (!th || th->key[0] != key[0] || th->key[1] != key[1]) {
		size_t before = j->sthreads.n;

		th = hmap__put(&j->sthreads, key);
		if (th && j->sthreads.n != before)
			th->number = (uint32_t)before;
		j->last_sthread = th;
	}
	c = th ? vec__add(&j->scalls) : NULL;
	if (!c)
		return -ENOMEM;
	c->start = i->start;
	c->correlation = i->correlation;
	c->thread = th->number;
	c->info = i->work;
	if (i->flags & GPUBPF_SHIM_CALL_NO_END)
		c->info |= SCALL_NO_END;
	else
		c->dur = pack_dur(i->end > i->start ? i->end - i->start : 0, false);
	if (!(i->flags & GPUBPF_SHIM_CALL_NO_END) && i->result)
		c->info |= SCALL_FAILED;
	if (i->start > s->last_call)
		s->last_call = i->start;
	s->pub.calls++;
	if (population_of_work(i->work) < JOIN_POPULATIONS)
		j->totals.shim_calls++;
	else
		j->totals.shim_calls_other++;
	return 0;
}

static struct lane *lane_for(struct join *j, const struct session *s, const struct gpubpf_activity *a)
{
	uint64_t key[3] = { s->number, (uint64_t)a->device << 32 | a->context, a->stream };
	struct lane *l = j->last_lane;
	size_t before = j->lanes.n;

	if (l && !memcmp(l->key, key, sizeof(key)))
		return l;
	l = hmap__put(&j->lanes, key);
	if (l && j->lanes.n != before) {
		l->number = (uint32_t)before;
		l->pub = (struct join_lane){ &s->pub, a->device, a->context, a->stream };
	}
	j->last_lane = l;
	return l;
}

static void fill_key(struct raw_key *k, const struct jproc *p, const struct gpubpf_activity *a)
{
	struct join_key *to = &k->key;

	to->kind = (enum gpubpf_activity_kind)a->kind;
	switch (a->kind) {
	case GPUBPF_ACTIVITY_KERNEL:
		to->name = a->name;
		k->proc = a->name ? p->key : 0;
		memcpy(to->grid, a->u.kernel.grid, sizeof(to->grid));
		memcpy(to->block, a->u.kernel.block, sizeof(to->block));
		to->has_cluster = (a->flags & GPUBPF_ACTIVITY_HAS_CLUSTER) != 0;
		if (to->has_cluster)
			memcpy(to->cluster, a->u.kernel.cluster, sizeof(to->cluster));
		to->cache_config = a->u.kernel.cache_config;
		to->registers = a->u.kernel.registers;
		to->static_shared = a->u.kernel.static_shared;
		to->dynamic_shared = a->u.kernel.dynamic_shared;
		to->local_per_thread = a->u.kernel.local_per_thread;
		return;
	case GPUBPF_ACTIVITY_COPY:
		to->copy_kind = a->u.copy.copy_kind;
		to->src_kind = a->u.copy.src_kind;
		to->dst_kind = a->u.copy.dst_kind;
		to->async = (a->flags & GPUBPF_ACTIVITY_ASYNC) != 0;
		to->has_peer = (a->flags & GPUBPF_ACTIVITY_PEER) != 0;
		if (to->has_peer) {
			to->src_device = a->u.copy.src_device;
			to->dst_device = a->u.copy.dst_device;
		}
		return;
	case GPUBPF_ACTIVITY_SET:
		to->src_kind = a->u.set.memory_kind;
		return;
	case GPUBPF_ACTIVITY_MEMORY:
		to->copy_kind = a->u.raw[2] < 256 ? (uint8_t)a->u.raw[2] : 0;
		to->src_kind = a->u.raw[3] < 256 ? (uint8_t)a->u.raw[3] : 0;
		return;
	default:
		return;
	}
}

static struct key_entry *key_for(struct join *j, const struct jproc *p, const struct gpubpf_activity *a)
{
	struct key_entry want, *e = j->last_key;
	size_t before = j->keys.n;

	memset(&want, 0, sizeof(want));
	fill_key(&want.u.raw, p, a);
	if (e && !memcmp(e->u.words, want.u.words, sizeof(e->u.words)))
		return e;
	e = hmap__put(&j->keys, &want);
	if (e && j->keys.n != before)
		e->number = (uint32_t)before;
	j->last_key = e;
	return e;
}

static int add_node(struct join *j, struct act *to, const struct gpubpf_activity *a)
{
	uint64_t key[2] = { a->graph, a->graph_node };
	size_t before = j->nodes.n;
	struct node *n;

	if (!(a->flags & GPUBPF_ACTIVITY_HAS_NODE))
		return 0;
	n = hmap__put(&j->nodes, key);
	if (!n)
		return -ENOMEM;
	if (j->nodes.n != before)
		n->number = (uint32_t)before;
	to->node = n->number + 1;
	return 0;
}

static int add_aux(struct join *j, struct act *to, const struct gpubpf_activity *a)
{
	struct latency *l;

	if (a->kind == GPUBPF_ACTIVITY_COPY)
		to->aux = a->u.copy.bytes;
	else if (a->kind == GPUBPF_ACTIVITY_SET)
		to->aux = a->u.set.bytes;
	else if (a->kind == GPUBPF_ACTIVITY_MEMORY)
		to->aux = a->u.raw[0];
	else if (a->kind == GPUBPF_ACTIVITY_OVERHEAD)
		to->aux = overhead_index(a->u.raw[0]);
	if (a->kind != GPUBPF_ACTIVITY_KERNEL ||
	    !(a->flags & (GPUBPF_ACTIVITY_HAS_QUEUED | GPUBPF_ACTIVITY_HAS_SUBMIT)))
		return 0;
	l = vec__add(&j->latency);
	if (!l)
		return -ENOMEM;
	l->has_queued = (a->flags & GPUBPF_ACTIVITY_HAS_QUEUED) != 0;
	l->has_submitted = (a->flags & GPUBPF_ACTIVITY_HAS_SUBMIT) != 0;
	l->queued = l->has_queued ? a->u.kernel.queued : 0;
	l->submitted = l->has_submitted ? a->u.kernel.submitted : 0;
	to->aux = j->latency.n;
	return 0;
}

/* As far as it can be told of a record alone: its session is not settled yet. */
static void count_streamed(struct join_times *t, const struct gpubpf_activity *a)
{
	enum join_time time = !a->start && !a->end ? JOIN_TIME_ZERO
			      : a->end < a->start  ? JOIN_TIME_END_FIRST
						   : JOIN_TIME_VALID;

	t->records++;
	t->by[time]++;
}

static int on_activity(struct join *j, struct jproc *p, struct session *s, const struct gpubpf_activity *i,
		       uint64_t arrived)
{
	struct key_entry *key;
	struct lane *lane;
	struct act *a;
	int rc;

	if (j->stream && !is_execution(i->kind))
		return 0;
	if (extras_kind(i->kind))
		return extras_item(j, s, i, arrived);
	if (i->kind == GPUBPF_ACTIVITY_OVERHEAD)
		overhead_add(j, i);
	lane = lane_for(j, s, i);
	key = key_for(j, p, i);
	if (j->stream && lane && key) {
		s->pub.activities++;
		count_streamed(&j->totals.times[i->kind], i);
		return j->stream(key->number, lane->number, i, j->stream_arg);
	}
	a = lane && key ? vec__add(&j->acts) : NULL;
	if (!a)
		return -ENOMEM;
	a->start = i->start;
	a->end = i->end;
	a->correlation = i->correlation;
	a->lane = lane->number;
	a->key = key->number;
	a->arrival = (uint32_t)(arrived / 1000000);
	s->pub.activities++;
	rc = add_node(j, a, i);
	return rc ? rc : add_aux(j, a, i);
}

static int on_module(struct join *j, const struct session *s, const struct gpubpf_module *i)
{
	struct module_item *m = vec__add(&j->modules);

	if (!m)
		return -ENOMEM;
	m->m = *i;
	m->session = s->number;
	return 0;
}

static const size_t item_sizes[GPUBPF_PROBES] = GPUBPF_ITEM_SIZES;

union item {
	struct gpubpf_hello hello;
	struct gpubpf_shim_call call;
	struct gpubpf_activity activity;
	struct gpubpf_name name;
	struct gpubpf_module module;
	struct gpubpf_status status;
};

static bool item_right(unsigned probe, const union item *i)
{
	switch (probe) {
	case GPUBPF_PROBE_CALLS:
		return i->call.work >= GPUBPF_WORK_LAUNCH && i->call.work <= GPUBPF_WORK_SYNC;
	case GPUBPF_PROBE_ACTIVITY:
		return (i->activity.kind >= GPUBPF_ACTIVITY_KERNEL &&
			i->activity.kind <= GPUBPF_ACTIVITY_OVERHEAD) ||
		       extras_kind(i->activity.kind);
	case GPUBPF_PROBE_NAMES:
		return i->name.id && i->name.parts && i->name.part < i->name.parts &&
		       i->name.len <= sizeof(i->name.text);
	default:
		return true;
	}
}

static uint32_t session_number(unsigned probe, const union item *i)
{
	switch (probe) {
	case GPUBPF_PROBE_HELLO:
		return i->hello.session;
	case GPUBPF_PROBE_CALLS:
		return i->call.session;
	case GPUBPF_PROBE_ACTIVITY:
		return i->activity.session;
	case GPUBPF_PROBE_MODULES:
		return i->module.session;
	default:
		return i->status.session;
	}
}

static uint64_t item_time(unsigned probe, const union item *i, uint64_t arrived)
{
	if (probe == GPUBPF_PROBE_CALLS)
		return i->call.start;
	return probe == GPUBPF_PROBE_HELLO ? i->hello.time : arrived;
}

static int on_item(struct join *j, const struct gpubpf_shim *b, struct jproc *p, const union item *i)
{
	struct join_gap *gap = &j->totals.probe[b->probe];
	struct session *s;
	bool full = false;

	if (!item_right(b->probe, i)) {
		gap->bad_items++;
		return 0;
	}
	if (b->probe == GPUBPF_PROBE_NAMES)
		return names_piece(j, p, &i->name);
	/* of the process, also before it has a session; the recorder has judged it */
	if (b->probe == GPUBPF_PROBE_STATUS && i->status.kind == GPUBPF_STATUS_GATE)
		return 0;
	s = join_session(j, p, session_number(b->probe, i), &full);
	if (!s && full) {
		gap->bad_items++;
		return 0;
	}
	if (!s)
		return -ENOMEM;
	s->got[b->probe]++;
	if (item_time(b->probe, i, b->time) < s->first)
		s->first = item_time(b->probe, i, b->time);
	switch (b->probe) {
	case GPUBPF_PROBE_HELLO:
		session_hello(s, &i->hello);
		return 0;
	case GPUBPF_PROBE_CALLS:
		return on_call(j, s, &i->call);
	case GPUBPF_PROBE_ACTIVITY:
		return on_activity(j, p, s, &i->activity, b->time);
	case GPUBPF_PROBE_MODULES:
		return on_module(j, s, &i->module);
	default:
		return session_status(s, &i->status);
	}
}

static int add_sequence(struct runs *r, uint64_t n)
{
	struct run *grown;

	if (r->n && r->v[r->n - 1].last + 1 == n && n) {
		r->v[r->n - 1].last = n;
		return 0;
	}
	if (r->n == r->room) {
		grown = realloc(r->v, (r->room ? r->room * 2 : 4) * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		r->v = grown;
		r->room = r->room ? r->room * 2 : 4;
	}
	r->v[r->n++] = (struct run){ n, n };
	return 0;
}

static int on_batch(struct join *j, const struct gpubpf_shim *b)
{
	struct join_gap *gap;
	struct jproc *p;
	union item i;
	size_t size;
	int rc;

	if (b->probe >= GPUBPF_PROBES)
		return 0;
	gap = &j->totals.probe[b->probe];
	gap->batches++;
	gap->faults += (b->flags & GPUBPF_SHIM_FAULT) != 0;
	if (!(b->flags & GPUBPF_SHIM_FAULT) && b->sent > b->count)
		gap->cut_items += b->sent - b->count;
	p = join_proc(j, b->tgid, b->time);
	if (!p)
		return -ENOMEM;
	rc = add_sequence(&p->runs[b->probe], b->sequence);
	size = item_sizes[b->probe];
	/* what a later shim appends to an item is not looked at */
	if (b->item_size < size) {
		gap->bad_items += b->count;
		return rc;
	}
	gap->items += b->count;
	for (uint32_t k = 0; !rc && k < b->count; k++) {
		memcpy(&i, (const char *)b->items + (size_t)k * b->item_size, size);
		rc = on_item(j, b, p, &i);
	}
	return rc;
}

static int on_task(struct join *j, const struct gpubpf_task *t)
{
	struct jproc *p;
	struct ns_thread *th;
	uint64_t key[2];

	if ((t->event != GPUBPF_TASK_SEEN && t->event != GPUBPF_TASK_EXEC) || !t->ns_tid)
		return 0;
	p = join_proc(j, t->tgid, t->time);
	if (!p)
		return -ENOMEM;
	if (t->ns_tgid != t->tgid)
		p->own_ids = true;
	key[0] = p->key;
	key[1] = t->ns_tid;
	th = hmap__put(&j->ns_threads, key);
	if (!th)
		return -ENOMEM;
	th->tid = t->tid;
	return 0;
}

int join__record(struct join *j, const struct gpubpf_rec *rec)
{
	if (rec->kind == GPUBPF_REC_SHIM)
		return on_batch(j, (const struct gpubpf_shim *)rec);
	return rec->kind == GPUBPF_REC_TASK ? on_task(j, (const struct gpubpf_task *)rec) : 0;
}
