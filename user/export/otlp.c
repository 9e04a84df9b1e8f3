// SPDX-License-Identifier: GPL-2.0-or-later
#include "export/otlp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "export/notes.h"
#include "util/err.h"
#include "util/fmt.h"

#define LINE_ITEMS 64

const char *const export_signals[] = {
	[OTLP_TRACES] = "traces", [OTLP_LOGS] = "logs", [OTLP_METRICS] = "metrics", NULL
};

/* ---- JSON ---- */

void otlp_put_text(FILE *f, const char *text)
{
	char few[1024], *safe = few;
	size_t n = 4 * strlen(text) + 1;

	if (n > sizeof(few))
		safe = malloc(n);
	putc('"', f);
	/* UTF-8 without control characters is left */
	for (const char *s = fmt_safe(safe ? safe : few, safe ? n : sizeof(few), text); *s; s++) {
		if (*s == '"' || *s == '\\')
			putc('\\', f);
		putc(*s, f);
	}
	putc('"', f);
	if (safe != few)
		free(safe);
}

void otlp_attrs__begin(struct otlp_attrs *a, FILE *f, const char *field)
{
	*a = (struct otlp_attrs){ .f = f };
	fprintf(f, "\"%s\":[", field);
}

static void key_of(struct otlp_attrs *a, const char *key)
{
	fprintf(a->f, "%s{\"key\":\"%s\",\"value\":{", a->some ? "," : "", key);
	a->some = true;
}

void otlp_attrs__text(struct otlp_attrs *a, const char *key, const char *value)
{
	if (!value)
		return;
	key_of(a, key);
	fputs("\"stringValue\":", a->f);
	otlp_put_text(a->f, value);
	fputs("}}", a->f);
}

/* The format's integers are signed: what does not fit is a text. */
void otlp_attrs__int(struct otlp_attrs *a, const char *key, uint64_t value)
{
	key_of(a, key);
	fprintf(a->f, "\"%s\":\"%" PRIu64 "\"}}", value <= INT64_MAX ? "intValue" : "stringValue", value);
}

void otlp_attrs__bool(struct otlp_attrs *a, const char *key, bool value)
{
	key_of(a, key);
	fprintf(a->f, "\"boolValue\":%s}}", value ? "true" : "false");
}

static void begin_array(struct otlp_attrs *a, const char *key)
{
	key_of(a, key);
	fputs("\"arrayValue\":{\"values\":[", a->f);
}

static void array_text(FILE *f, const char *text, bool first)
{
	fputs(first ? "{\"stringValue\":" : ",{\"stringValue\":", f);
	otlp_put_text(f, text);
	putc('}', f);
}

void otlp_attrs__texts(struct otlp_attrs *a, const char *key, char *const *value, size_t n)
{
	begin_array(a, key);
	for (size_t i = 0; i < n; i++)
		array_text(a->f, value[i], !i);
	fputs("]}}}", a->f);
}

void otlp_attrs__end(struct otlp_attrs *a)
{
	putc(']', a->f);
}

/* ---- Resources ---- */

struct note_list {
	FILE *f;
	bool some;
};

static int put_note(const char *text, void *arg)
{
	struct note_list *l = arg;

	array_text(l->f, text, !l->some);
	l->some = true;
	return 0;
}

void otlp__notes(const struct otlp *o, struct otlp_attrs *a)
{
	struct note_list l = { .f = a->f };

	begin_array(a, "gpubpf.notes");
	export_notes(o->t, put_note, &l);
	fputs("]}}}", a->f);
}

void otlp__scope(FILE *f)
{
	fputs("\"scope\":{\"name\":\"gpubpf\",\"version\":\"" GPUBPF_VERSION "\"}", f);
}

/* Of this life of the process, or else of its number. */
static const Gpubpf__Process *description(const Gpubpf__Meta *meta, const struct proc *p)
{
	const Gpubpf__Process *found = NULL;

	for (size_t i = 0; i < meta->n_process; i++) {
		const Gpubpf__Process *d = meta->process[i];

		if (d->tgid != p->tgid)
			continue;
		if (d->has_start_time && d->start_time == p->start_time)
			return d;
		found = found ? found : d;
	}
	return found;
}

static const char *last_part(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash && slash[1] ? slash + 1 : path;
}

static void put_process(const struct otlp *o, const struct proc *p, struct otlp_attrs *a)
{
	const Gpubpf__Process *d = description(o->t->in.meta, p);
	const char *exe = d ? d->exe : NULL;

	otlp_attrs__text(a, "service.name", exe ? last_part(exe) : p->comm[0] ? p->comm : "unknown_service");
	otlp_attrs__int(a, "process.pid", p->tgid);
	if (p->key[1])
		otlp_attrs__int(a, "gpubpf.process.earlier_lives", p->key[1]);
	otlp_attrs__text(a, "process.executable.name", p->comm[0] ? p->comm : NULL);
	otlp_attrs__text(a, "process.executable.path", exe);
	if (d && d->n_cmdline)
		otlp_attrs__texts(a, "process.command_args", d->cmdline, d->n_cmdline);
	otlp_attrs__text(a, "container.id", d ? d->container : NULL);
}

