/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/apitab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apis.h"

/* gpubpf_call.api has 16 bits */
#define API_IDS_MAX 65536

/* The only words that are there when the stack could not be read, on every architecture. */
#define WORDS_IN_REGISTERS 6

struct apitab {
	struct api **apis; /* by id; holes are NULL */
	size_t size, cap;
};

const char *const api_population_names[API_POPULATIONS] = { "launches", "graph launches", "copies", "sets",
							    "other calls" };

static const struct {
	const char *prefix;
	enum api_class cls;
} class_names[] = {
	{ "other", API_OTHER },
	{ "init", API_INIT },
	{ "context", API_CONTEXT },
	{ "module", API_MODULE },
	{ "launch", API_LAUNCH },
	{ "hostfunc", API_HOSTFUNC },
	{ "graphlaunch", API_GRAPHLAUNCH },
	{ "graph", API_GRAPH },
	{ "capture", API_CAPTURE },
	{ "copy", API_COPY },
	{ "set", API_SET },
	{ "alloc", API_ALLOC },
	{ "free", API_FREE },
	{ "pool", API_POOL },
	{ "reserve", API_VIRTUAL },
	{ "unreserve", API_VIRTUAL },
	{ "map", API_VIRTUAL },
	{ "unmap", API_VIRTUAL },
	{ "place", API_PLACE },
	{ "sync", API_SYNC },
	{ "query", API_QUERY },
	{ "event", API_EVENT },
	{ "stream", API_STREAM },
};

/* A kind of a later version is kept as it is and counted with the other calls. */
static enum api_class class_of(const char *kind, size_t len)
{
	for (size_t i = 0; i < sizeof(class_names) / sizeof(class_names[0]); i++)
		if (strlen(class_names[i].prefix) == len && memcmp(class_names[i].prefix, kind, len) == 0)
			return class_names[i].cls;
	return API_OTHER;
}

/* Symbols and kinds reach terminals and file formats, so a capture may not smuggle other bytes in. */
static int copy_word(char *dst, size_t size, const char *src, size_t len, const char *also)
{
	if (len == 0 || len >= size)
		return -EINVAL;
	for (size_t i = 0; i < len; i++) {
		char c = src[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

		if (!alnum && (!c || !strchr(also, c)))
			return -EINVAL;
	}
	memcpy(dst, src, len);
	dst[len] = '\0';
	return 0;
}

static int parse_signature(struct api *a, const char *sig)
{
	unsigned blobs = 0, outs = 0;
	bool sized_array = false;
	size_t len = strlen(sig);

	if (len >= sizeof(a->signature))
		return -EINVAL;
	memcpy(a->signature, sig, len + 1);
	while (*sig) {
		struct api_arg *arg;
		size_t name = strcspn(sig, ": ");
		char type;

		if (sig[name] != ':' || a->nargs == API_ARGS_MAX)
			return -EINVAL;
		arg = &a->args[a->nargs];
		if (copy_word(arg->name, sizeof(arg->name), sig, name, "_") ||
		    (unsigned)api_arg_index(a, arg->name) < a->nargs)
			return -EINVAL;
		type = sig[name + 1];
		if (!type || !strchr("hpduiqzbwsoOxmnL23PZl", type))
			return -EINVAL;
		arg->type = type;
		a->nargs++;
		blobs += strchr("smnL23PZx", type) != NULL;
		outs += type == 'o' || type == 'O';
		sized_array |= type == 'Z';
		sig += name + 2;
		if (*sig == ' ' && sig[1])
			sig++;
		else if (*sig)
			return -EINVAL;
	}
	if (blobs > 1 || outs > 1 || (sized_array && api_arg_index(a, "count") < 0))
		return -EINVAL;
	return 0;
}

static int parse(struct api *a, const char *symbol, size_t symbol_len, const char *kind,
		 const char *signature, bool legacy32)
{
	size_t prefix;

	if (copy_word(a->symbol, sizeof(a->symbol), symbol, symbol_len, "_") ||
	    copy_word(a->kind, sizeof(a->kind), kind, strlen(kind), "._-"))
		return -EINVAL;
	prefix = strcspn(a->kind, ".");
	a->detail = a->kind + prefix + (a->kind[prefix] == '.');
	a->cls = class_of(a->kind, prefix);
	a->legacy32 = legacy32;
	return parse_signature(a, signature);
}

static int store(struct apitab *t, uint32_t id, struct api *a)
{
	if (id >= t->cap) {
		size_t cap = t->cap ? t->cap : 64;
		struct api **apis;

		while (cap <= id)
			cap *= 2;
		apis = realloc(t->apis, cap * sizeof(*apis));
		if (!apis)
			return -ENOMEM;
		memset(apis + t->cap, 0, (cap - t->cap) * sizeof(*apis));
		t->apis = apis;
		t->cap = cap;
	}
	if (t->apis[id])
		return -EINVAL;
	t->apis[id] = a;
	if (id >= t->size)
		t->size = id + 1;
	return 0;
}

static int add(struct apitab *t, uint32_t id, const char *symbol, size_t symbol_len, const char *kind,
	       const char *signature, bool legacy32)
{
	struct api *a;
	int rc;

	if (id >= API_IDS_MAX)
		return -EINVAL;
	a = calloc(1, sizeof(*a));
	if (!a)
		return -ENOMEM;
	rc = parse(a, symbol, symbol_len, kind, signature, legacy32);
	if (!rc)
		rc = store(t, id, a);
	if (rc)
		free(a);
	return rc;
}

int apitab__new(struct apitab **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

int apitab__add(struct apitab *t, uint32_t id, const char *symbol, const char *kind, const char *signature,
		bool legacy32)
{
	return add(t, id, symbol, strlen(symbol), kind, signature, legacy32);
}

static int add_variants(struct apitab *t, const char *kind, const char *base, const char *variants,
			const char *signature)
{
	while (*variants) {
		size_t len = strcspn(variants, " ");
		bool plain = len == 1 && (*variants == '-' || *variants == '!');
		char symbol[128];
		size_t base_len = strlen(base), n = base_len + (plain ? 0 : len);
		int rc;

		if (n >= sizeof(symbol))
			return -EINVAL;
		memcpy(symbol, base, base_len);
		if (!plain)
			memcpy(symbol + base_len, variants, len);
		rc = add(t, (uint32_t)t->size, symbol, n, kind, signature, plain && *variants == '!');
		if (rc)
			return rc;
		variants += len;
		/* strcspn() stopped inside the string. */
		variants += *variants == ' '; /* NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult) */
	}
	return 0;
}

int apitab__builtin(struct apitab **out)
{
	static const struct {
		const char *kind, *base, *variants, *signature;
	} lines[] = {
#define LINE(kind, base, variants, signature) { kind, base, variants, signature },
		GPUBPF_APIS(LINE)
#undef LINE
	};
	struct apitab *t;
	int rc = apitab__new(&t);

	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < sizeof(lines) / sizeof(lines[0]); i++)
		rc = add_variants(t, lines[i].kind, lines[i].base, lines[i].variants, lines[i].signature);
	if (rc) {
		apitab__free(t);
		t = NULL;
	}
	*out = t;
	return rc;
}

size_t apitab__size(const struct apitab *t)
{
	return t->size;
}

const struct api *apitab__get(const struct apitab *t, uint32_t id)
{
	return id < t->size ? t->apis[id] : NULL;
}

void apitab__free(struct apitab *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->size; i++)
		free(t->apis[i]);
	free(t->apis);
	free(t);
}

