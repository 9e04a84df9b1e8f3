/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/err.h"

static void child_main(char **argv, const char *const *env, int gate, int failure, const sigset_t *mask)
{
	char go = 0;
	int e;

	while (read(gate, &go, 1) < 0 && errno == EINTR)
		;
	/* the gate closed without a word: the recorder gave up */
	if (go != 'g')
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	while (*env)
		putenv((char *)*env++);
	execvp(argv[0], argv);
	e = errno;
	if (write(failure, &e, sizeof(e)) != sizeof(e))
		_exit(126);
	_exit(e == ENOENT ? 127 : 126);
}

int launch_start(struct launch *l, char **argv, const char *const *env, const sigset_t *mask, struct err *err)
{
	int gate[2] = { -1, -1 }, failure[2] = { -1, -1 }, e = 0;

	memset(l, 0, sizeof(*l));
	l->gate = l->failure = -1;
	if (pipe2(gate, O_CLOEXEC) || pipe2(failure, O_CLOEXEC)) {
		e = err_set(err, -errno, "cannot make a pipe: %s", strerror(errno));
		goto out;
	}
	l->pid = fork();
	if (l->pid < 0) {
		e = err_set(err, -errno, "cannot fork: %s", strerror(errno));
		l->pid = 0;
		goto out;
	}
	if (!l->pid) {
		close(gate[1]);
		close(failure[0]);
		child_main(argv, env, gate[0], failure[1], mask);
	}
	l->gate = gate[1];
	l->failure = failure[0];
	gate[1] = failure[0] = -1;
out:
	for (int i = 0; i < 2; i++) {
		if (gate[i] >= 0)
			close(gate[i]);
		if (failure[i] >= 0)
			close(failure[i]);
	}
	return e;
}

int launch_release(struct launch *l, const char *name, struct err *err)
{
	ssize_t n;
	int e = 0;

	if (write(l->gate, "g", 1) != 1)
		return err_set(err, -errno, "cannot start %s: %s", name, strerror(errno));
	close(l->gate);
	l->gate = -1;
	do {
		n = read(l->failure, &e, sizeof(e));
	} while (n < 0 && errno == EINTR);
	close(l->failure);
	l->failure = -1;
	if (n != sizeof(e))
		return 0;
	launch_reap(l, true);
	return err_set(err, -e, "cannot execute %s: %s", name, strerror(e));
}

bool launch_reap(struct launch *l, bool block)
{
	pid_t got;

	if (!l->pid || l->reaped)
		return l->reaped;
	do {
		got = waitpid(l->pid, &l->status, block ? 0 : WNOHANG);
	} while (got < 0 && errno == EINTR);
	l->reaped = got == l->pid;
	return l->reaped;
}

int launch_exit_status(const struct launch *l)
{
	return WIFSIGNALED(l->status) ? 128 + WTERMSIG(l->status) : WEXITSTATUS(l->status);
}

void launch_close(struct launch *l)
{
	bool held = l->gate >= 0;

	if (l->gate >= 0)
		close(l->gate);
	if (l->failure >= 0)
		close(l->failure);
	l->gate = l->failure = -1;
	if (l->pid && held && !l->reaped) {
		kill(l->pid, SIGKILL);
		launch_reap(l, true);
	}
}
