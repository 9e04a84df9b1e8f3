/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "timeline/priv.h"

const char *const timeline_class_names[TIMELINE_CLASSES] = {
	[TIMELINE_SKELETON] = "skeleton",
	[TIMELINE_CALL] = "call",
	[TIMELINE_GPU] = "gpu_slice",
	[TIMELINE_MODULE] = "module",
	[TIMELINE_MARK] = "mark",
	[TIMELINE_COUNTER] = "counter",
	[TIMELINE_PRESENTATION] = "presentation",
	[TIMELINE_NVTX] = "nvtx",
	[TIMELINE_SEMANTIC] = "semantic",
};

#define MONOTONIC "CLOCK_MONOTONIC"
const struct tl_timing_words tl_timings[TL_TIMINGS] = {
	[TL_HOST] = { MONOTONIC, "bpf", "measured" },
	[TL_HOST_ENTRY] = { MONOTONIC, "bpf", "entry alone was recorded" },
	[TL_HOST_OPEN] = { MONOTONIC, "bpf", "entry measured, had not returned" },
	[TL_HOST_BAD] = { MONOTONIC, "bpf", "invalid: return before entry" },
	[TL_SHIM] = { MONOTONIC, "cupti callback", "measured" },
	[TL_SHIM_OPEN] = { MONOTONIC, "cupti callback", "start measured, end not seen" },
	[TL_DEVICE] = { MONOTONIC, "cupti activity", "measured" },
	[TL_DEVICE_CONVERTED] = { MONOTONIC, "cupti activity, own clock converted by clock pairs",
				  "within device_clock_error_ns" },
	[TL_DEVICE_ZERO] = { MONOTONIC, "the call", "device time unavailable: both ends are 0" },
	[TL_DEVICE_END_FIRST] = { MONOTONIC, "the call", "device time invalid: end before start" },
	[TL_DEVICE_OUTSIDE] = { MONOTONIC, "the call", "device time invalid: outside its session" },
	[TL_DEVICE_UNANCHORED] = { MONOTONIC, "the call",
				   "device clock not tied to this one: duration alone" },
	[TL_DERIVED] = { MONOTONIC, "derived from other events", "as these" },
	[TL_MARKER_OPEN] = { MONOTONIC, "cupti activity", "start measured, end not seen" },
	[TL_MARKER_BAD] = { MONOTONIC, "cupti activity", "invalid: end before start" },
	[TL_RECORDER] = { MONOTONIC, "recorder", "measured" },
	[TL_SIDECAR] = { MONOTONIC, "sidecar", "as it says" },
	[TL_SIDECAR_WALL] = { MONOTONIC, "sidecar, its wall clock converted by clock pairs", "as it says" },
	[TL_WHOLE] = { "none", "none", "of the whole capture, at no moment of it" },
};

/* ---- What the parts use ---- */

int tl__room(struct tl *tl, size_t n)
{
	uint8_t *grown;

	if (n <= tl->room)
		return 0;
	n += n / 2;
	grown = realloc(tl->buf, n);
	if (!grown)
		return -ENOMEM;
	tl->buf = grown;
	tl->room = n;
	return 0;
}

int tl__put(struct tl *tl, const void *bytes, size_t n)
{
	tl->piece += n;
	tl->packets++;
	return tl->phase == TL_WRITE && !tl->measuring ? tl->fn(tl->fn_arg, bytes, n) : 0;
}

struct tl_event *tl__new(struct tl *tl, enum tl_event_type type, enum timeline_class cls, uint32_t track,
			 uint64_t start)
{
	/* all but the arguments, of which nargs count */
	memset(tl->ev, 0, offsetof(struct tl_event, arg));
	tl->ev->type = type;
	tl->ev->cls = cls;
	tl->ev->track = track;
	tl->ev->start = start;
	return tl->ev;
}

uint16_t tl__bucket(const struct tl *tl, uint64_t a, uint64_t b)
{
	uint64_t key[2] = { a, b };

	return (uint16_t)(tl_hash(key, sizeof(key), tl->id) >> 40);
}

void tl__progress(struct tl *tl, uint64_t n)
{
	uint64_t before = tl->done >> 16;

	tl->done += n;
	if (tl->o->progress && tl->done >> 16 != before)
		tl->o->progress(tl->o->progress_arg, tl->done < tl->to_do ? tl->done : tl->to_do, tl->to_do);
}

