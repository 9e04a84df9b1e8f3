/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "report/more.h"
#include "util/err.h"
#include "util/opts.h"

#define SECTIONS_MAX 64
#define DEFAULT_LIMIT 15

struct report_args {
	int json, threads, modules, memory;
	const char *csv, *sort;
	unsigned long long limit;
	struct opt_list sections, pids, tids;
};

static const struct opt report_opts_table[] = {
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct report_args, json),
	  .help = "Print one JSON object: each section with its population, the meaning of its columns and its rows." },
	{ .name = "csv",
	  .type = OPT_STRING,
	  .arg = "SECTION",
	  .offset = offsetof(struct report_args, csv),
	  .help = "Print one section as CSV (RFC 4180), all of its columns." },
	{ .letter = 's',
	  .name = "section",
	  .type = OPT_LIST,
	  .arg = "NAME",
	  .offset = offsetof(struct report_args, sections),
	  .help = "Print only these sections, in this order. Of the device observer: observers, devices, kernels, "
		  "kernel_names, gaps, device_copies, device_sets, graph_runs, streams, waits, module_loads, modules, "
		  "timestamps, causality, orphans, external, nvtx, unified_memory, sessions. Of ranks: collectives, collective_ranks, collective_skews, collective_clocks. Of the host observer: processes, apis, threads, failures, "
		  "launches, graphs, captures, copies, sets, memory, frees. Of both: cost. Those of --modules and --memory are printed only "
		  "where they are asked for." },
	{ .name = "modules",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct report_args, modules),
	  .help = "Print what loading, compiling and linking code took of the host, in all, by phase, by call, by kernel and by module: "
		  "sections module_loads, module_phases, load_calls, load_kernels, modules." },
	{ .name = "memory",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct report_args, memory),
	  .help = "Print where memory was placed, and what is known of it at all: sections memory_evidence, memory, memory_peaks, "
		  "memory_live, leaks, frees, free_matches, memory_pools, placement, device_memory, unified_memory. Goes with --modules and --section." },
	{ .letter = 'n',
	  .name = "limit",
	  .type = OPT_UINT,
	  .arg = "N",
	  .offset = offsetof(struct report_args, limit),
	  .help = "Rows per section, 0 for all.",
	  .has_default = 1,
	  .default_text = "15 in text, all in JSON and CSV" },
	{ .name = "sort",
	  .type = OPT_STRING,
	  .arg = "COLUMN",
	  .offset = offsetof(struct report_args, sort),
	  .help = "Sort the sections that have this column by it (the names in JSON and CSV): numbers fall, text rises." },
	{ .name = "threads",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct report_args, threads),
	  .help = "Count the calls of each thread too (section threads)." },
	{ .letter = 'p',
	  .name = "pid",
	  .type = OPT_LIST,
	  .arg = "PID",
	  .offset = offsetof(struct report_args, pids),
	  .help = "Count only these processes (pids of the initial namespace, as section processes has them)." },
	{ .letter = 't',
	  .name = "thread",
	  .type = OPT_LIST,
	  .arg = "TID",
	  .offset = offsetof(struct report_args, tids),
	  .help = "Count only these threads and what they asked the device for. Memory belongs to processes, busy and idle "
		  "time to all threads of a device: both are then left out." },
	{ 0 },
};

struct run_state {
	struct report_args args;
	const struct section *sections[SECTIONS_MAX];
	uint32_t *pids, *tids;
	struct report_opts o;
};

static int bad_section(const char *name, struct err *err)
{
	const char *names[SECTIONS_MAX], *nearest;
	size_t n = 0;

	for (const struct section *s; n < SECTIONS_MAX && (s = report_section_at(n)); n++)
		names[n] = s->name;
	nearest = opts_nearest(name, names, n);
	if (nearest)
		return err_set(err, -EINVAL, "there is no section '%s'; did you mean '%s'?", name, nearest);
	return err_set(err, -EINVAL, "there is no section '%s'; `gpubpf report --help` lists them", name);
}

static int add_section(struct run_state *s, const char *name, struct err *err)
{
	const struct section *section = report_section(name);

	if (!section)
		return bad_section(name, err);
	for (size_t i = 0; i < s->o.nsections; i++)
		if (s->sections[i] == section)
			return 0;
	s->sections[s->o.nsections++] = section;
	if (section->build == build_threads)
		s->o.model.threads = true;
	return 0;
}

