/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ran on the devices: process → device → context → stream → rows of what overlaps. */
#include "timeline/device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_execution(unsigned kind)
{
	return kind >= GPUBPF_ACTIVITY_KERNEL && kind <= GPUBPF_ACTIVITY_GRAPH;
}

/* ---- How many executions each call has ---- */

uint32_t tl__runs(const struct tl *tl, uint32_t work)
{
	uint64_t key = work;
	const struct tl_many *m;

	if (work >= tl->nruns || tl->runs[work] < 2)
		return work < tl->nruns ? tl->runs[work] : 0;
	m = hmap__get(&tl->many, &key);
	return m ? m->runs : 0;
}

static int count_run(struct tl *tl, uint32_t work)
{
	uint64_t key = work;
	struct tl_many *m;

	if (!tl->runs[work]) {
		tl->runs[work] = 1;
		return 0;
	}
	m = hmap__put(&tl->many, &key);
	if (!m)
		return -ENOMEM;
	if (tl->runs[work] == 1)
		m->runs = 1;
	tl->runs[work] = 2;
	m->runs++;
	return 0;
}

static int count_runs(struct tl *tl)
{
	bool alone = tl->t->in.host_left_out;
	struct join_activity a;
	size_t n = trace__execs(tl->t);
	int rc = 0;

	tl->nruns = tl->t->work;
	/* calls were not numbered while they were read first: see inspect/read.c */
	for (size_t i = 0; (alone || tl->t->in.own_model) && i < n; i++) {
		join__activity(tl->t->in.join, i, &a);
		if (a.has_call && a.call.number >= tl->nruns)
			tl->nruns = (size_t)a.call.number + 1;
	}
	tl->runs = calloc(tl->nruns + 1, 1);
	if (alone)
		tl->first_run = calloc(tl->nruns + 1, sizeof(*tl->first_run));
	if (tl->bucket_bytes)
		tl->bucket_of = calloc(tl->nruns + 1, sizeof(*tl->bucket_of));
	if (!tl->runs || (alone && !tl->first_run) || (tl->bucket_bytes && !tl->bucket_of))
		return -ENOMEM;
	for (size_t i = 0; !rc && i < n; i++) {
		join__activity(tl->t->in.join, i, &a);
		rc = tl_counters__note(tl, &a);
		if (rc || !a.has_call || !is_execution(a.kind) || !a.call.proc->selected ||
		    a.call.number >= tl->nruns)
			continue;
		if (alone && !tl->runs[a.call.number])
			tl->first_run[a.call.number] = (uint32_t)i;
		rc = count_run(tl, a.call.number);
	}
	return rc;
}

/* ---- Tracks ---- */

struct lane_key {
	const struct join_lane *l;
	uint32_t number;
};

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Sessions of one process are one another's continuation. */
static int by_place(const struct join_lane *x, const struct join_lane *y)
{
	const struct proc *p = x->session->proc, *q = y->session->proc;
	int c = compare(p->tgid, q->tgid);

	c = c ? c : compare(p->key[1], q->key[1]);
	c = c ? c : compare(x->device, y->device);
	c = c ? c : compare(x->context, y->context);
	return c ? c : compare(x->stream, y->stream);
}

static int order_lanes(const void *a, const void *b)
{
	const struct lane_key *x = a, *y = b;
	int c = by_place(x->l, y->l);

	return c ? c : compare(x->number, y->number);
}

static uint32_t counter(struct tl *tl, uint32_t parent, const char *name, enum tl_unit unit)
{
	uint32_t t = tl_tracks__add(&tl->tracks, TL_COUNTER, parent, name);

	if (t != TL_NO_TRACK)
		tl->tracks.track[t].unit = unit;
	return t;
}

static int add_device(struct tl *tl, uint32_t parent, const struct join_lane *l)
{
	struct tl_device *d = &tl->devices[tl->ndevices];
	char name[64];

	snprintf(name, sizeof(name), "GPU %u", l->device);
	*d = (struct tl_device){ .track = tl_tracks__add(&tl->tracks, TL_GROUP, parent, name) };
	if (d->track == TL_NO_TRACK)
		return -ENOMEM;
	d->running.track = counter(tl, d->track + 1, "Running on the GPU", TL_COUNT);
	d->queue.track = counter(tl, d->track + 1, "Asked for and not started", TL_COUNT);
	for (unsigned i = 0; i < TL_DIRECTIONS; i++)
		d->rate[i].track = TL_NO_TRACK;
	tl->ndevices++;
	return d->running.track == TL_NO_TRACK || d->queue.track == TL_NO_TRACK ? -ENOMEM : 0;
}

