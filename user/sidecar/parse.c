// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a sidecar. Strict: what is not described in sidecar.h is an error that names the line and the member. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "join/join.h"
#include "sidecar/priv.h"
#include "util/err.h"
#include "util/file.h"
#include "util/fmt.h"
#include "util/hmap.h"
#include "util/opts.h"

#define NOWHERE SIZE_MAX
#define NELEM(a) (sizeof(a) / sizeof((a)[0]))

struct parse {
	struct sidecar *s;
	struct sidecar_scan scan;
	struct err *err;
	size_t node, link; /* where it stands */
	const char *in;    /* a member of these that is an object; NULL */
	struct hmap ids;   /* struct known_id */
	struct hmap seen;  /* struct seen_link, of one node */
};

struct known_id {
	uint64_t key[2]; /* two hashes */
	size_t number;   /* + 1 */
};

struct seen_link {
	uint64_t key[4];
	size_t number; /* + 1 */
};

/* ---- What is wrong ---- */

/* `member` NULL: what it stands in. Texts of the file come here safe. */
__attribute__((format(printf, 3, 4))) static int bad(struct parse *p, const char *member, const char *fmt,
						     ...)
{
	char where[512] = "", what[512];
	size_t n = 0;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	if (p->node != NOWHERE && p->node < p->scan.n)
		n += (size_t)snprintf(where, sizeof(where), "line %u: ", p->scan.line[p->node]);
	if (p->node != NOWHERE)
		n += (size_t)snprintf(where + n, sizeof(where) - n, "nodes[%zu]", p->node);
	if (p->link != NOWHERE)
		n += (size_t)snprintf(where + n, sizeof(where) - n, ".links[%zu]", p->link);
	if (p->in)
		n += (size_t)snprintf(where + n, sizeof(where) - n, ".%s", p->in);
	if (member)
		snprintf(where + n, sizeof(where) - n, "%s%s", p->node != NOWHERE ? "." : "", member);
	return err_set(p->err, -EBADMSG, "%s: %s: %s", p->s->name, where[0] ? where : "the whole", what);
}

static const char *type_of(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a text";
	case JSON_INTEGER:
		return "a whole number";
	case JSON_REAL:
		return "a number with a fraction or an exponent";
	case JSON_NULL:
		return "null (leave out what is absent)";
	default:
		return "true or false";
	}
}

/* ---- Members ---- */

static int only(struct parse *p, const json_t *o, const char *const *names, size_t n)
{
	const char *name, *nearest;
	char safe[128];
	json_t *v;

	json_object_foreach((json_t *)o, name, v)
	{
		size_t i = 0;

		while (i < n && strcmp(names[i], name) != 0)
			i++;
		if (i < n)
			continue;
		nearest = opts_nearest(name, names, n);
		fmt_safe(safe, sizeof(safe), name);
		return nearest ? bad(p, NULL, "there is no member '%s'; did you mean '%s'?", safe, nearest)
			       : bad(p, NULL, "there is no member '%s'", safe);
	}
	return 0;
}

static const json_t *member(struct parse *p, const json_t *o, const char *name, bool needed, int *rc)
{
	const json_t *v = json_object_get(o, name);

	*rc = !v && needed ? bad(p, name, "it is missing") : 0;
	return v;
}

static int number(struct parse *p, const json_t *o, const char *name, uint64_t min, uint64_t max,
		  uint64_t *out)
{
	const json_t *v;
	int rc;

	v = member(p, o, name, true, &rc);
	if (!v)
		return rc;
	if (!json_is_integer(v))
		return bad(p, name, "a whole number is needed, not %s", type_of(v));
	if (json_integer_value(v) < 0 || (uint64_t)json_integer_value(v) < min ||
	    (uint64_t)json_integer_value(v) > max)
		return bad(p, name, "%lld is not in %llu … %llu", (long long)json_integer_value(v),
			   (unsigned long long)min, (unsigned long long)max);
	*out = (uint64_t)json_integer_value(v);
	return 0;
}

