/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records: what is enabled, how each looks, and reading them out of a buffer. */
#include "sc.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Records only ever grew at their end (cupti_activity.h, cupti_activity_deprecated.h), so an older version's is the
 * head of today's. Versions as cuptiGetVersion() counts them.
 */
static const struct size {
	uint8_t kind;
	uint32_t since;
	size_t bytes;
} sizes[] = {
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 13, 160 }, /* Kernel5 */
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 15, 168 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 17, 176 },
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 18,
	  208 }, /* Kernel9; no version that we know of gave Kernel8 */
	{ CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 130000, sizeof(CUpti_ActivityKernel10) },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, 13, 72 }, /* Memcpy3 */
	{ CUPTI_ACTIVITY_KIND_MEMCPY, 14, 80 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, 17, 88 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY, 26, sizeof(CUpti_ActivityMemcpy6) },
	{ CUPTI_ACTIVITY_KIND_MEMCPY2, 13, 80 }, /* MemcpyPtoP2 */
	{ CUPTI_ACTIVITY_KIND_MEMCPY2, 14, 88 },
	{ CUPTI_ACTIVITY_KIND_MEMCPY2, 17, sizeof(CUpti_ActivityMemcpyPtoP4) },
	{ CUPTI_ACTIVITY_KIND_MEMSET, 13, 72 }, /* Memset2 */
	{ CUPTI_ACTIVITY_KIND_MEMSET, 14, 80 },
	{ CUPTI_ACTIVITY_KIND_MEMSET, 17, sizeof(CUpti_ActivityMemset4) },
	{ CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 17, 48 },
	{ CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 21, sizeof(CUpti_ActivityGraphTrace2) },
	{ CUPTI_ACTIVITY_KIND_DRIVER, 13, sizeof(CUpti_ActivityAPI) },
	{ CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 13, 40 },
	{ CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 26, sizeof(CUpti_ActivitySynchronization2) },
	{ CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 13, sizeof(CUpti_ActivityExternalCorrelation) },
	{ CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 13, 64 },
	{ CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 130000, sizeof(CUpti_ActivityUnifiedMemoryCounter3) },
	{ CUPTI_ACTIVITY_KIND_MARKER, 13, sizeof(CUpti_ActivityMarker2) },
	{ CUPTI_ACTIVITY_KIND_MARKER_DATA, 13, 32 },
	{ CUPTI_ACTIVITY_KIND_MARKER_DATA, 130001, sizeof(CUpti_ActivityMarkerData2) },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, 13, 40 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, 20, 48 },
	{ CUPTI_ACTIVITY_KIND_OVERHEAD, 22, sizeof(CUpti_ActivityOverhead3) },
	{ CUPTI_ACTIVITY_KIND_MEMORY2, 15, 112 },
	{ CUPTI_ACTIVITY_KIND_MEMORY2, 17, 120 },
	{ CUPTI_ACTIVITY_KIND_MEMORY2, 24, sizeof(CUpti_ActivityMemory4) }, /* or before */
};

/* 0: no such kind, or not yet. */
size_t sc_record_size(uint32_t kind)
{
	static _Atomic size_t known[CUPTI_ACTIVITY_KIND_COUNT];
	size_t bytes = 0;

	if (kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return 0;
	if (known[kind])
		return known[kind];
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (sizes[i].since <= sc.opt.version &&
		    sizes[i].kind == (kind == CUPTI_ACTIVITY_KIND_KERNEL
					      ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
					      : kind))
			bytes = sizes[i].bytes;
	known[kind] = bytes;
	return bytes;
}

void sc_set_times(void *record, uint64_t queued, uint64_t start, uint64_t end)
{
	CUpti_ActivityKernel10 *k = record;

	switch (*(uint32_t *)record) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		k->start = start;
		k->end = k->completed = end;
		k->queued = queued;
		k->submitted = queued && queued < start ? queued + (start - queued) / 2 : queued;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		((CUpti_ActivityMemcpy6 *)record)->start = start;
		((CUpti_ActivityMemcpy6 *)record)->end = end;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		((CUpti_ActivityMemcpyPtoP4 *)record)->start = start;
		((CUpti_ActivityMemcpyPtoP4 *)record)->end = end;
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		((CUpti_ActivityMemset4 *)record)->start = start;
		((CUpti_ActivityMemset4 *)record)->end = end;
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		((CUpti_ActivityGraphTrace2 *)record)->start = start;
		((CUpti_ActivityGraphTrace2 *)record)->end = end;
		break;
	}
}

