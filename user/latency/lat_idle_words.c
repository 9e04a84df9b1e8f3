/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What causes of idle time are called. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "latency/lat.h"

static const struct lat_words others[IDLE_CAUSES - IDLE_EITHER] = {
	[IDLE_EITHER - IDLE_EITHER] = { "in_call_or_outside",
					"in a CUDA call whose return was not recorded, or behind it" },
	[IDLE_BEFORE - IDLE_EITHER] = { "before_call",
					"before the call that ended it (the host observer was left out)" },
	[IDLE_LAUNCH -
		IDLE_EITHER] = { "launch", "from the call to the start (its return was not recorded)" },
	[IDLE_WAIT - IDLE_EITHER] = { "event_wait",
				      "the call had returned: waiting for an event or another stream" },
	[IDLE_SUBMISSION - IDLE_EITHER] = { "submission", "submission: from the call's return to the start" },
	[IDLE_NODE -
		IDLE_EITHER] = { "graph_node",
				 "no thread: between things that one call started, as nodes of a graph" },
	[IDLE_DEVICE_LAUNCHED -
		IDLE_EITHER] = { "device_launched", "no thread: ended by what the device launched itself" },
	[IDLE_AMBIGUOUS -
		IDLE_EITHER] = { "ambiguous", "no thread: ended by what several recorded calls fit" },
	[IDLE_NO_HOST_CALL - IDLE_EITHER] = { "no_host_call",
					      "no thread: the host observer has no call for what ended it" },
	[IDLE_ORPHAN - IDLE_EITHER] = { "orphan", "no thread: no call is recorded for what ended it" },
	[IDLE_OTHER_CALL -
		IDLE_EITHER] = { "other_call", "no thread: ended by work inside a call that asks for none" },
	[IDLE_EARLY -
		IDLE_EITHER] = { "early", "no thread: what ended it started before its call, by the clocks" },
	[IDLE_UNWATCHED - IDLE_EITHER] = { "unwatched", "no thread: the device observer was off in between" },
	[IDLE_MANY - IDLE_EITHER] = { "many_devices", "no thread: it launches on too many devices" },
	[IDLE_NOT_CHOSEN - IDLE_EITHER] = { "not_chosen", "gaps that others ended than were asked for" },
	[IDLE_SHORT - IDLE_EITHER] = { "short", "gaps shorter than --idle" },
};

/* Which of the causes of a breakdown; BREAKDOWN_CAUSES: none is measured. */
static unsigned part_of(enum idle_cause c)
{
	return c >= IDLE_OUTSIDE ? c - (unsigned)IDLE_OUTSIDE : c - (unsigned)IDLE_IN_CALL;
}

const char *lat_idle_key(enum idle_cause c, char *buf)
{
	unsigned part = part_of(c);

	if (c >= IDLE_EITHER)
		snprintf(buf, LAT_IDLE_WORDS, "%s", others[c - IDLE_EITHER].key);
	else
		snprintf(buf, LAT_IDLE_WORDS, "%s_%s", c >= IDLE_OUTSIDE ? "outside" : "in_call",
			 part < BREAKDOWN_CAUSES ? breakdown_names[part] : "unmeasured");
	return buf;
}

/* "python3.12", "pypy3": whatever stands in front of it. */
static bool names_python(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	base = base ? base + 1 : path;
	if (!base || (strncmp(base, "python", 6) != 0 && strncmp(base, "pypy", 4) != 0))
		return false;
	for (base += base[1] == 'y' && base[2] == 't' ? 6 : 4; *base; base++)
		if (!isdigit((unsigned char)*base) && *base != '.')
			return false;
	return true;
}

static bool is_python(const struct latency *l, uint32_t tgid)
{
	const Gpubpf__Process *p = NULL;

	for (size_t i = 0; i < l->in.meta->n_process; i++)
		if (l->in.meta->process[i]->tgid == tgid)
			p = l->in.meta->process[i];
	return p && (p->exe ? names_python(p->exe) : p->n_cmdline && names_python(p->cmdline[0]));
}

const char *lat_idle_text(const struct latency *l, enum idle_cause c, uint32_t tgid, char *buf)
{
	unsigned part = part_of(c);
	bool outside = c >= IDLE_OUTSIDE;

	if (c >= IDLE_EITHER)
		snprintf(buf, LAT_IDLE_WORDS, "%s", others[c - IDLE_EITHER].text);
	else if (part == BREAKDOWN_CAUSES)
		snprintf(buf, LAT_IDLE_WORDS, "%s, why is not known (%s)",
			 outside ? "outside of CUDA" : "in a CUDA call",
			 latency__no_inside(l) ? latency__no_inside(l) : "unaccounted: no record covers it");
	else if (outside && part == BREAKDOWN_ON_CPU)
		snprintf(buf, LAT_IDLE_WORDS, "on CPU outside of CUDA%s",
			 is_python(l, tgid) ? ", in a Python process" : "");
	else
		snprintf(buf, LAT_IDLE_WORDS, "%s: %s", outside ? "outside of CUDA" : "in a CUDA call",
			 breakdown_words[part]);
	return buf;
}
