/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the simulated driver as a program sees it. $SIM is its build folder. */
#include <cuda.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "t.h"

/* slow is long against whatever else a loaded machine does between two calls. */
#define SLOW_NS 50000000ull
static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			  ".visible .entry slow() { // sim-ns: 50000000\nret; }\n"
			  ".visible .entry fast(.param .u64 p) { ret; }\n"
			  ".visible .entry none() { // sim-ns: 0\nret; }\n";

static CUcontext ctx;
static CUmodule module;
static CUfunction slow, fast, none;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#define OK(call) CHECKF((call) == CUDA_SUCCESS, "%s", #call)
#define IS(call, code)                                                                                       \
	do {                                                                                                 \
		int got_ = (int)(call);                                                                      \
		CHECKF(got_ == (int)(code), "%s gave %d, not %s", #call, got_, #code);                       \
	} while (0)

/* Must stand first: the driver of this process is not initialised yet. */
static void *init_thread(void *arg)
{
	*(uint64_t *)arg = cuInit(0) == CUDA_SUCCESS ? now() : 0;
	return NULL;
}

static int injected_child(const int *fds)
{
	uint64_t back[3] = { 0 }, left;
	pthread_t t[3];
	char path[512], number[16], text[256] = "";

	alarm(10); /* a driver that waits for itself must not hang the test */
	snprintf(path, sizeof(path), "%s/libsiminject.so", getenv("SIM"));
	snprintf(number, sizeof(number), "%d", fds[1]);
	setenv("CUDA_INJECTION64_PATH", path, 1);
	setenv("SIMINJECT_FD", number, 1);
	setenv("SIMINJECT_SLEEP_MS", "500", 1);
	for (int i = 0; i < 3; i++)
		if (pthread_create(&t[i], NULL, init_thread, &back[i]) != 0)
			return 2;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	if (cuInit(0) != CUDA_SUCCESS)
		return 3;
	close(fds[1]);
	for (ssize_t n, at = 0; (n = read(fds[0], text + at, sizeof(text) - 1 - (size_t)at)) > 0;)
		at += n;
	/* One line from entering and one from leaving, of the one call. */
	if (sscanf(text, "entered cuInit=0\nleft %llu\n", (unsigned long long *)&left) != 1 ||
	    strchr(strchr(text, '\n') + 1, '\n')[1] != '\0')
		return 4;
	/* Whichever thread came first, nobody went on before the injection was done. */
	for (int i = 0; i < 3; i++)
		if (back[i] < left)
			return 5;
	return 0;
}

T(injection_runs_once_under_the_init_lock)
{
	int fds[2], status;
	pid_t pid;

	if (!getenv("SIM"))
		SKIP("SIM is not set");
	CHECK(pipe(fds) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(injected_child(fds));
	close(fds[1]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECKF(WIFEXITED(status) && WEXITSTATUS(status) == 0, "child ended with %x", (unsigned)status);
	close(fds[0]);
}

T(nothing_works_before_cuInit)
{
	const char *name;
	int version, count;

	IS(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	OK(cuDriverGetVersion(&version));
	OK(cuGetErrorName(CUDA_ERROR_NOT_READY, &name));
	CHECK(strcmp(name, "CUDA_ERROR_NOT_READY") == 0);
}

static void start(void)
{
	CUdevice dev;

	if (ctx)
		return;
	OK(cuInit(0));
	OK(cuDeviceGet(&dev, 0));
	OK(cuDevicePrimaryCtxRetain(&ctx, dev));
	OK(cuCtxSetCurrent(ctx));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&slow, module, "slow"));
	OK(cuModuleGetFunction(&fast, module, "fast"));
	OK(cuModuleGetFunction(&none, module, "none"));
}

static CUresult launch(CUfunction f, CUstream s)
{
	return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL);
}

T(a_child_of_a_fork_cannot_use_it)
{
	int status;
	pid_t pid;

	start();
	pid = fork();
	if (pid == 0)
		_exit(cuInit(0) == CUDA_ERROR_NOT_INITIALIZED &&
				      launch(fast, NULL) == CUDA_ERROR_NOT_INITIALIZED
			      ? 0
			      : 1);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

T(sync_waits_for_the_declared_time)
{
	CUstream s;
	uint64_t t;

	start();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	t = now();
	OK(launch(slow, s));
	OK(launch(slow, s));
	CHECKF(now() - t < SLOW_NS, "a launch waited %llu ns", (unsigned long long)(now() - t));
	IS(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	OK(cuStreamSynchronize(s));
	t = now() - t;
	CHECKF(t >= 2 * SLOW_NS, "two launches of 50 ms took %llu ns", (unsigned long long)t);
	OK(cuStreamQuery(s));
	OK(cuStreamDestroy(s));
	IS(cuStreamDestroy(s), CUDA_ERROR_INVALID_HANDLE);
}

T(the_legacy_stream_waits_for_blocking_streams_only)
{
	CUstream blocking, other;
	CUdeviceptr p;
	uint64_t t = now();

	start();
	OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&p, 16));
	t = now();
	OK(launch(slow, other));
	OK(launch(none, NULL));
	OK(cuStreamSynchronize(NULL));
	CHECKF(now() - t < SLOW_NS - 10000000, "the legacy stream waited for a non-blocking one: %llu ns",
	       (unsigned long long)(now() - t));
	OK(cuCtxSynchronize());
	t = now();
	OK(launch(slow, blocking));
	OK(launch(none, NULL));
	OK(cuStreamSynchronize(NULL));
	CHECK(now() - t >= SLOW_NS);
	OK(launch(slow, NULL));
	OK(launch(none, blocking));
	t = now();
	OK(cuStreamSynchronize(blocking));
	CHECK(now() - t >= SLOW_NS / 2);
	OK(cuMemFree(p));
	OK(cuStreamDestroy(blocking));
	OK(cuStreamDestroy(other));
}

T(events_measure_the_simulated_clock)
{
	CUevent a, b;
	CUstream s;
	float ms = 0;

	start();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&a, 0));
	OK(cuEventCreate(&b, 0));
	OK(cuEventRecord(a, s));
	OK(launch(slow, s));
	OK(cuEventRecord(b, s));
	IS(cuEventQuery(b), CUDA_ERROR_NOT_READY);
	OK(cuEventSynchronize(b));
	OK(cuEventElapsedTime(&ms, a, b));
	CHECKF(ms > 49.999f && ms < 500.0f, "%f ms", (double)ms);
	OK(cuEventDestroy(a));
	OK(cuEventDestroy(b));
	IS(cuEventRecord(a, s), CUDA_ERROR_INVALID_HANDLE);
	OK(cuStreamDestroy(s));
}