static bool on(CUpti_ActivityKind kind)
{
	return sc.kinds & SC_KIND(kind);
}

static bool is_async(const struct sim_work *w)
{
	return strstr(w->call->api->base, "Async") != NULL || w->graph;
}

/* ---- the device ---- */
static void by_device(CUpti_ActivityKernel10 *r, const struct sc_times *t)
{
	struct sc_times turn = *t;

	r->correlationId = r->graphId = 0;
	r->graphNodeId = 0;
	for (uint64_t i = 0, n = sc.opt.device_launched; i < n; i++) {
		turn.start = t->start + (t->end - t->start) * i / n;
		turn.end = t->start + (t->end - t->start) * (i + 1) / n;
		sc_emit_work(r, &turn);
	}
}

static void kernel(const struct sim_work *w, const struct sc_times *t)
{
	CUpti_ActivityKernel10 r = { .kind = on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
						     ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
						     : CUPTI_ACTIVITY_KIND_KERNEL,
				     .registersPerThread = (uint16_t)w->kernel.registers,
				     .deviceId = w->device,
				     .contextId = w->context,
				     .streamId = w->stream,
				     .gridX = (int32_t)w->kernel.grid[0],
				     .gridY = (int32_t)w->kernel.grid[1],
				     .gridZ = (int32_t)w->kernel.grid[2],
				     .blockX = (int32_t)w->kernel.block[0],
				     .blockY = (int32_t)w->kernel.block[1],
				     .blockZ = (int32_t)w->kernel.block[2],
				     .dynamicSharedMemory = (int32_t)w->kernel.shared,
				     .correlationId = w->call->correlation,
				     .gridId = w->call->correlation,
				     .name = w->kernel.name,
				     .launchType = w->kernel.cooperative,
				     .graphNodeId = w->node,
				     .graphId = w->graph,
				     .channelType = CUPTI_CHANNEL_TYPE_COMPUTE,
				     .clusterX = w->kernel.cluster[0],
				     .clusterY = w->kernel.cluster[1],
				     .clusterZ = w->kernel.cluster[2] };

	/* 11.0 has padding where the graph's id came later; whoever reads it shall notice. */
	if (sc.opt.version < 14)
		r.graphId = 0xa5a5a5a5u;
	if (w->graph && sc.opt.device_launched)
		by_device(&r, t);
	else
		sc_emit_work(&r, t);
}

/* Host, device, array; as CUPTI names the pairs of them. */
static uint8_t copy_kind(uint32_t src, uint32_t dst)
{
	static const uint8_t kinds[3][3] = {
		{ CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
		  CUPTI_ACTIVITY_MEMCPY_KIND_HTOA },
		{ CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
		  CUPTI_ACTIVITY_MEMCPY_KIND_DTOA },
		{ CUPTI_ACTIVITY_MEMCPY_KIND_ATOH, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD,
		  CUPTI_ACTIVITY_MEMCPY_KIND_ATOA },
	};
	static const uint8_t place[] = { [CUPTI_ACTIVITY_MEMORY_KIND_DEVICE] = 1,
					 [CUPTI_ACTIVITY_MEMORY_KIND_MANAGED] = 1,
					 [CUPTI_ACTIVITY_MEMORY_KIND_ARRAY] = 2 };

	return kinds[place[src]][place[dst]];
}

static void copy_peer(const struct sim_work *w, const struct sc_times *t)
{
	CUpti_ActivityMemcpyPtoP4 r = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY2,
					.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP,
					.srcKind = (uint8_t)w->copy.src.memory,
					.dstKind = (uint8_t)w->copy.dst.memory,
					.flags = is_async(w) ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
					.bytes = w->copy.bytes,
					.deviceId = w->device,
					.contextId = w->context,
					.streamId = w->stream,
					.srcDeviceId = w->copy.src.device,
					.srcContextId = w->copy.src.context,
					.dstDeviceId = w->copy.dst.device,
					.dstContextId = w->copy.dst.context,
					.correlationId = w->call->correlation,
					.graphNodeId = w->node,
					.graphId = w->graph,
					.channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY };

	sc_emit_work(&r, t);
}

