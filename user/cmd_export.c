// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "export/export.h"
#include "export/schema.h"
#include "export/sqlite.h"
#include "export/tables.h"
#include "sidecar/man.h"
#include "sidecar/sidecar.h"
#include "util/err.h"
#include "util/opts.h"

struct export_args {
	const char *format, *output, *table;
	int schema;
	const char *value, *signal, *sidecar;
};

#define O(field) offsetof(struct export_args, field)
static const struct opt export_opts_table[] = {
	{ .letter = 'f',
	  .name = "format",
	  .type = OPT_STRING,
	  .arg = "FORMAT",
	  .offset = O(format),
	  .help = "json, jsonl, csv, sqlite, pprof, folded or otlp." },
	{ .letter = 'o',
	  .name = "output",
	  .type = OPT_STRING,
	  .arg = "OUT",
	  .offset = O(output),
	  .help = "Write to this file, which is there under its name only when it is whole. Without it, and "
		  "for \"-\", to standard output." },
	{ .name = "table",
	  .type = OPT_STRING,
	  .arg = "NAME",
	  .offset = O(table),
	  .help = "Only this table, of json, jsonl and csv, which needs it: tables, capture, command, options, environment, gpus, libraries, "
		  "notes, reasons, ledger_host, ledger_device, timings, processes, process_info, threads, apis, sessions, losses, "
		  "launch_keys, kernels, stacks, calls, call_times, call_waits, call_stacks, allocations, clock_pairs, gpu_errors, device_calls, executions, "
		  "copies, modules, markers, external_ids, unified_memory, "
		  "semantic_coverage, semantic_nodes, semantic_links or semantic_targets." },
	{ .name = "sidecar",
	  .type = OPT_STRING,
	  .arg = "JSON",
	  .offset = O(sidecar),
	  .help = "Write, in the semantic tables of json, jsonl, csv and sqlite, what this file says that calls and executions "
		  "meant: steps, requests, layers. It is made for this capture." },
	{ .name = "schema",
	  .type = OPT_FLAG,
	  .offset = O(schema),
	  .help = "Print what the tables and their columns mean, and stop: as a JSON schema, with `--format sqlite` as SQL. "
		  "No FILE is needed." },
	{ .name = "value",
	  .type = OPT_STRING,
	  .arg = "VALUE",
	  .offset = O(value),
	  .help = "What folded stacks count: gpu_ns (time on the device), executions (kernels, copies and sets that ran), "
		  "launches (API calls that launch kernels and graphs), delay_ns (entry of a call to the start of the first "
		  "thing that it started) or bytes (copied and set).",
	  .has_default = 1,
	  .default_text = "gpu_ns" },
	{ .name = "signal",
	  .type = OPT_STRING,
	  .arg = "SIGNAL",
	  .offset = O(signal),
	  .help = "What of OpenTelemetry: traces (calls and executions with a duration), logs (those that are a moment, or of "
		  "which no time is known) or metrics.",
	  .has_default = 1,
	  .default_text = "traces" },
	{ 0 },
};

static int choose_format(const char *name, const struct export_format **out, struct err *err)
{
	const char *names[32], *nearest;
	size_t n = 0;

	if (!name)
		return err_set(err, -EINVAL, "export needs --format; `gpubpf export --help` lists them");
	for (const struct export_format *f = export_formats; f->name && n < 32; f++) {
		names[n++] = f->name;
		if (strcmp(f->name, name) == 0) {
			*out = f;
			return f->missing ? err_set(err, -ENOTSUP,
						    "this gpubpf was built without %s, which %s needs",
						    f->missing, name)
					  : 0;
		}
	}
	nearest = opts_nearest(name, names, n);
	if (nearest)
		return err_set(err, -EINVAL, "there is no format '%s'; did you mean '%s'?", name, nearest);
	return err_set(err, -EINVAL, "there is no format '%s'; `gpubpf export --help` lists them", name);
}

static int check_table(const char *name, const char *format, struct err *err)
{
	const char *names[64], *nearest;
	size_t n = 0;

	if (!name)
		return strcmp(format, "csv")
			       ? 0
			       : err_set(err, -EINVAL, "--format csv writes one table: name it with --table");
	if (tables__find(name))
		return 0;
	while (tables_all[n] && n < 64) {
		names[n] = tables_all[n]->name;
		n++;
	}
	nearest = opts_nearest(name, names, n);
	if (nearest)
		return err_set(err, -EINVAL, "there is no table '%s'; did you mean '%s'?", name, nearest);
	return err_set(err, -EINVAL, "there is no table '%s'; `gpubpf export --help` lists them", name);
}

