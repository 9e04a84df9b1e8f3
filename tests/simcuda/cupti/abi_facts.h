/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every value, size and offset that our own cupti.h states, for gen_abi.c and abi_check.c. */
#ifndef SIMCUPTI_ABI_FACTS_H
#define SIMCUPTI_ABI_FACTS_H

/* clang-format off */
#define CUPTI_ABI_VALUES(X) \
	X(CUPTI_SUCCESS) \
	X(CUPTI_ERROR_INVALID_PARAMETER) \
	X(CUPTI_ERROR_INVALID_DEVICE) \
	X(CUPTI_ERROR_INVALID_CONTEXT) \
	X(CUPTI_ERROR_INVALID_OPERATION) \
	X(CUPTI_ERROR_OUT_OF_MEMORY) \
	X(CUPTI_ERROR_HARDWARE) \
	X(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT) \
	X(CUPTI_ERROR_MAX_LIMIT_REACHED) \
	X(CUPTI_ERROR_NOT_READY) \
	X(CUPTI_ERROR_NOT_COMPATIBLE) \
	X(CUPTI_ERROR_NOT_INITIALIZED) \
	X(CUPTI_ERROR_QUEUE_EMPTY) \
	X(CUPTI_ERROR_INVALID_STREAM) \
	X(CUPTI_ERROR_INVALID_KIND) \
	X(CUPTI_ERROR_DISABLED) \
	X(CUPTI_ERROR_NOT_SUPPORTED) \
	X(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) \
	X(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) \
	X(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES) \
	X(CUPTI_ERROR_UNKNOWN) \
	X(CUPTI_API_ENTER) \
	X(CUPTI_API_EXIT) \
	X(CUPTI_CB_DOMAIN_INVALID) \
	X(CUPTI_CB_DOMAIN_DRIVER_API) \
	X(CUPTI_CB_DOMAIN_RUNTIME_API) \
	X(CUPTI_CB_DOMAIN_RESOURCE) \
	X(CUPTI_CB_DOMAIN_SYNCHRONIZE) \
	X(CUPTI_CB_DOMAIN_NVTX) \
	X(CUPTI_CB_DOMAIN_STATE) \
	X(CUPTI_CBID_RESOURCE_INVALID) \
	X(CUPTI_CBID_RESOURCE_CONTEXT_CREATED) \
	X(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) \
	X(CUPTI_CBID_RESOURCE_STREAM_CREATED) \
	X(CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING) \
	X(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) \
	X(CUPTI_CBID_RESOURCE_MODULE_LOADED) \
	X(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) \
	X(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED) \
	X(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING) \
	X(CUPTI_CBID_RESOURCE_SIZE) \
	X(CUPTI_ACTIVITY_KIND_INVALID) \
	X(CUPTI_ACTIVITY_KIND_MEMCPY) \
	X(CUPTI_ACTIVITY_KIND_MEMSET) \
	X(CUPTI_ACTIVITY_KIND_KERNEL) \
	X(CUPTI_ACTIVITY_KIND_DRIVER) \
	X(CUPTI_ACTIVITY_KIND_RUNTIME) \
	X(CUPTI_ACTIVITY_KIND_DEVICE) \
	X(CUPTI_ACTIVITY_KIND_CONTEXT) \
	X(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) \
	X(CUPTI_ACTIVITY_KIND_MARKER) \
	X(CUPTI_ACTIVITY_KIND_MARKER_DATA) \
	X(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER) \
	X(CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD) \
	X(CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT) \
	X(CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS) \
	X(CUPTI_ACTIVITY_FLAG_MARKER_START) \
	X(CUPTI_ACTIVITY_FLAG_MARKER_END) \
	X(CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE) \
	X(CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB) \
	X(CUPTI_METRIC_VALUE_KIND_DOUBLE) \
	X(CUPTI_METRIC_VALUE_KIND_UINT64) \
	X(CUPTI_METRIC_VALUE_KIND_INT64) \
	X(CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD) \
	X(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT) \
	X(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) \
	X(CUPTI_ACTIVITY_KIND_OVERHEAD) \
	X(CUPTI_ACTIVITY_KIND_MEMCPY2) \
	X(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) \
	X(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) \
	X(CUPTI_ACTIVITY_KIND_MEMORY) \
	X(CUPTI_ACTIVITY_KIND_MEMORY2) \
	X(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) \
	X(CUPTI_ACTIVITY_KIND_COUNT) \
	X(CUPTI_ACTIVITY_FLAG_NONE) \
	X(CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC) \
	X(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) \
	X(CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_HTOA) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_ATOH) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_ATOA) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_ATOD) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_DTOA) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH) \
	X(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP) \
	X(CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN) \
	X(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE) \
	X(CUPTI_ACTIVITY_MEMORY_KIND_PINNED) \
	X(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE) \
	X(CUPTI_ACTIVITY_MEMORY_KIND_ARRAY) \
	X(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED) \
	X(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN) \
	X(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE) \
	X(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) \
	X(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE) \
	X(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE) \
	X(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID) \
	X(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION) \
	X(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE) \
	X(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID) \
	X(CUPTI_CHANNEL_TYPE_INVALID) \
	X(CUPTI_CHANNEL_TYPE_COMPUTE) \
	X(CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2) \
	X(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE) \
	X(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP) \
	X(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT) \
	X(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE) \
	X(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT) \
	X(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) \
	X(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE) \
	X(CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE) \
	X(CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED) \
	X(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER) \
	X(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH) \
	X(CUPTI_ACTIVITY_OBJECT_UNKNOWN) \
	X(CUPTI_ACTIVITY_OBJECT_PROCESS) \
	X(CUPTI_ACTIVITY_OBJECT_THREAD) \
	X(CUPTI_CB_DOMAIN_SIZE) \
	X(CUPTI_EXTERNAL_CORRELATION_KIND_SIZE) \
	X(CUPTI_API_VERSION) \
	X(CUPTI_TIMESTAMP_UNKNOWN) \
	X(CUPTI_SUBSCRIBER_NAME_MAX_LEN) \
	X(CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN)

