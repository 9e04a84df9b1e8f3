/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "sidecar/man.h"
#include "sidecar/sidecar.h"
#include "timeline/out.h"
#include "timeline/page.h"
#include "timeline/sql.h"
#include "timeline/timeline.h"
#include "timeline_view.h"
#include "util/err.h"
#include "util/file.h"
#include "util/fmt.h"
#include "util/opts.h"
#include "util/progress.h"

struct timeline_args {
	const char *output, *format, *html, *sidecar, *sql;
	unsigned long long max_bytes;
	unsigned long long occurrence, from, to; /* ULLONG_MAX: not said */
	const char *kernel;
	int quiet;
	struct opt_list pids;
	struct timeline_view_args view;
};

#define O(field) offsetof(struct timeline_args, field)
static const struct opt timeline_opts_table[] = {
	{ .letter = 'o',
	  .name = "output",
	  .type = OPT_STRING,
	  .arg = "OUT",
	  .offset = O(output),
	  .help = "Write the trace there; \"-\" is standard output. A name that ends in .gz is compressed. An existing "
		  "file is replaced, when the new one is whole." },
	{ .name = "format",
	  .type = OPT_STRING,
	  .arg = "FORMAT",
	  .offset = O(format),
	  .help = "`perfetto` (Perfetto's own packets) or `chrome` (JSON of Chrome's trace viewer).",
	  .has_default = 1,
	  .default_text = "chrome for .json and .json.gz, else perfetto" },
	{ .name = "max-output-bytes",
	  .type = OPT_SIZE,
	  .arg = "SIZE",
	  .offset = O(max_bytes),
	  .help = "At most so large, before compression. What shows a thing twice goes first, then counters, then whole "
		  "calls with all that ran for them, the same ones each time; the trace says what it lacks." },
	{ .name = "html",
	  .type = OPT_STRING,
	  .arg = "OUT",
	  .offset = O(html),
	  .help = "Write a page that any browser opens, with everything in it and no network: the same tracks to zoom and "
		  "search, the kernels by launch key, verdict and losses. With or without -o." },
	{ .name = "sidecar",
	  .type = OPT_STRING,
	  .arg = "JSON",
	  .offset = O(sidecar),
	  .help = "Show too, as tracks and arguments of events, what this file says that calls and executions meant: steps, requests, "
		  "layers. It is made for this capture and names them by what `gpubpf export --format json` shows." },
	{ .name = "sql-out",
	  .type = OPT_STRING,
	  .arg = "MODULE",
	  .offset = O(sql),
	  .help = "Write a PerfettoSQL module too: views of calls, of what ran, of the ties between them, of counters and of what "
		  "has no match, for Perfetto's trace processor. With Perfetto's format." },
	TIMELINE_VIEW_OPTS(O(view)),
	{ .name = "focus-kernel",
	  .type = OPT_STRING,
	  .arg = "NAME",
	  .offset = O(kernel),
	  .help = "Open the view at an execution of the kernel with exactly this name (as `gpubpf report` has it), and select it. For "
		  "--serve, --open and --html, as the next three." },
	{ .name = "focus-occurrence",
	  .type = OPT_UINT,
	  .arg = "N",
	  .offset = O(occurrence),
	  .help = "Which of its executions: from 1, in the order of their starts, among those with valid times. Needed where it ran "
		  "more than once." },
	{ .name = "focus-from",
	  .type = OPT_DURATION,
	  .arg = "TIME",
	  .offset = O(from),
	  .help = "Open the view at a time: its beginning, since the start of the capture (`1.5s`, `250000ns`)." },
	{ .name = "focus-to",
	  .type = OPT_DURATION,
	  .arg = "TIME",
	  .offset = O(to),
	  .help = "The end of that time. With --focus-kernel too, that execution is selected and must have run then." },
	{ .letter = 'p',
	  .name = "pid",
	  .type = OPT_LIST,
	  .arg = "PID",
	  .offset = O(pids),
	  .help = "Only these processes (pids of the initial namespace)." },
	{ .letter = 'q',
	  .name = "quiet",
	  .type = OPT_FLAG,
	  .offset = O(quiet),
	  .help = "Print errors and warnings alone." },
	{ 0 },
};

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && strcmp(s + n - m, end) == 0;
}

