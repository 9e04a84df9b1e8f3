/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One call of CUDA, the first of the process, and what becomes of it: prints its name, its result and the gate's status
 * file as it is when the call returns ("-": none). CALL is one of --list, or cuInit of a libcuda that is its own (dlopen,
 * RTLD_LOCAL).
 *
 *   firsttouch [--thread] [--exit-after MS] [--rest MS] [--status N] [--launches N] [--fork | --fork-first | --exec]
 *              [--start | --start-thread] CALL | --list | none
 *
 * --thread: a second thread calls, and the first one goes on at once. --exit-after: how long it then lives. --launches: so many
 * kernels behind the call. --start: calls gpubpf_shim_start() after it, as the host of a manual start does; --start-thread:
 * on a second thread, while this one launches. --fork: a child behind the call makes it again; --fork-first: before it; --exec:
 * becomes this program again behind it. --rest: a pause before the end.
 */
#include <cuda_runtime_api.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"

static char bytes[64], more[64];
static void *out;
static size_t n1, n2;
static int number;
static float ms;
static cudaStream_t stream;
static cudaEvent_t event;
static cudaMemPool_t pool;
static cudaGraph_t graph;
static cudaGraphExec_t exec;
static cudaLibrary_t library;
static const dim3 one = { 1, 1, 1 };

static void on_host(void *arg)
{
	(void)arg;
}

/* Those of the runtime that come to the driver. Arguments need not be right: the driver is initialized before it says so. */
/* clang-format off */
#define CALLS(X) \
	X(cudaGetDeviceCount, (&number)) X(cudaSetDevice, (0)) \
	X(cudaDeviceGetAttribute, (&number, cudaDevAttrMultiProcessorCount, 0)) X(cudaDeviceSynchronize, ()) \
	X(cudaMalloc, (&out, 64)) X(cudaMallocPitch, (&out, &n1, 64, 2)) X(cudaMallocManaged, (&out, 64, 1)) \
	X(cudaMallocHost, (&out, 64)) X(cudaHostAlloc, (&out, 64, 0)) X(cudaHostRegister, (bytes, 64, 0)) \
	X(cudaHostUnregister, (bytes)) X(cudaFree, (NULL)) X(cudaMemGetInfo, (&n1, &n2)) \
	X(cudaMallocAsync, (&out, 64, NULL)) X(cudaMallocFromPoolAsync, (&out, 64, pool, NULL)) \
	X(cudaDeviceGetDefaultMemPool, (&pool, 0)) \
	X(cudaMemcpy, (more, bytes, 64, cudaMemcpyHostToHost)) \
	X(cudaMemcpyAsync, (more, bytes, 64, cudaMemcpyHostToHost, NULL)) \
	X(cudaMemcpy2D, (more, 8, bytes, 8, 8, 2, cudaMemcpyHostToHost)) \
	X(cudaMemcpy2DAsync, (more, 8, bytes, 8, 8, 2, cudaMemcpyHostToHost, NULL)) \
	X(cudaMemset, (bytes, 0, 64)) X(cudaMemsetAsync, (bytes, 0, 64, NULL)) \
	X(cudaLaunchKernel, ((const void *)on_host, one, one, NULL, 0, NULL)) \
	X(cudaLaunchHostFunc, (NULL, on_host, NULL)) X(cudaStreamCreate, (&stream)) \
	X(cudaStreamCreateWithFlags, (&stream, 1)) X(cudaStreamCreateWithPriority, (&stream, 1, 0)) \
	X(cudaStreamSynchronize, (NULL)) X(cudaStreamQuery, (NULL)) X(cudaEventCreate, (&event)) \
	X(cudaEventCreateWithFlags, (&event, 0)) X(cudaGraphInstantiate, (&exec, graph, 0)) \
	X(cudaLibraryLoadData, (&library, workload_ptx, NULL, NULL, 0, NULL, NULL, 0)) \
	X(cudaStreamBeginCapture, (NULL, cudaStreamCaptureModeThreadLocal)) X(cudaEventRecord, (event, NULL)) \
	X(cudaStreamWaitEvent, (NULL, event, 0)) X(cudaEventElapsedTime, (&ms, event, event))
/* clang-format on */

static struct {
	const char *call;
	long exit_after, rest, status, launches;
	bool thread, fork, fork_first, exec, start, start_thread;
} o;

