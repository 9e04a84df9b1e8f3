/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a scene about where and when it was recorded: mkscene.c says which. */
#ifndef TESTS_TOOLS_MADE_PLACE_H
#define TESTS_TOOLS_MADE_PLACE_H

#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "util/err.h"

/* Whether the line is one of these; err has a message where it could not be written. */
static bool made_place(struct capture_writer *w, const char *verb, char *text, uint64_t now, struct err *err)
{
	Gpubpf__ClockPair pair = GPUBPF__CLOCK_PAIR__INIT, *pairs[] = { &pair };
	Gpubpf__Host host = GPUBPF__HOST__INIT;
	Gpubpf__Fact fact = GPUBPF__FACT__INIT, *facts[] = { &fact };
	Gpubpf__Meta m = GPUBPF__META__INIT;

	if (strcmp(verb, "wall") == 0) {
		pair.monotonic_ns = now;
		pair.has_realtime_ns = true;
		pair.realtime_ns = strtoull(text, &text, 0);
		pair.has_error_ns = *text != '\0';
		pair.error_ns = strtoull(text, &text, 0);
		pair.has_utc_error_ns = *text != '\0';
		pair.utc_error_ns = strtoull(text, &text, 0);
		m.n_clock = 1;
		m.clock = pairs;
	} else if (strcmp(verb, "machine") == 0) {
		host.hostname = strsep(&text, " ");
		host.boot_id = text;
		m.host = &host;
	} else if (strcmp(verb, "fact") == 0) {
		char *value = strstr(text, " = ");

		fact.group = strsep(&text, " ");
		fact.name = text;
		if (value && text) {
			*value = '\0';
			fact.value = strcmp(value + 3, "?") ? value + 3 : NULL;
		}
		if (!fact.value)
			fact.absent = "not told";
		m.n_fact = 1;
		m.fact = facts;
	} else {
		return false;
	}
	capture_writer__meta(w, &m, err);
	return true;
}

#endif
