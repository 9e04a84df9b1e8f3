/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies and sets: each becomes one operation of a stream, or a node of a graph that is being captured. */
#include "sim.h"

#include <string.h>

/* Which sides of a flat copy must be memory that CUDA knows. */
enum { DST_DEVICE = 1, SRC_DEVICE = 2 };

static bool side_valid(uint64_t ptr, size_t bytes, bool device)
{
	return ptr && mem__valid(ptr, bytes, device);
}

/* Submits, and waits where the call is a synchronous one. */
static int submit(const struct sim_api *api, uint64_t stream, bool wait, const struct op *op)
{
	int result;
	struct stream *s = stream__resolve(api, stream, &result);
	uint64_t end;

	if (!s)
		return result;
	if (wait) {
		result = capture__forbid();
		if (result != CUDA_SUCCESS)
			return result;
		if (s->capture)
			return capture__broken(s);
	}
	result = stream__submit(s, op, &end);
	if (wait && result == CUDA_SUCCESS)
		sim_wait_until(end);
	return result;
}

static int flat(const struct sim_api *api, uint64_t dst, uint64_t src, size_t bytes, unsigned sides,
		uint64_t stream, bool wait)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEMCPY,
			 .ns = op__copy_ns(bytes),
			 .copy = { .dst = dst, .src = src, .width = bytes, .height = 1, .depth = 1 } };
	bool valid;

	if (!ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (bytes == 0)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&sim.lock);
	valid = side_valid(dst, bytes, sides & DST_DEVICE) && side_valid(src, bytes, sides & SRC_DEVICE);
	pthread_mutex_unlock(&sim.lock);
	return valid ? submit(api, stream, wait, &op) : CUDA_ERROR_INVALID_VALUE;
}

/* The unified copies take any address: what CUDA does not know is pageable host memory. */
static unsigned unified_sides(uint64_t dst, uint64_t src)
{
	unsigned sides;

	pthread_mutex_lock(&sim.lock);
	sides = (mem__at(dst) ? DST_DEVICE : 0) | (mem__at(src) ? SRC_DEVICE : 0);
	pthread_mutex_unlock(&sim.lock);
	return sides;
}

SIM_IMPL(cuMemcpy)
{
	return flat(api, a[0], a[1], a[2], unified_sides(a[0], a[1]), 0, true);
}

SIM_IMPL(cuMemcpyAsync)
{
	return flat(api, a[0], a[1], a[2], unified_sides(a[0], a[1]), a[3], false);
}

SIM_IMPL(cuMemcpyHtoD)
{
	return flat(api, a[0], a[1], a[2], DST_DEVICE, 0, true);
}

SIM_IMPL(cuMemcpyHtoDAsync)
{
	return flat(api, a[0], a[1], a[2], DST_DEVICE, a[3], false);
}

SIM_IMPL(cuMemcpyDtoH)
{
	return flat(api, a[0], a[1], a[2], SRC_DEVICE, 0, true);
}

SIM_IMPL(cuMemcpyDtoHAsync)
{
	return flat(api, a[0], a[1], a[2], SRC_DEVICE, a[3], false);
}

SIM_IMPL(cuMemcpyDtoD)
{
	return flat(api, a[0], a[1], a[2], DST_DEVICE | SRC_DEVICE, 0, false);
}

SIM_IMPL(cuMemcpyDtoDAsync)
{
	return flat(api, a[0], a[1], a[2], DST_DEVICE | SRC_DEVICE, a[3], false);
}

