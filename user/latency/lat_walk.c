/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ran, in the order of its starts: the first execution of each call, and what came before it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "latency/lat.h"

/*
 * How far back to look for what other streams ran. Windows of one stream do not overlap, so that all looks together
 * are as many as there are executions, times streams; the bound is for files that are made to be slow.
 */
#define LOOK_BACK 4096

struct spot {            /* one device of one process */
	uint64_t key[2]; /* process, device */
	uint64_t number;
	uint64_t reach; /* the last end so far */
};

struct walk {
	struct latency *l;
	struct hmap places, contexts;
	uint32_t *place, *context; /* by lane */
	uint64_t *reach;           /* by execution: the last end of its device so far, its own too */
	struct lat_span span[LOOK_BACK + 1];
	struct lat_pick **own; /* the slowest by their own time, by call */
	size_t nown;
};

/* Those that say when a device was busy. */
static bool is_timed(const struct join_activity *a)
{
	return (a->time == JOIN_TIME_VALID || a->time == JOIN_TIME_OUTSIDE) &&
	       a->kind >= GPUBPF_ACTIVITY_KERNEL && a->kind <= GPUBPF_ACTIVITY_GRAPH;
}

static int number_of(struct hmap *m, uint64_t a, uint64_t b, uint32_t *number)
{
	size_t before = m->n;
	struct spot *p = hmap__put(m, (uint64_t[2]){ a, b });

	if (!p)
		return -ENOMEM;
	if (m->n != before)
		p->number = before;
	*number = (uint32_t)p->number;
	return 0;
}

static int place_lanes(struct walk *w)
{
	size_t n = join__lanes(w->l->in.join);
	int rc = 0;

	w->place = calloc(n + 1, sizeof(*w->place));
	w->context = calloc(n + 1, sizeof(*w->context));
	if (!w->place || !w->context)
		return -ENOMEM;
	hmap__init(&w->places, 16, sizeof(struct spot));
	hmap__init(&w->contexts, 16, sizeof(struct spot));
	for (size_t i = 0; !rc && i < n; i++) {
		const struct join_lane *lane = join__lane(w->l->in.join, (uint32_t)i);

		rc = number_of(&w->places, (uintptr_t)lane->session->proc, lane->device, &w->place[i]);
		if (!rc)
			rc = number_of(&w->contexts, (uintptr_t)lane->session,
				       (uint64_t)lane->device << 32 | lane->context, &w->context[i]);
	}
	return rc;
}

/* Which handle means which lane, and until when a device had something to do. */
static int survey(struct walk *w)
{
	struct latency *l = w->l;
	size_t n = join__activities(l->in.join);
	struct join_activity a;
	int rc = 0;

	w->reach = calloc(n + 1, sizeof(*w->reach));
	if (!w->reach)
		return -ENOMEM;
	for (size_t i = 0; !rc && i < n; i++) {
		struct spot *p;
		uint32_t stream;

		join__activity(l->in.join, i, &a);
		if (is_timed(&a)) {
			p = hmap__at(&w->places, w->place[a.lane]);
			p->reach = a.end > p->reach ? a.end : p->reach;
			w->reach[i] = p->reach;
		}
		/* nodes of a graph run in streams of the graph's own */
		if (!a.has_call || a.call.of_shim || a.has_node || a.call.number >= l->ncalls ||
		    !l->call_stream)
			continue;
		stream = l->call_stream[a.call.number];
		if (stream)
			rc = lat_streams__ran(l->streams, stream, a.lane, w->context[a.lane]);
	}
	return rc ? rc : lat_streams__settle(l->streams, join__lanes(l->in.join));
}

/* What other streams of the device ran between `from` and the start of execution i. */
static size_t others(struct walk *w, size_t i, const struct join_activity *a, uint64_t from)
{
	struct join_activity o;
	size_t n = 0;

	for (size_t k = i, looks = 0; from < a->start && k-- && looks < LOOK_BACK; looks++) {
		join__activity_brief(w->l->in.join, k, &o);
		if (!is_timed(&o) || w->place[o.lane] != w->place[a->lane])
			continue;
		if (o.start <= from) {
			w->span[n++] = (struct lat_span){ from, w->reach[k] };
			break;
		}
		if (o.lane != a->lane)
			w->span[n++] = (struct lat_span){ o.start, o.end };
	}
	return lat_unite(w->span, n);
}

