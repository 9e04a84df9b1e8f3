/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocation and free of every kind, pools, arrays, and what a pointer is. */
#include "sim.h"

#include <stdlib.h>

CUresult cuMemAlloc_v2(CUdeviceptr *ptr, size_t bytes);

static int allocate(enum mem_kind kind, uint64_t *out, size_t bytes, bool forbidden_in_capture)
{
	struct ctx *c = ctx__current();
	struct mem *m;
	int result;

	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	result = forbidden_in_capture ? capture__forbid() : CUDA_SUCCESS;
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&sim.lock);
	result = mem__alloc(kind, bytes, c, &m);
	if (result == CUDA_SUCCESS)
		*out = m->base;
	pthread_mutex_unlock(&sim.lock);
	return result;
}

/* Frees what starts at ptr and is of one of the kinds in `kinds` (bits). */
static int release(uint64_t ptr, unsigned kinds)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct mem *m;

	pthread_mutex_lock(&sim.lock);
	m = mem__at(ptr);
	if (m && m->base == ptr && kinds & 1u << m->kind) {
		mem__free(m);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuMemAlloc)
{
	(void)api;
	return allocate(MEM_DEVICE, PTR(0), a[1], true);
}

/*
 * The one call that models a driver function calling another through its public symbol: a probe on
 * cuMemAlloc_v2 sees this call at depth 1.
 */
SIM_IMPL(cuMemAllocPitch)
{
	size_t pitch = (a[2] + 511) / 512 * 512;
	int result;

	(void)api;
	if (!PTR(0) || !PTR(1) || a[2] == 0 || a[3] == 0 || (U32(4) != 4 && U32(4) != 8 && U32(4) != 16))
		return CUDA_ERROR_INVALID_VALUE;
	result = (int)cuMemAlloc_v2(PTR(0), pitch * a[3]);
	if (result == CUDA_SUCCESS)
		*(size_t *)PTR(1) = pitch;
	return result;
}

SIM_IMPL(cuMemAllocManaged)
{
	(void)api;
	if (U32(2) != CU_MEM_ATTACH_GLOBAL && U32(2) != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	return allocate(MEM_MANAGED, PTR(0), a[1], true);
}

SIM_IMPL(cuMemAllocHost)
{
	(void)api;
	return allocate(MEM_HOST, PTR(0), a[1], true);
}

SIM_IMPL(cuMemHostAlloc)
{
	(void)api;
	return allocate(MEM_HOST, PTR(0), a[1], true);
}

SIM_IMPL(cuMemFree)
{
	struct ctx *c = ctx__current();
	int result;

	(void)api;
	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!a[0])
		return CUDA_SUCCESS;
	result = capture__forbid();
	if (result != CUDA_SUCCESS)
		return result;
	/* The memory may be in use by work already handed over. */
	ctx__drain(c);
	return release(a[0], 1u << MEM_DEVICE | 1u << MEM_MANAGED | 1u << MEM_POOL);
}

SIM_IMPL(cuMemFreeHost)
{
	struct ctx *c = ctx__current();

	(void)api;
	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	ctx__drain(c);
	return release(a[0], 1u << MEM_HOST);
}

static int alloc_async(const struct sim_api *api, uint64_t *out, size_t bytes, uint64_t stream)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEM_ALLOC };
	int result;
	struct stream *s = stream__resolve(api, stream, &result);

	if (!s)
		return result;
	result = allocate(MEM_POOL, out, bytes, false);
	return result == CUDA_SUCCESS ? stream__submit(s, &op, NULL) : result;
}

SIM_IMPL(cuMemAllocAsync)
{
	return alloc_async(api, PTR(0), a[1], a[2]);
}

SIM_IMPL(cuMemAllocFromPoolAsync)
{
	if (!obj__get(a[2], OBJ_POOL))
		return CUDA_ERROR_INVALID_VALUE;
	return alloc_async(api, PTR(0), a[1], a[3]);
}

SIM_IMPL(cuMemFreeAsync)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEM_FREE };
	int result;
	struct stream *s = stream__resolve(api, a[1], &result);

	if (!s)
		return result;
	/* A captured free gives nothing back until the graph runs; here the memory then stays. */
	if (!s->capture) {
		result = release(a[0], 1u << MEM_DEVICE | 1u << MEM_POOL);
		if (result != CUDA_SUCCESS)
			return result;
	}
	return stream__submit(s, &op, NULL);
}