static int add_context(struct tl *tl, const struct join_lane *l)
{
	struct tl_context *c = &tl->contexts[tl->ncontexts];
	char name[64];

	snprintf(name, sizeof(name), "context %u", l->context);
	*c = (struct tl_context){ .track = tl_tracks__add(&tl->tracks, TL_GROUP,
							  tl->devices[tl->ndevices - 1].track + 1, name) };
	tl->ncontexts++;
	return c->track == TL_NO_TRACK ? -ENOMEM : 0;
}

static int add_stream(struct tl *tl, const struct join_lane *l)
{
	struct tl_stream *s = &tl->streams[tl->nstreams];
	char name[64];

	snprintf(name, sizeof(name), "stream %u", l->stream);
	*s = (struct tl_stream){ .device = (uint32_t)tl->ndevices - 1,
				 .context = (uint32_t)tl->ncontexts - 1 };
	s->rows.track = tl_tracks__add(&tl->tracks, TL_LANE, tl->contexts[s->context].track + 1, name);
	tl->nstreams++;
	return s->rows.track == TL_NO_TRACK ? -ENOMEM : 0;
}

static int add_place(struct tl *tl, const struct join_lane *l, const struct join_lane *before)
{
	bool proc = !before || l->session->proc != before->session->proc;
	bool device = proc || l->device != before->device;
	bool context = device || l->context != before->context;
	struct tl_proc *p;
	int rc;

	if (before && by_place(l, before) == 0)
		return 0;
	p = tl__proc(tl, l->session->proc, &rc);
	if (!p)
		return rc;
	if (device)
		rc = add_device(tl, p->track, l);
	if (!rc && context)
		rc = add_context(tl, l);
	return rc ? rc : add_stream(tl, l);
}

static int add_streams(struct tl *tl)
{
	size_t n = join__lanes(tl->t->in.join), count = 0;
	struct lane_key *v = calloc(n + 1, sizeof(*v));
	int rc = 0;

	tl->streams = calloc(n + 1, sizeof(*tl->streams));
	tl->devices = calloc(n + 1, sizeof(*tl->devices));
	tl->contexts = calloc(n + 1, sizeof(*tl->contexts));
	tl->stream_of = calloc(n + 1, sizeof(*tl->stream_of));
	if (!v || !tl->streams || !tl->devices || !tl->contexts || !tl->stream_of)
		rc = -ENOMEM;
	for (uint32_t i = 0; !rc && i < n; i++) {
		const struct join_lane *l = join__lane(tl->t->in.join, i);

		if (l->session->proc && l->session->proc->selected)
			v[count++] = (struct lane_key){ l, i };
	}
	if (!rc)
		qsort(v, count, sizeof(*v), order_lanes);
	for (size_t i = 0; !rc && i < count; i++) {
		rc = add_place(tl, v[i].l, i ? v[i - 1].l : NULL);
		tl->stream_of[v[i].number] = (uint32_t)tl->nstreams;
	}
	free(v);
	return rc;
}

/* ---- What all executions of a key share ---- */

static void preset_arg(struct tl_preset *p, enum tl_key key, enum tl_arg_type type, uint64_t v)
{
	p->arg[p->nargs++] = (struct tl_arg){ .key = (uint16_t)key, .type = (uint8_t)type, .u = v };
}

static void kernel_preset(struct tl_preset *p, const struct join_key *k)
{
	for (unsigned i = 0; i < 3; i++)
		preset_arg(p, (enum tl_key)(TL_KEY_GRID_X + i), TL_UINT, k->grid[i]);
	for (unsigned i = 0; i < 3; i++)
		preset_arg(p, (enum tl_key)(TL_KEY_BLOCK_X + i), TL_UINT, k->block[i]);
	for (unsigned i = 0; k->has_cluster && i < 3; i++)
		preset_arg(p, (enum tl_key)(TL_KEY_CLUSTER_X + i), TL_UINT, k->cluster[i]);
	preset_arg(p, TL_KEY_REGISTERS, TL_UINT, k->registers);
	preset_arg(p, TL_KEY_STATIC_SHARED, TL_UINT, k->static_shared);
	preset_arg(p, TL_KEY_DYNAMIC_SHARED, TL_UINT, k->dynamic_shared);
	preset_arg(p, TL_KEY_LOCAL, TL_UINT, k->local_per_thread);
}