/* *out is NULL where it is absent and may be. */
static int text(struct parse *p, const json_t *o, const char *name, bool needed, size_t max, const char **out)
{
	const json_t *v;
	int rc;

	*out = NULL;
	v = member(p, o, name, needed, &rc);
	if (!v)
		return rc;
	if (!json_is_string(v))
		return bad(p, name, "a text is needed, not %s", type_of(v));
	if (!json_string_length(v) || json_string_length(v) > max)
		return bad(p, name, "a text of 1 … %zu bytes is needed, not of %zu", max,
			   json_string_length(v));
	*out = json_string_value(v);
	return 0;
}

/* What a terminal and a viewer show as it is. */
static bool shown_as_is(const char *s)
{
	size_t n = 4 * strlen(s) + 1;
	char *safe = malloc(n);
	bool same = safe && strcmp(fmt_safe(safe, n, s), s) == 0;

	free(safe);
	return same;
}

static int copy_text(struct parse *p, const json_t *o, const char *name, bool needed, size_t max, char **out)
{
	const char *s;
	int rc = text(p, o, name, needed, max, &s);

	if (!rc && s && !shown_as_is(s))
		rc = bad(p, name, "it has control characters");
	*out = !rc && s ? strdup(s) : NULL;
	return !rc && s && !*out ? -ENOMEM : rc;
}

/* An object that is a member of the place; p->in is then its name. */
static int object(struct parse *p, const json_t *v, const char *name, const char *const *names, size_t n)
{
	if (!json_is_object(v))
		return bad(p, name, "an object is needed, not %s", type_of(v));
	p->in = name;
	return only(p, v, names, n);
}

/* ---- Links ---- */

/* As table external_ids has it. */
static int external(struct parse *p, const json_t *v, struct sidecar_link *l)
{
	static const char *const names[] = { "session", "kind", "id" };
	const char *kind, *id;
	char *end;
	int rc = object(p, v, "external", names, NELEM(names));

	if (!rc)
		rc = number(p, v, "session", 1, UINT32_MAX, &l->proof);
	if (!rc)
		rc = text(p, v, "kind", true, SIDECAR_KIND_MAX, &kind);
	if (!rc)
		rc = text(p, v, "id", true, 18, &id);
	if (rc)
		return rc;
	for (l->custom = 0; l->custom < 64; l->custom++)
		if (join_external_name(l->custom) && !strcmp(join_external_name(l->custom), kind))
			break;
	if (l->custom == 64)
		return bad(p, "kind", "there is no such kind: unknown, openacc, custom0, custom1 or custom2");
	if (strncmp(id, "0x", 2) != 0 || !id[2] || strspn(id + 2, "0123456789abcdef") != strlen(id + 2))
		return bad(p, "id", "a text like \"0x2a\" is needed, as external_ids has it");
	l->id = strtoull(id + 2, &end, 16);
	return 0;
}

static int by_row(struct parse *p, const json_t *v, const char *name, const char *fact, uint64_t max,
		  struct sidecar_link *l)
{
	const char *const names[] = { "id", fact };
	int rc = object(p, v, name, names, NELEM(names));

	if (!rc)
		rc = number(p, v, "id", 1, INT64_MAX, &l->id);
	return rc ? rc : number(p, v, fact, 0, max, &l->proof);
}

static int correlation(struct parse *p, const json_t *v, struct sidecar_link *l)
{
	static const char *const names[] = { "session", "id" };
	int rc = object(p, v, "correlation", names, NELEM(names));

	if (!rc)
		rc = number(p, v, "session", 1, UINT32_MAX, &l->proof);
	return rc ? rc : number(p, v, "id", 1, UINT32_MAX, &l->id);
}

static struct sidecar_link *new_link(struct sidecar *s)
{
	if (s->nlinks == s->link_room) {
		size_t room = s->link_room ? s->link_room * 2 : 64;
		struct sidecar_link *grown = realloc(s->link, room * sizeof(*grown));

		if (!grown)
			return NULL;
		s->link = grown;
		s->link_room = room;
	}
	memset(&s->link[s->nlinks], 0, sizeof(s->link[0]));
	return &s->link[s->nlinks++];
}

