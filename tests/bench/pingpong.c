/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two processes that have nothing to do with a GPU wake each other in turns, on one processor: each turn is two switches of
 * threads. pingpong [TURNS] prints what a turn takes, in ns: what a recording of others adds to it, every
 * switch of the machine pays.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

static void pin(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* Ends when the other side of the pipe does. */
static void answer(int from, int to)
{
	char c;

	while (read(from, &c, 1) == 1 && write(to, &c, 1) == 1)
		;
	_exit(0);
}

static int turns(int to, int from, long n)
{
	char c = 0;

	for (long i = 0; i < n; i++) {
		if (write(to, &c, 1) != 1 || read(from, &c, 1) != 1)
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000;
	int there[2], back[2];
	uint64_t t0;
	pid_t pid;

	if (n < 1 || pipe(there) || pipe(back)) {
		fprintf(stderr, "usage: pingpong [TURNS]\n");
		return 2;
	}
	pin();
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		close(there[1]);
		answer(there[0], back[1]);
	}
	if (turns(there[1], back[0], n / 10 + 1))
		return 1;
	t0 = clock_now(CLOCK_MONOTONIC);
	if (turns(there[1], back[0], n))
		return 1;
	printf("%.1f\n", (double)(clock_now(CLOCK_MONOTONIC) - t0) / (double)n);
	close(there[1]);
	waitpid(pid, NULL, 0);
	return 0;
}