SIM_IMPL(cuMemcpyPeer)
{
	if (!obj__get(a[1], OBJ_CTX) || !obj__get(a[3], OBJ_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	return flat(api, a[0], a[2], a[4], DST_DEVICE | SRC_DEVICE, 0, false);
}

SIM_IMPL(cuMemcpyPeerAsync)
{
	if (!obj__get(a[1], OBJ_CTX) || !obj__get(a[3], OBJ_CTX))
		return CUDA_ERROR_INVALID_CONTEXT;
	return flat(api, a[0], a[2], a[4], DST_DEVICE | SRC_DEVICE, a[5], false);
}

/* Address of an offset into an array; 0: no such array, or beyond it. */
static uint64_t array_at(uint64_t handle, size_t offset, size_t bytes)
{
	struct array *array = obj__get(handle, OBJ_ARRAY);

	if (!array || offset > array->mem->bytes || bytes > array->mem->bytes - offset)
		return 0;
	return array->mem->base + offset;
}

SIM_IMPL(cuMemcpyHtoA)
{
	return flat(api, array_at(a[0], a[1], a[3]), a[2], a[3], DST_DEVICE, 0, true);
}

SIM_IMPL(cuMemcpyHtoAAsync)
{
	return flat(api, array_at(a[0], a[1], a[3]), a[2], a[3], DST_DEVICE, a[4], false);
}

SIM_IMPL(cuMemcpyAtoH)
{
	return flat(api, a[0], array_at(a[1], a[2], a[3]), a[3], SRC_DEVICE, 0, true);
}

SIM_IMPL(cuMemcpyAtoHAsync)
{
	return flat(api, a[0], array_at(a[1], a[2], a[3]), a[3], SRC_DEVICE, a[4], false);
}

SIM_IMPL(cuMemcpyDtoA)
{
	return flat(api, array_at(a[0], a[1], a[3]), a[2], a[3], DST_DEVICE | SRC_DEVICE, 0, false);
}

SIM_IMPL(cuMemcpyAtoD)
{
	return flat(api, a[0], array_at(a[1], a[2], a[3]), a[3], DST_DEVICE | SRC_DEVICE, 0, false);
}

SIM_IMPL(cuMemcpyAtoA)
{
	return flat(api, array_at(a[0], a[1], a[4]), array_at(a[2], a[3], a[4]), a[4],
		    DST_DEVICE | SRC_DEVICE, 0, false);
}

/* ---- two and three dimensions ---- */
struct side {
	CUmemorytype type;
	uint64_t host, device, array;
	size_t x, y, z, pitch, height;
};

/* The first byte, and the distances of rows and slices. 0: CUDA_SUCCESS */
static int side_resolve(const struct side *s, const CUDA_MEMCPY3D *c, uint64_t *at, size_t *pitch,
			size_t *slice)
{
	struct array *array;
	uint64_t start = s->type == CU_MEMORYTYPE_HOST ? s->host : s->device;
	size_t height = s->height ? s->height : s->y + c->Height, last;
	bool device = s->type == CU_MEMORYTYPE_DEVICE;

	*pitch = s->pitch ? s->pitch : s->x + c->WidthInBytes;
	if (s->type == CU_MEMORYTYPE_ARRAY) {
		array = obj__get(s->array, OBJ_ARRAY);
		if (!array || s->x + c->WidthInBytes > array->row || s->y + c->Height > array->height ||
		    s->z + c->Depth > array->depth)
			return CUDA_ERROR_INVALID_VALUE;
		start = array->mem->base;
		*pitch = array->row;
		height = array->height;
		device = true;
	} else if (s->type == CU_MEMORYTYPE_UNIFIED) {
		device = mem__at(start) != NULL;
	}
	if (*pitch < s->x + c->WidthInBytes)
		return CUDA_ERROR_INVALID_VALUE;
	*slice = *pitch * height;
	*at = start + s->z * *slice + s->y * *pitch + s->x;
	last = (c->Depth - 1) * *slice + (c->Height - 1) * *pitch + c->WidthInBytes;
	return start && mem__valid(*at, last, device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static int resolve_3d(const CUDA_MEMCPY3D *c, struct op *op)
{
	struct side src = { c->srcMemoryType, (uintptr_t)c->srcHost,
			    c->srcDevice,     (uintptr_t)c->srcArray,
			    c->srcXInBytes,   c->srcY,
			    c->srcZ,          c->srcPitch,
			    c->srcHeight };
	struct side dst = { c->dstMemoryType, (uintptr_t)c->dstHost,
			    c->dstDevice,     (uintptr_t)c->dstArray,
			    c->dstXInBytes,   c->dstY,
			    c->dstZ,          c->dstPitch,
			    c->dstHeight };
	struct op_copy *o = &op->copy;
	int result;

	*op = (struct op){ .type = CU_GRAPH_NODE_TYPE_MEMCPY,
			   .ns = op__copy_ns(c->WidthInBytes * c->Height * c->Depth),
			   .copy = { .width = c->WidthInBytes, .height = c->Height, .depth = c->Depth } };
	if (c->WidthInBytes == 0 || c->Height == 0 || c->Depth == 0)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&sim.lock);
	result = side_resolve(&src, c, &o->src, &o->spitch, &o->sslice);
	if (result == CUDA_SUCCESS)
		result = side_resolve(&dst, c, &o->dst, &o->dpitch, &o->dslice);
	pthread_mutex_unlock(&sim.lock);
	return result;
}

static int copy_3d(const struct sim_api *api, const CUDA_MEMCPY3D *c, uint64_t stream, bool wait)
{
	struct op op;
	int result;

	if (!ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	result = resolve_3d(c, &op);
	return result == CUDA_SUCCESS ? submit(api, stream, wait, &op) : result;
}

static int copy_2d(const struct sim_api *api, const CUDA_MEMCPY2D *c, uint64_t stream, bool wait)
{
	CUDA_MEMCPY3D c3;

	if (!c)
		return CUDA_ERROR_INVALID_VALUE;
	c3 = (CUDA_MEMCPY3D){ .srcXInBytes = c->srcXInBytes,
			      .srcY = c->srcY,
			      .srcMemoryType = c->srcMemoryType,
			      .srcHost = c->srcHost,
			      .srcDevice = c->srcDevice,
			      .srcArray = c->srcArray,
			      .srcPitch = c->srcPitch,
			      .dstXInBytes = c->dstXInBytes,
			      .dstY = c->dstY,
			      .dstMemoryType = c->dstMemoryType,
			      .dstHost = c->dstHost,
			      .dstDevice = c->dstDevice,
			      .dstArray = c->dstArray,
			      .dstPitch = c->dstPitch,
			      .WidthInBytes = c->WidthInBytes,
			      .Height = c->Height,
			      .Depth = 1 };
	return copy_3d(api, &c3, stream, wait);
}

SIM_IMPL(cuMemcpy2D_v2)
{
	return copy_2d(api, PTR(0), 0, true);
}

SIM_IMPL(cuMemcpy2DUnaligned_v2)
{
	return copy_2d(api, PTR(0), 0, true);
}

SIM_IMPL(cuMemcpy2DAsync_v2)
{
	return copy_2d(api, PTR(0), a[1], false);
}

SIM_IMPL(cuMemcpy3D_v2)
{
	return copy_3d(api, PTR(0), 0, true);
}

SIM_IMPL(cuMemcpy3DAsync_v2)
{
	return copy_3d(api, PTR(0), a[1], false);
}

/* The peer form has the same layout; the contexts in it do not matter to one address space. */
SIM_IMPL(cuMemcpy3DPeer)
{
	return copy_3d(api, PTR(0), 0, false);
}

SIM_IMPL(cuMemcpy3DPeerAsync)
{
	return copy_3d(api, PTR(0), a[1], false);
}

static int batch(const struct sim_api *api, const uint64_t *a, uint64_t stream)
{
	const uint64_t *dsts = PTR(0), *srcs = PTR(1), *sizes = PTR(2);
	int result = CUDA_SUCCESS;

	if (!dsts || !srcs || !sizes || a[3] == 0 || !PTR(4) || !PTR(5) || a[6] == 0)
		return CUDA_ERROR_INVALID_VALUE;
	/* Batches have no legacy stream to go to. */
	if (stream == 0 && !(api->flags & SIM_API_PER_THREAD))
		return CUDA_ERROR_INVALID_VALUE;
	for (uint64_t i = 0; i < a[3] && result == CUDA_SUCCESS; i++)
		result = flat(api, dsts[i], srcs[i], sizes[i], unified_sides(dsts[i], srcs[i]), stream,
			      false);
	return result;
}

SIM_IMPL(cuMemcpyBatchAsync)
{
	return batch(api, a, a[8]);
}

SIM_IMPL(cuMemcpyBatchAsync_v2)
{
	return batch(api, a, a[7]);
}

int op__from_memcpy3d(const CUDA_MEMCPY3D *c, struct op *op)
{
	return resolve_3d(c, op);
}

/* ---- sets ---- */
static int set(const struct sim_api *api, uint64_t dst, size_t pitch, uint32_t value, uint32_t element,
	       size_t width, size_t height, uint64_t stream)
{
	size_t bytes = height ? (height - 1) * pitch + width * element : 0;
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEMSET,
			 .ns = 500 + width * height * element / 1000,
			 .set = { dst, pitch, value, element, width, height } };
	bool valid;

	if (!ctx__current())
		return CUDA_ERROR_INVALID_CONTEXT;
	if (dst % element || (height > 1 && pitch < width * element))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	valid = bytes == 0 || side_valid(dst, bytes, true);
	pthread_mutex_unlock(&sim.lock);
	return valid ? submit(api, stream, false, &op) : CUDA_ERROR_INVALID_VALUE;
}

#define SETS(bits, cut)                                                                                      \
	SIM_IMPL(cuMemsetD##bits)                                                                            \
	{                                                                                                    \
		return set(api, a[0], 0, (cut)a[1], bits / 8, a[2], 1, 0);                                   \
	}                                                                                                    \
	SIM_IMPL(cuMemsetD##bits##Async)                                                                     \
	{                                                                                                    \
		return set(api, a[0], 0, (cut)a[1], bits / 8, a[2], 1, a[3]);                                \
	}                                                                                                    \
	SIM_IMPL(cuMemsetD2D##bits)                                                                          \
	{                                                                                                    \
		return set(api, a[0], a[1], (cut)a[2], bits / 8, a[3], a[4], 0);                             \
	}                                                                                                    \
	SIM_IMPL(cuMemsetD2D##bits##Async)                                                                   \
	{                                                                                                    \
		return set(api, a[0], a[1], (cut)a[2], bits / 8, a[3], a[4], a[5]);                          \
	}

SETS(8, uint8_t)
SETS(16, uint16_t)
SETS(32, uint32_t)
