// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <string.h>

#include <jansson.h>

#include "gate/status.h"
#include "util/err.h"

static const char *const members[] = {
	"schema", "token", "pid",         "start_time", "sequence", "lifecycle", "readiness",
	"reason", "now",   "first_touch", "deadline",   "warmup",   "kinds",     "notes",
};

#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

static enum gate_refusal refuse(struct err *err, enum gate_refusal why, const char *what, const char *name)
{
	err_set(err, -EBADMSG, "%s%s%s", what, name[0] ? ": " : "", name);
	return why;
}

static bool known(const char *name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, list[i]))
			return true;
	return false;
}

static enum gate_refusal only_members(const json_t *o, const char *const *list, size_t n, struct err *err)
{
	const char *name;
	json_t *v;

	for (size_t i = 0; i < n; i++)
		if (!json_object_get(o, list[i]))
			return refuse(err, GATE_REFUSED_MEMBER_MISSING, "a member is missing", list[i]);
	json_object_foreach((json_t *)o, name, v) if (!known(name, list, n)) return refuse(
		err, GATE_REFUSED_MEMBER_EXTRA, "it has a member that no shim writes", "");
	return GATE_ACCEPTED;
}

/* No number of a status is negative, and none is beyond what JSON readers hold as an integer. */
static bool number(const json_t *o, const char *name, uint64_t max, uint64_t *out)
{
	const json_t *v = json_object_get(o, name);

	if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) > max)
		return false;
	*out = (uint64_t)json_integer_value(v);
	return true;
}

static bool word(const json_t *o, const char *name, const char *(*word_of)(unsigned), unsigned *out)
{
	const char *text = json_string_value(json_object_get(o, name)), *w;

	for (unsigned i = 0; text && i < 32; i++) {
		w = word_of(i);
		if (w && !strcmp(w, text)) {
			*out = i;
			return true;
		}
	}
	return false;
}

static bool token(const json_t *o, char out[GPUBPF_GATE_TOKEN_LEN + 1])
{
	const json_t *v = json_object_get(o, "token");
	size_t n = json_is_string(v) ? json_string_length(v) : 1;

	if ((n && n != GPUBPF_GATE_TOKEN_LEN) || strspn(json_string_value(v), "0123456789abcdef") != n)
		return false;
	memcpy(out, json_string_value(v), n + 1);
	return true;
}

static bool identifier(const char *name)
{
	size_t n = strlen(name);

	return n && n < sizeof(((struct gate_kind *)0)->name) &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static enum gate_refusal read_kinds(const json_t *kinds, struct gate_status *s, struct err *err)
{
	static const char *const parts[] = { "required", "result" };
	const char *name;
	json_t *v;

	if (!json_is_object(kinds) || json_object_size(kinds) > GATE_KINDS_MAX)
		return refuse(err, GATE_REFUSED_VALUE, "no shim writes such a value", "kinds");
	json_object_foreach((json_t *)kinds, name, v)
	{
		struct gate_kind *k = &s->kinds[s->nkinds];
		const json_t *required = json_object_get(v, "required"),
			     *result = json_object_get(v, "result");
		enum gate_refusal r;

		if (!identifier(name) || !json_is_object(v))
			return refuse(err, GATE_REFUSED_VALUE, "no shim writes such a value", "kinds");
		r = only_members(v, parts, NELEM(parts), err);
		if (r)
			return r;
		if (!json_is_boolean(required) || !json_is_integer(result) ||
		    json_integer_value(result) < INT32_MIN || json_integer_value(result) > INT32_MAX)
			return refuse(err, GATE_REFUSED_VALUE, "no shim writes such a value", "kinds");
		memcpy(k->name, name, strlen(name) + 1);
		k->required = json_is_true(required);
		k->result = (int32_t)json_integer_value(result);
		s->nkinds++;
	}
	s->has_kinds = true;
	return GATE_ACCEPTED;
}

static bool read_notes(const json_t *notes, unsigned *out)
{
	size_t n = json_is_array(notes) ? json_array_size(notes) : SIZE_MAX;

	if (n > 8)
		return false;
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_array_get(notes, i));
		unsigned bit = 0;

		while (text && gate_note_word(bit) && strcmp(gate_note_word(bit), text) != 0)
			bit++;
		if (!text || !gate_note_word(bit) || *out & 1u << bit)
			return false;
		*out |= 1u << bit;
	}
	return true;
}

static enum gate_refusal read_object(const json_t *o, struct gate_status *s, struct err *err)
{
	unsigned lifecycle = 0, readiness = 0, reason = 0;
	const char *schema, *bad = NULL;
	enum gate_refusal r;
	uint64_t pid = 0;

