/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An application around its first touch of CUDA. Prints what became of it: how many threads came to their end, how many
 * launches succeeded, what cuInit() said first.
 *
 *   gateapp [--threads N] [--launches N] [--status N] [--leave MS] [--rest MS] [--greet 1] [--keep 1] [--become 1]
 *
 * --threads: that many race for the first touch (1). --launches: by each of them (5). --status: its own exit status (0).
 * --leave: exit() by the main thread after that long, whatever the others are in. --rest: a pause before the end.
 * --greet: prints a line before its first touch. --keep: what it prints is left to exit() to write out.
 * --become: after --leave it becomes a shell that sleeps for two seconds and ends with that status.
 */
#include "drv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static atomic_ulong done, launched;
static atomic_int first_result = -1;
static unsigned long threads = 1, launches = 5, status, leave, rest, greet, keep, become;
static pthread_barrier_t start;

static void pause_ms(unsigned long ms)
{
	nanosleep(&(struct timespec){ .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 },
		  NULL);
}

static void *run(void *arg)
{
	CUmodule module = NULL;
	CUfunction f;
	int result, none = -1;

	(void)arg;
	pthread_barrier_wait(&start);
	result = (int)cuInit(0);
	atomic_compare_exchange_strong(&first_result, &none, result);
	if (!result) {
		drv_start();
		f = drv_kernel(&module, "empty_kernel");
		for (unsigned long i = 0; i < launches; i++)
			launched += cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) == CUDA_SUCCESS;
		cuCtxSynchronize();
	}
	done++;
	return NULL;
}

static int say(void)
{
	printf("{\"threads\":%lu,\"launches\":%lu,\"init\":%d}\n", (unsigned long)done,
	       (unsigned long)launched, (int)first_result);
	if (!keep)
		fflush(stdout);
	return (int)status;
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		unsigned long *value;
	} numbers[] = { { "--threads", &threads }, { "--launches", &launches }, { "--status", &status },
			{ "--leave", &leave },     { "--rest", &rest },         { "--greet", &greet },
			{ "--keep", &keep },       { "--become", &become } };
	char shell_status[24];
	pthread_t t[64];

	for (int i = 1; i + 1 < argc; i += 2)
		for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++)
			if (!strcmp(argv[i], numbers[k].name))
				*numbers[k].value = strtoul(argv[i + 1], NULL, 10);
	snprintf(shell_status, sizeof(shell_status), "%lu", status);
	threads = threads > 64 ? 64 : threads;
	if (greet) {
		puts("here");
		fflush(stdout);
	}
	pthread_barrier_init(&start, NULL, (unsigned)threads);
	for (unsigned long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, run, NULL);
	if (leave) {
		pause_ms(leave);
		if (become)
			execl("/bin/sh", "sh", "-c", "sleep 2; exit $0", shell_status, NULL);
		exit(say());
	}
	for (unsigned long i = 0; i < threads; i++)
		pthread_join(t[i], NULL);
	pause_ms(rest);
	return say();
}
