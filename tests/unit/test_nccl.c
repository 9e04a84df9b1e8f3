/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels of NCCL by name, as its releases call them. */
#include "../t.h"

#include "model/nccl.h"

static const char *kind(const char *name)
{
	const struct nccl_kind *k = nccl_kernel(name);

	return k ? k->name : "none";
}

static void is(const char *name, const char *wanted)
{
	CHECKF(strcmp(kind(name), wanted) == 0, "%s is %s, not %s", name, kind(name), wanted);
}

T(names_of_all_releases)
{
	is("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllReduce");
	is("ncclDevKernel_AllReduce_Sum_bf16_TREE_LL(ncclDevComm*, unsigned long, ncclWork*)", "AllReduce");
	is("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "AllGather");
	is("ncclDevKernel_ReduceScatter_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "ReduceScatter");
	is("ncclDevKernel_Reduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", "Reduce");
	is("ncclDevKernel_Broadcast_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "Broadcast");
	is("ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "SendRecv");
	is("ncclSymDevKernel_AllReduce_RSxLD_AGxST_sum_bf16(ncclSymDevArgs)", "AllReduce");
	is("ncclSymkDevKernel_AllGather_LL(ncclSymkDevWorkArgs)", "AllGather");
	is("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "AllReduce");
	is("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, unsigned long, ncclWork*)", "SendRecv");
	is("ncclAllReduceRingLLKernel_sum_f32(ncclColl)", "AllReduce");
	is("ncclSendRecvKernel_copy_i8(ncclColl)", "SendRecv");
	is("ncclReduceScatterRingLLKernel_sum_f32(ncclColl)", "ReduceScatter");
}

T(names_of_others)
{
	is("", "none");
	is("nccl", "none");
	is("ncclDevKernel_", "none");
	is("ncclDevKernel_AllReducer(int)", "none");
	is("ncclDevKernel_Something_else(int)", "none");
	is("ncclAllReduce", "none"); /* the library's own function */
	is("my_ncclDevKernel_AllReduce_Sum(int)", "none");
	is("void gemm<ncclDevKernel_AllReduce>(int)", "none");
}

T(who_waits_for_whom)
{
	CHECK(nccl_kernel("ncclDevKernel_AllReduce_x()")->of_all &&
	      nccl_kernel("ncclDevKernel_AllGather_x()")->of_all &&
	      nccl_kernel("ncclDevKernel_ReduceScatter_x()")->of_all);
	CHECK(!nccl_kernel("ncclDevKernel_Broadcast_x()")->of_all &&
	      !nccl_kernel("ncclDevKernel_Reduce_x()")->of_all);
	CHECK(nccl_kernel("ncclDevKernel_SendRecv()")->pairs &&
	      !nccl_kernel("ncclDevKernel_SendRecv()")->of_all);
}

TEST_MAIN
