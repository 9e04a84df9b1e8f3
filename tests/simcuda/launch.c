/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel launches: checked like the driver's, then only their time is simulated. */
#include "sim.h"

#include <string.h>

#define SHARED_MAX 232448u               /* bytes a block of an H200 can have */
#define RESIDENT_BLOCKS_MAX (132u * 32u) /* multiprocessors, and blocks of one */

struct shape {
	uint32_t gx, gy, gz, bx, by, bz, smem;
	bool cooperative;
	uint32_t cluster[3]; /* blocks of one; zeros: none */
};

static int check(const struct shape *s)
{
	uint64_t blocks = (uint64_t)s->gx * s->gy * s->gz;
	uint64_t cluster = (uint64_t)s->cluster[0] * s->cluster[1] * s->cluster[2];

	if (!blocks || s->gy > 65535 || s->gz > 65535 || s->gx > 2147483647u || s->smem > SHARED_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!s->bx || !s->by || !s->bz || s->bz > 64 || (uint64_t)s->bx * s->by * s->bz > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	if (cluster && (cluster > 16 || blocks % cluster))
		return 912; /* CUDA_ERROR_INVALID_CLUSTER_SIZE */
	if (s->cooperative && blocks > RESIDENT_BLOCKS_MAX)
		return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	return CUDA_SUCCESS;
}

static int launch(const struct sim_api *api, uint64_t func, uint64_t stream, const struct shape *shape)
{
	struct func *f = func__get(func);
	int result;
	struct stream *s;

	if (unlikely(!f))
		return CUDA_ERROR_INVALID_HANDLE;
	s = stream__resolve(api, stream, &result);
	if (unlikely(!s))
		return result;
	result = check(shape);
	if (unlikely(result != CUDA_SUCCESS))
		return result;
	if (unlikely(!f->loaded))
		func__load(f);
	if (unlikely(s->capture != NULL || sim_traced != NULL)) {
		struct op op = { .type = CU_GRAPH_NODE_TYPE_KERNEL,
				 .ns = f->ns,
				 .cooperative = shape->cooperative,
				 .cluster = { shape->cluster[0], shape->cluster[1], shape->cluster[2] } };

		op.kernel = (CUDA_KERNEL_NODE_PARAMS){ .func = (CUfunction)f,
						       .gridDimX = shape->gx,
						       .gridDimY = shape->gy,
						       .gridDimZ = shape->gz,
						       .blockDimX = shape->bx,
						       .blockDimY = shape->by,
						       .blockDimZ = shape->bz,
						       .sharedMemBytes = shape->smem };
		return stream__submit(s, &op, NULL);
	}
	if (!sim.fast)
		stream__push(s, f->ns);
	return CUDA_SUCCESS;
}

SIM_IMPL(cuLaunchKernel)
{
	struct shape s = { U32(1), U32(2), U32(3), U32(4), U32(5), U32(6), U32(7), false, { 0 } };

	return launch(api, a[0], a[8], &s);
}

SIM_IMPL(cuLaunchCooperativeKernel)
{
	struct shape s = { U32(1), U32(2), U32(3), U32(4), U32(5), U32(6), U32(7), true, { 0 } };

	return launch(api, a[0], a[8], &s);
}

SIM_IMPL(cuLaunchKernelEx)
{
	const CUlaunchConfig *c = PTR(0);
	struct shape s;

	if (!c || (c->numAttrs && !c->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	s = (struct shape){ c->gridDimX,  c->gridDimY,       c->gridDimZ, c->blockDimX, c->blockDimY,
			    c->blockDimZ, c->sharedMemBytes, false,       { 0 } };
	for (unsigned i = 0; i < c->numAttrs; i++) {
		const CUlaunchAttributeValue *v = &c->attrs[i].value;

		if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
			s.cooperative = v->cooperative != 0;
		else if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			memcpy(s.cluster, (uint32_t[]){ v->clusterDim.x, v->clusterDim.y, v->clusterDim.z },
			       sizeof(s.cluster));
	}
	return launch(api, a[1], (uintptr_t)c->hStream, &s);
}

SIM_IMPL(cuLaunchCooperativeKernelMultiDevice)
{
	SIM_UNUSED;
	return CUDA_ERROR_NOT_SUPPORTED;
}

static int legacy(const struct sim_api *api, const uint64_t *a, uint32_t gx, uint32_t gy, uint64_t stream)
{
	struct shape s = { gx, gy, 1, 1, 1, 1, 0, false, { 0 } };

	return launch(api, a[0], stream, &s);
}

SIM_IMPL(cuLaunch)
{
	return legacy(api, a, 1, 1, 0);
}

SIM_IMPL(cuLaunchGrid)
{
	return legacy(api, a, U32(1), U32(2), 0);
}

SIM_IMPL(cuLaunchGridAsync)
{
	return legacy(api, a, U32(1), U32(2), a[3]);
}

SIM_IMPL(cuLaunchHostFunc)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_HOST };
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !a[1])
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	op.host.fn = (CUhostFn)PTR(1);
	op.host.data = PTR(2);
	return stream__submit(s, &op, NULL);
}

SIM_IMPL(cuStreamAddCallback)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_HOST };
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !a[1] || U32(3) != 0)
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	if (s->capture)
		return capture__broken(s);
	op.host.callback = (CUstreamCallback)PTR(1);
	op.host.data = PTR(2);
	return stream__submit(s, &op, NULL);
}