void otlp__resource(const struct otlp *o, const struct otlp_process *p, FILE *f)
{
	const Gpubpf__Meta *meta = o->t->in.meta;
	const Gpubpf__Host *host = meta->host;
	struct otlp_attrs a;

	fputs("\"resource\":{", f);
	otlp_attrs__begin(&a, f, "attributes");
	if (p)
		put_process(o, p->proc, &a);
	else
		otlp_attrs__text(&a, "service.name",
				 meta->n_command ? last_part(meta->command[0]) : "gpubpf");
	if (host) {
		otlp_attrs__text(&a, "host.name", host->hostname);
		otlp_attrs__text(&a, "host.arch", host->arch);
		otlp_attrs__text(&a, "os.version", host->kernel);
	}
	otlp_attrs__text(&a, "os.type", "linux");
	otlp_attrs__text(&a, "gpubpf.capture.id", o->id.text);
	otlp_attrs__text(&a, "gpubpf.verdict", ledger_verdict_name(o->t->in.ledger.verdict));
	if (!p) /* else the process's own span has them */
		otlp__notes(o, &a);
	otlp_attrs__text(&a, "gpubpf.clock.domain",
			 "CLOCK_MONOTONIC, shown as CLOCK_REALTIME by clock pairs");
	if (o->wall.has_error)
		otlp_attrs__int(&a, "gpubpf.clock.error_ns", o->wall.error_ns);
	otlp_attrs__end(&a);
	putc('}', f);
}

/* ---- Lines ---- */

struct otlp_process *otlp__process(struct otlp *o, const struct proc *p)
{
	struct otlp_process *there = hmap__put(&o->processes, p->key);
	uint64_t number = p->key[0] << 28 | (p->key[1] & 0xfffffff);

	if (!there || there->proc)
		return there;
	/* another pass has processes of its own, which may not know their names yet */
	there->proc = hmap__get(&o->t->m->procs.lives, p->key);
	if (!there->proc)
		there->proc = p;
	there->trace[0] = o->id.word[0];
	there->trace[1] = identity__id(&o->id, 1, number);
	there->root = identity__id(&o->id, 2, number);
	return there;
}

FILE *otlp__item(struct otlp *o, struct otlp_process *p)
{
	(void)o;
	if (!p->f) {
		p->f = open_memstream(&p->items, &p->size);
		if (!p->f)
			return NULL;
	}
	if (p->n)
		putc(',', p->f);
	return p->f;
}

int otlp__flush(struct otlp *o, struct otlp_process *p)
{
	static const char *const words[][3] = {
		[OTLP_TRACES] = { "resourceSpans", "scopeSpans", "spans" },
		[OTLP_LOGS] = { "resourceLogs", "scopeLogs", "logRecords" },
	};
	FILE *f = o->out->f;
	int rc;

	if (!p->f)
		return 0;
	rc = fclose(p->f) ? -ENOMEM : 0;
	p->f = NULL;
	if (!rc && p->n) {
		fprintf(f, "{\"%s\":[{", words[o->signal][0]);
		otlp__resource(o, p, f);
		fprintf(f, ",\"%s\":[{", words[o->signal][1]);
		otlp__scope(f);
		fprintf(f, ",\"%s\":[", words[o->signal][2]);
		fwrite(p->items, 1, p->size, f);
		fputs("]}]}]}\n", f);
		rc = export_out__failed(o->out);
	}
	free(p->items);
	p->items = NULL;
	p->n = 0;
	return rc;
}

int otlp__item_done(struct otlp *o, struct otlp_process *p)
{
	if (ferror(p->f))
		return -ENOMEM;
	return ++p->n < LINE_ITEMS ? 0 : otlp__flush(o, p);
}

/* ---- The format ---- */

static int anchor(struct otlp *o, struct err *err)
{
	const struct trace *t = o->t;
	uint64_t took = 0;
	int rc = wall__init(&o->wall, t->in.meta);

	if (rc)
		return rc;
	if (!o->wall.n)
		return err_set(
			err, -ENODATA,
			"%s: no clock pair ties this capture to the wall clock, which OpenTelemetry's times are "
			"of; `--format jsonl` keeps the capture's own clock",
			t->in.path);
	trace_took(t, &took);
	if (!wall__at(&o->wall, t->start, &o->seen_at) || o->seen_at > UINT64_MAX - took)
		return err_set(err, -ERANGE, "%s: its clock pairs lead to times that no clock shows",
			       t->in.path);
	o->seen_at += took;
	return 0;
}

int export_otlp(struct trace *t, struct export_out *out, const struct export_opts *opts, struct err *err)
{
	struct otlp o = { .t = t, .out = out };
	int rc;

	for (unsigned i = 0; opts->signal && export_signals[i]; i++)
		if (strcmp(opts->signal, export_signals[i]) == 0)
			o.signal = i;
	hmap__init(&o.processes, sizeof((struct otlp_process){ 0 }.key), sizeof(struct otlp_process));
	identity__of(t->in.meta, &o.id);
	rc = anchor(&o, err);
	progress__begin(&o.progress, opts->progress, "export", trace__execs(t) + t->m->calls);
	if (!rc)
		rc = o.signal == OTLP_METRICS ? otlp_metrics(&o, err) : otlp_events(&o, err);
	progress__end(&o.progress);
	for (size_t i = 0; i < o.processes.n; i++) {
		struct otlp_process *p = hmap__at(&o.processes, i);

		if (p->f)
			fclose(p->f);
		free(p->items);
	}
	hmap__clear(&o.processes);
	wall__clear(&o.wall);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}
