// SPDX-License-Identifier: GPL-2.0-or-later
/* A capture is read, reduced to a digest and closed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"
#include "util/err.h"

struct entry { /* something that ran, by key as it came */
	uint32_t key
		[2]; /* the join's key, while streaming before it is finished; 1 + number of the device, 0: all */
	uint32_t number, item;
	struct series s;
};

struct reading {
	struct compare *c;
	struct digest *d;
	struct inspection in;
	struct model *m;
	struct device *dev; /* busy and idle time; NULL: not joined */
	struct series *api[GPUBPF_API_MAX];
	uint64_t expected[JOIN_POPULATIONS]; /* calls that something should have run for */
	struct series *population[JOIN_POPULATIONS], *delay;
	struct hmap entries; /* struct entry */
	struct entry *last;
	bool by_device;
};

/* ---- Calls ---- */

static int on_call(const struct view *v, void *arg)
{
	struct reading *r = arg;
	struct series **s = &r->api[v->c->api];

	if (v->c->depth)
		return 0;
	if (v->p->population < JOIN_POPULATIONS && !v->captured && !join_no_work(v) &&
	    (v->outcome == OUTCOME_OK || v->outcome == OUTCOME_UNKNOWN))
		r->expected[v->p->population]++;
	if (!*s)
		*s = compare_named(r->c, ITEM_API, v->p->api->symbol);
	if (!*s)
		return -ENOMEM;
	(*s)->n++;
	(*s)->has_n = true;
	if (v->timed)
		return series__add(*s, v->ns);
	(*s)->untimed++;
	return 0;
}

static int add_memory(struct reading *r)
{
	for (unsigned i = 0; i < MEM_KINDS; i++) {
		const struct mem_row *row = &r->m->allocs.row[i];
		struct series *s;

		if (!row->allocated.n)
			continue;
		s = compare_named(r->c, ITEM_MEMORY, mem_kind_names[i]);
		if (!s)
			return -ENOMEM;
		s->n = row->allocated.n;
		s->bytes = row->allocated.bytes;
		s->peak = row->peak_bytes;
		s->has_n = s->has_bytes = s->has_peak = true;
	}
	return 0;
}

/* Handles mean nothing in another capture: what has no name stays of its own capture (R9). */
static int name_item(struct reading *r, const char *name, uint64_t handle, uint32_t *number)
{
	char *display, *own;
	int rc = -ENOMEM;

	if (name)
		return compare_intern(r->c, name, number);
	display = names__display(NULL, handle);
	if (display && asprintf(&own, "%s of %s", display, r->d->path) >= 0) {
		rc = compare_intern(r->c, own, number);
		free(own);
	}
	free(display);
	return rc;
}

static int add_launches(struct reading *r)
{
	for (size_t i = 0; i < r->m->launches.merged.n; i++) {
		const struct launch_row *row = hmap__at(&r->m->launches.merged, i);
		struct item_key key = { .kind = ITEM_LAUNCH };
		struct series *s;

		if (!tally__done(&row->calls))
			continue;
		if (name_item(r, names__text(r->m->names, row->name), row->handle, &key.name))
			return -ENOMEM;
		memcpy(key.grid, row->key.grid, sizeof(key.grid));
		memcpy(key.block, row->key.block, sizeof(key.block));
		memcpy(key.cluster, row->key.cluster, sizeof(key.cluster));
		key.has_cluster = (row->key.has & LAUNCH_HAS_CLUSTER) != 0;
		key.dynamic_shared = row->key.shared;
		s = compare_series(r->c, &key);
		if (!s)
			return -ENOMEM;
		s->n += tally__done(&row->calls);
		s->has_n = true;
	}
	return 0;
}

/* ---- What ran ---- */

static int count_population(struct reading *r, unsigned kind, bool node, bool timed, uint64_t ns)
{
	unsigned p = node || kind == GPUBPF_ACTIVITY_GRAPH ? 1
		     : kind == GPUBPF_ACTIVITY_KERNEL      ? 0
		     : kind == GPUBPF_ACTIVITY_COPY        ? 2
							   : 3;

	r->population[p]->ran++;
	if (timed)
		return hist__add(&r->population[p]->time, ns);
	r->population[p]->untimed++;
	return 0;
}

struct ran_item {
	uint32_t key, device, lane;
	unsigned kind;
	bool node, timed;
	uint64_t ns, bytes;
};