static void copy(const struct sim_work *w, const struct sc_times *t)
{
	CUpti_ActivityMemcpy6 r = { .kind = CUPTI_ACTIVITY_KIND_MEMCPY,
				    .copyKind = copy_kind(w->copy.src.memory, w->copy.dst.memory),
				    .srcKind = (uint8_t)w->copy.src.memory,
				    .dstKind = (uint8_t)w->copy.dst.memory,
				    .flags = is_async(w) ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0,
				    .bytes = w->copy.bytes,
				    .deviceId = w->device,
				    .contextId = w->context,
				    .streamId = w->stream,
				    .correlationId = w->call->correlation,
				    .graphNodeId = w->node,
				    .graphId = w->graph,
				    .channelType = CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY,
				    .copyCount = 1 };
	bool peer = w->copy.src.device != w->copy.dst.device && r.copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;

	if (peer && on(CUPTI_ACTIVITY_KIND_MEMCPY2))
		copy_peer(w, t);
	else if (!peer && on(CUPTI_ACTIVITY_KIND_MEMCPY))
		sc_emit_work(&r, t);
}

static void set(const struct sim_work *w, const struct sc_times *t)
{
	CUpti_ActivityMemset4 r = { .kind = CUPTI_ACTIVITY_KIND_MEMSET,
				    .value = w->set.value,
				    .bytes = w->set.bytes,
				    .deviceId = w->device,
				    .contextId = w->context,
				    .streamId = w->stream,
				    .correlationId = w->call->correlation,
				    .flags = is_async(w) ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0,
				    .memoryKind = (uint16_t)w->set.memory,
				    .graphNodeId = w->node,
				    .graphId = w->graph,
				    .channelType = CUPTI_CHANNEL_TYPE_COMPUTE };

	sc_emit_work(&r, t);
}

static void graph(const struct sim_work *w, const struct sc_times *t)
{
	CUpti_ActivityGraphTrace2 r = { .kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE,
					.correlationId = w->call->correlation,
					.deviceId = w->device,
					.graphId = w->graph,
					.contextId = w->context,
					.streamId = w->stream,
					.endDeviceId = w->device,
					.endContextId = w->context };

	sc_emit_work(&r, t);
}

void sc_work(const struct sim_work *w)
{
	struct sc_times t = { .queued = w->call->queued, .start = w->start, .end = w->end };
	bool whole_graphs = on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);

	/* The call began before anybody traced. */
	if (w->call->correlation == 0 || sc.dead)
		return;
	if (w->kind == SIM_WORK_GRAPH) {
		if (whole_graphs)
			graph(w, &t);
	} else if (w->graph && whole_graphs) {
		return; /* one record stands for all of its nodes */
	} else if (w->kind == SIM_WORK_KERNEL) {
		if (on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) || on(CUPTI_ACTIVITY_KIND_KERNEL))
			kernel(w, &t);
	} else if (w->kind == SIM_WORK_COPY) {
		copy(w, &t);
	} else if (on(CUPTI_ACTIVITY_KIND_MEMSET)) {
		set(w, &t);
	}
}