	if (!json_is_object(o))
		return refuse(err, GATE_REFUSED_MALFORMED, "it is no JSON object", "");
	/* first: another version has other members */
	schema = json_string_value(json_object_get(o, "schema"));
	if (schema && strcmp(schema, GPUBPF_GATE_SCHEMA) != 0)
		return refuse(err, GATE_REFUSED_SCHEMA, "its schema is not known here", "");
	r = only_members(o, members, NELEM(members), err);
	if (r)
		return r;
	if (!schema)
		bad = "schema";
	else if (!token(o, s->token))
		bad = "token";
	else if (!number(o, "pid", INT32_MAX, &pid) || !pid)
		bad = "pid";
	else if (!number(o, "start_time", INT64_MAX, &s->start_time))
		bad = "start_time";
	else if (!number(o, "sequence", INT64_MAX, &s->sequence) || !s->sequence)
		bad = "sequence";
	else if (!word(o, "lifecycle", gate_lifecycle_word, &lifecycle))
		bad = "lifecycle";
	else if (!word(o, "readiness", gate_readiness_word, &readiness))
		bad = "readiness";
	else if (!word(o, "reason", gate_reason_word, &reason))
		bad = "reason";
	else if (!number(o, "now", INT64_MAX, &s->now) || !s->now)
		bad = "now";
	else if (!number(o, "first_touch", INT64_MAX, &s->first_touch))
		bad = "first_touch";
	else if (!number(o, "deadline", INT64_MAX, &s->deadline))
		bad = "deadline";
	else if (!number(o, "warmup", INT64_MAX, &s->warmup))
		bad = "warmup";
	else if (!read_notes(json_object_get(o, "notes"), &s->notes))
		bad = "notes";
	if (bad)
		return refuse(err, GATE_REFUSED_VALUE, "no shim writes such a value", bad);
	s->pid = (uint32_t)pid;
	s->lifecycle = lifecycle;
	s->readiness = readiness;
	s->reason = reason;
	return read_kinds(json_object_get(o, "kinds"), s, err);
}

enum gate_refusal gate_status_parse(const char *data, size_t n, struct gate_status *s, struct err *err)
{
	json_error_t why;
	enum gate_refusal r;
	json_t *o;

	memset(s, 0, sizeof(*s));
	if (n > GPUBPF_GATE_FILE_MAX)
		return refuse(err, GATE_REFUSED_OVERSIZE, "it is larger than any that a shim writes", "");
	o = json_loadb(data, n, JSON_REJECT_DUPLICATES, &why);
	if (!o && json_error_code(&why) == json_error_duplicate_key)
		return refuse(err, GATE_REFUSED_DUPLICATE, "a member stands twice", "");
	if (!o)
		return refuse(err, GATE_REFUSED_MALFORMED, "it is no whole JSON object", "");
	r = read_object(o, s, err);
	json_decref(o);
	return r ? r : gate_status_possible(s, err);
}

static const char *impossible_ready(const struct gate_status *s)
{
	bool any = false;

	if (s->lifecycle == GPUBPF_LIFECYCLE_IDLE || s->lifecycle == GPUBPF_LIFECYCLE_DISABLED)
		return "ready without the driver's callback";
	if (s->lifecycle != GPUBPF_LIFECYCLE_FINISHED)
		return "ready while its initializer has not finished";
	if (!s->first_touch)
		return "ready without a first touch";
	for (unsigned i = 0; i < s->nkinds; i++) {
		if (s->kinds[i].required && s->kinds[i].result)
			return "ready with a kind of record refused that is needed";
		any = any || s->kinds[i].required;
	}
	return s->has_kinds && !any ? "ready with no kind of record that is needed" : NULL;
}

enum gate_refusal gate_status_possible(const struct gate_status *s, struct err *err)
{
	const char *why = NULL;
	uint64_t least;

	if (s->readiness == GPUBPF_READINESS_FAILED && !s->reason)
		why = "failed without a reason";
	else if (s->readiness != GPUBPF_READINESS_FAILED && s->reason)
		why = "a reason without a failure";
	else if (!s->first_touch != !s->deadline)
		why = "a deadline belongs to a first touch";
	else if (s->first_touch > s->now)
		why = "its first touch is in its future";
	else if (__builtin_add_overflow(s->first_touch, s->warmup, &least) ||
		 (s->first_touch && s->deadline < least))
		why = "its deadline lies before the end of its warmup";
	else if (s->lifecycle == GPUBPF_LIFECYCLE_WARMUP && !s->warmup)
		why = "a warmup of no length";
	else if (s->readiness == GPUBPF_READINESS_READY)
		why = impossible_ready(s);
	return why ? refuse(err, GATE_REFUSED_STATE, why, "") : GATE_ACCEPTED;
}

/* Readiness is final, but for a kind of record that is lost later. */
static bool takes_back(const struct gate_status *old, const struct gate_status *s)
{
	if (old->readiness == GPUBPF_READINESS_PENDING)
		return false;
	if (old->readiness == GPUBPF_READINESS_READY)
		return s->readiness != GPUBPF_READINESS_READY && s->reason != GPUBPF_GATE_TRACE_FACILITY_LOST;
	return s->readiness != GPUBPF_READINESS_FAILED || s->reason != old->reason;
}

enum gate_refusal gate_status_check(const struct gate_status *s, const struct gate_expect *e, struct err *err)
{
	if (e->token && strcmp(s->token, e->token) != 0)
		return refuse(err, GATE_REFUSED_TOKEN, "its token is not this recording's", "");
	if (e->pid && s->pid != e->pid)
		return refuse(err, GATE_REFUSED_PID, "it is of another process than its name says", "");
	if (e->start_time && s->start_time != e->start_time)
		return refuse(err, GATE_REFUSED_START_TIME,
			      "it is of an earlier process with the same number", "");
	if (s->now < e->not_before)
		return refuse(err, GATE_REFUSED_OLDER,
			      "it is of the program that the process ran before this one", "");
	if (e->not_after && s->now > e->not_after)
		return refuse(err, GATE_REFUSED_VALUE, "it comes from the future", "");
	if (e->last && s->sequence <= e->last->sequence)
		return refuse(err, GATE_REFUSED_OLDER, "its sequence does not rise", "");
	if (e->last && takes_back(e->last, s))
		return refuse(err, GATE_REFUSED_LATCHED, "it takes back what was final", "");
	return GATE_ACCEPTED;
}
