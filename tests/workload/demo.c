/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The demo workload: a small training-like loop on the CUDA runtime, in two threads. Each thread copies a batch
 * in, runs layers of two shapes, replays a captured graph, updates, and copies a loss out. It counts what it
 * asks for and prints the counts as one line of JSON at the end: calls, of which `captured` were recorded into
 * a graph instead of run.
 *
 *   demo [--steps N] [--sleep-ms N] [--quiet]
 */
#include <cuda_runtime_api.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels.h"

enum { FORWARD, BACKWARD, UPDATE, NORMALIZE, KERNELS };
static const char *const kernel_names[KERNELS] = { "forward_layer", "backward_layer", "sgd_update",
						   "_Z9normalizePfjf" };
enum { H2D, D2H, D2D, DIRECTIONS };
static const char *const direction_names[DIRECTIONS] = { "h2d", "d2h", "d2d" };
enum { DEVICE, HOST, MANAGED, POOL, MEMORIES };
static const char *const memory_names[MEMORIES] = { "device", "host", "managed", "pool" };

struct counts {
	uint64_t launches[KERNELS], captured_launches, graph_launches, graph_nodes;
	uint64_t copies[DIRECTIONS], bytes[DIRECTIONS];
	uint64_t sets, captured_sets, set_bytes;
	uint64_t allocs[MEMORIES], alloc_bytes[MEMORIES], frees[MEMORIES];
	uint64_t syncs, events;
};

#define N 65536u
#define BATCH_BYTES (N * sizeof(float))

struct trainer {
	int index;
	long steps, sleep_ms;
	bool quiet;
	cudaKernel_t kernels[KERNELS];
	struct counts c;
	cudaStream_t stream;
	cudaGraphExec_t exec;
	cudaEvent_t event;
	float *weights, *grads, *shared, *batch, *loss;
};

