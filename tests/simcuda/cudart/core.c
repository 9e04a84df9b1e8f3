/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding the driver, the thread's device and context, the last error. */
#include "rt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define DEVICES_MAX 16

static struct drv tables[2]; /* legacy default stream, per-thread default stream */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static cudaError_t load_error;
static int device_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primaries[DEVICES_MAX];
static unsigned generation; /* of the primary contexts: a reset makes every thread bind again */

static __thread struct {
	int device;
	bool bound;
	unsigned generation;
	cudaError_t last, failed;
} self;

#define RT_ROW(name, version) { #name, version, offsetof(struct drv, name) },
static const struct {
	const char *name;
	int version;
	size_t at;
} rows[] = { RT_DRIVER(RT_ROW) };

static void load(void)
{
	CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *) = NULL;
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);

	load_error = cudaErrorInsufficientDriver;
	if (lib)
		*(void **)&get = dlsym(lib, "cuGetProcAddress_v2");
	if (!get)
		return;
	for (int t = 0; t < 2; t++)
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			void *fn = NULL;
			cuuint64_t flags = t ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
					     : CU_GET_PROC_ADDRESS_LEGACY_STREAM;

			if (get(rows[i].name, &fn, rows[i].version, flags, NULL) != CUDA_SUCCESS || !fn)
				return;
			memcpy((char *)&tables[t] + rows[i].at, &fn, sizeof(fn));
		}
	load_error = (cudaError_t)tables[0].cuInit(0);
	if (load_error == cudaSuccess)
		load_error = (cudaError_t)tables[0].cuDeviceGetCount(&device_count);
	if (load_error == cudaSuccess && device_count == 0)
		load_error = cudaErrorNoDevice;
}

const struct drv *rt_load(bool per_thread)
{
	pthread_once(&once, load);
	self.failed = load_error;
	return load_error == cudaSuccess ? &tables[per_thread] : NULL;
}

static cudaError_t bind(const struct drv *d)
{
	CUresult result = CUDA_SUCCESS;

	pthread_mutex_lock(&lock);
	if (!primaries[self.device])
		result = d->cuDevicePrimaryCtxRetain(&primaries[self.device], self.device);
	self.generation = generation;
	pthread_mutex_unlock(&lock);
	if (result == CUDA_SUCCESS)
		result = d->cuCtxSetCurrent(primaries[self.device]);
	self.bound = result == CUDA_SUCCESS;
	return (cudaError_t)result;
}

const struct drv *rt_enter(bool per_thread)
{
	const struct drv *d;

	if (__builtin_expect(self.bound && self.generation == generation, 1))
		return &tables[per_thread];
	d = rt_load(per_thread);
	if (d)
		self.failed = bind(d);
	return d && self.failed == cudaSuccess ? d : NULL;
}

cudaError_t rt_failed(void)
{
	return self.failed;
}

cudaError_t rt_done(cudaError_t error)
{
	if (__builtin_expect(error != cudaSuccess && error != cudaErrorNotReady, 0))
		self.last = error;
	return error;
}

RT_EXPORT cudaError_t cudaGetLastError(void)
{
	cudaError_t error = self.last;

	self.last = cudaSuccess;
	return error;
}

RT_EXPORT cudaError_t cudaPeekAtLastError(void)
{
	return self.last;
}

/* Codes of the runtime that the driver has no text for. */
static const char *own_text(cudaError_t error, bool name)
{
	switch (error) {
	case cudaErrorInvalidConfiguration:
		return name ? "cudaErrorInvalidConfiguration" : "invalid configuration argument";
	case cudaErrorInvalidMemcpyDirection:
		return name ? "cudaErrorInvalidMemcpyDirection" : "invalid copy direction for memcpy";
	case cudaErrorInsufficientDriver:
		return name ? "cudaErrorInsufficientDriver"
			    : "CUDA driver version is insufficient for CUDA runtime version";
	case cudaErrorInvalidDeviceFunction:
		return name ? "cudaErrorInvalidDeviceFunction" : "invalid device function";
	default:
		return name ? "cudaErrorUnknown" : "unrecognized error code";
	}
}

RT_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	const char *text = NULL;

	pthread_once(&once, load);
	if (tables[0].cuGetErrorString)
		tables[0].cuGetErrorString((CUresult)error, &text);
	return text ? text : own_text(error, false);
}

RT_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
	const char *text = NULL;

	pthread_once(&once, load);
	if (tables[0].cuGetErrorName)
		tables[0].cuGetErrorName((CUresult)error, &text);
	return text ? text : own_text(error, true);
}

RT_EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return rt_done(cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return cudaSuccess;
}

RT_EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
	const struct drv *d = rt_load(false);

	if (!version)
		return rt_done(cudaErrorInvalidValue);
	*version = 0; /* the documented answer where there is no driver */
	return d ? rt_done((cudaError_t)d->cuDriverGetVersion(version)) : cudaSuccess;
}

RT_EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
	const struct drv *d = rt_load(false);

	if (!count)
		return rt_done(cudaErrorInvalidValue);
	*count = d ? device_count : 0;
	return rt_done(d ? cudaSuccess : rt_failed());
}

RT_EXPORT cudaError_t cudaGetDevice(int *device)
{
	if (!device)
		return rt_done(cudaErrorInvalidValue);
	*device = self.device;
	return cudaSuccess;
}

RT_EXPORT cudaError_t cudaSetDevice(int device)
{
	const struct drv *d = rt_load(false);

	if (!d)
		return rt_done(rt_failed());
	if (device < 0 || device >= device_count || device >= DEVICES_MAX)
		return rt_done(cudaErrorInvalidDevice);
	self.device = device;
	return rt_done(bind(d));
}

RT_EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attr, int device)
{
	const struct drv *d = rt_load(false);

	return rt_done(d ? (cudaError_t)d->cuDeviceGetAttribute(value, (CUdevice_attribute)attr, device)
			 : rt_failed());
}

RT_EXPORT cudaError_t cudaDeviceReset(void)
{
	const struct drv *d = rt_enter(false);
	CUresult result;

	if (!d)
		return rt_done(rt_failed());
	pthread_mutex_lock(&lock);
	result = d->cuDevicePrimaryCtxReset(self.device);
	primaries[self.device] = NULL;
	generation++;
	pthread_mutex_unlock(&lock);
	return rt_done((cudaError_t)result);
}

RT_CALL(cudaDeviceSynchronize, (void), d->cuCtxSynchronize())