static void split(struct walk *w, size_t i, const struct join_activity *a, const struct lat_before *b,
		  uint64_t part[LAT_PARTS])
{
	bool in_call = a->call.has_return;
	uint64_t ret = in_call && a->call.ret < a->start ? a->call.ret : a->start;
	struct lat_window win = {
		.from = in_call ? ret : a->call.entry,
		.start = a->start,
		.prev_end = b->prev_end,
		.wait_end = b->wait_end,
		.has_queued = a->has_queued,
		.has_submitted = a->has_submitted,
		.queued = a->queued,
		.submitted = a->submitted,
		.others = w->span,
	};

	win.nothers = others(w, i, a, lat_split_rest(&win));
	lat_split(&win, part);
	part[LAT_CALL] = in_call ? ret - a->call.entry : 0;
}

/* ---- One call ---- */

static void fill_pick(struct lat_pick *p, size_t i, const struct join_activity *a, const struct lat_before *b,
		      const uint64_t *part)
{
	p->activity = (uint32_t)i + 1;
	p->has_start = true;
	p->start = a->start;
	p->end = a->end;
	p->early = a->start < a->call.entry;
	p->prev = b->prev;
	p->prev_end = b->prev_end;
	p->waited_event = b->waited_event;
	p->waited_unknown = b->waited_unknown;
	p->waited_default = b->waited_default;
	p->has_part = part != NULL;
	for (int k = 0; part && k < LAT_PARTS; k++)
		p->part[k] = part[k];
}

/* Where the call is one of the slowest by its own time. */
static void fill_own(const struct walk *w, size_t i, const struct join_activity *a,
		     const struct lat_before *b, const uint64_t *part)
{
	if (a->call.of_shim || !(w->l->call_flags[a->call.number] & LAT_CALL_PICKED))
		return;
	for (size_t k = 0; k < w->nown; k++)
		if (w->own[k]->number == a->call.number + 1)
			fill_pick(w->own[k], i, a, b, part);
}

static void facts(struct lat_facts *f, const struct walk *w, const struct join_activity *a,
		  const struct lat_before *b, const struct lat_thread *th, uint32_t kernel)
{
	const struct latency *l = w->l;
	uint8_t flags = !a->call.of_shim ? l->call_flags[a->call.number] : 0;

	lat_facts__add(f, LAT_F_API, lat_api_of(l, &a->call));
	if (kernel)
		lat_facts__add(f, LAT_F_KERNEL, kernel);
	lat_facts__add(f, LAT_F_THREAD, th->number);
	lat_facts__add(f, LAT_F_LANE, a->lane);
	if (a->bytes)
		lat_facts__add(f, LAT_F_BYTES, (63 - (unsigned)__builtin_clzll(a->bytes)) / 2);
	if (flags & LAT_CALL_FIRST_OF_KERNEL)
		lat_facts__add(f, LAT_F_FIRST_KERNEL, 0);
	if (flags & LAT_CALL_FIRST_OF_THREAD)
		lat_facts__add(f, LAT_F_FIRST_THREAD, 0);
	if (b->waited_event)
		lat_facts__add(f, LAT_F_EVENT, 0);
	if (b->waited_default)
		lat_facts__add(f, LAT_F_DEFAULT, 0);
	if (a->has_node)
		lat_facts__add(f, LAT_F_GRAPH, 0);
}

static int measure(struct walk *w, enum lat_measure m, const struct join_activity *a, uint64_t ns,
		   uint32_t kernel, const uint64_t *part, const struct lat_facts *f)
{
	struct latency *l = w->l;
	int rc = lat_group__add(&l->api[lat_api_of(l, &a->call)], m, ns);

	if (!rc && kernel)
		rc = lat_group__add(&l->kernel[kernel - 1].group, m, ns);
	return rc ? rc : lat_study__add(&l->study[m][a->call.population], ns, part, LAT_PARTS, f);
}

