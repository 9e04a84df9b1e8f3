/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/err.h"
#include "util/opts.h"

#define OPENER "xdg-open"

static bool id_of(const char *name, unsigned long long *id)
{
	const char *text = getenv(name);
	struct err err = { 0 };

	return text && !opts_uint(text, id, &err) && *id && *id < UINT_MAX;
}

/* getpwuid() of a static program wants libraries that may not be there. */
static void set_home(unsigned long long uid)
{
	char line[1024], *field[7], *at;
	FILE *f = fopen("/etc/passwd", "re");
	unsigned long long id;
	struct err err = { 0 };

	unsetenv("HOME");
	while (f && fgets(line, sizeof(line), f)) {
		size_t n = 0;

		line[strcspn(line, "\n")] = '\0';
		for (at = line; n < 7 && (field[n] = strsep(&at, ":")); n++)
			;
		if (n == 7 && !opts_uint(field[2], &id, &err) && id == uid) {
			setenv("HOME", field[5], 1);
			break;
		}
	}
	if (f)
		fclose(f);
}

/* A browser must not run as root for a page, and the user's own is the one that is wanted. */
static int be_the_user(void)
{
	unsigned long long uid, gid;
	char path[64], bus[96];
	gid_t group;

	if (geteuid() != 0 || !id_of("SUDO_UID", &uid))
		return 0;
	if (!id_of("SUDO_GID", &gid))
		return EPERM;
	group = (gid_t)gid;
	if (setgroups(1, &group) || setgid(group) || setuid((uid_t)uid))
		return errno;
	set_home(uid);
	snprintf(path, sizeof(path), "/run/user/%llu", uid);
	if (access(path, X_OK))
		return 0;
	setenv("XDG_RUNTIME_DIR", path, 1);
	snprintf(bus, sizeof(bus), "unix:path=%s/bus", path);
	setenv("DBUS_SESSION_BUS_ADDRESS", bus, 0);
	return 0;
}

static void become_opener(const char *url, int report)
{
	char *argv[] = { OPENER, (char *)url, NULL };
	int null = open("/dev/null", O_RDWR), rc;
	sigset_t none;

	setsid(); /* Ctrl-C is for gpubpf */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0)
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			dup2(null, fd);
	rc = be_the_user();
	if (!rc) {
		execvp(OPENER, argv);
		rc = errno;
	}
	if (write(report, &rc, sizeof(rc)) < 0)
		_exit(126);
	_exit(127);
}

int browser_open(const char *url, struct err *err)
{
	int ends[2], rc = 0;
	ssize_t n;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return err_set(err, -errno, "pipe: %s", strerror(errno));
	child = fork();
	if (child < 0) {
		rc = -errno;
		close(ends[0]);
		close(ends[1]);
		return err_set(err, rc, "fork: %s", strerror(-rc));
	}
	if (!child) {
		/* a child of nobody here: it may outlive this, and is not waited for */
		pid_t again = fork();

		if (!again)
			become_opener(url, ends[1]);
		_exit(again < 0);
	}
	close(ends[1]);
	do
		n = read(ends[0], &rc, sizeof(rc)); /* nothing: it was executed */
	while (n < 0 && errno == EINTR);
	close(ends[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(rc))
		return 0;
	return err_set(err, -rc, "no browser was opened (" OPENER ": %s): open the address yourself",
		       strerror(rc));
}
