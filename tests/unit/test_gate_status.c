/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a shim's status file may hold, and what is refused, each with its reason. */
#include "t.h"

#include <stdarg.h>
#include <stdlib.h>

#include "gate/status.h"
#include "util/err.h"

#define TOKEN "0123456789abcdef0123456789abcdef"
#define KINDS "{\"subscribe\":{\"required\":true,\"result\":0},\"sync\":{\"required\":false,\"result\":1}}"

/* A whole file, with one member as it is given and the others as a shim that is ready writes them. */
static const struct {
	const char *name, *value;
} whole[] = {
	{ "schema", "\"" GPUBPF_GATE_SCHEMA "\"" },
	{ "token", "\"" TOKEN "\"" },
	{ "pid", "4711" },
	{ "start_time", "99887766" },
	{ "sequence", "3" },
	{ "lifecycle", "\"finished\"" },
	{ "readiness", "\"ready\"" },
	{ "reason", "\"\"" },
	{ "now", "5000000000" },
	{ "first_touch", "4000000000" },
	{ "deadline", "19000000000" },
	{ "warmup", "0" },
	{ "kinds", KINDS },
	{ "notes", "[]" },
};
#define MEMBERS (sizeof(whole) / sizeof(whole[0]))

static char text[8192];

/* Pairs of name and value, NULL at the end: value NULL leaves it out; what is no member is added. */
static const char *file(const char *first, ...)
{
	const char *names[16], *values[16], *between = "{";
	size_t n = 0, at = 0;
	va_list ap;

	va_start(ap, first);
	for (const char *name = first; name; name = va_arg(ap, const char *)) {
		names[n] = name;
		values[n++] = va_arg(ap, const char *);
	}
	va_end(ap);
	for (size_t i = 0; i < MEMBERS; i++) {
		const char *value = whole[i].value;

		for (size_t k = 0; k < n; k++) {
			if (names[k] && !strcmp(names[k], whole[i].name)) {
				value = values[k];
				names[k] = NULL;
			}
		}
		if (!value)
			continue;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\"%s\":%s", between, whole[i].name,
				       value);
		between = ",";
	}
	for (size_t k = 0; k < n; k++)
		if (names[k])
			at += (size_t)snprintf(text + at, sizeof(text) - at, ",\"%s\":%s", names[k],
					       values[k]);
	snprintf(text + at, sizeof(text) - at, "}\n");
	return text;
}

static struct gate_status s;
static struct err why;

static const char *parse(const char *data)
{
	why.msg[0] = 0;
	return gate_refusal_word(gate_status_parse(data, strlen(data), &s, &why));
}

#define REFUSED(word, ...)                                                                                   \
	do {                                                                                                 \
		const char *got = parse(file(__VA_ARGS__));                                                  \
		CHECKF(!strcmp(got, word) && why.msg[0], "wanted %s, got %s (%s): %s", word, got, why.msg,   \
		       text);                                                                                \
	} while (0)
#define ACCEPTED(...)                                                                                        \
	do {                                                                                                 \
		const char *got = parse(file(__VA_ARGS__));                                                  \
		CHECKF(!strcmp(got, "accepted"), "%s (%s): %s", got, why.msg, text);                         \
	} while (0)

T(gate_whole)
{
	ACCEPTED(NULL, NULL);
	CHECK(!strcmp(s.token, TOKEN));
	CHECK(s.pid == 4711 && s.start_time == 99887766 && s.sequence == 3);
	CHECK(s.lifecycle == GPUBPF_LIFECYCLE_FINISHED && s.readiness == GPUBPF_READINESS_READY && !s.reason);
	CHECK(s.now == 5000000000 && s.first_touch == 4000000000 && s.deadline == 19000000000 && !s.warmup);
	CHECK(s.has_kinds && s.nkinds == 2 && !strcmp(s.kinds[1].name, "sync") && s.kinds[1].result == 1);
	CHECK(s.kinds[0].required && !s.kinds[1].required && !s.notes);
	ACCEPTED("notes", "[\"late_attach\",\"forked_child\"]", NULL);
	CHECK(s.notes == (GPUBPF_GATE_NOTE_LATE_ATTACH | GPUBPF_GATE_NOTE_FORKED_CHILD));
}

T(gate_each_member_is_needed)
{
	for (size_t i = 0; i < MEMBERS; i++)
		REFUSED("missing_member", whole[i].name, NULL, NULL);
	REFUSED("extra_member", "colour", "1", NULL);
	REFUSED("missing_member", "kinds", "{\"kernel\":{\"required\":true}}", NULL);
	REFUSED("extra_member", "kinds", "{\"kernel\":{\"required\":true,\"result\":0,\"more\":1}}", NULL);
}

