/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Enabling, attributes, clocks, ids and texts. */
#include "sc.h"

#include <string.h>

/* ---- kinds ---- */
static CUptiResult enable(uint32_t kind, bool wanted)
{
	const uint64_t kernels = SC_KIND(CUPTI_ACTIVITY_KIND_KERNEL) |
				 SC_KIND(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	const struct sim_private *d = sc_attach();
	CUptiResult result = CUPTI_SUCCESS;
	uint64_t kinds;

	if (kind == CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return CUPTI_ERROR_INVALID_KIND;
	if ((kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE || kind == CUPTI_ACTIVITY_KIND_MEMORY2) &&
	    !sc_record_size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	if (!d)
		return CUPTI_ERROR_NOT_INITIALIZED;
	sc_worker_start();
	/* It reaches into every context. */
	sc_lock_driver(d);
	pthread_mutex_lock(&sc.state);
	kinds = wanted ? sc.kinds | SC_KIND(kind) : sc.kinds & ~SC_KIND(kind);
	if ((kinds & kernels) == kernels)
		result = CUPTI_ERROR_NOT_COMPATIBLE;
	else
		sc.kinds = kinds;
	if (!sc.kinds)
		sc.broken = false;
	sc_update_tracer();
	pthread_mutex_unlock(&sc.state);
	pthread_rwlock_unlock(d->driver_lock);
	return result;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	struct sc_call call;

	return sc_enter(&call, __func__, kind, SC_OWNER) ? sc_leave(&call, enable(kind, true)) : call.result;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	struct sc_call call;

	return sc_enter(&call, __func__, kind, SC_OWNER) ? sc_leave(&call, enable(kind, false)) : call.result;
}

/* All contexts at once: the simulated driver has no switch for one. */
CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, kind, SC_OWNER))
		return call.result;
	return sc_leave(&call, context ? enable(kind, true) : CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, kind, SC_OWNER))
		return call.result;
	return sc_leave(&call, context ? enable(kind, false) : CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult cuptiFinalize(void)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	pthread_mutex_lock(&sc.state);
	sc.subscriber = NULL;
	sc.kinds = 0;
	sc.broken = false;
	sc_update_tracer();
	pthread_mutex_unlock(&sc.state);
	sc_discard();
	return sc_leave(&call, CUPTI_SUCCESS);
}

/* ---- attributes ---- */
#define ATTRIBUTES 10
static _Atomic uint64_t attributes[ATTRIBUTES] = {
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = 3200000,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = 8388608,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = 250,
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE] = 25000,
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT] = 250,
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = 3,
	[CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE] = 3,
};

static bool is_flag(uint32_t attr)
{
	return attr == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER ||
	       attr == CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED ||
	       attr == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER;
}

static CUptiResult attribute(uint32_t attr, size_t *size, void *value, bool write)
{
	size_t need = is_flag(attr) ? 1 : sizeof(size_t);
	uint64_t v = 0;

	if (!size || !value || attr >= ATTRIBUTES)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*size < need)
		return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
	if (write) {
		memcpy(&v, value, need);
		attributes[attr] = v;
	} else {
		v = attributes[attr];
		memcpy(value, &v, need);
		*size = need;
	}
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	struct sc_call call;

	return sc_enter(&call, __func__, attr, 0) ? sc_leave(&call, attribute(attr, valueSize, value, true))
						  : call.result;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	struct sc_call call;

	return sc_enter(&call, __func__, attr, 0) ? sc_leave(&call, attribute(attr, valueSize, value, false))
						  : call.result;
}

/* ---- clocks ---- */
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, SC_OWNER))
		return call.result;
	if (!funcTimestamp)
		return sc_leave(&call, CUPTI_ERROR_INVALID_PARAMETER);
	sc.clock = funcTimestamp;
	sc.clock_changes++;
	sc_match_clocks();
	return sc_leave(&call, CUPTI_SUCCESS);
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, enable, 0))
		return call.result;
	sc.latency = enable != 0;
	return sc_leave(&call, CUPTI_SUCCESS);
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, (uint64_t)type, 0))
		return call.result;
	sc.thread_ids = (int)type;
	return sc_leave(&call, CUPTI_SUCCESS);
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	*type = (CUpti_ActivityThreadIdType)sc.thread_ids;
	return sc_leave(&call, CUPTI_SUCCESS);
}

/* The attributes of launches are not simulated. */
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
	struct sc_call call;

	return sc_enter(&call, __func__, enable, 0) ? sc_leave(&call, CUPTI_SUCCESS) : call.result;
}

