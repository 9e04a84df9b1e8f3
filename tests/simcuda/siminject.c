/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An injection library for tests: says on a file descriptor that it was called, and how it found the driver.
 * SIMINJECT_FD=N: a line at entry and one at exit (with the time). SIMINJECT_SLEEP_MS=N: stays that long.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	const char *fd = getenv("SIMINJECT_FD"), *ms = getenv("SIMINJECT_SLEEP_MS");
	int (*init)(unsigned) = NULL;
	long wait = ms ? atol(ms) : 0;
	struct timespec ts;

	*(void **)&init = dlsym(RTLD_DEFAULT, "cuInit");
	/* The driver's lock is held by this very thread: the call must come back. */
	if (fd)
		dprintf(atoi(fd), "entered cuInit=%d\n", init ? init(0) : -1);
	if (wait > 0)
		nanosleep(&(struct timespec){ .tv_sec = wait / 1000, .tv_nsec = wait % 1000 * 1000000 },
			  NULL);
	clock_gettime(CLOCK_MONOTONIC, &ts);
	if (fd)
		dprintf(atoi(fd), "left %llu\n", ts.tv_sec * 1000000000ull + (unsigned long long)ts.tv_nsec);
	return 1;
}
