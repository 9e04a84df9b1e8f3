// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nvidia-smi as a child, which nobody waits for: a static program cannot load NVML. Without `-q`, which samples for a second.
 * NVML loads libcuda into it (driver 580): while all processes are traced it would be one of them (R8).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "environment/gather.h"
#include "util/clock.h"

#define NAME "nvidia-smi"
#define ROOM (256u << 10)
#define CLOCKS "clocks and power"

struct smi {
	pid_t pid; /* 0: not running */
	int fd;
	bool at_end, all, started;
	uint64_t asked, deadline, limit;
	char path[PATH_MAX];
	char *out; /* ROOM */
	size_t n;
};

int smi__new(struct smi **out)
{
	struct smi *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s)
		return -ENOMEM;
	s->fd = -1;
	return 0;
}

bool smi__running(const struct smi *s)
{
	return s->pid != 0;
}

bool smi__started(const struct smi *s)
{
	return s->started;
}

int smi__fd(const struct smi *s)
{
	return s->fd;
}

/* Nobody but root and we ourselves may have put it there. */
static bool safe(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == geteuid()) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Of one file: 0, or why it is not run. */
static int usable(const char *dir, int len, char *path)
{
	struct stat st;

	if (len < 1 || dir[0] != '/' || (size_t)snprintf(path, PATH_MAX, "%.*s/" NAME, len, dir) >= PATH_MAX)
		return -ENOENT;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return -ENOENT;
	if (!(st.st_mode & 0111) || !safe(&st))
		return -EPERM;
	snprintf(path, PATH_MAX, "%.*s", len, dir);
	if (stat(path, &st) || !safe(&st))
		return -EPERM;
	snprintf(path, PATH_MAX, "%.*s/" NAME, len, dir);
	return access(path, X_OK) ? -EPERM : 0;
}

/* With rights that our caller has not, his PATH is not to be followed. */
static int find(char *path)
{
	const char *dirs = getauxval(AT_SECURE) ? NULL : getenv("PATH");
	int worst = -ENOENT, e;

	for (const char *p = dirs; p && *p; p += strcspn(p, ":"), p += *p == ':') {
		e = usable(p, (int)strcspn(p, ":"), path);
		if (!e)
			return 0;
		worst = e == -EPERM ? e : worst;
	}
	e = usable("/usr/bin", 8, path);
	return e == -ENOENT ? worst : e;
}

static void absent(const struct smi *s, struct environment *e, const char *why)
{
	environment__add(e, "device", s->all ? CLOCKS : CLOCKS " at the end", NULL, why, !s->all);
}

/* What it is asked, but for what it did not know. */
static void query(const struct smi *s, char *arg, size_t size)
{
	size_t n = (size_t)snprintf(arg, size, "--query-gpu=");
	bool any = false;

	for (unsigned i = 0; smi_field(i); i++)
		if (s->asked >> i & 1 && n < size) {
			n += (size_t)snprintf(arg + n, size - n, "%s%s", any ? "," : "", smi_field(i));
			any = true;
		}
}

static int spawn(struct smi *s)
{
	static char *const env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	char arg[1024], *argv[] = { s->path, arg, "--format=csv,noheader,nounits", NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int fds[2], e;

	query(s, arg, sizeof(arg));
	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&files, fds[1], 1);
	posix_spawn_file_actions_adddup2(&files, fds[1], 2);
	/* a group of its own: the terminal's signals are not for it, and it ends with all that it started */
	posix_spawnattr_setflags(&attr,
				 POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	e = -posix_spawn(&s->pid, s->path, &files, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	close(fds[1]);
	if (e) {
		s->pid = 0;
		close(fds[0]);
		return e;
	}
	s->fd = fds[0];
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	s->n = 0;
	return 0;
}

void smi__start(struct smi *s, bool at_end, bool all, uint64_t limit_ns, struct environment *e)
{
	int r = find(s->path);

	s->started = true;
	s->at_end = at_end;
	s->all = all;
	s->asked = smi_fields(all);
	s->limit = limit_ns;
	s->deadline = clock_now(CLOCK_MONOTONIC) + limit_ns;
	if (!r && !s->out) {
		s->out = malloc(ROOM);
		r = s->out ? 0 : -ENOMEM;
	}
	if (!r)
		r = spawn(s);
	if (r == -ENOENT)
		absent(s, e, "no " NAME " in PATH or /usr/bin");
	else if (r == -EPERM)
		absent(s, e,
		       "the " NAME
		       " in PATH, or its folder, can be written by others, or not be run: it is not started");
	else if (r)
		absent(s, e, strerror(-r));
}

/* Ends it and takes its status; -1: it did not end by itself. */
static int reap(struct smi *s, bool over)
{
	int status = -1;

	if (!over)
		kill(-s->pid, SIGKILL);
	close(s->fd);
	s->fd = -1;
	/* one that closed its output and lives on, or that hangs inside the driver, is not waited for */
	for (int i = 0; i < 100 && waitpid(s->pid, &status, WNOHANG) == 0; i++) {
		if (i == 50)
			kill(-s->pid, SIGKILL);
		nanosleep(&(struct timespec){ 0, 200000 }, NULL);
	}
	s->pid = 0;
	return over && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* 'Field "x" is not a valid field to query.': of another version of it. True: one less is asked for. */
static bool without_field(struct smi *s)
{
	const char *p = strstr(s->out, "Field \"");
	size_t n = p ? strcspn(p + 7, "\"") : 0;

	for (unsigned i = 0; n && smi_field(i); i++)
		if (s->asked >> i & 1 && strlen(smi_field(i)) == n && !strncmp(p + 7, smi_field(i), n)) {
			s->asked &= ~(UINT64_C(1) << i);
			return s->asked != 0;
		}
	return false;
}

static bool finished(struct smi *s, int status, struct environment *e)
{
	char why[256], line[128];

	s->out[s->n] = 0;
	if (status && without_field(s) && clock_now(CLOCK_MONOTONIC) < s->deadline && !spawn(s))
		return false;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(s->out, "\n"), s->out);
	snprintf(why, sizeof(why), NAME " ended with status %d%s%s", status, line[0] ? ": " : "", line);
	if (status)
		absent(s, e, why);
	else if (!smi_parse(e, s->out, s->asked, s->at_end, s->all))
		absent(s, e, s->n ? "what " NAME " says cannot be read" : NAME " says nothing of any GPU");
	return true;
}

bool smi__poll(struct smi *s, struct environment *e)
{
	char why[128];
	ssize_t got;

	if (!s->pid)
		return false;
	do {
		got = read(s->fd, s->out + s->n, ROOM - 1 - s->n);
		if (got > 0)
			s->n += (size_t)got;
	} while (got > 0 && s->n < ROOM - 1);
	if (!got)
		return finished(s, reap(s, true), e);
	if (s->n == ROOM - 1) {
		reap(s, false);
		absent(s, e, "what " NAME " says is too long");
		return true;
	}
	if (clock_now(CLOCK_MONOTONIC) < s->deadline)
		return false;
	reap(s, false);
	if (s->deadline)
		snprintf(why, sizeof(why), NAME " did not answer within %.3g s", (double)s->limit / 1e9);
	else
		snprintf(why, sizeof(why), NAME " had not answered when the recording ended");
	absent(s, e, why);
	return true;
}

void smi__cut(struct smi *s)
{
	s->deadline = 0;
}

void smi__free(struct smi *s)
{
	if (!s)
		return;
	if (s->pid)
		reap(s, false);
	free(s->out);
	free(s);
}