CUptiResult cuptiGetTimestamp(uint64_t *timestamp)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	if (!timestamp)
		return sc_leave(&call, CUPTI_ERROR_INVALID_PARAMETER);
	*timestamp = sc_timestamp();
	return sc_leave(&call, CUPTI_SUCCESS);
}

CUptiResult cuptiGetVersion(uint32_t *version)
{
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	if (!version)
		return sc_leave(&call, CUPTI_ERROR_INVALID_PARAMETER);
	*version = sc.opt.version;
	return sc_leave(&call, CUPTI_SUCCESS);
}

/* ---- ids ---- */
static CUptiResult context_ids(CUcontext context, uint32_t *id, uint32_t *device)
{
	const struct sim_private *d = sc_attach();
	void *handle;

	if (!d)
		return CUPTI_ERROR_NOT_INITIALIZED;
	return context && d->context((uintptr_t)context, &handle, id, device) ? CUPTI_SUCCESS
									      : CUPTI_ERROR_INVALID_CONTEXT;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId)
{
	uint32_t device;
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	return sc_leave(&call,
			contextId ? context_ids(context, contextId, &device) : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId)
{
	uint32_t id;
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	return sc_leave(&call,
			deviceId ? context_ids(context, &id, deviceId) : CUPTI_ERROR_INVALID_PARAMETER);
}

static CUptiResult stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t *id)
{
	const struct sim_private *d = sc_attach();

	if (!id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!d)
		return CUPTI_ERROR_NOT_INITIALIZED;
	return d->stream((uintptr_t)context, (uintptr_t)stream, per_thread, id) ? CUPTI_SUCCESS
										: CUPTI_ERROR_INVALID_STREAM;
}

CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId)
{
	struct sc_call call;

	return sc_enter(&call, __func__, 0, 0) ? sc_leave(&call, stream_id(context, stream, false, streamId))
					       : call.result;
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
			       uint32_t *streamId)
{
	struct sc_call call;

	return sc_enter(&call, __func__, perThreadStream, 0)
		       ? sc_leave(&call, stream_id(context, stream, perThreadStream != 0, streamId))
		       : call.result;
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId)
{
	const struct sim_private *d = sc_attach();
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	return sc_leave(&call, pId && d && d->graph((uintptr_t)graph, pId) ? CUPTI_SUCCESS
									   : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId)
{
	const struct sim_private *d = sc_attach();
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	return sc_leave(&call, pId && d && d->exec((uintptr_t)graphExec, pId)
				       ? CUPTI_SUCCESS
				       : CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId)
{
	const struct sim_private *d = sc_attach();
	struct sc_call call;

	if (!sc_enter(&call, __func__, 0, 0))
		return call.result;
	return sc_leave(&call, nodeId && d && d->node((uintptr_t)node, nodeId)
				       ? CUPTI_SUCCESS
				       : CUPTI_ERROR_INVALID_PARAMETER);
}

/* ---- texts ---- */
static const char *text(CUptiResult result)
{
#define ROW(name) { name, #name },
	static const struct {
		CUptiResult result;
		const char *text;
	} rows[] = {
		ROW(CUPTI_SUCCESS) ROW(CUPTI_ERROR_INVALID_PARAMETER) ROW(CUPTI_ERROR_INVALID_DEVICE) ROW(
			CUPTI_ERROR_INVALID_CONTEXT) ROW(CUPTI_ERROR_INVALID_OPERATION)
			ROW(CUPTI_ERROR_OUT_OF_MEMORY) ROW(CUPTI_ERROR_HARDWARE) ROW(
				CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT) ROW(CUPTI_ERROR_MAX_LIMIT_REACHED)
				ROW(CUPTI_ERROR_NOT_READY) ROW(CUPTI_ERROR_NOT_COMPATIBLE) ROW(
					CUPTI_ERROR_NOT_INITIALIZED) ROW(CUPTI_ERROR_QUEUE_EMPTY)
					ROW(CUPTI_ERROR_INVALID_STREAM) ROW(CUPTI_ERROR_INVALID_KIND) ROW(
						CUPTI_ERROR_DISABLED) ROW(CUPTI_ERROR_NOT_SUPPORTED)
						ROW(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) ROW(
							CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
							ROW(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES)
								ROW(CUPTI_ERROR_UNKNOWN)
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].result == result)
			return rows[i].text;
	return NULL;
}

CUptiResult cuptiGetResultString(CUptiResult result, const char **str)
{
	if (!str || !text(result))
		return CUPTI_ERROR_INVALID_PARAMETER;
	*str = text(result);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **str)
{
	return cuptiGetResultString(result, str);
}

CUptiResult cuptiGetLastError(void)
{
	return sc_last_error();
}
