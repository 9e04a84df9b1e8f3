/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "record/shimfile.h"
#include "util/err.h"
#include "util/fmt.h"

extern const char gpubpf_shim_begin[], gpubpf_shim_end[];

struct shimfile_image shim_image(void)
{
	return (struct shimfile_image){ gpubpf_shim_begin,
					(uintptr_t)gpubpf_shim_end - (uintptr_t)gpubpf_shim_begin };
}

static const struct opt shim_opts[] = { { 0 } };

static int complain(const char *message, int status)
{
	fputs("gpubpf shim: ", stderr);
	fmt_put_safe(stderr, message);
	fputc('\n', stderr);
	return status;
}

/* For eval by a shell: between quotes nothing is special but the quote itself. */
static void put_quoted(const char *s)
{
	putchar('\'');
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*s);
	}
	putchar('\'');
}

static int show(bool env)
{
	struct shimfile_image image = shim_image();
	char path[PATH_MAX];
	bool same;

	if (!shimfile_installed(&image, path, sizeof(path), &same))
		return complain("it is not installed; `gpubpf shim install` does that", 1);
	if (!same)
		complain("the installed one is of another version than this program; `gpubpf shim install` "
			 "replaces it, and running processes keep theirs",
			 0);
	if (env) {
		fputs("export " SHIMFILE_INJECTION "=", stdout);
		put_quoted(path);
		putchar('\n');
	} else {
		puts(path);
	}
	return 0;
}

static int install(const char *dir)
{
	struct shimfile_image image = shim_image();
	char usual[PATH_MAX], path[PATH_MAX];
	struct err err = { "" };

	if (!dir) {
		shimfile_default_dir(usual, sizeof(usual));
		dir = usual;
	}
	if (shimfile_install(&image, dir, path, sizeof(path), &err))
		return complain(err.msg, 1);
	puts(path);
	return 0;
}

static int shim_run(int argc, char **argv)
{
	struct err err = { "" };
	const char *what;
	char none;
	int rest, e;

	e = opts_parse(&verb_shim, argc, argv, &none, &rest, &err);
	if (e == 1)
		return 0;
	if (e)
		return complain(err.msg, 2);
	what = rest < argc ? argv[rest] : "";
	if (!strcmp(what, "install") && argc - rest <= 2)
		return install(argv[rest + 1]);
	if ((!strcmp(what, "path") || !strcmp(what, "env")) && argc - rest == 1)
		return show(what[0] == 'e');
	return complain("it takes `path`, `env` or `install [DIR]`; see `gpubpf shim --help`", 2);
}

const struct verb verb_shim = {
	.name = "shim",
	.synopsis = "path | env | install [DIR]",
	.summary = "install the library that shows the GPU's side of live processes",
	.text = "The shim is the device observer: a library that the CUDA driver loads into a process whose environment names "
		"it in CUDA_INJECTION64_PATH. It depends on nothing but the C library and loads CUPTI only when a recording asks "
		"for it. Until then it idles: no subscription, no activity, one thread that looks at one number twenty times a "
		"second.\n\n"
		"`gpubpf record -- COMMAND` needs none of this: it brings a copy along. What is installed here is for jobs that "
		"are to be recorded while they run, by `gpubpf record -p PID` or `-a`: start them with the environment that "
		"`gpubpf shim env` prints.\n\n"
		"`path` prints where the shim is installed. `env` prints the line that a shell evaluates. `install` puts the one "
		"inside this program into DIR (without it: the folder lib/gpubpf beside this program's bin, else "
		"/usr/local/lib/gpubpf) and prints its path. An older one is replaced by name only: processes that have it "
		"loaded keep it.",
	.exit_status =
		"0: done.\n\n"
		"1: `path`, `env`: it is not installed; `install`: the folder cannot be written to.\n\n"
		"2: wrong usage.",
	.examples = "gpubpf shim install\tonce per machine or image\n"
		    "eval \"$(gpubpf shim env)\"; python3 train.py\ta job that can be recorded later\n"
		    "gpubpf record -p 4711 -d 10s\tand now is",
	.opts = shim_opts,
	.run = shim_run,
};
