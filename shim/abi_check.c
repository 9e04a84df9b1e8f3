/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compiled where NVIDIA's headers are (CUPTI 11.8 or later; earlier ones lack the later structs), and never linked: every
 * constant, size and offset of cupti_abi.h must hold there. The older layouts are compared too, as far as the headers
 * still have them.
 */
#include <cupti.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#include <nvtx3/nvToolsExtPayload.h>
#endif

#include "cupti_abi.h"

#define SAME(ours, theirs) _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

#define X(name, value) SAME(ABI_##name, CUPTI_##name);
CUPTI_ABI_CONSTANTS(X)
CUPTI_ABI_CONSTANTS_11_2(X)
CUPTI_ABI_CONSTANTS_11_8(X)
#if CUPTI_API_VERSION >= CUPTI_SINCE_12_8
CUPTI_ABI_CONSTANTS_12_8(X)
#endif
#undef X

#define X(symbol, id, work)                                                                                  \
	SAME(ABI_CBID_##symbol, CUPTI_DRIVER_TRACE_CBID_##symbol);                                           \
	_Static_assert(ABI_CBID_##symbol < CUPTI_DRIVER_CBID_MAX, #symbol);
CUPTI_DRIVER_CBIDS_11_0(X)
CUPTI_DRIVER_CBIDS_11_2(X)
CUPTI_DRIVER_CBIDS_11_8(X)
#if CUPTI_API_VERSION >= CUPTI_SINCE_13_0 /* 12.8 and 12.9 have other names for two of the first */
CUPTI_DRIVER_CBIDS_12_8(X)
CUPTI_DRIVER_CBIDS_13_0(X)
#endif
#undef X

/* The numbers of ours that go into the capture as they are. */
#define COPY(kind) SAME(GPUBPF_COPY_##kind, CUPTI_ACTIVITY_MEMCPY_KIND_##kind)
COPY(UNKNOWN);
COPY(HTOD);
COPY(DTOH);
COPY(HTOA);
COPY(ATOH);
COPY(ATOA);
COPY(ATOD);
COPY(DTOA);
COPY(DTOD);
COPY(HTOH);
COPY(PTOP);

/* By value across the interface, and as return values: 4 bytes each. */
SAME(sizeof(int), sizeof(CUptiResult));
SAME(sizeof(int), sizeof(CUpti_CallbackDomain));
SAME(sizeof(int), sizeof(CUpti_ActivityKind));
SAME(sizeof(int), sizeof(CUpti_ActivityAttribute));
SAME(sizeof(uint32_t), sizeof(CUpti_CallbackId));
SAME(sizeof(void *), sizeof(CUpti_SubscriberHandle));

/* A field of ours and one of theirs: the same place, the same width. */
#define FIELD(ours, f, theirs, g)                                                                            \
	SAME(offsetof(struct ours, f), offsetof(theirs, g));                                                 \
	SAME(sizeof(((struct ours *)0)->f), sizeof(((theirs *)0)->g))
#define SIZE(ours, theirs) SAME(sizeof(struct ours), sizeof(theirs))
#define SIZE_TO(ours, f, theirs) SAME(offsetof(struct ours, f), sizeof(theirs)) /* where an older one ends */

#define DATA(f, g) FIELD(cupti_callback_data, f, CUpti_CallbackData, g)
DATA(site, callbackSite);
DATA(function_name, functionName);
DATA(function_params, functionParams);
DATA(function_return, functionReturnValue);
DATA(symbol_name, symbolName);
DATA(context, context);
DATA(context_uid, contextUid);
DATA(correlation_data, correlationData);
DATA(correlation_id, correlationId);
SIZE(cupti_callback_data, CUpti_CallbackData);

FIELD(cupti_resource_data, context, CUpti_ResourceData, context);
FIELD(cupti_resource_data, stream, CUpti_ResourceData, resourceHandle);
FIELD(cupti_resource_data, descriptor, CUpti_ResourceData, resourceDescriptor);
SIZE(cupti_resource_data, CUpti_ResourceData);
FIELD(cupti_module_data, module_id, CUpti_ModuleResourceData, moduleId);
FIELD(cupti_module_data, cubin_size, CUpti_ModuleResourceData, cubinSize);
FIELD(cupti_module_data, cubin, CUpti_ModuleResourceData, pCubin);
SIZE(cupti_module_data, CUpti_ModuleResourceData);
FIELD(cupti_record, kind, CUpti_Activity, kind);

#define KERNEL_5(T)                                                                                          \
	FIELD(cupti_kernel, kind, T, kind);                                                                  \
	FIELD(cupti_kernel, cache_config, T, cacheConfig);                                                   \
	FIELD(cupti_kernel, shared_config, T, sharedMemoryConfig);                                           \
	FIELD(cupti_kernel, registers, T, registersPerThread);                                               \
	FIELD(cupti_kernel, global_cache_requested, T, partitionedGlobalCacheRequested);                     \
	FIELD(cupti_kernel, global_cache_executed, T, partitionedGlobalCacheExecuted);                       \
	FIELD(cupti_kernel, start, T, start);                                                                \
	FIELD(cupti_kernel, end, T, end);                                                                    \
	FIELD(cupti_kernel, completed, T, completed);                                                        \
	FIELD(cupti_kernel, device, T, deviceId);                                                            \
	FIELD(cupti_kernel, context, T, contextId);                                                          \
	FIELD(cupti_kernel, stream, T, streamId);                                                            \
	FIELD(cupti_kernel, grid[0], T, gridX);                                                              \
	FIELD(cupti_kernel, grid[1], T, gridY);                                                              \
	FIELD(cupti_kernel, grid[2], T, gridZ);                                                              \
	FIELD(cupti_kernel, block[0], T, blockX);                                                            \
	FIELD(cupti_kernel, block[1], T, blockY);                                                            \
	FIELD(cupti_kernel, block[2], T, blockZ);                                                            \
	FIELD(cupti_kernel, static_shared, T, staticSharedMemory);                                           \
	FIELD(cupti_kernel, dynamic_shared, T, dynamicSharedMemory);                                         \
	FIELD(cupti_kernel, local_per_thread, T, localMemoryPerThread);                                      \
	FIELD(cupti_kernel, local_total, T, localMemoryTotal);                                               \
	FIELD(cupti_kernel, correlation, T, correlationId);                                                  \
	FIELD(cupti_kernel, grid_id, T, gridId);                                                             \
	FIELD(cupti_kernel, name, T, name);                                                                  \
	FIELD(cupti_kernel, reserved0, T, reserved0);                                                        \
	FIELD(cupti_kernel, queued, T, queued);                                                              \
	FIELD(cupti_kernel, submitted, T, submitted);                                                        \
	FIELD(cupti_kernel, launch_type, T, launchType);                                                     \
	FIELD(cupti_kernel, carveout_requested, T, isSharedMemoryCarveoutRequested);                         \
	FIELD(cupti_kernel, carveout, T, sharedMemoryCarveoutRequested);                                     \
	FIELD(cupti_kernel, padding, T, padding);                                                            \
	FIELD(cupti_kernel, shared_executed, T, sharedMemoryExecuted);                                       \
	FIELD(cupti_kernel, graph_node, T, graphNodeId);                                                     \
	FIELD(cupti_kernel, shared_limit, T, shmemLimitConfig);                                              \
	FIELD(cupti_kernel, graph, T, graphId)
#define KERNEL_6(T)                                                                                          \
	KERNEL_5(T);                                                                                         \
	FIELD(cupti_kernel, access_policy, T, pAccessPolicyWindow)
#define KERNEL_7(T)                                                                                          \
	KERNEL_6(T);                                                                                         \
	FIELD(cupti_kernel, channel, T, channelID);                                                          \
	FIELD(cupti_kernel, chan_type, T, channelType)
#define KERNEL_8(T)                                                                                          \
	KERNEL_7(T);                                                                                         \
	FIELD(cupti_kernel, cluster[0], T, clusterX);                                                        \
	FIELD(cupti_kernel, cluster[1], T, clusterY);                                                        \
	FIELD(cupti_kernel, cluster[2], T, clusterZ);                                                        \
	FIELD(cupti_kernel, cluster_policy, T, clusterSchedulingPolicy);                                     \
	FIELD(cupti_kernel, local_total_v2, T, localMemoryTotal_v2)
#define KERNEL_9(T)                                                                                          \
	KERNEL_8(T);                                                                                         \
	FIELD(cupti_kernel, cluster_potential, T, maxPotentialClusterSize);                                  \
	FIELD(cupti_kernel, clusters_active, T, maxActiveClusters)

KERNEL_5(CUpti_ActivityKernel5);
SIZE_TO(cupti_kernel, access_policy, CUpti_ActivityKernel5);
KERNEL_6(CUpti_ActivityKernel6);
SIZE_TO(cupti_kernel, channel, CUpti_ActivityKernel6);
KERNEL_7(CUpti_ActivityKernel7);
SIZE_TO(cupti_kernel, cluster, CUpti_ActivityKernel7);
KERNEL_8(CUpti_ActivityKernel8);
SIZE_TO(cupti_kernel, cluster_potential, CUpti_ActivityKernel8);
KERNEL_9(CUpti_ActivityKernel9);
SIZE_TO(cupti_kernel, device_launched, CUpti_ActivityKernel9);
#if CUPTI_API_VERSION >= CUPTI_SINCE_13_0
KERNEL_9(CUpti_ActivityKernel10);
FIELD(cupti_kernel, device_launched, CUpti_ActivityKernel10, isDeviceLaunched);
SIZE(cupti_kernel, CUpti_ActivityKernel10);
#endif

#define MEMCPY_3(T)                                                                                          \
	FIELD(cupti_memcpy, kind, T, kind);                                                                  \
	FIELD(cupti_memcpy, copy_kind, T, copyKind);                                                         \
	FIELD(cupti_memcpy, src_kind, T, srcKind);                                                           \
	FIELD(cupti_memcpy, dst_kind, T, dstKind);                                                           \
	FIELD(cupti_memcpy, flags, T, flags);                                                                \
	FIELD(cupti_memcpy, bytes, T, bytes);                                                                \
	FIELD(cupti_memcpy, start, T, start);                                                                \
	FIELD(cupti_memcpy, end, T, end);                                                                    \
	FIELD(cupti_memcpy, device, T, deviceId);                                                            \
	FIELD(cupti_memcpy, context, T, contextId);                                                          \
	FIELD(cupti_memcpy, stream, T, streamId);                                                            \
	FIELD(cupti_memcpy, correlation, T, correlationId);                                                  \
	FIELD(cupti_memcpy, runtime_correlation, T, runtimeCorrelationId);                                   \
	FIELD(cupti_memcpy, reserved0, T, reserved0);                                                        \
	FIELD(cupti_memcpy, graph_node, T, graphNodeId)
#define MEMCPY_4(T)                                                                                          \
	MEMCPY_3(T);                                                                                         \
	FIELD(cupti_memcpy, graph, T, graphId)
#define MEMCPY_5(T)                                                                                          \
	MEMCPY_4(T);                                                                                         \
	FIELD(cupti_memcpy, channel, T, channelID);                                                          \
	FIELD(cupti_memcpy, chan_type, T, channelType)

MEMCPY_3(CUpti_ActivityMemcpy3);
SIZE_TO(cupti_memcpy, graph, CUpti_ActivityMemcpy3);
MEMCPY_4(CUpti_ActivityMemcpy4);
SIZE_TO(cupti_memcpy, chan_type, CUpti_ActivityMemcpy4);
MEMCPY_5(CUpti_ActivityMemcpy5);
SIZE_TO(cupti_memcpy, copy_count, CUpti_ActivityMemcpy5);
#if CUPTI_API_VERSION >= CUPTI_SINCE_12_8
MEMCPY_5(CUpti_ActivityMemcpy6);
FIELD(cupti_memcpy, device_launched, CUpti_ActivityMemcpy6, isDeviceLaunched);
FIELD(cupti_memcpy, copy_count, CUpti_ActivityMemcpy6, copyCount);
SIZE(cupti_memcpy, CUpti_ActivityMemcpy6);
#endif

#define PEER_2(T)                                                                                            \
	FIELD(cupti_memcpy_peer, kind, T, kind);                                                             \
	FIELD(cupti_memcpy_peer, copy_kind, T, copyKind);                                                    \
	FIELD(cupti_memcpy_peer, src_kind, T, srcKind);                                                      \
	FIELD(cupti_memcpy_peer, dst_kind, T, dstKind);                                                      \
	FIELD(cupti_memcpy_peer, flags, T, flags);                                                           \
	FIELD(cupti_memcpy_peer, bytes, T, bytes);                                                           \
	FIELD(cupti_memcpy_peer, start, T, start);                                                           \
	FIELD(cupti_memcpy_peer, end, T, end);                                                               \
	FIELD(cupti_memcpy_peer, device, T, deviceId);                                                       \
	FIELD(cupti_memcpy_peer, context, T, contextId);                                                     \
	FIELD(cupti_memcpy_peer, stream, T, streamId);                                                       \
	FIELD(cupti_memcpy_peer, src_device, T, srcDeviceId);                                                \
	FIELD(cupti_memcpy_peer, src_context, T, srcContextId);                                              \
	FIELD(cupti_memcpy_peer, dst_device, T, dstDeviceId);                                                \
	FIELD(cupti_memcpy_peer, dst_context, T, dstContextId);                                              \
	FIELD(cupti_memcpy_peer, correlation, T, correlationId);                                             \
	FIELD(cupti_memcpy_peer, reserved0, T, reserved0);                                                   \
	FIELD(cupti_memcpy_peer, graph_node, T, graphNodeId)
#define PEER_3(T)                                                                                            \
	PEER_2(T);                                                                                           \
	FIELD(cupti_memcpy_peer, graph, T, graphId)

PEER_2(CUpti_ActivityMemcpyPtoP2);
SIZE_TO(cupti_memcpy_peer, graph, CUpti_ActivityMemcpyPtoP2);
PEER_3(CUpti_ActivityMemcpyPtoP3);
SIZE_TO(cupti_memcpy_peer, chan_type, CUpti_ActivityMemcpyPtoP3);
PEER_3(CUpti_ActivityMemcpyPtoP4);
FIELD(cupti_memcpy_peer, channel, CUpti_ActivityMemcpyPtoP4, channelID);
FIELD(cupti_memcpy_peer, chan_type, CUpti_ActivityMemcpyPtoP4, channelType);
SIZE(cupti_memcpy_peer, CUpti_ActivityMemcpyPtoP4);

#define MEMSET_2(T)                                                                                          \
	FIELD(cupti_memset, kind, T, kind);                                                                  \
	FIELD(cupti_memset, value, T, value);                                                                \
	FIELD(cupti_memset, bytes, T, bytes);                                                                \
	FIELD(cupti_memset, start, T, start);                                                                \
	FIELD(cupti_memset, end, T, end);                                                                    \
	FIELD(cupti_memset, device, T, deviceId);                                                            \
	FIELD(cupti_memset, context, T, contextId);                                                          \
	FIELD(cupti_memset, stream, T, streamId);                                                            \
	FIELD(cupti_memset, correlation, T, correlationId);                                                  \
	FIELD(cupti_memset, flags, T, flags);                                                                \
	FIELD(cupti_memset, memory_kind, T, memoryKind);                                                     \
	FIELD(cupti_memset, reserved0, T, reserved0);                                                        \
	FIELD(cupti_memset, graph_node, T, graphNodeId)
#define MEMSET_3(T)                                                                                          \
	MEMSET_2(T);                                                                                         \
	FIELD(cupti_memset, graph, T, graphId)

MEMSET_2(CUpti_ActivityMemset2);
SIZE_TO(cupti_memset, graph, CUpti_ActivityMemset2);
MEMSET_3(CUpti_ActivityMemset3);
SIZE_TO(cupti_memset, chan_type, CUpti_ActivityMemset3);
MEMSET_3(CUpti_ActivityMemset4);
FIELD(cupti_memset, channel, CUpti_ActivityMemset4, channelID);
FIELD(cupti_memset, chan_type, CUpti_ActivityMemset4, channelType);
SIZE(cupti_memset, CUpti_ActivityMemset4);

#define GRAPH(T)                                                                                             \
	FIELD(cupti_graph_trace, kind, T, kind);                                                             \
	FIELD(cupti_graph_trace, correlation, T, correlationId);                                             \
	FIELD(cupti_graph_trace, start, T, start);                                                           \
	FIELD(cupti_graph_trace, end, T, end);                                                               \
	FIELD(cupti_graph_trace, device, T, deviceId);                                                       \
	FIELD(cupti_graph_trace, graph, T, graphId);                                                         \
	FIELD(cupti_graph_trace, context, T, contextId);                                                     \
	FIELD(cupti_graph_trace, stream, T, streamId);                                                       \
	FIELD(cupti_graph_trace, reserved, T, reserved)

GRAPH(CUpti_ActivityGraphTrace);
SIZE_TO(cupti_graph_trace, end_device, CUpti_ActivityGraphTrace);
#if CUPTI_API_VERSION >= 21 /* 12.3 */
GRAPH(CUpti_ActivityGraphTrace2);
FIELD(cupti_graph_trace, end_device, CUpti_ActivityGraphTrace2, endDeviceId);
FIELD(cupti_graph_trace, end_context, CUpti_ActivityGraphTrace2, endContextId);
SIZE(cupti_graph_trace, CUpti_ActivityGraphTrace2);
#endif

#define SYNC(T)                                                                                              \
	FIELD(cupti_sync, kind, T, kind);                                                                    \
	FIELD(cupti_sync, type, T, type);                                                                    \
	FIELD(cupti_sync, start, T, start);                                                                  \
	FIELD(cupti_sync, end, T, end);                                                                      \
	FIELD(cupti_sync, correlation, T, correlationId);                                                    \
	FIELD(cupti_sync, context, T, contextId);                                                            \
	FIELD(cupti_sync, stream, T, streamId);                                                              \
	FIELD(cupti_sync, event, T, cudaEventId)

SYNC(CUpti_ActivitySynchronization);
SIZE_TO(cupti_sync, event_sync, CUpti_ActivitySynchronization);
#if CUPTI_API_VERSION >= CUPTI_SINCE_12_8
SYNC(CUpti_ActivitySynchronization2);
FIELD(cupti_sync, event_sync, CUpti_ActivitySynchronization2, cudaEventSyncId);
FIELD(cupti_sync, result, CUpti_ActivitySynchronization2, returnValue);
SIZE(cupti_sync, CUpti_ActivitySynchronization2);
#endif

#define MEMORY(T)                                                                                            \
	FIELD(cupti_memory, kind, T, kind);                                                                  \
	FIELD(cupti_memory, operation, T, memoryOperationType);                                              \
	FIELD(cupti_memory, memory_kind, T, memoryKind);                                                     \
	FIELD(cupti_memory, correlation, T, correlationId);                                                  \
	FIELD(cupti_memory, address, T, address);                                                            \
	FIELD(cupti_memory, bytes, T, bytes);                                                                \
	FIELD(cupti_memory, time, T, timestamp);                                                             \
	FIELD(cupti_memory, pc, T, PC);                                                                      \
	FIELD(cupti_memory, process, T, processId);                                                          \
	FIELD(cupti_memory, device, T, deviceId);                                                            \
	FIELD(cupti_memory, context, T, contextId);                                                          \
	FIELD(cupti_memory, stream, T, streamId);                                                            \
	FIELD(cupti_memory, name, T, name);                                                                  \
	FIELD(cupti_memory, is_async, T, isAsync)

MEMORY(CUpti_ActivityMemory2);
MEMORY(CUpti_ActivityMemory3);
#if CUPTI_API_VERSION >= 24 /* 12.6, or before */
MEMORY(CUpti_ActivityMemory4);
#endif

#define OVERHEAD(T)                                                                                          \
	FIELD(cupti_overhead, kind, T, kind);                                                                \
	FIELD(cupti_overhead, overhead_kind, T, overheadKind);                                               \
	FIELD(cupti_overhead, object_kind, T, objectKind);                                                   \
	FIELD(cupti_overhead, object, T, objectId);                                                          \
	FIELD(cupti_overhead, start, T, start);                                                              \
	FIELD(cupti_overhead, end, T, end)

OVERHEAD(CUpti_ActivityOverhead);
SIZE_TO(cupti_overhead, correlation, CUpti_ActivityOverhead);
#if CUPTI_API_VERSION >= CUPTI_SINCE_12_2
OVERHEAD(CUpti_ActivityOverhead2);
FIELD(cupti_overhead, correlation, CUpti_ActivityOverhead2, correlationId);
SIZE(cupti_overhead, CUpti_ActivityOverhead2);
#endif
#if CUPTI_API_VERSION >= 22 /* 12.4 */
OVERHEAD(CUpti_ActivityOverhead3);
FIELD(cupti_overhead, correlation, CUpti_ActivityOverhead3, correlationId);
#endif

FIELD(cupti_external, kind, CUpti_ActivityExternalCorrelation, kind);
FIELD(cupti_external, external_kind, CUpti_ActivityExternalCorrelation, externalKind);
FIELD(cupti_external, id, CUpti_ActivityExternalCorrelation, externalId);
FIELD(cupti_external, correlation, CUpti_ActivityExternalCorrelation, correlationId);
SIZE(cupti_external, CUpti_ActivityExternalCorrelation);

FIELD(cupti_marker, kind, CUpti_ActivityMarker2, kind);
FIELD(cupti_marker, flags, CUpti_ActivityMarker2, flags);
FIELD(cupti_marker, time, CUpti_ActivityMarker2, timestamp);
FIELD(cupti_marker, id, CUpti_ActivityMarker2, id);
FIELD(cupti_marker, object_kind, CUpti_ActivityMarker2, objectKind);
FIELD(cupti_marker, object, CUpti_ActivityMarker2, objectId);
FIELD(cupti_marker, object[0], CUpti_ActivityMarker2, objectId.pt.processId);
FIELD(cupti_marker, object[1], CUpti_ActivityMarker2, objectId.pt.threadId);
FIELD(cupti_marker, name, CUpti_ActivityMarker2, name);
FIELD(cupti_marker, domain, CUpti_ActivityMarker2, domain);
SIZE(cupti_marker, CUpti_ActivityMarker2);
SAME(sizeof(int), sizeof(CUpti_ActivityThreadIdType));

#define MARKER_DATA(T)                                                                                       \
	FIELD(cupti_marker_data, kind, T, kind);                                                             \
	FIELD(cupti_marker_data, flags, T, flags);                                                           \
	FIELD(cupti_marker_data, id, T, id);                                                                 \
	FIELD(cupti_marker_data, payload_kind, T, payloadKind);                                              \
	FIELD(cupti_marker_data, payload, T, payload);                                                       \
	FIELD(cupti_marker_data, color, T, color);                                                           \
	FIELD(cupti_marker_data, category, T, category)

MARKER_DATA(CUpti_ActivityMarkerData);
SIZE(cupti_marker_data, CUpti_ActivityMarkerData);
SAME(GPUBPF_PAYLOAD_DOUBLE, CUPTI_METRIC_VALUE_KIND_DOUBLE);
SAME(GPUBPF_PAYLOAD_UINT64, CUPTI_METRIC_VALUE_KIND_UINT64);
SAME(GPUBPF_PAYLOAD_INT64, CUPTI_METRIC_VALUE_KIND_INT64);
#if CUPTI_API_VERSION > CUPTI_SINCE_13_0 /* an update of it brought the next one */
MARKER_DATA(CUpti_ActivityMarkerData2);
SAME(GPUBPF_PAYLOAD_EXTENDED, CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD);
#endif

#ifdef NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START
FIELD(cupti_payload, payload, nvtxPayloadData_t, payload);
SIZE(cupti_payload, nvtxPayloadData_t);
#endif

#define CONFIG(f, g) FIELD(cupti_unified_config, f, CUpti_ActivityUnifiedMemoryCounterConfig, g)
CONFIG(scope, scope);
CONFIG(kind, kind);
CONFIG(device, deviceId);
CONFIG(enable, enable);
SIZE(cupti_unified_config, CUpti_ActivityUnifiedMemoryCounterConfig);
SAME(GPUBPF_UNIFIED_HOST, CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID);

#define UNIFIED(T)                                                                                           \
	FIELD(cupti_unified, kind, T, kind);                                                                 \
	FIELD(cupti_unified, counter, T, counterKind);                                                       \
	FIELD(cupti_unified, value, T, value);                                                               \
	FIELD(cupti_unified, start, T, start);                                                               \
	FIELD(cupti_unified, end, T, end);                                                                   \
	FIELD(cupti_unified, address, T, address);                                                           \
	FIELD(cupti_unified, src, T, srcId);                                                                 \
	FIELD(cupti_unified, dst, T, dstId);                                                                 \
	FIELD(cupti_unified, stream, T, streamId);                                                           \
	FIELD(cupti_unified, process, T, processId);                                                         \
	FIELD(cupti_unified, flags, T, flags)

UNIFIED(CUpti_ActivityUnifiedMemoryCounter2);
SIZE(cupti_unified, CUpti_ActivityUnifiedMemoryCounter2);
#if CUPTI_API_VERSION >= CUPTI_SINCE_13_0
UNIFIED(CUpti_ActivityUnifiedMemoryCounter3);
#endif