T(gate_members_stand_once)
{
	char twice[8192];

	for (size_t i = 0; i < MEMBERS; i++) {
		file(NULL, NULL);
		snprintf(twice, sizeof(twice), "{\"%s\":%s,%s", whole[i].name, whole[i].value, text + 1);
		CHECKF(!strcmp(parse(twice), "duplicate_member"), "%s: %s", whole[i].name, parse(twice));
	}
	REFUSED("duplicate_member", "kinds",
		"{\"kernel\":{\"required\":true,\"result\":0},\"kernel\":{\"required\":true,\"result\":0}}",
		NULL);
}

T(gate_cut_anywhere)
{
	char *cut;

	file(NULL, NULL);
	for (size_t n = 0; n < strlen(text) - 2; n++) {
		cut = strndup(text, n);
		CHECKF(!strcmp(parse(cut), "malformed"), "%zu: %s", n, parse(cut));
		free(cut);
	}
	CHECK(!strcmp(parse("[]"), "malformed"));
	CHECK(!strcmp(parse("null"), "malformed"));
	strcat(text, "{}");
	CHECK(!strcmp(parse(text), "malformed"));
}

T(gate_oversize)
{
	static char big[GPUBPF_GATE_FILE_MAX + 2];

	file(NULL, NULL);
	memset(big, ' ', sizeof(big) - 1);
	memcpy(big, text, strlen(text));
	CHECK(!strcmp(parse(big), "oversize"));
	big[GPUBPF_GATE_FILE_MAX] = 0;
	CHECK(!strcmp(parse(big), "accepted"));
}

T(gate_schema)
{
	REFUSED("unknown_schema", "schema", "\"gpubpf-gate-2\"", NULL);
	REFUSED("unknown_schema", "schema", "\"gpubpf-gate-2\"", "pid", NULL, NULL);
	REFUSED("bad_value", "schema", "1", NULL);
}

T(gate_values)
{
	static const char *const numbers[] = { "pid",         "start_time", "sequence", "now",
					       "first_touch", "deadline",   "warmup" };

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		REFUSED("bad_value", numbers[i], "-1", NULL);
		REFUSED("bad_value", numbers[i], "1.5", NULL);
		REFUSED("bad_value", numbers[i], "\"1\"", NULL);
		REFUSED("bad_value", numbers[i], "null", NULL);
		REFUSED("malformed", numbers[i], "99999999999999999999", NULL);
	}
	REFUSED("bad_value", "pid", "0", NULL);
	REFUSED("bad_value", "pid", "4294967296", NULL);
	REFUSED("bad_value", "sequence", "0", NULL);
	REFUSED("bad_value", "lifecycle", "\"READY\"", NULL);
	REFUSED("bad_value", "lifecycle", "5", NULL);
	REFUSED("bad_value", "readiness", "\"\"", NULL);
	REFUSED("bad_value", "reason", "\"because\"", NULL);
	REFUSED("bad_value", "token", "\"0123456789ABCDEF0123456789abcdef\"", NULL);
	REFUSED("bad_value", "token", "\"0123\"", NULL);
	REFUSED("bad_value", "token", "7", NULL);
	REFUSED("malformed", "token", "\"0123456789abcde\\u0000123456789abcdef\"", NULL);
	ACCEPTED("token", "\"\"", NULL);
	REFUSED("bad_value", "notes", "[\"later\"]", NULL);
	REFUSED("bad_value", "notes", "[\"late_attach\",\"late_attach\"]", NULL);
	REFUSED("bad_value", "notes", "{}", NULL);
	REFUSED("bad_value", "kinds", "[]", NULL);
	REFUSED("bad_value", "kinds", "{\"Ker nel\":{\"required\":true,\"result\":0}}", NULL);
	REFUSED("bad_value", "kinds", "{\"kernel\":{\"required\":1,\"result\":0}}", NULL);
	REFUSED("bad_value", "kinds", "{\"kernel\":{\"required\":true,\"result\":3000000000}}", NULL);
	REFUSED("bad_value", "kinds", "{\"kernel\":7}", NULL);
}

