// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Any bytes as a capture, read and rendered in every way. Checksums would stop the fuzzer at the door, so
 * each input is read twice: as it is, and with the checksums of its blocks made right.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/format.h"
#include "export/export.h"
#include "export/tables.h"
#include "inspect/inspect.h"
#include "join_look.h"
#include "latency/lat.h"
#include "util/crc32c.h"
#include "util/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void repair(uint8_t *data, size_t size)
{
	struct capture_block_header h;
	size_t at = sizeof(struct capture_file_header);

	if (size < at)
		return;
	capture_file_header_make((struct capture_file_header *)data);
	while (size - at >= sizeof(h)) {
		size_t left = size - at - sizeof(h);

		memcpy(&h, data + at, sizeof(h));
		if (h.stored > left)
			h.stored = (uint32_t)left;
		h.plain %= 1 << 20; /* the fuzzer's memory limit, not the reader's */
		if (!(h.flags & CAPTURE_FLAG_ZSTD))
			h.plain = h.stored;
		h.payload_crc = crc32c(0, data + at + sizeof(h), h.stored);
		capture_block_header_seal(&h);
		memcpy(data + at, &h, sizeof(h));
		at += sizeof(h) + h.stored;
	}
}

static void inspect(const char *path, FILE *null)
{
	inspection_fn *const fns[] = { inspect_record_text, inspect_record_json };
	struct inspection s;
	struct err err = { 0 };

	for (unsigned i = 0; i < 2; i++) {
		if (inspection__open(&s, path, &err) == 0 && inspection__read(&s, fns[i], null, &err) == 0) {
			if (s.ledger.verdict == LEDGER_RECONCILED && !s.join)
				abort();
			if (s.join)
				join_look(s.join, s.host_left_out);
			inspect_text(&s, null, true);
			inspect_json(&s, null, true);
		}
		inspection__close(&s);
	}
}

static void latency(const char *path, FILE *null)
{
	static const char *const any = "*";
	struct latency l;
	struct err err = { 0 };
	char *svg = NULL;
	size_t n;

	/* as it is, and read twice for a choice of kernels */
	for (size_t kernels = 0; kernels < 2; kernels++) {
		struct latency_opts o = { .slowest = 2, .kernels = &any, .nkernels = kernels };

		if (latency__open(&l, path, &o, &err) == 0) {
			latency_text(&l, null);
			latency_json(&l, null);
			latency_folded(&l, kernels, null);
			if (latency_svg(&l, &svg, &n) == 0)
				free(svg);
		}
		latency__close(&l);
	}
}

/* Every cell is of its column's type, and what may not be absent is there. */
static int look_at_row(struct tsink *sink, const struct trow *r)
{
	size_t *texts = (size_t *)(sink + 1);

	for (unsigned i = 0; i < r->n; i++) {
		const struct tcol *c = &r->table->cols[i];
		const struct tcell *cell = &r->c[i];

		if ((cell->kind == TCELL_ABSENT && tcol_always(c)) ||
		    (cell->kind == TCELL_UNMEASURED && !(c->may & TCOL_UNMEASURED)))
			abort();
		if (cell->kind == TCELL_VALUE && (c->type == TCOL_WORD || c->type == TCOL_TEXT))
			*texts += strlen(cell->v.s);
		if (cell->kind == TCELL_VALUE && c->type == TCOL_WORD && !strstr(c->of, cell->v.s))
			abort();
	}
	return 0;
}

/* What fails says why: pprof, folded and otlp refuse some captures. */
static void export_profiles(struct trace *t, FILE *null)
{
	static int (*const formats[])(struct trace * t, struct export_out * out, const struct export_opts *o,
				      struct err *err) = { export_pprof, export_folded, export_otlp };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		for (size_t k = 0; k == 0 || (formats[i] == export_otlp && export_signals[k]); k++) {
			struct export_out out = { .f = null, .fd = -1 };
			struct export_opts o = { .signal = export_signals[k] };
			struct err err = { 0 };

			if (formats[i](t, &out, &o, &err) && !err.msg[0])
				abort();
		}
}

static void export(const char *path, FILE *null)
{
	struct {
		struct tsink sink;
		size_t texts;
	} s = { .sink = { .row = look_at_row, .mixed = true } };
	static const struct model_opts all = { .memory = true, .stacks = true, .modules = true };
	struct err err = { 0 };
	struct trace t;

	if (trace__open(&t, path, &all, &err) == 0) {
		if (tables__run(&t, &s.sink, NULL, NULL, &err))
			abort();
		export_profiles(&t, null);
	}
	trace__close(&t);
}

static void read_as_file(const uint8_t *data, size_t size, FILE *null)
{
	int fd = memfd_create("capture", 0);
	char path[32];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	inspect(path, null);
	latency(path, null);
	export(path, null);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static FILE *null;
	uint8_t *copy = malloc(size + 1);

	if (!null)
		null = fopen("/dev/null", "w");
	if (!null || !copy)
		abort();
	read_as_file(data, size, null);
	memcpy(copy, data, size);
	repair(copy, size);
	read_as_file(copy, size, null);
	free(copy);
	return 0;
}
