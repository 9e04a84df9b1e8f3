/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What measures and their parts are called. */
#include "latency/lat.h"

const struct lat_words lat_measures[LAT_MEASURES] = {
	[LAT_OWN] = { "own", "entry → return" },
	[LAT_START] = { "start", "entry → start on the GPU" },
	[LAT_QUEUE] = { "queue", "return → start on the GPU" },
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

struct lat_words lat_part_words(enum lat_measure m, unsigned i)
{
	if (m != LAT_OWN)
		return parts[i];
	return i < BREAKDOWN_CAUSES ? (struct lat_words){ breakdown_names[i], breakdown_words[i] }
				    : (struct lat_words){ NULL, NULL };
}

unsigned lat_part_count(enum lat_measure m)
{
	return m == LAT_OWN ? (unsigned)BREAKDOWN_CAUSES : (unsigned)LAT_PARTS;
}

_Static_assert(BREAKDOWN_CAUSES <= LAT_PARTS_MAX && LAT_PARTS <= LAT_PARTS_MAX, "room");
