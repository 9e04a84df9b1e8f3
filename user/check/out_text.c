/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "check/check.h"
#include "util/fmt.h"

static const char *const state_words[CHECK_STATES] = {
	[CHECK_NOT_EVALUABLE] = "not evaluable",
	[CHECK_FAILED] = "fail",
	[CHECK_PASSED] = "pass",
};
static const char *const state_heads[CHECK_STATES] = {
	[CHECK_NOT_EVALUABLE] = "NOT EVALUABLE",
	[CHECK_FAILED] = "FAIL",
	[CHECK_PASSED] = "PASS",
};
static const char *const paints[CHECK_STATES] = {
	[CHECK_NOT_EVALUABLE] = "\033[1;33m",
	[CHECK_FAILED] = "\033[1;31m",
	[CHECK_PASSED] = "\033[1;32m",
};

const char *check_state_name(enum check_state s)
{
	return state_words[s];
}

const char *check_result__name(const struct check_result *r, char *buf, size_t n)
{
	snprintf(buf, n, "%s%s%s", r->check, r->subject ? " " : "", r->subject ? r->subject : "");
	return buf;
}

void check_run__summary(const struct check_run *r, char *buf, size_t n)
{
	uint64_t all = r->count[CHECK_PASSED] + r->count[CHECK_FAILED] + r->count[CHECK_NOT_EVALUABLE];

	if (!all) {
		snprintf(buf, n, "nothing was scored");
		return;
	}
	snprintf(buf, n,
		 "%" PRIu64 " check%s of %zu capture%s: %" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64
		 " not evaluable",
		 all, all == 1 ? "" : "s", r->n, r->n == 1 ? "" : "s", r->count[CHECK_PASSED],
		 r->count[CHECK_FAILED], r->count[CHECK_NOT_EVALUABLE]);
}

static void put_state(FILE *f, enum check_state s, int width, bool color)
{
	fprintf(f, "%s%s%s%*s", color ? paints[s] : "", state_heads[s], color ? "\033[0m" : "",
		width > (int)strlen(state_heads[s]) ? width - (int)strlen(state_heads[s]) : 0, "");
}

static void put_advice(FILE *f, const struct check_result *r)
{
	fputs("      seen:     ", f);
	fmt_put_safe(f, r->text);
	putc('\n', f);
	if (!r->nadvice)
		fputs("      missing:  nothing: it was measured\n", f);
	for (unsigned i = 0; i < r->nadvice; i++) {
		fputs("      missing:  ", f);
		fmt_put_safe(f, r->advice[i].missing);
		putc('\n', f);
		if (!r->advice[i].command)
			continue;
		fputs("        → ", f);
		fmt_put_safe(f, r->advice[i].command);
		putc('\n', f);
	}
}

static void put_result(FILE *f, const struct check_result *r, bool explain, bool color)
{
	char name[512];

	fputs("  ", f);
	put_state(f, r->state, 15, color);
	fmt_put_safe(f, check_result__name(r, name, sizeof(name)));
	fputs(": ", f);
	fmt_put_safe(f, r->text);
	putc('\n', f);
	if (r->source)
		fprintf(f, "      source: %s; granularity: %s\n", r->source, r->granularity);
	if (explain && r->state != CHECK_PASSED)
		put_advice(f, r);
}

int check_text(const struct check_run *r, FILE *f, bool color)
{
	char line[256];

	check_run__summary(r, line, sizeof(line));
	put_state(f, r->state, 0, color);
	fprintf(f, ": %s\n", line);
	for (size_t i = 0; i < r->n; i++) {
		const struct check_capture *c = &r->capture[i];

		fmt_put_safe(f, c->path);
		if (c->headline) {
			fputs(": ", f);
			fmt_put_safe(f, c->headline);
		}
		putc('\n', f);
		for (size_t k = 0; k < c->n; k++)
			put_result(f, &c->result[k], r->c->explain, color);
	}
	if (r->state != CHECK_PASSED && !r->c->explain)
		fputs("(gpubpf gate --explain says what is missing and what supplies it)\n", f);
	return 0;
}