static int pick(struct walk *w, size_t i, const struct join_activity *a, const struct lat_before *b,
		const uint64_t part[LAT_PARTS], uint32_t kernel)
{
	struct latency *l = w->l;
	int rc;
	struct lat_pick *p = lat_pick_of(l, LAT_START, a->call.population, a->start - a->call.entry, &rc);

	if (!p)
		return rc;
	p->entry = a->call.entry;
	p->ret = a->call.ret;
	p->has_ret = a->call.has_return;
	p->tgid = a->call.proc->tgid;
	p->tid = a->call.tid;
	p->api = (uint16_t)lat_api_of(l, &a->call);
	p->of_shim = a->call.of_shim;
	p->kernel = kernel;
	p->number = a->call.number + 1;
	fill_pick(p, i, a, b, part);
	return 0;
}

/* Own time of calls that only the shim saw. */
static int own_of_shim(struct walk *w, const struct join_activity *a, uint32_t kernel)
{
	struct latency *l = w->l;
	struct lat_group *g = &l->api[lat_api_of(l, &a->call)],
			 *k = kernel ? &l->kernel[kernel - 1].group : NULL;
	uint64_t ns = a->call.ret - a->call.entry;
	bool timed = a->call.has_return && a->call.ret >= a->call.entry;
	struct lat_facts f = { .n = 0 };
	int rc;

	l->selected++;
	l->states[a->call.population].calls++;
	for (int i = 0; i < 2; i++, g = k) {
		if (!g)
			break;
		g->calls++;
		g->failed += a->call.failed;
		*(timed ? &g->measured : &g->entry_only) += 1;
		rc = timed ? lat_group__add(g, LAT_OWN, ns) : 0;
		if (rc)
			return rc;
	}
	if (!timed)
		return 0;
	if (kernel)
		lat_facts__add(&f, LAT_F_KERNEL, kernel);
	return lat_study__add(&l->study[LAT_OWN][a->call.population], ns, NULL, 0, &f);
}

static void count_state(struct lat_states *s, const struct join_activity *a)
{
	if (a->start < a->call.entry)
		s->early++;
	else if (!a->call.has_return)
		s->after_entry++;
	else if (a->start < a->call.ret)
		s->inside++;
	else
		s->after_return++;
}

static int started(struct walk *w, size_t i, const struct join_activity *a, const struct lat_before *b,
		   uint32_t kernel)
{
	struct latency *l = w->l;
	struct lat_thread *th = lat_thread_of(l, a->call.proc->tgid, a->call.proc->key[1], a->call.tid);
	uint64_t part[LAT_PARTS], in_call;
	struct lat_facts f = { .n = 0 };
	int rc;

	if (!th)
		return -ENOMEM;
	count_state(&l->states[a->call.population], a);
	if (a->start < a->call.entry) {
		fill_own(w, i, a, b, NULL);
		return 0;
	}
	split(w, i, a, b, part);
	facts(&f, w, a, b, th, kernel);
	rc = measure(w, LAT_START, a, a->start - a->call.entry, kernel, part, &f);
	in_call = part[LAT_CALL];
	if (!rc && a->call.has_return && a->start >= a->call.ret) {
		part[LAT_CALL] = 0;
		rc = measure(w, LAT_QUEUE, a, a->start - a->call.ret, kernel, part, &f);
		part[LAT_CALL] = in_call;
	}
	fill_own(w, i, a, b, part);
	return rc ? rc : pick(w, i, a, b, part, kernel);
}

/* Whether the reader asked for the call; *kernel: what it launched. */
static int is_wanted(struct walk *w, const struct join_activity *a, bool *wanted, uint32_t *kernel)
{
	struct latency *l = w->l;
	const struct procs_filter *f = &l->o.model.filter;
	int rc = 0;

	*kernel = 0;
	*wanted = false;
	if (!a->has_call)
		return 0;
	if (a->call.of_shim) {
		*wanted = a->call.proc->selected && lat_time_wanted(l, a->call.entry) && !l->o.napis;
		for (size_t i = 0; i < f->ntids && *wanted; i++)
			if (f->tids[i] == a->call.tid)
				break;
			else if (i + 1 == f->ntids)
				*wanted = false;
		if (*wanted && a->call.population == 0 && !a->has_node)
			rc = lat_kernel__of_device(l, a->key, kernel);
	} else if (a->call.number < l->ncalls && l->call_flags) {
		*wanted = l->call_flags[a->call.number] & LAT_CALL_WANTED;
		*kernel = l->call_kernel[a->call.number];
	}
	if (l->o.nkernels && !(*kernel && lat_kernel__row(l, *kernel)->wanted))
		*wanted = false;
	return rc;
}