static int choose_format(const struct timeline_args *a, struct timeline_opts *o, struct err *err)
{
	const bool trace = a->output || timeline_view_wanted(&a->view);

	if (!trace && !a->html)
		return err_set(err, -EINVAL, "timeline needs `-o OUT`, `--html OUT`, --open or --serve");
	if (!trace && (a->format || a->max_bytes != ~0ull))
		return err_set(err, -EINVAL,
			       "--format and --max-output-bytes are for `-o OUT`, which is missing");
	if (a->output && a->html && strcmp(a->output, a->html) == 0)
		return err_set(err, -EINVAL, "-o and --html name one file: %s", a->html);
	if (!trace)
		return timeline_view_check(&a->view, NULL, err);
	o->has_budget = a->max_bytes != ~0ull;
	o->budget = a->max_bytes;
	if (!a->format)
		o->format = a->output && (ends_in(a->output, ".json") || ends_in(a->output, ".json.gz"))
				    ? TIMELINE_CHROME
				    : TIMELINE_PERFETTO;
	else if (strcmp(a->format, "perfetto") == 0)
		o->format = TIMELINE_PERFETTO;
	else if (strcmp(a->format, "chrome") == 0)
		o->format = TIMELINE_CHROME;
	else
		return err_set(err, -EINVAL, "there is no format '%s': perfetto or chrome", a->format);
	return timeline_view_check(&a->view, a->output, err);
}

static int check_sql(const struct timeline_args *a, const struct timeline_opts *o, const char *capture,
		     struct err *err)
{
	if (!a->sql)
		return 0;
	if (!a->output)
		return err_set(err, -EINVAL, "--sql-out is for the trace that -o OUT writes: name both");
	if (o->format != TIMELINE_PERFETTO)
		return err_set(
			err, -EINVAL,
			"--sql-out goes with Perfetto's format alone: Chrome's trace viewer knows no SQL; "
			"leave --sql-out out, or say --format perfetto");
	if (strcmp(a->sql, "-") == 0)
		return err_set(err, -EINVAL, "--sql-out writes a file: name one");
	if (file_same_name(a->sql, a->output))
		return err_set(err, -EINVAL,
			       "-o and --sql-out both name %s: give the module a name of its own", a->output);
	if (a->html && file_same_name(a->sql, a->html))
		return err_set(err, -EINVAL,
			       "--html and --sql-out both name %s: give the module a name of its own",
			       a->html);
	if (file_same_name(a->sql, capture))
		return err_set(err, -EINVAL,
			       "--sql-out names the capture, %s: give the module a name of its own", capture);
	return 0;
}

/* Into *f; *has: it was asked for. */
static int check_focus(const struct timeline_args *a, const struct timeline_opts *o, struct timeline_focus *f,
		       bool *has, struct err *err)
{
	const bool view = timeline_view_wanted(&a->view);

	*f = (struct timeline_focus){ .kernel = a->kernel, .from = a->from, .to = a->to };
	f->occurrence = a->occurrence == ULLONG_MAX ? 0 : a->occurrence;
	f->has_range = a->from != ULLONG_MAX;
	*has = f->kernel || f->has_range;
	if (f->has_range != (a->to != ULLONG_MAX))
		return err_set(err, -EINVAL, "--focus-from and --focus-to go together: a time has two ends");
	if (f->has_range && a->from >= a->to)
		return err_set(err, -EINVAL,
			       "--focus-from must be before --focus-to, not %llu ns and %llu ns", a->from,
			       a->to);
	if (a->occurrence != ULLONG_MAX && !f->kernel)
		return err_set(err, -EINVAL, "--focus-occurrence goes with --focus-kernel, which is missing");
	if (!a->occurrence)
		return err_set(err, -EINVAL, "--focus-occurrence counts from 1");
	if (*has && !view && !a->html)
		return err_set(err, -EINVAL,
			       "--focus-… are for what opens a view: --serve, --open or --html");
	if (*has && view && o->format != TIMELINE_PERFETTO)
		return err_set(err, -EINVAL,
			       "a link to a moment needs Perfetto's format: leave --focus-… out, or say "
			       "--format perfetto");
	return 0;
}

static void progress(void *arg, uint64_t done, uint64_t all)
{
	struct progress *p = arg;

	p->total = all;
	progress__add(p, done - p->done);
}

