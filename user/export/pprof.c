// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pprof's profile.proto, compressed by gzip. A message's parts may come one after the other in any order, so the profile is
 * packed and written in pieces of one element each: memory is that of the samples.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "export/export.h"
#include "export/notes.h"
#include "export/samples.h"
#include "profile.pb-c.h"
#include "trace/identity.h"
#include "trace/wall.h"
#include "util/err.h"

#define LABELS_MAX 20

struct pprof {
	struct samples s;
	struct export_out *out;
	z_stream z;
	bool has_z;
	uint8_t *piece;
	size_t room;
	struct blobs functions; /* name and file of each */
	struct blobs modules;   /* texts of mappings */
};

/* What the columns mean, and whether they need the device observer. */
static const struct {
	const char *type, *unit;
	bool of_device;
} columns[SAMPLE_VALUES] = {
	[SAMPLE_GPU_NS] = { "gpu_time", "nanoseconds", true },
	[SAMPLE_EXECUTIONS] = { "executions", "count", true },
	[SAMPLE_LAUNCHES] = { "launches", "count", false },
	[SAMPLE_DELAY_NS] = { "launch_delay", "nanoseconds", true },
	[SAMPLE_BYTES] = { "bytes", "bytes", true },
};

static bool has_column(const struct pprof *p, unsigned i)
{
	return p->s.has_device || !columns[i].of_device;
}

/* ---- gzip ---- */

static int deflate_all(struct pprof *p, int how)
{
	uint8_t buf[64 << 10];
	int z;

	do {
		p->z.next_out = buf;
		p->z.avail_out = sizeof(buf);
		z = deflate(&p->z, how);
		if (z == Z_STREAM_ERROR)
			return -EIO;
		fwrite(buf, 1, sizeof(buf) - p->z.avail_out, p->out->f);
	} while (!p->z.avail_out);
	return export_out__failed(p->out);
}

