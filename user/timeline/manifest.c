/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the trace says of itself, where a viewer shows it: an event with arguments (R41, R47). */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cmd.h"
#include "timeline/priv.h"
#include "trace/identity.h"
#include "util/fmt.h"

#define SCHEMA "gpubpf.timeline.1"
#define LONGEST_IDENTITY 240 /* of the texts below, cut as they are */

int tl_manifest__prepare(struct tl *tl)
{
	char name[64];

	tl->manifest_track = tl_tracks__add(&tl->tracks, TL_LANE, 0, "gpubpf: manifest");
	tl->manifest_name = tl_texts__add(&tl->names, "manifest");
	if (tl->manifest_track == TL_NO_TRACK || !tl->manifest_name)
		return -ENOMEM;
	if (!tl->o->has_budget)
		return 0;
	tl->receipt_track = tl_tracks__add(&tl->tracks, TL_LANE, 0, "gpubpf: what a size limit left out");
	if (tl->receipt_track == TL_NO_TRACK)
		return -ENOMEM;
	for (unsigned i = TIMELINE_CALL; i < TIMELINE_CLASSES; i++) {
		snprintf(name, sizeof(name), "loss receipt: %s", timeline_class_names[i]);
		tl->receipt_name[i] = tl_texts__add(&tl->names, name);
		if (!tl->receipt_name[i])
			return -ENOMEM;
	}
	return 0;
}

static bool worst(const struct tl *tl, unsigned c)
{
	return tl->worst & 1u << c;
}

static void number(const struct tl *tl, unsigned c, struct tl_event *e, enum tl_key key, uint64_t v)
{
	tl_arg(e, key, TL_UINT, worst(tl, c) ? UINT64_MAX : v);
}

static const enum tl_key items_key[TIMELINE_CLASSES] = {
	[TIMELINE_CALL] = TL_KEY_N_CALL,       [TIMELINE_GPU] = TL_KEY_N_GPU,
	[TIMELINE_MODULE] = TL_KEY_N_MODULE,   [TIMELINE_MARK] = TL_KEY_N_MARK,
	[TIMELINE_COUNTER] = TL_KEY_N_COUNTER, [TIMELINE_PRESENTATION] = TL_KEY_N_PRESENTATION,
	[TIMELINE_NVTX] = TL_KEY_N_NVTX,       [TIMELINE_SEMANTIC] = TL_KEY_N_SEMANTIC
};

/* NULL: it was recorded, if only to find none. */
static const char *no_nvtx(const struct join *j)
{
	bool refused = false;

	if (j && join__markers(j))
		return NULL;
	for (size_t i = 0; j && i < join__sessions(j); i++) {
		const struct join_facility *f = &join__session(j, i)->facility[GPUBPF_FACILITY_NVTX];

		if (f->tried && !f->result)
			return NULL;
		refused |= f->tried;
	}
	return refused ? "CUPTI refused records of NVTX" : "recorded without --cupti nvtx";
}

/* Of a class that was not asked for no number is known, and 0 is one. */
static bool asked_for(const struct tl *tl, unsigned c)
{
	if (c == TIMELINE_NVTX)
		return !no_nvtx(tl->t->in.join);
	return c != TIMELINE_SEMANTIC || tl->semantic;
}

static void absences(const struct tl *tl, struct tl_event *e)
{
	const struct inspection *in = &tl->t->in;
	bool wall = false;

	for (size_t i = 0; i < in->meta->n_clock; i++)
		wall |= in->meta->clock[i]->has_realtime_ns;
	if (in->host_left_out)
		tl_text(e, TL_KEY_ABSENT_HOST,
			"the host observer was left out: calls without work on a device are not here");
	if (!in->join)
		tl_text(e, TL_KEY_ABSENT_DEVICE, "no device observer: what ran on a GPU was not measured");
	if (no_nvtx(in->join))
		tl_text(e, TL_KEY_ABSENT_NVTX, no_nvtx(in->join));
	if (!in->breakdowns)
		tl_text(e, TL_KEY_ABSENT_LATENCY,
			"not recorded with --latency: where the time of calls went was not measured");
	if (!in->footer)
		tl_text(e, TL_KEY_ABSENT_FOOTER,
			"the recording was not ended: its last records may be missing");
	if (!wall)
		tl_text(e, TL_KEY_ABSENT_WALL,
			"no clock pair: the trace keeps CLOCK_MONOTONIC of its machine and cannot be merged");
	if (tl->drop_presentation)
		tl_text(e, TL_KEY_LEFT_OUT,
			tl->drop_counters
				? "presentation: shows executions once more, dropped first under a budget; counter: all "
				  "or none, dropped next"
				: "presentation: shows executions once more, dropped first under a budget");
}

static void sources(const struct tl *tl, struct tl_event *e)
{
	const struct inspection *in = &tl->t->in;
	const struct join_totals *t = in->join ? join__totals(in->join) : NULL;

	tl_arg(e, TL_KEY_CAPTURE_BYTES, TL_UINT, in->status->file_bytes);
	tl_arg(e, TL_KEY_CAPTURE_RECORDS, TL_UINT, in->status->records);
	tl_arg(e, TL_KEY_CLOCKS, TL_UINT, in->meta->n_clock);
	tl_arg(e, TL_KEY_CALLS, TL_UINT, in->calls);
	if (!t)
		return;
	tl_arg(e, TL_KEY_KERNELS, TL_UINT, t->kernels);
	tl_arg(e, TL_KEY_COPIES, TL_UINT, t->copies);
	tl_arg(e, TL_KEY_SETS, TL_UINT, t->sets);
	if (t->has_clock_error)
		tl_arg(e, TL_KEY_CLOCK_ERROR, TL_UINT, t->clock_error_ns);
}

