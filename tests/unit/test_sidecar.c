/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sidecar may hold, and what is refused, each with the line or the member that it is about (R53). */
#include "t.h"

#include <errno.h>
#include <stdlib.h>

#include "join/join.h"
#include "sidecar/sidecar.h"
#include "util/err.h"

#define ID "0123456789abcdef0123456789abcdef"
#define HEAD "{\"schema\":\"gpubpf.sidecar/1\",\"capture\":\"" ID "\",\"nodes\":["
#define NODE(more) HEAD "{\"id\":\"a\",\"label\":\"b\"" more "}]}"
#define LINK(link) NODE(",\"links\":[" link "]")

static struct err why;
static struct sidecar *s;

static int parse_bytes(const char *data, size_t n)
{
	char *exact = malloc(n ? n : 1); /* the sanitizer sees what reads behind it */
	int rc;

	memcpy(exact, data, n);
	why.msg[0] = '\0';
	sidecar__free(s);
	rc = sidecar__parse("file", exact, n, &s, &why);
	free(exact);
	return rc;
}

static int parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

#define TAKEN(text)                                                                                          \
	do {                                                                                                 \
		int got = parse(text);                                                                       \
		CHECKF(got == 0 && s && !why.msg[0], "%d (%s): %s", got, why.msg, text);                     \
	} while (0)
#define REFUSED(part, text)                                                                                  \
	do {                                                                                                 \
		int got = parse(text);                                                                       \
		CHECKF(got == -EBADMSG && !s && strstr(why.msg, part) && !strncmp(why.msg, "file: ", 6),     \
		       "%d, '%s' without '%s': %.200s", got, why.msg, part, text);                           \
	} while (0)

static const char whole[] = HEAD
	"\n{\"id\":\"step\",\"label\":\"training step\",\"kind\":\"step\",\n"
	"\"attributes\":{\"batch\":32,\"loss\":\"0.5\",\"warm\":false}},\n"
	"{\"id\":\"gemm\",\"label\":\"gemm\",\"parent\":\"step\",\n"
	"\"interval\":{\"clock\":\"realtime\",\"start_ns\":5,\"end_ns\":9},\"links\":[\n"
	"{\"call\":{\"id\":17,\"entry_ns\":5}},{\"device_call\":{\"id\":9,\"correlation\":4}},\n"
	"{\"execution\":{\"id\":3,\"correlation\":0}},{\"correlation\":{\"session\":1,\"id\":4}},\n"
	"{\"external\":{\"session\":2,\"kind\":\"custom0\",\"id\":\"0x2a\"}}]}]}";

T(sidecar_whole)
{
	const struct sidecar_node *n;
	const struct sidecar_link *l;
	char text[256];

	TAKEN(whole);
	CHECK(!strcmp(sidecar__capture(s), ID) && sidecar__nodes(s) == 2 && sidecar__links(s) == 5);
	n = sidecar__node(s, 0);
	CHECK(!strcmp(n->id, "step") && !strcmp(n->label, "training step") && !strcmp(n->kind, "step"));
	CHECK(!strcmp(n->attributes, "{\"batch\":32,\"loss\":\"0.5\",\"warm\":false}"));
	CHECK(!n->parent && !n->has_interval && !n->nlinks && n->line == 2);
	n = sidecar__node(s, 1);
	CHECK(n->parent == 1 && !n->kind && !n->attributes && n->line == 4);
	CHECK(n->has_interval && n->realtime && n->start_ns == 5 && n->end_ns == 9);
	CHECK(n->first_link == 0 && n->nlinks == 5);
	l = sidecar__link(s, 0);
	CHECK(l->kind == SIDECAR_CALL && l->id == 17 && l->proof == 5 && l->node == 1);
	l = sidecar__link(s, 2);
	CHECK(l->kind == SIDECAR_EXECUTION && l->id == 3 && l->proof == 0);
	l = sidecar__link(s, 4);
	CHECK(l->kind == SIDECAR_EXTERNAL && l->id == 42 && l->proof == 2);
	CHECK(!strcmp(join_external_name(l->custom), "custom0"));
	CHECK(!strcmp(sidecar__describe(s, l, text, sizeof(text)),
		      "nodes[1].links[4] (line 4): external 0x2a of session 2"));
	TAKEN(HEAD "]}");
	TAKEN(NODE(""));
}

