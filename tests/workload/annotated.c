/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An application that says more than its calls do: ids that it gives CUPTI for them, as a profiler inside it does.
 * Prints a line of JSON: what it did.
 *
 *   annotated [--launches N] [--external N]
 *
 * --external: the first N launches are made with an id of their own of kind custom0, half of them with one of custom1
 * besides.
 */
#include "drv.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

struct settings {
	uint64_t launches, external;
};

static int parse(int argc, char **argv, struct settings *o)
{
	const struct {
		const char *name;
		uint64_t *number;
	} known[] = { { "--launches", &o->launches }, { "--external", &o->external } };

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

int main(int argc, char **argv)
{
	struct settings o = { .launches = 100 };
	CUmodule module = NULL;
	CUfunction func;

	if (parse(argc, argv, &o)) {
		fprintf(stderr, "annotated: see the head of annotated.c\n");
		return 2;
	}
	drv_start();
	if (o.external)
		find_cupti();
	func = drv_kernel(&module, "empty_kernel");
	for (uint64_t i = 0; i < o.launches; i++)
		launch(func, i, o.external);
	CK(cuCtxSynchronize());
	printf("{\"launches\":%llu,\"external\":%llu}\n", (unsigned long long)o.launches,
	       (unsigned long long)o.external);
	return 0;
}
