/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/target.h"
#include "record_opts.h"
#include "top/top_lines.h"
#include "top/top_screen.h"
#include "util/clock.h"
#include "util/err.h"

#define LAG_NS 1000000000ull
#define INTERVAL_MIN 100000000ull
#define INTERVAL_MAX 3600000000000ull
#define SAID_MAX 16
#ifdef HAVE_CURSES
#define NO_SCREEN ""
#else
#define NO_SCREEN " This gpubpf was built without ncurses and has nothing else."
#endif

struct top_opts {
	struct record_common c; /* first */
	unsigned long long interval;
	int lines, no_latency;
};

#define O(field) offsetof(struct top_opts, field)

static const struct opt options[] = {
	RECORD_OPT_TARGETS,
	RECORD_OPT_DURATION,
	{ 'i', "interval", OPT_DURATION, "SECONDS", O(interval), "What each view is of (0.1 s to an hour).",
	  0, NULL, 1, "1" },
	{ 0, "lines", OPT_FLAG, NULL, O(lines),
	  "A block of plain lines for each interval, as when standard output is no terminal." NO_SCREEN, 0,
	  NULL, 0, NULL },
	{ 0, "no-latency", OPT_FLAG, NULL, O(no_latency),
	  "Leave the kernel's account of where the time of calls went out, at a lower cost: no waits are shown, and of launches in a row "
	  "those of --returns are measured, not all.",
	  0, NULL, 0, NULL },
	RECORD_OPT_FOLLOW,
	RECORD_OPT_HOST,
	RECORD_OPT_SHIM,
	RECORD_OPT_ROOM,
	RECORD_OPT_VERBOSE,
	{ 0 },
};

/* What the terminal was before the command's output was kept away from the screen. */
struct streams {
	int was[3];     /* descriptors; -1: not changed */
	FILE *kept;     /* what was written meanwhile */
	FILE *out, *in; /* the terminal */
};

struct live {
	const struct top_opts *o;
	struct top_feed *feed;
	struct top_screen *screen;
	struct streams streams;
	bool on_screen, begun, described, gone;
	int failed; /* errno of standard output */
	char *said[SAID_MAX];
	size_t nsaid;
	char verdict[400];
	struct err err;
};

/* ---- The terminal ---- */

static int replace(struct live *l, int fd, int by)
{
	l->streams.was[fd] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return l->streams.was[fd] < 0 || dup2(by, fd) < 0 ? -errno : 0;
}

/*
 * A launched command has the terminal too: what it and we write there meanwhile is kept and shown when the screen is
 * gone, and keys are ours.
 */
static int take_terminal(struct live *l, bool command)
{
	int in = isatty(STDIN_FILENO) ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				      : open("/dev/tty", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3), null, e = 0;

	l->streams.in = in < 0 ? NULL : fdopen(in, "r");
	l->streams.out = out < 0 ? NULL : fdopen(out, "w");
	if (!l->streams.in || !l->streams.out)
		return -errno;
	if (!command)
		return 0;
	l->streams.kept = tmpfile();
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (!l->streams.kept || null < 0)
		return -errno;
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && !e; fd++)
		if (isatty(fd))
			e = replace(l, fd, fd == STDIN_FILENO ? null : fileno(l->streams.kept));
	close(null);
	return e;
}

static void show_kept(struct live *l)
{
	char buf[4096];
	size_t n;

	if (!l->streams.kept)
		return;
	rewind(l->streams.kept);
	while ((n = fread(buf, 1, sizeof(buf), l->streams.kept)) > 0)
		fwrite(buf, 1, n, stdout);
	fflush(stdout);
	fclose(l->streams.kept);
	l->streams.kept = NULL;
}

/* From here on we write to it again; a command that still runs has the rest of it when it has ended. */
static void leave_screen(struct live *l)
{
	top_screen__close(l->screen);
	l->screen = NULL;
	fflush(stdout);
	fflush(stderr);
	for (int fd = 0; fd < 3; fd++) {
		if (l->streams.was[fd] < 0)
			continue;
		dup2(l->streams.was[fd], fd);
		close(l->streams.was[fd]);
		l->streams.was[fd] = -1;
	}
	if (l->streams.in)
		fclose(l->streams.in);
	if (l->streams.out)
		fclose(l->streams.out);
	l->streams.in = l->streams.out = NULL;
}

/* ---- What the recorder calls ---- */

static void on_view(const struct top_view *v, void *arg)
{
	struct live *l = arg;

	snprintf(l->verdict, sizeof(l->verdict), "%s", v->verdict);
	if (l->screen) {
		top_screen__show(l->screen, v);
		return;
	}
	if (l->on_screen || l->gone)
		return;
	errno = 0;
	top_lines(stdout, v);
	if (!fflush(stdout) && !ferror(stdout))
		return;
	l->gone = true;
	l->failed = errno && errno != EPIPE ? errno : 0;
}

