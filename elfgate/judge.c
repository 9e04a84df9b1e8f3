// SPDX-License-Identifier: GPL-2.0-or-later
/* What was found, held against what the profile wants. */
#include "rule.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "object.h"

/* How many words a line names before it only counts. */
#define MOST_NAMED 8

/* Names come out of a foreign file and go to a terminal: what is not printable ASCII is shown as \xNN. */
static char *printable(const char *s)
{
	size_t n = strlen(s);
	char *out, *p;

	if (n > 300)
		n = 300;
	out = p = calloc(n + 1, 4);
	if (!out)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c >= ' ' && c < 0x7f && c != '\\')
			*p++ = (char)c;
		else
			p += sprintf(p, "\\x%02x", c);
	}
	strcpy(p, s[n] ? "..." : "");
	return out;
}

static struct elfgate_item *item_new(struct elfgate_found *f, const char *word)
{
	struct elfgate_item *items = f->items;

	if (f->n == f->cap) {
		f->cap = f->cap ? 2 * f->cap : 8;
		items = reallocarray(f->items, f->cap, sizeof(*items));
		if (!items) {
			f->cap = f->n;
			f->failed = true;
			return NULL;
		}
		f->items = items;
	}
	items[f->n] = (struct elfgate_item){ .word = printable(word) };
	if (!items[f->n].word) {
		f->failed = true;
		return NULL;
	}
	return &items[f->n++];
}

void elfgate_found__add(struct elfgate_found *f, const char *word, const char *fmt, ...)
{
	struct elfgate_item *item = item_new(f, word);
	char *text = NULL;
	va_list ap;

	if (!item || !fmt)
		return;
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	item->detail = text ? printable(text) : NULL;
	f->failed |= !item->detail;
	free(text);
}

void elfgate_found__need(struct elfgate_found *f, const char *file, const char *version, const char *symbol,
			 bool optional)
{
	struct elfgate_item *item = item_new(f, version);

	if (!item)
		return;
	item->group = printable(file);
	item->detail = symbol ? printable(symbol) : NULL;
	item->optional = optional;
	f->failed |= !item->group || (symbol && !item->detail);
}

void elfgate_found__free(struct elfgate_found *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->items[i].word);
		free(f->items[i].detail);
		free(f->items[i].group);
	}
	free(f->items);
	*f = (struct elfgate_found){ 0 };
}

bool elfgate_version_parse(const char *text, const char *prefix, uint32_t v[4])
{
	size_t len = strlen(prefix);
	int parts = 0;

	memset(v, 0, 4 * sizeof(*v));
	if (strncmp(text, prefix, len) != 0)
		return false;
	for (const char *p = text + len;; p++) {
		int digits = 0;

		if (parts == 4)
			return false;
		for (; *p >= '0' && *p <= '9'; p++) {
			if (++digits > 8)
				return false;
			v[parts] = v[parts] * 10 + (uint32_t)(*p - '0');
		}
		if (!digits)
			return false;
		parts++;
		if (*p != '.')
			return !*p;
	}
}

int elfgate_version_compare(const uint32_t a[4], const uint32_t b[4])
{
	for (int i = 0; i < 4; i++) {
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	}
	return 0;
}

static bool matches(const struct elfgate_rule *r, const struct elfgate_value *v,
		    const struct elfgate_item *item)
{
	uint32_t have[4], floor[4];

	if (item->optional)
		return true;
	if (r->kind == ELFGATE_FLOOR)
		return v->n && elfgate_version_parse(v->words[0], "", floor) &&
		       elfgate_version_parse(item->word, r->choices, have) &&
		       elfgate_version_compare(have, floor) <= 0;
	for (size_t i = 0; i < v->n; i++) {
		if (r->kind == ELFGATE_CHOICE ? !strcmp(v->words[i], item->word)
					      : !fnmatch(v->words[i], item->word, 0))
			return true;
	}
	return false;
}

static bool is_found(const struct elfgate_found *f, const char *word)
{
	for (size_t i = 0; i < f->n; i++) {
		if (!fnmatch(word, f->items[i].word, 0))
			return true;
	}
	return false;
}

/* Of a library's versions only the highest is worth a line. */
static bool is_highest(const struct elfgate_rule *r, const struct elfgate_found *f,
		       const struct elfgate_item *item)
{
	uint32_t mine[4], other[4];

	if (r->kind != ELFGATE_FLOOR)
		return true;
	elfgate_version_parse(item->word, r->choices, mine);
	for (const struct elfgate_item *i = f->items; i < f->items + f->n; i++) {
		if (i == item || i->optional != item->optional || strcmp(i->group, item->group) != 0)
			continue;
		elfgate_version_parse(i->word, r->choices, other);
		if (elfgate_version_compare(other, mine) > 0)
			return false;
	}
	return true;
}

static void say(FILE *out, const struct elfgate_item *i, bool first)
{
	fputs(first ? "" : ", ", out);
	if (i->group)
		fprintf(out, "%s ", i->group);
	fputs(i->word, out);
	if (i->detail)
		fprintf(out, " (%s%s)", i->detail, i->optional ? ", weak" : "");
	else if (i->optional)
		fputs(" (weak)", out);
}

/* Those that offend when any does, else all. */
static void list_items(FILE *out, const struct elfgate_rule *r, const struct elfgate_value *v,
		       const struct elfgate_found *f, bool offending)
{
	size_t named = 0, more = 0;

	for (size_t i = 0; i < f->n; i++) {
		const struct elfgate_item *item = &f->items[i];

		if (offending ? matches(r, v, item) : !is_highest(r, f, item))
			continue;
		if (named == MOST_NAMED) {
			more++;
			continue;
		}
		say(out, item, !named++);
	}
	if (more)
		fprintf(out, " and %zu more", more);
	if (!named && !offending)
		fputs("none", out);
}

