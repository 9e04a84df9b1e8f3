/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that are left or interrupted in every way a program can do that. Built twice: with -DDRIVER it is a driver of
 * three entry points, the first of which calls the application back while it is open; without, the program.
 *
 *   stacks MODE N    N rounds; each also makes two plain calls afterwards
 *
 * MODE: longjmp (out of the callback) · nested (two deep) · signal, signal-low, signal-high (a handler on the
 * thread's stack, on an alternate one below or above it, makes a call) · jump-low, jump-high (the handler jumps out) ·
 * coroutine-low, coroutine-high (the callback switches to another stack, which makes three calls) · fork, clone
 * (a child in the callback that makes calls; clone: it shares the memory)
 */
#ifdef DRIVER

#define API __attribute__((visibility("default"), noinline))

API int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data)
{
	(void)stream;
	fn(data);
	__asm__ volatile("" ::: "memory");
	return 0;
}

API int cuStreamQuery(void *stream)
{
	__asm__ volatile("" ::: "memory");
	return stream ? 600 : 0;
}

API int cuEventQuery(void *event)
{
	__asm__ volatile("" ::: "memory");
	return event ? 600 : 0;
}

#else

#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_BYTES (128 << 10)

int cuLaunchHostFunc(void *stream, void (*fn)(void *), void *data);
int cuStreamQuery(void *stream);
int cuEventQuery(void *event);

static char low[STACK_BYTES] __attribute__((aligned(16)));
static sigjmp_buf back;
static bool jump;
static char *other; /* stack, below or above that of main() */
static ucontext_t here, there;

static void on_signal(int sig)
{
	(void)sig;
	cuStreamQuery(NULL);
	if (jump)
		siglongjmp(back, 1);
}

static void signal_inside(void *data)
{
	(void)data;
	raise(SIGUSR1);
	cuEventQuery(NULL);
}

static void jump_out(void *data)
{
	(void)data;
	cuEventQuery(NULL);
	siglongjmp(back, 1);
}

static void call_inside(void *deep)
{
	if (deep)
		cuLaunchHostFunc(NULL, call_inside, NULL);
	cuEventQuery(NULL);
}

static void coroutine(void)
{
	for (int i = 0; i < 3; i++)
		cuStreamQuery(NULL);
	swapcontext(&there, &here);
}

static void switch_inside(void *stack)
{
	getcontext(&there);
	there.uc_stack.ss_sp = stack;
	there.uc_stack.ss_size = STACK_BYTES;
	there.uc_link = NULL;
	makecontext(&there, coroutine, 0);
	swapcontext(&here, &there);
	cuEventQuery(NULL);
}

static int child_calls(void *data)
{
	(void)data;
	for (int i = 0; i < 4; i++)
		cuEventQuery(NULL);
	_exit(0);
}

static void wait_child(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void fork_inside(void *shared)
{
	pid_t pid = shared ? clone(child_calls, low + STACK_BYTES, CLONE_VM | SIGCHLD, NULL) : fork();

	if (!pid)
		child_calls(NULL);
	wait_child(pid);
	cuEventQuery(NULL);
}

static void begin_call(const char *mode)
{
	if (strcmp(mode, "nested") == 0)
		cuLaunchHostFunc(NULL, call_inside, low);
	else if (strncmp(mode, "coroutine", 9) == 0)
		cuLaunchHostFunc(NULL, switch_inside, other);
	else if (strcmp(mode, "fork") == 0 || strcmp(mode, "clone") == 0)
		cuLaunchHostFunc(NULL, fork_inside, mode[0] == 'c' ? low : NULL);
	else
		cuLaunchHostFunc(NULL, signal_inside, NULL);
}

/* The same frame, so that the calls after a jump are made with the SP of the one that was left. */
static __attribute__((noinline)) void one_round(void *stream)
{
	if (!sigsetjmp(back, 1))
		cuLaunchHostFunc(NULL, jump ? signal_inside : jump_out, NULL);
	cuStreamQuery(NULL);
	cuStreamQuery(stream);
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	const char *mode = argc > 1 ? argv[1] : "nested";
	int rounds = argc > 2 ? atoi(argv[2]) : 1;
	char high[STACK_BYTES]; /* above all that is called from here */

	other = strstr(mode, "high") ? high : low;
	if (strstr(mode, "-low") || strstr(mode, "-high")) {
		stack_t ss = { .ss_sp = other, .ss_size = STACK_BYTES };

		sa.sa_flags = SA_ONSTACK;
		if (strncmp(mode, "coroutine", 9) != 0 && sigaltstack(&ss, NULL))
			return 1;
	}
	jump = strncmp(mode, "jump", 4) == 0;
	sigaction(SIGUSR1, &sa, NULL);
	for (volatile int i = 0; i < rounds; i++) {
		if (jump || strcmp(mode, "longjmp") == 0) {
			one_round(low);
			continue;
		}
		begin_call(mode);
		cuStreamQuery(NULL);
		cuStreamQuery(low);
	}
	puts("done");
	return 0;
}

#endif