static int add_preset(struct run_state *s, const char *const *names, struct err *err)
{
	int rc = 0;

	while (!rc && *names)
		rc = add_section(s, *names++, err);
	return rc;
}

static int choose_sections(struct run_state *s, struct err *err)
{
	struct report_args *a = &s->args;
	bool chosen = a->sections.n || a->modules || a->memory;
	const struct section *d;
	int rc = 0;

	if (a->csv && a->json)
		return err_set(err, -EINVAL, "--csv and --json exclude each other");
	if (a->csv && chosen)
		return err_set(
			err, -EINVAL,
			"--csv names its section, any of those of --modules and --memory too; %s does not go with it",
			a->sections.n ? "--section"
			: a->modules  ? "--modules"
				      : "--memory");
	if (a->csv)
		return add_section(s, a->csv, err);
	for (size_t i = 0; !rc && i < a->sections.n; i++)
		rc = add_section(s, a->sections.items[i], err);
	if (!rc && a->modules)
		rc = add_preset(s, report_modules_preset, err);
	if (!rc && a->memory)
		rc = add_preset(s, report_memory_preset, err);
	s->o.chosen = chosen;
	for (size_t i = 0; !rc && !chosen && (d = report_section_at(i)); i++)
		if (!section__is_more(d) && (d->build != build_threads || a->threads))
			rc = add_section(s, d->name, err);
	return rc;
}

static int check_sort(const struct run_state *s, struct err *err)
{
	if (!s->args.sort)
		return 0;
	for (size_t i = 0; i < s->o.nsections; i++)
		for (const struct column *c = s->sections[i]->columns; c->key; c++)
			if (strcmp(c->key, s->args.sort) == 0)
				return 0;
	return err_set(err, -EINVAL,
		       "no section that is printed has a column '%s'; `gpubpf report --json` names them all",
		       s->args.sort);
}

static int prepare(struct run_state *s, struct err *err)
{
	struct procs_filter *filter = &s->o.model.filter;
	int rc = choose_sections(s, err);

	s->o.sections = s->sections;
	s->o.sort = s->args.sort;
	s->o.limit = s->args.limit != ~0ull ? s->args.limit : s->args.json || s->args.csv ? 0 : DEFAULT_LIMIT;
	s->o.model.threads |= s->args.threads;
	if (!rc)
		rc = check_sort(s, err);
	if (!rc)
		rc = cmd_ids(&s->args.pids, &s->pids, &filter->npids, err);
	if (!rc)
		rc = cmd_ids(&s->args.tids, &s->tids, &filter->ntids, err);
	filter->pids = s->pids;
	filter->tids = s->tids;
	return rc;
}

static int show(const struct run_state *s, const struct report *r, struct err *err)
{
	char line[768];
	int rc;

	if (s->args.csv) {
		/* the table has no room for it, and nobody may take it for whole when it is not */
		ledger_headline(&r->ledger, line, sizeof(line));
		if (r->ledger.verdict < LEDGER_UNCONTRADICTED)
			fprintf(stderr, "gpubpf: %s\n", line);
		if (report__unobserved(r, s->sections[0]))
			fprintf(stderr, "gpubpf: %s: not measured: %s\n", s->sections[0]->name,
				report__unobserved(r, s->sections[0]));
		rc = report_csv(r, stdout);
	} else {
		rc = s->args.json ? report_json(r, stdout) : report_text(r, stdout);
	}
	if (rc == -ENOMEM && !ferror(stdout)) {
		err_set(err, rc, "%s: out of memory", r->in.path);
		return cmd_failed(err, 1);
	}
	return cmd_flush_output();
}