static bool compare(FILE *out, const struct elfgate_rule *r, const struct elfgate_value *v,
		    const struct elfgate_found *f)
{
	size_t offending = 0, missing = 0;

	for (size_t i = 0; i < f->n; i++)
		offending += !matches(r, v, &f->items[i]);
	for (size_t i = 0; r->kind == ELFGATE_EXACT && i < v->n; i++)
		missing += !is_found(f, v->words[i]);
	if (!offending && !missing) {
		list_items(out, r, v, f, false);
		return true;
	}
	list_items(out, r, v, f, true);
	if (missing) {
		fprintf(out, "%smissing:", offending ? "; " : "");
		for (size_t i = 0; i < v->n; i++) {
			if (!is_found(f, v->words[i]))
				fprintf(out, " %s", v->words[i]);
		}
	}
	return false;
}

static const char *part_damage(const struct elfobj *o, unsigned parts)
{
	for (int i = 0; i < PARTS; i++) {
		if ((parts & (1u << i)) && o->damage[i])
			return o->damage[i];
	}
	return NULL;
}

static const char *not_applicable(const struct elfobj *o, const struct elfgate_rule *r)
{
	bool loaded = o->ehdr.e_type == ET_EXEC || o->ehdr.e_type == ET_DYN;

	if (!(r->archs & o->arch)) {
		if (r->archs == ELFGATE_BPF)
			return "only BPF objects have it";
		if (r->archs == ELFGATE_X86_64)
			return "only x86_64 has it";
		if (r->archs == ELFGATE_AARCH64)
			return "only aarch64 has a choice here";
		return o->arch == ELFGATE_BPF ? "a BPF object has none" : "not known for this architecture";
	}
	if (r->scope != SCOPE_ANY && !loaded)
		return "neither a program nor a shared object";
	if (r->scope == SCOPE_DYNAMIC && !o->has_dynamic && !o->damage[PART_DYNAMIC])
		return "no dynamic section: a static program";
	return NULL;
}

static char *wanted_text(const struct elfgate_rule *r, const struct elfgate_value *v)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (!v->n)
		fputs("none", out);
	else if (r->kind == ELFGATE_FLOOR)
		fprintf(out, "at most %s%s", r->choices, v->words[0]);
	for (size_t i = 0; r->kind != ELFGATE_FLOOR && i < v->n; i++)
		fprintf(out, "%s%s", i ? " " : "", v->words[i]);
	return fclose(out) ? NULL : text;
}

static int judge_rule(const struct elfobj *o, const struct elfgate_rule *r, const struct elfgate_value *v,
		      struct elfgate_finding *finding)
{
	struct elfgate_found found = { 0 };
	const char *why;
	size_t size;
	FILE *out;
	int e = 0;

	finding->rule = r;
	if (v->judged && !(finding->wanted = wanted_text(r, v)))
		return -ENOMEM;
	out = open_memstream(&finding->found, &size);
	if (!out)
		return -ENOMEM;
	if ((why = not_applicable(o, r))) {
		finding->state = ELFGATE_NA;
		fputs(why, out);
	} else if ((why = part_damage(o, r->parts))) {
		finding->state = ELFGATE_NOT_EVALUABLE;
		fputs(why, out);
	} else {
		r->look(r, o, &found);
		finding->state = ELFGATE_REPORTED;
		if (!v->judged || v->disabled)
			list_items(out, r, v, &found, false);
		else
			finding->state = compare(out, r, v, &found) ? ELFGATE_PASS : ELFGATE_FAIL;
	}
	if (found.failed)
		e = -ENOMEM;
	elfgate_found__free(&found);
	return fclose(out) ? -ENOMEM : e;
}

static enum elfgate_state verdict_of(const struct elfgate_report *r)
{
	static const enum elfgate_state order[] = { ELFGATE_NOT_EVALUABLE, ELFGATE_FAIL, ELFGATE_PASS };

	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		for (size_t i = 0; i < r->n; i++) {
			if (r->findings[i].state == order[k])
				return order[k];
		}
	}
	return ELFGATE_REPORTED;
}

int elfgate_judge(const struct elfobj *obj, const struct elfgate_profile *p, struct elfgate_report *report)
{
	int e = 0;

	*report = (struct elfgate_report){ 0 };
	report->findings = calloc(elfgate_n_rules, sizeof(*report->findings));
	if (!report->findings)
		return -ENOMEM;
	report->n = elfgate_n_rules;
	for (size_t i = 0; i < elfgate_n_rules && !e; i++)
		e = judge_rule(obj, &elfgate_rules[i], &p->values[i], &report->findings[i]);
	if (e)
		elfgate_report__free(report);
	else
		report->verdict = verdict_of(report);
	return e;
}

void elfgate_report__free(struct elfgate_report *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->findings[i].found);
		free(r->findings[i].wanted);
	}
	free(r->findings);
	*r = (struct elfgate_report){ 0 };
}

const char *elfgate_state_name(enum elfgate_state s)
{
	static const char *const names[] = {
		[ELFGATE_PASS] = "pass",
		[ELFGATE_FAIL] = "fail",
		[ELFGATE_NA] = "n/a",
		[ELFGATE_NOT_EVALUABLE] = "not evaluable",
		[ELFGATE_REPORTED] = "reported",
	};

	return names[s];
}
