// SPDX-License-Identifier: GPL-2.0-or-later
/* What nvidia-smi is asked, and what it answers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "environment/gather.h"

static const struct {
	const char *field, *name, *unit; /* unit: it is a number */
	bool now;                        /* as it is at the moment: asked twice, in no two runs alike */
} fields[] = {
	{ "uuid", "UUID", NULL, false }, /* first, and always: what the rest is of */
	{ "pci.bus_id", "bus id", NULL, false },
	{ "clocks.current.sm", "SM clock", "MHz", true },
	{ "clocks.current.memory", "memory clock", "MHz", true },
	{ "name", "name", NULL, false },
	{ "driver_version", NULL, NULL, false },
	{ "vbios_version", "VBIOS", NULL, false },
	{ "persistence_mode", "persistence mode", NULL, false },
	{ "compute_mode", "compute mode", NULL, false },
	{ "mig.mode.current", "MIG mode", NULL, false },
	{ "ecc.mode.current", "ECC mode", NULL, false },
	{ "clocks.max.sm", "SM clock, max", "MHz", false },
	{ "clocks.max.memory", "memory clock, max", "MHz", false },
	{ "clocks.applications.graphics", "SM clock for applications", "MHz", false },
	{ "clocks.applications.memory", "memory clock for applications", "MHz", false },
	{ "power.limit", "power limit", "W", false },
	{ "enforced.power.limit", "power limit, enforced", "W", false },
	{ "power.default_limit", "power limit, default", "W", false },
	{ "power.max_limit", "power limit, max", "W", false },
};
#define FIELDS (sizeof(fields) / sizeof(fields[0]))
#define NOW_FIELDS 4

static const char unknown_field[] = "[no such field]";

const char *smi_field(unsigned i)
{
	return i < FIELDS ? fields[i].field : NULL;
}

uint64_t smi_fields(bool all)
{
	return (UINT64_C(1) << (all ? FIELDS : NOW_FIELDS)) - 1;
}

/* "[N/A]", "[Not Supported]", "N/A", "Unknown Error", "[GPU requires reset]": no value, whatever a zero would say (R12, R14). */
static bool says_nothing(const char *v)
{
	return !*v || *v == '[' || !strcmp(v, "N/A") || !strncmp(v, "Unknown", 7) ||
	       !strcmp(v, "Not Supported");
}

static void put(struct environment *e, size_t gpu, unsigned i, const char *value, bool at_end)
{
	char name[96], why[160] = "", text[192], *end = NULL;
	bool lacks, number = fields[i].unit && !says_nothing(value);

	if (number) {
		strtod(value, &end);
		number = end != value && !*end;
	}
	/* what a device or its nvidia-smi does not have is nothing to be held against another's */
	lacks = value == unknown_field || strstr(value, "N/A") || strstr(value, "ot Supported") ||
		strstr(value, "deprecated");
	if (value == unknown_field)
		snprintf(why, sizeof(why), "this nvidia-smi does not know it");
	else if (says_nothing(value))
		snprintf(why, sizeof(why), "nvidia-smi says \"%.100s\"", value);
	else if (fields[i].unit && !number)
		snprintf(why, sizeof(why), "nvidia-smi gave no number: \"%.100s\"", value);
	snprintf(text, sizeof(text), "%.128s%s%s", value, fields[i].unit ? " " : "",
		 fields[i].unit ? fields[i].unit : "");
	if (!fields[i].name) {
		environment__add(e, "driver", "driver version", *why ? NULL : text, why, false);
		return;
	}
	snprintf(name, sizeof(name), "GPU %zu %s%s", gpu, fields[i].name,
		 !fields[i].now ? ""
		 : at_end       ? " at the end"
				: " after 2 s");
	environment__add(e, "device", name, *why ? NULL : text, why, fields[i].now || (lacks && *why));
}

/* Values of a line, separated by ", "; how many there are. */
static unsigned split(char *line, char **value, unsigned room)
{
	unsigned n = 0;

	for (char *p = line;; p++) {
		p += strspn(p, " \t");
		if (n < room)
			value[n] = p;
		n++;
		line = p;
		p = strchr(line, ',');
		for (char *end = p ? p : line + strlen(line); end > line && strchr(" \t\r", end[-1]); end--)
			end[-1] = 0;
		if (!p)
			return n;
		*p = 0;
	}
}

size_t smi_parse(struct environment *e, const char *text, uint64_t asked, bool at_end, bool all)
{
	char *copy = strdup(text), *line, *save = NULL, *value[FIELDS];
	size_t gpus = 0;
	unsigned wanted = (unsigned)__builtin_popcountll(asked), at, i;

	if (!copy) {
		e->error = -ENOMEM;
		return 0;
	}
	for (line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (split(line, value, FIELDS) != wanted || (asked & 1 && strncmp(value[0], "GPU-", 4) != 0))
			continue;
		for (i = at = 0; i < FIELDS; i++) {
			const char *v = asked >> i & 1 ? value[at++] : unknown_field;

			if (all || (fields[i].now && v != unknown_field))
				put(e, gpus, i, v, at_end); /* who is who was said before */
		}
		gpus++;
	}
	free(copy);
	if (gpus && all)
		environment__addf(e, "device", "GPUs", false, "%zu", gpus);
	return gpus;
}
