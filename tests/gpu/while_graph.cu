/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * C24: launches of a graph whose body runs until the device says stop (a conditional WHILE node), before and after a
 * recorder came: while_graph LAUNCHES TURNS. Ready, then half of the launches; the rest when a line comes on standard
 * input. Prints one line of JSON: what it launched and how often the body ran, as the device counted.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CK(call)                                                                                             \
	do {                                                                                                 \
		cudaError_t e_ = (call);                                                                     \
		if (e_ != cudaSuccess) {                                                                     \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e_));                          \
			return 1;                                                                            \
		}                                                                                            \
	} while (0)

__global__ void body(unsigned long long *ran, int turns, cudaGraphConditionalHandle handle)
{
	unsigned long long n = ++*ran;

	cudaGraphSetConditional(handle, n % turns != 0);
}

static int launch(cudaGraphExec_t exec, cudaStream_t stream, int n)
{
	for (int i = 0; i < n; i++)
		CK(cudaGraphLaunch(exec, stream));
	CK(cudaStreamSynchronize(stream));
	return 0;
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 100, turns = argc > 2 ? atoi(argv[2]) : 5;
	cudaGraphNodeParams loop = {}, kernel = {};
	unsigned long long *ran, count;
	cudaGraphConditionalHandle handle;
	cudaGraphNode_t node, inner;
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CK(cudaMalloc(&ran, sizeof(*ran)));
	CK(cudaMemset(ran, 0, sizeof(*ran)));
	CK(cudaStreamCreate(&stream));
	CK(cudaGraphCreate(&graph, 0));
	CK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
	loop.type = cudaGraphNodeTypeConditional;
	loop.conditional.handle = handle;
	loop.conditional.type = cudaGraphCondTypeWhile;
	loop.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CK(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &loop));
#else
	CK(cudaGraphAddNode(&node, graph, nullptr, 0, &loop));
#endif
	void *args[] = { &ran, &turns, &handle };
	kernel.type = cudaGraphNodeTypeKernel;
	kernel.kernel.func = (void *)body;
	kernel.kernel.gridDim = dim3(1);
	kernel.kernel.blockDim = dim3(1);
	kernel.kernel.kernelParams = args;
#if CUDART_VERSION >= 13000
	CK(cudaGraphAddNode(&inner, loop.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel));
#else
	CK(cudaGraphAddNode(&inner, loop.conditional.phGraph_out[0], nullptr, 0, &kernel));
#endif
	CK(cudaGraphInstantiate(&exec, graph, 0));
	if (launch(exec, stream, launches / 2))
		return 1;
	fprintf(stderr, "while_graph: ready\n");
	getchar();
	if (launch(exec, stream, launches - launches / 2))
		return 1;
	CK(cudaMemcpy(&count, ran, sizeof(count), cudaMemcpyDeviceToHost));
	printf("{\"launches\":%d,\"turns\":%d,\"body\":%llu,\"ok\":%s}\n", launches, turns, count,
	       count == (unsigned long long)launches * turns ? "true" : "false");
	return 0;
}
