/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "timeline_view.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/browser.h"
#include "serve/serve.h"
#include "util/err.h"
#include "util/file.h"
#include "util/fmt.h"

struct timeline_view {
	const struct timeline_view_args *args;
	const char *output;
	char *title, *file_name;
	int fd;
	int signals;
	struct serve *serve;
	struct serve_ui *ui;
};

bool timeline_view_wanted(const struct timeline_view_args *a)
{
	return a->serve || a->open;
}

int timeline_view_check(const struct timeline_view_args *a, const char *output, struct err *err)
{
	struct stat st;

	if (!timeline_view_wanted(a)) {
		if (a->port != ULLONG_MAX || a->serve_for != ULLONG_MAX || a->ui)
			return err_set(err, -EINVAL,
				       "--port, --serve-for and --ui-dir go with --serve or --open");
		return 0;
	}
	if (a->port != ULLONG_MAX && a->port > UINT16_MAX)
		return err_set(err, -EINVAL, "--port takes 0 to 65535, not %llu", a->port);
	if (!a->serve_for)
		return err_set(err, -EINVAL, "--serve-for takes a time longer than 0");
	if (output && (strcmp(output, "-") == 0 || (!stat(output, &st) && !S_ISREG(st.st_mode))))
		return err_set(
			err, -EINVAL,
			"only a regular file can be served, not '%s'; without -o the trace needs no name",
			output);
	return 0;
}

/* The first folder for temporary files that takes one. Its name is gone at once, so nothing can be left of it. */
static int hidden_file(struct err *err)
{
	const char *dir;
	char path[PATH_MAX];
	size_t at = 0;
	int fd, first = 0;

	while ((dir = file_temporary_folder(&at))) {
		fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, 0600);
		if (fd < 0 && (size_t)snprintf(path, sizeof(path), "%s/gpubpf-XXXXXX", dir) < sizeof(path)) {
			fd = mkostemp(path, O_CLOEXEC);
			if (fd >= 0)
				unlink(path);
		}
		if (fd >= 0)
			return fd;
		if (!first)
			first = -errno;
	}
	return err_set(err, first ? first : -ENOENT,
		       "no folder takes a temporary file for the trace (%s); set TMPDIR, or write it with -o",
		       strerror(first ? -first : ENOENT));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void say_viewer(const char *path, const struct serve_ui *ui, bool quiet)
{
	char files[FMT_NUM], bytes[FMT_NUM], left[FMT_NUM + 64] = "", n[FMT_NUM];
	struct serve_ui_about a;

	serve_ui__about(ui, &a);
	if (a.missing)
		fprintf(stderr, "gpubpf: warning: %s lacks %s files that its manifest lists, the first %s\n",
			path, fmt_count(n, a.missing), a.first_missing);
	if (quiet)
		return;
	if (a.left_out)
		snprintf(left, sizeof(left), "; not served: %s (hidden, links, names to be quoted)",
			 fmt_count(n, a.left_out));
	fprintf(stderr,
		"viewer: %s/" SERVE_UI_ENTRY
		", revision %s, %s with CRC-32C %08x; %s files, %s, as they are now%s\n",
		path, a.revision[0] ? a.revision : "not named", a.manifest, a.manifest_crc,
		fmt_count(files, a.files), fmt_bytes(bytes, a.bytes), left);
}

static void on_changed(void *path, const char *name)
{
	fprintf(stderr,
		"gpubpf: warning: %s/%s was changed since the start, and is refused; run gpubpf again\n",
		(const char *)path, name);
}