static void say(const char *output, const struct timeline_opts *o, const struct timeline_result *r, bool page)
{
	char slices[FMT_NUM], bytes[FMT_NUM], left[FMT_NUM];
	uint64_t dropped = 0;

	for (unsigned i = 0; i < TIMELINE_CLASSES; i++)
		dropped += r->all[i].items - r->kept[i].items;
	fprintf(stderr, "%s: %s slices, %s%s%s%s\n", output, fmt_count(slices, r->slices),
		fmt_bytes(bytes, r->bytes), dropped ? ", left out to keep the size: " : "",
		dropped ? fmt_count(left, dropped) : "",
		page                             ? "; any browser opens it"
		: o->format == TIMELINE_PERFETTO ? "; https://ui.perfetto.dev shows it"
						 : "");
}

/* Hands the focus to the view, as the end of a link. */
static int link_view(struct timeline_view *view, const struct timeline_link *l, bool quiet, struct err *err)
{
	char link[4 * 32 + 32];
	int n = snprintf(link, sizeof(link), "visStart=%llu&visEnd=%llu", (unsigned long long)l->from,
			 (unsigned long long)l->to);

	if (l->has_slice && !l->twins)
		snprintf(link + n, sizeof(link) - (size_t)n, "&ts=%llu&dur=%llu",
			 (unsigned long long)l->start, (unsigned long long)l->duration);
	if (l->twins)
		fprintf(stderr,
			"gpubpf: warning: %llu other events begin and end with this execution, and a link cannot tell "
			"them apart: the view opens there, and nothing is selected\n",
			(unsigned long long)l->twins);
	if (!quiet)
		fprintf(stderr, "the view opens at %s\n", link);
	return timeline_view__focus(view, link, err);
}

typedef int write_fn(struct trace *t, const struct timeline_opts *o, timeline_write_fn *fn, void *arg,
		     struct timeline_result *r, struct err *err);

struct target {
	const char *output, *module; /* NULL: into the file of the view; no views for the trace processor */
	struct timeline_view *view;
	write_fn *write;
};

static int write_trace(struct trace *t, const struct target *to, const struct timeline_opts *o, bool quiet,
		       struct err *err)
{
	struct timeline_result r;
	struct tl_out *out = NULL, *sql = NULL;
	int rc = to->output ? tl_out__open(to->output, &out, err)
			    : tl_out__on(timeline_view__fd(to->view), "the temporary file", &out, err);

	/* either both are there in the end, or neither */
	if (!rc && to->module)
		rc = tl_sql__open(to->module, &sql, err);
	if (!rc)
		rc = to->write(t, o, tl_out__write, out, &r, err);
	progress__end(o->progress_arg);
	if (!rc && sql)
		rc = tl_out__settle(sql, err);
	if (!rc)
		rc = tl_out__finish(out, err);
	else if (out && !err->msg[0])
		tl_out__failed(out, rc, err);
	if (!rc && sql)
		rc = tl_out__finish(sql, err);
	tl_out__close(sql);
	tl_out__close(out);
	if (rc)
		return rc;
	if (r.without_launches)
		fprintf(stderr,
			"gpubpf: warning: none of the %llu executions of the capture is in the trace\n",
			(unsigned long long)r.launches);
	if (!quiet)
		say(to->output ? to->output : t->in.path, o, &r, to->write == timeline_page_write);
	return to->view && o->focus ? link_view(to->view, &r.link, quiet, err) : 0;
}

/* *output: what was written last. */
static int write_all(struct trace *t, const struct timeline_args *a, struct timeline_view *view,
		     struct timeline_opts *o, const char **output, struct err *err)
{
	const struct timeline_focus *focus = o->focus;
	struct target trace = { a->output, a->sql, view, timeline_write },
		      page = { .output = a->html, .write = timeline_page_write };
	struct sidecar *sidecar = NULL;
	int rc = cmd_sidecar(a->sidecar, t, &sidecar, err);

	*output = a->output;
	o->focus = view ? focus : NULL;
	if (!rc && (a->output || view))
		rc = write_trace(t, &trace, o, a->quiet, err);
	if (!rc && a->html) {
		*output = a->html;
		o->focus = focus;
		progress__begin(o->progress_arg, a->quiet ? NULL : stderr, "timeline", 0);
		rc = write_trace(t, &page, o, a->quiet, err);
	}
	if (!rc && sidecar)
		sidecar__print(sidecar, stderr, !a->quiet);
	sidecar__free(sidecar);
	return rc;
}

