// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "inspect/environment.h"
#include "inspect/inspect.h"
#include "util/err.h"
#include "util/opts.h"

struct inspect_opts {
	int json, records, apis, environment;
};

static const struct opt inspect_opts[] = {
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct inspect_opts, json),
	  .help = "Print one JSON object; with --records one object per line. What was not measured is absent." },
	{ .name = "records",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct inspect_opts, records),
	  .help = "Print every record, one per line, its arguments by name, instead of the summary; marks and ranges of NVTX "
		  "come last." },
	{ .name = "apis",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct inspect_opts, apis),
	  .help = "List the entry points with what became of each: armed, missing in the driver, or refused." },
	{ .name = "environment",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct inspect_opts, environment),
	  .help = "Print where and how the capture was made instead of the summary: programs and scripts with what tells their "
		  "files apart, GPUs with clocks, power limits and modes, driver, CUDA's libraries, machine, container, the "
		  "recorder's options, and which clocks the times come from. What is not known is there with the reason." },
	{ 0 },
};

/* 0 or -ENOMEM. */
static int print(const struct inspection *s, const struct inspect_opts *o)
{
	if (o->environment)
		return o->json ? inspect_environment_json(s, stdout) : inspect_environment_text(s, stdout);
	return o->json ? inspect_json(s, stdout, o->apis) : inspect_text(s, stdout, o->apis);
}

static int show(struct inspection *s, const struct inspect_opts *o)
{
	struct err err = { 0 };
	char line[768];
	int r;

	r = inspection__read(s,
			     !o->records ? NULL
			     : o->json   ? inspect_record_json
					 : inspect_record_text,
			     stdout, &err);
	if (!r && o->records)
		r = inspect_markers(s, stdout, o->json);
	if (r == -EIO && ferror(stdout))
		return cmd_flush_output();
	if (r < 0)
		return cmd_failed(&err, 1);
	if (o->records) {
		r = 0;
		ledger_headline(&s->ledger, line, sizeof(line));
		if (s->ledger.verdict != LEDGER_UNCONTRADICTED && s->ledger.verdict != LEDGER_RECONCILED)
			fprintf(stderr, "gpubpf: %s\n", line);
	} else {
		r = print(s, o);
	}
	if (r == -ENOMEM) {
		err_set(&err, r, "%s: out of memory", s->path);
		return cmd_failed(&err, 1);
	}
	return cmd_flush_output();
}

static int run(int argc, char **argv)
{
	struct inspect_opts o = { 0 };
	struct inspection s;
	struct err err = { 0 };
	int rest, r;

	r = opts_parse(&verb_inspect, argc, argv, &o, &rest, &err);
	if (r > 0)
		return 0;
	if (r == 0)
		r = cmd_one_file(&verb_inspect, argc - rest, &err);
	if (r == 0 && o.environment && (o.records || o.apis))
		r = err_set(&err, -EINVAL, "--environment goes with neither --records nor --apis");
	if (r < 0)
		return cmd_failed(&err, 2);
	signal(SIGPIPE, SIG_IGN);
	r = inspection__open(&s, argv[rest], &err);
	r = r ? cmd_failed(&err, 1) : show(&s, &o);
	inspection__close(&s);
	return r;
}

const struct verb verb_inspect = {
	.name = "inspect",
	.synopsis = "[OPTIONS] FILE",
	.summary = "show what a capture holds, what it lost, and how far it can be trusted",
	.text = "Reads a whole capture and prints its verdict first, then its metadata, the entry points that were "
		"armed, the calls counted in the kernel, the ledger, and the state of the file itself.\n\n"
		"The verdict is computed again from the counters and from every record of the file, whatever the file "
		"says of itself. It is \"reconciled\" (the host observer and the device observer agree on every call), "
		"\"uncontradicted\" (one observer, or not every call was watched by both, and nothing contradicts it), \"incomplete\" "
		"(something is known to be missing, and named), \"empty\" (no call was counted) or \"not evaluable\" "
		"(the file holds no counters).\n\n"
		"A capture whose recorder was killed, or whose disk was full, is read to its last whole block; damage "
		"inside is skipped and counted.",
	.examples = "gpubpf inspect run.gpubpf\tthe verdict and what it rests on\n"
		    "gpubpf inspect --apis run.gpubpf\twhich entry points were armed\n"
		    "gpubpf inspect --environment run.gpubpf\twhat ran, where, and how it was recorded\n"
		    "gpubpf inspect --records --json run.gpubpf\tevery record as a line of JSON\n",
	.opts = inspect_opts,
	.run = run,
};
