/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of the simulated libcupti as a client sees it: callbacks, and a record for each thing that ran. */

#include "client.h"

/* Must stand first: nothing is initialised yet, as in InitializeInjection. */
T(works_before_cuInit)
{
	uint32_t version = 0;
	uint64_t t = 0;
	const char *text = NULL;

	OK(cuptiGetVersion(&version));
	CHECK(version == CUPTI_API_VERSION);
	OK(cuptiGetTimestamp(&t));
	CHECK(t > 1600000000000000000ull); /* the wall clock, as long as no other was registered */
	OK(cuptiGetResultString(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, &text));
	CHECK(text && strcmp(text, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED") == 0);
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	start();
	OK(launch(fast, NULL));
	finish();
	CHECK(records_of(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
	leave();
}

T(one_subscriber)
{
	CUpti_SubscriberHandle other = NULL;
	char old[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams mine = { .structSize = sizeof(mine), .subscriberName = "first" };
	CUpti_SubscriberParams yours = { .structSize = sizeof(yours),
					 .oldSubscriberName = old,
					 .oldSubscriberSize = sizeof(old) };

	OK(cuptiSubscribe_v2(&client.handle, no_callback, NULL, &mine));
	IS(cuptiSubscribe(&other, no_callback, NULL), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	IS(cuptiSubscribe_v2(&other, no_callback, NULL, &yours),
	   CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CHECK(strcmp(old, "CUPTI for first") == 0);
	IS(cuptiUnsubscribe((CUpti_SubscriberHandle)&old), CUPTI_ERROR_INVALID_PARAMETER);
	OK(cuptiUnsubscribe(client.handle));
	IS(cuptiEnableCallback(1, client.handle, CUPTI_CB_DOMAIN_DRIVER_API, 307),
	   CUPTI_ERROR_INVALID_PARAMETER);
	OK(cuptiSubscribe(&other, no_callback, NULL));
	OK(cuptiUnsubscribe(other));
}

static _Atomic size_t stolen;

static void CUPTIAPI steal(CUcontext c, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	CUpti_Activity *r = NULL;

	(void)c;
	(void)stream;
	(void)size;
	while (cuptiActivityGetNextRecord(buffer, valid, &r) == CUPTI_SUCCESS)
		stolen++;
	free(buffer);
}

T(without_a_subscription_the_records_of_another_are_taken)
{
	start();
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityRegisterCallbacks(requested, steal));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(fast, NULL));
	finish();
	CHECK(stolen == 1 && client.records == 0);
	leave();
}

T(who_comes_after_kinds_were_enabled_without_a_subscription_gets_nothing)
{
	start();
	keep_none();
	OK(cuptiActivityRegisterCallbacks(requested, completed));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(fast, NULL));
	finish();
	CHECK(client.records == 1);
	OK(cuptiSubscribe(&client.handle, no_callback, NULL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	OK(launch(fast, NULL));
	finish();
	CHECK(client.records == 1);
	leave();
	/* It does not last. */
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(fast, NULL));
	finish();
	CHECK(client.records == 1);
	leave();
}

/* ---- callbacks ---- */
struct seen {
	unsigned enter, exit, others;
	uint32_t correlation;
	int result;
	bool right;
	CUstream stream;
};

static void CUPTIAPI on_launch(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	const CUpti_CallbackData *d = data;
	const cuLaunchKernel_params *p = d->functionParams;
	struct seen *seen = user;
	uint32_t context = 0;

	if (domain != CUPTI_CB_DOMAIN_DRIVER_API || id != CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
		seen->others++;
		return;
	}
	if (d->callbackSite == CUPTI_API_ENTER) {
		seen->enter++;
		seen->correlation = d->correlationId;
		*d->correlationData = 0x1234567890;
		OK(cuptiGetContextId(ctx, &context));
		seen->right = p->f == fast && p->gridDimX == 2 && p->gridDimZ == 4 && p->blockDimY == 2 &&
			      p->sharedMemBytes == 128 && p->hStream == seen->stream &&
			      !d->functionReturnValue && strcmp(d->symbolName, "fast") == 0 &&
			      strcmp(d->functionName, "cuLaunchKernel") == 0 && d->context == ctx &&
			      d->contextUid == context;
	} else {
		seen->exit++;
		seen->result = *(int *)d->functionReturnValue;
		seen->right &= d->correlationId == seen->correlation && *d->correlationData == 0x1234567890;
	}
	/* A call of the driver from inside a callback has none itself. */
	OK(cuCtxGetDevice(&(CUdevice){ 0 }));
}

T(callbacks_around_the_calls_that_are_enabled)
{
	struct seen seen = { 0 };
	uint32_t on = 0;
	const char *name = NULL;

	start();
	OK(cuStreamCreate(&seen.stream, CU_STREAM_NON_BLOCKING));
	subscribe(on_launch, &seen);
	OK(launch(fast, NULL));
	CHECK(seen.enter == 0);
	OK(cuptiEnableCallback(1, client.handle, CUPTI_CB_DOMAIN_DRIVER_API,
			       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	OK(cuptiGetCallbackState(&on, client.handle, CUPTI_CB_DOMAIN_DRIVER_API,
				 CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	CHECK(on == 1);
	OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &name));
	CHECK(name && strcmp(name, "cuLaunchKernel") == 0);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(fast, seen.stream));
	CHECK(seen.enter == 1 && seen.exit == 1 && seen.right && seen.result == 0);
	finish();
	CHECK(seen.others == 0);
	/* The id of the call is the id of the record. */
	CHECK(records_of(10) == 1 &&
	      ((CUpti_ActivityKernel10 *)record(10, 0))->correlationId == seen.correlation);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_DRIVER_API));
	IS(launch(NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	CHECK(seen.result == CUDA_ERROR_INVALID_HANDLE && seen.others == 0);
	OK(cuCtxGetDevice(&(CUdevice){ 0 }));
	CHECK(seen.others == 2);
	OK(cuptiUnsubscribe(client.handle));
	OK(launch(fast, NULL));
	CHECK(seen.exit == 2);
	OK(cuptiSubscribe(&client.handle, no_callback, NULL));
	leave();
	OK(cuStreamDestroy(seen.stream));
}

struct resources {
	unsigned loaded, unloaded, contexts, gone, streams, execs;
	uint32_t module;
	bool whole, in_launch, launching;
};

static void CUPTIAPI on_resource(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
				 const void *data)
{
	const CUpti_ResourceData *d = data;
	const CUpti_ModuleResourceData *m = d->resourceDescriptor;
	struct resources *r = user;

	if (domain != CUPTI_CB_DOMAIN_RESOURCE)
		return;
	if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
		r->loaded++;
		r->module = m->moduleId;
		r->whole = m->cubinSize == strlen(ptx) && memcmp(m->pCubin, ptx, m->cubinSize) == 0;
		r->in_launch = r->launching;
	}
	r->unloaded += id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING && m->moduleId == r->module;
	r->contexts += id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED && d->context;
	r->gone += id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING && d->context;
	r->streams += id == CUPTI_CBID_RESOURCE_STREAM_CREATED && d->resourceHandle.stream;
	r->execs += id == CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
}

T(modules_load_inside_the_first_launch)
{
	struct resources r = { 0 };
	CUcontext other;
	CUstream s;

	start();
	subscribe(on_resource, &r);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_RESOURCE));
	start();
	CHECK(r.loaded == 0);
	r.launching = true;
	OK(launch(fast, NULL));
	r.launching = false;
	CHECK(r.loaded == 1 && r.whole && r.in_launch);
	OK(launch(slow, NULL));
	OK(launch(fast, NULL));
	CHECK(r.loaded == 1);
	OK(cuModuleUnload(module));
	CHECK(r.unloaded == 1);
	OK(cuCtxCreate(&other, NULL, 0, 0));
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CHECK(r.contexts == 1 && r.gone == 0 && r.streams == 1);
	OK(cuCtxDestroy(other));
	CHECK(r.gone == 1);
	start();
	leave();
}

T(modules_load_at_once_where_that_is_asked_for)
{
	struct resources r = { 0 };

	if (!in_child("modules_load_at_once_where_that_is_asked_for", NULL, "CUDA_MODULE_LOADING=EAGER",
		      NULL))
		return;
	OK(cuInit(0));
	subscribe(on_resource, &r);
	OK(cuptiEnableDomain(1, client.handle, CUPTI_CB_DOMAIN_RESOURCE));
	start();
	CHECK(r.loaded == 1 && r.whole && r.contexts == 1);
}

/* ---- records ---- */
T(a_kernel_says_what_it_was)
{
	CUpti_ActivityKernel10 *k;
	uint32_t context = 0, stream = 0;
	uint64_t before, after;
	CUstream s;

	start();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	before = now();
	OK(launch(slow, s));
	OK(launch(fast, s));
	finish();
	after = now();
	CHECK(records_of(10) == 2);
	k = record(10, 0);
	OK(cuptiGetContextId(ctx, &context));
	OK(cuptiGetStreamIdEx(ctx, s, 0, &stream));
	CHECK(strcmp(k->name, "slow") == 0 && k->gridX == 2 && k->gridY == 3 && k->gridZ == 4);
	CHECK(k->blockX == 32 && k->blockY == 2 && k->blockZ == 1 && k->dynamicSharedMemory == 128);
	CHECK(k->deviceId == 0 && k->contextId == context && k->streamId == stream);
	CHECK(k->registersPerThread == 32 && k->graphId == 0 && k->graphNodeId == 0);
	CHECK(k->queued == CUPTI_TIMESTAMP_UNKNOWN && k->submitted == CUPTI_TIMESTAMP_UNKNOWN);
	CHECK(before <= k->start && k->end <= after && k->end - k->start == SLOW_NS);
	/* The second waits for the first. */
	CHECK(((CUpti_ActivityKernel10 *)record(10, 1))->start == k->end);
	OK(cuptiActivityEnableLatencyTimestamps(1));
	OK(launch(slow, s));
	OK(launch(fast, s));
	finish();
	OK(cuptiActivityEnableLatencyTimestamps(0));
	k = record(10, 3);
	CHECK(k && k->queued && k->queued <= k->submitted && k->submitted <= k->start);
	CHECK(k && k->start - k->queued > SLOW_NS / 2);
	leave();
	OK(cuStreamDestroy(s));
}

/* cuLaunchKernelEx with a cluster, and a cooperative launch. */
T(a_kernel_says_how_it_was_launched)
{
	CUlaunchAttribute attr = { .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION };
	CUlaunchConfig config = { .gridDimX = 4,
				  .gridDimY = 2,
				  .gridDimZ = 1,
				  .blockDimX = 32,
				  .blockDimY = 1,
				  .blockDimZ = 1,
				  .attrs = &attr,
				  .numAttrs = 1 };
	CUpti_ActivityKernel10 *k;

	attr.value.clusterDim.x = 2;
	attr.value.clusterDim.y = 2;
	attr.value.clusterDim.z = 1;
	start();
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuLaunchKernelEx(&config, fast, NULL, NULL));
	OK(cuLaunchCooperativeKernel(fast, 1, 1, 1, 32, 1, 1, 0, NULL, NULL));
	finish();
	k = record(10, 0);
	CHECK(k && k->clusterX == 2 && k->clusterY == 2 && k->clusterZ == 1 && k->launchType == 0);
	k = record(10, 1);
	CHECK(k && k->clusterX == 0 && k->launchType == 1);
	leave();
}

static bool is_copy(size_t n, unsigned kind, unsigned src, unsigned dst, uint64_t bytes, bool async)
{
	CUpti_ActivityMemcpy6 *m = record(CUPTI_ACTIVITY_KIND_MEMCPY, n);

	return m && m->copyKind == kind && m->srcKind == src && m->dstKind == dst && m->bytes == bytes &&
	       (m->flags & CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) == async && m->end > m->start && m->start &&
	       m->correlationId;
}

T(copies_and_sets_say_what_they_were)
{
	static char pageable[4096];
	CUpti_ActivityMemset4 *m;
	CUdeviceptr a, b;
	void *pinned;

	start();
	OK(cuMemAlloc(&a, 4096));
	OK(cuMemAlloc(&b, 4096));
	OK(cuMemHostAlloc(&pinned, 4096, 0));
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	OK(cuMemcpyHtoD(a, pageable, 100));
	OK(cuMemcpyHtoDAsync(a, pinned, 200, NULL));
	OK(cuMemcpyDtoHAsync(pageable, a, 300, NULL));
	OK(cuMemcpyDtoD(b, a, 400));
	OK(cuMemcpy((CUdeviceptr)(uintptr_t)pinned, (CUdeviceptr)(uintptr_t)pageable, 500));
	OK(cuMemsetD32Async(a, 7, 25, NULL));
	finish();
	CHECK(records_of(CUPTI_ACTIVITY_KIND_MEMCPY) == 5);
	CHECK(is_copy(0, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1, 3, 100, false));
	CHECK(is_copy(1, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 2, 3, 200, true));
	CHECK(is_copy(2, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 3, 1, 300, true));
	CHECK(is_copy(3, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, 3, 3, 400, false));
	CHECK(is_copy(4, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH, 1, 2, 500, false));
	m = record(CUPTI_ACTIVITY_KIND_MEMSET, 0);
	CHECK(m && m->bytes == 100 && m->value == 7 && m->memoryKind == 3 && m->end > m->start);
	leave();
	OK(cuMemFree(a));
	OK(cuMemFree(b));
	OK(cuMemFreeHost(pinned));
}

T(a_copy_between_devices_is_a_peer_copy)
{
	CUpti_ActivityMemcpyPtoP4 *m;
	CUcontext other;
	CUdeviceptr a, b;

	if (!in_child("a_copy_between_devices_is_a_peer_copy", NULL, "SIMCUDA_DEVICES=2", NULL))
		return;
	start();
	OK(cuMemAlloc(&a, 4096));
	OK(cuDevicePrimaryCtxRetain(&other, 1));
	OK(cuCtxPushCurrent(other));
	OK(cuMemAlloc(&b, 4096));
	OK(cuCtxPopCurrent(&other));
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	OK(cuMemcpyPeer(b, other, a, ctx, 1000));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY2));
	OK(cuMemcpyPeerAsync(b, other, a, ctx, 2000, NULL));
	finish();
	CHECK(records_of(CUPTI_ACTIVITY_KIND_MEMCPY) == 0 && records_of(CUPTI_ACTIVITY_KIND_MEMCPY2) == 1);
	m = record(CUPTI_ACTIVITY_KIND_MEMCPY2, 0);
	CHECK(m && m->copyKind == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP && m->bytes == 2000 &&
	      m->srcDeviceId == 0 && m->dstDeviceId == 1 && m->srcContextId != m->dstContextId &&
	      m->flags == 1);
}