static int once(struct parse *p, const struct sidecar_link *l)
{
	uint64_t key[4] = { (uint64_t)l->kind << 32 | l->custom, l->id, l->proof, 0 };
	struct seen_link *seen = hmap__put(&p->seen, key);

	if (!seen)
		return -ENOMEM;
	if (seen->number)
		return bad(p, NULL, "it is the same as links[%zu]", seen->number - 1);
	seen->number = p->link + 1;
	return 0;
}

static int link_of(struct parse *p, const json_t *v)
{
	static const char *const names[SIDECAR_KINDS] = { "call", "device_call", "execution", "correlation",
							  "external" };
	const char *name = NULL;
	struct sidecar_link *l;
	const json_t *inner = NULL;
	int rc;

	if (!json_is_object(v))
		return bad(p, NULL, "an object is needed, not %s", type_of(v));
	rc = only(p, v, names, NELEM(names));
	if (rc)
		return rc;
	if (json_object_size(v) != 1)
		return bad(p, NULL,
			   "it needs one of call, device_call, execution, correlation and external, "
			   "and one only");
	if (p->s->nlinks == SIDECAR_LINKS_MAX)
		return bad(p, NULL, "more than %u links: split the file", SIDECAR_LINKS_MAX);
	l = new_link(p->s);
	if (!l)
		return -ENOMEM;
	l->node = p->node;
	while (!(inner = json_object_get(v, names[l->kind])))
		l->kind++;
	name = names[l->kind];
	if (l->kind == SIDECAR_CALL)
		rc = by_row(p, inner, name, "entry_ns", INT64_MAX, l);
	else if (l->kind == SIDECAR_CORRELATION)
		rc = correlation(p, inner, l);
	else if (l->kind == SIDECAR_EXTERNAL)
		rc = external(p, inner, l);
	else
		rc = by_row(p, inner, name, "correlation", UINT32_MAX, l);
	p->in = NULL;
	return rc ? rc : once(p, l);
}

static int links(struct parse *p, struct sidecar_node *node, const json_t *v)
{
	int rc = 0;

	node->first_link = p->s->nlinks;
	if (!v)
		return 0;
	if (!json_is_array(v))
		return bad(p, "links", "a list is needed, not %s", type_of(v));
	hmap__init(&p->seen, sizeof(((struct seen_link *)0)->key), sizeof(struct seen_link));
	for (p->link = 0; !rc && p->link < json_array_size(v); p->link++)
		rc = link_of(p, json_array_get(v, p->link));
	hmap__clear(&p->seen);
	p->link = NOWHERE;
	node->nlinks = p->s->nlinks - node->first_link;
	return rc;
}

/* ---- Nodes ---- */

static int attributes(struct parse *p, struct sidecar_node *node, const json_t *o)
{
	const char *name;
	char safe[64];
	json_t *v;

	if (!o)
		return 0;
	if (!json_is_object(o))
		return bad(p, "attributes", "an object is needed, not %s", type_of(o));
	if (json_object_size(o) > SIDECAR_ATTRIBUTES_MAX)
		return bad(p, "attributes", "at most %u are read, not %zu", SIDECAR_ATTRIBUTES_MAX,
			   json_object_size(o));
	p->in = "attributes";
	json_object_foreach((json_t *)o, name, v)
	{
		fmt_safe(safe, sizeof(safe), name);
		if (!name[0] || strlen(name) > SIDECAR_KIND_MAX)
			return bad(p, safe, "a name of 1 … %u bytes is needed", SIDECAR_KIND_MAX);
		if (!json_is_string(v) && !json_is_integer(v) && !json_is_boolean(v))
			return bad(p, safe, "a text, a whole number, true or false is needed, not %s",
				   type_of(v));
		if (json_is_string(v) && json_string_length(v) > SIDECAR_VALUE_MAX)
			return bad(p, safe, "a text of at most %u bytes is needed, not of %zu",
				   SIDECAR_VALUE_MAX, json_string_length(v));
	}
	p->in = NULL;
	node->attributes = json_dumps(o, JSON_COMPACT);
	if (!node->attributes)
		return -ENOMEM;
	return shown_as_is(node->attributes) ? 0 : bad(p, "attributes", "it has control characters");
}

