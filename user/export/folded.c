// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Folded stacks, as flame graphs are made of: `process;thread;call;kernel value`. What one sample's labels tell apart and
 * its stack does not is one line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/samples.h"
#include "util/err.h"

const char *const export_values[] = {
	[SAMPLE_GPU_NS] = "gpu_ns",     [SAMPLE_EXECUTIONS] = "executions", [SAMPLE_LAUNCHES] = "launches",
	[SAMPLE_DELAY_NS] = "delay_ns", [SAMPLE_BYTES] = "bytes",           NULL,
};

struct folded {
	struct samples s;
	struct blobs lines;
	uint64_t *value; /* by number of the line */
	size_t room;
};

/* Whether the sample has such a value at all: without, it is no line of 0. */
static bool has_value(const struct sample *s, enum sample_value which)
{
	const struct sample_key *k = &s->key;

	switch (which) {
	case SAMPLE_LAUNCHES:
		return s->value[SAMPLE_LAUNCHES];
	case SAMPLE_DELAY_NS:
		return k->delay == SAMPLE_DELAY_MEASURED;
	case SAMPLE_BYTES:
		return k->has & SAMPLE_IS_RUN && k->kind != GPUBPF_ACTIVITY_KERNEL;
	default:
		return k->has & SAMPLE_IS_RUN;
	}
}

/* Lines are taken apart at semicolons and at the last space; names hold no line ends any more. */
static void put_name(FILE *f, const char *name, bool first)
{
	if (!first)
		putc(';', f);
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name, f);
}

static int put_line(struct folded *d, const struct sample_key *k, bool untimed, FILE *f)
{
	const struct samples *s = &d->s;
	size_t depth;
	const uint32_t *frame = samples__stack(s, k->stack, &depth);
	uint32_t thread;

	put_name(f, k->has & SAMPLE_HAS_PROCESS ? samples__text(s, k->process) : "<process not known>", true);
	if (k->has & SAMPLE_HAS_THREAD) {
		int rc = samples__thread(&d->s, k, &thread);

		if (rc)
			return rc;
		put_name(f, samples__text(s, samples__frame(s, thread)->name), false);
	}
	for (size_t i = 0; i < depth; i++)
		put_name(f, samples__text(s, samples__frame(s, frame[i])->name), false);
	if (k->leaf)
		put_name(f, samples__text(s, samples__frame(s, k->leaf - 1)->name), false);
	if (untimed)
		fputs(" [not timed]", f);
	return 0;
}

static int add(struct folded *d, const char *line, size_t n, uint64_t value)
{
	uint32_t number;
	int rc = blobs__put(&d->lines, line, n, &number);

	if (rc)
		return rc;
	if (number >= d->room) {
		size_t room = d->room ? d->room * 2 : 256;
		uint64_t *v = realloc(d->value, room * sizeof(*v));

		if (!v)
			return -ENOMEM;
		memset(v + d->room, 0, (room - d->room) * sizeof(*v));
		d->value = v;
		d->room = room;
	}
	d->value[number] = value > UINT64_MAX - d->value[number] ? UINT64_MAX : d->value[number] + value;
	return 0;
}

static int add_all(struct folded *d, enum sample_value which)
{
	char *line = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&line, &n);
	int rc = f ? 0 : -ENOMEM;

	for (size_t i = 0; !rc && i < d->s.map.n; i++) {
		const struct sample *s = hmap__at(&d->s.map, i);

		if (!has_value(s, which))
			continue;
		rewind(f);
		rc = put_line(d, &s->key, which == SAMPLE_GPU_NS && !(s->key.has & SAMPLE_HAS_TIME), f);
		if (!rc && fflush(f))
			rc = -ENOMEM;
		if (!rc)
			rc = add(d, line, n, s->value[which]);
	}
	if (f)
		fclose(f);
	free(line);
	return rc;
}

static int choose(const struct trace *t, const char *name, const struct samples *s, enum sample_value *which,
		  struct err *err)
{
	*which = SAMPLE_GPU_NS;
	for (unsigned i = 0; name && i < SAMPLE_VALUES; i++)
		if (strcmp(name, export_values[i]) == 0)
			*which = i;
	if (*which == SAMPLE_LAUNCHES || s->has_device)
		return 0;
	return err_set(
		err, -ENODATA,
		"%s: the capture has no device observer, and nobody measured %s; `--value launches` is there",
		t->in.path, export_values[*which]);
}

int export_folded(struct trace *t, struct export_out *out, const struct export_opts *o, struct err *err)
{
	enum sample_value which;
	struct folded d = { 0 };
	int rc = samples__read(&d.s, t, o->progress, err);

	if (!rc)
		rc = choose(t, o->value, &d.s, &which, err);
	if (!rc)
		rc = add_all(&d, which);
	for (size_t i = 0; !rc && i < d.lines.n; i++) {
		fprintf(out->f, "%s %" PRIu64 "\n", d.lines.blob[i].bytes, d.value[i]);
		rc = export_out__failed(out);
	}
	blobs__clear(&d.lines);
	free(d.value);
	samples__clear(&d.s);
	return rc == -ENOMEM ? err_set(err, rc, "%s: out of memory", t->in.path) : rc;
}
