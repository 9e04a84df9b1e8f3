/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For machines that build: JUnit XML and annotations of GitHub Actions. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"
#include "util/fmt.h"

/* XML 1.0 has no way at all to say a control character, nor two of the others: those are shown as text first. */
static int put_xml(FILE *f, const char *s)
{
	size_t n = 4 * strlen(s) + 1;
	char *safe = malloc(n);

	if (!safe)
		return -ENOMEM;
	fmt_safe(safe, n, s);
	for (const char *p = safe; *p; p++) {
		switch (*p) {
		case '&':
			fputs("&amp;", f);
			break;
		case '<':
			fputs("&lt;", f);
			break;
		case '>':
			fputs("&gt;", f);
			break;
		case '"':
			fputs("&quot;", f);
			break;
		case '\xef': /* U+FFFE and U+FFFF are no characters of XML */
			if (p[1] == '\xbf' && (p[2] == '\xbe' || p[2] == '\xbf')) {
				fputs("\xef\xbf\xbd", f);
				p += 2;
				break;
			}
			/* fall through */
		default:
			putc(*p, f);
		}
	}
	free(safe);
	return 0;
}

static int put_attribute(FILE *f, const char *name, const char *value)
{
	int rc;

	fprintf(f, " %s=\"", name);
	rc = put_xml(f, value);
	putc('"', f);
	return rc;
}

/* What could not be evaluable is an error: a skipped test would look like a good one. */
static int put_outcome(FILE *f, const struct check_result *r)
{
	const char *tag = r->state == CHECK_FAILED ? "failure" : "error";
	int rc;

	fprintf(f, "<%s type=\"%s\"", tag, check_state_name(r->state));
	rc = put_attribute(f, "message", r->text);
	putc('>', f);
	for (unsigned i = 0; !rc && i < r->nadvice; i++) {
		fputs("missing: ", f);
		rc = put_xml(f, r->advice[i].missing);
		putc('\n', f);
		if (rc || !r->advice[i].command)
			continue;
		fputs("  → ", f);
		rc = put_xml(f, r->advice[i].command);
		putc('\n', f);
	}
	fprintf(f, "</%s>", tag);
	return rc;
}

static int put_case(FILE *f, const struct check_capture *c, const struct check_result *r)
{
	char name[512];
	int rc;

	fputs("<testcase", f);
	rc = put_attribute(f, "classname", c->path);
	if (!rc)
		rc = put_attribute(f, "name", check_result__name(r, name, sizeof(name)));
	putc('>', f);
	if (!rc && r->state != CHECK_PASSED)
		rc = put_outcome(f, r);
	fputs("<system-out>", f);
	if (!rc)
		rc = put_xml(f, r->text);
	if (!rc && r->source) {
		fputs("\nsource: ", f);
		rc = put_xml(f, r->source);
		fputs("\ngranularity: ", f);
		rc = rc ? rc : put_xml(f, r->granularity);
	}
	fputs("</system-out></testcase>\n", f);
	return rc;
}

static int put_suite(FILE *f, const struct check_capture *c)
{
	uint64_t n[CHECK_STATES] = { 0 };
	int rc;

	for (size_t i = 0; i < c->n; i++)
		n[c->result[i].state]++;
	fputs("<testsuite", f);
	rc = put_attribute(f, "name", c->path);
	fprintf(f, " tests=\"%zu\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\" skipped=\"0\">\n", c->n,
		n[CHECK_FAILED], n[CHECK_NOT_EVALUABLE]);
	for (size_t i = 0; !rc && i < c->n; i++)
		rc = put_case(f, c, &c->result[i]);
	fputs("</testsuite>\n", f);
	return rc;
}

int check_junit(const struct check_run *r, FILE *f)
{
	int rc = 0;

	fprintf(f,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gpubpf gate\" tests=\"%" PRIu64
		"\" failures=\"%" PRIu64 "\" errors=\"%" PRIu64 "\">\n",
		r->count[CHECK_PASSED] + r->count[CHECK_FAILED] + r->count[CHECK_NOT_EVALUABLE],
		r->count[CHECK_FAILED], r->count[CHECK_NOT_EVALUABLE]);
	for (size_t i = 0; !rc && i < r->n; i++)
		rc = put_suite(f, &r->capture[i]);
	fputs("</testsuites>\n", f);
	return rc;
}

/* A workflow command is one line: what would end it, or the value of a property, is written as its number. */
static void put_command(FILE *f, const char *s, bool property)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '%' || c < ' ' || (property && (c == ':' || c == ',')))
			fprintf(f, "%%%02X", c);
		else
			putc(c, f);
	}
}

void check_github(const struct check_run *r, FILE *f)
{
	char name[512];

	if (!r->count[CHECK_PASSED] && !r->count[CHECK_FAILED] && !r->count[CHECK_NOT_EVALUABLE])
		fputs("::error title=gpubpf gate::nothing was scored\n", f);
	for (size_t i = 0; i < r->n; i++)
		for (size_t k = 0; k < r->capture[i].n; k++) {
			const struct check_result *c = &r->capture[i].result[k];

			if (c->state == CHECK_PASSED)
				continue;
			fputs("::error title=gpubpf gate", f);
			put_command(f, ": ", true);
			put_command(f, check_result__name(c, name, sizeof(name)), true);
			fputs("::", f);
			put_command(f, check_state_name(c->state), false);
			fputs(": ", f);
			put_command(f, r->capture[i].path, false);
			fputs(": ", f);
			put_command(f, c->text, false);
			putc('\n', f);
		}
}
