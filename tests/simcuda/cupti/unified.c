/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of unified memory. What they count is made up: each kernel launch after an allocation of managed memory has one
 * event of each counter that is on, about the whole allocation, on device 0 (of a transfer between devices: to device 1).
 */
#include "sc.h"

#include <string.h>
#include <unistd.h>

static _Atomic uint32_t counters; /* that are on, a bit each */
static _Atomic uint64_t address, bytes;

static CUptiResult configure(const CUpti_ActivityUnifiedMemoryCounterConfig *config, uint32_t count)
{
	const struct sim_private *d = sc_attach();
	uint32_t on = counters;

	if (!config || !count)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!d || d->initializing())
		return CUPTI_ERROR_NOT_INITIALIZED;
	for (uint32_t i = 0; i < count; i++) {
		if (config[i].kind < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD ||
		    config[i].kind >= CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT ||
		    config[i].scope != CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE)
			return CUPTI_ERROR_INVALID_PARAMETER;
		on = config[i].enable ? on | 1u << config[i].kind : on & ~(1u << config[i].kind);
	}
	counters = on;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
						       uint32_t count)
{
	struct sc_call call;

	/* Several at once are 0 in the log, and for SIMCUPTI_FAIL. */
	if (!sc_enter(&call, __func__, config && count == 1 ? (uint64_t)config->kind : 0, SC_OWNER))
		return call.result;
	return sc_leave(&call, configure(config, count));
}

/* What a counter has no use for is filled with what nobody shall read. */
static void event(uint32_t counter, uint64_t start, uint64_t end)
{
	CUpti_ActivityUnifiedMemoryCounter3 r = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.counterKind = (CUpti_ActivityUnifiedMemoryCounterKind)counter,
		.value = bytes,
		.start = start,
		.end = end,
		.address = address,
		.dstId = 0xa5a5a5a5u,
		.streamId = 0xa5a5a5a5u,
		.processId = (uint32_t)getpid()
	};

	switch (r.counterKind) {
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD:
		r.srcId = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID;
		r.dstId = 0;
		r.flags = 3; /* prefetch */
		break;
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH:
		r.dstId = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID;
		r.flags = 2; /* coherence */
		break;
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT:
		r.value = 0x400000;
		r.srcId = 0xa5a5a5a5u;
		r.flags = 1; /* read */
		break;
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT:
		r.value = 3;
		r.flags = 2; /* write */
		break;
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING:
		r.srcId = 1u << 0 | 1u << 3;
		break;
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP:
		r.dstId = CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID;
		r.flags = 3; /* policy */
		break;
	case CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD:
		r.dstId = 1;
		break;
	default:
		break;
	}
	sc_emit(&r);
}

void sc_unified(const struct sim_call *c, uint64_t end)
{
	if (strcmp(c->api->base, "cuMemAllocManaged") == 0 && c->result == CUDA_SUCCESS) {
		address = *(uint64_t *)(uintptr_t)c->a[0];
		bytes = c->a[1];
	}
	if (!address || strcmp(c->api->base, "cuLaunchKernel") != 0)
		return;
	for (uint32_t k = 1; k < CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT; k++)
		if (counters >> k & 1)
			event(k, c->start, end);
}
