/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cuInit with the injection protocol, cuGetProcAddress, error names. */
#include "sim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic pthread_t init_thread;

/*
 * The driver loads the library of CUDA_INJECTION64_PATH inside the first cuInit and calls its
 * InitializeInjection there, once, with its init lock held: other threads' cuInit wait. A library that cannot
 * be loaded is no error.
 */
static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	int (*initialize)(void);
	void *lib;

	if (!path || !*path)
		return;
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return;
	*(void **)&initialize = dlsym(lib, "InitializeInjection");
	if (initialize)
		initialize();
}

/* SIMCUDA_INIT_MS=N: the driver needs so long for itself, after the injected library. */
static void dawdle(void)
{
	const char *ms = getenv("SIMCUDA_INIT_MS");
	long n = ms ? atol(ms) : 0;

	if (n > 0)
		nanosleep(&(struct timespec){ .tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000 }, NULL);
}

bool init__elsewhere(void)
{
	return sim.init == SIM_INIT_RUNNING && !pthread_equal(init_thread, pthread_self());
}

SIM_IMPL(cuInit)
{
	(void)api;
	if (U32(0) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim.init == SIM_INIT_FORKED)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (sim.init == SIM_INIT_DONE)
		return CUDA_SUCCESS;
	/* The injected library may call cuInit itself; it must not wait for its own thread. */
	if (sim.init == SIM_INIT_RUNNING && pthread_equal(init_thread, pthread_self()))
		return CUDA_SUCCESS;
	pthread_mutex_lock(&init_lock);
	if (sim.init == SIM_INIT_NONE) {
		init_thread = pthread_self();
		sim.init = SIM_INIT_RUNNING;
		inject();
		dawdle();
		sim.init = SIM_INIT_DONE;
		pthread_rwlock_wrlock(&sim_driver_lock);
		trace__resource(&(struct sim_resource){ .id = 5 }); /* CU_INIT_FINISHED */
		pthread_rwlock_unlock(&sim_driver_lock);
	}
	pthread_mutex_unlock(&init_lock);
	if (sim.init_result)
		return sim.init_result;
	return sim.devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

SIM_IMPL(cuDriverGetVersion)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	*(int *)PTR(0) = CUDA_VERSION;
	return CUDA_SUCCESS;
}

/* Where the version that a program asks for decides between the forms of one name (cudaTypedefs.h). */
static const struct {
	const char *symbol;
	int since;
} since[] = {
	{ "cuCtxCreate_v3", 11040 },
	{ "cuCtxCreate_v4", 12050 },
	{ "cuCtxSynchronize_v2", 13000 },
	{ "cuEventElapsedTime_v2", 12080 },
	{ "cuGetProcAddress_v2", 12000 },
	{ "cuGraphAddKernelNode_v2", 12000 },
	{ "cuGraphExecUpdate_v2", 12000 },
	{ "cuGraphInstantiate_v2", 11000 },
	{ "cuMemAdvise_v2", 12020 },
	{ "cuMemPrefetchAsync_v2", 12020 },
	{ "cuMemcpy3DBatchAsync", 12080 },
	{ "cuMemcpy3DBatchAsync_v2", 13000 },
	{ "cuMemcpyBatchAsync", 12080 },
	{ "cuMemcpyBatchAsync_v2", 13000 },
	{ "cuStreamBeginCapture_v2", 10010 },
	{ "cuStreamBeginCaptureToGraph", 12030 },
	{ "cuStreamGetCaptureInfo_v2", 11030 },
	{ "cuStreamGetCaptureInfo_v3", 12030 },
};

static int version_of(const char *symbol)
{
	for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++)
		if (strcmp(since[i].symbol, symbol) == 0)
			return since[i].since;
	return 0;
}

static const struct sim_api *by_symbol(const char *symbol)
{
	for (unsigned i = 0; i < sim_napis; i++)
		if (strcmp(sim_apis[i].symbol, symbol) == 0)
			return &sim_apis[i];
	return NULL;
}

/* The newest form of `name` that `version` knows; in the per-thread form where asked for and there is one. */
static const struct sim_api *lookup(const char *name, int version, uint64_t flags, bool *too_old)
{
	static const char *const forms[] = { "_v4", "_v3", "_v2", "" };
	static const char *const threads[] = { "_ptsz", "_ptds", "" };
	char symbol[128];

	*too_old = false;
	if (strcmp(name, "cuGraphInstantiate") == 0 && version >= 12000)
		name = "cuGraphInstantiateWithFlags";
	for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
		snprintf(symbol, sizeof(symbol), "%s%s", name, forms[f]);
		if (!by_symbol(symbol))
			continue;
		if (version_of(symbol) > version) {
			*too_old = true;
			continue;
		}
		for (size_t t = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM ? 0 : 2; t < 3; t++) {
			const struct sim_api *api;

			snprintf(symbol, sizeof(symbol), "%s%s%s", name, forms[f], threads[t]);
			api = by_symbol(symbol);
			if (api)
				return api;
		}
	}
	return NULL;
}

static int get_proc_address(const uint64_t *a, CUdriverProcAddressQueryResult *status)
{
	const char *name = PTR(0);
	void **pfn = PTR(1);
	const struct sim_api *found;
	bool too_old;

	if (!name || !pfn)
		return CUDA_ERROR_INVALID_VALUE;
	found = lookup(name, I32(2), a[3], &too_old);
	*pfn = found ? found->fn : NULL;
	if (status)
		*status = found     ? CU_GET_PROC_ADDRESS_SUCCESS
			  : too_old ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SIM_IMPL(cuGetProcAddress)
{
	(void)api;
	return get_proc_address(a, NULL);
}

SIM_IMPL(cuGetProcAddress_v2)
{
	(void)api;
	return get_proc_address(a, PTR(4));
}

/* The undocumented tables behind this are not simulated. */
SIM_IMPL(cuGetExportTable)
{
	SIM_UNUSED;
	return CUDA_ERROR_NOT_FOUND;
}

static const struct {
	int code;
	const char *name, *text;
} errors[] = {
	{ CUDA_SUCCESS, "CUDA_SUCCESS", "no error" },
	{ CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument" },
	{ CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory" },
	{ CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error" },
	{ CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected" },
	{ CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal" },
	{ CUDA_ERROR_INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid" },
	{ CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context" },
	{ CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed" },
	{ CUDA_ERROR_FILE_NOT_FOUND, "CUDA_ERROR_FILE_NOT_FOUND", "file not found" },
	{ CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle" },
	{ CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found" },
	{ CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready" },
	{ CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS",
	  "an illegal memory access was encountered" },
	{ CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure" },
	{ CUDA_ERROR_NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported" },
	{ CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	  "operation not permitted when stream is capturing" },
	{ CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	  "operation failed due to a previous error during capture" },
	{ CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
	  "capturing stream has unjoined work" },
	{ CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error" },
};

static int error_text(const uint64_t *a, bool name)
{
	const char **out = PTR(1);

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	*out = NULL;
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].code == I32(0))
			*out = name ? errors[i].name : errors[i].text;
	return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuGetErrorName)
{
	(void)api;
	return error_text(a, true);
}

SIM_IMPL(cuGetErrorString)
{
	(void)api;
	return error_text(a, false);
}
