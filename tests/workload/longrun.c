/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A long job in short: many threads, one after the other on a few places, each with its own stream, launches of many kernels,
 * copies and sets, and modules that are loaded and unloaded all the time.
 *
 *   longrun [--places N] [--lives N] [--calls N] [--modules N] [--kernels N] [--points N]
 *
 * --lives threads of --calls calls each; --modules distinct ones of --kernels each are loaded in turn, for ten lives. At
 * --points equal steps it prints "at LIVES" and waits for a line, so that somebody can look at it while it stands still.
 */
#include "drv.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define LIVES_OF_A_MODULE 10
#define KERNELS_MAX 64

static struct {
	uint64_t places, lives, calls, modules, kernels, points;
	CUcontext ctx;
	_Atomic uint64_t next, loads, made;
} o = { .places = 4, .lives = 400, .calls = 1000, .modules = 16, .kernels = 32, .points = 20 };

struct life {
	const CUfunction *kernels;
	CUdeviceptr memory;
};

static void *live(void *arg)
{
	static const char host[256];
	const struct life *l = arg;
	CUstream stream;

	CK(cuCtxSetCurrent(o.ctx));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (uint64_t i = 0; i < o.calls; i++) {
		if (i % 16 == 14)
			CK(cuMemcpyHtoDAsync(l->memory, host, sizeof(host), stream));
		else if (i % 16 == 15)
			CK(cuMemsetD32Async(l->memory, 0, 64, stream));
		else
			CK(cuLaunchKernel(l->kernels[(i + i / 16) % o.kernels], 1, 1, 1, 32, 1, 1, 0, stream,
					  NULL, NULL));
		if (i % 128 == 127)
			CK(cuStreamSynchronize(stream));
	}
	CK(cuStreamSynchronize(stream));
	CK(cuStreamDestroy(stream));
	atomic_fetch_add(&o.made, o.calls);
	return NULL;
}

/* Names of 20 to 300 bytes, as C++ has them. */
static void name_of(char *buf, size_t size, uint64_t module, uint64_t kernel)
{
	int n = snprintf(buf, size, "kernel_of_module_%llu_number_%llu_", (unsigned long long)module,
			 (unsigned long long)kernel);
	uint64_t more = kernel * 9 % 280;

	for (uint64_t i = 0; i < more && (size_t)n + 1 < size; i++)
		buf[n++] = (char)('a' + i % 26);
	buf[n] = 0;
}

static CUmodule load(uint64_t number, CUfunction *kernels)
{
	size_t size = o.kernels * 512 + 128, at;
	char *text = malloc(size), name[400];
	CUmodule module;

	if (!text)
		exit(1);
	at = (size_t)snprintf(text, size, ".version 7.0\n.target sm_75\n.address_size 64\n");
	for (uint64_t k = 0; k < o.kernels; k++) {
		name_of(name, sizeof(name), number, k);
		at += (size_t)snprintf(text + at, size - at, ".visible .entry %s() { // sim-ns: 0\nret; }\n",
				       name);
	}
	CK(cuModuleLoadData(&module, text));
	for (uint64_t k = 0; k < o.kernels; k++) {
		name_of(name, sizeof(name), number, k);
		CK(cuModuleGetFunction(&kernels[k], module, name));
	}
	free(text);
	return module;
}

static void *place(void *arg)
{
	CUfunction kernels[KERNELS_MAX];
	struct life l = { .kernels = kernels };
	bool more = true;

	CK(cuCtxSetCurrent(o.ctx));
	CK(cuMemAlloc(&l.memory, 4096));
	while (more) {
		CUmodule module = load(atomic_fetch_add(&o.loads, 1) % o.modules, kernels);

		for (int i = 0; i < LIVES_OF_A_MODULE; i++) {
			pthread_t t;

			more = atomic_fetch_add(&o.next, 1) < *(const uint64_t *)arg;
			if (!more)
				break;
			if (pthread_create(&t, NULL, live, &l))
				exit(1);
			pthread_join(t, NULL);
		}
		CK(cuModuleUnload(module));
	}
	CK(cuMemFree(l.memory));
	return NULL;
}

static void run_to(uint64_t lives)
{
	pthread_t t[64];

	for (uint64_t i = 0; i < o.places; i++)
		if (pthread_create(&t[i], NULL, place, &lives))
			exit(1);
	for (uint64_t i = 0; i < o.places; i++)
		pthread_join(t[i], NULL);
	atomic_store(&o.next, lives);
}

static int parse(int argc, char **argv)
{
	const struct {
		const char *name;
		uint64_t *number;
	} known[] = { { "--places", &o.places },   { "--lives", &o.lives },     { "--calls", &o.calls },
		      { "--modules", &o.modules }, { "--kernels", &o.kernels }, { "--points", &o.points } };

	for (int i = 1; i + 1 < argc + 1; i += 2) {
		size_t k = 0;

		while (k < sizeof(known) / sizeof(known[0]) && strcmp(argv[i], known[k].name) != 0)
			k++;
		if (k == sizeof(known) / sizeof(known[0]) || i + 1 == argc)
			return -1;
		*known[k].number = strtoull(argv[i + 1], NULL, 10);
	}
	return o.places && o.places <= 64 && o.kernels && o.kernels <= KERNELS_MAX && o.modules && o.points
		       ? 0
		       : -1;
}

int main(int argc, char **argv)
{
	char line[16];

	if (parse(argc, argv)) {
		fputs("usage: longrun [--places N] [--lives N] [--calls N] [--modules N] [--kernels N] [--points N]\n",
		      stderr);
		return 2;
	}
	o.ctx = drv_start();
	for (uint64_t p = 1; p <= o.points; p++) {
		run_to(o.lives * p / o.points);
		printf("at %llu\n", (unsigned long long)(o.lives * p / o.points));
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin))
			break;
	}
	printf("calls %llu loads %llu\n", (unsigned long long)atomic_load(&o.made),
	       (unsigned long long)atomic_load(&o.loads));
	return 0;
}