int timeline_view__open(const struct timeline_view_args *a, const char *capture, const char *output,
			bool quiet, struct timeline_view **out, struct err *err)
{
	struct timeline_view *v;
	struct serve_opts o = { 0 };
	int rc = 0;

	*out = NULL;
	if (!timeline_view_wanted(a))
		return 0;
	v = calloc(1, sizeof(*v));
	if (!v)
		return err_set(err, -ENOMEM, "out of memory");
	v->args = a;
	v->output = output;
	v->fd = v->signals = -1;
	v->title = strdup(base_name(capture));
	if (asprintf(&v->file_name, "%s%s", base_name(output ? output : capture),
		     output ? "" : ".perfetto-trace") < 0)
		v->file_name = NULL;
	if (!v->title || !v->file_name)
		rc = err_set(err, -ENOMEM, "out of memory");
	if (!rc && !output) {
		v->fd = hidden_file(err);
		rc = v->fd < 0 ? v->fd : 0;
	}
	if (!rc && a->ui)
		rc = serve_ui__open(a->ui, &v->ui, err);
	if (!rc && a->ui)
		say_viewer(a->ui, v->ui, quiet);
	o.ui = v->ui;
	o.on_changed = on_changed;
	o.arg = (void *)a->ui;
	o.title = v->title;
	o.file_name = v->file_name;
	o.port = a->port == ULLONG_MAX ? 0 : (uint16_t)a->port;
	if (!rc)
		rc = serve__open(&o, &v->serve, err);
	if (rc) {
		timeline_view__close(v);
		return rc;
	}
	*out = v;
	return 0;
}

int timeline_view__fd(const struct timeline_view *v)
{
	return v->fd;
}

int timeline_view__focus(struct timeline_view *v, const char *link, struct err *err)
{
	return serve__focus(v->serve, link, err);
}

/* What ends the server: Ctrl-C, kill, and the end of the terminal unless it is to be survived (nohup). */
static int catch_ends(struct timeline_view *v, struct serve_ends *ends, struct err *err)
{
	struct sigaction hup;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	if (!sigaction(SIGHUP, NULL, &hup) && hup.sa_handler != SIG_IGN) {
		sigaddset(&set, SIGHUP);
		for (int fd = STDERR_FILENO; fd >= 0 && ends->terminal < 0; fd--)
			if (isatty(fd))
				ends->terminal = fd;
	}
	sigprocmask(SIG_BLOCK, &set, NULL);
	v->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (v->signals < 0)
		return err_set(err, -errno, "signalfd: %s", strerror(errno));
	ends->stop = v->signals;
	return 0;
}

static void say_until(const struct timeline_view_args *a, bool once)
{
	char time[FMT_NUM], limit[FMT_NUM + 16] = "";

	if (a->serve_for != ULLONG_MAX)
		snprintf(limit, sizeof(limit), ", for %s at most", fmt_ns(time, a->serve_for));
	fprintf(stderr, "served to this machine alone%s, until %sCtrl-C\n", limit,
		once ? "it was fetched, or " : "");
}

int timeline_view__run(struct timeline_view *v, bool quiet, struct err *err)
{
	struct serve_ends ends = { .stop = -1, .terminal = -1 };
	struct err trouble = { 0 };
	enum serve_end why;
	int rc;

	if (v->output) {
		v->fd = open(v->output, O_RDONLY | O_CLOEXEC | O_NOCTTY);
		if (v->fd < 0)
			return err_set(err, -errno, "%s: %s", v->output, strerror(errno));
	}
	/* a viewer of ours is not all there yet when the trace is */
	ends.once = v->args->open && !v->args->serve && !v->ui;
	if (v->args->serve_for != ULLONG_MAX)
		ends.after_ns = v->args->serve_for;
	rc = serve__trace(v->serve, v->fd, err);
	if (!rc)
		rc = catch_ends(v, &ends, err);
	if (rc)
		return rc;
	if (printf("%s\n", serve__url(v->serve)) < 0 || fflush(stdout))
		return err_set(err, -errno, "standard output: %s", strerror(errno));
	if (!quiet)
		say_until(v->args, ends.once);
	/* the address is there for whoever has no desktop here */
	if (v->args->open && browser_open(serve__url(v->serve), &trouble))
		fprintf(stderr, "gpubpf: warning: %s\n", trouble.msg);
	rc = serve__run(v->serve, &ends, &why, err);
	if (!rc && !quiet && why == SERVE_FETCHED)
		fprintf(stderr, "the trace was fetched: the server has ended\n");
	if (serve__changed(v->serve))
		fprintf(stderr, "gpubpf: warning: refused %llu requests for changed files of the viewer\n",
			(unsigned long long)serve__changed(v->serve));
	return rc;
}

void timeline_view__close(struct timeline_view *v)
{
	if (!v)
		return;
	serve__close(v->serve);
	serve_ui__close(v->ui);
	if (v->fd >= 0)
		close(v->fd);
	if (v->signals >= 0)
		close(v->signals);
	free(v->title);
	free(v->file_name);
	free(v);
}