T(sidecar_names_the_member_that_is_wrong)
{
	REFUSED("there is no member 'colour'", HEAD "],\"colour\":1}");
	REFUSED("line 1: nodes[0]: there is no member 'lable'; did you mean 'label'?",
		HEAD "{\"id\":\"a\",\"lable\":\"b\"}]}");
	REFUSED("line 3: nodes[1].label: it is missing",
		HEAD "{\"id\":\"a\",\"label\":\"b\"},\n\n{\"id\":\"c\"}]}");
	REFUSED("schema: it is missing", "{\"capture\":\"" ID "\",\"nodes\":[]}");
	REFUSED("schema: this gpubpf reads", "{\"schema\":\"gpubpf.sidecar/2\",\"other\":1}");
	REFUSED("capture: it is missing", "{\"schema\":\"gpubpf.sidecar/1\",\"nodes\":[]}");
	REFUSED("capture: the identity of a capture",
		"{\"schema\":\"gpubpf.sidecar/1\",\"capture\":\"ABC\",\"nodes\":[]}");
	REFUSED("nodes: it is missing", "{\"schema\":\"gpubpf.sidecar/1\",\"capture\":\"" ID "\"}");
	REFUSED("nodes: a list is needed, not an object",
		"{\"schema\":\"gpubpf.sidecar/1\",\"capture\":\"" ID "\",\"nodes\":{}}");
	REFUSED("nodes[0]: an object is needed, not null", HEAD "null]}");
	REFUSED("the whole: an object is needed, not a list", "[]");
	REFUSED("nodes[0].kind: a text is needed, not a whole number", NODE(",\"kind\":1"));
	REFUSED("nodes[0].kind: a text of 1 … 64 bytes", NODE(",\"kind\":\"\""));
	REFUSED("nodes[0].kind: a text is needed, not null", NODE(",\"kind\":null"));
	REFUSED("nodes[0].attributes: an object", NODE(",\"attributes\":[]"));
	REFUSED("nodes[0].attributes.x: a text, a whole number", NODE(",\"attributes\":{\"x\":1.5}"));
	REFUSED("nodes[0].attributes.x: a text, a whole number", NODE(",\"attributes\":{\"x\":{}}"));
	REFUSED("nodes[0].interval: there is no member 'end'",
		NODE(",\"interval\":{\"clock\":\"monotonic\",\"start_ns\":1,\"end\":2}"));
	REFUSED("nodes[0].interval.clock: it is monotonic or realtime",
		NODE(",\"interval\":{\"clock\":\"tai\",\"start_ns\":1,\"end_ns\":2}"));
	REFUSED("nodes[0].interval.end_ns: it is before start_ns",
		NODE(",\"interval\":{\"clock\":\"realtime\",\"start_ns\":3,\"end_ns\":2}"));
	REFUSED("nodes[0].interval.start_ns: -1 is not in",
		NODE(",\"interval\":{\"clock\":\"realtime\",\"start_ns\":-1,\"end_ns\":2}"));
	REFUSED("nodes[0].interval.start_ns: a whole number is needed, not a number with a fraction",
		NODE(",\"interval\":{\"clock\":\"realtime\",\"start_ns\":1e3,\"end_ns\":2}"));
	REFUSED("nodes[0].parent: no node before this one", NODE(",\"parent\":\"c\""));
	REFUSED("nodes[0].parent: no node before this one", NODE(",\"parent\":\"a\"")); /* itself */
	REFUSED("nodes[1].id: nodes[0] has the same",
		HEAD "{\"id\":\"a\",\"label\":\"b\"},{\"id\":\"a\",\"label\":\"c\"}]}");
}