static const char *const directions[] = { "unknown", "h2d", "d2h", "h2a", "a2h", "a2a",
					  "a2d",     "d2a", "d2d", "h2h", "peer" };

static int copy_preset(struct tl *tl, struct tl_preset *p, const struct join_key *k)
{
	char unknown[32];
	uint32_t v;

	snprintf(unknown, sizeof(unknown), "<unknown kind %u>", k->copy_kind);
	v = tl_texts__add(&tl->values, k->copy_kind < sizeof(directions) / sizeof(*directions)
					       ? directions[k->copy_kind]
					       : unknown);
	if (!v)
		return -ENOMEM;
	preset_arg(p, TL_KEY_DIRECTION, TL_VALUE, v);
	preset_arg(p, TL_KEY_ASYNC, TL_BOOL, k->async);
	if (k->has_peer) {
		preset_arg(p, TL_KEY_SRC_DEVICE, TL_UINT, k->src_device);
		preset_arg(p, TL_KEY_DST_DEVICE, TL_UINT, k->dst_device);
	}
	return 0;
}

static uint32_t name_of(struct tl *tl, uint32_t key, const struct join_key *k)
{
	char text[64];

	if (k->kind == GPUBPF_ACTIVITY_KERNEL)
		return tl_texts__add(&tl->names, tl->t->key_display[key]);
	if (k->kind == GPUBPF_ACTIVITY_COPY && k->copy_kind < sizeof(directions) / sizeof(*directions))
		snprintf(text, sizeof(text), "memcpy %s", directions[k->copy_kind]);
	else if (k->kind == GPUBPF_ACTIVITY_COPY)
		snprintf(text, sizeof(text), "memcpy <unknown kind %u>", k->copy_kind);
	else
		snprintf(text, sizeof(text), "%s", k->kind == GPUBPF_ACTIVITY_SET ? "memset" : "graph");
	return tl_texts__add(&tl->names, text);
}

static int add_keys(struct tl *tl)
{
	size_t n = join__keys(tl->t->in.join);
	struct tl_preset *grown = realloc(tl->presets, (tl->npresets + n) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	tl->presets = grown;
	memset(grown + tl->npresets, 0, n * sizeof(*grown));
	tl->key_name = calloc(n + 1, sizeof(*tl->key_name));
	tl->key_preset = calloc(n + 1, sizeof(*tl->key_preset));
	if (!tl->key_name || !tl->key_preset)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		const struct join_key *k = join__key(tl->t->in.join, i);
		struct tl_preset *p = &tl->presets[tl->npresets];

		if (!is_execution(k->kind))
			continue;
		tl->key_name[i] = name_of(tl, i, k);
		if (!tl->key_name[i])
			return -ENOMEM;
		if (k->kind == GPUBPF_ACTIVITY_KERNEL)
			kernel_preset(p, k);
		else if (k->kind == GPUBPF_ACTIVITY_COPY && copy_preset(tl, p, k))
			return -ENOMEM;
		tl->key_preset[i] = (uint32_t)++tl->npresets;
	}
	return 0;
}

int tl_device__prepare(struct tl *tl)
{
	int rc;

	if (!tl->t->in.join)
		return 0;
	hmap__init(&tl->many, 8, sizeof(struct tl_many));
	tl->graph_name = tl_texts__add(&tl->names, "graph launch");
	if (!tl->graph_name)
		return -ENOMEM;
	rc = add_streams(tl);
	if (!rc)
		rc = count_runs(tl);
	if (!rc)
		rc = tl_counters__prepare(tl);
	return rc ? rc : add_keys(tl);
}

void tl_device__clear(struct tl *tl)
{
	for (size_t i = 0; i < tl->nstreams; i++)
		tl_rows__clear(&tl->streams[i].rows);
	for (size_t i = 0; i < tl->ncontexts; i++)
		tl_rows__clear(&tl->contexts[i].graphs);
	if (tl->many.entry_size)
		hmap__clear(&tl->many);
	free(tl->streams);
	free(tl->contexts);
	free(tl->devices);
	free(tl->stream_of);
	free(tl->key_name);
	free(tl->key_preset);
	free(tl->runs);
	free(tl->first_run);
	free(tl->bucket_of);
}
