/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory, copies and sets of the simulated runtime. */
#include "rt.h"

#include <stdint.h>

static CUdeviceptr dev(const void *p)
{
	return (CUdeviceptr)(uintptr_t)p;
}

RT_CALL(cudaMalloc, (void **ptr, size_t size), d->cuMemAlloc((CUdeviceptr *)ptr, size))
RT_CALL(cudaMallocPitch, (void **ptr, size_t *pitch, size_t width, size_t height),
	d->cuMemAllocPitch((CUdeviceptr *)ptr, pitch, width, height, 4))
RT_CALL(cudaMallocManaged, (void **ptr, size_t size, unsigned int flags),
	d->cuMemAllocManaged((CUdeviceptr *)ptr, size, flags))
RT_CALL(cudaMallocHost, (void **ptr, size_t size), d->cuMemHostAlloc(ptr, size, 0))
RT_CALL(cudaHostAlloc, (void **ptr, size_t size, unsigned int flags), d->cuMemHostAlloc(ptr, size, flags))
RT_CALL(cudaHostRegister, (void *ptr, size_t size, unsigned int flags),
	d->cuMemHostRegister(ptr, size, flags))
RT_CALL(cudaHostUnregister, (void *ptr), d->cuMemHostUnregister(ptr))
/* Free of NULL makes the context and nothing else. */
RT_CALL(cudaFree, (void *ptr), ptr ? d->cuMemFree(dev(ptr)) : CUDA_SUCCESS)
RT_CALL(cudaFreeHost, (void *ptr), ptr ? d->cuMemFreeHost(ptr) : CUDA_SUCCESS)
RT_CALL(cudaMemGetInfo, (size_t * free, size_t *total), d->cuMemGetInfo(free, total))
RT_CALL(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int device),
	d->cuDeviceGetDefaultMemPool(pool, device))
RT_CALL(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), d->cuMemPoolTrimTo(pool, keep))
RT_CALL2(cudaMallocAsync, cudaMallocAsync_ptsz, (void **ptr, size_t size, cudaStream_t stream),
	 d->cuMemAllocAsync((CUdeviceptr *)ptr, size, stream))
RT_CALL2(cudaMallocFromPoolAsync, cudaMallocFromPoolAsync_ptsz,
	 (void **ptr, size_t size, cudaMemPool_t pool, cudaStream_t stream),
	 d->cuMemAllocFromPoolAsync((CUdeviceptr *)ptr, size, pool, stream))
RT_CALL2(cudaFreeAsync, cudaFreeAsync_ptsz, (void *ptr, cudaStream_t stream),
	 d->cuMemFreeAsync(dev(ptr), stream))

static cudaError_t copy(const struct drv *d, void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return (cudaError_t)d->cuMemcpyHtoD(dev(dst), src, n);
	case cudaMemcpyDeviceToHost:
		return (cudaError_t)d->cuMemcpyDtoH(dst, dev(src), n);
	case cudaMemcpyDeviceToDevice:
		return (cudaError_t)d->cuMemcpyDtoD(dev(dst), dev(src), n);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return (cudaError_t)d->cuMemcpy(dev(dst), dev(src), n);
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

static cudaError_t copy_async(const struct drv *d, void *dst, const void *src, size_t n,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return (cudaError_t)d->cuMemcpyHtoDAsync(dev(dst), src, n, stream);
	case cudaMemcpyDeviceToHost:
		return (cudaError_t)d->cuMemcpyDtoHAsync(dst, dev(src), n, stream);
	case cudaMemcpyDeviceToDevice:
		return (cudaError_t)d->cuMemcpyDtoDAsync(dev(dst), dev(src), n, stream);
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return (cudaError_t)d->cuMemcpyAsync(dev(dst), dev(src), n, stream);
	default:
		return cudaErrorInvalidMemcpyDirection;
	}
}

RT_CALL2(cudaMemcpy, cudaMemcpy_ptds, (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind),
	 copy(d, dst, src, n, kind))
RT_CALL2(cudaMemcpyAsync, cudaMemcpyAsync_ptsz,
	 (void *dst, const void *src, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream),
	 copy_async(d, dst, src, n, kind, stream))

struct rect {
	void *dst;
	const void *src;
	size_t dpitch, spitch, width, height;
};

static CUDA_MEMCPY2D describe(const struct rect *r, enum cudaMemcpyKind kind)
{
	static const CUmemorytype dst[] = { CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST,
					    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED };
	static const CUmemorytype src[] = { CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE,
					    CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED };

	return (CUDA_MEMCPY2D){ .srcMemoryType = src[kind],
				.srcHost = r->src,
				.srcDevice = dev(r->src),
				.srcPitch = r->spitch,
				.dstMemoryType = dst[kind],
				.dstHost = r->dst,
				.dstDevice = dev(r->dst),
				.dstPitch = r->dpitch,
				.WidthInBytes = r->width,
				.Height = r->height };
}

static cudaError_t copy_2d(const struct drv *d, const struct rect *r, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D c;

	if ((unsigned)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	c = describe(r, kind);
	return (cudaError_t)d->cuMemcpy2D(&c);
}

static cudaError_t copy_2d_async(const struct drv *d, const struct rect *r, enum cudaMemcpyKind kind,
				 cudaStream_t stream)
{
	CUDA_MEMCPY2D c;

	if ((unsigned)kind > cudaMemcpyDefault)
		return cudaErrorInvalidMemcpyDirection;
	c = describe(r, kind);
	return (cudaError_t)d->cuMemcpy2DAsync(&c, stream);
}

RT_CALL2(cudaMemcpy2D, cudaMemcpy2D_ptds,
	 (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	  enum cudaMemcpyKind kind),
	 copy_2d(d, &(struct rect){ dst, src, dpitch, spitch, width, height }, kind))
RT_CALL2(cudaMemcpy2DAsync, cudaMemcpy2DAsync_ptsz,
	 (void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
	  enum cudaMemcpyKind kind, cudaStream_t stream),
	 copy_2d_async(d, &(struct rect){ dst, src, dpitch, spitch, width, height }, kind, stream))
RT_CALL2(cudaMemset, cudaMemset_ptds, (void *ptr, int value, size_t n),
	 d->cuMemsetD8(dev(ptr), (unsigned char)value, n))
RT_CALL2(cudaMemsetAsync, cudaMemsetAsync_ptsz, (void *ptr, int value, size_t n, cudaStream_t stream),
	 d->cuMemsetD8Async(dev(ptr), (unsigned char)value, n, stream))