/* To the screen; otherwise, and once more behind it, to standard error. */
static void on_say(const char *line, void *arg)
{
	struct live *l = arg;

	if (!l->screen) {
		record_say(line, NULL);
		return;
	}
	top_screen__say(l->screen, line);
	if (l->nsaid < SAID_MAX && (l->said[l->nsaid] = strdup(line)))
		l->nsaid++;
}

static const char *on_turn(void *arg)
{
	struct live *l = arg;

	if (!l->begun) {
		l->begun = true;
		top_feed__begin(l->feed, clock_now(CLOCK_MONOTONIC));
		if (l->on_screen && top_screen__open(l->streams.out, l->streams.in, &l->screen, &l->err))
			return "no screen";
	}
	if (l->gone)
		return l->failed ? "write error" : "nobody reads";
	return l->screen && top_screen__turn(l->screen) ? "quit" : NULL;
}

static int on_meta(const Gpubpf__Meta *m, void *arg)
{
	struct live *l = arg;

	l->described = true;
	return top_feed__meta(l->feed, m);
}

static int on_counts(const Gpubpf__Counts *c, void *arg)
{
	return top_feed__counts(((struct live *)arg)->feed, c);
}

static int on_record(const struct gpubpf_rec *rec, void *arg)
{
	return top_feed__record(((struct live *)arg)->feed, rec);
}

static int on_footer(const Gpubpf__Footer *f, void *arg)
{
	struct live *l = arg;
	int e = top_feed__end(l->feed, f->counts);

	/* the recorder may still wait for the command */
	leave_screen(l);
	return e;
}

/* ---- Running ---- */

static int run_once(struct live *l, const pid_t *pids, char **command, const char *no_waits,
		    struct recorder_result *res, struct err *err)
{
	const struct shimfile_image image = shim_image();
	const struct capture_sink sink = {
		.meta = on_meta, .counts = on_counts, .record = on_record, .footer = on_footer, .arg = l
	};
	struct record_common c = l->o->c;
	struct recorder_opts r = {
		.output = "",
		.sink = &sink,
		.counts_ns = l->o->interval,
		.turn = on_turn,
		.turn_arg = l,
		.shim_image = &image,
		.no_cost = true, /* nobody is left to show it to */
		.say = on_say,
		.say_arg = l,
	};
	struct top_feed_opts fo = {
		.interval = l->o->interval,
		.lag = LAG_NS,
		.no_shim = c.no_shim,
		.no_waits = no_waits,
		.view = on_view,
		.arg = l,
	};
	int e;

	c.latency = !no_waits;
	if (c.returns == RETURNS_NOT_GIVEN)
		c.returns = c.latency ? 1 : RETURNS_DEFAULT;
	record_common_fill(&r, &c, pids, command);
	e = top_feed__new(&fo, &l->feed);
	if (e)
		return err_set(err, e, "out of memory");
	l->described = false;
	e = recorder_run(&r, res, err);
	top_feed__free(l->feed);
	l->feed = NULL;
	return e;
}

/* Where the kernel cannot account for waits, everything else is shown all the same. */
static int run_live(struct live *l, const pid_t *pids, char **command, struct recorder_result *res,
		    struct err *err)
{
	char why[1200];
	int e = run_once(l, pids, command, l->o->no_latency ? "left out (--no-latency)" : NULL, res, err);

	/* before the recording was described: neither the target's fault nor a matter of rights */
	if (!e || l->o->no_latency || l->described || e == -EPERM || e == -EACCES)
		return e;
	snprintf(why, sizeof(why), "this kernel cannot account for them: %s", err->msg);
	err->msg[0] = '\0';
	return run_once(l, pids, command, why, res, err);
}

static int finish(struct live *l, const struct recorder_result *res, int e, const struct err *err)
{
	bool was_screen = l->on_screen;

	leave_screen(l);
	show_kept(l);
	for (size_t i = 0; i < l->nsaid; i++) {
		record_say(l->said[i], NULL);
		free(l->said[i]);
	}
	if (was_screen && res->end_reason && l->verdict[0])
		fprintf(stderr, "gpubpf: %s\ngpubpf: ended by: %s\n", l->verdict, res->end_reason);
	if (l->gone && !l->failed) { /* who reads went away, and knows */
		__fpurge(stdout);
		clearerr(stdout);
	}
	if (l->err.msg[0])
		return record_failed("top", &l->err, -EIO);
	if (e)
		return record_failed("top", err, e);
	if (l->failed) {
		fprintf(stderr, "gpubpf top: standard output: %s\n", strerror(l->failed));
		return 1;
	}
	return res->launched ? res->exit_status : 0;
}