static int run(int argc, char **argv)
{
	struct run_state s = { .args = { .limit = ~0ull } };
	struct report r = { 0 };
	struct err err = { 0 };
	int rest, rc, status;

	rc = opts_parse(&verb_report, argc, argv, &s.args, &rest, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = cmd_one_file(&verb_report, argc - rest, &err);
	if (rc == 0)
		rc = prepare(&s, &err);
	if (rc < 0) {
		status = cmd_failed(&err, rc == -ENOMEM ? 1 : 2);
		goto out;
	}
	signal(SIGPIPE, SIG_IGN);
	rc = report__open(&r, argv[rest], &s.o, &err);
	status = rc ? cmd_failed(&err, 1) : show(&s, &r, &err);
	report__close(&r);
out:
	free(s.pids);
	free(s.tids);
	opts_free(&verb_report, &s.args);
	return status;
}

const struct verb verb_report = {
	.name = "report",
	.synopsis = "[OPTIONS] FILE",
	.summary = "tables of calls, launches, copies, memory and modules of a capture",
	.text = "Reads a whole capture and prints its verdict first, then one table per section. Every count says "
		"what it counts; a value that does not apply is \"-\", one that nobody observed is \"not measured\", "
		"and neither is ever 0. Columns that hold nothing but zeros may be left out of the text, never out "
		"of JSON and CSV.\n\n"
		"Calls are those made by the application: a traced call that another traced call makes is counted as "
		"nested and nowhere else. Their times are host time inside the calls, not time on the GPU. Percentiles "
		"are within 1 %; sums, means, minima and maxima are exact.\n\n"
		"A capture with a device observer (the shim, which asks CUPTI) has sections of what ran: kernels by "
		"launch key and by name, copies and sets with time and rate on the device, graphs, busy and idle time of "
		"each device and stream, the longest gaps, and what the two observers agree on. Without one these "
		"sections are left out, and say so when they are asked for by name.\n\n"
		"Busy time is the union of what ran, not its sum, over the window that the row names; only traced "
		"processes are seen, so a device that others use is busier than that. A device is the ordinal that a "
		"process gives it and is never merged with another process's. The delay of a launch is the time from "
		"the entry of its call to the start on the device; what starts before its call was entered has none, "
		"whatever the reason, and is listed as a violation of causality beside the bound on the clocks' error. "
		"The queue holds calls whose work was asked for and has not started.\n\n"
		"A name whose launches have several shapes has no mean: the number of its shapes stands in its place. "
		"Records whose times are missing or impossible keep their row and are in no time (section timestamps).\n\n"
		"Kernel names are from calls that were recorded (cuModuleGetFunction, cuLibraryGetKernel, "
		"cuKernelGetFunction, cuFuncGetName, cuKernelGetName). A handle that no such call named stays "
		"`<unresolved 0x…>`: the recorder arrived after the modules were loaded. Kernels on the device have "
		"the names that CUPTI gives.\n\n"
		"--modules is about time of the host for code, which is in no kernel's duration: calls that load and link, looking functions "
		"up, first launches, and the phases that CUPTI tells of (record --cupti overhead). A load call is shown with what it was "
		"given; of PTX it is not in any record whether the driver compiled it or took it from its cache, so what is neither known "
		"to be cached nor compiled is a count of its own. A kernel is followed to the call that loaded it by the handles; its first "
		"launch, its lookup and the load (shared with other kernels) stand side by side.\n\n"
		"--memory starts with what was watched: zero is known only of that. Sizes are those that the calls ask for, never what is "
		"resident. What no recorded call freed is listed by size, or by stack where one was taken (record --stacks; "
		"--stacks-every 1 takes all): at exit, where the process ended inside the capture. Frees are matched to allocations by "
		"process and address, across threads and pools. How scattered a pool is comes from the addresses that it handed out; "
		"what the driver keeps for it is known where the application asks for it.\n\n"
		"Section cost is what gpubpf added to the calls that it recorded, measured where it recorded, and what of that nobody "
		"measured.\n\n"
		"In JSON a key that is absent does not apply; a value that was not observed is null, with "
		"KEY_unmeasured beside it. In CSV these are an empty field and the words `not measured`.",
	.examples =
		"gpubpf report run.gpubpf\tverdict and all tables\n"
		"gpubpf report -s launches -n 0 --sort host_ns run.gpubpf\tevery launch key, most host time first\n"
		"gpubpf report -s kernels -n 0 run.gpubpf\tevery kernel and shape, most GPU time first\n"
		"gpubpf report -s devices -s gaps run.gpubpf\thow busy each device was, and what it waited for\n"
		"gpubpf report --modules run.gpubpf\twhat loading code took, by phase, call, kernel and module\n"
		"gpubpf report --memory -n 0 run.gpubpf\twhere memory was placed, its peaks, and what was not freed\n"
		"gpubpf report --csv memory_live run.gpubpf\tlive memory over time, to be plotted\n"
		"gpubpf report --threads -s threads run.gpubpf\tthe calls of each thread\n"
		"gpubpf report --csv copies run.gpubpf\tcopies by direction as CSV\n"
		"gpubpf report --json run.gpubpf\teverything but what --modules and --memory add, for programs\n",
	.opts = report_opts_table,
	.run = run,
};
