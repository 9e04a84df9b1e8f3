/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GPU that waits for its program, for a known reason: launches a kernel of 1 ms, waits for it, does something of known
 * length, launches the next.
 *
 *   --rounds N        deeds
 *   --do WHAT --ms N  sleep, pipe (another thread writes late), futex (another thread holds the lock), spin (so much time
 *                     of a processor), alloc (cuMemAlloc(): see SIMCUDA_DO), none
 *   --log FILE        a line for each, by the kernel's own accounting of the thread: WHAT WALL CPU DELAY; DELAY is how
 *                     long it was ready to run and did not
 */
#include "../simcuda/usage.h"
#include "drv.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
			  ".visible .entry hold() { // sim-ns: 1000000\nret; }\n";

static struct {
	const char *what;
	unsigned ms;
	pthread_mutex_t lock;
	pthread_barrier_t held;
	int fds[2];
} deed = { .what = "none", .lock = PTHREAD_MUTEX_INITIALIZER };

static void nap(void)
{
	struct timespec ts = { .tv_sec = deed.ms / 1000, .tv_nsec = (long)(deed.ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

static void *hold_lock(void *arg)
{
	pthread_mutex_lock(&deed.lock);
	pthread_barrier_wait(&deed.held);
	nap();
	pthread_mutex_unlock(&deed.lock);
	return arg;
}

static void *write_late(void *arg)
{
	nap();
	if (write(deed.fds[1], "x", 1) != 1)
		abort();
	return arg;
}

/* What another thread has to do with it is over by *to, but for its end. */
static void do_it(struct usage *from, struct usage *to)
{
	bool futex = strcmp(deed.what, "futex") == 0, pipes = strcmp(deed.what, "pipe") == 0;
	pthread_t other;
	CUdeviceptr p;
	char c;

	usage_read(from);
	if (strcmp(deed.what, "sleep") == 0) {
		nap();
	} else if (strcmp(deed.what, "spin") == 0) {
		while (usage_clock(CLOCK_THREAD_CPUTIME_ID) - from->cpu < (uint64_t)deed.ms * 1000000)
			;
	} else if (strcmp(deed.what, "alloc") == 0) {
		CK(cuMemAlloc(&p, 4096));
		CK(cuMemFree(p));
	} else if (
		futex) { /* it waits for locks of several kinds, and for the end of the thread in the same way */
		pthread_create(&other, NULL, hold_lock, NULL);
		pthread_barrier_wait(&deed.held);
		pthread_mutex_lock(&deed.lock);
		pthread_join(other, NULL);
		pthread_mutex_unlock(&deed.lock);
	} else if (pipes) {
		pthread_create(&other, NULL, write_late, NULL);
		if (read(deed.fds[0], &c, 1) != 1)
			abort();
	}
	usage_read(to);
	if (pipes)
		pthread_join(other, NULL);
}

int main(int argc, char **argv)
{
	unsigned rounds = 10;
	FILE *log = NULL;
	CUfunction hold;
	CUmodule m;
	CUstream s;

	for (int i = 1; i + 1 < argc; i += 2) {
		const char *value = argv[i + 1];

		if (strcmp(argv[i], "--rounds") == 0)
			rounds = (unsigned)atoi(value);
		else if (strcmp(argv[i], "--ms") == 0)
			deed.ms = (unsigned)atoi(value);
		else if (strcmp(argv[i], "--do") == 0)
			deed.what = value;
		else if (strcmp(argv[i], "--log") == 0)
			log = fopen(value, "w");
	}
	pthread_barrier_init(&deed.held, NULL, 2);
	if (pipe(deed.fds))
		return 1;
	drv_start();
	CK(cuModuleLoadData(&m, ptx));
	CK(cuModuleGetFunction(&hold, m, "hold"));
	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	for (unsigned i = 0; i <= rounds; i++) {
		struct usage from, to;

		CK(cuLaunchKernel(hold, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
		CK(cuStreamSynchronize(s));
		if (i == rounds)
			break;
		do_it(&from, &to);
		if (log)
			fprintf(log, "%s %lu %lu %lu\n", deed.what, to.t - from.t, to.cpu - from.cpu,
				to.delay - from.delay);
	}
	if (log)
		fclose(log);
	CK(cuCtxSynchronize());
	return 0;
}
