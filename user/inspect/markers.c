/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of NVTX, a line each: with `inspect --records`, behind all others, as names come when they come. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "inspect/inspect.h"
#include "inspect/jsonsafe.h"
#include "join/join.h"
#include "model/procs.h"
#include "util/fmt.h"

static const char *event_of(const struct join_marker *m)
{
	return m->kind == GPUBPF_MARKER_START ? "start" : m->kind == GPUBPF_MARKER_END ? "end" : "mark";
}

static double as_double(uint64_t bits)
{
	double d;

	memcpy(&d, &bits, sizeof(d));
	return d;
}

/* Of a kind that CUPTI has for other things: its bytes. Of a structure: nothing. */
static void payload_text(char *buf, size_t size, const struct join_marker *m)
{
	switch (m->payload_kind) {
	case GPUBPF_PAYLOAD_UINT64:
		snprintf(buf, size, "%" PRIu64, m->payload);
		break;
	case GPUBPF_PAYLOAD_INT64:
		snprintf(buf, size, "%" PRId64, (int64_t)m->payload);
		break;
	case GPUBPF_PAYLOAD_DOUBLE:
		snprintf(buf, size, "%.17g", as_double(m->payload));
		break;
	case GPUBPF_PAYLOAD_EXTENDED:
		snprintf(buf, size, "extended");
		break;
	default:
		snprintf(buf, size, "0x%" PRIx64, m->payload);
	}
}

static void put_name(const struct join *j, FILE *f, const char *what, bool has, uint32_t number, uint32_t id)
{
	const char *text = has ? join__name(j, number) : NULL;

	if (!has)
		return;
	fprintf(f, " %s=", what);
	if (text)
		inspect_put_quoted(f, text);
	else
		fprintf(f, "<unresolved 0x%x>", id);
}

static void marker_text(const struct join *j, const struct join_marker *m, FILE *f)
{
	char payload[64];

	fputs("nvtx", f);
	if (m->has_time)
		fprintf(f, " t=%" PRIu64, m->time);
	fprintf(f, " pid=%u", m->session->proc->tgid);
	if (m->has_thread)
		fprintf(f, " tid=%u", m->thread);
	fprintf(f, " event=%s id=%u", event_of(m), m->id);
	if (m->has_end)
		fprintf(f, " dur_ns=%" PRIu64, m->end - m->time);
	if (m->kind != GPUBPF_MARKER_INSTANT && !m->paired)
		fputs(m->kind == GPUBPF_MARKER_START ? " no_end" : " no_start", f);
	if (m->has_category)
		fprintf(f, " category=%u", m->category);
	if (m->has_color)
		fprintf(f, " color=0x%08x", m->color);
	if (m->has_payload) {
		payload_text(payload, sizeof(payload), m);
		fprintf(f, " payload=%s", payload);
	}
	put_name(j, f, "domain", m->has_domain, m->domain, m->domain_id);
	put_name(j, f, "name", m->has_name, m->name, m->name_id);
	putc('\n', f);
}

static void json_name(const struct join *j, json_t *o, const char *what, bool has, uint32_t number,
		      uint32_t id)
{
	const char *text = has ? join__name(j, number) : NULL;
	char key[32];

	if (text) {
		json_object_set_new(o, what, json_safe_string(text));
	} else if (has) {
		snprintf(key, sizeof(key), "%s_unresolved", what);
		json_put_int(o, key, id);
	}
}

/* A number where JSON has one: 64 bits without a sign and what is not finite are text. */
static json_t *payload_json(const struct join_marker *m)
{
	char text[64];

	payload_text(text, sizeof(text), m);
	if (m->payload_kind == GPUBPF_PAYLOAD_INT64 ||
	    (m->payload_kind == GPUBPF_PAYLOAD_UINT64 && m->payload <= INT64_MAX))
		return json_integer((json_int_t)m->payload);
	if (m->payload_kind == GPUBPF_PAYLOAD_DOUBLE && isfinite(as_double(m->payload)))
		return json_real(as_double(m->payload));
	return json_string(text);
}

static json_t *marker_json(const struct join *j, const struct join_marker *m)
{
	const char *kind = join_payload_name(m->payload_kind);
	char color[16];
	json_t *o = json_object();

	json_object_set_new(o, "record", json_string("nvtx"));
	json_put_if(o, "t_ns", m->has_time, m->time);
	json_put_int(o, "pid", m->session->proc->tgid);
	json_put_if(o, "tid", m->has_thread, m->thread);
	json_object_set_new(o, "event", json_string(event_of(m)));
	json_put_int(o, "id", m->id);
	json_put_if(o, "dur_ns", m->has_end, m->end - m->time);
	if (m->kind != GPUBPF_MARKER_INSTANT && !m->paired)
		json_object_set_new(o, m->kind == GPUBPF_MARKER_START ? "no_end" : "no_start", json_true());
	json_put_if(o, "category", m->has_category, m->category);
	snprintf(color, sizeof(color), "0x%08x", m->color);
	json_put_text(o, "color", m->has_color ? color : NULL);
	if (m->has_payload) {
		json_object_set_new(o, "payload_kind",
				    kind ? json_string(kind) : json_integer(m->payload_kind));
		if (m->payload_kind != GPUBPF_PAYLOAD_EXTENDED)
			json_object_set_new(o, "payload", payload_json(m));
	}
	json_name(j, o, "domain", m->has_domain, m->domain, m->domain_id);
	json_name(j, o, "name", m->has_name, m->name, m->name_id);
	return o;
}

int inspect_markers(const struct inspection *s, FILE *f, bool json)
{
	size_t n = s->join ? join__markers(s->join) : 0;
	int bad = 0;

	for (size_t i = 0; !bad && i < n; i++) {
		struct join_marker m;
		json_t *o;

		join__marker(s->join, i, &m);
		if (!json) {
			marker_text(s->join, &m, f);
		} else {
			o = marker_json(s->join, &m);
			bad = json_dumpf(o, f, JSON_COMPACT);
			json_decref(o);
			putc('\n', f);
		}
		bad = bad || ferror(f);
	}
	return bad ? -EIO : 0;
}
