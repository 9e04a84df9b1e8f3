/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a shim's status file. What is accepted is a state that a shim can be in, and its text says the same again:
 * written anew from what was read, it is read as the same.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gate/status.h"
#include "util/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t write_again(const struct gate_status *s, char *text, size_t size)
{
	const char *between = "";
	int n = snprintf(text, size,
			 "{\"schema\":\"" GPUBPF_GATE_SCHEMA
			 "\",\"token\":\"%s\",\"pid\":%u,\"start_time\":%" PRIu64 ",\"sequence\":%" PRIu64
			 ",\"lifecycle\":\"%s\",\"readiness\":\"%s\",\"reason\":\"%s\",\"now\":%" PRIu64
			 ",\"first_touch\":%" PRIu64 ",\"deadline\":%" PRIu64 ",\"warmup\":%" PRIu64
			 ",\"kinds\":{",
			 s->token, s->pid, s->start_time, s->sequence, gate_lifecycle_word(s->lifecycle),
			 gate_readiness_word(s->readiness), gate_reason_word(s->reason), s->now,
			 s->first_touch, s->deadline, s->warmup);

	for (unsigned i = 0; i < s->nkinds; i++, between = ",")
		n += snprintf(text + n, size - (size_t)n, "%s\"%s\":{\"required\":%s,\"result\":%d}", between,
			      s->kinds[i].name, s->kinds[i].required ? "true" : "false", s->kinds[i].result);
	n += snprintf(text + n, size - (size_t)n, "},\"notes\":[");
	between = "";
	for (unsigned bit = 0; gate_note_word(bit); bit++) {
		if (!(s->notes & 1u << bit))
			continue;
		n += snprintf(text + n, size - (size_t)n, "%s\"%s\"", between, gate_note_word(bit));
		between = ",";
	}
	return (size_t)n + (size_t)snprintf(text + n, size - (size_t)n, "]}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gate_status s, again;
	struct err err = { "" };
	char text[2 * GPUBPF_GATE_FILE_MAX];
	enum gate_refusal r = gate_status_parse((const char *)data, size, &s, &err);
	size_t n;

	if (r) {
		if (!err.msg[0] || !strcmp(gate_refusal_word(r), "unknown"))
			abort();
		return 0;
	}
	if (err.msg[0] || size > GPUBPF_GATE_FILE_MAX || gate_status_possible(&s, NULL))
		abort();
	n = write_again(&s, text, sizeof(text));
	/* longer than it was where it was written with fewer letters than a shim does: never much */
	if (n <= GPUBPF_GATE_FILE_MAX &&
	    (gate_status_parse(text, n, &again, NULL) || memcmp(&s, &again, sizeof(s)) != 0))
		abort();
	return 0;
}
