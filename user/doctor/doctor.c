/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doctor/doctor.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/file.h"
#include "util/fmt.h"

enum { PROC_FILE_MAX = 1 << 20 };

const char *const finding_state_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_DEGRADED] = "degraded",
	[FINDING_MISSING] = "missing",
};

struct finding *doctor__add(struct doctor *d, enum finding_state state, bool needed, const char *id,
			    json_t *facts, const char *fmt, ...)
{
	struct finding *grown = realloc(d->findings, (d->n + 1) * sizeof(*grown)), *f;
	va_list ap;
	int len;

	if (!grown) {
		d->error = -ENOMEM;
		json_decref(facts);
		return NULL;
	}
	d->findings = grown;
	f = &grown[d->n];
	*f = (struct finding){ .state = state, .needed = needed, .facts = facts };
	snprintf(f->id, sizeof(f->id), "%s", id);
	va_start(ap, fmt);
	len = vasprintf(&f->detail, fmt, ap);
	va_end(ap);
	if (len < 0) {
		d->error = -ENOMEM;
		json_decref(facts);
		return NULL;
	}
	d->n++;
	return f;
}

void finding__advise(struct finding *f, const char *fmt, ...)
{
	va_list ap;

	if (!f)
		return;
	free(f->advice);
	va_start(ap, fmt);
	if (vasprintf(&f->advice, fmt, ap) < 0)
		f->advice = NULL;
	va_end(ap);
}

int doctor__line(const struct doctor *d, const char *path, char *out, size_t n)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	return file_read_line(full, out, n);
}

int doctor__value(const struct doctor *d, const char *path, const char *key, char *out, size_t n)
{
	char full[PATH_MAX], *text, *save = NULL;
	size_t len = strlen(key), size;
	int e;

	snprintf(full, sizeof(full), "%s%s", d->root, path);
	e = file_read_all(full, PROC_FILE_MAX, &text, &size);
	if (e)
		return e;
	e = -ENOENT;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, key, len) != 0 || line[len] != ':')
			continue;
		line += len + 1;
		line += strspn(line, " \t");
		for (size_t end = strlen(line); end && strchr(" \t", line[end - 1]); end--)
			line[end - 1] = 0;
		snprintf(out, n, "%s", line);
		e = 0;
		break;
	}
	free(text);
	return e;
}

bool doctor__can_record(const struct doctor *d)
{
	if (d->error)
		return false;
	for (size_t i = 0; i < d->n; i++) {
		if (d->findings[i].needed && d->findings[i].state == FINDING_MISSING)
			return false;
	}
	return true;
}

/* One line: the texts hold paths and names that others chose. */
static void put_line(FILE *f, const char *s)
{
	char safe[4096];

	fputs(fmt_safe(safe, sizeof(safe), s), f);
}

void doctor__print(const struct doctor *d, FILE *f)
{
	static const char *const color[] = {
		[FINDING_OK] = "\033[32m",
		[FINDING_DEGRADED] = "\033[33m",
		[FINDING_MISSING] = "\033[31m",
	};
	bool colored = fmt_color(f), first = true;

	for (size_t i = 0; i < d->n; i++) {
		const struct finding *x = &d->findings[i];

		fprintf(f, "%s%-8s%s  %-11s  ", colored ? color[x->state] : "", finding_state_names[x->state],
			colored ? "\033[0m" : "", x->id);
		put_line(f, x->detail);
		if (x->advice) {
			fputs(" — ", f);
			put_line(f, x->advice);
		}
		fputc('\n', f);
	}
	if (doctor__can_record(d)) {
		fputs("\n`gpubpf record` can work here.\n", f);
		return;
	}
	fputs("\n`gpubpf record` cannot work here; missing: ", f);
	for (size_t i = 0; i < d->n; i++) {
		if (!d->findings[i].needed || d->findings[i].state != FINDING_MISSING)
			continue;
		fprintf(f, "%s%s", first ? "" : ", ", d->findings[i].id);
		first = false;
	}
	fputc('\n', f);
}

json_t *doctor__json(const struct doctor *d)
{
	json_t *checks = json_array(), *all;

	for (size_t i = 0; checks && i < d->n; i++) {
		const struct finding *x = &d->findings[i];
		char detail[4096], advice[4096];
		json_t *one = json_pack("{s:s, s:s, s:b, s:s}", "check", x->id, "state",
					finding_state_names[x->state], "needed", x->needed, "detail",
					fmt_safe(detail, sizeof(detail), x->detail));

		if (one && x->advice)
			json_object_set_new(one, "advice",
					    json_string(fmt_safe(advice, sizeof(advice), x->advice)));
		if (one && x->facts)
			json_object_set(one, "facts", x->facts);
		json_array_append_new(checks, one);
	}
	all = json_pack("{s:i, s:b, s:o}", "schema", 1, "can_record", doctor__can_record(d), "checks",
			checks);
	return all;
}

void doctor__free(struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->findings[i].detail);
		free(d->findings[i].advice);
		json_decref(d->findings[i].facts);
	}
	free(d->findings);
	*d = (struct doctor){ .root = d->root };
}
