/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command under our hands: it stands before its first instruction until it is released. */
#ifndef GPUBPF_LAUNCH_H
#define GPUBPF_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct err;

struct launch {
	pid_t pid;
	int gate;    /* writing end: closing or writing it lets the child go on */
	int failure; /* reading end: errno of a failed exec; end of file when exec succeeded */
	bool reaped;
	int status; /* of waitpid, once reaped */
};

/*
 * Forks; the child waits before exec. Call it before anything is changed that a child inherits (signal
 * dispositions, limits); `mask` is the signal mask that it gets, `env` ("NAME=value", NULL at the end) is added to
 * its environment.
 */
int launch_start(struct launch *l, char **argv, const char *const *env, const sigset_t *mask,
		 struct err *err);
/* Lets it exec; fails with the reason when it cannot be executed (the child is reaped then). */
int launch_release(struct launch *l, const char *name, struct err *err);
/* Reaps without blocking (or blocking); true once it has ended. */
bool launch_reap(struct launch *l, bool block);
/* As a shell says it: exit code, or 128 + signal. */
int launch_exit_status(const struct launch *l);
/* Kills a child that was never released, closes the descriptors. */
void launch_close(struct launch *l);

#endif
