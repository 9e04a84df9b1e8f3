/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "latency/lat_idle.h"

/* Cut at the running sums, so that what is rounded off one cause is the next one's. */
void idle_share(const uint64_t ns[BREAKDOWN_CAUSES], uint64_t over, uint64_t out[BREAKDOWN_CAUSES])
{
	unsigned __int128 sum = 0, at = 0;
	uint64_t done = 0;

	for (int i = 0; i < BREAKDOWN_CAUSES; i++) {
		sum += ns[i];
		out[i] = 0;
	}
	if (!sum || sum > UINT64_MAX) { /* no record of a time is that long */
		out[BREAKDOWN_UNACCOUNTED] = over;
		return;
	}
	for (int i = 0; i < BREAKDOWN_CAUSES; i++) {
		uint64_t here;

		at += ns[i];
		here = (uint64_t)(at * over / sum);
		out[i] = here - done;
		done = here;
	}
}
