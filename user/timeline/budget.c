/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a budget leaves (R40): first what shows a thing twice goes, then the counters, all of them, then groups: a call,
 * the calls inside it and all that ran for it; an NVTX range or mark is one by itself. Which groups stay is a matter of a hash of what identifies them in the
 * capture: the same ones each time, and spread over all of it.
 */
#include <errno.h>

#include "timeline/priv.h"

bool tl_budget__keeps(const struct tl *tl, const struct tl_event *e)
{
	switch (e->cls) {
	case TIMELINE_PRESENTATION:
		return !tl->drop_presentation;
	case TIMELINE_COUNTER:
		return !tl->drop_counters;
	case TIMELINE_CALL:
	case TIMELINE_GPU:
	case TIMELINE_NVTX:
		return !tl->bucket_bytes || e->bucket < tl->threshold;
	default:
		return true;
	}
}

void tl_budget__dropped(struct tl *tl, const struct tl_event *e)
{
	struct tl_item item = { true, e->start, e->track, e->name }, *first = &tl->first_dropped[e->cls],
		       *last = &tl->last_dropped[e->cls];

	if (!first->there || item.start < first->start)
		*first = item;
	if (!last->there || item.start >= last->start)
		*last = item;
}

#define BIT(c) (1u << (c))
#define GROUPS (BIT(TIMELINE_CALL) | BIT(TIMELINE_GPU) | BIT(TIMELINE_NVTX))

/* What is there besides groups, when this much is dropped. */
static int size_without(struct tl *tl, tl_skeleton_fn *skeleton, unsigned dropped, uint64_t *bytes)
{
	int rc;

	tl->drop_presentation = dropped & BIT(TIMELINE_PRESENTATION);
	tl->drop_counters = dropped & BIT(TIMELINE_COUNTER);
	rc = skeleton(tl, dropped, bytes);
	for (unsigned i = TIMELINE_CALL; i < TIMELINE_CLASSES; i++)
		if (!(BIT(i) & (dropped | GROUPS)))
			*bytes += tl->all[i].bytes;
	return rc;
}

int tl_budget__choose(struct tl *tl, tl_skeleton_fn *skeleton)
{
	static const unsigned steps[] = { 0, BIT(TIMELINE_PRESENTATION),
					  BIT(TIMELINE_PRESENTATION) | BIT(TIMELINE_COUNTER) };
	uint64_t groups = tl->all[TIMELINE_CALL].bytes + tl->all[TIMELINE_GPU].bytes +
			  tl->all[TIMELINE_NVTX].bytes,
		 required, left;
	int rc;

	tl->threshold = TL_BUCKETS;
	for (unsigned i = 0; i < 3; i++) {
		rc = size_without(tl, skeleton, steps[i], &required);
		if (rc || required + groups <= tl->o->budget)
			return rc;
	}
	rc = size_without(tl, skeleton, steps[2] | GROUPS, &required);
	if (rc)
		return rc;
	if (required > tl->o->budget)
		return err_set(
			tl->err, -E2BIG,
			"%llu bytes are too few: tracks, texts, losses, module loads, nodes of a sidecar, manifest and receipt alone "
			"take %llu; nothing was written",
			(unsigned long long)tl->o->budget, (unsigned long long)required);
	left = tl->o->budget - required;
	tl->threshold = 0;
	while (tl->threshold < TL_BUCKETS && tl->bucket_bytes[tl->threshold] <= left)
		left -= tl->bucket_bytes[tl->threshold++];
	return 0;
}
