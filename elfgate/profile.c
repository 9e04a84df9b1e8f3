// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles are text, the built-in ones too: what --profile FILE takes is what we hold ourselves to. */
#include "rule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1 << 20)

/* What is loaded into foreign processes. 65536: kernels with 64 KiB pages (RHEL 7 and 8 on arm64) map nothing that
 * is aligned to less. */
static const char shim_text
	[] = "machine = x86_64 aarch64\n"
	     "class = 64\n"
	     "byte-order = little\n"
	     "osabi = sysv gnu\n"
	     "file-type = shared\n"
	     "page-align = 65536\n"
	     "isa-level = unmarked baseline\n"
	     "soname = libgpubpf-shim.so\n"
	     "needed = libc.so.6 libpthread.so.0 libdl.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1\n"
	     "glibc-floor = 2.17\n"
	     "version-markers = none\n"
	     "glibcxx-floor = none\n"
	     "cxxabi-floor = none\n"
	     "gcc-floor = none\n"
	     "relr = absent\n"
	     "tls-segment = absent\n"
	     "tls-model = none\n"
	     "static-tls = absent\n"
	     "runpath = absent\n"
	     "textrel = absent\n"
	     "exec-stack = no\n"
	     "rwx-segment = absent\n"
	     "relro = present\n"
	     "bind-now = present\n"
	     "exports = InitializeInjection:func InitializeInjectionNvtx:func InitializeInjectionNvtx2:func "
	     "gpubpf_shim_start:func\n"
	     "undefined = none\n"
	     "build-id = present\n"
	     "stapsdt = contract\n";

/* The gpubpf program, as a distribution's compiler makes it and as the tarball has it (static). */
static const char host_text[] = "machine = x86_64 aarch64\n"
				"class = 64\n"
				"byte-order = little\n"
				"osabi = sysv gnu\n"
				"file-type = pie program static static-pie\n"
				"page-align = 65536\n"
				"isa-level = unmarked baseline\n"
				"runpath = absent\n"
				"textrel = absent\n"
				"exec-stack = no\n"
				"rwx-segment = absent\n"
				"relro = present\n"
				"bind-now = present\n"
				"build-id = present\n";

static const struct {
	const char *name, *text;
} builtins[] = { { "shim", shim_text },
		 { "host", host_text },
		 { "any", "# Every rule is reported, none is judged.\n" } };

static void value_clear(struct elfgate_value *v)
{
	for (size_t i = 0; i < v->n; i++)
		free(v->words[i]);
	free(v->words);
	v->words = NULL;
	v->n = 0;
	v->judged = false;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = words; (p = strstr(p, word)); p += len) {
		if ((p == words || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	}
	return false;
}

/* One word, or more than one, that the rule cannot take. */
static int check_word(const struct elfgate_rule *r, const char *word, size_t n, struct elfgate_error *err)
{
	uint32_t v[4];

	if (r->kind == ELFGATE_CHOICE && !has_word(r->choices, word))
		return elfgate__fail(err, -EINVAL, "'%.60s' is no value of %s; it takes: %s", word, r->id,
				     r->choices);
	if (r->kind == ELFGATE_FLOOR && (n > 1 || !elfgate_version_parse(word, "", v)))
		return elfgate__fail(err, -EINVAL, "%s takes one version such as 2.17, or none, not '%.60s'",
				     r->id, word);
	return 0;
}

int elfgate_profile__set(struct elfgate_profile *p, const char *key, const char *words,
			 struct elfgate_error *err)
{
	const struct elfgate_rule *r = elfgate_rule_find(key);
	struct elfgate_value *v;
	char *copy, *save, *word;
	int e = 0;

	if (!r)
		return elfgate__fail(err, -EINVAL,
				     "there is no rule '%.60s'; `gpubpf elfgate --rules` lists them", key);
	v = &p->values[r - elfgate_rules];
	value_clear(v);
	v->set = true;
	copy = strdup(words);
	v->words = calloc(strlen(words) / 2 + 2, sizeof(*v->words));
	if (!copy || !v->words) {
		free(copy);
		return elfgate__fail(err, -ENOMEM, "out of memory");
	}
	for (word = strtok_r(copy, " \t\r", &save); word && !e; word = strtok_r(NULL, " \t\r", &save)) {
		v->words[v->n] = strdup(word);
		if (!v->words[v->n++])
			e = -ENOMEM;
	}
	free(copy);
	if (e)
		return elfgate__fail(err, e, "out of memory");
	if (!v->n || !v->words[0])
		return elfgate__fail(err, -EINVAL, "%s has no value; `none` and `any` are values", r->id);
	if (v->n == 1 && !strcmp(v->words[0], "any")) {
		value_clear(v);
		return 0;
	}
	v->judged = true;
	/* A rule with a word `none` of its own means that one. */
	if (v->n == 1 && !strcmp(v->words[0], "none") &&
	    !(r->kind == ELFGATE_CHOICE && has_word(r->choices, "none"))) {
		free(v->words[0]);
		v->n = 0;
		return r->kind == ELFGATE_CHOICE
			       ? elfgate__fail(err, -EINVAL, "'none' is no value of %s; it takes: %s", r->id,
					       r->choices)
			       : 0;
	}
	for (size_t i = 0; i < v->n && !e; i++)
		e = check_word(r, v->words[i], v->n, err);
	return e;
}

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t\r");
	end = s + strlen(s);
	while (end > s && strchr(" \t\r", end[-1]))
		*--end = 0;
	return s;
}