T(copies_move_bytes)
{
	unsigned char in[4096], out[4096] = { 0 };
	CUdeviceptr p, q;

	start();
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * 7 + 3);
	OK(cuMemAlloc(&p, sizeof(in)));
	OK(cuMemAlloc(&q, sizeof(in)));
	OK(cuMemcpyHtoD(p, in, sizeof(in)));
	OK(cuMemcpyDtoD(q, p, sizeof(in)));
	OK(cuMemsetD16(q + 2, 0xabcd, 1));
	OK(cuMemcpyDtoH(out, q, sizeof(out)));
	CHECK(out[0] == in[0] && out[1] == in[1] && out[2] == 0xcd && out[3] == 0xab);
	CHECK(memcmp(out + 4, in + 4, sizeof(in) - 4) == 0);
	IS(cuMemcpyHtoD(p, in, sizeof(in) + 1), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)out, in, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(p));
	IS(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemcpyDtoH(out, p, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(q));
}

T(copies_of_two_and_three_dimensions)
{
	unsigned char in[64], out[64];
	CUdeviceptr p;
	CUDA_MEMCPY2D c = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			    .srcHost = in,
			    .srcPitch = 8,
			    .srcXInBytes = 1,
			    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			    .dstPitch = 16,
			    .dstXInBytes = 2,
			    .WidthInBytes = 3,
			    .Height = 4 };

	start();
	for (int i = 0; i < 64; i++)
		in[i] = (unsigned char)i;
	OK(cuMemAlloc(&p, 64));
	OK(cuMemsetD8(p, 0xff, 64));
	c.dstDevice = p;
	OK(cuMemcpy2D(&c));
	OK(cuMemcpyDtoH(out, p, 64));
	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 16; x++)
			CHECK(out[y * 16 + x] == (x >= 2 && x < 5 ? y * 8 + x - 1 : 0xff));
	c.dstXInBytes = 60;
	IS(cuMemcpy2D(&c), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree(p));
}

