/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of checks. libinih takes the lines apart; what it would cut without a word (lines of 200 bytes, sections of 50) or
 * take for something else (an indented line continues the one before) is refused here, or shown to it so that it cannot.
 */
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/config.h"
#include "util/err.h"
#include "util/file.h"
#include "util/fmt.h"

#define FILE_MAX (64 * 1024)
#define LINE_MAX_BYTES 190
#define SECTION_MAX_BYTES 48

struct reading {
	struct check_config *c;
	const char *path, *p, *end;
	unsigned line;
	char section[SECTION_MAX_BYTES + 1]; /* that lines belong to; "kernel": the current one */
	int rc;
	struct err *err;
};

/* "section.key" is what the option does there. */
static const struct {
	const char *option, *key;
} keys[] = {
	{ "times", "kernel.times" },
	{ "slack", "kernel.slack" },
	{ "max-ratio", "kernel.max-ratio" },
	{ "kernel", "kernel.name" },
	{ "slack", "completeness.slack" },
	{ "count", "completeness.count" },
	{ "ledger", "ledger.require" },
	{ "readiness", "readiness.require" },
	{ "stationary", "stationarity.name" },
	{ "mark-kind", "stationarity.mark-kind" },
	{ "block-size", "stationarity.block-size" },
	{ "tolerance", "stationarity.tolerance" },
	{ "nested", "nested.ranges" },
	{ "nested-marks", "nested.marks" },
	{ "mark-kind", "nested.mark-kind" },
	{ "nested-kernel", "nested.kernel" },
	{ "nested-slack", "nested.slack" },
	{ "staging", "staging.KIND" },
	{ "max-delay-p99", "budget.max-delay-p99" },
	{ "min-busy", "budget.min-busy" },
	{ "baseline", "baseline.capture" },
	{ "max-regression", "baseline.max-regression" },
	{ "power", "baseline.power" },
	{ "allow-cross-environment", "baseline.allow-cross-environment" },
};
#define NKEYS (sizeof(keys) / sizeof(keys[0]))

const char *check_option_key(const struct opt *o)
{
	for (size_t i = 0; i < NKEYS; i++)
		if (!strcmp(keys[i].option, o->name))
			return keys[i].key;
	return NULL;
}

/* The first mistake counts. Its message names file and line, and holds nothing that a terminal would obey. */
static int refuse(struct reading *r, const char *what)
{
	char safe[sizeof(((struct err *)0)->msg)];

	if (r->rc)
		return 0;
	r->rc = -EINVAL;
	r->err->msg[0] = '\0';
	err_set(r->err, -EINVAL, "%s:%u: %s", r->path, r->line, fmt_safe(safe, sizeof(safe), what));
	return 0;
}

static int refusef(struct reading *r, const char *before, const char *text, const char *after)
{
	char buf[512];

	snprintf(buf, sizeof(buf), "%s%.200s%s", before, text, after);
	return refuse(r, buf);
}

static bool known_section(const char *kind)
{
	size_t len = strlen(kind);

	for (size_t i = 0; i < NKEYS; i++)
		if (!strncmp(keys[i].key, kind, len) && keys[i].key[len] == '.')
			return true;
	return false;
}

static bool open_kernel(struct reading *r)
{
	size_t n = strlen(r->section);
	char name[SECTION_MAX_BYTES + 1];
	const struct opt *o = check_options;

	if (n < 10 || r->section[7] != '"' || r->section[n - 1] != '"')
		return refuse(r, "a kernel's section is [kernel \"NAME\"]");
	snprintf(name, sizeof(name), "%.*s", (int)(n - 9), r->section + 8);
	while (strcmp(o->name, "kernel") != 0)
		o++;
	if (opts_store(o, name, r->c, r->err))
		return refuse(r, r->err->msg);
	snprintf(r->section, sizeof(r->section), "kernel");
	return true;
}

static bool open_section(struct reading *r, const char *name, size_t n)
{
	snprintf(r->section, sizeof(r->section), "%.*s", (int)n, name);
	if (!strncmp(r->section, "kernel", 6) && (!r->section[6] || r->section[6] == ' '))
		return open_kernel(r);
	r->c->current = 0;
	return known_section(r->section) ||
	       refusef(r, "there is no section [", r->section,
		       "]: kernel \"NAME\", completeness, ledger, readiness, stationarity, nested, staging, budget, baseline");
}