#define CUPTI_ABI_SIZES(X) \
	X(CUpti_CallbackData) \
	X(CUpti_ResourceData) \
	X(CUpti_ModuleResourceData) \
	X(CUpti_GraphData) \
	X(CUpti_SubscriberParams) \
	X(cuLaunchKernel_params) \
	X(cuMemcpyHtoDAsync_v2_params) \
	X(CUpti_Activity) \
	X(CUpti_ActivityMemcpy6) \
	X(CUpti_ActivityMemcpyPtoP4) \
	X(CUpti_ActivityMemset4) \
	X(CUpti_ActivityMemory4) \
	X(CUpti_ActivityKernel10) \
	X(CUpti_ActivityAPI) \
	X(CUpti_ActivitySynchronization2) \
	X(CUpti_ActivityExternalCorrelation) \
	X(CUpti_ActivityMarker2) \
	X(CUpti_ActivityMarkerData2) \
	X(CUpti_ActivityUnifiedMemoryCounterConfig) \
	X(CUpti_ActivityUnifiedMemoryCounter3) \
	X(CUpti_ActivityOverhead3) \
	X(CUpti_ActivityGraphTrace2) \
	X(CUpti_ActivityObjectKindId)

#define CUPTI_ABI_OFFSETS(X) \
	X(CUpti_ActivityUnifiedMemoryCounter3, kind) X(CUpti_ActivityUnifiedMemoryCounter3, counterKind) \
	X(CUpti_ActivityUnifiedMemoryCounter3, value) X(CUpti_ActivityUnifiedMemoryCounter3, start) \
	X(CUpti_ActivityUnifiedMemoryCounter3, end) X(CUpti_ActivityUnifiedMemoryCounter3, address) \
	X(CUpti_ActivityUnifiedMemoryCounter3, srcId) X(CUpti_ActivityUnifiedMemoryCounter3, dstId) \
	X(CUpti_ActivityUnifiedMemoryCounter3, streamId) X(CUpti_ActivityUnifiedMemoryCounter3, processId) \
	X(CUpti_ActivityUnifiedMemoryCounter3, flags) X(CUpti_ActivityUnifiedMemoryCounter3, processors) \
	X(CUpti_ActivityUnifiedMemoryCounterConfig, scope) X(CUpti_ActivityUnifiedMemoryCounterConfig, kind) \
	X(CUpti_ActivityUnifiedMemoryCounterConfig, deviceId) X(CUpti_ActivityUnifiedMemoryCounterConfig, enable) \
	X(CUpti_ActivityMarker2, kind) X(CUpti_ActivityMarker2, flags) X(CUpti_ActivityMarker2, timestamp) \
	X(CUpti_ActivityMarker2, id) X(CUpti_ActivityMarker2, objectKind) X(CUpti_ActivityMarker2, objectId) \
	X(CUpti_ActivityMarker2, name) X(CUpti_ActivityMarker2, domain) \
	X(CUpti_ActivityMarkerData2, kind) X(CUpti_ActivityMarkerData2, flags) X(CUpti_ActivityMarkerData2, id) \
	X(CUpti_ActivityMarkerData2, payloadKind) X(CUpti_ActivityMarkerData2, payload) \
	X(CUpti_ActivityMarkerData2, color) X(CUpti_ActivityMarkerData2, category) \
	X(CUpti_ActivityMarkerData2, cuptiDomainId) \
	X(CUpti_CallbackData, callbackSite) X(CUpti_CallbackData, functionName) \
	X(CUpti_CallbackData, functionParams) X(CUpti_CallbackData, functionReturnValue) \
	X(CUpti_CallbackData, symbolName) X(CUpti_CallbackData, context) X(CUpti_CallbackData, contextUid) \
	X(CUpti_CallbackData, correlationData) X(CUpti_CallbackData, correlationId) \
	X(CUpti_ResourceData, context) X(CUpti_ResourceData, resourceHandle) \
	X(CUpti_ResourceData, resourceDescriptor) X(CUpti_ModuleResourceData, moduleId) \
	X(CUpti_ModuleResourceData, cubinSize) X(CUpti_ModuleResourceData, pCubin) X(CUpti_GraphData, graph) \
	X(CUpti_GraphData, originalGraph) X(CUpti_GraphData, node) X(CUpti_GraphData, originalNode) \
	X(CUpti_GraphData, nodeType) X(CUpti_GraphData, dependency) X(CUpti_GraphData, graphExec) \
	X(CUpti_SubscriberParams, structSize) X(CUpti_SubscriberParams, subscriberName) \
	X(CUpti_SubscriberParams, oldSubscriberName) X(CUpti_SubscriberParams, oldSubscriberSize) \
	X(cuLaunchKernel_params, f) X(cuLaunchKernel_params, gridDimX) X(cuLaunchKernel_params, gridDimY) \
	X(cuLaunchKernel_params, gridDimZ) X(cuLaunchKernel_params, blockDimX) \
	X(cuLaunchKernel_params, blockDimY) X(cuLaunchKernel_params, blockDimZ) \
	X(cuLaunchKernel_params, sharedMemBytes) X(cuLaunchKernel_params, hStream) \
	X(cuLaunchKernel_params, kernelParams) X(cuLaunchKernel_params, extra) \
	X(cuMemcpyHtoDAsync_v2_params, dstDevice) X(cuMemcpyHtoDAsync_v2_params, srcHost) \
	X(cuMemcpyHtoDAsync_v2_params, ByteCount) X(cuMemcpyHtoDAsync_v2_params, hStream) \
	X(CUpti_Activity, kind) X(CUpti_ActivityMemcpy6, kind) X(CUpti_ActivityMemcpy6, copyKind) \
	X(CUpti_ActivityMemcpy6, srcKind) X(CUpti_ActivityMemcpy6, dstKind) X(CUpti_ActivityMemcpy6, flags) \
	X(CUpti_ActivityMemcpy6, bytes) X(CUpti_ActivityMemcpy6, start) X(CUpti_ActivityMemcpy6, end) \
	X(CUpti_ActivityMemcpy6, deviceId) X(CUpti_ActivityMemcpy6, contextId) \
	X(CUpti_ActivityMemcpy6, streamId) X(CUpti_ActivityMemcpy6, correlationId) \
	X(CUpti_ActivityMemcpy6, runtimeCorrelationId) X(CUpti_ActivityMemcpy6, graphNodeId) \
	X(CUpti_ActivityMemcpy6, graphId) X(CUpti_ActivityMemcpy6, channelID) \
	X(CUpti_ActivityMemcpy6, channelType) X(CUpti_ActivityMemcpy6, isDeviceLaunched) \
	X(CUpti_ActivityMemcpy6, copyCount) X(CUpti_ActivityMemcpyPtoP4, kind) \
	X(CUpti_ActivityMemcpyPtoP4, copyKind) X(CUpti_ActivityMemcpyPtoP4, srcKind) \
	X(CUpti_ActivityMemcpyPtoP4, dstKind) X(CUpti_ActivityMemcpyPtoP4, flags) \
	X(CUpti_ActivityMemcpyPtoP4, bytes) X(CUpti_ActivityMemcpyPtoP4, start) \
	X(CUpti_ActivityMemcpyPtoP4, end) X(CUpti_ActivityMemcpyPtoP4, deviceId) \
	X(CUpti_ActivityMemcpyPtoP4, contextId) X(CUpti_ActivityMemcpyPtoP4, streamId) \
	X(CUpti_ActivityMemcpyPtoP4, srcDeviceId) X(CUpti_ActivityMemcpyPtoP4, srcContextId) \
	X(CUpti_ActivityMemcpyPtoP4, dstDeviceId) X(CUpti_ActivityMemcpyPtoP4, dstContextId) \
	X(CUpti_ActivityMemcpyPtoP4, correlationId) X(CUpti_ActivityMemcpyPtoP4, graphNodeId) \
	X(CUpti_ActivityMemcpyPtoP4, graphId) X(CUpti_ActivityMemcpyPtoP4, channelID) \
	X(CUpti_ActivityMemcpyPtoP4, channelType) X(CUpti_ActivityMemset4, kind) \
	X(CUpti_ActivityMemset4, value) X(CUpti_ActivityMemset4, bytes) X(CUpti_ActivityMemset4, start) \
	X(CUpti_ActivityMemset4, end) X(CUpti_ActivityMemset4, deviceId) X(CUpti_ActivityMemset4, contextId) \
	X(CUpti_ActivityMemset4, streamId) X(CUpti_ActivityMemset4, correlationId) \
	X(CUpti_ActivityMemset4, flags) X(CUpti_ActivityMemset4, memoryKind) \
	X(CUpti_ActivityMemset4, graphNodeId) X(CUpti_ActivityMemset4, graphId) \
	X(CUpti_ActivityMemset4, channelID) X(CUpti_ActivityMemset4, channelType) \
	X(CUpti_ActivityMemset4, isDeviceLaunched) X(CUpti_ActivityMemory4, kind) \
	X(CUpti_ActivityMemory4, memoryOperationType) X(CUpti_ActivityMemory4, memoryKind) \
	X(CUpti_ActivityMemory4, correlationId) X(CUpti_ActivityMemory4, address) \
	X(CUpti_ActivityMemory4, bytes) X(CUpti_ActivityMemory4, timestamp) X(CUpti_ActivityMemory4, PC) \
	X(CUpti_ActivityMemory4, processId) X(CUpti_ActivityMemory4, deviceId) \
	X(CUpti_ActivityMemory4, contextId) X(CUpti_ActivityMemory4, streamId) \
	X(CUpti_ActivityMemory4, name) X(CUpti_ActivityMemory4, isAsync) \
	X(CUpti_ActivityMemory4, memoryPoolConfig) X(CUpti_ActivityMemory4, source) \
	X(CUpti_ActivityKernel10, kind) X(CUpti_ActivityKernel10, cacheConfig) \
	X(CUpti_ActivityKernel10, sharedMemoryConfig) X(CUpti_ActivityKernel10, registersPerThread) \
	X(CUpti_ActivityKernel10, partitionedGlobalCacheRequested) \
	X(CUpti_ActivityKernel10, partitionedGlobalCacheExecuted) X(CUpti_ActivityKernel10, start) \
	X(CUpti_ActivityKernel10, end) X(CUpti_ActivityKernel10, completed) \
	X(CUpti_ActivityKernel10, deviceId) X(CUpti_ActivityKernel10, contextId) \
	X(CUpti_ActivityKernel10, streamId) X(CUpti_ActivityKernel10, gridX) \
	X(CUpti_ActivityKernel10, gridY) X(CUpti_ActivityKernel10, gridZ) X(CUpti_ActivityKernel10, blockX) \
	X(CUpti_ActivityKernel10, blockY) X(CUpti_ActivityKernel10, blockZ) \
	X(CUpti_ActivityKernel10, staticSharedMemory) X(CUpti_ActivityKernel10, dynamicSharedMemory) \
	X(CUpti_ActivityKernel10, localMemoryPerThread) X(CUpti_ActivityKernel10, localMemoryTotal) \
	X(CUpti_ActivityKernel10, correlationId) X(CUpti_ActivityKernel10, gridId) \
	X(CUpti_ActivityKernel10, name) X(CUpti_ActivityKernel10, queued) \
	X(CUpti_ActivityKernel10, submitted) X(CUpti_ActivityKernel10, launchType) \
	X(CUpti_ActivityKernel10, isSharedMemoryCarveoutRequested) \
	X(CUpti_ActivityKernel10, sharedMemoryCarveoutRequested) \
	X(CUpti_ActivityKernel10, sharedMemoryExecuted) X(CUpti_ActivityKernel10, graphNodeId) \
	X(CUpti_ActivityKernel10, shmemLimitConfig) X(CUpti_ActivityKernel10, graphId) \
	X(CUpti_ActivityKernel10, pAccessPolicyWindow) X(CUpti_ActivityKernel10, channelID) \
	X(CUpti_ActivityKernel10, channelType) X(CUpti_ActivityKernel10, clusterX) \
	X(CUpti_ActivityKernel10, clusterY) X(CUpti_ActivityKernel10, clusterZ) \
	X(CUpti_ActivityKernel10, clusterSchedulingPolicy) X(CUpti_ActivityKernel10, localMemoryTotal_v2) \
	X(CUpti_ActivityKernel10, maxPotentialClusterSize) X(CUpti_ActivityKernel10, maxActiveClusters) \
	X(CUpti_ActivityKernel10, isDeviceLaunched) X(CUpti_ActivityAPI, kind) X(CUpti_ActivityAPI, cbid) \
	X(CUpti_ActivityAPI, start) X(CUpti_ActivityAPI, end) X(CUpti_ActivityAPI, processId) \
	X(CUpti_ActivityAPI, threadId) X(CUpti_ActivityAPI, correlationId) X(CUpti_ActivityAPI, returnValue) \
	X(CUpti_ActivitySynchronization2, kind) X(CUpti_ActivitySynchronization2, type) \
	X(CUpti_ActivitySynchronization2, start) X(CUpti_ActivitySynchronization2, end) \
	X(CUpti_ActivitySynchronization2, correlationId) X(CUpti_ActivitySynchronization2, contextId) \
	X(CUpti_ActivitySynchronization2, streamId) X(CUpti_ActivitySynchronization2, cudaEventId) \
	X(CUpti_ActivitySynchronization2, cudaEventSyncId) X(CUpti_ActivitySynchronization2, returnValue) \
	X(CUpti_ActivityExternalCorrelation, kind) X(CUpti_ActivityExternalCorrelation, externalKind) \
	X(CUpti_ActivityExternalCorrelation, externalId) X(CUpti_ActivityExternalCorrelation, correlationId) \
	X(CUpti_ActivityOverhead3, kind) X(CUpti_ActivityOverhead3, overheadKind) \
	X(CUpti_ActivityOverhead3, objectKind) X(CUpti_ActivityOverhead3, objectId) \
	X(CUpti_ActivityOverhead3, start) X(CUpti_ActivityOverhead3, end) \
	X(CUpti_ActivityOverhead3, correlationId) X(CUpti_ActivityOverhead3, overheadData) \
	X(CUpti_ActivityGraphTrace2, kind) X(CUpti_ActivityGraphTrace2, correlationId) \
	X(CUpti_ActivityGraphTrace2, start) X(CUpti_ActivityGraphTrace2, end) \
	X(CUpti_ActivityGraphTrace2, deviceId) X(CUpti_ActivityGraphTrace2, graphId) \
	X(CUpti_ActivityGraphTrace2, contextId) X(CUpti_ActivityGraphTrace2, streamId) \
	X(CUpti_ActivityGraphTrace2, endDeviceId) X(CUpti_ActivityGraphTrace2, endContextId)
/* clang-format on */

#endif
