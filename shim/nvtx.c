// SPDX-License-Identifier: BSD-2-Clause
/*
 * NVTX on its way to CUPTI. The application's copy of NVTX (one in each library that uses it) loads the library that
 * NVTX_INJECTION64_PATH names at its first call and hands its table of functions to InitializeInjectionNvtx2()
 * (nvtx3/nvtxDetail/nvtxInit.h; the library of NVTX 2 calls InitializeInjectionNvtx()). CUPTI has that function too, but
 * which CUPTI a process will use is known only in the process: so the variable names the shim, which finds the one
 * that it will use itself and passes the call on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "cupti.h"
#include "inject.h"
#include "word.h"

#define EXPORTED __attribute__((visibility("default")))

/* nvtx3/nvtxDetail/nvtxTypes.h: NVTX_ETID_CALLBACKS, NVTX_CB_MODULE_*, NVTX_CBID_CORE_NameOsThreadA and W. */
enum {
	TABLE_CALLBACKS = 1,
	MODULE_CORE = 1,
	MODULES_END = 7,
	CORE_NAME_THREAD_A = 14,
	CORE_NAME_THREAD_W = 15
};

typedef void nvtx_function(void);
typedef const void *nvtx_export_table(uint32_t id);
typedef int nvtx_initialize(nvtx_export_table *get);
struct nvtx_callbacks { /* NvtxExportTableCallbacks */
	size_t size;
	int (*module_table)(int module, nvtx_function ****table, unsigned *size);
};

EXPORTED int InitializeInjectionNvtx2(nvtx_export_table *get);
EXPORTED int InitializeInjectionNvtx(nvtx_export_table *get);

#define COPIES 128 /* of NVTX in one process; later ones stay without a tool */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct cupti cupti;
static const struct nvtx_callbacks *copies[COPIES];
static _Atomic unsigned ncopies;
static _Atomic bool gone; /* a forked child */

/* A function that is not there is one that NVTX does not call. */
static void clear(const struct nvtx_callbacks *c, int module, unsigned from, unsigned to)
{
	nvtx_function ***table = NULL;
	unsigned size = 0;

	if (!c->module_table(module, &table, &size) || !table)
		return;
	for (unsigned i = from; i < to && i < size; i++) {
		if (table[i])
			*table[i] = NULL;
	}
}

/* Whatever lock CUPTI held at the fork it holds for ever: the child's NVTX goes back to doing nothing. */
static void in_child(void)
{
	gone = true;
	for (unsigned i = 0; i < ncopies; i++) {
		for (int module = MODULE_CORE; module < MODULES_END; module++)
			clear(copies[i], module, 1, ~0u);
	}
}

static bool wanted(void)
{
	return word__in(getenv("GPUBPF_CUPTI"), "nvtx") && !gone && !inject__forked();
}

/* It is chosen by the driver's version, so that one is needed first. */
static bool open_cupti(void)
{
	return cupti.handle || (dlopen("libcuda.so.1", RTLD_LAZY) && !cupti__open(&cupti));
}

static int pass_on(const char *symbol, nvtx_export_table *get)
{
	const struct nvtx_callbacks *c = get ? get(TABLE_CALLBACKS) : NULL;
	nvtx_initialize *initialize = NULL;
	int done;

	if (!c || c->size < sizeof(*c) || ncopies == COPIES || !open_cupti())
		return 0;
	*(void **)&initialize = dlsym(cupti.handle, symbol);
	if (!initialize)
		return 0;
	if (!ncopies)
		pthread_atfork(NULL, NULL, in_child);
	copies[ncopies++] = c;
	done = initialize(get);
	/* Naming a thread crashes in CUPTI 13.0 (NVIDIA/NVTX issue 125). */
	if (done && cupti.version >= CUPTI_SINCE_13_0 && cupti.version < CUPTI_SINCE_13_1)
		clear(c, MODULE_CORE, CORE_NAME_THREAD_A, CORE_NAME_THREAD_W + 1);
	return done;
}

static int pass_on_alone(const char *symbol, nvtx_export_table *get)
{
	int done;

	if (!wanted())
		return 0;
	pthread_mutex_lock(&lock);
	done = pass_on(symbol, get);
	pthread_mutex_unlock(&lock);
	return done;
}

/* 1: NVTX keeps the library. */
int InitializeInjectionNvtx2(nvtx_export_table *get)
{
	return pass_on_alone("InitializeInjectionNvtx2", get);
}

int InitializeInjectionNvtx(nvtx_export_table *get)
{
	return pass_on_alone("InitializeInjectionNvtx", get);
}