/* The header holds neither time nor name nor system: the same profile gives the same bytes. */
static int begin_gzip(struct pprof *p)
{
	gz_header plain = { .os = 255 };

	if (deflateInit2(&p->z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	p->has_z = true;
	return deflateSetHeader(&p->z, &plain) == Z_OK ? deflate_all(p, Z_NO_FLUSH) : -EIO;
}

/* A part of the profile: one element, or some of the single fields. */
static int put(struct pprof *p, const Gpubpf__Pprof__Profile *part)
{
	size_t n = gpubpf__pprof__profile__get_packed_size(part);

	if (n > p->room) {
		uint8_t *piece = realloc(p->piece, n);

		if (!piece)
			return -ENOMEM;
		p->piece = piece;
		p->room = n;
	}
	gpubpf__pprof__profile__pack(part, p->piece);
	p->z.next_in = p->piece;
	p->z.avail_in = (uInt)n;
	return deflate_all(p, Z_NO_FLUSH);
}

/* ---- Samples ---- */

struct labels {
	Gpubpf__Pprof__Label label[LABELS_MAX], *of[LABELS_MAX];
	size_t n;
	struct blobs *texts;
	int rc;
};

static void label(struct labels *l, const char *key, const char *value)
{
	Gpubpf__Pprof__Label *to = &l->label[l->n];
	uint32_t k, v;

	if (!value || l->rc)
		return;
	l->rc = blobs__text(l->texts, key, &k);
	if (!l->rc)
		l->rc = blobs__text(l->texts, value, &v);
	if (l->rc)
		return;
	gpubpf__pprof__label__init(to);
	to->key = k;
	to->str = v;
	l->of[l->n++] = to;
}

__attribute__((format(printf, 3, 4))) static void labelf(struct labels *l, const char *key, const char *fmt,
							 ...)
{
	char text[64];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	label(l, key, text);
}

/* Numbers are texts: they are names of things, and pprof drops a number that is 0. */
static void make_labels(const struct pprof *p, const struct sample_key *k, struct labels *l)
{
	if (k->has & SAMPLE_HAS_PROCESS) {
		label(l, "process", samples__text(&p->s, k->process));
		labelf(l, "pid", "%u", k->pid);
	}
	if (k->has & SAMPLE_HAS_THREAD)
		labelf(l, "thread", "%u", k->tid);
	if (k->has & SAMPLE_HAS_LANE) {
		labelf(l, "device", "%u", k->device);
		labelf(l, "context", "%u", k->context);
		labelf(l, "stream", "%u", k->stream);
	}
	if (k->has & SAMPLE_HAS_GRID)
		labelf(l, "grid", "%ux%ux%u", k->grid[0], k->grid[1], k->grid[2]);
	if (k->has & SAMPLE_HAS_BLOCK)
		labelf(l, "block", "%ux%ux%u", k->block[0], k->block[1], k->block[2]);
	if (k->has & SAMPLE_IS_RUN) {
		label(l, "kind", join_kind_name(k->kind));
		label(l, "link", join_link_name(k->link));
		label(l, "timing", join_time_name(k->time));
		label(l, "timing_source", timing_source_name(k->source));
		label(l, "delay", sample_delay_name(k));
		if (k->has & SAMPLE_IS_NODE)
			label(l, "graph_node", "yes");
	} else {
		label(l, "outcome", sample_outcome_name(k));
		label(l, "on_device", sample_fate_name(k));
	}
	label(l, "stack", sample_stack_name(k));
}

static int put_sample(struct pprof *p, const struct sample *s, uint64_t *ids)
{
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	Gpubpf__Pprof__Sample sample = GPUBPF__PPROF__SAMPLE__INIT, *one = &sample;
	struct labels l = { .texts = &p->s.texts };
	int64_t value[SAMPLE_VALUES];
	size_t depth;
	const uint32_t *frame = samples__stack(&p->s, s->key.stack, &depth);
	uint32_t thread;
	int rc = 0;

	if (s->key.leaf)
		ids[sample.n_location_id++] = s->key.leaf; /* 1 + frame: a location's id */
	while (depth)
		ids[sample.n_location_id++] = frame[--depth] + UINT64_C(1);
	if (!(s->key.has & SAMPLE_HAS_STACK) && s->key.has & SAMPLE_HAS_THREAD) {
		rc = samples__thread(&p->s, &s->key, &thread);
		ids[sample.n_location_id++] = thread + UINT64_C(1);
	}
	if (rc)
		return rc;
	for (unsigned i = 0; i < SAMPLE_VALUES; i++)
		if (has_column(p, i))
			value[sample.n_value++] = (int64_t)s->value[i];
	make_labels(p, &s->key, &l);
	sample.location_id = ids;
	sample.value = value;
	sample.label = l.of;
	sample.n_label = l.n;
	part.sample = &one;
	part.n_sample = 1;
	return l.rc ? l.rc : put(p, &part);
}

static int put_samples(struct pprof *p)
{
	uint64_t *ids = malloc((SAMPLE_STACK_MAX + 2) * sizeof(*ids));
	int rc = ids ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < p->s.map.n; i++)
		rc = put_sample(p, hmap__at(&p->s.map, i), ids);
	free(ids);
	return rc;
}

/* ---- What samples point to ---- */

static int put_location(struct pprof *p, uint32_t number)
{
	const struct sample_frame *f = samples__frame(&p->s, number);
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	Gpubpf__Pprof__Location location = GPUBPF__PPROF__LOCATION__INIT, *one = &location;
	Gpubpf__Pprof__Line line = GPUBPF__PPROF__LINE__INIT, *lines = &line;
	uint32_t function, module = 0;
	int rc = blobs__put(&p->functions, (uint32_t[2]){ f->name, f->file }, 2 * sizeof(uint32_t),
			    &function);

	if (!rc && f->module)
		rc = blobs__put(&p->modules, &f->module, sizeof(f->module), &module);
	if (rc)
		return rc;
	line.function_id = function + UINT64_C(1);
	line.line = f->line;
	location.id = number + UINT64_C(1);
	location.mapping_id = module + UINT64_C(1);
	location.line = &lines;
	location.n_line = 1;
	part.location = &one;
	part.n_location = 1;
	return put(p, &part);
}

static int put_function(struct pprof *p, uint32_t number)
{
	const uint32_t *f = (const uint32_t *)(const void *)p->functions.blob[number].bytes;
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	Gpubpf__Pprof__Function function = GPUBPF__PPROF__FUNCTION__INIT, *one = &function;

	function.id = number + UINT64_C(1);
	function.name = f[0];
	function.system_name = f[0];
	function.filename = f[1];
	part.function = &one;
	part.n_function = 1;
	return put(p, &part);
}

/* Names are all there: nobody shall look for symbols in these files. */
static int put_mapping(struct pprof *p, uint32_t number)
{
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	Gpubpf__Pprof__Mapping mapping = GPUBPF__PPROF__MAPPING__INIT, *one = &mapping;
	uint32_t text;

	memcpy(&text, p->modules.blob[number].bytes, sizeof(text));
	mapping.id = number + UINT64_C(1);
	mapping.filename = text;
	mapping.has_functions = true;
	mapping.has_filenames = true;
	mapping.has_line_numbers = true;
	mapping.has_inline_frames = true;
	part.mapping = &one;
	part.n_mapping = 1;
	return put(p, &part);
}

static int put_tables(struct pprof *p)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->s.frames.n; i++)
		rc = put_location(p, (uint32_t)i);
	for (size_t i = 0; !rc && i < p->functions.n; i++)
		rc = put_function(p, (uint32_t)i);
	for (size_t i = 0; !rc && i < p->modules.n; i++)
		rc = put_mapping(p, (uint32_t)i);
	return rc;
}

