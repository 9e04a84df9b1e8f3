/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "compare/compare.h"
#include "util/err.h"
#include "util/file.h"
#include "util/opts.h"

#define SECTIONS_MAX 16
#define DEFAULT_LIMIT 15

struct diff_args {
	int json, cross;
	const char *csv, *html;
	unsigned long long limit, join_limit;
	double floor;
	enum compare_order order;
	struct opt_list sections;
};

static int parse_floor(const char *arg, void *dst, struct err *err)
{
	char *end;
	double v = strtod(arg, &end);

	while (*end == ' ' || *end == '%')
		end++;
	if (end == arg || *end || !(v >= 0 && v < 100))
		return err_set(err, -EINVAL, "'%s' is no percentage: give a number such as 1 or 0.5", arg);
	/* the library takes 0 for its default */
	*(double *)dst = v > 0 ? v / 100 : 1e-12;
	return 0;
}

static int parse_order(const char *arg, void *dst, struct err *err)
{
	enum compare_order *order = dst;

	if (arg && strcmp(arg, "lcs") != 0 && strcmp(arg, "quick") != 0)
		return err_set(err, -EINVAL, "'%s' is neither quick nor lcs", arg);
	*order = arg && !strcmp(arg, "lcs") ? COMPARE_ORDER_LCS : COMPARE_ORDER_QUICK;
	return 0;
}

static const struct opt diff_opts_table[] = {
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct diff_args, json),
	  .help = "Print one JSON object: verdict, evidence, and each section with its population, the meaning of its "
		  "columns and its rows." },
	{ .name = "csv",
	  .type = OPT_STRING,
	  .arg = "SECTION",
	  .offset = offsetof(struct diff_args, csv),
	  .help = "Print one section as CSV (RFC 4180), all of its columns." },
	{ .name = "html",
	  .type = OPT_STRING,
	  .arg = "FILE",
	  .offset = offsetof(struct diff_args, html),
	  .help = "Write one page with all tables, which a click on a column sorts; it loads nothing." },
	{ .letter = 's',
	  .name = "section",
	  .type = OPT_LIST,
	  .arg = "NAME",
	  .offset = offsetof(struct diff_args, sections),
	  .help = "Print only these sections, in this order: arms, environment, moved, totals, kernels, names, transfers, "
		  "launches, apis, memory, delays, times, order, order_places." },
	{ .letter = 'n',
	  .name = "limit",
	  .type = OPT_UINT,
	  .arg = "N",
	  .offset = offsetof(struct diff_args, limit),
	  .help = "Rows per section, 0 for all.",
	  .has_default = 1,
	  .default_text = "15 in text, all in JSON and CSV" },
	{ .name = "allow-cross-environment",
	  .type = OPT_FLAG,
	  .offset = offsetof(struct diff_args, cross),
	  .help = "Show differences though the environment is not known to be the same. Everything is then labelled as not "
		  "causal, in every format." },
	{ .name = "floor",
	  .type = OPT_CALL,
	  .call = parse_floor,
	  .arg = "PERCENT",
	  .offset = offsetof(struct diff_args, floor),
	  .help = "Claim no difference that is not larger than this.",
	  .has_default = 1,
	  .default_text = "1" },
	{ .name = "order",
	  .type = OPT_CALL,
	  .call = parse_order,
	  .arg = "[=HOW]",
	  .offset = offsetof(struct diff_args, order),
	  .help = "Hold the order of what ran against each other, stream by stream: where it parts first (`quick`), or what both "
		  "have in common as well (`lcs`: a longest common subsequence; given up after 20,000 differences)." },
	{ .name = "join-limit",
	  .type = OPT_SIZE,
	  .arg = "BYTES",
	  .offset = offsetof(struct diff_args, join_limit),
	  .help = "Match calls with executions one by one in captures that hold up to so many bytes of records. It takes about "
		  "half as much memory. Launch delay, busy and idle time need it.",
	  .has_default = 1,
	  .default_text = "512M" },
	{ 0 },
};

struct run_state {
	struct diff_args args;
	const struct section *sections[SECTIONS_MAX + 1]; /* NULL behind the last */
	size_t nsections;
	struct compare *c;
};