T(memory_of_each_kind_knows_what_it_is)
{
	CUdeviceptr p;
	unsigned type = 0, managed = 9;
	void *host;

	start();
	OK(cuMemAllocManaged(&p, 100, CU_MEM_ATTACH_GLOBAL));
	OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, p + 5));
	CHECK(managed == 1);
	OK(cuMemFree(p));
	OK(cuMemHostAlloc(&host, 100, 0));
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)host));
	CHECK(type == CU_MEMORYTYPE_HOST);
	IS(cuMemFree((CUdeviceptr)(uintptr_t)host), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeHost(host));
	IS(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
	IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)&p),
	   CUDA_ERROR_INVALID_VALUE);
	IS(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
	IS(cuMemAlloc(&p, 1ull << 50), CUDA_ERROR_OUT_OF_MEMORY);
}

T(virtual_memory_needs_mapping_and_access)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE } };
	CUmemAccessDesc access = { .location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle h;
	CUdeviceptr p;
	size_t n;

	start();
	OK(cuMemGetAllocationGranularity(&n, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	IS(cuMemCreate(&h, n / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemCreate(&h, n, &prop, 0));
	OK(cuMemAddressReserve(&p, n, 0, 0, 0));
	IS(cuMemsetD8(p, 1, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(p, n, 0, h, 0));
	IS(cuMemMap(p, n, 0, h, 0), CUDA_ERROR_ALREADY_MAPPED);
	IS(cuMemsetD8(p, 1, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemSetAccess(p, n, &access, 1));
	OK(cuMemsetD8(p, 1, n));
	IS(cuMemAddressFree(p, n), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(p, n));
	OK(cuMemRelease(h));
	IS(cuMemRelease(h), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAddressFree(p, n));
}

T(modules_and_functions)
{
	const char *name = NULL;
	CUmodule m;
	CUfunction f, again;
	CUlibrary lib;
	CUkernel k;

	start();
	IS(cuModuleLoadData(&m, "no image at all, only some text"), CUDA_ERROR_INVALID_IMAGE);
	IS(cuModuleLoadData(&m, ".version 7.0 and no target"), CUDA_ERROR_INVALID_PTX);
	IS(cuModuleLoad(&m, "/nonexistent"), CUDA_ERROR_FILE_NOT_FOUND);
	OK(cuModuleLoadData(&m, ptx));
	IS(cuModuleGetFunction(&f, m, "slowe"), CUDA_ERROR_NOT_FOUND);
	OK(cuModuleGetFunction(&f, m, "slow"));
	OK(cuModuleGetFunction(&again, m, "slow"));
	CHECK(f == again);
	OK(cuModuleUnload(m));
	IS(cuModuleUnload(m), CUDA_ERROR_INVALID_HANDLE);
	IS(launch(f, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuLibraryLoadData(&lib, ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&k, lib, "fast"));
	OK(launch((CUfunction)k, NULL));
	OK(cuKernelGetFunction(&f, k));
	CHECK((void *)f != (void *)k);
	OK(cuFuncGetName(&name, f));
	CHECK(name && strcmp(name, "fast") == 0);
	OK(launch(f, NULL));
	OK(cuLibraryUnload(lib));
	IS(launch(f, NULL), CUDA_ERROR_INVALID_HANDLE);
}

T(launches_that_the_driver_refuses)
{
	CUfunction garbage = (CUfunction)(uintptr_t)0x12345678;

	start();
	IS(cuLaunchKernel(fast, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	IS(cuLaunchKernel(fast, 1, 1, 1, 2048, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	IS(cuLaunchKernel(fast, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	IS(launch(garbage, NULL), CUDA_ERROR_INVALID_HANDLE);
	IS(launch(fast, (CUstream)(uintptr_t)0x12345678), CUDA_ERROR_INVALID_HANDLE);
	IS(cuLaunchCooperativeKernel(fast, 1 << 20, 1, 1, 1, 1, 1, 0, NULL, NULL),
	   CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

T(a_captured_graph_replays)
{
	unsigned char out[8] = { 0 };
	CUgraphNodeType type;
	CUgraphExec exec;
	CUgraphNode nodes[8];
	size_t n = 8;
	CUgraph graph;
	CUdeviceptr p;
	CUstream s;
	uint64_t t;

	start();
	OK(cuMemAlloc(&p, 8));
	OK(cuMemsetD8(p, 0, 8));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	t = now();
	OK(launch(slow, s));
	OK(cuMemsetD8Async(p, 0x55, 8, s));
	OK(cuMemcpyDtoHAsync(out, p, 8, s));
	OK(cuStreamEndCapture(s, &graph));
	OK(cuMemcpyDtoH(out, p, 8));
	CHECKF(out[0] == 0, "a captured set ran");
	OK(cuGraphGetNodes(graph, nodes, &n));
	CHECK(n == 3);
	OK(cuGraphNodeGetType(nodes[1], &type));
	CHECK(type == CU_GRAPH_NODE_TYPE_MEMSET);
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	t = now();
	OK(cuGraphLaunch(exec, s));
	OK(cuGraphLaunch(exec, s));
	OK(cuStreamSynchronize(s));
	CHECK(now() - t >= 2 * SLOW_NS);
	CHECK(out[0] == 0x55 && out[7] == 0x55);
	OK(cuGraphExecDestroy(exec));
	IS(cuGraphLaunch(exec, s), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamDestroy(s));
	OK(cuMemFree(p));
}

T(capture_follows_events_and_breaks_where_the_driver_breaks_it)
{
	CUstream a, b;
	CUgraph graph;
	CUdeviceptr p;
	CUevent e;
	size_t n;

	start();
	OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&e, CU_EVENT_DISABLE_TIMING));
	IS(cuStreamBeginCapture(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	for (int joined = 0; joined < 2; joined++) {
		OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
		OK(cuEventRecord(e, a));
		OK(cuStreamWaitEvent(b, e, 0));
		OK(launch(fast, b));
		if (joined) {
			OK(cuEventRecord(e, b));
			OK(cuStreamWaitEvent(a, e, 0));
			OK(cuStreamEndCapture(a, &graph));
			OK(cuGraphGetNodes(graph, NULL, &n));
			CHECK(n == 1);
			OK(cuGraphDestroy(graph));
		} else {
			IS(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
		}
	}
	OK(cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
	IS(cuMemAlloc(&p, 8), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	IS(launch(fast, a), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	IS(cuStreamEndCapture(a, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	IS(cuStreamEndCapture(a, &graph), CUDA_ERROR_ILLEGAL_STATE);
	OK(launch(fast, a));
	OK(cuStreamDestroy(a));
	OK(cuStreamDestroy(b));
	OK(cuEventDestroy(e));
}

T(get_proc_address_gives_the_symbols_own_addresses)
{
	static const struct {
		const char *name, *symbol;
		int version;
		cuuint64_t flags;
	} rows[] = {
		{ "cuMemAlloc", "cuMemAlloc_v2", 12000, 0 },
		{ "cuLaunchKernel", "cuLaunchKernel", 12000, 0 },
		{ "cuLaunchKernel", "cuLaunchKernel_ptsz", 12000, 2 },
		{ "cuMemcpyHtoD", "cuMemcpyHtoD_v2_ptds", 12000, 2 },
		{ "cuStreamBeginCapture", "cuStreamBeginCapture", 10000, 0 },
		{ "cuStreamBeginCapture", "cuStreamBeginCapture_v2", 12000, 0 },
		{ "cuGraphInstantiate", "cuGraphInstantiateWithFlags", 12000, 0 },
		{ "cuMemcpyBatchAsync", "cuMemcpyBatchAsync", 12080, 0 },
		{ "cuMemcpyBatchAsync", "cuMemcpyBatchAsync_v2", 13000, 0 },
	};
	CUdriverProcAddressQueryResult status;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		void *fn = NULL;

		OK(cuGetProcAddress(rows[i].name, &fn, rows[i].version, rows[i].flags, &status));
		CHECKF(fn && fn == dlsym(lib, rows[i].symbol), "%s is not %s", rows[i].name, rows[i].symbol);
	}
	IS(cuGetProcAddress("cuNoSuchThing", &(void *){ NULL }, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
	CHECK(status == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	IS(cuGetProcAddress("cuMemcpyBatchAsync", &(void *){ NULL }, 12000, 0, &status),
	   CUDA_ERROR_NOT_FOUND);
	CHECK(status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}

static void CUDA_CB append(void *arg)
{
	unsigned *n = arg;

	*n = *n * 10 + 1;
}

T(host_functions_run_before_the_stream_is_done)
{
	unsigned n = 0;
	CUstream s;
	uint64_t t;

	start();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	t = now();
	OK(launch(slow, s));
	OK(cuLaunchHostFunc(s, append, &n));
	OK(cuLaunchHostFunc(s, append, &n));
	OK(cuStreamSynchronize(s));
	CHECK(n == 11 && now() - t >= SLOW_NS);
	OK(cuStreamDestroy(s));
}

TEST_MAIN