T(sidecar_links_are_explicit)
{
	REFUSED("nodes[0].links: a list", NODE(",\"links\":{}"));
	REFUSED("nodes[0].links[0]: an object", LINK("7"));
	REFUSED("nodes[0].links[0]: it needs one of", LINK("{}"));
	REFUSED("nodes[0].links[0]: it needs one of",
		LINK("{\"call\":{\"id\":1,\"entry_ns\":2},\"execution\":"
		     "{\"id\":1,\"correlation\":2}}"));
	REFUSED("nodes[0].links[0]: there is no member 'label'", LINK("{\"label\":\"cuLaunchKernel\"}"));
	REFUSED("nodes[0].links[0].call.entry_ns: it is missing", LINK("{\"call\":{\"id\":1}}"));
	REFUSED("nodes[0].links[0].call: there is no member 'name'",
		LINK("{\"call\":{\"id\":1,\"entry_ns\":2,\"name\":\"x\"}}"));
	REFUSED("nodes[0].links[0].call.id: 0 is not in 1", LINK("{\"call\":{\"id\":0,\"entry_ns\":2}}"));
	REFUSED("nodes[0].links[0].call.id: a whole number",
		LINK("{\"call\":{\"id\":\"1\",\"entry_ns\":2}}"));
	REFUSED("nodes[0].links[0].execution.correlation: 4294967296 is not in",
		LINK("{\"execution\":{\"id\":1,\"correlation\":4294967296}}"));
	REFUSED("nodes[0].links[0].correlation.id: 0 is not in",
		LINK("{\"correlation\":{\"session\":1,\"id\":0}}"));
	REFUSED("nodes[0].links[0].external.kind: there is no such kind",
		LINK("{\"external\":{\"session\":1,\"kind\":\"mine\",\"id\":\"0x1\"}}"));
	REFUSED("nodes[0].links[0].external.id: a text like",
		LINK("{\"external\":{\"session\":1,\"kind\":\"custom0\",\"id\":\"42\"}}"));
	REFUSED("nodes[0].links[1]: it is the same as links[0]",
		LINK("{\"call\":{\"id\":1,\"entry_ns\":2}},{\"call\":{\"id\":1,\"entry_ns\":2}}"));
	TAKEN(LINK(
		"{\"execution\":{\"id\":1,\"correlation\":2}},{\"device_call\":{\"id\":1,\"correlation\":2}}"));
}

T(sidecar_members_stand_once)
{
	REFUSED("line 1", NODE(",\"id\":\"c\""));
	CHECKF(strstr(why.msg, "duplicate"), "%s", why.msg);
	REFUSED("line 1", LINK("{\"call\":{\"id\":1,\"entry_ns\":2,\"id\":1}}"));
	CHECKF(strstr(why.msg, "duplicate"), "%s", why.msg);
}

T(sidecar_cut_anywhere)
{
	for (size_t n = 0; n + 1 < sizeof(whole); n++)
		CHECKF(parse_bytes(whole, n) == -EBADMSG && why.msg[0] && !s, "%zu: %s", n, why.msg);
}

/* Any byte may be anything: an error that says something, or a sidecar. */
T(sidecar_bytes_of_any_kind)
{
	static const char bytes[] = { 0, '"', '{', '}', '[', ',', '\\', '9', '-', 'e', (char)0xff, '\n' };
	char changed[sizeof(whole)];

	for (size_t i = 0; i + 1 < sizeof(whole); i++)
		for (size_t b = 0; b < sizeof(bytes); b++) {
			int rc;

			memcpy(changed, whole, sizeof(whole));
			changed[i] = bytes[b];
			rc = parse_bytes(changed, sizeof(whole) - 1);
			CHECKF(rc ? rc == -EBADMSG && why.msg[0] && !s : s && !why.msg[0], "%zu: %d %s", i,
			       rc, why.msg);
		}
}

T(sidecar_hostile_texts)
{
	static const char nul[] = HEAD "{\"id\":\"a\0b\",\"label\":\"b\"}]}";

	CHECK(parse_bytes(nul, sizeof(nul) - 1) == -EBADMSG);
	REFUSED("line 1", HEAD "{\"id\":\"a\\u0000b\",\"label\":\"b\"}]}");
	REFUSED("line 1", HEAD "{\"id\":\"\xff\",\"label\":\"b\"}]}");
	REFUSED("line 1", HEAD "{\"id\":\"\xed\xa0\x80\",\"label\":\"b\"}]}"); /* half of a pair */
	REFUSED("nodes[0].label: it has control characters",
		HEAD "{\"id\":\"a\",\"label\":\"\\u001b[2J\"}]}");
	REFUSED("nodes[0].label: it has control characters", HEAD "{\"id\":\"a\",\"label\":\"\\u202e\"}]}");
	REFUSED("line 1",
		NODE(",\"interval\":{\"clock\":\"realtime\",\"start_ns\":99999999999999999999,\"end_ns\":1}"));
	REFUSED("line 1", NODE(",\"interval\":{\"clock\":\"realtime\",\"start_ns\":1e999,\"end_ns\":1}"));
	REFUSED("there is no member '\\x1b[2J'", HEAD "],\"\\u001b[2J\":1}");
	REFUSED("line 1", "");
	REFUSED("line 1", HEAD "]} x");
}