static int on_ran(struct reading *r, const struct ran_item *a)
{
	uint32_t key[2] = { a->key, r->by_device ? a->device + 1 : 0 };
	struct entry *e = r->last;
	int rc;

	if (!e || e->key[0] != key[0] || e->key[1] != key[1]) {
		size_t before = r->entries.n;

		e = r->last = hmap__put(&r->entries, key);
		if (!e)
			return -ENOMEM;
		if (r->entries.n != before)
			e->number = (uint32_t)before;
	}
	if (r->c->o.order && order__add(&r->d->order, join__lane(r->in.join, a->lane), a->lane, e->number))
		return -ENOMEM;
	e->s.n++;
	e->s.has_n = true;
	e->s.nodes += a->node;
	e->s.bytes += a->bytes;
	e->s.has_bytes = a->kind == GPUBPF_ACTIVITY_COPY || a->kind == GPUBPF_ACTIVITY_SET;
	rc = count_population(r, a->kind, a->node, a->timed, a->ns);
	if (rc || !a->timed) {
		e->s.untimed++;
		return rc;
	}
	return series__add(&e->s, a->ns);
}

static int on_stream(uint32_t key, uint32_t lane, const struct gpubpf_activity *a, void *arg)
{
	struct reading *r = arg;
	bool timed = (a->start || a->end) && a->end >= a->start;
	struct ran_item item = { .key = key,
				 .device = a->device,
				 .lane = lane,
				 .kind = a->kind,
				 .node = (a->flags & GPUBPF_ACTIVITY_HAS_NODE) != 0,
				 .timed = timed,
				 .ns = timed ? a->end - a->start : 0 };

	if (a->kind == GPUBPF_ACTIVITY_COPY)
		item.bytes = a->u.copy.bytes;
	else if (a->kind == GPUBPF_ACTIVITY_SET)
		item.bytes = a->u.set.bytes;
	return on_ran(r, &item);
}

static int on_joined(struct reading *r, const struct join_activity *a)
{
	bool timed = a->time == JOIN_TIME_VALID || (a->time == JOIN_TIME_UNANCHORED && a->end >= a->start);
	struct ran_item item = { .key = a->key,
				 .lane = a->lane,
				 .device = join__lane(r->in.join, a->lane)->device,
				 .kind = a->kind,
				 .node = a->has_node,
				 .timed = timed,
				 .ns = timed ? a->end - a->start : 0,
				 .bytes = a->bytes };
	int rc = on_ran(r, &item);

	if (rc || a->kind != GPUBPF_ACTIVITY_KERNEL || !a->has_call || a->has_node ||
	    a->time != JOIN_TIME_VALID || a->start < a->call.entry)
		return rc;
	if (!r->delay)
		r->delay = compare_named(r->c, ITEM_DELAY, "launch delay");
	if (!r->delay)
		return -ENOMEM;
	r->delay->n++;
	r->delay->has_n = true;
	return series__add(r->delay, a->start - a->call.entry);
}

static int key_of(struct reading *r, const struct entry *e, struct item_key *to)
{
	const struct join *j = r->in.join;
	const struct join_key *k = join__key(j, r->in.stream ? join__stream_key(j, e->key[0]) : e->key[0]);
	char device[32];
	int rc;

	memset(to, 0, sizeof(*to));
	if (e->key[1]) {
		snprintf(device, sizeof(device), "device %u", e->key[1] - 1);
		rc = compare_intern(r->c, device, &to->device);
		if (rc)
			return rc;
	}
	switch (k->kind) {
	case GPUBPF_ACTIVITY_KERNEL:
		to->kind = ITEM_KERNEL;
		memcpy(to->grid, k->grid, sizeof(to->grid));
		memcpy(to->block, k->block, sizeof(to->block));
		for (int i = 0; i < 3; i++)
			to->cluster[i] = k->cluster[i];
		to->has_cluster = k->has_cluster;
		to->registers = k->registers;
		to->static_shared = k->static_shared;
		to->dynamic_shared = k->dynamic_shared;
		return name_item(r, join__name(j, k->name), k->name_id, &to->name);
	case GPUBPF_ACTIVITY_GRAPH:
		to->kind = ITEM_KERNEL;
		return compare_intern(r->c, "<whole graph: its nodes were not traced>", &to->name);
	case GPUBPF_ACTIVITY_COPY:
		to->kind = ITEM_COPY;
		to->copy = k->copy_kind | (uint32_t)k->src_kind << 8 | (uint32_t)k->dst_kind << 16;
		return 0;
	default:
		to->kind = ITEM_SET;
		to->copy = (uint32_t)k->src_kind << 8;
		return 0;
	}
}

static int keep_order(struct reading *r)
{
	uint32_t *item_of = malloc((r->entries.n + 1) * sizeof(*item_of));

	if (!item_of)
		return -ENOMEM;
	for (size_t i = 0; i < r->entries.n; i++)
		item_of[i] = ((struct entry *)hmap__at(&r->entries, i))->item;
	order__finish(&r->d->order, item_of);
	free(item_of);
	return 0;
}

