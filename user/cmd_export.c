// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "export/export.h"
#include "util/err.h"
#include "util/opts.h"

struct export_args {
	const char *format, *output, *table;
};

#define O(field) offsetof(struct export_args, field)
static const struct opt export_opts_table[] = {
	{ .letter = 'f',
	  .name = "format",
	  .type = OPT_STRING,
	  .arg = "FORMAT",
	  .offset = O(format),
	  .help = "json, jsonl, csv or sqlite." },
	{ .letter = 'o',
	  .name = "output",
	  .type = OPT_STRING,
	  .arg = "OUT",
	  .offset = O(output),
	  .help = "Write to this file, which is there under its name only when it is whole. Without it: to standard "
		  "output." },
	{ .name = "table",
	  .type = OPT_STRING,
	  .arg = "NAME",
	  .offset = O(table),
	  .help = "Only this table." },
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

static int check(const struct export_args *a, const struct export_format *f, struct err *err)
{
	if (a->table && !f->tables)
		return err_set(err, -EINVAL, "--table does not go with --format %s", f->name);
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
	struct export_opts o = { .table = a->table };
	struct model_opts m = { 0 };
	struct export_out out = { .fd = -1 };
	struct trace t;
	char line[768];
	int rc = trace__open(&t, file, &m, err);

	if (!rc)
		rc = export_out__open(&out, a->output, f->own_file, err);
	if (!rc) {
		rc = f->write(&t, &out, &o, err);
		/* a message of its own, or the output failed */
		if (!rc || export_out__failed(&out))
			rc = export_out__keep(&out, err);
	}
	if (!rc && t.in.ledger.verdict < LEDGER_UNCONTRADICTED) {
		ledger_headline(&t.in.ledger, line, sizeof(line));
		fprintf(stderr, "gpubpf: %s\n", line);
	}
	export_out__drop(&out);
	trace__close(&t);
	return rc;
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
	if (!rc)
		rc = cmd_one_file(&verb_export, argc - rest, &err);
	if (!rc)
		rc = choose_format(args.format, &format, &err);
	if (!rc)
		rc = check(&args, format, &err);
	if (rc) {
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
	.synopsis = "--format FORMAT [-o OUT] [--table NAME] FILE",
	.summary = "write a capture in a form that other tools read",
	.text = "Reads a whole capture and writes it out again.",
	.examples = "gpubpf export --format sqlite -o run.sqlite run.gpubpf\ta database to ask\n"
		    "gpubpf export --format csv --table calls run.gpubpf\tone table\n",
	.opts = export_opts_table,
	.run = run,
};