static int first_of_call(struct walk *w, uint32_t number, bool *first)
{
	struct latency *l = w->l;
	size_t word = number / 64;
	uint64_t bit = UINT64_C(1) << number % 64;

	if (word >= l->nseen) {
		size_t n = word * 2 + 64;
		uint64_t *seen = realloc(l->seen, n * sizeof(*seen));

		if (!seen)
			return -ENOMEM;
		memset(seen + l->nseen, 0, (n - l->nseen) * sizeof(*seen));
		l->seen = seen;
		l->nseen = n;
	}
	*first = !(l->seen[word] & bit);
	l->seen[word] |= bit;
	return 0;
}

/* Something ran for it: it is not counted for what seemed to be in the way. */
static void take_back(struct latency *l, const struct join_activity *a)
{
	struct lat_states *s = &l->states[a->call.population];

	if (a->call.of_shim)
		return;
	if (a->call.failed)
		s->failed--;
	else if (a->call.captured)
		s->captured--;
	else if (l->call_flags[a->call.number] & LAT_CALL_OPEN)
		s->open--;
}

static int step(struct walk *w, size_t i)
{
	struct latency *l = w->l;
	struct join_activity a;
	struct lat_before b = { 0 };
	bool timed, wanted, first = false;
	uint32_t kernel;
	int rc;

	join__activity(l->in.join, i, &a);
	timed = is_timed(&a);
	rc = is_wanted(w, &a, &wanted, &kernel);
	if (!rc && a.has_call)
		rc = first_of_call(w, a.call.number, &first);
	if (rc)
		return rc;
	if (timed)
		lat_streams__before(l->streams, a.lane, a.has_call ? a.call.entry : a.call_start, &b);
	rc = lat_idle_ran(l, i, &a, wanted, first, b.wait_end);
	if (rc)
		return rc;
	first = first && wanted;
	if (first) {
		take_back(l, &a);
		if (a.call.of_shim)
			rc = own_of_shim(w, &a, kernel);
		if (!rc && timed && a.time == JOIN_TIME_VALID)
			rc = started(w, i, &a, &b, kernel);
		else if (!rc)
			l->states[a.call.population].untimed++;
	}
	if (timed)
		lat_streams__done(l->streams, a.lane, a.end, (uint32_t)i + 1);
	return rc;
}

/* ---- All of them ---- */

static int list_own(struct walk *w)
{
	struct latency *l = w->l;

	w->own = calloc((size_t)l->o.slowest * LAT_POPULATIONS + 1, sizeof(struct lat_pick *));
	for (unsigned p = 0; w->own && p < LAT_POPULATIONS; p++) {
		for (size_t i = 0; i < l->picks[LAT_OWN][p].n; i++) {
			uint32_t ref = l->picks[LAT_OWN][p].v[i].number;

			if (!ref || ref > l->call_room)
				continue;
			w->own[w->nown++] = &l->picks[LAT_OWN][p].v[i];
			l->call_flags[ref - 1] |= LAT_CALL_PICKED;
		}
	}
	return w->own ? 0 : -ENOMEM;
}

static void count_nothing(struct latency *l)
{
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		struct lat_states *s = &l->states[p];
		uint64_t known = s->after_return + s->after_entry + s->inside + s->early + s->untimed +
				 s->failed + s->captured + s->open;

		s->nothing = s->calls > known ? s->calls - known : 0;
	}
}

int lat_walk(struct latency *l)
{
	struct walk *w = calloc(1, sizeof(*w));
	int rc = w ? 0 : -ENOMEM;

	lat_idle__init(&l->idle, l->o.idle, l->o.same_devices || l->in.meta->n_gpu == 1, l->o.slowest);
	if (rc || !l->in.join)
		goto out;
	w->l = l;
	rc = place_lanes(w);
	if (!rc)
		rc = survey(w);
	if (!rc)
		rc = list_own(w);
	for (size_t i = 0; !rc && i < join__activities(l->in.join); i++)
		rc = step(w, i);
	if (!rc)
		rc = lat_idle__ready(&l->idle);
	if (!rc)
		count_nothing(l);
out:
	if (w) {
		hmap__clear(&w->places);
		hmap__clear(&w->contexts);
		free(w->place);
		free(w->context);
		free(w->reach);
		free(w->own);
	}
	free(w);
	return rc;
}