static CUgraphExec three_nodes(CUstream s, CUdeviceptr mem)
{
	CUgraphExec exec = NULL;
	CUgraph graph;

	OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(launch(fast, s));
	OK(cuMemcpyDtoDAsync(mem, mem + 512, 256, s));
	OK(cuMemsetD8Async(mem, 1, 64, s));
	OK(cuStreamEndCapture(s, &graph));
	OK(cuGraphInstantiate(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	return exec;
}

T(each_node_of_a_graph_has_its_record_and_the_captured_calls_none)
{
	CUpti_ActivityKernel10 *k;
	CUpti_ActivityMemcpy6 *c;
	CUpti_ActivityMemset4 *m;
	CUpti_ActivityGraphTrace2 *g;
	CUgraphExec exec;
	CUdeviceptr mem;
	uint32_t id = 0;
	CUstream s;

	start();
	OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc(&mem, 4096));
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMSET));
	exec = three_nodes(s, mem);
	finish();
	CHECK(client.records == 0);
	OK(cuGraphLaunch(exec, s));
	OK(cuGraphLaunch(exec, s));
	finish();
	OK(cuptiGetGraphExecId(exec, &id));
	CHECK(records_of(10) == 2 && records_of(1) == 2 && records_of(2) == 2);
	k = record(10, 0);
	c = record(1, 0);
	m = record(2, 0);
	CHECK(k->graphId == id && c->graphId == id && m->graphId == id && id);
	CHECK(k->graphNodeId && k->graphNodeId != c->graphNodeId && c->graphNodeId != m->graphNodeId);
	CHECK(k->correlationId == c->correlationId && c->correlationId == m->correlationId);
	CHECK(k->end <= c->start && c->end <= m->start);
	CHECK(((CUpti_ActivityKernel10 *)record(10, 1))->correlationId != k->correlationId);
	CHECK(((CUpti_ActivityKernel10 *)record(10, 1))->graphNodeId == k->graphNodeId);
	/* Where graphs are traced whole, there are no nodes. */
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE));
	OK(cuGraphLaunch(exec, s));
	finish();
	g = record(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 0);
	CHECK(client.records == 7 && g && g->graphId == id && g->end > g->start);
	leave();
	OK(cuGraphExecDestroy(exec));
	OK(cuMemFree(mem));
	OK(cuStreamDestroy(s));
}

