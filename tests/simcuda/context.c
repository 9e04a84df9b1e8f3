/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices and contexts. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEVICES_MAX 16
#define STACK_MAX 32

static struct ctx *primaries[DEVICES_MAX];
static struct obj *pools[DEVICES_MAX];

static __thread struct {
	uint64_t handles[STACK_MAX];
	unsigned depth;
} stack __attribute__((tls_model("initial-exec")));

struct ctx *ctx__current(void)
{
	return stack.depth ? obj__get(stack.handles[stack.depth - 1], OBJ_CTX) : NULL;
}

static bool bad_device(int device)
{
	return device < 0 || device >= DEVICES_MAX || (unsigned)device >= sim.devices;
}

/* SIMCUDA_CONTEXT_MS=N: a context takes so long to make, with the driver's lock held; until then nothing shows it. */
static _Atomic(pthread_t) making;

static void take_long(void)
{
	const char *ms = getenv("SIMCUDA_CONTEXT_MS");
	long n = ms ? atol(ms) : 0;

	making = pthread_self();
	if (n > 0)
		nanosleep(&(struct timespec){ .tv_sec = n / 1000, .tv_nsec = n % 1000 * 1000000 }, NULL);
}

bool ctx__made_elsewhere(void)
{
	pthread_t thread = making;

	return thread && !pthread_equal(thread, pthread_self());
}

static struct ctx *ctx__new(int device, unsigned flags)
{
	struct ctx *c = obj__new(OBJ_CTX);

	if (!c)
		return NULL;
	c->legacy = obj__new(OBJ_STREAM);
	if (!c->legacy) {
		obj__free(c);
		return NULL;
	}
	pthread_spin_init(&c->legacy->spin, PTHREAD_PROCESS_PRIVATE);
	c->legacy->legacy = true;
	c->legacy->ctx = c;
	c->device = device;
	c->flags = flags;
	return c;
}

/* With sim_driver_lock held for writing. */
static void ctx__free(struct ctx *c)
{
	struct stream *s = NULL;

	trace__context(2, c); /* CONTEXT_DESTROY_STARTING */
	pthread_mutex_lock(&sim.lock);
	ctx__drain(c);
	while ((s = obj__next(s, OBJ_STREAM)))
		if (s->ctx == c)
			obj__free(s);
	obj__free(c);
	pthread_mutex_unlock(&sim.lock);
}

struct ctx *ctx__primary(int device)
{
	return bad_device(device) ? NULL : primaries[device];
}

static int push(uint64_t handle)
{
	if (stack.depth == STACK_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	stack.handles[stack.depth++] = handle;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceGet)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(1)))
		return CUDA_ERROR_INVALID_DEVICE;
	*(int *)PTR(0) = I32(1);
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceGetCount)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	*(int *)PTR(0) = (int)sim.devices;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceGetName)
{
	(void)api;
	if (!PTR(0) || I32(1) <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(2)))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(PTR(0), (size_t)I32(1), "Simulated GPU %d", I32(2));
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceGetUuid)
{
	char *bytes = PTR(0);

	(void)api;
	if (!bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(1)))
		return CUDA_ERROR_INVALID_DEVICE;
	memcpy(bytes, "simulated-gpu-", 14);
	bytes[14] = (char)('0' + I32(1) / 10);
	bytes[15] = (char)('0' + I32(1) % 10);
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceTotalMem)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(1)))
		return CUDA_ERROR_INVALID_DEVICE;
	*(size_t *)PTR(0) = SIM_MEM_TOTAL;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceGetPCIBusId)
{
	(void)api;
	if (!PTR(0) || I32(1) <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(2)))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(PTR(0), (size_t)I32(1), "0000:%02X:00.0", 0x17 + I32(2));
	return CUDA_SUCCESS;
}

SIM_IMPL(cuDeviceCanAccessPeer)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(1)) || bad_device(I32(2)))
		return CUDA_ERROR_INVALID_DEVICE;
	*(int *)PTR(0) = I32(1) != I32(2);
	return CUDA_SUCCESS;
}

/* An H200's, where a program looks. */
static int device_attribute(uint32_t attribute)
{
	switch (attribute) {
	case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
		return 1024;
	case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
		return 64;
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
		return 2147483647;
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
	case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
		return 65535;
	case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
		return 49152;
	case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
		return 32;
	case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
		return 1980000;
	case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
		return 132;
	case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
		return 9;
	case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
	case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
	case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
	case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
	case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
	case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH:
		return 1;
	default:
		return 0;
	}
}

SIM_IMPL(cuDeviceGetAttribute)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(2)))
		return CUDA_ERROR_INVALID_DEVICE;
	*(int *)PTR(0) = device_attribute(U32(1));
	return CUDA_SUCCESS;
}

static int default_pool(const uint64_t *a)
{
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(I32(1)))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&sim.lock);
	if (!pools[I32(1)])
		pools[I32(1)] = obj__new(OBJ_POOL);
	*(void **)PTR(0) = pools[I32(1)];
	pthread_mutex_unlock(&sim.lock);
	return pools[I32(1)] ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuDeviceGetDefaultMemPool)
{
	(void)api;
	return default_pool(a);
}

SIM_IMPL(cuDeviceGetMemPool)
{
	(void)api;
	return default_pool(a);
}