/* NULL is the first. */
static int check_word(const char *option, const char *word, const char *const *words, bool goes,
		      const char *format, struct err *err)
{
	const char *nearest;
	size_t n = 0;

	if (!word)
		return 0;
	if (!goes)
		return err_set(err, -EINVAL, "%s does not go with --format %s", option, format);
	for (; words[n]; n++)
		if (strcmp(words[n], word) == 0)
			return 0;
	nearest = opts_nearest(word, words, n);
	if (nearest)
		return err_set(err, -EINVAL, "%s takes no '%s'; did you mean '%s'?", option, word, nearest);
	return err_set(err, -EINVAL, "%s takes no '%s'; `gpubpf export --help` lists what it takes", option,
		       word);
}

static int check(const struct export_args *a, const struct export_format *f, struct err *err)
{
	if (a->table && !f->tables)
		return err_set(err, -EINVAL, "--table does not go with --format %s", f->name);
	if ((f->tables && check_table(a->table, f->name, err)) ||
	    (a->sidecar && !f->semantic &&
	     err_set(err, -EINVAL, "--sidecar does not go with --format %s", f->name)) ||
	    check_word("--value", a->value, export_values, f->values, f->name, err) ||
	    check_word("--signal", a->signal, export_signals, f->signals, f->name, err))
		return -EINVAL;
	if (f->own_file && !a->output)
		return err_set(err, -EINVAL, "--format %s writes a file: name it with -o", f->name);
	if (f->binary && !a->output && isatty(STDOUT_FILENO))
		return err_set(err, -EINVAL,
			       "--format %s is not for a terminal: name a file with -o, or pipe it", f->name);
	return 0;
}

static int convert(const char *file, const struct export_format *f, const struct export_args *a,
		   struct err *err)
{
	struct export_opts o = {
		.table = a->table, .value = a->value, .signal = a->signal, .progress = stderr
	};
	struct model_opts m = { 0 };
	struct export_out out = { .fd = -1 };
	struct sidecar *sidecar = NULL;
	struct trace t;
	char line[768];
	int rc = trace__open(&t, file, &m, err);

	if (!rc)
		rc = cmd_sidecar(a->sidecar, &t, &sidecar, err);
	if (!rc)
		rc = export_out__open(&out, a->output, f->own_file, err);
	if (!rc) {
		rc = f->write(&t, &out, &o, err);
		/* a message of its own, or the output failed */
		if (!rc || export_out__failed(&out))
			rc = export_out__keep(&out, err);
	}
	if (!rc && sidecar)
		sidecar__print(sidecar, stderr, true);
	if (!rc && t.in.ledger.verdict < LEDGER_UNCONTRADICTED) {
		ledger_headline(&t.in.ledger, line, sizeof(line));
		fprintf(stderr, "gpubpf: %s\n", line);
	}
	export_out__drop(&out);
	trace__close(&t);
	sidecar__free(sidecar);
	return rc;
}

/* Of json, jsonl and csv one; 0 or a negative errno. */
static int print_schema(const char *format, struct err *err)
{
	const struct export_format *f = NULL;
	int rc = format ? choose_format(format, &f, err) : 0;

	if (rc && rc != -ENOTSUP) /* what this build cannot write it still knows */
		return rc;
	if (!format || (!rc && f && f->tables))
		export_json_schema(stdout);
	else if (strcmp(format, "sqlite") == 0)
		sqlite_schema(stdout);
	else
		return err_set(err, -EINVAL, "--schema is of json, jsonl, csv and sqlite, not of %s", format);
	return 0;
}

