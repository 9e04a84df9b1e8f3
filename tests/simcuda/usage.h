/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the calling thread used so far, by the kernel's own accounting. Times in ns. */
#ifndef GPUBPF_TESTS_USAGE_H
#define GPUBPF_TESTS_USAGE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define USAGE_READ_NS 500000

struct usage {
	uint64_t t;          /* CLOCK_MONOTONIC */
	uint64_t cpu, delay; /* delay: it was ready to run and did not (/proc/thread-self/schedstat) */
	struct rusage ru;
};

static inline uint64_t usage_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void usage_try(struct usage *u)
{
	char text[96] = "";
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	u->delay = 0;
	sscanf(text, "%*u %lu", &u->delay);
	getrusage(RUSAGE_THREAD, &u->ru);
	u->cpu = usage_clock(CLOCK_THREAD_CPUTIME_ID);
	u->t = usage_clock(CLOCK_MONOTONIC);
}

/* At one moment: a thread that loses its processor between the first and the last of it tries again. */
static inline void usage_read(struct usage *u)
{
	uint64_t before;
	int tries = 20;

	do {
		before = usage_clock(CLOCK_MONOTONIC);
		usage_try(u);
	} while (u->t - before > USAGE_READ_NS && --tries);
}

#endif
