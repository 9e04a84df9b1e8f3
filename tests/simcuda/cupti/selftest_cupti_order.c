/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the simulated libcupti: buffers, flushes and the driver's lock, forks, and what a test may ask for. */
#include <signal.h>

#include "client.h"

#define KERNEL CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL

static void trace_kernels(void)
{
	start();
	OK(launch(fast, NULL)); /* its load is behind it */
	OK(launch(slow, NULL));
	OK(cuCtxSynchronize());
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(KERNEL));
}

static CUpti_ActivityKernel10 *kernel(size_t n)
{
	return record(KERNEL, n);
}

T(a_flush_returns_no_record_of_work_that_is_not_done)
{
	trace_kernels();
	OK(launch(fast, NULL));
	OK(launch(slow, NULL));
	OK(cuptiActivityFlushAll(0));
	CHECK(client.records == 0);
	finish();
	CHECK(client.records == 2);
	OK(launch(slow, NULL));
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	CHECK(client.records == 3 && kernel(2)->start == 0 && kernel(2)->end == 0);
	/* It does not come a second time. */
	finish();
	CHECK(client.records == 3);
	leave();
}

T(full_buffers_come_without_a_flush)
{
	size_t fit = BUFFER_BYTES / sizeof(CUpti_ActivityKernel10);

	trace_kernels();
	/* By what makes one full, not by the worker's round. */
	OK(cuptiActivityFlushPeriod(60000));
	sleep_ms(150);
	/* Full, but the work of its first record lasts. */
	OK(launch(slow, NULL));
	for (size_t i = 0; i < fit; i++)
		OK(launch(fast, NULL));
	OK(cuptiActivityFlushAll(0));
	CHECK(client.records == 0);
	finish();
	CHECK(client.records == fit + 1);
	keep_none();
	for (size_t i = 0; i < fit; i++)
		OK(launch(fast, NULL));
	OK(cuCtxSynchronize());
	OK(launch(fast, NULL));
	for (int i = 0; i < 100 && client.records < fit; i++)
		sleep_ms(10);
	CHECK(client.records == fit);
	finish();
	OK(cuptiActivityFlushPeriod(0));
	CHECK(client.records == fit + 1 && kernel(fit)->correlationId > kernel(0)->correlationId);
	leave();
}

T(a_client_without_a_buffer_loses_records_and_they_are_counted)
{
	size_t dropped = 9;

	trace_kernels();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	client.refuse = 1;
	for (int i = 0; i < 5; i++)
		OK(launch(fast, NULL));
	client.refuse = 0;
	OK(launch(fast, NULL));
	finish();
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	CHECK(dropped == 5 && client.records == 1);
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	CHECK(dropped == 0);
	leave();
}

static uint64_t CUPTIAPI shifted(void)
{
	return now() + 1000000000000ull;
}

T(times_are_those_of_the_clock_that_was_registered)
{
	uint64_t before, after, stamp;

	trace_kernels();
	before = now();
	OK(launch(fast, NULL));
	finish();
	after = now();
	CHECK(kernel(0)->start >= before && kernel(0)->end <= after);
	/* One that changes under a record leaves it without times. */
	OK(launch(slow, NULL));
	OK(cuptiActivityRegisterTimestampCallback(shifted));
	finish();
	CHECK(kernel(1)->start == 0 && kernel(1)->end == 0);
	before = now();
	OK(launch(fast, NULL));
	finish();
	CHECK(kernel(2)->start >= before + 999999000000ull && kernel(2)->end <= now() + 1000001000000ull);
	OK(cuptiGetTimestamp(&stamp));
	CHECK(stamp > now() + 900000000000ull);
	OK(cuptiActivityRegisterTimestampCallback(monotonic));
	leave();
}

T(parameters_are_checked)
{
	size_t size = sizeof(size_t), value = 0;
	uint8_t flag = 1;

	IS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_INVALID), CUPTI_ERROR_INVALID_KIND);
	IS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT), CUPTI_ERROR_INVALID_KIND);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
	IS(cuptiActivityEnable(KERNEL), CUPTI_ERROR_NOT_COMPATIBLE);
	OK(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_KERNEL));
	IS(cuptiActivityRegisterCallbacks(NULL, completed), CUPTI_ERROR_INVALID_PARAMETER);
	OK(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &value));
	CHECK(value == 250 && size == sizeof(size_t));
	value = 8;
	OK(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &value));
	value = 0;
	OK(cuptiActivityGetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, &size, &value));
	CHECK(value == 8);
	size = 1;
	IS(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &size, &value),
	   CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
	OK(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &flag));
}