static int init_driver(void)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	int (*init)(unsigned) = NULL;

	if (lib)
		*(void **)&init = dlsym(lib, "cuInit");
	return init ? init(0) : -1;
}

static int call(const char *name)
{
#define X(fn, args)                                                                                          \
	if (strcmp(name, #fn) == 0)                                                                          \
		return (int)fn args;
	CALLS(X)
#undef X
	return strcmp(name, "cuInit") == 0 ? init_driver() : -1;
}

/* The gate's file of this process, as one line. */
static void say(const char *what, int result)
{
	const char *dir = getenv("GPUBPF_STATUS_DIR");
	char path[4096], text[4096];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/status-%d.json", dir ? dir : "", (int)getpid());
	f = dir ? fopen(path, "r") : NULL;
	if (f) {
		n = fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	text[n] = 0;
	printf("%s %d %s", what, result, n ? text : "-\n");
	fflush(stdout);
}

static void launch(long times)
{
	cudaKernel_t kernel;

	if (!times || cudaLibraryLoadData(&library, workload_ptx, NULL, NULL, 0, NULL, NULL, 0) ||
	    cudaLibraryGetKernel(&kernel, library, "empty_kernel"))
		return;
	for (long i = 0; i < times; i++)
		number = (int)cudaLaunchKernel((const void *)kernel, one, one, NULL, 0, NULL);
	cudaDeviceSynchronize();
}

static void *touch(void *arg)
{
	say(arg, call(arg));
	return NULL;
}

static void *start(void *arg)
{
	void *lib = dlopen(getenv("CUDA_INJECTION64_PATH"), RTLD_NOW | RTLD_NOLOAD);
	int (*fn)(void) = NULL;

	(void)arg;
	if (lib)
		*(void **)&fn = dlsym(lib, "gpubpf_shim_start");
	say("start", fn ? fn() : -1);
	return NULL;
}

static void child(void)
{
	int status = -1;
	pid_t p = fork();

	if (p == 0) {
		say("child", call(o.call));
		exit(3);
	}
	waitpid(p, &status, 0);
	printf("child's status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	fflush(stdout);
}

static int parse(int argc, char **argv)
{
	const struct {
		const char *name;
		long *number;
		bool *flag;
	} known[] = {
		{ "--exit-after", &o.exit_after, NULL }, { "--rest", &o.rest, NULL },
		{ "--status", &o.status, NULL },         { "--launches", &o.launches, NULL },
		{ "--thread", NULL, &o.thread },         { "--fork", NULL, &o.fork },
		{ "--fork-first", NULL, &o.fork_first }, { "--exec", NULL, &o.exec },
		{ "--start", NULL, &o.start },           { "--start-thread", NULL, &o.start_thread },
	};

	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		while (k < sizeof(known) / sizeof(known[0]) && strcmp(argv[i], known[k].name) != 0)
			k++;
		if (k == sizeof(known) / sizeof(known[0]))
			o.call = argv[i];
		else if (known[k].flag)
			*known[k].flag = true;
		else if (++i < argc)
			*known[k].number = atol(argv[i]);
	}
	return o.call ? 0 : -1;
}

static void wait_ms(long n)
{
	if (n)
		usleep((useconds_t)(n * 1000));
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (parse(argc, argv) != 0)
		return 2;
	if (strcmp(o.call, "--list") == 0) {
#define X(fn, args) puts(#fn);
		CALLS(X)
#undef X
		return 0;
	}
	if (strcmp(o.call, "none") == 0) {
		say("none", 0);
		return (int)o.status;
	}
	if (o.fork_first)
		child();
	if (o.thread) {
		pthread_create(&t, NULL, touch, (void *)o.call);
		wait_ms(o.exit_after);
		exit((int)o.status);
	}
	touch((void *)o.call);
	if (o.start_thread)
		pthread_create(&t, NULL, start, NULL);
	else if (o.start)
		start(NULL);
	launch(o.launches);
	if (o.start_thread) {
		pthread_join(t, NULL);
		launch(o.launches);
	}
	if (o.fork)
		child();
	if (o.exec) {
		execl(argv[0], argv[0], o.call, NULL);
		return 1;
	}
	wait_ms(o.rest);
	return (int)o.status;
}
