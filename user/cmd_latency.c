/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "latency/lat.h"
#include "util/err.h"
#include "util/file.h"
#include "util/opts.h"

#define SLOWEST_DEFAULT 3
#define SLOWEST_MAX 100 /* each call of the file is held against each of them */
#define ROWS_DEFAULT 10
#define IDLE_DEFAULT 10000 /* ns */

struct latency_args {
	int json, same_devices;
	const char *csv, *svg, *folded;
	unsigned long long slowest, rows, from, to, idle;
	struct opt_list apis, kernels, pids, tids;
};

#define O(field) offsetof(struct latency_args, field)
static const struct opt latency_opts_table[] = {
	{ .name = "api",
	  .type = OPT_LIST,
	  .arg = "NAME",
	  .offset = O(apis),
	  .help = "Only calls of these entry points; shell patterns (`cuMemcpy*`) may stand for several. With it the parts and "
		  "the slowest calls of everything chosen are shown, not those of launches alone." },
	{ .name = "kernel",
	  .type = OPT_LIST,
	  .arg = "NAME",
	  .offset = O(kernels),
	  .help = "Only launches of kernels with this in their name, or whose whole name fits the shell pattern." },
	{ .letter = 'p',
	  .name = "pid",
	  .type = OPT_LIST,
	  .arg = "PID",
	  .offset = O(pids),
	  .help = "Only these processes." },
	{ .letter = 't',
	  .name = "thread",
	  .type = OPT_LIST,
	  .arg = "TID",
	  .offset = O(tids),
	  .help = "Only these threads." },
	{ .name = "from",
	  .type = OPT_DURATION,
	  .arg = "TIME",
	  .offset = O(from),
	  .help = "Only calls that were entered so long after the start of the capture, or later." },
	{ .name = "to",
	  .type = OPT_DURATION,
	  .arg = "TIME",
	  .offset = O(to),
	  .help = "Only calls that were entered before that." },
	{ .letter = 'n',
	  .name = "slowest",
	  .type = OPT_UINT,
	  .arg = "N",
	  .offset = O(slowest),
	  .help = "How many of the slowest calls, and of the longest gaps of GPUs, to tell as a time line, at most 100.",
	  .has_default = 1,
	  .default_text = "3" },
	{ .name = "idle",
	  .type = OPT_DURATION,
	  .arg = "DURATION",
	  .offset = O(idle),
	  .help = "Say what kept a GPU waiting of times in which it ran nothing that are so long or longer, 0 for all; the shorter "
		  "ones are counted.",
	  .has_default = 1,
	  .default_text = "10us" },
	{ .name = "same-devices",
	  .type = OPT_FLAG,
	  .offset = O(same_devices),
	  .help = "Take devices of the same number in several processes for one GPU: it is idle when none of them uses it, and "
		  "whoever launches next is looked for in all of them. On a machine with one GPU, however it is divided "
		  "(MIG), that is so without the option." },
	{ .name = "rows",
	  .type = OPT_UINT,
	  .arg = "N",
	  .offset = O(rows),
	  .help = "Rows per table in text, 0 for all.",
	  .has_default = 1,
	  .default_text = "10" },
	{ .name = "json",
	  .type = OPT_FLAG,
	  .offset = O(json),
	  .help = "Print one JSON object: every table with the meaning of its columns, the slowest calls and the longest gaps." },
	{ .name = "csv",
	  .type = OPT_STRING,
	  .arg = "TABLE",
	  .offset = O(csv),
	  .help = "Print one table as CSV (RFC 4180): apis, kernels, histogram, starts, locks, wakers, parts, differences, slowest, "
		  "idle_devices, idle, idle_apis, idle_gaps or stacks." },
	{ .name = "folded",
	  .type = OPT_STRING,
	  .arg = "calls|time",
	  .offset = O(folded),
	  .help = "Print the stacks (`record --stacks`) as lines for flame graphs: functions from the outermost, the entry point, "
		  "and how many of the calls it were, or the nanoseconds inside them." },
	{ .name = "svg",
	  .type = OPT_STRING,
	  .arg = "FILE",
	  .offset = O(svg),
	  .help = "Write a picture too: histograms, parts and the slowest calls. It needs nothing beside it." },
	{ 0 },
};