static int run(int argc, char **argv)
{
	struct export_args args = { 0 };
	const struct export_format *format = NULL;
	struct err err = { 0 };
	int rest, rc, status = 0;

	rc = opts_parse(&verb_export, argc, argv, &args, &rest, &err);
	if (rc > 0)
		return 0;
	if (!rc && args.schema) {
		rc = print_schema(args.format, &err);
		status = rc ? cmd_failed(&err, 2) : cmd_flush_output();
		goto out;
	}
	if (!rc)
		rc = cmd_one_file(&verb_export, argc - rest, &err);
	if (args.output && strcmp(args.output, "-") == 0)
		args.output = NULL;
	if (!rc)
		rc = choose_format(args.format, &format, &err);
	if (!rc && format)
		rc = check(&args, format, &err);
	if (rc || !format) {
		status = cmd_failed(&err, rc == -ENOTSUP ? 1 : 2);
		goto out;
	}
	signal(SIGPIPE, SIG_IGN);
	rc = convert(argv[rest], format, &args, &err);
	if (rc)
		status = rc == -EPIPE ? 1 : cmd_failed(&err, 1);
out:
	opts_free(&verb_export, &args);
	return status;
}

const struct verb verb_export = {
	.name = "export",
	.synopsis = "--format FORMAT [-o OUT] [--table NAME | --value VALUE | --signal SIGNAL] FILE",
	.summary = "write a capture in a form that other tools read",
	.text = "Reads a whole capture and writes it out again. json, jsonl, csv and sqlite hold the same tables, made from one "
		"description: calls as the host observer saw them, executions as the device observer saw them, the ties between the two, "
		"kernels with their shapes and what the compiler fixed, copies, allocations, modules, processes, threads, the verdict "
		"with its ledger, and what is known to be lost. `--schema` prints what each column means; table `tables` says which of "
		"them nobody measured in this capture.\n\n"
		"Absent (the row has none), zero and not measured (nobody saw it) are three things: in JSON no key, 0, and null with "
		"KEY_unmeasured beside it; in CSV an empty field, 0, and the words not measured; in SQL NULL, 0, and NULL with "
		"KEY_unmeasured 1. Times are CLOCK_MONOTONIC nanoseconds and each refers to a row of `timings`: which clock, who took "
		"it, how far it can be trusted. What ran without a time has no start, end or duration, and is there. The same capture "
		"and version give the same bytes, of SQLite the same rows.\n\n"
		"An SQLite database has views for the usual questions: kernel_summary, kernel_names, launches, dispatches, "
		"copy_summary, api_summary, device_gaps, device_gap_summary, unmatched_calls, unmatched_executions, "
		"unmatched_device_calls and semantic_summary. Its tables gpubpf_columns and gpubpf_views hold what everything means.\n\n" SIDECAR_MAN
		"pprof and folded are profiles: what ran, by stack and kernel. A stack begins with the process's own functions where the "
		"capture has them (`record --stacks`), else with the thread; then comes the API call, then the kernel, copy or set. Both add "
		"up to what `gpubpf report` says. A profile's labels tell process, thread, device, stream and shape, how an execution was tied "
		"to its call (link), how far its time can be trusted (timing, timing_source), and what became of calls that ran nothing "
		"(on_device); its comments hold the verdict and what is absent. Without a device observer launches alone are counted.\n\n"
		"otlp is OpenTelemetry's protocol in its JSON encoding, a line each: what a collector's otlpjsonfile receiver reads. Spans are what "
		"has a beginning and an end: processes, calls, and what those ran as their children. What is a moment, or ran without a "
		"time that can be believed, is a log record of the same trace. Times are those of the wall clock, by the capture's "
		"clock pairs: a capture without one is refused. Profiles of OpenTelemetry are not written, as their protocol still changes.\n\n"
		"A capture that is known to lack something is exported all the same; its verdict is then printed to standard error.",
	.examples =
		"gpubpf export --format sqlite -o run.sqlite run.gpubpf\ta database to ask\n"
		"gpubpf export --format json -o run.json run.gpubpf\teverything, for programs\n"
		"gpubpf export --format jsonl --table executions run.gpubpf\tone row per line\n"
		"gpubpf export --format csv --table calls -o calls.csv run.gpubpf\tone table\n"
		"gpubpf export --format pprof -o run.pb.gz run.gpubpf\ta profile for pprof\n"
		"gpubpf export --format folded --value gpu_ns run.gpubpf\tlines for a flame graph\n"
		"gpubpf export --format otlp --signal traces -o run.traces.jsonl run.gpubpf\tspans for a collector\n"
		"gpubpf export --schema --format sqlite\twhat the tables and columns mean\n",
	.opts = export_opts_table,
	.run = run,
};