static char *repeated(const char *head, const char *each, size_t n, const char *tail)
{
	size_t one = strlen(each), at = strlen(head);
	char *text = malloc(at + n * one + strlen(tail) + 1);

	memcpy(text, head, at);
	for (size_t i = 0; i < n; i++, at += one)
		memcpy(text + at, each, one);
	strcpy(text + at, tail);
	return text;
}

T(sidecar_limits)
{
	char *text = repeated("", "[", 1u << 20, "");

	CHECK(parse(text) == -EBADMSG && strstr(why.msg, "line 1: nested more than"));
	free(text);
	text = repeated("", "{\"a\":", 100000, "");
	CHECK(parse(text) == -EBADMSG && strstr(why.msg, "nested more than"));
	free(text);
	text = repeated("[", "[],", SIDECAR_VALUES_MAX / 2, "[]]");
	CHECK(parse(text) == -EBADMSG && strstr(why.msg, "values"));
	free(text);
	text = repeated(HEAD, "1,", SIDECAR_NODES_MAX, "1]}");
	CHECK(parse(text) == -EBADMSG && strstr(why.msg, "nodes: at most 100000"));
	free(text);
	text = repeated(HEAD "{\"id\":\"a\",\"label\":\"", "x", SIDECAR_LABEL_MAX, "\"}]}");
	TAKEN(text);
	free(text);
	text = repeated(HEAD "{\"id\":\"a\",\"label\":\"", "x", SIDECAR_LABEL_MAX + 1, "\"}]}");
	REFUSED("nodes[0].label: a text of 1 … 512 bytes is needed, not of 513", text);
	free(text);
	text = repeated(HEAD "{\"label\":\"a\",\"id\":\"", "x", SIDECAR_ID_MAX + 1, "\"}]}");
	REFUSED("nodes[0].id: a text of 1 … 128 bytes", text);
	free(text);
	why.msg[0] = '\0';
	CHECK(sidecar__read("/dev/zero", &s, &why) == -EFBIG && strstr(why.msg, "32 MiB"));
	s = NULL;
	why.msg[0] = '\0';
	CHECK(sidecar__read("/nowhere/at/all", &s, &why) == -ENOENT &&
	      strstr(why.msg, "/nowhere/at/all: No such"));
}

T(sidecar_words_are_of_the_schemas)
{
	char text[256] = "";

	for (unsigned i = 0; i < SIDECAR_KINDS; i++)
		strcat(strcat(text, i ? "|" : ""), sidecar_kind_name((enum sidecar_kind)i));
	CHECK(!strcmp(text, SIDECAR_KIND_WORDS));
	text[0] = '\0';
	for (unsigned i = 0; i < SIDECAR_STATUSES; i++)
		strcat(strcat(text, i ? "|" : ""), sidecar_status_name((enum sidecar_status)i));
	CHECK(!strcmp(text, SIDECAR_STATUS_WORDS));
	text[0] = '\0';
	for (unsigned i = SIDECAR_INSIDE; i < SIDECAR_INTERVALS; i++)
		strcat(strcat(text, i > SIDECAR_INSIDE ? "|" : ""),
		       sidecar_interval_name((enum sidecar_interval)i));
	CHECK(!strcmp(text, SIDECAR_INTERVAL_WORDS));
	text[0] = '\0';
	for (unsigned i = 0; i < SIDECAR_USES; i++)
		strcat(strcat(text, i ? "|" : ""), sidecar_use_name((enum sidecar_use)i));
	CHECK(!strcmp(text, SIDECAR_USE_WORDS));
	text[0] = '\0';
	for (unsigned i = 0; i < SIDECAR_CARRIERS; i++)
		strcat(strcat(text, i ? "|" : ""), sidecar_carrier_name((enum sidecar_carrier)i));
	CHECK(!strcmp(text, SIDECAR_CARRIER_WORDS));
}

int main(int argc, char **argv)
{
	int status = t_main(argc, argv);

	sidecar__free(s);
	return status;
}
