/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inside of the simulated CUDA runtime: a layer over whatever libcuda.so.1 the loader finds, reached as the
 * real runtime reaches it (dlopen, then cuGetProcAddress_v2 for every function), with no knowledge of the
 * simulated driver. Calls with a stream exist twice: with the legacy default stream, and `_ptsz`/`_ptds` with
 * the calling thread's own.
 */
#ifndef SIMCUDA_RT_H
#define SIMCUDA_RT_H

#include <stdbool.h>

#include "cuda.h"
#include "cuda_runtime_api.h"

/* name, and the CUDA version whose form of it is called (cuda.h names that form by a macro) */
#define RT_DRIVER(X)                                                                                         \
	X(cuInit, 12000)                                                                                     \
	X(cuDriverGetVersion, 12000)                                                                         \
	X(cuGetErrorName, 12000)                                                                             \
	X(cuGetErrorString, 12000)                                                                           \
	X(cuDeviceGet, 12000)                                                                                \
	X(cuDeviceGetCount, 12000)                                                                           \
	X(cuDeviceGetAttribute, 12000)                                                                       \
	X(cuDeviceGetDefaultMemPool, 12000)                                                                  \
	X(cuDevicePrimaryCtxRetain, 12000)                                                                   \
	X(cuDevicePrimaryCtxReset, 12000)                                                                    \
	X(cuCtxSetCurrent, 12000)                                                                            \
	X(cuCtxSynchronize, 12000)                                                                           \
	X(cuLibraryLoadData, 12000)                                                                          \
	X(cuLibraryUnload, 12000)                                                                            \
	X(cuLibraryGetKernel, 12000)                                                                         \
	X(cuKernelGetFunction, 12000)                                                                        \
	X(cuLaunchKernel, 12000)                                                                             \
	X(cuLaunchKernelEx, 12000)                                                                           \
	X(cuLaunchCooperativeKernel, 12000)                                                                  \
	X(cuLaunchHostFunc, 12000)                                                                           \
	X(cuStreamAddCallback, 12000)                                                                        \
	X(cuStreamCreate, 12000)                                                                             \
	X(cuStreamCreateWithPriority, 12000)                                                                 \
	X(cuStreamDestroy, 12000)                                                                            \
	X(cuStreamSynchronize, 12000)                                                                        \
	X(cuStreamQuery, 12000)                                                                              \
	X(cuStreamWaitEvent, 12000)                                                                          \
	X(cuStreamBeginCapture, 12000)                                                                       \
	X(cuStreamEndCapture, 12000)                                                                         \
	X(cuEventCreate, 12000)                                                                              \
	X(cuEventDestroy, 12000)                                                                             \
	X(cuEventRecord, 12000)                                                                              \
	X(cuEventQuery, 12000)                                                                               \
	X(cuEventSynchronize, 12000)                                                                         \
	X(cuEventElapsedTime, 12080)                                                                         \
	X(cuGraphInstantiate, 12000)                                                                         \
	X(cuGraphGetNodes, 12000)                                                                            \
	X(cuGraphUpload, 12000)                                                                              \
	X(cuGraphLaunch, 12000)                                                                              \
	X(cuGraphDestroy, 12000)                                                                             \
	X(cuGraphExecDestroy, 12000)                                                                         \
	X(cuMemGetInfo, 12000)                                                                               \
	X(cuMemAlloc, 12000)                                                                                 \
	X(cuMemAllocPitch, 12000)                                                                            \
	X(cuMemFree, 12000)                                                                                  \
	X(cuMemAllocManaged, 12000)                                                                          \
	X(cuMemHostAlloc, 12000)                                                                             \
	X(cuMemFreeHost, 12000)                                                                              \
	X(cuMemHostRegister, 12000)                                                                          \
	X(cuMemHostUnregister, 12000)                                                                        \
	X(cuMemAllocAsync, 12000)                                                                            \
	X(cuMemAllocFromPoolAsync, 12000)                                                                    \
	X(cuMemFreeAsync, 12000)                                                                             \
	X(cuMemPoolTrimTo, 12000)                                                                            \
	X(cuMemcpy, 12000)                                                                                   \
	X(cuMemcpyAsync, 12000)                                                                              \
	X(cuMemcpyHtoD, 12000)                                                                               \
	X(cuMemcpyHtoDAsync, 12000)                                                                          \
	X(cuMemcpyDtoH, 12000)                                                                               \
	X(cuMemcpyDtoHAsync, 12000)                                                                          \
	X(cuMemcpyDtoD, 12000)                                                                               \
	X(cuMemcpyDtoDAsync, 12000)                                                                          \
	X(cuMemcpy2D, 12000)                                                                                 \
	X(cuMemcpy2DAsync, 12000)                                                                            \
	X(cuMemsetD8, 12000)                                                                                 \
	X(cuMemsetD8Async, 12000)

#define RT_FIELD(name, version) __typeof__(name) *name;
struct drv {
	RT_DRIVER(RT_FIELD)
};

/*
 * The driver, initialised, with a context on the calling thread; per_thread chooses its default stream.
 * NULL: rt_failed() is the error.
 */
const struct drv *rt_enter(bool per_thread);
const struct drv *rt_load(bool per_thread); /* the driver without a context */
cudaError_t rt_failed(void);
cudaError_t rt_done(cudaError_t error); /* keeps it for cudaGetLastError() */
CUfunction rt_function(const struct drv *d, const void *func, cudaError_t *error);

#define RT_EXPORT __attribute__((visibility("default")))
#define RT_UNPACK(...) __VA_ARGS__

/* A call without a stream: name, parameters, then its body as an expression of `d`. */
#define RT_CALL(name, params, ...)                                                                           \
	RT_EXPORT cudaError_t name params                                                                    \
	{                                                                                                    \
		const struct drv *d = rt_enter(false);                                                       \
                                                                                                             \
		return rt_done(d ? (cudaError_t)(__VA_ARGS__) : rt_failed());                                \
	}

/* A call with a stream, in both forms. */
#define RT_CALL2(name, other, params, ...)                                                                   \
	RT_CALL(name, params, __VA_ARGS__)                                                                   \
	RT_EXPORT cudaError_t other params;                                                                  \
	RT_EXPORT cudaError_t other params                                                                   \
	{                                                                                                    \
		const struct drv *d = rt_enter(true);                                                        \
                                                                                                             \
		return rt_done(d ? (cudaError_t)(__VA_ARGS__) : rt_failed());                                \
	}

#endif