/* ---- the driver's lock ---- */
static _Atomic int flushing, flushed;

static void *flusher(void *arg)
{
	flushing = 1;
	OK(cuptiActivityFlushAll(0));
	flushed = 1;
	return arg;
}

static void CUPTIAPI on_load(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	bool *ended = user;

	(void)data;
	if (domain != CUPTI_CB_DOMAIN_RESOURCE || id != CUPTI_CBID_RESOURCE_MODULE_LOADED)
		return;
	while (!flushing)
		sleep_ms(1);
	sleep_ms(100);
	*ended = flushed;
}

T(a_flush_cannot_end_while_a_module_is_being_loaded)
{
	bool ended = true;
	pthread_t t;

	subscribe(on_load, &ended);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_RESOURCE));
	start();
	/* Whoever flushes before the load begins is through at once. */
	OK(cuptiActivityFlushAll(0));
	flushing = flushed = 0;
	pthread_create(&t, NULL, flusher, NULL);
	OK(launch(fast, NULL));
	pthread_join(t, NULL);
	CHECK(flushed && !ended);
	leave();
}

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

static void *guarded_flusher(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&guard);
		cuptiActivityFlushAll(0);
		pthread_mutex_unlock(&guard);
		sleep_ms(20);
	}
	return arg;
}

static void CUPTIAPI guarded(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)user;
	(void)id;
	(void)data;
	if (domain != CUPTI_CB_DOMAIN_RESOURCE)
		return;
	pthread_mutex_lock(&guard);
	pthread_mutex_unlock(&guard);
}

static void guarded_client(void)
{
	pthread_t t;

	subscribe(guarded, NULL);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_RESOURCE));
	pthread_create(&t, NULL, guarded_flusher, NULL);
	alarm(2);
	start();
}

/* The three threads of the deadlock: it must come for sure, or it proves nothing of a client that survives. */
T(a_guard_across_a_flush_and_in_a_callback_hangs)
{
	int status = 0;

	if (!in_child("a_guard_across_a_flush_and_in_a_callback_hangs", &status,
		      "SIMCUPTI_ORDER=flush-before-callback", NULL)) {
		CHECKF(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM, "ended with %#x",
		       (unsigned)status);
		return;
	}
	guarded_client();
	OK(launch(fast, NULL));
}

static _Atomic unsigned flushes;

static void *plain_flusher(void *arg)
{
	for (;;) {
		cuptiActivityFlushAll(0);
		flushes++;
		sleep_ms(20);
	}
	return arg;
}

static size_t lines_with(const char *file, const char *words)
{
	char line[512];
	FILE *f = fopen(file, "r");
	size_t n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, words) != NULL;
	if (f)
		fclose(f);
	return n;
}

static const char *log_file(char *assignment, size_t size)
{
	snprintf(assignment, size, "SIMCUPTI_LOG=/tmp/selftest_cupti.%d.log", (int)getpid());
	return strchr(assignment, '=') + 1;
}

static void all_resources(void)
{
	CUcontext other;
	CUstream s;

	start();
	OK(launch(fast, NULL));
	OK(cuModuleUnload(module));
	OK(cuCtxCreate(&other, NULL, 0, 0));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamDestroy(s));
	OK(cuCtxDestroy(other));
}

T(a_flush_is_under_way_before_each_callback)
{
	char log[64];
	const char *file = log_file(log, sizeof(log));
	pthread_t t;

	if (!in_child("a_flush_is_under_way_before_each_callback", NULL,
		      "SIMCUPTI_ORDER=flush-before-callback", log, NULL)) {
		/* Two contexts made, one unmade, a module, a stream: made and unmade; and the driver ready. */
		CHECK(lines_with(file, "! callback with a flush under way") == 8);
		CHECK(lines_with(file, "resource 6 begins") == 1 && lines_with(file, "none came") == 0);
		CHECK(lines_with(file, " resource ! resource 7 ended") == 1);
		unlink(file);
		return;
	}
	subscribe(NULL, NULL);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_RESOURCE));
	pthread_create(&t, NULL, plain_flusher, NULL);
	all_resources();
}

