/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CUPTI client of selftest_cupti*.c: keeps what it is given, and knows how to start over in a child. */
#ifndef SIMCUPTI_CLIENT_H
#define SIMCUPTI_CLIENT_H

#include <cupti.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t.h"

#define OK(call)                                                                                             \
	do {                                                                                                 \
		int got_ = (int)(call);                                                                      \
		CHECKF(got_ == 0, "%s gave %d", #call, got_);                                                \
	} while (0)
#define IS(call, code)                                                                                       \
	do {                                                                                                 \
		int got_ = (int)(call);                                                                      \
		CHECKF(got_ == (int)(code), "%s gave %d, not %s", #call, got_, #code);                       \
	} while (0)

#define SLOW_NS 150000000ull
static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			  ".visible .entry slow() { // sim-ns: 150000000\nret; }\n"
			  ".visible .entry fast(.param .u64 p) { ret; }\n";

static CUcontext ctx;
static CUmodule module;
static CUfunction slow, fast;

static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void sleep_ms(unsigned ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 }, NULL);
}

static inline void start(void)
{
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&ctx, 0));
	OK(cuCtxSetCurrent(ctx));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&slow, module, "slow"));
	OK(cuModuleGetFunction(&fast, module, "fast"));
}

static inline CUresult launch(CUfunction f, CUstream s)
{
	return cuLaunchKernel(f, 2, 3, 4, 32, 2, 1, 128, s, NULL, NULL);
}

/* ---- records, in the order they came ---- */
#define KEPT_MAX (1u << 20)
#define BUFFER_BYTES 65536

static struct {
	pthread_mutex_t lock;
	uint8_t *bytes; /* BUFFER_BYTES apart: copies of what was completed */
	size_t used[KEPT_MAX / 64], buffers;
	_Atomic size_t requests, refuse, records, give;
	CUpti_SubscriberHandle handle;
} client = { .lock = PTHREAD_MUTEX_INITIALIZER };

static inline void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *max)
{
	client.requests++;
	*max = 0;
	*size = client.give ? client.give : BUFFER_BYTES;
	*buffer = client.refuse ? NULL : aligned_alloc(8, *size);
	if (*buffer)
		memset(*buffer, 0xa5, *size);
}

static inline void CUPTIAPI completed(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size,
				      size_t valid)
{
	CUpti_Activity *r = NULL;

	(void)c;
	(void)stream;
	(void)size;
	while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS)
		client.records++;
	pthread_mutex_lock(&client.lock);
	if (client.bytes && client.buffers < sizeof(client.used) / sizeof(client.used[0])) {
		memcpy(client.bytes + client.buffers * BUFFER_BYTES, buffer, valid);
		client.used[client.buffers++] = valid;
	}
	pthread_mutex_unlock(&client.lock);
	free(buffer);
}

static inline void keep_none(void)
{
	if (!client.bytes)
		client.bytes = malloc((size_t)BUFFER_BYTES * 1024);
	pthread_mutex_lock(&client.lock);
	client.buffers = 0;
	client.records = 0;
	pthread_mutex_unlock(&client.lock);
}

/* The n-th kept record of a kind, or NULL. */
static inline void *record(uint32_t kind, size_t n)
{
	for (size_t b = 0; b < client.buffers && b < 1024; b++) {
		CUpti_Activity *r = NULL;

		while (cuptiActivityGetNextRecord(client.bytes + b * BUFFER_BYTES, client.used[b], &r) ==
		       CUPTI_SUCCESS)
			if ((uint32_t)r->kind == kind && n-- == 0)
				return r;
	}
	return NULL;
}

static inline size_t records_of(uint32_t kind)
{
	size_t n = 0;

	while (record(kind, n))
		n++;
	return n;
}

static inline uint64_t CUPTIAPI monotonic(void)
{
	return now();
}

static inline void CUPTIAPI no_callback(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
					const void *data)
{
	(void)user;
	(void)domain;
	(void)id;
	(void)data;
}

static inline void subscribe(CUpti_CallbackFunc fn, void *user)
{
	static bool clock;

	keep_none();
	OK(cuptiSubscribe(&client.handle, fn ? fn : no_callback, user));
	if (!clock)
		OK(cuptiActivityRegisterTimestampCallback(monotonic));
	clock = true;
	OK(cuptiActivityRegisterCallbacks(requested, completed));
}

/* Everything that was asked for is done and here. */
static inline void finish(void)
{
	OK(cuCtxSynchronize());
	OK(cuptiActivityFlushAll(0));
}

static inline void leave(void)
{
	static const uint32_t kinds[] = { 1, 2, 3, 4, 10, 17, 22, 38, 39, 49, 51 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		OK(cuptiActivityDisable((CUpti_ActivityKind)kinds[i]));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	OK(cuptiUnsubscribe(client.handle));
	client.handle = NULL;
}

/*
 * For a test that needs an environment of its own: the test's name, then NAME=VALUE strings, then NULL. True in the
 * child, which goes on with the body; in the parent false, after the child's end. `status` may be NULL: the child
 * must have passed.
 */
static inline bool in_child(const char *test, int *status, ...)
{
	char file[] = "/tmp/selftest_cupti.XXXXXX", text[512];
	int fd, result;
	va_list args;
	pid_t pid;
	FILE *f;

	if (getenv("SELFTEST_CHILD"))
		return true;
	fflush(stdout);
	fd = mkstemp(file);
	pid = fork();
	if (pid == 0) {
		va_start(args, status);
		for (char *e; (e = va_arg(args, char *));)
			putenv(e);
		va_end(args);
		putenv("SELFTEST_CHILD=1");
		dup2(fd, 1);
		alarm(60);
		execl("/proc/self/exe", "selftest_cupti", test, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &result, 0);
	if (status)
		*status = result;
	else
		CHECKF(result == 0, "the child ended with %#x", (unsigned)result);
	f = fdopen(fd, "r");
	rewind(f);
	while (!status && result && f && fgets(text, sizeof(text), f))
		printf("# child: %s", text);
	if (f)
		fclose(f);
	unlink(file);
	return false;
}

#endif
