/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lives of processes around the driver: every kind of child makes --calls launches and reports how many
 * succeeded over one pipe that all descendants share. CUDA does not survive a fork, so whoever forks does it
 * before it uses CUDA itself. Prints the exact totals as one line of JSON.
 *
 *   procs [--calls K] [--fork N] [--quick-exit N] [--double-fork N] [--exec N] [--vfork N] [--short N]
 *         [--chain N] [--threads N] [--self]
 *
 * --fork        children that launch and exit            --quick-exit   the same, leaving by _exit
 * --double-fork grandchildren whose parent is gone       --exec         children that exec this program
 * --vfork       the same by vfork                        --short        one after the other, each waited for
 * --chain       one child that launches and then execs itself, N times over in one process
 * --threads     threads of this process that launch and end, one after the other
 * --self        this process launches too
 */
#include "drv.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct report {
	uint64_t launches;
	uint32_t pid, threads;
};

static uint64_t calls = 10;
static int fd_out = -1;
static CUcontext ctx;
static CUfunction func;
static const char *program;

static uint64_t launch_all(void)
{
	uint64_t n = 0;

	CK(cuCtxSetCurrent(ctx));
	for (uint64_t i = 0; i < calls; i++)
		n += cuLaunchKernel(func, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
	CK(cuCtxSynchronize());
	return n;
}

static void start(void)
{
	CUmodule module = NULL;

	if (ctx)
		return;
	ctx = drv_start();
	func = drv_kernel(&module, "empty_kernel");
}

static void send(uint64_t launches, uint32_t threads)
{
	struct report r = { launches, (uint32_t)getpid(), threads };

	if (write(fd_out, &r, sizeof(r)) != sizeof(r))
		exit(1);
}

static void work(void)
{
	start();
	send(launch_all(), 1);
}

/* This program again, as a child that works; `chain` more times in the same process after that. */
static void exec_self(uint64_t chain)
{
	char k[32], fd[16], left[32];

	snprintf(k, sizeof(k), "%" PRIu64, calls);
	snprintf(fd, sizeof(fd), "%d", fd_out);
	snprintf(left, sizeof(left), "%" PRIu64, chain);
	execl(program, "procs", "--calls", k, "--child", fd, left, (char *)NULL);
	_exit(127);
}

static pid_t child(const char *kind)
{
	pid_t pid = strcmp(kind, "--vfork") == 0 ? vfork() : fork();

	if (pid != 0)
		return pid;
	if (strcmp(kind, "--vfork") == 0 || strcmp(kind, "--exec") == 0)
		exec_self(0);
	if (strcmp(kind, "--double-fork") == 0 && fork() != 0)
		_exit(0);
	work();
	if (strcmp(kind, "--quick-exit") == 0)
		_exit(0);
	exit(0);
}

static void *thread(void *arg)
{
	*(uint64_t *)arg = launch_all();
	return NULL;
}

static uint64_t in_threads(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t done = 0;
		pthread_t t;

		if (pthread_create(&t, NULL, thread, &done) != 0)
			exit(1);
		pthread_join(t, NULL);
		sum += done;
	}
	return sum;
}

struct option {
	const char *name;
	uint64_t n;
};

/* fork storms, `--short` apart: all of a kind are started before any is waited for */
static bool spawn(const struct option *o)
{
	for (uint64_t i = 0; i < o->n; i++) {
		pid_t pid = child(o->name);

		if (pid < 0)
			return false;
		if (strcmp(o->name, "--short") == 0)
			waitpid(pid, NULL, 0);
	}
	return true;
}

static int as_child(char **argv)
{
	uint64_t chain = strtoull(argv[1], NULL, 10);

	fd_out = atoi(argv[0]);
	work();
	if (chain > 0)
		exec_self(chain - 1);
	return 0;
}

static int total(int fd, uint64_t expected)
{
	uint64_t launches = 0, reports = 0, threads = 0;
	struct report r;

	while (read(fd, &r, sizeof(r)) == (ssize_t)sizeof(r)) {
		launches += r.launches;
		threads += r.threads;
		reports++;
	}
	while (wait(NULL) > 0)
		;
	printf("{\"reports\":%" PRIu64 ",\"threads\":%" PRIu64 ",\"launches\":%" PRIu64
	       ",\"expected\":%" PRIu64 "}\n",
	       reports, threads, launches, expected);
	return launches == expected ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct option kinds[] = { { "--fork", 0 }, { "--quick-exit", 0 }, { "--double-fork", 0 },
				  { "--exec", 0 }, { "--vfork", 0 },      { "--short", 0 } };
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	uint64_t chain = 0, threads = 0, own = 0, expected = 0;
	int fds[2];

	program = "/proc/self/exe";
	for (int i = 1; i < argc; i++) {
		uint64_t *number = strcmp(argv[i], "--calls") == 0     ? &calls
				   : strcmp(argv[i], "--chain") == 0   ? &chain
				   : strcmp(argv[i], "--threads") == 0 ? &threads
								       : NULL;

		for (int k = 0; k < KINDS; k++)
			if (strcmp(argv[i], kinds[k].name) == 0)
				number = &kinds[k].n;
		if (number && i + 1 < argc) {
			*number = strtoull(argv[++i], NULL, 10);
		} else if (strcmp(argv[i], "--self") == 0) {
			own = 1;
		} else if (strcmp(argv[i], "--child") == 0 && i + 2 < argc) {
			return as_child(argv + i + 1);
		} else {
			fprintf(stderr, "procs: %s? (see the top of procs.c)\n", argv[i]);
			return 2;
		}
	}
	if (pipe(fds) != 0)
		return 1;
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	fd_out = fds[1];
	for (int k = 0; k < KINDS; k++) {
		if (!spawn(&kinds[k]))
			return 1;
		expected += kinds[k].n * calls;
	}
	if (chain > 0) {
		if (fork() == 0)
			exec_self(chain - 1);
		expected += chain * calls;
	}
	if (own || threads) {
		start();
		expected += (own + threads) * calls;
		send((own ? launch_all() : 0) + in_threads(threads), (uint32_t)(own + threads));
	}
	close(fds[1]);
	return total(fds[0], expected);
}