SIM_IMPL(cuDevicePrimaryCtxRetain)
{
	int device = I32(1), result = CUDA_SUCCESS;
	struct ctx *made = NULL;

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_rwlock_wrlock(&sim_driver_lock);
	if (!primaries[device])
		take_long();
	pthread_mutex_lock(&sim.lock);
	if (!primaries[device]) {
		primaries[device] = ctx__new(device, 0);
		made = primaries[device];
		if (made)
			made->primary = true;
		else
			result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (result == CUDA_SUCCESS) {
		primaries[device]->retained++;
		*(void **)PTR(0) = primaries[device];
	}
	pthread_mutex_unlock(&sim.lock);
	if (made)
		trace__context(1, made); /* CONTEXT_CREATED */
	making = 0;
	pthread_rwlock_unlock(&sim_driver_lock);
	return result;
}

static int primary_drop(int device, bool reset)
{
	struct ctx *c;
	bool last;

	if (bad_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_rwlock_wrlock(&sim_driver_lock);
	pthread_mutex_lock(&sim.lock);
	c = primaries[device];
	last = c && (reset || --c->retained == 0);
	if (last)
		primaries[device] = NULL;
	pthread_mutex_unlock(&sim.lock);
	if (last)
		ctx__free(c);
	pthread_rwlock_unlock(&sim_driver_lock);
	return c || reset ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_IMPL(cuDevicePrimaryCtxRelease)
{
	(void)api;
	return primary_drop(I32(0), false);
}

SIM_IMPL(cuDevicePrimaryCtxReset)
{
	(void)api;
	return primary_drop(I32(0), true);
}

SIM_IMPL(cuDevicePrimaryCtxGetState)
{
	(void)api;
	if (bad_device(I32(0)))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!PTR(1) || !PTR(2))
		return CUDA_ERROR_INVALID_VALUE;
	*(unsigned *)PTR(1) = primaries[I32(0)] ? primaries[I32(0)]->flags : 0;
	*(int *)PTR(2) = primaries[I32(0)] != NULL;
	return CUDA_SUCCESS;
}

static int ctx_create(uint64_t *out, unsigned flags, int device)
{
	struct ctx *c;

	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	if (bad_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_rwlock_wrlock(&sim_driver_lock);
	take_long();
	pthread_mutex_lock(&sim.lock);
	c = ctx__new(device, flags);
	pthread_mutex_unlock(&sim.lock);
	if (c)
		trace__context(1, c); /* CONTEXT_CREATED */
	making = 0;
	pthread_rwlock_unlock(&sim_driver_lock);
	if (!c)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (uintptr_t)c;
	return push((uintptr_t)c);
}

SIM_IMPL(cuCtxCreate)
{
	(void)api;
	return ctx_create(PTR(0), U32(1), I32(2));
}

SIM_IMPL(cuCtxCreate_v3)
{
	(void)api;
	return ctx_create(PTR(0), U32(3), I32(4));
}

SIM_IMPL(cuCtxCreate_v4)
{
	(void)api;
	return ctx_create(PTR(0), U32(2), I32(3));
}

SIM_IMPL(cuCtxDestroy)
{
	struct ctx *c = obj__get(a[0], OBJ_CTX);

	(void)api;
	if (!c || c->primary)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (stack.depth && stack.handles[stack.depth - 1] == a[0])
		stack.depth--;
	pthread_rwlock_wrlock(&sim_driver_lock);
	ctx__free(c);
	pthread_rwlock_unlock(&sim_driver_lock);
	return CUDA_SUCCESS;
}

SIM_IMPL(cuCtxSetCurrent)
{
	(void)api;
	if (a[0] && !obj__get(a[0], OBJ_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	if (stack.depth)
		stack.depth--;
	return a[0] ? push(a[0]) : CUDA_SUCCESS;
}

SIM_IMPL(cuCtxPushCurrent)
{
	(void)api;
	return obj__get(a[0], OBJ_CTX) ? push(a[0]) : CUDA_ERROR_INVALID_CONTEXT;
}

SIM_IMPL(cuCtxPopCurrent)
{
	(void)api;
	if (!stack.depth)
		return CUDA_ERROR_INVALID_CONTEXT;
	stack.depth--;
	if (PTR(0))
		*(uint64_t *)PTR(0) = stack.handles[stack.depth];
	return CUDA_SUCCESS;
}

SIM_IMPL(cuCtxGetCurrent)
{
	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	*(void **)PTR(0) = ctx__current();
	return CUDA_SUCCESS;
}

SIM_IMPL(cuCtxGetDevice)
{
	struct ctx *c = ctx__current();

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	*(int *)PTR(0) = c->device;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuCtxGetFlags)
{
	struct ctx *c = ctx__current();

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	*(unsigned *)PTR(0) = c->flags;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuCtxGetStreamPriorityRange)
{
	(void)api;
	if (PTR(0))
		*(int *)PTR(0) = 0;
	if (PTR(1))
		*(int *)PTR(1) = -5;
	return CUDA_SUCCESS;
}

static int ctx_synchronize(struct ctx *c)
{
	int result;

	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	result = capture__forbid();
	if (result == CUDA_SUCCESS)
		ctx__drain(c);
	return result;
}

SIM_IMPL(cuCtxSynchronize)
{
	SIM_UNUSED;
	return ctx_synchronize(ctx__current());
}

SIM_IMPL(cuCtxSynchronize_v2)
{
	(void)api;
	return ctx_synchronize(a[0] ? obj__get(a[0], OBJ_CTX) : ctx__current());
}
