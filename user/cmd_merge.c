/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "merge/merge.h"
#include "model/member.h"
#include "util/err.h"
#include "util/fmt.h"
#include "util/opts.h"
#include "util/progress.h"

#define NOT_GIVEN (~0ull)

struct merge_args {
	const char *output;
	unsigned long long max_error, host_error;
	int force, quiet;
};

#define O(field) offsetof(struct merge_args, field)
static const struct opt merge_opts_table[] = {
	{ .letter = 'o',
	  .name = "output",
	  .type = OPT_STRING,
	  .arg = "OUT",
	  .offset = O(output),
	  .help = "Write the merged capture there; \"-\" is standard output. It is there under its name when it is whole." },
	{ .letter = 'f',
	  .name = "force",
	  .type = OPT_FLAG,
	  .offset = O(force),
	  .help = "Replace an existing file." },
	{ .name = "host-error",
	  .type = OPT_DURATION,
	  .arg = "TIME",
	  .offset = O(host_error),
	  .help = "The wall clocks of two machines are no further apart than this: you know it, from PTP or chrony. Without, it "
		  "is what the kernels said while recording." },
	{ .name = "max-error",
	  .type = OPT_DURATION,
	  .arg = "TIME",
	  .offset = O(max_error),
	  .help = "Refuse captures whose times can be further apart, or where nobody knows.",
	  .has_default = 1,
	  .default_text = "1s, and nobody needs to know" },
	{ .letter = 'q',
	  .name = "quiet",
	  .type = OPT_FLAG,
	  .offset = O(quiet),
	  .help = "Print errors and warnings alone." },
	{ 0 },
};

static int check(const struct merge_args *a, int files, struct err *err)
{
	if (!a->output)
		return err_set(err, -EINVAL, "merge needs `-o OUT`");
	if (files < 2)
		return err_set(err, -EINVAL, "merge needs two captures or more");
	if (files > MEMBERS_MAX)
		return err_set(err, -EINVAL, "merge takes %d captures at most, not %d", MEMBERS_MAX, files);
	return 0;
}

static void progress(void *arg, uint64_t done, uint64_t all)
{
	struct progress *p = arg;

	p->total = all;
	progress__add(p, done - p->done);
}

static void say(const struct merge_opts *o, const struct merge_result *r)
{
	char a[FMT_NUM], b[FMT_NUM];

	fprintf(stderr, "%s: %s records of %zu captures, %s", o->output, fmt_count(a, r->records), o->n,
		fmt_bytes(b, r->bytes));
	if (r->clocks < 2)
		fputs("; all by one clock\n", stderr);
	else if (r->has_error)
		fprintf(stderr, "; times of different machines within %s\n", fmt_ns(a, r->error_ns));
	else
		fputs("; how far clocks of different machines are apart is not known (--host-error)\n",
		      stderr);
}

static void warn(const struct merge_opts *o, const struct merge_result *r)
{
	if (r->apart[0])
		fprintf(stderr, "gpubpf: warning: %s ended before %s began: they share no moment\n",
			o->paths[r->apart[0] - 1], o->paths[r->apart[1] - 1]);
	if (r->worst < LEDGER_UNCONTRADICTED)
		fprintf(stderr, "gpubpf: warning: %s is %s, and so is the whole\n",
			o->paths[r->worst_member - 1], ledger_verdict_name(r->worst));
}

static int run(int argc, char **argv)
{
	struct merge_args args = { .max_error = NOT_GIVEN, .host_error = NOT_GIVEN };
	struct merge_opts o = { 0 };
	struct merge_result r;
	struct progress shown;
	struct err err = { 0 };
	int rest, rc;

	rc = opts_parse(&verb_merge, argc, argv, &args, &rest, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = check(&args, argc - rest, &err);
	if (rc < 0)
		return cmd_failed(&err, 2);
	o.paths = (const char *const *)argv + rest;
	o.n = (size_t)(argc - rest);
	o.output = args.output;
	o.force = args.force;
	o.has_max_error = args.max_error != NOT_GIVEN;
	o.max_error_ns = args.max_error;
	o.has_host_error = args.host_error != NOT_GIVEN;
	o.host_error_ns = args.host_error;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	progress__begin(&shown, args.quiet ? NULL : stderr, "merge", 0);
	o.progress = progress;
	o.progress_arg = &shown;
	rc = merge_captures(&o, &r, &err);
	progress__end(&shown);
	if (rc)
		return rc == -EPIPE && strcmp(o.output, "-") == 0 ? 1 : cmd_failed(&err, 1);
	warn(&o, &r);
	if (!args.quiet)
		say(&o, &r);
	return 0;
}

const struct verb verb_merge = {
	.name = "merge",
	.synopsis = "[OPTIONS] -o OUT FILE FILE…",
	.summary = "captures of several processes or machines as one, on one clock",
	.text = "Writes one capture of several, which every other command reads. Process and thread ids are what they were, plus "
		"10,000,000 for those of the first file, 20,000,000 for those of the second, and so on, so that processes of two "
		"machines are never taken for one another. `gpubpf inspect` shows the members with their verdicts; the whole is "
		"never better than the worst of them.\n\n"
		"Captures of one boot of one machine have one clock. Those of other machines are moved by a constant, so that the "
		"wall clocks agree, and with the times goes how far they can be off: what the kernel said of each clock while it "
		"recorded, where something synchronizes it (chrony, ntpd, PTP), or --host-error. Where nobody knows, the captures are "
		"merged all the same, and nothing is concluded from a difference of times between machines.\n\n"
		"A capture is refused when it has no clock pair, when its wall clock was set or its machine slept while it was "
		"recorded, when it is there twice, and when its clock can be off by more than --max-error.",
	.examples =
		"gpubpf merge rank0.gpubpf rank1.gpubpf -o run.gpubpf\tof two processes\n"
		"gpubpf merge --host-error 50us a.gpubpf b.gpubpf -o run.gpubpf\tof machines whose clocks PTP holds together\n"
		"gpubpf merge --max-error 1ms a.gpubpf b.gpubpf -o run.gpubpf\tor not at all\n",
	.opts = merge_opts_table,
	.run = run,
};
