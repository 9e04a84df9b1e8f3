/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches an empty kernel as fast as it can: what a probe costs shows as the difference of two runs. Prints
 * one line of JSON.
 *
 *   launchloop [--launches N] [--threads N] [--sync-every N] [--graph] [--wait] [--rest MS]
 *
 * --launches is per thread. --graph launches a graph of one kernel instead. --wait: ready, then starts when a
 * line comes on standard input, so that a recorder can attach first. --rest: a pause between the last launch and what follows.
 */
#include "drv.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct loop {
	CUcontext ctx;
	CUfunction func;
	CUgraphExec exec;
	uint64_t launches, sync_every, rest_ms;
	uint64_t ns;
	pthread_barrier_t *start;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void *run(void *arg)
{
	struct loop *l = arg;
	CUstream stream;
	uint64_t t;

	CK(cuCtxSetCurrent(l->ctx));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	pthread_barrier_wait(l->start);
	t = now();
	for (uint64_t i = 0; i < l->launches; i++) {
		if (l->exec)
			CK(cuGraphLaunch(l->exec, stream));
		else
			CK(cuLaunchKernel(l->func, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
		if (l->sync_every && (i + 1) % l->sync_every == 0)
			CK(cuStreamSynchronize(stream));
	}
	if (l->rest_ms)
		usleep((useconds_t)(l->rest_ms * 1000));
	CK(cuStreamSynchronize(stream));
	l->ns = now() - t;
	CK(cuStreamDestroy(stream));
	return NULL;
}

static CUgraphExec one_kernel_graph(CUfunction func)
{
	CUgraphExec exec;
	CUgraph graph;
	CUstream s;

	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	CK(cuLaunchKernel(func, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
	CK(cuStreamEndCapture(s, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphDestroy(graph));
	CK(cuStreamDestroy(s));
	return exec;
}

int main(int argc, char **argv)
{
	uint64_t launches = 1000000, sync_every = 0, rest_ms = 0, threads = 1, ns = 0;
	bool graph = false, wait = false;
	pthread_barrier_t start;
	CUmodule module = NULL;
	struct loop *loops;
	pthread_t *ids;
	CUcontext ctx;
	CUfunction f;

	for (int i = 1; i < argc; i++) {
		uint64_t *number = strcmp(argv[i], "--launches") == 0     ? &launches
				   : strcmp(argv[i], "--threads") == 0    ? &threads
				   : strcmp(argv[i], "--sync-every") == 0 ? &sync_every
				   : strcmp(argv[i], "--rest") == 0       ? &rest_ms
									  : NULL;

		if (number && i + 1 < argc) {
			*number = strtoull(argv[++i], NULL, 10);
		} else if (strcmp(argv[i], "--graph") == 0) {
			graph = true;
		} else if (strcmp(argv[i], "--wait") == 0) {
			wait = true;
		} else {
			fprintf(stderr, "usage: launchloop [--launches N] [--threads N] [--sync-every N] "
					"[--graph] [--wait] [--rest MS]\n");
			return 2;
		}
	}
	ctx = drv_start();
	f = drv_kernel(&module, "empty_kernel");
	loops = calloc(threads, sizeof(*loops));
	ids = calloc(threads, sizeof(*ids));
	if (!loops || !ids || !threads || pthread_barrier_init(&start, NULL, (unsigned)threads) != 0)
		return 1;
	if (wait) {
		fprintf(stderr, "launchloop: ready\n");
		getchar();
	}
	for (uint64_t i = 0; i < threads; i++) {
		loops[i] = (struct loop){
			.ctx = ctx,
			.func = f,
			.exec = graph ? one_kernel_graph(f) : NULL,
			.launches = launches,
			.sync_every = sync_every,
			.rest_ms = rest_ms,
			.start = &start,
		};
		if (i > 0 && pthread_create(&ids[i], NULL, run, &loops[i]) != 0)
			return 1;
	}
	run(&loops[0]);
	for (uint64_t i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(ids[i], NULL);
		ns = loops[i].ns > ns ? loops[i].ns : ns;
		if (loops[i].exec)
			CK(cuGraphExecDestroy(loops[i].exec));
	}
	/* The calls of the loops; --graph captured one more launch per thread. */
	printf("{\"launches\":%" PRIu64 ",\"threads\":%" PRIu64 ",\"ns\":%" PRIu64
	       ",\"ns_per_launch\":%.1f}\n",
	       launches * threads, threads, ns, launches ? (double)ns / (double)launches : 0.0);
	free(loops);
	free(ids);
	return 0;
}
