/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a budget leaves (R40): first what shows a thing twice goes, then the counters, all of them, then groups: a call,
 * the calls inside it and all that ran for it. Which groups stay is a matter of a hash of what identifies them in the
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

int tl_budget__choose(struct tl *tl, uint64_t skeleton)
{
	uint64_t left, all = 0;
	uint64_t required = skeleton + tl->all[TIMELINE_MARK].bytes + tl->all[TIMELINE_MODULE].bytes;

	for (unsigned i = 0; i < TIMELINE_CLASSES; i++)
		all += i == TIMELINE_SKELETON ? skeleton : tl->all[i].bytes;
	if (required > tl->o->budget)
		return err_set(
			tl->err, -E2BIG,
			"%llu bytes are too few: tracks, texts, losses, module loads, manifest and receipt alone "
			"take %llu; nothing was written",
			(unsigned long long)tl->o->budget, (unsigned long long)required);
	tl->threshold = TL_BUCKETS;
	if (all <= tl->o->budget)
		return 0;
	tl->drop_presentation = true;
	all -= tl->all[TIMELINE_PRESENTATION].bytes;
	if (all <= tl->o->budget)
		return 0;
	tl->drop_counters = true;
	all -= tl->all[TIMELINE_COUNTER].bytes;
	if (all <= tl->o->budget)
		return 0;
	left = tl->o->budget - required;
	for (tl->threshold = 0; tl->bucket_bytes[tl->threshold] <= left; tl->threshold++)
		left -= tl->bucket_bytes[tl->threshold];
	return 0;
}
