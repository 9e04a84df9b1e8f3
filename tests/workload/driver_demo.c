/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The driver API's many forms of the same things, each --rounds times: launches (plain, extended with a cluster,
 * cooperative), graphs captured and built by hand, copies of every shape and direction, sets of every width,
 * every kind of memory, events. Prints the exact counts, by symbol where the symbol is the point, as one line
 * of JSON.
 */
#include "drv.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#define COUNTERS(X)                                                                                          \
	X(launches_plain)                                                                                    \
	X(launches_ex)                                                                                       \
	X(launches_cooperative)                                                                              \
	X(launches_captured)                                                                                 \
	X(graph_launches)                                                                                    \
	X(graph_nodes)                                                                                       \
	X(copies_h2d)                                                                                        \
	X(copies_d2h)                                                                                        \
	X(copies_d2d)                                                                                        \
	X(copies_unified)                                                                                    \
	X(copies_2d)                                                                                         \
	X(copies_3d)                                                                                         \
	X(copies_array)                                                                                      \
	X(copies_batch)                                                                                      \
	X(copies_batch_items)                                                                                \
	X(copy_bytes)                                                                                        \
	X(sets)                                                                                              \
	X(sets_2d)                                                                                           \
	X(set_bytes)                                                                                         \
	X(allocs_device)                                                                                     \
	X(allocs_pitch)                                                                                      \
	X(allocs_managed)                                                                                    \
	X(allocs_host)                                                                                       \
	X(allocs_registered)                                                                                 \
	X(allocs_pool)                                                                                       \
	X(allocs_virtual)                                                                                    \
	X(frees)                                                                                             \
	X(failed_frees)                                                                                      \
	X(event_records)                                                                                     \
	X(syncs)                                                                                             \
	X(host_functions)

#define FIELD(name) uint64_t name;
static struct counts {
	COUNTERS(FIELD)
} c;

struct bench {
	CUcontext ctx;
	CUmodule module;
	CUfunction work, empty;
	CUstream stream;
	CUdeviceptr a, b;
	char *host;
};

#define BYTES (256u << 10)

static void launches(struct bench *t)
{
	unsigned n = BYTES / 4;
	float factor = 1.5f;
	void *args[] = { &t->a, &n, &factor };
	CUlaunchAttribute cluster = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
	CUlaunchConfig config = { .gridDimX = n / 256,
				  .gridDimY = 1,
				  .gridDimZ = 1,
				  .blockDimX = 256,
				  .blockDimY = 1,
				  .blockDimZ = 1,
				  .sharedMemBytes = 512,
				  .hStream = t->stream,
				  .attrs = &cluster,
				  .numAttrs = 1 };

	cluster.value.clusterDim.x = 2;
	cluster.value.clusterDim.y = 1;
	cluster.value.clusterDim.z = 1;
	CK(cuLaunchKernel(t->work, n / 128, 1, 1, 128, 1, 1, 256, t->stream, args, NULL));
	CK(cuLaunchKernel(t->empty, 2, 3, 4, 8, 4, 2, 0, t->stream, NULL, NULL));
	c.launches_plain += 2;
	CK(cuLaunchKernelEx(&config, t->work, args, NULL));
	c.launches_ex++;
	CK(cuLaunchCooperativeKernel(t->empty, 4, 1, 1, 64, 1, 1, 0, t->stream, NULL));
	c.launches_cooperative++;
}

static void replay(struct bench *t, CUgraph graph)
{
	CUgraphExec exec;
	size_t nodes = 0;

	CK(cuGraphGetNodes(graph, NULL, &nodes));
	c.graph_nodes += nodes;
	CK(cuGraphInstantiate(&exec, graph, 0));
	for (int i = 0; i < 3; i++)
		CK(cuGraphLaunch(exec, t->stream));
	c.graph_launches += 3;
	CK(cuStreamSynchronize(t->stream));
	c.syncs++;
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
}

