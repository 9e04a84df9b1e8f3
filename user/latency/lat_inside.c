/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of each measure are called, and how a record gives those of a call. */
#include "latency/lat.h"

const struct lat_words lat_measures[LAT_MEASURES] = {
	[LAT_OWN] = { "own", "entry → return" },
	[LAT_START] = { "start", "entry → start on the GPU" },
	[LAT_QUEUE] = { "queue", "return → start on the GPU" },
};

const struct lat_words lat_causes[] = {
	{ NULL, NULL },
};

static const struct lat_words parts[LAT_PARTS + 1] = {
	[LAT_CALL] = { "in_call", "inside the call" },
	[LAT_STREAM] = { "stream_busy", "busy with earlier work of the stream" },
	[LAT_WAIT] = { "event_wait", "waiting for an event or another stream" },
	[LAT_OTHERS] = { "device_busy_others", "not known; other streams of the device were busy" },
	[LAT_QUEUED] = { "submission", "submission (queued → submitted)" },
	[LAT_SUBMITTED] = { "submitted", "submitted, not started" },
	[LAT_UNKNOWN] = { "unknown", "not known; nothing was seen to run" },
};

const struct lat_words *lat_part_words(enum lat_measure m, unsigned i)
{
	const struct lat_words *w = m == LAT_OWN ? &lat_causes[i] : &parts[i];

	return w->key ? w : NULL;
}

unsigned lat_part_count(enum lat_measure m)
{
	unsigned n = 0;

	while (lat_part_words(m, n))
		n++;
	return n;
}

bool lat_inside__of(const struct gpubpf_rec *rec, uint32_t *tgid, uint32_t *tid, struct lat_inside *in)
{
	(void)rec, (void)tgid, (void)tid, (void)in;
	return false;
}