static int parse_line(struct elfgate_profile *p, char *line, struct elfgate_error *err)
{
	char *equals, *key;
	const struct elfgate_rule *r;

	line[strcspn(line, "#")] = 0;
	line = trim(line);
	if (!*line)
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return elfgate__fail(err, -EINVAL, "'%.60s' is no line of the form `rule = value`", line);
	*equals = 0;
	key = trim(line);
	r = elfgate_rule_find(key);
	if (r && p->values[r - elfgate_rules].set)
		return elfgate__fail(err, -EINVAL, "%s is set a second time", key);
	return elfgate_profile__set(p, key, equals + 1, err);
}

static int profile_new(struct elfgate_profile **p, struct elfgate_error *err)
{
	*p = calloc(1, sizeof(**p));
	if (*p)
		(*p)->values = calloc(elfgate_n_rules, sizeof(*(*p)->values));
	if (*p && (*p)->values)
		return 0;
	free(*p);
	*p = NULL;
	return elfgate__fail(err, -ENOMEM, "out of memory");
}

int elfgate_profile__parse(struct elfgate_profile **p, const char *name, const char *text, size_t len,
			   struct elfgate_error *err)
{
	struct elfgate_error line_err = { "" };
	size_t at = 0, number = 0;
	int e = profile_new(p, err);

	if (!*p)
		return e;
	while (!e && at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t n = end ? (size_t)(end - text) - at : len - at;
		char *line = strndup(text + at, n);

		number++;
		if (!line)
			e = elfgate__fail(err, -ENOMEM, "out of memory");
		else if (strlen(line) != n)
			e = elfgate__fail(err, -EINVAL, "%s:%zu: a zero byte: not a text", name, number);
		else if ((e = parse_line(*p, line, &line_err)))
			elfgate__fail(err, e, "%s:%zu: %.300s", name, number, line_err.msg);
		free(line);
		at += n + 1;
	}
	if (e) {
		elfgate_profile__free(*p);
		*p = NULL;
	}
	return e;
}

int elfgate_profile__read(struct elfgate_profile **p, const char *path, struct elfgate_error *err)
{
	FILE *f = fopen(path, "re");
	char *text = f ? malloc(MOST_BYTES + 1) : NULL;
	size_t n;
	int e;

	*p = NULL;
	if (!f)
		return elfgate__fail(err, -errno, "%s: %s", path, strerror(errno));
	n = text ? fread(text, 1, MOST_BYTES + 1, f) : 0;
	if (!text)
		e = elfgate__fail(err, -ENOMEM, "out of memory");
	else if (ferror(f))
		e = elfgate__fail(err, -EIO, "%s: %s", path, strerror(errno));
	else if (n > MOST_BYTES)
		e = elfgate__fail(err, -EFBIG, "%s: larger than a profile can be (1 MiB)", path);
	else
		e = elfgate_profile__parse(p, path, text, n, err);
	free(text);
	fclose(f);
	return e;
}

const char *elfgate_profile_text(const char *name)
{
	for (size_t i = 0; i < sizeof(builtins) / sizeof(builtins[0]); i++) {
		if (!strcmp(builtins[i].name, name))
			return builtins[i].text;
	}
	return NULL;
}

int elfgate_profile__builtin(struct elfgate_profile **p, const char *name, struct elfgate_error *err)
{
	const char *text = elfgate_profile_text(name);

	*p = NULL;
	return text ? elfgate_profile__parse(p, name, text, strlen(text), err) : -ENOENT;
}

void elfgate_profile__disable(struct elfgate_profile *p, const struct elfgate_rule *rule)
{
	p->values[rule - elfgate_rules].disabled = true;
}

void elfgate_profile__free(struct elfgate_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < elfgate_n_rules; i++)
		value_clear(&p->values[i]);
	free(p->values);
	free(p);
}