static int find_table(const char *name, const struct lat_section **out, struct err *err)
{
	const char *names[16], *nearest;
	size_t n = 0;

	for (const struct lat_section *s = latency_sections; s->s.name; s++) {
		names[n++] = s->s.name;
		if (strcmp(s->s.name, name) == 0) {
			*out = s;
			return 0;
		}
	}
	nearest = opts_nearest(name, names, n);
	if (nearest)
		return err_set(err, -EINVAL, "there is no table '%s'; did you mean '%s'?", name, nearest);
	return err_set(err, -EINVAL, "there is no table '%s'; `gpubpf latency --help` lists them", name);
}

struct run_state {
	struct latency_args args;
	struct latency_opts o;
	const struct lat_section *table;
	uint32_t *pids, *tids;
};

static int prepare(struct run_state *s, struct err *err)
{
	const struct latency_args *a = &s->args;
	struct procs_filter *f = &s->o.model.filter;
	int rc = 0;

	if (a->csv && a->json)
		return err_set(err, -EINVAL, "--csv and --json exclude each other");
	if (a->folded && (a->csv || a->json))
		return err_set(err, -EINVAL, "--folded, --csv and --json exclude each other");
	if (a->folded && strcmp(a->folded, "calls") != 0 && strcmp(a->folded, "time") != 0)
		return err_set(err, -EINVAL, "--folded takes calls or time, not '%s'", a->folded);
	if (a->slowest > SLOWEST_MAX)
		return err_set(err, -EINVAL, "-n takes at most %d, not %llu", SLOWEST_MAX, a->slowest);
	s->o.has_from = a->from != ~0ull;
	s->o.has_to = a->to != ~0ull;
	if (s->o.has_from && s->o.has_to && a->from >= a->to)
		return err_set(err, -EINVAL, "--from must be before --to");
	s->o.from = a->from;
	s->o.to = a->to;
	s->o.apis = a->apis.items;
	s->o.napis = a->apis.n;
	s->o.kernels = a->kernels.items;
	s->o.nkernels = a->kernels.n;
	s->o.slowest = a->slowest;
	s->o.rows = a->rows;
	s->o.idle = a->idle;
	s->o.same_devices = a->same_devices;
	if (a->csv)
		rc = find_table(a->csv, &s->table, err);
	if (!rc)
		rc = cmd_ids(&a->pids, &s->pids, &f->npids, err);
	if (!rc)
		rc = cmd_ids(&a->tids, &s->tids, &f->ntids, err);
	f->pids = s->pids;
	f->tids = s->tids;
	return rc;
}

static int write_picture(struct latency *l, const char *path, struct err *err)
{
	char *svg = NULL;
	size_t n;
	int rc = latency_svg(l, &svg, &n);

	if (!rc)
		rc = file_write_all(path, svg, n);
	free(svg);
	return rc ? err_set(err, rc, "%s: %s", path, strerror(-rc)) : 0;
}

static int show(const struct run_state *s, struct latency *l, struct err *err)
{
	char line[768];
	int rc;

	if (s->args.svg && write_picture(l, s->args.svg, err))
		return cmd_failed(err, 1);
	if (s->args.folded) {
		if (!l->stacks)
			fprintf(stderr, "gpubpf: no stacks in this capture (record --stacks)\n");
		rc = latency_folded(l, !strcmp(s->args.folded, "time"), stdout);
	} else if (s->table) {
		/* the table has no room for it, and nobody may take it for whole when it is not */
		ledger_headline(&l->in.ledger, line, sizeof(line));
		if (l->in.ledger.verdict < LEDGER_UNCONTRADICTED)
			fprintf(stderr, "gpubpf: %s\n", line);
		if (latency__no_device(l))
			fprintf(stderr,
				"gpubpf: calls to the start on the GPU, and its idle time: not measured: %s\n",
				latency__no_device(l));
		if (latency__no_wakers(l) &&
		    (!strcmp(s->table->s.name, "locks") || !strcmp(s->table->s.name, "wakers")))
			fprintf(stderr, "gpubpf: waits in futexes: not measured: %s\n",
				latency__no_wakers(l));
		rc = latency_csv(l, s->table, stdout);
	} else {
		rc = s->args.json ? latency_json(l, stdout) : latency_text(l, stdout);
	}
	if (rc == -ENOMEM && !ferror(stdout)) {
		err_set(err, rc, "%s: out of memory", l->in.path);
		return cmd_failed(err, 1);
	}
	return cmd_flush_output();
}

