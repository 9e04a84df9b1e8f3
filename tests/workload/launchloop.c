/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches an empty kernel as fast as it can: what a probe costs shows as the difference of two runs. Prints
 * one line of JSON.
 *
 *   launchloop [--launches N] [--threads N] [--sync-every N] [--graph] [--nodes N] [--wait] [--rest MS]
 *	      [--rounds N] [--latency] [--step]
 *
 * --launches is per thread. --graph launches a graph of --nodes kernels (1) instead. --rounds: all of it so many times,
 * each round with its own time per launch. --latency: how long the calls of the first thread took. --wait: ready, then starts when a
 * line comes on standard input, so that a recorder can attach first. --step: a round for each such line, until their end.
 * --rest: a pause between the last launch and what follows.
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
	uint64_t delay; /* of it waiting for a processor, by the kernel's own account; 0 where it has none */
	uint64_t *took; /* of each call; NULL: not wanted */
	pthread_barrier_t *start;
};

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t run_delay(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	uint64_t delay = 0;

	if (f && fscanf(f, "%*u %" SCNu64, &delay) != 1)
		delay = 0;
	if (f)
		fclose(f);
	return delay;
}

static void *run(void *arg)
{
	struct loop *l = arg;
	CUstream stream;
	uint64_t t, delay;

	CK(cuCtxSetCurrent(l->ctx));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	pthread_barrier_wait(l->start);
	delay = run_delay();
	t = now();
	for (uint64_t i = 0; i < l->launches; i++) {
		uint64_t before = l->took ? now() : 0;

		if (l->exec)
			CK(cuGraphLaunch(l->exec, stream));
		else
			CK(cuLaunchKernel(l->func, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
		if (l->took)
			l->took[i] = now() - before;
		if (l->sync_every && (i + 1) % l->sync_every == 0)
			CK(cuStreamSynchronize(stream));
	}
	if (l->rest_ms)
		usleep((useconds_t)(l->rest_ms * 1000));
	CK(cuStreamSynchronize(stream));
	l->ns = now() - t;
	l->delay = run_delay() - delay;
	CK(cuStreamDestroy(stream));
	return NULL;
}

static CUgraphExec kernel_graph(CUfunction func, uint64_t nodes)
{
	CUgraphExec exec;
	CUgraph graph;
	CUstream s;

	CK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	for (uint64_t i = 0; i < nodes; i++)
		CK(cuLaunchKernel(func, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
	CK(cuStreamEndCapture(s, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphDestroy(graph));
	CK(cuStreamDestroy(s));
	return exec;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct settings {
	uint64_t launches, sync_every, rest_ms, threads, nodes, rounds;
	bool graph, wait, latency, step;
};

static int parse(int argc, char **argv, struct settings *o)
{
	const struct {
		const char *name;
		uint64_t *number;
		bool *flag;
	} known[] = {
		{ "--launches", &o->launches, NULL },     { "--threads", &o->threads, NULL },
		{ "--sync-every", &o->sync_every, NULL }, { "--rest", &o->rest_ms, NULL },
		{ "--nodes", &o->nodes, NULL },           { "--rounds", &o->rounds, NULL },
		{ "--graph", NULL, &o->graph },           { "--wait", NULL, &o->wait },
		{ "--latency", NULL, &o->latency },       { "--step", NULL, &o->step },
	};

	for (int i = 1; i < argc; i++) {
		size_t k = 0;

		while (k < sizeof(known) / sizeof(known[0]) && strcmp(argv[i], known[k].name) != 0)
			k++;
		if (k == sizeof(known) / sizeof(known[0]) || (known[k].number && i + 1 == argc))
			return -1;
		if (known[k].flag)
			*known[k].flag = true;
		else
			*known[k].number = strtoull(argv[++i], NULL, 10);
	}
	return o->threads ? 0 : -1;
}

/* The time of the slowest thread. */
static uint64_t one_round(struct loop *loops, pthread_t *ids, uint64_t threads)
{
	uint64_t ns = 0;

	for (uint64_t i = 1; i < threads; i++) {
		if (pthread_create(&ids[i], NULL, run, &loops[i]) != 0)
			exit(1);
	}
	run(&loops[0]);
	for (uint64_t i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(ids[i], NULL);
		ns = loops[i].ns > ns ? loops[i].ns : ns;
	}
	return ns;
}

/* False: no more. */
static bool wait_for_line(void)
{
	int c;

	while ((c = getchar()) != EOF && c != '\n')
		;
	return c != EOF;
}

/* The calls of the loops; --graph captured more, --nodes per thread. */
static void print(const struct settings *o, uint64_t ns, const struct loop *loops)
{
	uint64_t *took = loops[0].took, delay = 0;

	for (uint64_t i = 0; i < o->threads; i++)
		delay += loops[i].delay;
	printf("{\"launches\":%" PRIu64 ",\"threads\":%" PRIu64 ",\"ns\":%" PRIu64
	       ",\"run_delay_ns\":%" PRIu64 ",\"ns_per_launch\":%.1f",
	       o->launches * o->threads, o->threads, ns, delay,
	       o->launches ? (double)ns / (double)o->launches : 0.0);
	if (took && o->launches) {
		qsort(took, o->launches, sizeof(*took), by_value);
		printf(",\"call_ns\":{\"p50\":%" PRIu64 ",\"p99\":%" PRIu64 ",\"p999\":%" PRIu64
		       ",\"max\":%" PRIu64 "}",
		       took[o->launches / 2], took[o->launches * 99 / 100], took[o->launches * 999 / 1000],
		       took[o->launches - 1]);
	}
	printf("}\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct settings o = { .launches = 1000000, .threads = 1, .nodes = 1, .rounds = 1 };
	pthread_barrier_t start;
	CUmodule module = NULL;
	struct loop *loops;
	pthread_t *ids;
	CUcontext ctx;
	CUfunction f;

	if (parse(argc, argv, &o)) {
		fprintf(stderr,
			"usage: launchloop [--launches N] [--threads N] [--sync-every N] [--graph] [--nodes N] "
			"[--wait] [--rest MS] [--rounds N] [--latency] [--step]\n");
		return 2;
	}
	ctx = drv_start();
	f = drv_kernel(&module, "empty_kernel");
	loops = calloc(o.threads, sizeof(*loops));
	ids = calloc(o.threads, sizeof(*ids));
	if (!loops || !ids || pthread_barrier_init(&start, NULL, (unsigned)o.threads) != 0)
		return 1;
	if (o.latency)
		loops[0].took = calloc(o.launches + 1, sizeof(uint64_t));
	if (o.wait || o.step)
		fprintf(stderr, "launchloop: ready\n");
	if (o.wait)
		wait_for_line();
	for (uint64_t i = 0; i < o.threads; i++) {
		loops[i].ctx = ctx;
		loops[i].func = f;
		loops[i].exec = o.graph ? kernel_graph(f, o.nodes) : NULL;
		loops[i].launches = o.launches;
		loops[i].sync_every = o.sync_every;
		loops[i].rest_ms = o.rest_ms;
		loops[i].start = &start;
	}
	for (uint64_t k = 0; o.step ? wait_for_line() : k < o.rounds; k++)
		print(&o, one_round(loops, ids, o.threads), loops);
	for (uint64_t i = 0; i < o.threads; i++) {
		if (loops[i].exec)
			CK(cuGraphExecDestroy(loops[i].exec));
	}
	free(loops[0].took);
	free(loops);
	free(ids);
	return 0;
}
