/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The baseline of the device observer: the least that a CUPTI client does that wants to know when kernels ran. An
 * injection library (CUDA_INJECTION64_PATH); counts kernel records, says so at the end, writes nothing.
 *
 * CUPTIBARE_CONTROL names a FIFO: the client is then off until a line "on" comes, or "calls": it then takes the clock and
 * the correlation id at both ends of each launch as well, the least that ties a kernel to its call. It is off again after
 * "off", or after "detach", which unloads CUPTI from the driver (cuptiFinalize) as well; each is answered by a line on
 * standard error.
 * CUPTIBARE_NEXT names an injection library that is loaded as well, so that one process can be watched by either in turn.
 * CUPTIBARE_POOL sets how many buffers on the device CUPTI may have.
 *
 * With "timed" instead of "calls" it does the same and says, at the end of each round, what that took in place, between
 * CUPTI and the driver, and how much of it was the look at the clock: what no callback that knows when a launch began and
 * ended can be below.
 */
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_BYTES (256 * 1024)

#define CALLS 4096

static unsigned long kernels;
static CUpti_SubscriberHandle subscriber;
/* By whatever thread: of loops of one. */
static struct {
	uint64_t start, end;
	uint32_t correlation;
} calls[CALLS];
static volatile unsigned n_calls;
static bool measures;
static uint64_t began, began_ticks;
static struct {
	uint64_t n, clock, whole; /* ticks */
} took[2];                        /* at entry, at return */

static void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER_BYTES);
	*size = BUFFER_BYTES;
	*max_records = 0;
}

static void CUPTIAPI completed(CUcontext ctx, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *record = NULL;

	(void)ctx;
	(void)stream;
	(void)size;
	while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS)
		kernels += record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	free(buffer);
}

/* Each time: whoever was on in between has put his own in their place. */
static int on(void)
{
	return cuptiActivityRegisterCallbacks(requested, completed) ||
	       cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t ticks(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

static void keep(const CUpti_CallbackData *d, uint64_t t)
{
	unsigned i = n_calls % CALLS;

	if (d->callbackSite == CUPTI_API_ENTER) {
		calls[i].start = t;
		return;
	}
	calls[i].end = t;
	calls[i].correlation = d->correlationId;
	n_calls++;
}

static void CUPTIAPI on_call(void *arg, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)arg;
	(void)domain;
	(void)id;
	keep(data, now());
}

static void CUPTIAPI on_timed(void *arg, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	uint64_t first = ticks(), t = now(), second = ticks();
	bool leaves = ((const CUpti_CallbackData *)data)->callbackSite != CUPTI_API_ENTER;

	(void)arg;
	(void)domain;
	(void)id;
	keep(data, t);
	took[leaves].n++;
	took[leaves].clock += second - first;
	took[leaves].whole += ticks() - first;
}

static int with_calls(bool timed)
{
	measures = timed;
	took[0] = took[1] = (__typeof__(took[0])){ 0 };
	began = now();
	began_ticks = ticks();
	return cuptiSubscribe(&subscriber, timed ? on_timed : on_call, NULL) ||
	       cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API,
				   CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) ||
	       on();
}

static void say_what_it_took(void)
{
	uint64_t passed = ticks() - began_ticks;
	double ns = passed ? (double)(now() - began) / (double)passed : 0;

	for (int i = 0; i < 2 && passed; i++) {
		double n = took[i].n ? (double)took[i].n : 1;

		fprintf(stderr, "cuptibare: at %s %.1f ns, %.1f of it the clock, %lu times\n",
			i ? "return" : "entry", (double)took[i].whole * ns / n,
			(double)took[i].clock * ns / n, took[i].n);
	}
}

static int off(void)
{
	if (subscriber && cuptiUnsubscribe(subscriber))
		return 1;
	if (subscriber && measures)
		say_what_it_took();
	subscriber = NULL;
	return cuptiActivityFlushAll(0) || cuptiActivityDisable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) ||
	       cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

/* Not by stdio: exit() flushes its streams and would wait for the one that is read here. One line comes at a time. */
static void *obey(void *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char line[16];

	while (read(fd, line, sizeof(line)) > 0) {
		bool timed = line[0] == 't';
		int wrong = timed || line[0] == 'c' ? with_calls(timed) : line[1] == 'n' ? on() : off();

		if (line[0] == 'd' && !wrong)
			wrong = cuptiFinalize();
		fprintf(stderr, "cuptibare: %s\n", wrong ? "CUPTI refuses" : "done");
	}
	close(fd);
	return NULL;
}

static void at_exit(void)
{
	cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	fprintf(stderr, "cuptibare: %lu kernels\n", kernels);
}

static void load_next(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*inject)(void);

	*(void **)&inject = lib ? dlsym(lib, "InitializeInjection") : NULL;
	if (!inject || !inject())
		fprintf(stderr, "cuptibare: %s does not start\n", path);
}

int InitializeInjection(void);
int InitializeInjection(void)
{
	char *control = getenv("CUPTIBARE_CONTROL");
	const char *next = getenv("CUPTIBARE_NEXT");
	const char *pool = getenv("CUPTIBARE_POOL");
	size_t limit = pool ? strtoul(pool, NULL, 10) : 0, size = sizeof(limit);
	pthread_t t;

	if (pool && cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &limit))
		fprintf(stderr, "cuptibare: no pool of %zu\n", limit);
	if (next)
		load_next(next);
	if (control ? pthread_create(&t, NULL, obey, control) : on()) {
		fprintf(stderr, "cuptibare: CUPTI refuses\n");
		return 0;
	}
	atexit(at_exit);
	return 1;
}