static int add_section(struct run_state *s, const char *name, struct err *err)
{
	const struct section *section = compare_section(name);
	const char *names[SECTIONS_MAX], *nearest;
	size_t n = 0;

	for (; compare_sections[n].name; n++)
		names[n] = compare_sections[n].name;
	nearest = section ? NULL : opts_nearest(name, names, n);
	if (nearest)
		return err_set(err, -EINVAL, "there is no section '%s'; did you mean '%s'?", name, nearest);
	if (!section)
		return err_set(err, -EINVAL, "there is no section '%s'; `gpubpf diff --help` lists them",
			       name);
	for (size_t i = 0; i < s->nsections; i++)
		if (s->sections[i] == section)
			return 0;
	s->sections[s->nsections++] = section;
	return 0;
}

static int prepare(struct run_state *s, struct err *err)
{
	struct diff_args *a = &s->args;
	int rc = 0;

	if (a->csv && a->json)
		return err_set(err, -EINVAL, "--csv and --json exclude each other");
	if (a->csv && a->sections.n)
		return err_set(err, -EINVAL, "--csv names its section; --section does not go with it");
	if (a->csv)
		rc = add_section(s, a->csv, err);
	for (size_t i = 0; !rc && i < a->sections.n; i++)
		rc = add_section(s, a->sections.items[i], err);
	if (a->limit == ~0ull)
		a->limit = a->json || a->csv ? 0 : DEFAULT_LIMIT;
	return rc;
}

/* Operands behind "--", which the parser takes away; -1: there is none. */
static int behind_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - 1 - i;
	return -1;
}

/* A B, or A… -- B…: the index of the first of B, within argv. */
static int split(int argc, int first, int behind, int *second, struct err *err)
{
	int n = argc - first;

	*second = behind > 0 && behind < n ? argc - behind : first + 1;
	if (behind > 0 && behind < n)
		return behind <= COMPARE_CAPTURES && n - behind <= COMPARE_CAPTURES
			       ? 0
			       : err_set(err, -EINVAL, "more than %d captures per arm", COMPARE_CAPTURES);
	if (n == 2)
		return 0;
	return err_set(err, -EINVAL,
		       "give one capture before and one after: `gpubpf diff A B`; or several of each: "
		       "`gpubpf diff A1 A2 -- B1 B2`");
}

static int read_all(struct run_state *s, int argc, char **argv, int first, int second, struct err *err)
{
	const struct compare_opts o = { .stats = { .floor = s->args.floor },
					.allow_cross = s->args.cross,
					.order = s->args.order,
					.join_bytes = s->args.join_limit };
	int rc = compare__new(&o, &s->c);

	for (int i = first; !rc && i < argc; i++)
		rc = compare__add(s->c, i >= second, argv[i], err);
	if (!rc)
		rc = compare__finish(s->c);
	return rc == -ENOMEM ? err_set(err, rc, "out of memory") : rc;
}

static int write_page(const struct run_state *s, struct err *err)
{
	char *page = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&page, &n);
	int rc = f ? compare_html(s->c, f) : -ENOMEM;

	if (f && fclose(f))
		rc = -ENOMEM;
	if (!rc)
		rc = file_write_all(s->args.html, page, n);
	free(page);
	return rc ? err_set(err, rc, "%s: %s", s->args.html, strerror(-rc)) : 0;
}

static int show(const struct run_state *s, struct err *err)
{
	const struct section *const *chosen = s->nsections ? s->sections : NULL;
	int rc;

	if (s->args.html && write_page(s, err))
		return cmd_failed(err, 1);

	if (s->args.csv) {
		const char *withheld = compare__withheld(s->c, s->sections[0]);
		struct rows rows;

		/* the table has no room for it, and nobody may take it for a cause */
		fprintf(stderr, "gpubpf: %s\n", compare_verdict_name(compare__verdict(s->c)));
		for (size_t i = 0; compare__reason(s->c, i); i++)
			fprintf(stderr, "gpubpf: %s\n", compare__reason(s->c, i));
		if (withheld)
			fprintf(stderr, "gpubpf: %s: %s\n", s->sections[0]->name, withheld);
		rc = compare__rows(s->c, s->sections[0], &rows);
		if (!rc)
			rows__csv(&rows, stdout,
				  s->args.limit && s->args.limit < rows.n ? s->args.limit : rows.n);
		rows__clear(&rows);
	} else {
		rc = s->args.json ? compare_json(s->c, chosen, s->args.limit, stdout)
				  : compare_text(s->c, chosen, s->args.limit, stdout);
	}
	if (rc == -ENOMEM && !ferror(stdout)) {
		err_set(err, rc, "out of memory");
		return cmd_failed(err, 1);
	}
	return cmd_flush_output();
}