#define CK(call)                                                                                             \
	do {                                                                                                 \
		cudaError_t err_ = (call);                                                                   \
		if (err_ != cudaSuccess) {                                                                   \
			fprintf(stderr, "demo: %s: %s\n", #call, cudaGetErrorString(err_));                  \
			exit(1);                                                                             \
		}                                                                                            \
	} while (0)

static void launch(struct trainer *t, int kernel, float *p, unsigned n, unsigned block, bool captured)
{
	float factor = 0.5f;
	void *args[] = { &p, &n, &factor };
	dim3 grid = { (n + block - 1) / block, 1, 1 }, threads = { block, 1, 1 };

	CK(cudaLaunchKernel((const void *)t->kernels[kernel], grid, threads, args,
			    kernel == NORMALIZE ? 1024 : 0, t->stream));
	t->c.launches[kernel]++;
	t->c.captured_launches += captured;
}

static void copy(struct trainer *t, int direction, void *dst, const void *src, size_t bytes)
{
	static const enum cudaMemcpyKind kinds[DIRECTIONS] = { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
							       cudaMemcpyDeviceToDevice };

	CK(cudaMemcpyAsync(dst, src, bytes, kinds[direction], t->stream));
	t->c.copies[direction]++;
	t->c.bytes[direction] += bytes;
}

static void set(struct trainer *t, void *p, size_t bytes, bool captured)
{
	CK(cudaMemsetAsync(p, 0, bytes, t->stream));
	t->c.sets++;
	t->c.captured_sets += captured;
	t->c.set_bytes += captured ? 0 : bytes;
}

static void allocate(struct trainer *t, int memory, float **p, size_t bytes)
{
	if (memory == DEVICE)
		CK(cudaMalloc((void **)p, bytes));
	else if (memory == HOST)
		CK(cudaMallocHost((void **)p, bytes));
	else if (memory == MANAGED)
		CK(cudaMallocManaged((void **)p, bytes, cudaMemAttachGlobal));
	else
		CK(cudaMallocAsync((void **)p, bytes, t->stream));
	t->c.allocs[memory]++;
	t->c.alloc_bytes[memory] += bytes;
}

static void release(struct trainer *t, int memory, float *p)
{
	if (memory == HOST)
		CK(cudaFreeHost(p));
	else if (memory == POOL)
		CK(cudaFreeAsync(p, t->stream));
	else
		CK(cudaFree(p));
	t->c.frees[memory]++;
}

/* Three layers and the clearing of the gradients, captured once and replayed in every step. */
static void capture(struct trainer *t)
{
	cudaGraph_t graph;
	size_t nodes = 0;

	CK(cudaStreamBeginCapture(t->stream, cudaStreamCaptureModeThreadLocal));
	set(t, t->grads, BATCH_BYTES, true);
	launch(t, FORWARD, t->weights, N, 256, true);
	launch(t, FORWARD, t->weights, N / 4, 128, true);
	launch(t, BACKWARD, t->grads, N, 256, true);
	CK(cudaStreamEndCapture(t->stream, &graph));
	CK(cudaGraphGetNodes(graph, NULL, &nodes));
	t->c.graph_nodes += nodes;
	CK(cudaGraphInstantiate(&t->exec, graph, 0));
	CK(cudaGraphDestroy(graph));
}

static void step(struct trainer *t, long i)
{
	float *scratch;

	copy(t, H2D, t->shared, t->batch, BATCH_BYTES);
	allocate(t, POOL, &scratch, BATCH_BYTES / 2);
	launch(t, NORMALIZE, t->shared, N, 512, false);
	launch(t, FORWARD, t->weights, i % 2 ? N : N / 2, 256, false);
	CK(cudaGraphLaunch(t->exec, t->stream));
	t->c.graph_launches++;
	copy(t, D2D, t->grads, t->weights, BATCH_BYTES);
	launch(t, UPDATE, t->weights, N, 1024, false);
	set(t, scratch, BATCH_BYTES / 2, false);
	copy(t, D2H, t->loss, t->weights, sizeof(float));
	release(t, POOL, scratch);
	CK(cudaEventRecord(t->event, t->stream));
	t->c.events++;
	CK(cudaStreamSynchronize(t->stream));
	t->c.syncs++;
	if (!t->quiet && t->index == 0 && i % 100 == 0)
		fprintf(stderr, "demo: step %ld\n", i);
	if (t->sleep_ms > 0)
		nanosleep(&(struct timespec){ .tv_sec = t->sleep_ms / 1000,
					      .tv_nsec = t->sleep_ms % 1000 * 1000000 },
			  NULL);
}

static void *train(void *arg)
{
	struct trainer *t = arg;

	CK(cudaStreamCreateWithFlags(&t->stream, cudaStreamNonBlocking));
	CK(cudaEventCreateWithFlags(&t->event, cudaEventDisableTiming));
	allocate(t, DEVICE, &t->weights, BATCH_BYTES);
	allocate(t, DEVICE, &t->grads, BATCH_BYTES);
	allocate(t, MANAGED, &t->shared, BATCH_BYTES);
	allocate(t, HOST, &t->batch, BATCH_BYTES);
	allocate(t, HOST, &t->loss, 4096);
	memset(t->batch, 0, BATCH_BYTES);
	set(t, t->weights, BATCH_BYTES, false);
	capture(t);
	for (long i = 0; i < t->steps; i++)
		step(t, i);
	CK(cudaGraphExecDestroy(t->exec));
	release(t, DEVICE, t->weights);
	release(t, DEVICE, t->grads);
	release(t, MANAGED, t->shared);
	release(t, HOST, t->batch);
	release(t, HOST, t->loss);
	CK(cudaEventDestroy(t->event));
	CK(cudaStreamDestroy(t->stream));
	return NULL;
}

static void add_up(struct counts *sum, const struct counts *c)
{
	const uint64_t *from = (const uint64_t *)c;
	uint64_t *to = (uint64_t *)sum;

	for (size_t i = 0; i < sizeof(*c) / sizeof(uint64_t); i++)
		to[i] += from[i];
}

static void print_array(const char *key, const char *const *names, const uint64_t *values, int n)
{
	printf(",\"%s\":{", key);
	for (int i = 0; i < n; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", names[i], values[i]);
	printf("}");
}

static void print_counts(const struct counts *c, long steps)
{
	uint64_t launches = 0;

	for (int i = 0; i < KERNELS; i++)
		launches += c->launches[i];
	printf("{\"steps\":%ld,\"threads\":2,\"launches\":%" PRIu64 ",\"captured_launches\":%" PRIu64
	       ",\"graph_launches\":%" PRIu64 ",\"graph_nodes\":%" PRIu64,
	       steps, launches, c->captured_launches, c->graph_launches, c->graph_nodes);
	print_array("kernels", kernel_names, c->launches, KERNELS);
	print_array("copies", direction_names, c->copies, DIRECTIONS);
	print_array("copy_bytes", direction_names, c->bytes, DIRECTIONS);
	printf(",\"sets\":%" PRIu64 ",\"captured_sets\":%" PRIu64 ",\"set_bytes\":%" PRIu64, c->sets,
	       c->captured_sets, c->set_bytes);
	print_array("allocs", memory_names, c->allocs, MEMORIES);
	print_array("alloc_bytes", memory_names, c->alloc_bytes, MEMORIES);
	print_array("frees", memory_names, c->frees, MEMORIES);
	printf(",\"syncs\":%" PRIu64 ",\"events\":%" PRIu64 "}\n", c->syncs, c->events);
}

int main(int argc, char **argv)
{
	struct trainer t[2] = { { .index = 0, .steps = 200 } };
	struct counts sum = { 0 };
	cudaLibrary_t library;
	pthread_t other;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--steps") == 0 && i + 1 < argc) {
			t[0].steps = atol(argv[++i]);
		} else if (strcmp(argv[i], "--sleep-ms") == 0 && i + 1 < argc) {
			t[0].sleep_ms = atol(argv[++i]);
		} else if (strcmp(argv[i], "--quiet") == 0) {
			t[0].quiet = true;
		} else {
			fprintf(stderr, "usage: demo [--steps N] [--sleep-ms N] [--quiet]\n");
			return 2;
		}
	}
	CK(cudaSetDevice(0));
	CK(cudaLibraryLoadData(&library, workload_ptx, NULL, NULL, 0, NULL, NULL, 0));
	for (int k = 0; k < KERNELS; k++)
		CK(cudaLibraryGetKernel(&t[0].kernels[k], library, kernel_names[k]));
	t[1] = t[0];
	t[1].index = 1;
	if (pthread_create(&other, NULL, train, &t[1]) != 0) {
		fprintf(stderr, "demo: no second thread\n");
		return 1;
	}
	train(&t[0]);
	pthread_join(other, NULL);
	CK(cudaDeviceSynchronize());
	CK(cudaLibraryUnload(library));
	sum.syncs = 1;
	add_up(&sum, &t[0].c);
	add_up(&sum, &t[1].c);
	print_counts(&sum, t[0].steps);
	return 0;
}