static int interval(struct parse *p, struct sidecar_node *node, const json_t *v)
{
	static const char *const names[] = { "clock", "start_ns", "end_ns" };
	const char *clock;
	int rc;

	if (!v)
		return 0;
	rc = object(p, v, "interval", names, NELEM(names));
	if (!rc)
		rc = text(p, v, "clock", true, SIDECAR_KIND_MAX, &clock);
	if (!rc && strcmp(clock, "monotonic") != 0 && strcmp(clock, "realtime") != 0)
		rc = bad(p, "clock", "it is monotonic or realtime");
	if (!rc)
		rc = number(p, v, "start_ns", 0, INT64_MAX, &node->start_ns);
	if (!rc)
		rc = number(p, v, "end_ns", 0, INT64_MAX, &node->end_ns);
	if (rc)
		return rc;
	if (node->end_ns < node->start_ns)
		return bad(p, "end_ns", "it is before start_ns");
	node->has_interval = true;
	node->realtime = clock[0] == 'r';
	p->in = NULL;
	return 0;
}

/* Texts of one hash are told apart by another one: 128 bits. */
static void hash_id(const char *id, uint64_t key[2])
{
	key[0] = UINT64_C(0xcbf29ce484222325);
	key[1] = UINT64_C(0x9e3779b97f4a7c15);
	for (; *id; id++) {
		key[0] = (key[0] ^ (unsigned char)*id) * UINT64_C(0x100000001b3);
		key[1] = (key[1] ^ (unsigned char)*id) * UINT64_C(0xd6e8feb86659fd93);
		key[1] ^= key[1] >> 31;
	}
}

static struct known_id *find(struct parse *p, const char *id)
{
	uint64_t key[2];
	struct known_id *k;

	hash_id(id, key);
	k = hmap__get(&p->ids, key);
	return k && strcmp(p->s->node[k->number - 1].id, id) == 0 ? k : NULL;
}

static int name_it(struct parse *p, const json_t *v, struct sidecar_node *node)
{
	char safe[4 * SIDECAR_ID_MAX + 1];
	struct known_id *k;
	uint64_t key[2];
	const char *parent;
	int rc = copy_text(p, v, "id", true, SIDECAR_ID_MAX, &node->id);

	if (!rc)
		rc = text(p, v, "parent", false, SIDECAR_ID_MAX, &parent);
	if (rc)
		return rc;
	if (parent) {
		k = find(p, parent);
		if (!k)
			return bad(p, "parent", "no node before this one has the id '%s'",
				   fmt_safe(safe, sizeof(safe), parent));
		node->parent = k->number;
	}
	k = find(p, node->id);
	if (k)
		return bad(p, "id", "nodes[%zu] has the same", k->number - 1);
	hash_id(node->id, key);
	k = hmap__put(&p->ids, key);
	if (!k)
		return -ENOMEM;
	k->number = p->node + 1;
	return 0;
}

static int node_of(struct parse *p, const json_t *v, struct sidecar_node *node)
{
	static const char *const names[] = { "id",         "label",    "kind", "parent",
					     "attributes", "interval", "links" };
	int rc;

	if (!json_is_object(v))
		return bad(p, NULL, "an object is needed, not %s", type_of(v));
	node->line = p->node < p->scan.n ? p->scan.line[p->node] : 0;
	rc = only(p, v, names, NELEM(names));
	if (!rc)
		rc = name_it(p, v, node);
	if (!rc)
		rc = copy_text(p, v, "label", true, SIDECAR_LABEL_MAX, &node->label);
	if (!rc)
		rc = copy_text(p, v, "kind", false, SIDECAR_KIND_MAX, &node->kind);
	if (!rc)
		rc = attributes(p, node, json_object_get(v, "attributes"));
	if (!rc)
		rc = interval(p, node, json_object_get(v, "interval"));
	return rc ? rc : links(p, node, json_object_get(v, "links"));
}

