/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As much of NVTX 3 as the workloads use, for where its headers are not: what of its functions does anything, the
 * library that NVTX_INJECTION64_PATH names decides at the first call.
 */
#ifndef GPUBPF_WORKLOAD_NVTX_MINI_H
#define GPUBPF_WORKLOAD_NVTX_MINI_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef uint64_t nvtxRangeId_t;
typedef struct nvtx_domain *nvtxDomainHandle_t;
typedef struct {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		float fValue;
	} payload;
	int32_t messageType;
	union {
		const char *ascii;
	} message;
} nvtxEventAttributes_t;
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))
#define NVTX_MESSAGE_TYPE_ASCII 1
#define NVTX_COLOR_ARGB 1
#define NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 1
#define NVTX_PAYLOAD_TYPE_INT64 2
#define NVTX_PAYLOAD_TYPE_FLOAT 6

typedef void nvtx_mini_function(void);
static nvtx_mini_function *nvtx_mini_core[16], *nvtx_mini_core2[16];
static nvtx_mini_function **nvtx_mini_core_table[17], **nvtx_mini_core2_table[17];

static inline int nvtx_mini_tables(int module, nvtx_mini_function ****table, unsigned *size)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? nvtx_mini_core_table : nvtx_mini_core2_table;
	*size = 16;
	return 1;
}

static inline const void *nvtx_mini_export(uint32_t id)
{
	static const struct {
		size_t size;
		int (*tables)(int module, nvtx_mini_function ****table, unsigned *size);
	} callbacks = { sizeof(callbacks), nvtx_mini_tables };

	return id == 1 ? &callbacks : NULL;
}

/* Not for several threads at once. */
static inline void nvtx_mini_start(void)
{
	static int started;
	int (*initialize)(const void *(*get)(uint32_t)) = NULL;
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *lib;

	if (started++)
		return;
	for (int i = 1; i < 16; i++) {
		nvtx_mini_core_table[i] = &nvtx_mini_core[i];
		nvtx_mini_core2_table[i] = &nvtx_mini_core2[i];
	}
	lib = path ? dlopen(path, RTLD_LAZY) : NULL;
	if (lib)
		*(void **)&initialize = dlsym(lib, "InitializeInjectionNvtx2");
	if (!initialize || !initialize(nvtx_mini_export)) {
		for (int i = 1; i < 16; i++)
			nvtx_mini_core[i] = nvtx_mini_core2[i] = NULL;
	}
}

#define NVTX_MINI(result, name, table, cbid, otherwise, params, args)                                        \
	static inline result name params                                                                     \
	{                                                                                                    \
		nvtx_mini_start();                                                                           \
		if (!table[cbid])                                                                            \
			return otherwise;                                                                    \
		return ((result(*) params)(void *)table[cbid])args;                                          \
	}
#define NVTX_MINI_NOTHING

NVTX_MINI(void, nvtxMarkA, nvtx_mini_core, 2, NVTX_MINI_NOTHING, (const char *name), (name))
NVTX_MINI(nvtxRangeId_t, nvtxRangeStartA, nvtx_mini_core, 5, 0, (const char *name), (name))
NVTX_MINI(void, nvtxRangeEnd, nvtx_mini_core, 7, NVTX_MINI_NOTHING, (nvtxRangeId_t id), (id))
NVTX_MINI(int, nvtxRangePushA, nvtx_mini_core, 9, -2, (const char *name), (name))
NVTX_MINI(int, nvtxRangePop, nvtx_mini_core, 11, -2, (void), ())
NVTX_MINI(void, nvtxNameOsThreadA, nvtx_mini_core, 14, NVTX_MINI_NOTHING, (uint32_t thread, const char *name),
	  (thread, name))
NVTX_MINI(nvtxDomainHandle_t, nvtxDomainCreateA, nvtx_mini_core2, 12, NULL, (const char *name), (name))
NVTX_MINI(void, nvtxDomainMarkEx, nvtx_mini_core2, 1, NVTX_MINI_NOTHING,
	  (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a), (domain, a))
NVTX_MINI(int, nvtxDomainRangePushEx, nvtx_mini_core2, 4, -2,
	  (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *a), (domain, a))
NVTX_MINI(int, nvtxDomainRangePop, nvtx_mini_core2, 5, -2, (nvtxDomainHandle_t domain), (domain))

#endif
