/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stand-in for the shim: the same probes, semaphores and life, and items whose bytes a check can tell. It proves the
 * way from a probe site to the capture on any kernel, without CUPTI.
 *
 * STANDIN_LOG=FILE     appends lines: "PID armed SESSION inline|attach NS", "PID hit PROBE SEQUENCE ITEMS", "PID asked SESSION NS",
 *                      "PID early SESSION" (not all probes stood), "PID disarmed SESSION NS", "PID dead SESSION NS" (all probes fell at once)
 * STANDIN_REASON=N     arming fails with this enum gpubpf_reason
 * STANDIN_STUCK=1      never says that it is done
 * STANDIN_STORM=N      so many batches of 4 KiB, as fast as they go
 * STANDIN_QUIET=1      hello and status alone
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"
#include "usdt/probe.h"
#include "usdt/probes.h"

#define X(name, NAME) GPUBPF_PROBE_DEFINE(name);
GPUBPF_EACH_PROBE(X)
#undef X

static uint64_t sequences[GPUBPF_PROBES];
static uint32_t session;
static int log_fd = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...)
{
	char line[160];
	va_list ap;
	int n;

	if (log_fd < 0)
		return;
	n = snprintf(line, sizeof(line), "%d ", (int)getpid());
	va_start(ap, fmt);
	n += vsnprintf(line + n, sizeof(line) - (size_t)n, fmt, ap);
	va_end(ap);
	line[n++] = '\n';
	if (write(log_fd, line, (size_t)n) != n)
		log_fd = -1;
}

static void hit(unsigned probe, const void *items, uint64_t n)
{
	uint64_t seq;

	pthread_mutex_lock(&lock);
	seq = sequences[probe]++;
	say("hit %u %llu %llu", probe, (unsigned long long)seq, (unsigned long long)n);
	switch (probe) {
#define X(name, NAME)                                                                                        \
	case GPUBPF_PROBE_##NAME:                                                                            \
		GPUBPF_PROBE(name, items, n, seq);                                                           \
		break;
		GPUBPF_EACH_PROBE(X)
#undef X
	}
	pthread_mutex_unlock(&lock);
}

static bool any_up(void)
{
	return gpubpf_hello_v1_semaphore || gpubpf_calls_v1_semaphore || gpubpf_activity_v1_semaphore ||
	       gpubpf_names_v1_semaphore || gpubpf_modules_v1_semaphore || gpubpf_status_v1_semaphore;
}

static bool others_up(void)
{
	return gpubpf_calls_v1_semaphore && gpubpf_activity_v1_semaphore && gpubpf_names_v1_semaphore &&
	       gpubpf_modules_v1_semaphore && gpubpf_status_v1_semaphore;
}

static void status(unsigned kind, unsigned code, int value)
{
	struct gpubpf_status s = { .kind = (uint16_t)kind,
				   .code = (uint16_t)code,
				   .value = value,
				   .session = session,
				   .time = now() };

	hit(GPUBPF_PROBE_STATUS, &s, 1);
}

static void hello(unsigned arming, bool works)
{
	struct gpubpf_hello h = { .abi = GPUBPF_SHIM_ABI,
				  .session = session,
				  .pid = (uint32_t)getpid(),
				  .worker_tid = (uint32_t)syscall(SYS_gettid),
				  .time = now(),
				  .time_source = works ? GPUBPF_TIME_MONOTONIC : 0,
				  .arming = arming,
				  .version = "stand-in" };

	hit(GPUBPF_PROBE_HELLO, &h, 1);
}

/* Every size of batch through each probe whose items mean nothing to the recorder. */
static void all_sizes(void)
{
	static uint8_t items[65536];

	for (unsigned probe = GPUBPF_PROBE_CALLS; probe < GPUBPF_PROBE_STATUS; probe++) {
		for (size_t k = 0; k < STANDIN_SIZES; k++) {
			unsigned size = standin_item_size[probe];
			uint64_t n = (standin_bytes[k] + size - 1) / size;

			for (unsigned i = 0; i < n; i++) {
				for (unsigned at = 0; at < size; at++)
					items[i * size + at] = standin_byte(probe, sequences[probe], i, at);
			}
			hit(probe, items, n);
		}
	}
	hit(GPUBPF_PROBE_MODULES, (void *)8, 3);      /* unreadable */
	hit(GPUBPF_PROBE_MODULES, items, 1ull << 33); /* of a shim that lost its mind */
}

static void storm(unsigned long n)
{
	static uint8_t items[4096];

	while (n--)
		hit(GPUBPF_PROBE_ACTIVITY, items, sizeof(items) / sizeof(struct gpubpf_activity));
}

/* Calls of the driver by the worker: no workload of the process. */
static void call_driver(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	int (*wait)(void);

	*(void **)&wait = lib ? dlsym(lib, "cuCtxSynchronize") : NULL;
	for (int i = 0; i < STANDIN_TRACER_CALLS && wait; i++)
		wait();
}

static void arm(unsigned arming)
{
	const char *reason = getenv("STANDIN_REASON"), *storms = getenv("STANDIN_STORM");

	session++;
	if (!others_up())
		say("early %u", session);
	say("armed %u %s %llu", session, arming == GPUBPF_ARMED_INLINE ? "inline" : "attach",
	    (unsigned long long)now());
	hello(arming, !reason);
	if (reason) {
		status(GPUBPF_STATUS_FACILITY, GPUBPF_FACILITY_KERNEL, 35);
		status(GPUBPF_STATUS_FAILED, (unsigned)atoi(reason), 39);
		return;
	}
	status(GPUBPF_STATUS_ARMED, 0, 0);
	call_driver();
	if (!getenv("STANDIN_QUIET"))
		all_sizes();
	if (storms)
		storm(strtoul(storms, NULL, 10));
}

static void nap(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000l }, NULL);
}

static void *worker(void *arg)
{
	unsigned arming = arg ? GPUBPF_ARMED_INLINE : GPUBPF_ARMED_ATTACH;

	for (;; arming = GPUBPF_ARMED_ATTACH) {
		while (!gpubpf_hello_v1_semaphore)
			nap(20);
		arm(arming);
		while (gpubpf_hello_v1_semaphore)
			nap(5);
		if (others_up()) {
			say("asked %u %llu", session, (unsigned long long)now());
			nap(150); /* the device has work left */
			if (getenv("STANDIN_STUCK") == NULL) {
				struct gpubpf_activity last = { .kind = 0xffff };

				hit(GPUBPF_PROBE_ACTIVITY, &last, 1);
				status(GPUBPF_STATUS_DISARMED, GPUBPF_DISARM_ASKED, 0);
				say("disarmed %u %llu", session, (unsigned long long)now());
			}
		} else {
			say("dead %u %llu", session, (unsigned long long)now());
		}
		while (any_up())
			nap(5);
		memset(sequences, 0, sizeof(sequences));
	}
	return NULL;
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	bool up = any_up();
	pthread_t t;

	if (getenv("STANDIN_LOG"))
		log_fd = open(getenv("STANDIN_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	say("loaded %s", up ? "up" : "down");
	if (pthread_create(&t, NULL, worker, up ? (void *)1 : NULL))
		return 0;
	pthread_detach(t);
	return 1;
}