static int manifest(struct tl *tl)
{
	const struct inspection *in = &tl->t->in;
	struct tl_event *e = tl__new(tl, TL_INSTANT, TIMELINE_SKELETON, tl->manifest_track, tl->t->start);
	struct identity identity;
	char id[24], line[1024], safe[1024], by[128];
	uint64_t wall;

	e->name = tl->manifest_name;
	e->timing = TL_WHOLE;
	snprintf(id, sizeof(id), "%016" PRIx64, tl->id);
	ledger_headline(&in->ledger, line, sizeof(line));
	fmt_safe(safe, sizeof(safe), line);
	fmt_safe(by, sizeof(by), in->meta->gpubpf_version ? in->meta->gpubpf_version : "");
	tl_text(e, TL_KEY_EXPORTER, "gpubpf timeline " GPUBPF_VERSION);
	tl_text(e, TL_KEY_SCHEMA, SCHEMA);
	identity__of(in->meta, &identity);
	tl_text(e, TL_KEY_CAPTURE, id);
	tl_text(e, TL_KEY_IDENTITY, identity.text);
	if (by[0])
		tl_text(e, TL_KEY_CAPTURE_BY, by);
	tl_text(e, TL_KEY_VERDICT, safe);
	if (inspect_wall(in, tl->t->start, &wall))
		tl_arg(e, TL_KEY_WALL, TL_UINT, wall);
	sources(tl, e);
	tl_text(e, TL_KEY_GPU_TIME, "events of the category gpu_slice");
	tl_text(e, TL_KEY_FAMILIES, "clock_snapshot, track_descriptor, interned_data, track_event");
	for (unsigned i = TIMELINE_CALL; i < TIMELINE_CLASSES; i++)
		if (asked_for(tl, i))
			number(tl, i, e, items_key[i], tl->kept[i].items);
	if (tl->unplaced)
		tl_arg(e, TL_KEY_UNPLACED, TL_UINT, tl->unplaced);
	if (tl_nvtx__unplaced(tl))
		tl_arg(e, TL_KEY_NVTX_UNPLACED, TL_UINT, tl_nvtx__unplaced(tl));
	if (tl->others)
		tl_arg(e, TL_KEY_OTHERS, TL_UINT, tl->others);
	absences(tl, e);
	return tl->f->event(tl, e);
}

/* What finds it in the capture again. */
static void identify(const struct tl *tl, const struct tl_item *i, char *buf, size_t n)
{
	const struct tl_track *own = &tl->tracks.track[i->track], *t = own;
	const char *name = i->name ? tl->names.text[i->name - 1] : "sample";
	char where[64];

	while (t->kind != TL_THREAD && t->kind != TL_PROCESS && t->parent)
		t = &tl->tracks.track[t->parent - 1];
	if (t->kind == TL_THREAD)
		snprintf(where, sizeof(where), "thread %u", t->tid);
	else
		snprintf(where, sizeof(where), "%.60s", own->name ? own->name : "");
	if (!i->there)
		snprintf(buf, n, "%0*d", LONGEST_IDENTITY, 0);
	else
		snprintf(buf, n, "process %u, %s, at %" PRIu64 " ns: %.100s", t->pid, where, i->start, name);
}

static int receipt(struct tl *tl, enum timeline_class c)
{
	static const struct tl_item none;
	const struct tl_item *first = &tl->first_dropped[c], *last = &tl->last_dropped[c];
	const struct timeline_sum *all = &tl->all[c], *kept = &tl->kept[c];
	struct tl_event *e = tl__new(tl, TL_INSTANT, TIMELINE_SKELETON, tl->receipt_track, tl->t->start);
	char from[256], to[256], safe[2][512];

	e->name = tl->receipt_name[c];
	e->timing = TL_WHOLE;
	tl_arg(e, TL_KEY_BUDGET, TL_UINT, tl->o->budget);
	tl_text(e, TL_KEY_RULE,
		"presentation goes first, then counters; then groups (a call and all that ran for it; an NVTX range or mark) by a stable hash");
	number(tl, c, e, TL_KEY_CONSIDERED, all->items);
	number(tl, c, e, TL_KEY_RETAINED, kept->items);
	number(tl, c, e, TL_KEY_DROPPED, all->items - kept->items);
	number(tl, c, e, TL_KEY_CONSIDERED_BYTES, all->bytes);
	number(tl, c, e, TL_KEY_RETAINED_BYTES, kept->bytes);
	number(tl, c, e, TL_KEY_DROPPED_BYTES, all->bytes - kept->bytes);
	if (worst(tl, c) || first->there) {
		identify(tl, worst(tl, c) ? &none : first, from, sizeof(from));
		identify(tl, worst(tl, c) ? &none : last, to, sizeof(to));
		tl_text(e, TL_KEY_FIRST_DROPPED, fmt_safe(safe[0], sizeof(safe[0]), from));
		tl_text(e, TL_KEY_LAST_DROPPED, fmt_safe(safe[1], sizeof(safe[1]), to));
	}
	return tl->f->event(tl, e);
}

int tl_manifest__write(struct tl *tl)
{
	int rc = manifest(tl);

	if (!rc)
		rc = tl_semantic__coverage(tl);
	for (unsigned i = TIMELINE_CALL; !rc && tl->o->has_budget && i < TIMELINE_CLASSES; i++)
		if (asked_for(tl, i))
			rc = receipt(tl, (enum timeline_class)i);
	return rc;
}