int tl__event(struct tl *tl, const struct tl_event *e)
{
	struct timeline_sum *s;
	bool item = e->type != TL_CLOSE;
	int rc;

	if (tl->phase != TL_MEASURE && !tl_budget__keeps(tl, e)) {
		if (tl->phase == TL_SELECT && item)
			tl_budget__dropped(tl, e);
		return 0;
	}
	if (tl->o->focus && tl->phase != TL_WRITE)
		tl_focus__see(tl, e);
	tl->piece = 0;
	if (tl->phase != TL_WRITE && tl->f->size) {
		tl->piece = tl->f->size(tl, e);
		tl->packets += e->type == TL_SLICE ? 2 : 1;
		rc = 0;
	} else {
		rc = tl->f->event(tl, e);
	}
	s = tl->phase == TL_MEASURE ? &tl->all[e->cls] : &tl->kept[e->cls];
	s->items += item;
	s->bytes += tl->piece;
	tl->total += tl->piece;
	if (tl->phase == TL_MEASURE && tl->bucket_bytes &&
	    (e->cls == TIMELINE_CALL || e->cls == TIMELINE_GPU || e->cls == TIMELINE_NVTX))
		tl->bucket_bytes[e->bucket] += tl->piece;
	tl->slices += e->type == TL_SLICE || e->type == TL_OPEN;
	tl->executions_kept += e->cls == TIMELINE_GPU;
	return rc;
}

/* ---- Phases ---- */

static int walk(struct tl *tl, enum tl_phase phase)
{
	int rc;

	tl->phase = phase;
	tl->total = tl->slices = tl->executions_kept = tl->packets = tl->unplaced = 0;
	memset(tl->kept, 0, sizeof(tl->kept));
	if (phase != TL_WRITE)
		tl_focus__restart(tl);
	tl_semantic__restart(tl);
	rc = tl_calls__walk(tl);
	if (!rc)
		rc = tl_device__walk(tl);
	if (!rc)
		rc = tl_marks__walk(tl);
	if (!rc)
		rc = tl_nvtx__walk(tl);
	if (!rc)
		rc = tl_semantic__walk(tl);
	return rc;
}

/* Bytes of what is always there. */
static int skeleton(struct tl *tl, unsigned worst, uint64_t *bytes)
{
	int rc;

	tl->measuring = true;
	tl->worst = worst;
	tl->piece = 0;
	rc = tl->f->begin(tl);
	*bytes = tl->piece;
	tl->piece = 0;
	if (!rc)
		rc = tl_manifest__write(tl);
	*bytes += tl->piece;
	tl->piece = 0;
	if (!rc)
		rc = tl->f->end(tl);
	*bytes += tl->piece;
	tl->measuring = false;
	tl->worst = 0;
	return rc;
}

static int write_out(struct tl *tl, uint64_t expected)
{
	uint64_t bytes = 0;
	int rc;

	tl->piece = 0;
	tl->phase = TL_WRITE;
	rc = tl->f->begin(tl);
	bytes = tl->piece;
	if (!rc)
		rc = walk(tl, TL_WRITE);
	bytes += tl->total;
	tl->piece = 0;
	if (!rc)
		rc = tl_manifest__write(tl);
	if (!rc)
		rc = tl->f->end(tl);
	bytes += tl->piece;
	if (!rc && bytes != expected)
		rc = err_set(tl->err, -EIO,
			     "the trace came out at %llu bytes, not at the %llu that were computed",
			     (unsigned long long)bytes, (unsigned long long)expected);
	return rc;
}

static int make(struct tl *tl, struct timeline_result *r)
{
	uint64_t required, expected, packets;
	int rc = walk(tl, TL_MEASURE);

	if (!rc)
		rc = tl_tracks__check(&tl->tracks, tl->err);
	if (rc)
		return rc;
	memcpy(tl->kept, tl->all, sizeof(tl->kept));
	expected = tl->total;
	if (tl->o->has_budget) {
		rc = tl_budget__choose(tl, skeleton);
		if (!rc)
			rc = walk(tl, TL_SELECT);
		expected = tl->total;
	}
	r->slices = tl->slices;
	r->without_launches = r->launches && !tl->executions_kept;
	packets = tl->packets;
	if (!rc)
		rc = tl_focus__settle(tl, &r->link);
	if (!rc)
		rc = skeleton(tl, 0, &required);
	if (rc)
		return rc;
	tl->all[TIMELINE_SKELETON] = tl->kept[TIMELINE_SKELETON] = (struct timeline_sum){
		tl->packets - packets, required
	};
	memcpy(r->all, tl->all, sizeof(r->all));
	memcpy(r->kept, tl->kept, sizeof(r->kept));
	r->bytes = expected + required;
	r->packets = tl->packets;
	return write_out(tl, r->bytes);
}

