/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An application that says more than its calls do: ids that it gives CUPTI for them, as a profiler inside it does, and
 * ranges and marks of NVTX. Prints a line of JSON: what it did.
 *
 *   annotated [--launches N] [--external N] [--nvtx N] [--fork N] [--managed N]
 *
 * --external: the first N launches are made with an id of their own of kind custom0, half of them with one of custom1
 * besides. --nvtx: each of the first N launches, the i-th of them from 1, stands in a pushed range "step", and in it in one
 * "inner" of the domain "annotated" (category 7, color ff336699, payload 4096 i), with a mark "here" behind it and, of the
 * domain, "loss" (category 8 where i is odd, else 9; payload i / 4, a float) and "delta" (payload -i). A range "whole" that
 * another thread ends is about all of them, then come the domain's mark "blob" with a payload of a structure of its own and a
 * mark whose name is 40 times "layer.", and "never ends" begins last. NVTX is used before CUDA. --fork: then so many children, each of which makes N marks "child".
 * --managed: so many bytes of managed memory are allocated first.
 */
#include "drv.h"

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_mini.h"
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct settings {
	uint64_t launches, external, nvtx, fork, managed;
};

static int parse(int argc, char **argv, struct settings *o)
{
	const struct {
		const char *name;
		uint64_t *number;
	} known[] = { { "--launches", &o->launches },
		      { "--external", &o->external },
		      { "--nvtx", &o->nvtx },
		      { "--fork", &o->fork },
		      { "--managed", &o->managed } };

	for (int i = 1; i < argc; i += 2) {
		size_t k = 0;

		while (k < sizeof(known) / sizeof(known[0]) && strcmp(argv[i], known[k].name) != 0)
			k++;
		if (k == sizeof(known) / sizeof(known[0]) || i + 1 == argc)
			return -1;
		*known[k].number = strtoull(argv[i + 1], NULL, 10);
	}
	return 0;
}

/* ---- CUPTI's ids: CUpti_ExternalCorrelationKind is an int ---- */
enum { CUSTOM0 = 3, CUSTOM1 = 4 };
static int (*push)(int kind, uint64_t id);
static int (*pop)(int kind, uint64_t *id);

static void find_cupti(void)
{
	void *lib = dlopen("libcupti.so.13", RTLD_NOW);

	if (lib) {
		*(void **)&push = dlsym(lib, "cuptiActivityPushExternalCorrelationId");
		*(void **)&pop = dlsym(lib, "cuptiActivityPopExternalCorrelationId");
	}
	if (!push || !pop) {
		fprintf(stderr, "annotated: no libcupti.so.13\n");
		exit(1);
	}
}

static void launch(CUfunction func, uint64_t i, uint64_t external)
{
	if (i < external) {
		push(CUSTOM0, 1000 + i);
		if (i & 1)
			push(CUSTOM1, 7);
	}
	CK(cuLaunchKernel(func, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	if (i < external) {
		if (i & 1)
			pop(CUSTOM1, NULL);
		pop(CUSTOM0, NULL);
	}
}

/* ---- NVTX ---- */
static nvtxDomainHandle_t domain;

static nvtxEventAttributes_t named(const char *name)
{
	return (nvtxEventAttributes_t){ .version = NVTX_VERSION,
					.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
					.messageType = NVTX_MESSAGE_TYPE_ASCII,
					.message.ascii = name };
}

static void mark_numbers(uint64_t i)
{
	nvtxEventAttributes_t loss = named("loss"), delta = named("delta");

	loss.category = i & 1 ? 8 : 9;
	loss.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
	loss.payload.fValue = (float)i / 4;
	nvtxDomainMarkEx(domain, &loss);
	delta.payloadType = NVTX_PAYLOAD_TYPE_INT64;
	delta.payload.llValue = -(int64_t)i;
	nvtxDomainMarkEx(domain, &delta);
}

/* nvtxPayloadData_t and NVTX_PAYLOAD_TYPE_EXT of nvtx3/nvToolsExtPayload.h, which older toolkits lack. */
static void mark_blob(void)
{
	const struct {
		uint64_t schema;
		size_t size;
		const void *payload;
	} data = { 1, sizeof("structure"), "structure" };
	nvtxEventAttributes_t blob = named("blob");

	blob.payloadType = (int32_t)0xDFBD0009;
	blob.reserved0 = 1;
	blob.payload.ullValue = (uint64_t)(uintptr_t)&data;
	nvtxDomainMarkEx(domain, &blob);
}

static void mark_long(void)
{
	char name[40 * 6 + 1] = "";

	for (int i = 0; i < 40; i++)
		memcpy(name + 6 * i, "layer.", 7);
	nvtxMarkA(name);
}

static void launch_in_ranges(CUfunction func, uint64_t i, const struct settings *o)
{
	nvtxEventAttributes_t inner = named("inner");

	inner.category = 7;
	inner.colorType = NVTX_COLOR_ARGB;
	inner.color = 0xff336699;
	inner.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	inner.payload.ullValue = 4096 * (i + 1);
	nvtxRangePushA("step");
	nvtxDomainRangePushEx(domain, &inner);
	launch(func, i, o->external);
	nvtxDomainRangePop(domain);
	nvtxRangePop();
	nvtxMarkA("here");
	mark_numbers(i + 1);
}

static void *end_of_whole(void *whole)
{
	nvtxRangeEnd((nvtxRangeId_t)(uintptr_t)whole);
	return NULL;
}

static void child(const struct settings *o)
{
	for (uint64_t i = 0; i < o->nvtx; i++)
		nvtxMarkA("child");
	_exit(0);
}

static int children(const struct settings *o)
{
	int bad = 0, status;

	for (uint64_t i = 0; i < o->fork; i++) {
		pid_t pid = fork();

		if (!pid)
			child(o);
		bad |= pid < 0 || waitpid(pid, &status, 0) != pid || status;
	}
	return bad;
}

int main(int argc, char **argv)
{
	struct settings o = { .launches = 100 };
	nvtxRangeId_t whole = 0;
	CUmodule module = NULL;
	CUdeviceptr p;
	CUfunction func;
	pthread_t t;

	if (parse(argc, argv, &o)) {
		fprintf(stderr, "annotated: see the head of annotated.c\n");
		return 2;
	}
	if (o.nvtx) {
		nvtxNameOsThreadA((uint32_t)getpid(), "first");
		domain = nvtxDomainCreateA("annotated");
	}
	drv_start();
	if (o.external)
		find_cupti();
	func = drv_kernel(&module, "empty_kernel");
	if (o.managed) {
		/* The recorder's shim turns its counters on once cuInit() has returned. */
		usleep(200000);
		CK(cuMemAllocManaged(&p, o.managed, CU_MEM_ATTACH_GLOBAL));
	}
	if (o.nvtx)
		whole = nvtxRangeStartA("whole");
	for (uint64_t i = 0; i < o.launches; i++) {
		if (i < o.nvtx)
			launch_in_ranges(func, i, &o);
		else
			launch(func, i, o.external);
	}
	CK(cuCtxSynchronize());
	if (o.nvtx) {
		pthread_create(&t, NULL, end_of_whole, (void *)(uintptr_t)whole);
		pthread_join(t, NULL);
		mark_blob();
		mark_long();
		nvtxRangePushA("never ends");
	}
	if (children(&o))
		return 1;
	printf("{\"launches\":%llu,\"external\":%llu,\"nvtx\":%llu}\n", (unsigned long long)o.launches,
	       (unsigned long long)o.external, (unsigned long long)o.nvtx);
	return 0;
}