static void nothing_ends(void)
{
	unsigned before = flushes;

	sleep_ms(200);
	if (before == 0 || flushes != before)
		_exit(9);
}

T(a_flush_is_under_way_across_a_fork_and_at_the_exit)
{
	char log[64];
	const char *file = log_file(log, sizeof(log));
	pthread_t t;
	uint32_t version;
	int status;
	pid_t pid;

	if (!in_child("a_flush_is_under_way_across_a_fork_and_at_the_exit", NULL,
		      "SIMCUPTI_ORDER=flush-before-fork,flush-before-exit", log, NULL)) {
		CHECK(lines_with(file, "! fork with a flush under way") == 1);
		CHECK(lines_with(file, "! exit with a flush under way") == 1);
		unlink(file);
		return;
	}
	atexit(nothing_ends);
	trace_kernels();
	pthread_create(&t, NULL, plain_flusher, NULL);
	sleep_ms(50);
	pid = fork();
	if (pid == 0)
		_exit(cuptiActivityFlushAll(0) == CUPTI_ERROR_NOT_INITIALIZED &&
				      cuptiGetVersion(&version) == CUPTI_ERROR_NOT_INITIALIZED &&
				      launch(fast, NULL) == CUDA_ERROR_NOT_INITIALIZED
			      ? 0
			      : 1);
	waitpid(pid, &status, 0);
	CHECK(status == 0);
	OK(launch(fast, NULL));
	finish();
	CHECK(client.records == 1);
}

static void CUPTIAPI flush_inside(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				  const void *data)
{
	(void)user;
	(void)domain;
	(void)id;
	(void)data;
	cuptiActivityFlushAll(0);
}

T(a_flush_inside_a_callback_aborts_where_that_is_asked_for)
{
	int status = 0;

	if (!in_child("a_flush_inside_a_callback_aborts_where_that_is_asked_for", &status,
		      "SIMCUPTI_ABORT=callback", NULL)) {
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
		return;
	}
	if (!freopen("/dev/null", "w", stderr))
		return;
	subscribe(flush_inside, NULL);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_DRIVER_API));
	start();
}

/* ---- what a test may ask for ---- */
static void launches(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		OK(launch(fast, NULL));
	finish();
}