/* [kernel "LABEL"] name = …: what the section is called is no name then, which may be longer than a section can be. */
static int rename_kernel(struct reading *r, const char *value)
{
	struct check_kernel *k = &r->c->kernels[r->c->current - 1];
	char *name;

	for (size_t i = 0; i < r->c->nkernels; i++)
		if (&r->c->kernels[i] != k && !strcmp(r->c->kernels[i].name, value))
			return refusef(r, "the kernel '", value, "' has a section already");
	name = strdup(value);
	if (!name) {
		r->rc = err_set(r->err, -ENOMEM, "out of memory");
		return 0;
	}
	free(k->name);
	k->name = name;
	return 1;
}

static int unknown(struct reading *r, const char *kind, const char *key)
{
	const char *names[NKEYS], *nearest;
	size_t n = 0, len = strlen(kind);
	char buf[256];

	for (size_t i = 0; i < NKEYS; i++)
		if (!strncmp(keys[i].key, kind, len) && keys[i].key[len] == '.')
			names[n++] = keys[i].key + len + 1;
	if (!kind[0])
		return refusef(r, "'", key, "' stands in no section");
	nearest = opts_nearest(key, names, n);
	snprintf(buf, sizeof(buf), "' in [%.60s]%s%s%s", kind, nearest ? "; did you mean '" : "",
		 nearest ? nearest : "", nearest ? "'?" : "");
	return refusef(r, "there is no key '", key, buf);
}

static int set_flag(struct reading *r, const struct opt *o, const char *value)
{
	int *dst = (int *)((char *)r->c + o->offset);

	if (!strcmp(value, "yes") || !strcmp(value, "true"))
		*dst = 1;
	else if (!strcmp(value, "no") || !strcmp(value, "false"))
		*dst = 0;
	else
		return refusef(r, "'", value, "' is neither yes nor no");
	return 1;
}

/* A path in the file is one beside the file. */
static int set_path(struct reading *r, const struct opt *o, const char *value)
{
	const char *slash = strrchr(r->path, '/');
	char *path = NULL;
	int rc;

	if (value[0] == '/' || !slash)
		rc = opts_store(o, value, r->c, r->err);
	else if (asprintf(&path, "%.*s%s", (int)(slash - r->path + 1), r->path, value) < 0)
		rc = err_set(r->err, -ENOMEM, "out of memory");
	else
		rc = opts_store(o, path, r->c, r->err);
	free(path);
	return rc ? refuse(r, r->err->msg) : 1;
}

static int store(struct reading *r, const char *option, const char *key, const char *value)
{
	const struct opt *o = check_options;
	char both[256];

	while (strcmp(o->name, option) != 0)
		o++;
	if (o->type == OPT_FLAG)
		return set_flag(r, o, value);
	if (!strcmp(option, "baseline"))
		return set_path(r, o, value);
	if (!strcmp(option, "staging")) {
		snprintf(both, sizeof(both), "%.50s=%.150s", key, value);
		value = both;
	}
	if (!opts_store(o, value, r->c, r->err))
		return 1;
	snprintf(both, sizeof(both), "%.60s: %.180s", key, r->err->msg);
	return refuse(r, both);
}

static int on_value(void *arg, const char *section, const char *key, const char *value)
{
	struct reading *r = arg;
	const char *kind = r->section;
	char path[128];

	(void)section; /* as libinih cut it */
	if (r->rc)
		return 0;
	if (!value[0])
		return refusef(r, "'", key, "' has no value");
	if (!strcmp(kind, "kernel") && !strcmp(key, "name"))
		return rename_kernel(r, value);
	snprintf(path, sizeof(path), "%.60s.%.60s", kind, strcmp(kind, "staging") ? key : "KIND");
	for (size_t i = 0; i < NKEYS; i++)
		if (!strcmp(path, keys[i].key))
			return store(r, keys[i].option, key, value);
	return unknown(r, kind, key);
}

/* Whether libinih understands the line as it is meant. */
static bool check_line(struct reading *r, const char *line, size_t n)
{
	const char *close;

	if (n > LINE_MAX_BYTES)
		return refuse(r,
			      "the line is longer than 190 bytes: a shell pattern can stand for a long name");
	if (memchr(line, '\0', n))
		return refuse(r, "the line holds a zero byte");
	if (!n || line[0] == '#' || line[0] == ';')
		return true;
	if (line[0] != '[')
		return memchr(line, '=', n) ||
		       refuse(r, "the line is neither [SECTION], nor KEY = VALUE, nor a comment");
	close = memchr(line, ']', n);
	if (!close)
		return refuse(r, "the section has no ]");
	if (close - line - 1 > SECTION_MAX_BYTES)
		return refuse(
			r,
			"the section is longer than 48 bytes: call it [kernel \"LABEL\"] and give name = NAME");
	for (close++; close < line + n; close++)
		if (*close == ';' || *close == '#')
			break;
		else if (!isspace((unsigned char)*close))
			return refuse(
				r,
				"something stands behind the ]: of a name that holds one write [kernel \"LABEL\"] and name = NAME");
	return open_section(r, line + 1, (size_t)((const char *)memchr(line, ']', n) - line - 1));
}