/* ---- */

static int add_timings(struct tl *tl)
{
	tl->presets = calloc(TL_TIMINGS, sizeof(*tl->presets));
	if (!tl->presets)
		return -ENOMEM;
	tl->npresets = TL_TIMINGS;
	for (unsigned i = 0; i < TL_TIMINGS; i++) {
		const char *words[] = { tl_timings[i].domain, tl_timings[i].source, tl_timings[i].quality };
		struct tl_preset *p = &tl->presets[i];

		for (p->nargs = 0; p->nargs < 3; p->nargs++) {
			uint32_t v = tl_texts__add(&tl->values, words[p->nargs]);

			if (!v)
				return -ENOMEM;
			p->arg[p->nargs] = (struct tl_arg){ .key = (uint16_t)(TL_KEY_CLOCK + p->nargs),
							    .type = TL_VALUE,
							    .u = v };
		}
	}
	return 0;
}

/* By what the recorder wrote of itself: two captures differ in their clocks alone if in nothing else. */
static uint64_t identity(const struct trace *t)
{
	size_t n = gpubpf__meta__get_packed_size(t->in.meta);
	uint8_t *b = malloc(n + 1);
	uint64_t h = t->in.status->file_bytes;

	if (!b)
		return 0;
	gpubpf__meta__pack(t->in.meta, b);
	h = tl_hash(b, n, h);
	free(b);
	h = tl_hash(&t->in.status->records, sizeof(t->in.status->records), h);
	return h ? h : 1;
}

static int prepare(struct tl *tl)
{
	int rc;

	tl->ev = calloc(1, sizeof(*tl->ev));
	tl->id = identity(tl->t);
	if (!tl->ev || !tl->id)
		return -ENOMEM;
	if (tl->o->has_budget) {
		tl->bucket_bytes = calloc(TL_BUCKETS, sizeof(*tl->bucket_bytes));
		if (!tl->bucket_bytes)
			return -ENOMEM;
	}
	rc = tl__room(tl, 64 << 10);
	if (!rc)
		rc = add_timings(tl);
	if (!rc)
		rc = tl_calls__prepare(tl);
	if (!rc)
		rc = tl_device__prepare(tl);
	if (!rc)
		rc = tl_marks__prepare(tl);
	if (!rc)
		rc = tl_nvtx__prepare(tl);
	if (!rc)
		rc = tl_semantic__prepare(tl);
	if (!rc)
		rc = tl_manifest__prepare(tl);
	if (!rc)
		rc = tl_focus__prepare(tl);
	for (size_t i = 0; !rc && i < tl->npresets; i++)
		rc = tl->f->preset(tl, &tl->presets[i]);
	tl->to_do = (tl->t->m->calls + trace__execs(tl->t)) * (tl->o->has_budget ? 3 : 2);
	return rc;
}

int timeline_write(struct trace *t, const struct timeline_opts *o, timeline_write_fn *fn, void *arg,
		   struct timeline_result *r, struct err *err)
{
	static const struct tl_format *const formats[] = { [TIMELINE_PERFETTO] = &tl_perfetto,
							   [TIMELINE_CHROME] = &tl_chrome,
							   [TIMELINE_PAGE] = &tl_columns };
	struct tl tl = { .t = t, .o = o, .f = formats[o->format], .fn = fn, .fn_arg = arg, .err = err };
	int rc;

	memset(r, 0, sizeof(*r));
	r->launches = trace__execs(t);
	rc = prepare(&tl);
	if (!rc)
		rc = make(&tl, r);
	for (size_t i = 0; i < tl.npresets; i++)
		free(tl.presets[i].bytes);
	free(tl.presets);
	tl_calls__clear(&tl);
	tl_counters__clear(&tl);
	tl_device__clear(&tl);
	tl_nvtx__clear(&tl);
	tl_semantic__clear(&tl);
	tl_texts__clear(&tl.names);
	tl_texts__clear(&tl.values);
	tl_tracks__clear(&tl.tracks);
	free(tl.bucket_bytes);
	free(tl.buf);
	free(tl.ev);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}