T(gate_impossible_states)
{
	static const char *const before[] = { "\"disabled\"", "\"idle\"", "\"callback_seen\"",
					      "\"initializing\"", "\"stopped\"" };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
		REFUSED("impossible_state", "lifecycle", before[i], NULL);
	REFUSED("impossible_state", "reason", "\"init_timeout\"", NULL);
	REFUSED("impossible_state", "readiness", "\"failed\"", NULL);
	REFUSED("impossible_state", "readiness", "\"pending\"", "reason", "\"init_timeout\"", NULL);
	REFUSED("impossible_state", "kinds", "{\"kernel\":{\"required\":true,\"result\":28}}", NULL);
	REFUSED("impossible_state", "kinds", "{\"sync\":{\"required\":false,\"result\":0}}", NULL);
	REFUSED("impossible_state", "kinds", "{}", NULL);
	REFUSED("impossible_state", "first_touch", "0", NULL);
	REFUSED("impossible_state", "deadline", "0", NULL);
	REFUSED("impossible_state", "first_touch", "0", "deadline", "0", NULL);
	REFUSED("impossible_state", "first_touch", "6000000000", NULL);
	REFUSED("impossible_state", "deadline", "3000000000", NULL);
	REFUSED("impossible_state", "warmup", "16000000000", NULL);
	REFUSED("impossible_state", "warmup", "9223372036854775807", NULL);
	REFUSED("impossible_state", "lifecycle", "\"warmup\"", "readiness", "\"pending\"", NULL);
	ACCEPTED("lifecycle", "\"warmup\"", "readiness", "\"pending\"", "warmup", "1000", "kinds", "{}",
		 NULL);
	ACCEPTED("lifecycle", "\"initializing\"", "readiness", "\"pending\"", "kinds", "{}", NULL);
	ACCEPTED("lifecycle", "\"initializing\"", "readiness", "\"failed\"", "reason", "\"init_timeout\"",
		 NULL);
	ACCEPTED("readiness", "\"failed\"", "reason", "\"facility_enable_failed\"", "kinds",
		 "{\"kernel\":{\"required\":true,\"result\":28}}", NULL);
	ACCEPTED("lifecycle", "\"idle\"", "readiness", "\"pending\"", "first_touch", "0", "deadline", "0",
		 "kinds", "{}", NULL);
}

static const char *against(const struct gate_expect *e)
{
	why.msg[0] = 0;
	return gate_refusal_word(gate_status_check(&s, e, &why));
}

T(gate_only_ours)
{
	struct gate_expect e = {
		.token = TOKEN, .pid = 4711, .start_time = 99887766, .not_after = 6000000000
	};
	struct gate_status last;

	ACCEPTED(NULL, NULL);
	CHECK(!strcmp(against(&e), "accepted"));
	e.token = "ffffffffffffffffffffffffffffffff";
	CHECK(!strcmp(against(&e), "foreign_token"));
	e.token = TOKEN;
	e.pid = 4712;
	CHECK(!strcmp(against(&e), "foreign_pid"));
	e.pid = 4711;
	e.start_time++;
	CHECK(!strcmp(against(&e), "recycled_pid"));
	e.start_time = 0;
	e.not_before = 5000000001;
	CHECK(!strcmp(against(&e), "older"));
	e.not_before = 0;
	e.not_after = 4999999999;
	CHECK(!strcmp(against(&e), "bad_value"));
	e.not_after = 0;
	last = s;
	e.last = &last;
	CHECK(!strcmp(against(&e), "older"));
	last.sequence = 4;
	CHECK(!strcmp(against(&e), "older"));
	last.sequence = 2;
	CHECK(!strcmp(against(&e), "accepted"));
	ACCEPTED("token", "\"\"", NULL);
	CHECK(!strcmp(against(&e), "foreign_token"));
}

T(gate_readiness_is_final)
{
	struct gate_status last;
	struct gate_expect e = { .last = &last };

	ACCEPTED("readiness", "\"failed\"", "reason", "\"init_timeout\"", NULL);
	last = s;
	last.sequence = 1;
	ACCEPTED(NULL, NULL);
	CHECK(!strcmp(against(&e), "latched"));
	ACCEPTED("readiness", "\"failed\"", "reason", "\"late_success\"", NULL);
	CHECK(!strcmp(against(&e), "latched"));
	ACCEPTED(NULL, NULL);
	last = s;
	last.sequence = 1;
	ACCEPTED("readiness", "\"failed\"", "reason", "\"trace_facility_lost\"", NULL);
	CHECK(!strcmp(against(&e), "accepted"));
	ACCEPTED("readiness", "\"failed\"", "reason", "\"late_success\"", NULL);
	CHECK(!strcmp(against(&e), "latched"));
	ACCEPTED("readiness", "\"pending\"", NULL);
	CHECK(!strcmp(against(&e), "latched"));
}

T(gate_words)
{
	for (unsigned i = 1; gate_reason_word(i); i++)
		CHECKF(strcmp(gate_reason_text(i), gate_reason_text(99)) != 0, "%s has no text",
		       gate_reason_word(i));
	CHECK(!gate_reason_word(16) && !gate_note_word(4) && !gate_lifecycle_word(7) &&
	      !gate_readiness_word(3));
	CHECK(!gate_reason_word(~0u) && gate_reason_text(~0u));
}

TEST_MAIN
