// SPDX-License-Identifier: GPL-2.0-or-later
/* Of the machine: read once in a recording, behind the start of what is recorded. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment/gather.h"
#include "util/crc32c.h"
#include "util/file.h"

#define NVIDIA "/proc/driver/nvidia/"
#define GOVERNOR "/sys/devices/system/cpu/cpu%ld/cpufreq/scaling_governor"

/* Value of the first "key : value" of a text of lines. */
static bool value_of(const char *text, const char *key, char *out, size_t size)
{
	size_t n = strlen(key);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		if (strncmp(p, key, n) != 0 || p[n + strspn(p + n, " \t")] != ':')
			continue;
		p += n + strspn(p + n, " \t") + 1;
		p += strspn(p, " \t");
		snprintf(out, size, "%.*s", (int)strcspn(p, "\n"), p);
		return *out;
	}
	return false;
}

static void processor(struct environment *e)
{
	char *text, model[256], implementer[32], part[32];
	size_t n;
	int error = file_read_all("/proc/cpuinfo", 16u << 20, &text, &n);

	if (error) {
		environment__add(e, "host", "CPU model", NULL, strerror(-error), false);
		return;
	}
	if (value_of(text, "model name", model, sizeof(model)))
		environment__add(e, "host", "CPU model", model, NULL, false);
	else if (value_of(text, "CPU implementer", implementer, sizeof(implementer)) &&
		 value_of(text, "CPU part", part, sizeof(part)))
		environment__addf(e, "host", "CPU model", false, "implementer %s, part %s", implementer,
				  part);
	else
		environment__add(e, "host", "CPU model", NULL, "/proc/cpuinfo does not name it", false);
	free(text);
}

/* One word where all processors have the same. */
static void governor(struct environment *e)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	char path[128], word[64], first[64] = "";
	bool mixed = false;
	int error = 0;

	for (long i = 0; i < cpus; i++) {
		int r;

		snprintf(path, sizeof(path), GOVERNOR, i);
		r = file_read_line(path, word, sizeof(word));
		if (r && !i)
			error = r; /* one that is switched off later on has none */
		if (r == -ENOENT && !i)
			break;
		if (r)
			continue;
		mixed |= first[0] && strcmp(first, word) != 0;
		if (!first[0])
			snprintf(first, sizeof(first), "%s", word);
	}
	if (mixed)
		snprintf(first, sizeof(first), "different ones");
	else if (!first[0] && error == -ENOENT) /* it was looked for where the kernel has it */
		snprintf(first, sizeof(first), "none: the kernel scales no frequency here");
	environment__add(e, "host", "CPU governor", first[0] ? first : NULL, strerror(-error), false);
}

static void driver(struct environment *e)
{
	char line[512], *text;
	size_t n;
	int r = file_read_line(NVIDIA "version", line, sizeof(line));
	const char *why = r == -ENOENT ? "no " NVIDIA
					 ": the driver is not loaded, or not to be seen from here"
				       : strerror(-r);

	environment__add(e, "driver", "kernel module",
			 r ? NULL : line + (strncmp(line, "NVRM version: ", 14) ? 0 : 14), why, false);
	r = file_read_all(NVIDIA "params", 1u << 20, &text, &n);
	if (r) {
		environment__add(e, "driver", "module parameters", NULL, r == -ENOENT ? why : strerror(-r),
				 false);
		return;
	}
	environment__addf(e, "driver", "module parameters", false, "CRC-32C %08x of %zu bytes",
			  crc32c(0, text, n), n);
	free(text);
}

void environment__host(struct environment *e)
{
	processor(e);
	governor(e);
	driver(e);
}