static int run(int argc, char **argv)
{
	struct timeline_args args = { .max_bytes = ~0ull,
				      .view = TIMELINE_VIEW_INIT,
				      .occurrence = ULLONG_MAX,
				      .from = ULLONG_MAX,
				      .to = ULLONG_MAX };
	struct timeline_focus focus;
	bool has_focus = false;
	struct timeline_opts o = { 0 };
	struct model_opts model = { 0 };
	struct timeline_view *view = NULL;
	struct trace t = { 0 };
	struct err err = { 0 };
	uint32_t *pids = NULL;
	const char *output = "";
	struct progress shown;
	int rest, rc, status;

	rc = opts_parse(&verb_timeline, argc, argv, &args, &rest, &err);
	if (rc > 0)
		return 0;
	if (rc == 0)
		rc = cmd_one_file(&verb_timeline, argc - rest, &err);
	if (rc == 0)
		rc = choose_format(&args, &o, &err);
	if (rc == 0)
		rc = check_focus(&args, &o, &focus, &has_focus, &err);
	if (rc == 0)
		rc = check_sql(&args, &o, argv[rest], &err);
	if (rc == 0)
		rc = cmd_ids(&args.pids, &pids, &model.filter.npids, &err);
	if (rc < 0) {
		status = cmd_failed(&err, rc == -ENOMEM ? 1 : 2);
		goto out;
	}
	model.filter.pids = pids;
	o.focus = has_focus ? &focus : NULL;
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	progress__begin(&shown, args.quiet ? NULL : stderr, "timeline", 0);
	o.progress = progress;
	o.progress_arg = &shown;
	rc = timeline_view__open(&args.view, argv[rest], args.output, args.quiet, &view, &err);
	if (!rc)
		rc = trace__open(&t, argv[rest], &model, &err);
	if (!rc)
		rc = write_all(&t, &args, view, &o, &output, &err);
	trace__close(&t);
	if (!rc && view)
		rc = timeline_view__run(view, args.quiet, &err);
	/* a reader of standard output that went away knows */
	status = !rc ? 0 : rc == -EPIPE && output && strcmp(output, "-") == 0 ? 1 : cmd_failed(&err, 1);
	timeline_view__close(view);
out:
	free(pids);
	opts_free(&verb_timeline, &args);
	return status;
}

const struct verb verb_timeline = {
	.name = "timeline",
	.synopsis = "[OPTIONS] {-o OUT|--html OUT|--open|--serve} FILE",
	.summary = "the capture as a trace for Perfetto or Chrome's trace viewer",
	.text = "Writes every call and everything that ran on the devices as a trace. Each process has a track per thread with "
		"its calls, nested ones inside the others, and a tree of devices, contexts and streams with what ran there; "
		"arrows lead from a call to its executions. What overlaps in one stream stands in rows below each other. "
		"Counters show, per device, how many executions run, how much was asked for and has not started, and the "
		"rate of copies; and per kind of memory what calls allocated.\n\n"
		"Nothing is invented: an execution without valid times is an instant at the entry of its call, in a row that "
		"says so; a call that was recorded at its entry alone is an instant; a call that had not returned has no end. "
		"Where the time of a call went (`record --latency`) is in its arguments, since the order of the parts is not "
		"known. Each event says its clock, where its time is from, and how good it is.\n\n"
		"Times are CLOCK_MONOTONIC; in Perfetto's format the capture's clock pairs tie them to wall time, so that traces "
		"of several captures can be shown together. GPU time is to be accounted by events of the category "
		"`gpu_slice`; those of the category `presentation` show it once more.\n\n" SIDECAR_MAN
		"The tracks whose names begin with gpubpf say what the trace was made of, what was lost, and, with "
		"`--max-output-bytes`, what was left out. The same capture and version give the same bytes.",
	.examples =
		"gpubpf timeline run.gpubpf -o run.perfetto-trace\tfor https://ui.perfetto.dev\n"
		"gpubpf timeline run.gpubpf -o run.json.gz\tfor chrome://tracing\n"
		"gpubpf timeline run.gpubpf --html run.html\tone page that any browser opens\n"
		"gpubpf timeline run.gpubpf -o run.perfetto-trace --sql-out run.sql\twith views to ask, for the trace processor\n"
		"gpubpf timeline run.gpubpf --html run.html --focus-kernel 'softmax(float*)' --focus-occurrence 100\topened at its "
		"100th execution\n"
		"gpubpf timeline run.gpubpf --open --ui-dir perfetto/ui/out/dist\tin a viewer from the disk\n"
		"gpubpf timeline --max-output-bytes 500M run.gpubpf -o run.perfetto-trace\tat most 500 MiB\n",
	.opts = timeline_opts_table,
	.run = run,
};