static int run(int argc, char **argv)
{
	struct run_state s = { .args = { .limit = ~0ull } };
	struct err err = { 0 };
	int rest, second = 0, behind = behind_dashes(argc, argv), rc, status;

	rc = opts_parse(&verb_diff, argc, argv, &s.args, &rest, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = prepare(&s, &err);
	if (rc == 0)
		rc = split(argc, rest, behind, &second, &err);
	if (rc == 0 && s.args.order && argc - rest != 2)
		rc = err_set(&err, -EINVAL, "--order holds one capture against one other");
	if (rc < 0) {
		status = cmd_failed(&err, rc == -ENOMEM ? 1 : 2);
		goto out;
	}
	signal(SIGPIPE, SIG_IGN);
	rc = read_all(&s, argc, argv, rest, second, &err);
	status = rc ? cmd_failed(&err, 1) : show(&s, &err);
	compare__free(s.c);
out:
	opts_free(&verb_diff, &s.args);
	return status;
}

const struct verb verb_diff = {
	.name = "diff",
	.synopsis = "[OPTIONS] A B | [OPTIONS] A… -- B…",
	.summary = "what differs between captures before and after",
	.text = "Compares captures of one workload: A before and B after, one of each or several. The verdict comes first:\n\n"
		"  controlled         the environment of all captures is known and the same: a difference is the change's\n"
		"  cross-environment  it is not, and --allow-cross-environment was given: nothing is causal\n"
		"  cross-host         the same, of different machines\n"
		"  inconclusive       a capture is incomplete, or the environment is not known to be the same\n\n"
		"Evidence that is missing in both arms is missing: it is no equality. Where the environment is not known to be "
		"the same the differences are withheld, or labelled as not causal with --allow-cross-environment.\n\n"
		"Kernels are compared by launch key: name, grid, block, cluster, registers, static and dynamic shared memory; "
		"the kind of device, where a capture has several. A name of several shapes has no mean: their number stands in "
		"its place, and how many of them take more and less. What is in one arm alone appeared or vanished. Unequal "
		"counts are marked: such a total mixes the cost of one with the amount of work.\n\n"
		"A difference is claimed (more, less) when a test finds it, corrected for all tests made (5 % false alarms in "
		"all of them together), and it is larger than the noise: `--floor`, and the spread between blocks of consecutive "
		"runs. With one capture per arm the unit is such a block, of which there are up to 64 per key: launches that "
		"follow each other are no independent measurements. How much one run differs from the next only several captures "
		"tell: the capture is then the unit. \"no difference\" says that none was found; column detectable of JSON and "
		"CSV says which one would have been. Ratios are B / A: of the median pair of blocks, or of captures; they are "
		"no ratios of totals.\n\n"
		"What moved is ranked: first what moved GPU time, then what moved wall time. These are sums, with their counts.\n\n"
		"A capture of many calls (`--join-limit`) is read without matching them one by one: launch delay, busy and idle "
		"time are then not measured, and the counts of both observers have to agree for it to count as complete.",
	.exit_status = "0 when the captures were compared, whatever differs; 1 on errors; 2 on wrong usage.",
	.examples =
		"gpubpf diff before.gpubpf after.gpubpf\tverdict, what moved, all tables\n"
		"gpubpf diff a1.gpubpf a2.gpubpf a3.gpubpf -- b1.gpubpf b2.gpubpf b3.gpubpf\tseveral runs of each\n"
		"gpubpf diff -s kernels -n 0 before.gpubpf after.gpubpf\tevery launch key\n"
		"gpubpf diff --allow-cross-environment h100.gpubpf h200.gpubpf\tof two machines, labelled as not causal\n"
		"gpubpf diff --order=lcs -s order,order_places before.gpubpf after.gpubpf\twhat runs in another order\n"
		"gpubpf diff --csv kernels before.gpubpf after.gpubpf\tone table as CSV\n"
		"gpubpf diff --html diff.html before.gpubpf after.gpubpf\ta page too\n"
		"gpubpf diff --json before.gpubpf after.gpubpf\teverything, for programs\n",
	.opts = diff_opts_table,
	.run = run,
};
