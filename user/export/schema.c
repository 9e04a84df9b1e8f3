// SPDX-License-Identifier: GPL-2.0-or-later
/* The tables' description as a JSON schema. Strict: a key that no column has is an error. */
#include "export/schema.h"

#include <string.h>

#include "export/tables.h"

/* Texts of the description, which have no control characters. */
static void quoted(FILE *f, const char *s)
{
	putc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc('"', f);
}

static void words(FILE *f, const char *list, bool or_null)
{
	const char *comma = "";

	fputs("\"enum\":[", f);
	while (*list) {
		size_t n = strcspn(list, "|");

		fprintf(f, "%s\"%.*s\"", comma, (int)n, list);
		comma = ",";
		list += n + (list[n] == '|');
	}
	fputs(or_null ? ",null]" : "]", f);
}

static void type(FILE *f, const struct tcol *c)
{
	bool or_null = c->may & TCOL_UNMEASURED;
	const char *name = "integer";

	if (c->type == TCOL_WORD) {
		words(f, c->of, or_null);
		return;
	}
	if (c->type == TCOL_BOOL)
		name = "boolean";
	else if (c->type == TCOL_TEXT || c->type == TCOL_HEX)
		name = "string";
	fprintf(f, or_null ? "\"type\":[\"%s\",\"null\"]" : "\"type\":\"%s\"", name);
	if (c->type == TCOL_HEX)
		fputs(",\"pattern\":\"^0x[0-9a-f]+$\"", f);
	else if (strcmp(name, "integer") == 0 && c->type != TCOL_SIGNED)
		fputs(",\"minimum\":0", f);
}

static void property(FILE *f, const struct tcol *c)
{
	fprintf(f, "\n    \"%s\":{", c->key);
	type(f, c);
	fputs(",\"description\":", f);
	quoted(f, c->meaning);
	if (*tcol_unit(c->type)) {
		fputs(",\"unit\":", f);
		quoted(f, tcol_unit(c->type));
	}
	if (c->type == TCOL_REF)
		fprintf(f, ",\"table\":\"%s\"", c->of);
	fputs("}", f);
	if (c->may & TCOL_UNMEASURED)
		fprintf(f, ",\n    \"%s_unmeasured\":{\"const\":true}", c->key);
}

/* null and KEY_unmeasured come together, or not at all. */
static void rules(FILE *f, const struct table *t)
{
	const char *comma = "";

	fputs(",\n   \"allOf\":[", f);
	for (const struct tcol *c = t->cols; c->key; c++) {
		if (!(c->may & TCOL_UNMEASURED))
			continue;
		fprintf(f,
			"%s\n    {\"if\":{\"required\":[\"%s\"],\"properties\":{\"%s\":{\"type\":\"null\"}}},"
			"\"then\":{\"required\":[\"%s_unmeasured\"]},\"else\":{\"not\":{\"required\":[\"%s_unmeasured\"]}}}",
			comma, c->key, c->key, c->key, c->key);
		comma = ",";
	}
	fputs("]", f);
}

static void definition(FILE *f, const struct table *t)
{
	bool unmeasured = false;
	const char *comma = "";

	fprintf(f, "\n  \"%s\":{\"type\":\"object\",\"description\":", t->name);
	quoted(f, t->meaning);
	fputs(",\"additionalProperties\":false,\n   \"properties\":{", f);
	for (const struct tcol *c = t->cols; c->key; c++) {
		fputs(comma, f);
		property(f, c);
		comma = ",";
		unmeasured = unmeasured || c->may & TCOL_UNMEASURED;
	}
	fputs("},\n   \"required\":[", f);
	comma = "";
	for (const struct tcol *c = t->cols; c->key; c++) {
		if (!tcol_always(c))
			continue;
		fprintf(f, "%s\"%s\"", comma, c->key);
		comma = ",";
	}
	fputs("]", f);
	if (unmeasured)
		rules(f, t);
	fputs("}", f);
}

void export_json_schema(FILE *f)
{
	const char *comma = "";

	fputs("{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\n"
	      "\"title\":\"" TABLES_SCHEMA_NAME "\",\n"
	      "\"description\":\"A capture as tables. A key that is not there is absent: the row has none. null with "
	      "KEY_unmeasured is not measured: nobody saw it. Neither is ever a number.\",\n"
	      "\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"schema\",\"tables\"],\n"
	      "\"properties\":{\"schema\":{\"const\":\"" TABLES_SCHEMA_NAME "\"},\n"
	      " \"tables\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{",
	      f);
	for (const struct table *const *t = tables_all; *t; t++) {
		fprintf(f, "%s\n  \"%s\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/%s\"}}", comma,
			(*t)->name, (*t)->name);
		comma = ",";
	}
	fputs("}}},\n\"$defs\":{", f);
	comma = "";
	for (const struct table *const *t = tables_all; *t; t++) {
		fputs(comma, f);
		definition(f, *t);
		comma = ",";
	}
	fputs("}}\n", f);
}
