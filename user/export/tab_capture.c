// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables of the capture itself: what it is, what it can be trusted with, what it lost. */
#include <stdio.h>

#include "cmd.h"
#include "export/tables.h"
#include "inspect/device.h"
#include "model/ledger.h"
#include "trace/identity.h"
#include "usdt/contract.h"

/* ---- tables ---- */

static const struct tcol tables_cols[] = {
	TCOL("name", TEXT, "of a table of this export"),
	TCOL("measured", BOOL, "somebody saw what the table holds; false: no rows is not zero"),
	TCOL_A("why_not", TEXT, "why nobody saw it"),
	TCOL("meaning", TEXT, "what a row is"),
	{ 0 },
};

static int tables_rows(struct tables *x, const struct table *t)
{
	int rc = 0;

	for (const struct table *const *each = tables_all; !rc && *each; each++) {
		struct trow *r = tables__begin(x, t);
		const char *why = (*each)->unobserved ? (*each)->unobserved(x->t) : NULL;

		trow__text(r, (*each)->name);
		trow__number(r, !why);
		trow__text(r, why);
		trow__text(r, (*each)->meaning);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_tables = {
	.name = "tables",
	.meaning = "one row per table of this export: what is measured in this capture",
	.cols = tables_cols,
	.rows = tables_rows
};

/* ---- capture ---- */

static const struct tcol capture_cols[] = {
	TCOL("schema", NUMBER, "version of these tables"),
	TCOL("exporter", TEXT, "the gpubpf that wrote this"),
	TCOL("verdict", TEXT,
	     "reconciled, uncontradicted, incomplete, empty or not evaluable: computed from the records by the exporter"),
	TCOL("headline", TEXT, "the verdict in words"),
	TCOL("host_observer", TEXT, "there, or left out"),
	TCOL("device_observer", TEXT, "none, failed, silent, partial or whole: what it saw of the calls"),
	TCOL_A("recorder", TEXT, "the gpubpf that recorded"),
	TCOL_A("wire_abi", NUMBER, "version of the records"),
	TCOL_A("mode", TEXT, "launch, attach or system"),
	TCOL_A("attach", TEXT, "how probes were attached: session, multi, perf …"),
	TCOL_A("entry_only", BOOL, "results and durations of calls were not recorded"),
	TCOL_A("start_ns", TIME, "the recorder began"),
	TCOL_A("start_realtime_ns", WALL,
	       "the same by the clock pair nearest before it; absent: no pair, no anchor"),
	TCOL("origin_ns", TIME,
	     "where outputs that count from a beginning begin: start_ns, else the first event"),
	TCOL_A("end_ns", TIME, "the recorder ended; absent: no footer, it was killed or the disk was full"),
	TCOL_A("end_reason", TEXT, "why: target exited, duration, calls, a signal, write error"),
	TCOL_A("exit_status", SIGNED, "of a launched command, as the shell says it"),
	TCOL_A("hostname", TEXT, "of the machine"),
	TCOL_A("boot_id", TEXT, "of the machine's boot: times of one boot have one clock"),
	TCOL_A("kernel", TEXT, "its release"),
	TCOL_A("arch", TEXT, "of the machine"),
	TCOL_A("cpus", COUNT, "processors"),
	TCOL_A("driver_version", TEXT, "of the GPU's kernel driver"),
	TCOL("file_bytes", BYTES, "size of the capture"),
	TCOL("damaged_bytes", BYTES, "of it: skipped between whole blocks"),
	TCOL("damaged_blocks", COUNT, "blocks whose payload could not be read"),
	TCOL("bad_records", COUNT, "blocks with a malformed record: the rest of each was skipped"),
	TCOL("unknown_records", COUNT, "records of a kind that the exporter does not know"),
	TCOL("identity", TEXT, "of the capture, by what it holds: what a sidecar names"),
	{ 0 },
};

static void meta_cells(struct trow *r, const Gpubpf__Meta *m, const struct trace *t)
{
	uint64_t wall = 0;
	bool has_wall;

	trow__text(r, m->gpubpf_version);
	trow__if(r, m->has_wire_abi, m->wire_abi);
	trow__text(r, m->mode);
	trow__text(r, m->attach);
	trow__if(r, m->has_entry_only, m->entry_only);
	trow__if(r, m->has_start_ns, m->start_ns);
	has_wall = m->has_start_ns && inspect_wall(&t->in, m->start_ns, &wall);
	trow__if(r, has_wall, wall);
	trow__number(r, t->start);
}

static void footer_cells(struct trow *r, const Gpubpf__Footer *f)
{
	trow__if(r, f, f ? f->end_ns : 0);
	trow__text(r, f ? f->end_reason : NULL);
	if (f && f->has_exit_status)
		trow__signed(r, f->exit_status);
	else
		trow__absent(r);
}

static void host_cells(struct trow *r, const Gpubpf__Host *h)
{
	trow__text(r, h ? h->hostname : NULL);
	trow__text(r, h ? h->boot_id : NULL);
	trow__text(r, h ? h->kernel : NULL);
	trow__text(r, h ? h->arch : NULL);
	trow__if(r, h && h->has_cpus, h ? h->cpus : 0);
	trow__text(r, h ? h->driver_version : NULL);
}

static int capture_rows(struct tables *x, const struct table *t)
{
	const struct inspection *in = &x->t->in;
	const struct capture_status *st = in->status;
	struct trow *r = tables__begin(x, t);
	struct identity id;
	char line[768];

	ledger_headline(&in->ledger, line, sizeof(line));
	trow__number(r, TABLES_SCHEMA);
	trow__text(r, "gpubpf " GPUBPF_VERSION);
	trow__text(r, ledger_verdict_name(in->ledger.verdict));
	trow__text(r, line);
	trow__text(r, in->host_left_out ? "left out" : "there");
	trow__text(r, ledger_device_state_name(in->ledger.device.state));
	meta_cells(r, in->meta, x->t);
	footer_cells(r, in->footer);
	host_cells(r, in->meta->host);
	trow__number(r, st->file_bytes);
	trow__number(r, st->damaged_bytes + st->tail_bytes);
	trow__number(r, st->damaged_blocks);
	trow__number(r, st->bad_records);
	trow__number(r, st->unknown_records);
	identity__of(in->meta, &id);
	trow__text(r, id.text);
	return tables__put(x);
}

const struct table table_capture = { .name = "capture",
				     .meaning = "one row: what this capture is",
				     .cols = capture_cols,
				     .rows = capture_rows };

/* ---- What the recorder wrote down ---- */

static const struct tcol command_cols[] = {
	TCOL("position", NUMBER, "from 0"),
	TCOL("word", TEXT, "of the launched command line"),
	{ 0 },
};

static int command_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_command; i++) {
		struct trow *r = tables__begin(x, t);

		trow__number(r, i);
		trow__text(r, m->command[i]);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_command = { .name = "command",
				     .meaning = "one row per word of the command that was launched",
				     .cols = command_cols,
				     .rows = command_rows };

static const struct tcol option_cols[] = {
	TCOL("name", TEXT, "of an option of the recorder"),
	TCOL("value", TEXT, "that it had"),
	{ 0 },
};

static int option_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_option; i++) {
		struct trow *r = tables__begin(x, t);

		trow__text(r, m->option[i]->name);
		trow__text(r, m->option[i]->value);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_options = { .name = "options",
				     .meaning = "one row per option of the recorder",
				     .cols = option_cols,
				     .rows = option_rows };

static const struct tcol gpu_cols[] = {
	TCOL_A("uuid", TEXT, "of the GPU"),
	TCOL_A("name", TEXT, "its model"),
	TCOL_A("bus_id", TEXT, "its PCI address"),
	{ 0 },
};

static int gpu_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_gpu; i++) {
		struct trow *r = tables__begin(x, t);

		trow__text(r, m->gpu[i]->uuid);
		trow__text(r, m->gpu[i]->name);
		trow__text(r, m->gpu[i]->bus_id);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_gpus = {
	.name = "gpus",
	.meaning = "one row per GPU of the machine; device numbers in other tables are those of a process",
	.cols = gpu_cols,
	.rows = gpu_rows
};

static const struct tcol library_cols[] = {
	TCOL("number", NUMBER, "that the capture has for it"),
	TCOL_A("path", TEXT, "as the target sees it"),
	TCOL_A("version", TEXT, "of the driver, from the file's real name"),
	TCOL_A("attached_ns", TIME, "probes stood in it from then on"),
	{ 0 },
};

static int library_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_library; i++) {
		const Gpubpf__Library *l = m->library[i];
		struct trow *r = tables__begin(x, t);

		trow__number(r, l->index);
		trow__text(r, l->path);
		trow__text(r, l->version);
		trow__if(r, l->has_attached_ns, l->attached_ns);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_libraries = { .name = "libraries",
				       .meaning = "one row per libcuda that was traced",
				       .cols = library_cols,
				       .rows = library_rows };

static const struct tcol note_cols[] = {
	TCOL("time_ns", TIME, "when"),
	TCOL("code", TEXT, "a machine's word"),
	TCOL("text", TEXT, "what happened"),
	TCOL_A("pid", NUMBER, "of the process that it is about"),
	{ 0 },
};

static int note_rows(struct tables *x, const struct table *t)
{
	const Gpubpf__Meta *m = x->t->in.meta;
	int rc = 0;

	for (size_t i = 0; !rc && i < m->n_note; i++) {
		const Gpubpf__Note *n = m->note[i];
		struct trow *r = tables__begin(x, t);

		trow__number(r, n->time_ns);
		trow__text(r, n->code);
		trow__text(r, n->text);
		trow__if(r, n->has_tgid, n->tgid);
		rc = tables__put(x);
	}
	return rc;
}

const struct table table_notes = { .name = "notes",
				   .meaning = "one row per thing that the recorder noted",
				   .cols = note_cols,
				   .rows = note_rows };