static int keep_entries(struct reading *r)
{
	struct item_key key;
	int rc = 0;

	for (size_t i = 0; !rc && i < r->entries.n; i++) {
		struct entry *e = hmap__at(&r->entries, i);
		struct series *s;

		rc = key_of(r, e, &key);
		s = rc ? NULL : compare_series(r->c, &key);
		if (!s)
			return -ENOMEM;
		e->item = ((struct item *)hmap__get(&r->c->items, &key))->number;
		if (s->n) { /* two processes know it by ids of their own */
			rc = series__append(s, &e->s);
			continue;
		}
		*s = e->s;
		memset(&e->s, 0, sizeof(e->s));
	}
	return !rc && r->c->o.order ? keep_order(r) : rc;
}

/* ---- Numbers of the whole capture ---- */

static int add_wall(struct reading *r, const char *name, bool there, uint64_t ns)
{
	struct series *s = there ? compare_named(r->c, ITEM_WALL, name) : NULL;

	return !there ? 0 : s ? series__add(s, ns) : -ENOMEM;
}

static int add_device_time(struct reading *r)
{
	uint64_t busy = 0, idle = 0, window = 0;
	bool there = false;

	for (size_t i = 0; r->dev && i < r->dev->devices.n; i++) {
		const struct place *p = hmap__at(&r->dev->devices, i);

		there |= p->busy.ran.begun;
		busy += p->busy.ran.above_zero;
		idle += p->busy.ran.at_zero;
		window += p->busy.ran.last - p->busy.ran.first;
	}
	if (add_wall(r, "devices: from the first execution to the last", there, window) ||
	    add_wall(r, "devices: busy", there, busy) || add_wall(r, "devices: idle", there, idle))
		return -ENOMEM;
	return add_wall(r, "host: from the first call to the last",
			r->m->calls && r->m->last_ns >= r->m->first_ns, r->m->last_ns - r->m->first_ns);
}

static void count_calls(struct reading *r)
{
	const struct ledger *l = &r->in.ledger;

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		struct series *s = r->population[p];

		s->has_ran = r->in.join != NULL;
		s->has_n = l->has_counts || r->d->joined;
		s->n = l->has_counts && !l->host_left_out ? l->line[p].calls - l->line[p].nested
							  : l->device.line[p].calls;
		if (l->host_left_out && !r->d->joined)
			s->has_n = false;
	}
}

/* ---- Whether the capture can stand for its run ---- */

/*
 * Of a streamed capture the ledger knows the host's half. The other half: as many executions as calls that should have led
 * to one, per population. Graph launches run any number of nodes and are left to the shim's own counts of losses.
 */
static int check_counts(struct reading *r)
{
	const struct join_totals *t = join__totals(r->in.join);

	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		uint64_t want = r->expected[p], ran = r->population[p]->ran;

		if (p == 1 || r->in.host_left_out || ran >= want)
			continue;
		if (asprintf(&r->d->incomplete,
			     "incomplete: of %" PRIu64 " %s that should have run, %" PRIu64
			     " left no record of the device",
			     want, api_population_names[p], want - ran) < 0)
			return -ENOMEM;
		return 0;
	}
	for (unsigned k = GPUBPF_ACTIVITY_KERNEL; k <= GPUBPF_ACTIVITY_SET; k++) {
		const char *why = join_times_reason((enum gpubpf_activity_kind)k, &t->times[k]);

		if (why && asprintf(&r->d->incomplete,
				    "incomplete: %s: of %" PRIu64 " records %" PRIu64 " have times", why,
				    t->times[k].records, t->times[k].by[JOIN_TIME_VALID]) >= 0)
			return 0;
	}
	for (unsigned i = 0; i < JOIN_LOSSES; i++)
		if (t->loss[i] &&
		    asprintf(&r->d->incomplete, "incomplete: the device observer lost: %s, %" PRIu64,
			     join_loss_name(i) ? join_loss_name(i) : "of an unknown kind", t->loss[i]) >= 0)
			return 0;
	if (t->probe[GPUBPF_PROBE_ACTIVITY].lost_batches &&
	    asprintf(&r->d->incomplete, "incomplete: %" PRIu64 " batches of device records did not arrive",
		     t->probe[GPUBPF_PROBE_ACTIVITY].lost_batches) < 0)
		return -ENOMEM;
	return 0;
}