SIM_IMPL(cuMemPoolCreate)
{
	const CUmemPoolProps *props = PTR(1);
	void *pool;

	(void)api;
	if (!PTR(0) || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	pool = obj__new(OBJ_POOL);
	*(void **)PTR(0) = pool;
	return pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuMemPoolDestroy)
{
	void *pool = obj__get(a[0], OBJ_POOL);

	(void)api;
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	obj__free(pool);
	return CUDA_SUCCESS;
}

static int pool_known(const uint64_t *a)
{
	return obj__get(a[0], OBJ_POOL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuMemPoolTrimTo)
{
	(void)api;
	return pool_known(a);
}

SIM_IMPL(cuMemPoolSetAttribute)
{
	(void)api;
	return pool_known(a);
}

SIM_IMPL(cuMemPoolGetAttribute)
{
	(void)api;
	if (PTR(2))
		*(uint32_t *)PTR(2) = 0;
	return pool_known(a);
}

SIM_IMPL(cuMemGetInfo)
{
	(void)api;
	if (!ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!PTR(0) || !PTR(1))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	*(size_t *)PTR(0) = mem__free_bytes();
	pthread_mutex_unlock(&sim.lock);
	*(size_t *)PTR(1) = SIM_MEM_TOTAL;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuMemGetAddressRange)
{
	struct mem *m;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	m = mem__at(a[2]);
	if (m && PTR(0))
		*(uint64_t *)PTR(0) = m->base;
	if (m && PTR(1))
		*(size_t *)PTR(1) = m->bytes;
	pthread_mutex_unlock(&sim.lock);
	return m ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SIM_IMPL(cuMemHostGetDevicePointer)
{
	size_t left;
	struct mem *m;
	bool known;

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	m = mem__at(a[1]);
	known = (m && m->kind == MEM_HOST) || mem__registered(a[1], &left);
	pthread_mutex_unlock(&sim.lock);
	if (known)
		*(uint64_t *)PTR(0) = a[1];
	return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int attribute(void *data, uint32_t which, uint64_t ptr, const struct mem *m)
{
	bool host = m->kind == MEM_HOST;

	switch (which) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		*(void **)data = m->ctx;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		*(uint64_t *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!host && m->kind != MEM_MANAGED)
			return CUDA_ERROR_INVALID_VALUE;
		*(uint64_t *)data = ptr;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(unsigned *)data = m->kind == MEM_MANAGED;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = m->ctx ? m->ctx->device : 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(uint64_t *)data = m->base;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = m->bytes;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

SIM_IMPL(cuPointerGetAttribute)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct mem *m;

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	m = mem__at(a[2]);
	if (m)
		result = attribute(PTR(0), U32(1), a[2], m);
	pthread_mutex_unlock(&sim.lock);
	return result;
}

/* Unlike the single form, an unknown pointer is no error: each attribute then reads as zero. */
SIM_IMPL(cuPointerGetAttributes)
{
	const CUpointer_attribute *which = PTR(1);
	void **data = PTR(2);
	struct mem *m;

	(void)api;
	if (!which || !data)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	m = mem__at(a[3]);
	for (uint32_t i = 0; i < U32(0); i++) {
		if (data[i])
			*(uint32_t *)data[i] = 0;
		if (m && data[i])
			attribute(data[i], which[i], a[3], m);
	}
	pthread_mutex_unlock(&sim.lock);
	return CUDA_SUCCESS;
}

static size_t element_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0;
	}
}

static int array_create(void **out, const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	struct array *array;
	int result;

	if (!ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!out || d->Width == 0 || d->NumChannels == 0 || d->NumChannels > 4 || !element_bytes(d->Format))
		return CUDA_ERROR_INVALID_VALUE;
	array = obj__new(OBJ_ARRAY);
	if (!array)
		return CUDA_ERROR_OUT_OF_MEMORY;
	array->row = d->Width * d->NumChannels * element_bytes(d->Format);
	array->height = d->Height ? d->Height : 1;
	array->depth = d->Depth ? d->Depth : 1;
	pthread_mutex_lock(&sim.lock);
	result = mem__alloc(MEM_ARRAY, array->row * array->height * array->depth, ctx__current(),
			    &array->mem);
	pthread_mutex_unlock(&sim.lock);
	if (result == CUDA_SUCCESS)
		*out = array;
	else
		obj__free(array);
	return result;
}

SIM_IMPL(cuArrayCreate)
{
	const CUDA_ARRAY_DESCRIPTOR *d = PTR(1);

	(void)api;
	if (!d)
		return CUDA_ERROR_INVALID_VALUE;
	return array_create(PTR(0), &(CUDA_ARRAY3D_DESCRIPTOR){ .Width = d->Width,
								.Height = d->Height,
								.Format = d->Format,
								.NumChannels = d->NumChannels });
}

SIM_IMPL(cuArray3DCreate)
{
	(void)api;
	return PTR(1) ? array_create(PTR(0), PTR(1)) : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuArrayDestroy)
{
	struct array *array;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	array = obj__get(a[0], OBJ_ARRAY);
	if (array) {
		mem__free(array->mem);
		obj__free(array);
	}
	pthread_mutex_unlock(&sim.lock);
	return array ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