static int run(int argc, char **argv)
{
	struct run_state s = { .args = { .slowest = SLOWEST_DEFAULT,
					 .rows = ROWS_DEFAULT,
					 .from = ~0ull,
					 .to = ~0ull,
					 .idle = IDLE_DEFAULT } };
	struct latency l = { 0 };
	struct err err = { 0 };
	int rest, rc, status;

	rc = opts_parse(&verb_latency, argc, argv, &s.args, &rest, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = cmd_one_file(&verb_latency, argc - rest, &err);
	if (rc == 0)
		rc = prepare(&s, &err);
	if (rc < 0) {
		status = cmd_failed(&err, rc == -ENOMEM ? 1 : 2);
		goto out;
	}
	signal(SIGPIPE, SIG_IGN);
	rc = latency__open(&l, argv[rest], &s.o, &err);
	status = rc ? cmd_failed(&err, 1) : show(&s, &l, &err);
	latency__close(&l);
out:
	free(s.pids);
	free(s.tids);
	opts_free(&verb_latency, &s.args);
	return status;
}

const struct verb verb_latency = {
	.name = "latency",
	.synopsis = "[OPTIONS] FILE",
	.summary = "why calls took long, their work long to start on the GPU, and what kept the GPU waiting",
	.text = "Reads a whole capture and prints its verdict first, then how long calls took from entry to return, how long "
		"it was from a call to the start of the first thing that it started on the GPU, where that time went, on "
		"average and for the slowest 1 %, what slow calls are more often than the others, and the slowest calls as "
		"time lines. The last parts are about launches, where the capture has any; --api chooses other calls. "
		"Histograms are printed of the entry point and the kernel that took most of the time, or of all that --api and "
		"--kernel name; JSON and CSV have them all.\n\n"
		"From return to start the time is cut in this order: until earlier work of the same stream had ended; then "
		"until what it had to wait for in other streams had ended (an event of cuStreamWaitEvent() that was recorded "
		"in another stream, or the default stream, as far as the calls are in the capture); of the rest, time in "
		"which other streams of the device ran something, though no dependency is known; from queueing to submission "
		"and from there to the start, where CUPTI gave these times (`record --cupti latency`); and what nothing is "
		"known of. The parts add up to the whole.\n\n"
		"Inside calls the time is that of the thread: on a processor, waiting for one, or blocked, by cause. It is "
		"there when the capture was made with `record --latency`. Waits in futexes (mutexes, condition variables and what else "
		"is made of them) are listed by address with whoever ended them: a thread, and which call it was in; the wait's "
		"own time limit; or an interrupt, where nobody is named. It is seen who woke a thread. That the waker had held a "
		"lock follows for a mutex, of which it is the last holder, and not for a condition variable. Without a device observer nothing is known of "
		"starts, and the output says so.\n\n"
		"A GPU is idle when none of its streams runs anything. Each such time, from what ended to what started next, is blamed "
		"on the thread whose call asked for the latter, with what it did until that call returned: in which calls it was, and "
		"in them and outside of them on which cause it spent the time; what is left, from the return to the start, is "
		"submission. Causes are known of captures made with `record --latency`. A call, or a time between two, "
		"of which only some was in the gap is shared out by overlap, and the output says of how much that holds. The parts "
		"add up to the idle time. Nobody is blamed for what no call is recorded for, for the time between the nodes of one "
		"graph, and for the time before the first and behind the last thing that ran. Where calls are chosen, by thread, kernel or "
		"otherwise, so are the gaps that they ended; the others are one row.\n\n"
		"Stacks say who made the calls, where the capture was made with `record --stacks` or `--slow`: those with most of the "
		"time, and that of each of the slowest calls. How far a stack goes is said: complete, truncated at a limit, or ended where "
		"frame pointers or unwind information are missing.\n\n"
		"Slow calls are those from a threshold on that one call in a hundred reaches at most, unless more calls are "
		"within 1 % of the longest. Percentiles are within 1 %; counts, sums and the bars of histograms are exact.",
	.examples =
		"gpubpf latency run.gpubpf\tverdict, distributions, parts, slow calls\n"
		"gpubpf latency --kernel gemm -n 10 run.gpubpf\tlaunches of kernels with gemm in their name\n"
		"gpubpf latency --api 'cuMemcpy*' run.gpubpf\tcopies\n"
		"gpubpf latency --from 10s --to 12s --json run.gpubpf\ttwo seconds, for programs\n"
		"gpubpf latency --csv idle --idle 1ms run.gpubpf\twhat kept the GPU waiting, gaps of 1 ms and more\n"
		"gpubpf latency --svg run.svg run.gpubpf\ta picture too\n",
	.opts = latency_opts_table,
	.run = run,
};