static int put_texts(struct pprof *p)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < p->s.texts.n; i++) {
		Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
		char *one = (char *)p->s.texts.blob[i].bytes;

		part.string_table = &one;
		part.n_string_table = 1;
		rc = put(p, &part);
	}
	return rc;
}

/* ---- The head ---- */

/* pprof takes the first mapping for the program. */
static int begin_modules(struct pprof *p)
{
	const Gpubpf__Meta *meta = p->s.t->in.meta;
	const char *program = meta->n_command                                 ? meta->command[0]
			      : meta->n_process == 1 && meta->process[0]->exe ? meta->process[0]->exe
									      : "gpubpf";
	uint32_t text, number;
	int rc = samples__add_text(&p->s, program, &text);

	return rc ? rc : blobs__put(&p->modules, &text, sizeof(text), &number);
}

static int put_types(struct pprof *p)
{
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	Gpubpf__Pprof__ValueType type[SAMPLE_VALUES], *types[SAMPLE_VALUES];
	uint32_t name, unit;
	int rc = 0;

	part.sample_type = types;
	for (unsigned i = 0; !rc && i < SAMPLE_VALUES; i++) {
		if (!has_column(p, i))
			continue;
		rc = blobs__text(&p->s.texts, columns[i].type, &name);
		if (!rc)
			rc = blobs__text(&p->s.texts, columns[i].unit, &unit);
		if (rc)
			return rc;
		gpubpf__pprof__value_type__init(&type[i]);
		type[i].type = name;
		type[i].unit = unit;
		types[part.n_sample_type++] = &type[i];
		/* gpu_time, where there is one */
		if (i == SAMPLE_GPU_NS || (i == SAMPLE_LAUNCHES && !p->s.has_device))
			part.default_sample_type = name;
	}
	return rc ? rc : put(p, &part);
}

static int put_times(struct pprof *p)
{
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	uint64_t real, took;
	struct wall w;
	int rc = wall__init(&w, p->s.t->in.meta);

	if (rc)
		return rc;
	if (wall__at(&w, p->s.t->start, &real) && real <= INT64_MAX)
		part.time_nanos = (int64_t)real;
	if (trace_took(p->s.t, &took) && took <= INT64_MAX)
		part.duration_nanos = (int64_t)took;
	wall__clear(&w);
	return put(p, &part);
}

static int put_comment(const char *text, void *arg)
{
	Gpubpf__Pprof__Profile part = GPUBPF__PPROF__PROFILE__INIT;
	struct pprof *p = arg;
	int64_t comment;
	uint32_t number;
	int rc = blobs__text(&p->s.texts, text, &number);

	if (rc)
		return rc;
	comment = number;
	part.comment = &comment;
	part.n_comment = 1;
	return put(p, &part);
}

int export_pprof(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err)
{
	struct pprof p = { .out = out };
	int rc = samples__read(&p.s, t, o->progress, err);

	if (!rc)
		rc = begin_gzip(&p);
	if (!rc)
		rc = begin_modules(&p);
	if (!rc)
		rc = put_types(&p);
	if (!rc)
		rc = put_times(&p);
	if (!rc)
		rc = export_notes(t, put_comment, &p);
	if (!rc && !p.s.has_stacks)
		rc = put_comment("absent: no user stacks: each begins with its thread (record --stacks)", &p);
	if (!rc)
		rc = put_samples(&p);
	if (!rc)
		rc = put_tables(&p);
	if (!rc)
		rc = put_texts(&p);
	if (!rc)
		rc = deflate_all(&p, Z_FINISH);
	if (p.has_z)
		deflateEnd(&p.z);
	free(p.piece);
	blobs__clear(&p.functions);
	blobs__clear(&p.modules);
	samples__clear(&p.s);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}