static int judge(struct reading *r)
{
	struct digest *d = r->d;

	d->verdict = r->in.ledger.verdict;
	ledger_headline(&r->in.ledger, d->line, sizeof(d->line));
	if (d->verdict < LEDGER_UNCONTRADICTED) {
		d->incomplete = strdup(d->line);
		return d->incomplete ? 0 : -ENOMEM;
	}
	if (!r->in.stream || !r->in.join)
		return 0;
	snprintf(
		d->line, sizeof(d->line),
		"uncontradicted: %" PRIu64
		" calls counted by the host observer; too many to be matched one by one, so the counts of both "
		"observers were compared",
		r->in.ledger.total.calls);
	return check_counts(r);
}

static int describe(struct reading *r)
{
	const Gpubpf__Meta *m = r->in.meta;
	struct digest *d = r->d;
	FILE *f;
	size_t n;

	if (compare_place(m, &d->host, &d->boot))
		return -ENOMEM;
	f = open_memstream(&d->command, &n);
	if (!f)
		return -ENOMEM;
	for (size_t i = 0; i < m->n_command; i++)
		fprintf(f, "%s%s", i ? " " : "", m->command[i]);
	if (fclose(f))
		return -ENOMEM;
	d->calls = r->m->calls;
	d->device_alone = r->in.host_left_out;
	d->device = r->in.join != NULL;
	d->joined = r->in.join && !r->in.stream;
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++)
		d->records += r->population[p]->ran;
	return environment__of(&r->in, &d->env);
}

/* ---- The whole ---- */

static bool several_kinds(const Gpubpf__Meta *m)
{
	for (size_t i = 1; i < m->n_gpu; i++)
		if (!m->gpu[i]->name || !m->gpu[0]->name || strcmp(m->gpu[i]->name, m->gpu[0]->name) != 0)
			return true;
	return false;
}

static int begin(struct reading *r)
{
	for (unsigned p = 0; p < JOIN_POPULATIONS; p++) {
		r->population[p] = compare_named(r->c, ITEM_POPULATION, api_population_names[p]);
		if (!r->population[p])
			return -ENOMEM;
	}
	order__begin(&r->d->order);
	r->by_device = several_kinds(r->in.meta);
	if (r->in.status->plain_bytes > r->c->o.join_bytes) {
		r->in.stream = on_stream;
		r->in.stream_arg = r;
	}
	r->in.tap = on_call;
	r->in.tap_arg = r;
	return model__new(r->in.tab, &(struct model_opts){ 0 }, &r->m);
}

static int read_joined(struct reading *r)
{
	struct join_activity a;
	int rc = device__new(&(struct device_opts){ 0 }, &r->dev);

	if (!rc)
		rc = device__read(r->dev, r->in.join);
	for (size_t i = 0; !rc && i < join__activities(r->in.join); i++) {
		join__activity(r->in.join, i, &a);
		if (a.kind >= GPUBPF_ACTIVITY_KERNEL && a.kind <= GPUBPF_ACTIVITY_GRAPH)
			rc = on_joined(r, &a);
	}
	return rc;
}

static int reduce(struct reading *r)
{
	int rc = 0;

	if (r->in.join && !r->in.stream)
		rc = read_joined(r);
	if (!rc)
		rc = describe(r);
	if (!rc && r->in.join)
		rc = keep_entries(r);
	if (!rc)
		rc = add_memory(r);
	if (!rc)
		rc = add_launches(r);
	if (!rc)
		rc = add_device_time(r);
	if (!rc)
		count_calls(r);
	return rc ? rc : judge(r);
}

static int add_digest(struct compare *c, unsigned arm, const char *path, struct digest **out)
{
	if (c->n == c->room) {
		size_t room = c->room ? c->room * 2 : 4;
		struct digest *d = realloc(c->d, room * sizeof(*d));

		if (!d)
			return -ENOMEM;
		c->d = d;
		c->room = room;
	}
	*out = &c->d[c->n++];
	**out = (struct digest){ .arm = arm, .path = strdup(path) };
	c->arm[arm]++;
	return (*out)->path ? 0 : -ENOMEM;
}

int compare__add(struct compare *c, unsigned arm, const char *path, struct err *err)
{
	struct reading *r = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return err_set(err, -ENOMEM, "%s: out of memory", path);
	r->c = c;
	hmap__init(&r->entries, sizeof(uint32_t[2]), sizeof(struct entry));
	rc = inspection__open(&r->in, path, err);
	if (!rc)
		rc = add_digest(c, arm, path, &r->d);
	if (!rc)
		rc = begin(r);
	if (!rc)
		rc = inspection__read_model(&r->in, r->m, err);
	if (!rc)
		rc = reduce(r);
	for (size_t i = 0; i < r->entries.n; i++)
		series__clear(&((struct entry *)hmap__at(&r->entries, i))->s);
	hmap__clear(&r->entries);
	device__free(r->dev);
	inspection__close(&r->in);
	model__free(r->m);
	free(r);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", path) : rc;
}