static int top(const struct top_opts *o, const pid_t *pids, char **command)
{
	struct live l = { .o = o, .streams.was = { -1, -1, -1 } };
	struct recorder_result res = { 0 };
	struct err err = { "" };
	int e = 0;

	record_libbpf_prints(o->c.verbose);
	l.on_screen = !o->lines && isatty(STDOUT_FILENO);
	if (l.on_screen) {
		setlocale(LC_CTYPE, "");
		l.on_screen = !top_screen_possible(STDOUT_FILENO, &err);
		if (!l.on_screen) {
			record_say(err.msg, NULL);
			err.msg[0] = '\0';
		}
	}
	if (l.on_screen)
		e = take_terminal(&l, command != NULL);
	if (e)
		err_set(&err, e, "cannot take the terminal over: %s; --lines needs none", strerror(-e));
	else
		e = run_live(&l, pids, command, &res, &err);
	return finish(&l, &res, e, &err);
}

static const char *refuse(const struct top_opts *o, bool command)
{
	const char *wrong = record_common_refuse(&o->c, command);

	if (wrong)
		return wrong;
	if (o->interval < INTERVAL_MIN || o->interval > INTERVAL_MAX)
		return "--interval takes 0.1 s to an hour";
	if (o->c.no_shim && o->c.shim)
		return "--shim is for the shim, which --no-shim leaves out";
	return NULL;
}

static int run(int argc, char **argv)
{
	struct top_opts o = { .c = RECORD_COMMON_INIT, .interval = 1000000000 };
	struct err err = { "" };
	const char *wrong;
	pid_t *pids = NULL;
	int rest, e, status = 2;

	e = opts_parse(&verb_top, argc, argv, &o, &rest, &err);
	if (e == 1)
		return 0;
	if (e) {
		fprintf(stderr, "gpubpf top: %s\n", err.msg);
		return 2;
	}
	wrong = refuse(&o, rest < argc);
	if (wrong)
		status = record_usage("top", wrong);
	else if ((e = targets_parse(&o.c.pids, &pids, &err)))
		status = e == -EINVAL ? record_usage("top", err.msg) : record_failed("top", &err, e);
	else
		status = top(&o, pids, rest < argc ? argv + rest : NULL);
	free(pids);
	opts_free(&verb_top, &o);
	return status;
}

const struct verb verb_top = {
	.name = "top",
	.synopsis = "[OPTIONS] -p PID[,PID…] | -a | [--] COMMAND [ARG…]",
	.command = 1,
	.summary = "watch what processes ask of the GPU while they do: rates, kernels, waits, losses",
	.text = "Attaches as `gpubpf record` does, writes no file, and shows each interval: launches, graph launches, copies "
		"and their bytes, calls and failures per second; how busy each device of each process was; kernels by time on "
		"the GPU; what calls waited for; entry points with mean and 99th percentile; processes and threads; and always what is "
		"known to be lost, with its reason, and what can be said of the whole so far, which is never `reconciled`: the "
		"two observers are held against each other only when a capture is read.\n\n"
		"On a terminal it is a screen: 1 to 6 choose the table, arrows and page keys move in it, s sorts by the next "
		"column, p pauses (the recording goes on), q ends. What a launched command writes to the terminal is kept, and "
		"shown when both are gone; it reads nothing from there. Elsewhere, with --lines, and where TERM or the locale does not do, it is plain "
		"lines: one block for each interval, each line with the word of its section first, in columns whose names stay.\n\n"
		"Rates, failures and losses are of the interval itself, by counters in the kernel that never lose. Launches are "
		"calls, also those that were captured into a graph. Times and waits are of the calls that returned in it: a call that waits for a "
		"minute is seen when it returns. Tables of launches and threads are of the records that came.\n\n"
		"The GPU's figures are a second older: CUPTI hands a record over when its buffer is done, so they are of an "
		"interval as long that ended a second before, and say which. A kernel is counted in the interval in which it ended; busy "
		"time stands in those in which it ran. A record that comes later still is counted in the next interval, in no busy time, and as `late`. "
		"Without the device observer kernels are counted by launches, and no GPU time is shown: the place of it says why.\n\n"
		"Ends as `gpubpf record` does: when the processes or the command have ended, after --duration, at SIGINT or SIGTERM; and "
		"when nobody reads the lines any more. A launched command is waited for.",
	.exit_status =
		"0 when it could watch; 1 when it could not; 2 for wrong usage. With a COMMAND: its exit status, or 128 plus the "
		"number of the signal that ended it.",
	.examples =
		"gpubpf top -p 4711\twatch a live process\n"
		"gpubpf top -i 5 --lines -a | grep '^rates'\trates of the machine, a line every five seconds\n"
		"gpubpf top -- python3 train.py\twatch a command from its first call to its end\n",
	.opts = options,
	.run = run,
};