unsigned api_population_index(const struct api *a)
{
	switch (a->cls) {
	case API_LAUNCH:
		return 0;
	case API_GRAPHLAUNCH:
		return 1;
	case API_COPY:
		return 2;
	case API_SET:
		return 3;
	default:
		return 4;
	}
}

const char *api_population(const struct api *a)
{
	return api_population_names[api_population_index(a)];
}

int api_arg_index(const struct api *a, const char *name)
{
	for (unsigned i = 0; i < a->nargs; i++)
		if (strcmp(a->args[i].name, name) == 0)
			return (int)i;
	return -1;
}

static uint64_t mask(const struct api *a, char type, uint64_t v)
{
	switch (type) {
	case 'u':
		return (uint32_t)v;
	case 'i':
		return (uint64_t)(int64_t)(int32_t)v;
	case 'b':
		return (uint8_t)v;
	case 'w':
		return (uint16_t)v;
	case 'd':
	case 'z':
		return a->legacy32 ? (uint32_t)v : v;
	default:
		return v;
	}
}

bool api_arg_at(const struct api *a, const struct gpubpf_call *c, unsigned i, uint64_t *v)
{
	if (i >= a->nargs || i >= c->nwords)
		return false;
	if (i >= WORDS_IN_REGISTERS && (c->flags & GPUBPF_CALL_STACK_FAULT))
		return false;
	*v = mask(a, a->args[i].type, c->words[i]);
	return true;
}

bool api_arg_value(const struct api *a, const struct gpubpf_call *c, const char *name, uint64_t *v)
{
	int i = api_arg_index(a, name);

	return i >= 0 && api_arg_at(a, c, (unsigned)i, v);
}

bool api_call_out(const struct api *a, const struct gpubpf_call *c, uint64_t *v)
{
	if (!(c->flags & GPUBPF_CALL_HAS_OUT))
		return false;
	for (unsigned i = 0; i < a->nargs; i++) {
		if (a->args[i].type != 'o' && a->args[i].type != 'O')
			continue;
		*v = a->args[i].type == 'O' && a->legacy32 ? (uint32_t)c->out : c->out;
		return true;
	}
	return false;
}

const void *api_call_blob(const struct gpubpf_call *c, size_t *n)
{
	*n = c->nblob;
	return c->nblob ? c->words + c->nwords : NULL;
}

const char *api_call_string(const struct api *a, const struct gpubpf_call *c)
{
	size_t n;
	const char *s = api_call_blob(c, &n);

	if (!s || (c->flags & GPUBPF_CALL_BLOB_FAULT) || !memchr(s, '\0', n))
		return NULL;
	for (unsigned i = 0; i < a->nargs; i++)
		if (a->args[i].type == 's' || a->args[i].type == 'n')
			return s;
	return NULL;
}