static void graphs(struct bench *t)
{
	CUDA_KERNEL_NODE_PARAMS kernel = { .func = t->empty,
					   .gridDimX = 1,
					   .gridDimY = 1,
					   .gridDimZ = 1,
					   .blockDimX = 32,
					   .blockDimY = 1,
					   .blockDimZ = 1 };
	CUDA_MEMSET_NODE_PARAMS set = {
		.dst = t->b, .value = 7, .elementSize = 1, .width = 4096, .height = 1
	};
	CUgraphNode first, second;
	CUgraph graph;

	CK(cuStreamBeginCapture(t->stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	CK(cuLaunchKernel(t->empty, 1, 1, 1, 32, 1, 1, 0, t->stream, NULL, NULL));
	CK(cuLaunchKernel(t->empty, 2, 1, 1, 32, 1, 1, 0, t->stream, NULL, NULL));
	c.launches_plain += 2;
	c.launches_captured += 2;
	CK(cuStreamEndCapture(t->stream, &graph));
	replay(t, graph);
	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddMemsetNode(&first, graph, NULL, 0, &set, t->ctx));
	CK(cuGraphAddKernelNode(&second, graph, &first, 1, &kernel));
	replay(t, graph);
}

static void flat_copies(struct bench *t)
{
	CK(cuMemcpyHtoD(t->a, t->host, BYTES));
	CK(cuMemcpyHtoDAsync(t->a, t->host, BYTES, t->stream));
	c.copies_h2d += 2;
	CK(cuMemcpyDtoDAsync(t->b, t->a, BYTES, t->stream));
	c.copies_d2d++;
	CK(cuMemcpyDtoH(t->host, t->b, BYTES));
	CK(cuMemcpyDtoHAsync(t->host, t->b, 1024, t->stream));
	c.copies_d2h += 2;
	CK(cuMemcpyAsync(t->b, t->a, 2048, t->stream));
	c.copies_unified++;
	c.copy_bytes += 4 * BYTES + 1024 + 2048;
#if CUDA_VERSION >= 13000
	CUdeviceptr dsts[] = { t->b, t->b + 4096 }, srcs[] = { t->a, t->a + 4096 };
	CUmemcpyAttributes attr = { .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM };
	size_t sizes[] = { 100, 300 }, index = 0;

	CK(cuMemcpyBatchAsync(dsts, srcs, sizes, 2, &attr, &index, 1, t->stream));
	c.copies_batch++;
	c.copies_batch_items += 2;
	c.copy_bytes += 400;
#endif
}

static void shaped_copies(struct bench *t)
{
	CUDA_ARRAY_DESCRIPTOR desc = {
		.Width = 64, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1
	};
	CUDA_MEMCPY2D flat = { .srcMemoryType = CU_MEMORYTYPE_HOST,
			       .srcHost = t->host,
			       .srcPitch = 512,
			       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			       .dstDevice = t->a,
			       .dstPitch = 1024,
			       .WidthInBytes = 300,
			       .Height = 20 };
	CUDA_MEMCPY3D cube = { .srcMemoryType = CU_MEMORYTYPE_DEVICE,
			       .srcDevice = t->a,
			       .srcPitch = 256,
			       .srcHeight = 16,
			       .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			       .dstDevice = t->b,
			       .dstPitch = 256,
			       .dstHeight = 16,
			       .WidthInBytes = 100,
			       .Height = 10,
			       .Depth = 4 };
	CUarray array;

	CK(cuMemcpy2D(&flat));
	CK(cuMemcpy2DAsync(&flat, t->stream));
	c.copies_2d += 2;
	CK(cuMemcpy3D(&cube));
	CK(cuMemcpy3DAsync(&cube, t->stream));
	c.copies_3d += 2;
	c.copy_bytes += 2 * 300 * 20 + 2 * 100 * 10 * 4;
	CK(cuArrayCreate(&array, &desc));
	flat = (CUDA_MEMCPY2D){ .srcMemoryType = CU_MEMORYTYPE_HOST,
				.srcHost = t->host,
				.srcPitch = 256,
				.dstMemoryType = CU_MEMORYTYPE_ARRAY,
				.dstArray = array,
				.WidthInBytes = 256,
				.Height = 8 };
	CK(cuMemcpy2D(&flat));
	c.copies_2d++;
	CK(cuMemcpyAtoH(t->host, array, 0, 256));
	c.copies_array++;
	c.copy_bytes += 256 * 8 + 256;
	CK(cuArrayDestroy(array));
}

static void sets(struct bench *t)
{
	CK(cuMemsetD8(t->a, 1, 1000));
	CK(cuMemsetD16(t->a, 2, 1000));
	CK(cuMemsetD32(t->a, 3, 1000));
	CK(cuMemsetD8Async(t->a, 1, 500, t->stream));
	CK(cuMemsetD16Async(t->a, 2, 500, t->stream));
	CK(cuMemsetD32Async(t->a, 3, 500, t->stream));
	c.sets += 6;
	CK(cuMemsetD2D8(t->a, 512, 1, 100, 10));
	CK(cuMemsetD2D32(t->a, 512, 1, 100, 10));
	c.sets_2d += 2;
	c.set_bytes += 7000 + 3500 + 1000 + 4000;
}

static void virtual_memory(void)
{
	CUmemAllocationProp prop = { .type = CU_MEM_ALLOCATION_TYPE_PINNED,
				     .location = { .type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0 } };
	CUmemAccessDesc access = { .location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE };
	CUmemGenericAllocationHandle handle;
	CUdeviceptr range;
	size_t bytes;

	CK(cuMemGetAllocationGranularity(&bytes, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CK(cuMemAddressReserve(&range, bytes, 0, 0, 0));
	CK(cuMemCreate(&handle, bytes, &prop, 0));
	c.allocs_virtual++;
	CK(cuMemMap(range, bytes, 0, handle, 0));
	CK(cuMemSetAccess(range, bytes, &access, 1));
	CK(cuMemsetD8(range, 9, 4096));
	c.sets++;
	c.set_bytes += 4096;
	CK(cuMemUnmap(range, bytes));
	CK(cuMemRelease(handle));
	c.frees++;
	CK(cuMemAddressFree(range, bytes));
}

static void memory(struct bench *t)
{
	static char own[8192] __attribute__((aligned(4096)));
	CUdeviceptr p;
	size_t pitch;
	void *host;

	CK(cuMemAlloc(&p, 12345));
	c.allocs_device++;
	CK(cuMemFree(p));
	/* Not of any allocation: the driver refuses. */
	c.failed_frees += cuMemFree(p + 1) != CUDA_SUCCESS;
	CK(cuMemAllocPitch(&p, &pitch, 300, 20, 4));
	c.allocs_pitch++;
	CK(cuMemFree(p));
	CK(cuMemAllocManaged(&p, 1 << 20, CU_MEM_ATTACH_GLOBAL));
	c.allocs_managed++;
	CK(cuMemFree(p));
	CK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE));
	c.allocs_host++;
	CK(cuMemFreeHost(host));
	CK(cuMemHostRegister(own, sizeof(own), CU_MEMHOSTREGISTER_PORTABLE));
	c.allocs_registered++;
	CK(cuMemHostUnregister(own));
	CK(cuMemAllocAsync(&p, 65536, t->stream));
	c.allocs_pool++;
	CK(cuMemFreeAsync(p, t->stream));
	c.frees += 6;
	virtual_memory();
}

static void CUDA_CB count_one(void *n)
{
	__atomic_fetch_add((uint64_t *)n, 1, __ATOMIC_RELAXED);
}

static void events(struct bench *t)
{
	CUevent start, end;
	float ms;

	CK(cuEventCreate(&start, CU_EVENT_DEFAULT));
	CK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
	CK(cuEventRecord(start, t->stream));
	CK(cuLaunchKernel(t->empty, 1, 1, 1, 32, 1, 1, 0, t->stream, NULL, NULL));
	c.launches_plain++;
	CK(cuLaunchHostFunc(t->stream, count_one, &c.host_functions));
	CK(cuEventRecordWithFlags(end, t->stream, 0));
	c.event_records += 2;
	CK(cuEventSynchronize(end));
	CK(cuEventElapsedTime(&ms, start, end));
	CK(cuStreamSynchronize(t->stream));
	c.syncs += 2;
	CK(cuEventDestroy(start));
	CK(cuEventDestroy(end));
}

#define PRINT(name)                                                                                          \
	printf("%s\"" #name "\":%" PRIu64, comma, c.name);                                                   \
	comma = ",";

int main(int argc, char **argv)
{
	struct bench t = { 0 };
	const char *comma = "";
	long rounds = 3;

	if (argc == 3 && strcmp(argv[1], "--rounds") == 0) {
		rounds = atol(argv[2]);
	} else if (argc != 1) {
		fprintf(stderr, "usage: driver_demo [--rounds N]\n");
		return 2;
	}
	t.ctx = drv_start();
	t.work = drv_kernel(&t.module, "forward_layer");
	t.empty = drv_kernel(&t.module, "empty_kernel");
	CK(cuStreamCreate(&t.stream, CU_STREAM_NON_BLOCKING));
	CK(cuMemAlloc(&t.a, BYTES));
	CK(cuMemAlloc(&t.b, BYTES));
	c.allocs_device += 2;
	CK(cuMemAllocHost((void **)&t.host, BYTES));
	c.allocs_host++;
	memset(t.host, 1, BYTES);
	for (long i = 0; i < rounds; i++) {
		launches(&t);
		graphs(&t);
		flat_copies(&t);
		shaped_copies(&t);
		sets(&t);
		memory(&t);
		events(&t);
		CK(cuCtxSynchronize());
		c.syncs++;
	}
	CK(cuMemFree(t.a));
	CK(cuMemFree(t.b));
	CK(cuMemFreeHost(t.host));
	c.frees += 3;
	CK(cuStreamDestroy(t.stream));
	CK(cuModuleUnload(t.module));
	putchar('{');
	COUNTERS(PRINT)
	printf("}\n");
	return 0;
}
