/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "util/opts.h"

const struct verb *const gpubpf_verbs[] = { &verb_record,   &verb_top,     &verb_report, &verb_latency,
					    &verb_timeline, &verb_export,  &verb_merge,  &verb_diff,
					    &verb_gate,     &verb_inspect, &verb_doctor, &verb_shim,
					    &verb_usdt,     &verb_elfgate, NULL };

static const struct verb *verb_find(const char *name)
{
	for (const struct verb *const *v = gpubpf_verbs; *v; v++) {
		if (!strcmp((*v)->name, name))
			return *v;
	}
	return NULL;
}

static int refuse_verb(const char *word)
{
	const char *names[sizeof(gpubpf_verbs) / sizeof(gpubpf_verbs[0])];
	const char *nearest;
	size_t n = 0;

	for (; gpubpf_verbs[n]; n++)
		names[n] = gpubpf_verbs[n]->name;
	nearest = opts_nearest(word, names, n);
	if (nearest)
		fprintf(stderr, "gpubpf: there is no command '%s'; did you mean 'gpubpf %s'?\n", word,
			nearest);
	else
		fprintf(stderr, "gpubpf: there is no command '%s'; `gpubpf --help` lists them\n", word);
	return 2;
}

static int help(const char *name)
{
	const struct verb *v;

	if (!name) {
		opts_help_index(stdout, gpubpf_verbs);
		return 0;
	}
	v = verb_find(name);
	if (!v)
		return refuse_verb(name);
	opts_help(stdout, v);
	return 0;
}

/* For the build: the man pages and completions it installs come out of the program itself. No name: the names. */
static int man(const char *name)
{
	const struct verb *v = name ? verb_find(name) : NULL;

	if (!name) {
		puts("gpubpf");
		for (const struct verb *const *each = gpubpf_verbs; *each; each++)
			puts((*each)->name);
	} else if (!strcmp(name, "gpubpf")) {
		opts_man_index(stdout, gpubpf_verbs, GPUBPF_VERSION);
	} else if (v) {
		opts_man(stdout, v, gpubpf_verbs, GPUBPF_VERSION);
	} else {
		return refuse_verb(name);
	}
	return 0;
}

static int completion(const char *shell)
{
	if (shell && !opts_completion(stdout, gpubpf_verbs, shell))
		return 0;
	fputs("gpubpf: --completion takes bash, zsh or fish\n", stderr);
	return 2;
}

static int dispatch(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const char *next = argc > 2 ? argv[2] : NULL;
	const struct verb *v;

	if (!word) {
		opts_help_index(stderr, gpubpf_verbs);
		return 2;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return help(next);
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		puts("gpubpf " GPUBPF_VERSION);
		return 0;
	}
	if (!strcmp(word, "--man"))
		return man(next);
	if (!strcmp(word, "--completion"))
		return completion(next);
	v = verb_find(word);
	return v ? v->run(argc - 1, argv + 1) : refuse_verb(word);
}

/*
 * A file that took the number of a closed standard stream would get our messages. The way it is opened makes each use
 * of the stream fail as it would have; a command that is launched finds it closed.
 */
static void fill_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) != fd)
			return;
	}
}

int main(int argc, char **argv)
{
	int status;

	fill_standard_streams();
	status = dispatch(argc, argv);

	/* Output that did not reach a full disk is a failure even when everything else went well. */
	if ((fflush(stdout) || ferror(stdout)) && !status) {
		fprintf(stderr, "gpubpf: writing to standard output: %s\n", strerror(errno));
		status = 1;
	}
	return status;
}
