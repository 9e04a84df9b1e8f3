/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the workloads on the driver API share. */
#ifndef GPUBPF_WORKLOAD_DRV_H
#define GPUBPF_WORKLOAD_DRV_H

#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

#include "kernels.h"

#define CK(call)                                                                                             \
	do {                                                                                                 \
		CUresult err_ = (call);                                                                      \
		if (err_ != CUDA_SUCCESS) {                                                                  \
			const char *text_ = NULL;                                                            \
			cuGetErrorName(err_, &text_);                                                        \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, text_ ? text_ : "?");  \
			exit(1);                                                                             \
		}                                                                                            \
	} while (0)

/* The device's primary context, current on this thread. */
static inline CUcontext drv_start(void)
{
	CUcontext ctx;
	CUdevice dev;

	CK(cuInit(0));
	CK(cuDeviceGet(&dev, 0));
	CK(cuDevicePrimaryCtxRetain(&ctx, dev));
	CK(cuCtxSetCurrent(ctx));
	return ctx;
}

static inline CUfunction drv_kernel(CUmodule *module, const char *name)
{
	CUfunction f;

	if (!*module)
		CK(cuModuleLoadData(module, workload_ptx));
	CK(cuModuleGetFunction(&f, *module, name));
	return f;
}

#endif