T(calls_and_synchronization_and_memory_as_records)
{
	CUpti_ActivitySynchronization2 *s;
	CUpti_ActivityExternalCorrelation *x;
	CUpti_ActivityMemory4 *m;
	CUpti_ActivityAPI *a;
	CUdeviceptr mem;
	uint64_t last = 0;

	start();
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMORY2));
	OK(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 4711));
	OK(cuMemAlloc(&mem, 12345));
	OK(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last));
	IS(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, NULL),
	   CUPTI_ERROR_QUEUE_EMPTY);
	CHECK(last == 4711);
	OK(launch(slow, NULL));
	OK(cuStreamSynchronize(NULL));
	OK(cuMemFree(mem));
	OK(cuptiActivityFlushAll(0));
	a = record(CUPTI_ACTIVITY_KIND_DRIVER, 0);
	x = record(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0);
	CHECK(records_of(CUPTI_ACTIVITY_KIND_DRIVER) == 4 &&
	      a->cbid == CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2);
	CHECK(a->end > a->start && a->processId == (uint32_t)getpid() && a->returnValue == 0);
	CHECK(x && x->externalId == 4711 && x->correlationId == a->correlationId &&
	      records_of(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) == 1);
	s = record(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0);
	CHECK(s && s->type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
	CHECK(s && s->end - s->start > SLOW_NS / 2);
	m = record(CUPTI_ACTIVITY_KIND_MEMORY2, 0);
	CHECK(m && m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION &&
	      m->address == mem && m->bytes == 12345 && m->memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	m = record(CUPTI_ACTIVITY_KIND_MEMORY2, 1);
	CHECK(m && m->memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE &&
	      m->address == mem && m->bytes == 12345);
	leave();
}

/* One for each buffer that held anything else. */
T(the_return_of_a_buffer_as_overhead)
{
	CUpti_ActivityOverhead3 *o;

	start();
	subscribe(NULL, NULL);
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_OVERHEAD));
	OK(launch(fast, NULL));
	finish();
	CHECK(records_of(CUPTI_ACTIVITY_KIND_OVERHEAD) == 0);
	OK(cuptiActivityFlushAll(0));
	OK(cuptiActivityFlushAll(0));
	o = record(CUPTI_ACTIVITY_KIND_OVERHEAD, 0);
	CHECK(records_of(CUPTI_ACTIVITY_KIND_OVERHEAD) == 1 && o->end >= o->start &&
	      o->overheadKind == CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH &&
	      o->objectId.pt.processId == (uint32_t)getpid());
	leave();
}

TEST_MAIN