/* An ini_reader: a line, without its indentation; nothing more once something was refused. */
static char *next_line(char *to, int room, void *arg)
{
	struct reading *r = arg;
	const char *line, *end;
	size_t n;

	if (r->rc || r->p == r->end || room < LINE_MAX_BYTES + 2)
		return NULL;
	r->line++;
	end = memchr(r->p, '\n', (size_t)(r->end - r->p));
	line = r->p;
	r->p = end ? end + 1 : r->end;
	end = end ? end : r->end;
	if (r->line == 1 && end - line >= 3 && !memcmp(line, "\xef\xbb\xbf", 3))
		line += 3;
	while (line < end && isspace((unsigned char)*line))
		line++;
	while (end > line && isspace((unsigned char)end[-1]))
		end--;
	n = (size_t)(end - line);
	if (!check_line(r, line, n))
		return NULL;
	memcpy(to, line, n);
	to[n] = '\n';
	to[n + 1] = '\0';
	return to;
}

int check_config__parse(struct check_config *c, const char *path, const char *text, size_t n, struct err *err)
{
	struct reading r = { .c = c, .path = path, .p = text, .end = text + n, .err = err };
	int line;

	c->current = 0;
	line = ini_parse_stream(next_line, &r, on_value, &r);
	if (!r.rc && line) { /* of the library, and not of ours */
		r.line = line > 0 ? (unsigned)line : r.line;
		refuse(&r, "the line is neither [SECTION], nor KEY = VALUE, nor a comment");
	}
	c->current = 0;
	return r.rc;
}

int check_config__read(struct check_config *c, const char *path, struct err *err)
{
	char *text;
	size_t n;
	int rc = file_read_all(path, FILE_MAX, &text, &n);

	if (rc == -EFBIG)
		return err_set(err, rc, "%s: a file of checks has at most 64 KiB", path);
	if (rc)
		return err_set(err, rc, "cannot read the checks in %s: %s", path, strerror(-rc));
	rc = check_config__parse(c, path, text, n, err);
	free(text);
	return rc;
}

/* ---- What goes together ---- */

static bool has_ratio(const struct check_config *c)
{
	for (size_t i = 0; i < c->nkernels; i++)
		if (c->kernels[i].has_ratio)
			return true;
	return false;
}

bool check_config__asks_regression(const struct check_config *c)
{
	return c->baseline && (c->has_regression || !has_ratio(c));
}

static bool asks_staging(const struct check_config *c)
{
	for (int i = 0; i < MEM_KINDS; i++)
		if (c->staging[i])
			return true;
	return false;
}

bool check_config__asks(const struct check_config *c)
{
	return c->nkernels || c->ledger || c->readiness || c->stationary.n || c->nranges || c->has_delay ||
	       c->has_busy || c->baseline || asks_staging(c);
}

int check_config__verify(const struct check_config *c, struct err *err)
{
	for (size_t i = 0; i < c->nkernels; i++) {
		const struct check_kernel *k = &c->kernels[i];

		if (!k->has_launches && !k->has_ratio)
			return err_set(
				err, -EINVAL,
				"of kernel '%.200s' nothing is asked: give --times N (or times = N) or --max-ratio X",
				k->name);
		if (!k->has_launches && k->has_slack)
			return err_set(err, -EINVAL, "the slack of kernel '%.200s' needs --times N", k->name);
	}
	if (has_ratio(c) && !c->baseline)
		return err_set(err, -EINVAL, "--max-ratio needs --baseline FILE");
	if (c->has_regression && !c->baseline)
		return err_set(err, -EINVAL, "--max-regression needs --baseline FILE");
	if (c->nranges && !c->nested_marks)
		return err_set(err, -EINVAL, "--nested needs --nested-marks NAME");
	if (c->nested_marks && !c->nranges)
		return err_set(err, -EINVAL, "--nested-marks needs --nested RANGES");
	if (c->json && c->github)
		return err_set(err, -EINVAL, "--json and --github both write to standard output: choose one");
	return 0;
}