static int whole(struct parse *p, const json_t *o)
{
	static const char *const names[] = { "schema", "capture", "nodes" };
	struct sidecar *s = p->s;
	const json_t *nodes;
	const char *schema, *capture;
	int rc;

	if (!json_is_object(o))
		return bad(p, NULL, "an object is needed, not %s", type_of(o));
	/* first: another version has other members */
	rc = text(p, o, "schema", true, 256, &schema);
	if (!rc && strcmp(schema, SIDECAR_SCHEMA) != 0)
		rc = bad(p, "schema", "this gpubpf reads \"" SIDECAR_SCHEMA "\" and no other");
	if (!rc)
		rc = only(p, o, names, NELEM(names));
	if (!rc)
		rc = text(p, o, "capture", true, 256, &capture);
	if (rc)
		return rc;
	if (strlen(capture) != sizeof(s->capture) - 1 ||
	    strspn(capture, "0123456789abcdef") != sizeof(s->capture) - 1)
		return bad(
			p, "capture",
			"the identity of a capture is needed: 32 hexadecimal digits, as `gpubpf export --format "
			"json --table capture` has it in identity");
	memcpy(s->capture, capture, sizeof(s->capture));
	nodes = member(p, o, "nodes", true, &rc);
	if (!nodes)
		return rc;
	if (!json_is_array(nodes))
		return bad(p, "nodes", "a list is needed, not %s", type_of(nodes));
	if (json_array_size(nodes) > SIDECAR_NODES_MAX)
		return bad(p, "nodes", "at most %u are read, not %zu: split the file", SIDECAR_NODES_MAX,
			   json_array_size(nodes));
	s->node = calloc(json_array_size(nodes) + 1, sizeof(*s->node));
	if (!s->node)
		return -ENOMEM;
	for (p->node = 0; !rc && p->node < json_array_size(nodes); p->node++) {
		s->nnodes++;
		rc = node_of(p, json_array_get(nodes, p->node), &s->node[p->node]);
	}
	return rc;
}

static int load(struct parse *p, const char *data, size_t n)
{
	json_error_t why;
	char safe[512];
	json_t *o;
	int rc = sidecar_scan(data, n, &p->scan, safe, sizeof(safe));

	if (rc == -E2BIG)
		return err_set(p->err, -EBADMSG, "%s: %s", p->s->name, safe);
	if (rc)
		return rc;
	o = json_loadb(data, n, JSON_REJECT_DUPLICATES, &why);
	if (!o && json_error_code(&why) == json_error_out_of_memory)
		return -ENOMEM;
	if (!o)
		return err_set(p->err, -EBADMSG, "%s: line %d, column %d: no JSON: %s", p->s->name, why.line,
			       why.column, fmt_safe(safe, sizeof(safe), why.text));
	rc = whole(p, o);
	json_decref(o);
	return rc;
}

int sidecar__parse(const char *name, const char *data, size_t n, struct sidecar **out, struct err *err)
{
	struct parse p = { .err = err, .node = NOWHERE, .link = NOWHERE };
	int rc = -ENOMEM;

	*out = NULL;
	hmap__init(&p.ids, sizeof(((struct known_id *)0)->key), sizeof(struct known_id));
	p.s = calloc(1, sizeof(*p.s));
	if (p.s)
		p.s->name = strdup(name);
	if (p.s && p.s->name)
		rc = load(&p, data, n);
	hmap__clear(&p.ids);
	free(p.scan.line);
	if (rc) {
		sidecar__free(p.s);
		return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", name) : rc;
	}
	*out = p.s;
	return 0;
}

int sidecar__read(const char *path, struct sidecar **out, struct err *err)
{
	char *text;
	size_t n;
	int rc = file_read_all(path, SIDECAR_FILE_MAX, &text, &n);

	*out = NULL;
	if (rc == -EFBIG)
		return err_set(err, rc, "%s: a sidecar of more than %u MiB is not read: split it", path,
			       SIDECAR_FILE_MAX >> 20);
	if (rc)
		return err_set(err, rc, "%s: %s", path, strerror(-rc));
	rc = sidecar__parse(path, text, n, out, err);
	free(text);
	return rc;
}

void sidecar__free(struct sidecar *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nnodes; i++) {
		free(s->node[i].id);
		free(s->node[i].label);
		free(s->node[i].kind);
		free(s->node[i].attributes);
	}
	free(s->node);
	free(s->link);
	free(s->target);
	free(s->name);
	free(s);
}