/* ---- calls ---- */
static __thread struct {
	uint64_t id[16];
	unsigned depth;
} external[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

static void driver_record(const struct sim_call *c, uint64_t end)
{
	CUpti_ActivityAPI r = { .kind = CUPTI_ACTIVITY_KIND_DRIVER,
				.cbid = sc_cbid(c->api),
				.start = c->start,
				.end = end,
				.processId = (uint32_t)getpid(),
				.threadId = (uint32_t)syscall(SYS_gettid),
				.correlationId = c->correlation,
				.returnValue = (uint32_t)c->result };

	for (uint32_t k = 1; k < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; k++)
		if (external[k].depth && on(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION))
			sc_emit(&(CUpti_ActivityExternalCorrelation){
				.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
				.externalKind = (CUpti_ExternalCorrelationKind)k,
				.externalId = external[k].id[external[k].depth - 1],
				.correlationId = c->correlation });
	sc_emit(&r);
}

static void sync_record(const struct sim_call *c, uint64_t end)
{
	static const struct {
		const char *base;
		CUpti_ActivitySynchronizationType type;
	} rows[] = {
		{ "cuCtxSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE },
		{ "cuCtxSynchronize_v2", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE },
		{ "cuStreamSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE },
		{ "cuEventSynchronize", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE },
		{ "cuStreamWaitEvent", CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT },
	};
	const struct sim_private *d = sc.driver;
	CUpti_ActivitySynchronization2 r = { .kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
					     .start = c->start,
					     .end = end,
					     .correlationId = c->correlation,
					     .streamId = UINT32_MAX,
					     .returnValue = (uint32_t)c->result };
	uint32_t context = UINT32_MAX, stream, device;
	void *handle;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(c->api->base, rows[i].base) == 0)
			r.type = rows[i].type;
	if (r.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN)
		return;
	if (strncmp(c->api->base, "cuStream", 8) == 0 &&
	    d->stream(0, c->a[0], c->api->flags & SIM_API_PER_THREAD, &stream))
		r.streamId = stream;
	d->context(0, &handle, &context, &device);
	r.contextId = context;
	sc_emit(&r);
}

void sc_overhead(uint64_t began)
{
	CUpti_ActivityOverhead3 r = { .kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
				      .overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH,
				      .objectKind = CUPTI_ACTIVITY_OBJECT_THREAD,
				      .start = began };

	if (!on(CUPTI_ACTIVITY_KIND_OVERHEAD))
		return;
	r.objectId.pt.processId = (uint32_t)getpid();
	r.objectId.pt.threadId = (uint32_t)syscall(SYS_gettid);
	r.end = sc_timestamp();
	sc_emit(&r);
}

static bool is_free(const char *base)
{
	return strcmp(base, "cuMemFree") == 0 || strcmp(base, "cuMemFreeHost") == 0 ||
	       strcmp(base, "cuMemFreeAsync") == 0;
}

static bool is_alloc(const char *base)
{
	return strcmp(base, "cuMemAlloc") == 0 || strcmp(base, "cuMemAllocPitch") == 0 ||
	       strcmp(base, "cuMemAllocManaged") == 0 || strcmp(base, "cuMemHostAlloc") == 0 ||
	       strcmp(base, "cuMemAllocHost") == 0 || strcmp(base, "cuMemAllocAsync") == 0 ||
	       strcmp(base, "cuMemAllocFromPoolAsync") == 0;
}

void sc_before_free(struct sim_call *c)
{
	const struct sim_private *d = sc.driver;

	if (on(CUPTI_ACTIVITY_KIND_MEMORY2) && is_free(c->api->base))
		c->memory = d->memory(c->a[0]);
}

static void memory_record(const struct sim_call *c)
{
	const struct sim_private *d = sc.driver;
	struct sim_memory m = c->memory;
	CUpti_ActivityMemory4 r = { .kind = CUPTI_ACTIVITY_KIND_MEMORY2,
				    .memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE,
				    .correlationId = c->correlation,
				    .timestamp = c->start,
				    .processId = (uint32_t)getpid(),
				    .streamId = UINT32_MAX,
				    .isAsync = strstr(c->api->base, "Async") != NULL };

	if (c->result != CUDA_SUCCESS || (c->api->flags & SIM_API_LEGACY32))
		return;
	if (is_alloc(c->api->base)) {
		m = d->memory(*(uint64_t *)(uintptr_t)c->a[0]);
		r.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
	} else if (!is_free(c->api->base)) {
		return;
	}
	if (!m.kind)
		return;
	r.memoryKind = (CUpti_ActivityMemoryKind)m.kind;
	r.address = m.address;
	r.bytes = m.bytes;
	r.deviceId = m.device;
	r.contextId = m.context;
	sc_emit(&r);
}

void sc_api_records(const struct sim_call *c)
{
	uint64_t end;

	if (!(sc.kinds & SC_API_KINDS) || !c->start)
		return;
	end = sc_timestamp();
	if (on(CUPTI_ACTIVITY_KIND_DRIVER))
		driver_record(c, end);
	if (on(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION))
		sync_record(c, end);
	if (on(CUPTI_ACTIVITY_KIND_MEMORY2))
		memory_record(c);
	if (on(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER))
		sc_unified(c, end);
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if ((unsigned)kind - 1 >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE - 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (external[kind].depth == 16)
		return CUPTI_ERROR_OUT_OF_MEMORY;
	external[kind].id[external[kind].depth++] = id;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *lastId)
{
	if ((unsigned)kind - 1 >= CUPTI_EXTERNAL_CORRELATION_KIND_SIZE - 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (external[kind].depth == 0)
		return CUPTI_ERROR_QUEUE_EMPTY;
	external[kind].depth--;
	if (lastId)
		*lastId = external[kind].id[external[kind].depth];
	return CUPTI_SUCCESS;
}

/* Called for each record: no line in the log. */
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record)
{
	uint8_t *at;
	size_t left, size;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	at = *record ? (uint8_t *)*record + sc_record_size((*record)->kind) : buffer;
	left = (size_t)(buffer + validBufferSizeBytes - at);
	if (left < sizeof(CUpti_Activity))
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	size = sc_record_size(((CUpti_Activity *)at)->kind);
	if (size == 0 || size > left)
		return CUPTI_ERROR_INVALID_KIND;
	*record = (CUpti_Activity *)at;
	return CUPTI_SUCCESS;
}