T(faults_of_records)
{
	size_t zero = 0, backward = 0, dropped = 0;

	if (!in_child("faults_of_records", NULL, "SIMCUPTI_LOST=10", "SIMCUPTI_DROP=7", "SIMCUPTI_ZERO=3",
		      "SIMCUPTI_BACKWARD=4", NULL))
		return;
	trace_kernels();
	launches(100);
	for (size_t i = 0; kernel(i); i++) {
		zero += kernel(i)->end == 0;
		backward += kernel(i)->end < kernel(i)->start;
	}
	OK(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	/* Of 1 to 100: 10 tens; 14 sevens less 70; then threes (33 less 3 tens less 4 of 21) and fours. */
	CHECK(dropped == 13 && client.records == 77);
	CHECK(zero == 26 && backward == 11);
}

T(times_that_are_too_early)
{
	uint64_t before;

	if (!in_child("times_that_are_too_early", NULL, "SIMCUPTI_EARLY_NS=5000000", NULL))
		return;
	trace_kernels();
	before = now();
	launches(1);
	CHECK(kernel(0)->start < before && kernel(0)->start > before - 5000000);
}

T(a_buffer_that_only_force_brings_out)
{
	if (!in_child("a_buffer_that_only_force_brings_out", NULL, "SIMCUPTI_HOLD=1", NULL))
		return;
	trace_kernels();
	launches(3);
	CHECK(client.records == 0);
	OK(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
	CHECK(client.records == 3 && kernel(2)->end != 0);
}

T(correlation_ids_wrap)
{
	if (!in_child("correlation_ids_wrap", NULL, "SIMCUPTI_CORRELATION=4294967290", NULL))
		return;
	trace_kernels();
	launches(10);
	CHECK(kernel(0)->correlationId > 4294967280u || kernel(0)->correlationId < 10);
	for (size_t i = 0; i < 9; i++)
		CHECK(kernel(i + 1)->correlationId - kernel(i)->correlationId <= 2);
	CHECK(kernel(9)->correlationId < 20 && kernel(9)->correlationId != 0);
}

T(failures_and_delays)
{
	char log[64];
	const char *file = log_file(log, sizeof(log));
	uint64_t t;

	if (!in_child("failures_and_delays", NULL,
		      "SIMCUPTI_FAIL=cuptiActivityEnable:1:35,cuptiSubscribe:*:39:2",
		      "SIMCUPTI_DELAY=cuptiActivityEnable:2:200", log, NULL)) {
		CHECK(lines_with(file, "> cuptiActivityEnable 1") == 2 &&
		      lines_with(file, "< cuptiActivityEnable 35") == 1);
		unlink(file);
		return;
	}
	trace_kernels();
	IS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	t = now();
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	CHECK(now() - t >= 200000000);
	OK(cuptiUnsubscribe(client.handle));
	IS(cuptiSubscribe(&client.handle, no_callback, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	OK(cuptiSubscribe(&client.handle, no_callback, NULL));
}

/* Only read what is surely there: the next record begins early. */
T(records_of_an_older_version_are_shorter)
{
	static const size_t bytes = 160; /* CUpti_ActivityKernel5 */

	if (!in_child("records_of_an_older_version_are_shorter", NULL, "SIMCUPTI_VERSION=13", NULL))
		return;
	trace_kernels();
	IS(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), CUPTI_ERROR_INVALID_KIND);
	launches(3);
	CHECK(client.records == 3 && (uint8_t *)kernel(1) - (uint8_t *)kernel(0) == (long)bytes);
	CHECK(strcmp(kernel(2)->name, "fast") == 0 && kernel(2)->end > kernel(2)->start);
	CHECK(kernel(2)->graphId == 0xa5a5a5a5u);
}

T(fast_launches_have_records_too)
{
	if (!in_child("fast_launches_have_records_too", NULL, "SIMCUDA_FAST=1", NULL))
		return;
	trace_kernels();
	launches(1000);
	CHECK(client.records == 1000 && kernel(999)->end > kernel(999)->start);
	CHECK(kernel(999)->end - kernel(999)->start < 10 && kernel(999)->start > kernel(0)->start);
}

/* ---- threads ---- */
static void *launcher(void *arg)
{
	OK(cuCtxSetCurrent(ctx));
	for (int i = 0; i < 2000; i++)
		OK(launch(fast, NULL));
	return arg;
}

static _Atomic bool ended;

static void *steady_flusher(void *arg)
{
	while (!ended) {
		OK(cuptiActivityFlushAll(0));
		sleep_ms(1);
	}
	return arg;
}

static void CUPTIAPI count(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	(void)id;
	(void)data;
	if (domain == CUPTI_CB_DOMAIN_DRIVER_API)
		++*(_Atomic size_t *)user;
}

T(threads_that_launch_and_one_that_flushes)
{
	_Atomic size_t calls = 0;
	pthread_t t[4], f;

	trace_kernels();
	leave();
	subscribe(count, &calls);
	OK(cuptiActivityEnable(KERNEL));
	OK(cuptiEnableCallback(1, client.handle, CUPTI_CB_DOMAIN_DRIVER_API,
			       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	ended = false;
	pthread_create(&f, NULL, steady_flusher, NULL);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, launcher, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	ended = true;
	pthread_join(f, NULL);
	finish();
	CHECK(client.records == 8000 && calls == 16000);
	leave();
}

/* A client that comes and goes while others launch: each of its sessions has whole records. */
T(sessions_while_a_thread_launches)
{
	pthread_t t;

	trace_kernels();
	leave();
	pthread_create(&t, NULL, launcher, NULL);
	for (int i = 0; i < 10; i++) {
		subscribe(NULL, NULL);
		OK(cuptiActivityEnable(KERNEL));
		OK(launch(fast, NULL));
		OK(cuptiActivityDisable(KERNEL));
		finish();
		CHECK(client.records >= 1 && kernel(0)->end);
		leave();
	}
	pthread_join(t, NULL);
	OK(cuptiFinalize());
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(KERNEL));
	launches(1);
	CHECK(client.records == 1);
	leave();
}

TEST_MAIN
