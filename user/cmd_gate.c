/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/check.h"
#include "cmd.h"
#include "util/err.h"
#include "util/file.h"
#include "util/fmt.h"

#define FILE_OF_CHECKS "gpubpf.gate"

/* The command line once for where the checks are, and again on top of them. */
static int read_checks(struct check_config *c, int argc, char **argv, int *rest, struct err *err)
{
	const char *file;
	int rc;

	check_config__init(c);
	rc = opts_parse(&verb_gate, argc, argv, c, rest, err);
	if (rc)
		return rc;
	file = c->file;
	if (!file && !check_config__asks(c) && !access(FILE_OF_CHECKS, F_OK))
		file = FILE_OF_CHECKS;
	if (file) {
		check_config__clear(c);
		check_config__init(c);
		rc = check_config__read(c, file, err);
		if (!rc)
			rc = opts_parse(&verb_gate, argc, argv, c, rest, err);
		c->file = file;
	}
	return rc ? rc : check_config__verify(c, err);
}

static int write_junit(const struct check_run *r, struct err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int rc = f ? check_junit(r, f) : -ENOMEM;

	if (f && fclose(f) && !rc)
		rc = -ENOMEM;
	if (rc) {
		rc = err_set(err, rc, "out of memory");
	} else {
		rc = file_write_all(r->c->junit, text, n);
		if (rc)
			err_set(err, rc, "cannot write %s: %s", r->c->junit, strerror(-rc));
	}
	free(text);
	return rc;
}

static int show(const struct check_run *r, struct err *err)
{
	int rc = 0, status = check_run__status(r);

	if (r->c->junit)
		rc = write_junit(r, err);
	if (rc)
		cmd_failed(err, 2);
	rc = (r->c->json ? check_json(r, stdout) : check_text(r, stdout, fmt_color(stdout))) || rc;
	if (r->c->github)
		check_github(r, stdout);
	/* what nobody could read was not evaluated */
	return (cmd_flush_output() || rc) && !status ? 2 : status;
}

static int run(int argc, char **argv)
{
	struct err err = { 0 };
	struct check_config c;
	struct check_run r;
	int rest = argc, status = 2, rc;

	rc = read_checks(&c, argc, argv, &rest, &err);
	check_run__init(&r, &c);
	if (rc > 0) {
		status = 0;
		goto out;
	}
	if (!rc && rest == argc)
		rc = err_set(&err, -EINVAL, "gate needs the name of a capture file");
	signal(SIGPIPE, SIG_IGN);
	if (!rc)
		rc = check_run__baseline(&r, &err);
	for (int i = rest; !rc && i < argc; i++)
		rc = check_run__capture(&r, argv[i], &err);
	check_run__finish(&r);
	status = rc ? cmd_failed(&err, 2) : show(&r, &err);
	if (!rc && !check_config__asks(&c))
		fputs("gpubpf: no check was asked for; `gpubpf gate --help` lists them\n", stderr);
out:
	check_run__clear(&r);
	check_config__clear(&c);
	return status;
}

const struct verb verb_gate = {
	.name = "gate",
	.synopsis = "[OPTIONS] FILE…",
	.summary = "checks of captures, with an exit status for scripts and CI",
	.text = "Checks each capture against what is asked for on the command line and in a file of checks. Every check passes, "
		"fails, or is not evaluable: what an instrument did not see is neither good nor bad. Each says what was seen "
		"against what was wanted, which instrument saw it and how fine.\n\n"
		"Whatever is asked, launches that left no trace and that nothing explains fail, and so do launches of a graph that "
		"ran fewer nodes than another launch of it. Of an empty capture, nothing is evaluable.\n\n"
		"`completeness`, `-k NAME -t N`: the kernel ran at least N times less the slack. Shortfall and excess are two numbers; "
		"an excess passes as an overshoot, with the ratio of both. This is the one check that sees launches of which no "
		"observer has a record: N comes from whoever knows the workload.\n\n"
		"`ledger`: the capture's verdict. `readiness`: capture was ready before CUDA was used.\n\n"
		"`stationarity`: the gaps between marks are cut into blocks, and the medians of the blocks are compared. A block has "
		"the size that --block-size says, exactly; the gaps that are left at the end are the end of one more block of that "
		"size. 0 takes an eighth of the gaps and needs 32; another size N needs 2N, and 16. Marks of several processes are "
		"checked one process at a time.\n\n"
		"`nested`: ranges of marks, half-open, the innermost first, each inside the next. The launches from mark FIRST to mark "
		"END are counted by the entries of their calls (of marks that are executions: executions, by their starts); an END "
		"that is the number of marks is the end of the capture. Each range has more than the one inside it, by at least as "
		"many as it is wider, less the slack.\n\n"
		"`staging`: whether memory of a kind was allocated. A zero counts where probes stood at its entry points since the start of "
		"the program; elsewhere there is no evidence.\n\n"
		"`budget`: launch delay, busy time of each device, time of a kernel against that in a baseline. `no-regression`: no "
		"launch key of the capture takes longer than in the baseline by more than is allowed, shown for 95 % of the kernel "
		"time by a test whose power is stated: a change of that size would have been seen. Baselines of other environments are "
		"refused, unless they are allowed: then the result is labelled non-causal.\n\n"
		"The file of checks has sections, and a line `key = value` in a section does what an option does. # and ; begin comments. "
		"A key or section that is not known is an error.\n\n"
		"  [kernel \"NAME\"]     times, slack, max-ratio; name, where NAME is but a label\n"
		"  [completeness]      count, slack (of kernels that have none)\n"
		"  [ledger]            require = uncontradicted | reconciled\n"
		"  [readiness]         require = ready | proven\n"
		"  [stationarity]      name, mark-kind, block-size, tolerance\n"
		"  [nested]            ranges, marks, mark-kind, kernel, slack\n"
		"  [staging]           device, pitch, managed, host, registered, pool, virtual, array = none | some\n"
		"  [budget]            max-delay-p99, min-busy\n"
		"  [baseline]          capture (beside the file), max-regression, power, allow-cross-environment = yes | no",
	.exit_status =
		"0: every check passed. 1: at least one failed. 2: none failed and at least one could not be evaluated, a capture "
		"could not be read, or nothing was scored; also wrong usage, and a mistake in the file of checks.",
	.examples =
		"gpubpf gate -k saxpy -t 1000 run.gpubpf\tthe kernel ran a thousand times\n"
		"gpubpf gate -k 'gemm*' -t 500 --slack 2 --ledger --explain run.gpubpf\ttwo may be missing; say what to do\n"
		"gpubpf gate --stationary step --mark-kind nvtx run.gpubpf\tthe steps take as long at the end as at the beginning\n"
		"gpubpf gate --baseline good.gpubpf --max-regression 3% run.gpubpf\tno launch key is slower by more than 3 %\n"
		"gpubpf gate -c gpubpf.gate --junit gate.xml --github *.gpubpf\tin CI\n",
	.opts = check_options,
	.run = run,
};
