/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the simulated libcupti and its clients need of CUPTI 13.0, under the real names. abi_check.c holds every
 * value, size and offset against the real headers, and selftest_cupti.c also compiles with those.
 */
#ifndef SIMCUDA_CUPTI_H
#define SIMCUDA_CUPTI_H

#include <stddef.h>
#include <stdint.h>

#include "cuda.h"
#include "cupti_driver_cbid.h"

#define CUPTIAPI
#define CUPTI_API_VERSION 130001
#define CUPTI_TIMESTAMP_UNKNOWN 0LL
#define CUPTI_SUBSCRIBER_NAME_MAX_LEN 53
#define CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN 64

typedef enum {
	CUPTI_SUCCESS = 0,
	CUPTI_ERROR_INVALID_PARAMETER = 1,
	CUPTI_ERROR_INVALID_DEVICE = 2,
	CUPTI_ERROR_INVALID_CONTEXT = 3,
	CUPTI_ERROR_INVALID_OPERATION = 7,
	CUPTI_ERROR_OUT_OF_MEMORY = 8,
	CUPTI_ERROR_HARDWARE = 9,
	CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT = 10,
	CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
	CUPTI_ERROR_NOT_READY = 13,
	CUPTI_ERROR_NOT_COMPATIBLE = 14,
	CUPTI_ERROR_NOT_INITIALIZED = 15,
	CUPTI_ERROR_QUEUE_EMPTY = 18,
	CUPTI_ERROR_INVALID_STREAM = 20,
	CUPTI_ERROR_INVALID_KIND = 21,
	CUPTI_ERROR_DISABLED = 23,
	CUPTI_ERROR_NOT_SUPPORTED = 27,
	CUPTI_ERROR_INSUFFICIENT_PRIVILEGES = 35,
	CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
	CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES = 40,
	CUPTI_ERROR_UNKNOWN = 999,
	CUPTI_ERROR_FORCE_INT = 0x7fffffff
} CUptiResult;

/* ---- callbacks ---- */
typedef enum { CUPTI_API_ENTER = 0, CUPTI_API_EXIT = 1 } CUpti_ApiCallbackSite;

typedef enum {
	CUPTI_CB_DOMAIN_INVALID = 0,
	CUPTI_CB_DOMAIN_DRIVER_API = 1,
	CUPTI_CB_DOMAIN_RUNTIME_API = 2,
	CUPTI_CB_DOMAIN_RESOURCE = 3,
	CUPTI_CB_DOMAIN_SYNCHRONIZE = 4,
	CUPTI_CB_DOMAIN_NVTX = 5,
	CUPTI_CB_DOMAIN_STATE = 6,
	CUPTI_CB_DOMAIN_SIZE,
	CUPTI_CB_DOMAIN_FORCE_INT = 0x7fffffff
} CUpti_CallbackDomain;

typedef enum {
	CUPTI_CBID_RESOURCE_INVALID = 0,
	CUPTI_CBID_RESOURCE_CONTEXT_CREATED = 1,
	CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING = 2,
	CUPTI_CBID_RESOURCE_STREAM_CREATED = 3,
	CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING = 4,
	CUPTI_CBID_RESOURCE_CU_INIT_FINISHED = 5,
	CUPTI_CBID_RESOURCE_MODULE_LOADED = 6,
	CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING = 7,
	CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED = 18,
	CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING = 19,
	CUPTI_CBID_RESOURCE_SIZE = 24,
	CUPTI_CBID_RESOURCE_FORCE_INT = 0x7fffffff
} CUpti_CallbackIdResource;

typedef uint32_t CUpti_CallbackId;
typedef struct CUpti_Subscriber_st *CUpti_SubscriberHandle;
typedef void(CUPTIAPI *CUpti_CallbackFunc)(void *userdata, CUpti_CallbackDomain domain, CUpti_CallbackId cbid,
					   const void *cbdata);

typedef struct {
	CUpti_ApiCallbackSite callbackSite;
	const char *functionName;
	const void *functionParams; /* the arguments as the members of a struct */
	void *functionReturnValue;  /* CUresult *, at exit */
	const char *symbolName;     /* of launches: the kernel's */
	CUcontext context;
	uint32_t contextUid;
	uint64_t *correlationData; /* the client's, from enter to exit */
	uint32_t correlationId;
} CUpti_CallbackData;

typedef struct {
	CUcontext context;
	union {
		CUstream stream;
	} resourceHandle;
	void *resourceDescriptor;
} CUpti_ResourceData;

typedef struct {
	uint32_t moduleId;
	size_t cubinSize;
	const char *pCubin;
} CUpti_ModuleResourceData;

typedef struct {
	CUgraph graph, originalGraph;
	CUgraphNode node, originalNode;
	CUgraphNodeType nodeType;
	CUgraphNode dependency;
	CUgraphExec graphExec;
} CUpti_GraphData;

typedef struct {
	size_t structSize;
	const char *subscriberName;
	char *oldSubscriberName;
	size_t oldSubscriberSize;
} CUpti_SubscriberParams;

/* The arguments of two functions as CUpti_CallbackData.functionParams gives them. */
typedef struct cuLaunchKernel_params_st {
	CUfunction f;
	unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
	CUstream hStream;
	void **kernelParams, **extra;
} cuLaunchKernel_params;

typedef struct cuMemcpyHtoDAsync_v2_params_st {
	CUdeviceptr dstDevice;
	const void *srcHost;
	size_t ByteCount;
	CUstream hStream;
} cuMemcpyHtoDAsync_v2_params;

/* ---- activities ---- */
typedef enum {
	CUPTI_ACTIVITY_KIND_INVALID = 0,
	CUPTI_ACTIVITY_KIND_MEMCPY = 1,
	CUPTI_ACTIVITY_KIND_MEMSET = 2,
	CUPTI_ACTIVITY_KIND_KERNEL = 3,
	CUPTI_ACTIVITY_KIND_DRIVER = 4,
	CUPTI_ACTIVITY_KIND_RUNTIME = 5,
	CUPTI_ACTIVITY_KIND_DEVICE = 8,
	CUPTI_ACTIVITY_KIND_CONTEXT = 9,
	CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL = 10,
	CUPTI_ACTIVITY_KIND_MARKER = 12,
	CUPTI_ACTIVITY_KIND_MARKER_DATA = 13,
	CUPTI_ACTIVITY_KIND_OVERHEAD = 17,
	CUPTI_ACTIVITY_KIND_MEMCPY2 = 22,
	CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER = 25,
	CUPTI_ACTIVITY_KIND_SYNCHRONIZATION = 38,
	CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION = 39,
	CUPTI_ACTIVITY_KIND_MEMORY = 45,
	CUPTI_ACTIVITY_KIND_MEMORY2 = 49,
	CUPTI_ACTIVITY_KIND_GRAPH_TRACE = 51,
	CUPTI_ACTIVITY_KIND_COUNT = 56,
	CUPTI_ACTIVITY_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityKind;

typedef enum {
	CUPTI_ACTIVITY_FLAG_NONE = 0,
	CUPTI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS = 1 << 0,
	CUPTI_ACTIVITY_FLAG_MARKER_START = 1 << 1,
	CUPTI_ACTIVITY_FLAG_MARKER_END = 1 << 2,
	CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE = 1 << 0,
	CUPTI_ACTIVITY_FLAG_MARKER_COLOR_ARGB = 1 << 1,
	CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC = 1 << 0,
	CUPTI_ACTIVITY_FLAG_FLUSH_FORCED = 1 << 0,
	CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC = 1 << 0,
	CUPTI_ACTIVITY_FLAG_FORCE_INT = 0x7fffffff
} CUpti_ActivityFlag;

typedef enum {
	CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN = 0,
	CUPTI_ACTIVITY_MEMCPY_KIND_HTOD = 1,
	CUPTI_ACTIVITY_MEMCPY_KIND_DTOH = 2,
	CUPTI_ACTIVITY_MEMCPY_KIND_HTOA = 3,
	CUPTI_ACTIVITY_MEMCPY_KIND_ATOH = 4,
	CUPTI_ACTIVITY_MEMCPY_KIND_ATOA = 5,
	CUPTI_ACTIVITY_MEMCPY_KIND_ATOD = 6,
	CUPTI_ACTIVITY_MEMCPY_KIND_DTOA = 7,
	CUPTI_ACTIVITY_MEMCPY_KIND_DTOD = 8,
	CUPTI_ACTIVITY_MEMCPY_KIND_HTOH = 9,
	CUPTI_ACTIVITY_MEMCPY_KIND_PTOP = 10,
	CUPTI_ACTIVITY_MEMCPY_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityMemcpyKind;

typedef enum {
	CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN = 0,
	CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE = 1,
	CUPTI_ACTIVITY_MEMORY_KIND_PINNED = 2,
	CUPTI_ACTIVITY_MEMORY_KIND_DEVICE = 3,
	CUPTI_ACTIVITY_MEMORY_KIND_ARRAY = 4,
	CUPTI_ACTIVITY_MEMORY_KIND_MANAGED = 5,
	CUPTI_ACTIVITY_MEMORY_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityMemoryKind;

typedef enum {
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN = 0,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE = 1,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT = 2,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE = 3,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE = 4,
	CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ActivitySynchronizationType;

typedef enum {
	CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID = 0,
	CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION = 1,
	CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE = 2,
	CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityMemoryOperationType;

typedef enum {
	CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID = 0,
	CUPTI_ACTIVITY_MEMORY_POOL_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityMemoryPoolType;

typedef enum {
	CUPTI_CHANNEL_TYPE_INVALID = 0,
	CUPTI_CHANNEL_TYPE_COMPUTE = 1,
	CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY = 2,
	CUPTI_CHANNEL_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ChannelType;

typedef enum {
	CUPTI_EXTERNAL_CORRELATION_KIND_INVALID = 0,
	CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN = 1,
	CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC = 2,
	CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0 = 3,
	CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1 = 4,
	CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2 = 5,
	CUPTI_EXTERNAL_CORRELATION_KIND_SIZE,
	CUPTI_EXTERNAL_CORRELATION_KIND_FORCE_INT = 0x7fffffff
} CUpti_ExternalCorrelationKind;

typedef enum {
	CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE = 0,
	CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP = 1,
	CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT = 2,
	CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_SIZE = 3,
	CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_POOL_LIMIT = 4,
	CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER = 5,
	CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE = 6,
	CUPTI_ACTIVITY_ATTR_PROFILING_SEMAPHORE_PRE_ALLOCATE_VALUE = 7,
	CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED = 8,
	CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER = 9,
	CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_FORCE_INT = 0x7fffffff
} CUpti_ActivityAttribute;

typedef enum {
	CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH = 1 << 16,
	CUPTI_ACTIVITY_OVERHEAD_FORCE_INT = 0x7fffffff
} CUpti_ActivityOverheadKind;

typedef enum {
	CUPTI_ACTIVITY_OBJECT_UNKNOWN = 0,
	CUPTI_ACTIVITY_OBJECT_PROCESS = 1,
	CUPTI_ACTIVITY_OBJECT_THREAD = 2,
	CUPTI_ACTIVITY_OBJECT_FORCE_INT = 0x7fffffff
} CUpti_ActivityObjectKind;

typedef union {
	struct {
		uint32_t processId, threadId;
	} pt;
	struct {
		uint32_t deviceId, contextId, streamId;
	} dcs;
} CUpti_ActivityObjectKindId;

#define CUPTI_RECORD __attribute__((__packed__)) __attribute__((aligned(8)))

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
} CUpti_Activity;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	uint8_t copyKind, srcKind, dstKind, flags;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, correlationId, runtimeCorrelationId, pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId, channelID;
	CUpti_ChannelType channelType;
	uint8_t isDeviceLaunched, pad2[3];
	uint64_t copyCount;
} CUpti_ActivityMemcpy6;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	uint8_t copyKind, srcKind, dstKind, flags;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId;
	uint32_t srcDeviceId, srcContextId, dstDeviceId, dstContextId, correlationId;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId, channelID;
	CUpti_ChannelType channelType;
} CUpti_ActivityMemcpyPtoP4;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	uint32_t value;
	uint64_t bytes, start, end;
	uint32_t deviceId, contextId, streamId, correlationId;
	uint16_t flags, memoryKind;
	uint32_t pad;
	void *reserved0;
	uint64_t graphNodeId;
	uint32_t graphId, channelID;
	CUpti_ChannelType channelType;
	uint8_t isDeviceLaunched, pad2[3];
} CUpti_ActivityMemset4;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ActivityMemoryOperationType memoryOperationType;
	CUpti_ActivityMemoryKind memoryKind;
	uint32_t correlationId;
	uint64_t address, bytes, timestamp, PC;
	uint32_t processId, deviceId, contextId, streamId;
	const char *name;
	uint32_t isAsync, pad1;
	struct CUPTI_RECORD {
		CUpti_ActivityMemoryPoolType memoryPoolType;
		uint32_t pad2;
		uint64_t address, releaseThreshold;
		union {
			uint64_t size, processId;
		} pool;
		uint64_t utilizedSize;
	} memoryPoolConfig;
	const char *source;
} CUpti_ActivityMemory4;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	union {
		uint8_t both;
		struct {
			uint8_t requested : 4, executed : 4;
		} config;
	} cacheConfig;
	uint8_t sharedMemoryConfig;
	uint16_t registersPerThread;
	uint32_t partitionedGlobalCacheRequested, partitionedGlobalCacheExecuted;
	uint64_t start, end, completed;
	uint32_t deviceId, contextId, streamId;
	int32_t gridX, gridY, gridZ, blockX, blockY, blockZ;
	int32_t staticSharedMemory, dynamicSharedMemory;
	uint32_t localMemoryPerThread, localMemoryTotal, correlationId;
	int64_t gridId;
	const char *name;
	void *reserved0;
	uint64_t queued, submitted;
	uint8_t launchType, isSharedMemoryCarveoutRequested, sharedMemoryCarveoutRequested, padding;
	uint32_t sharedMemoryExecuted;
	uint64_t graphNodeId;
	uint32_t shmemLimitConfig, graphId;
	void *pAccessPolicyWindow;
	uint32_t channelID;
	CUpti_ChannelType channelType;
	uint32_t clusterX, clusterY, clusterZ, clusterSchedulingPolicy;
	uint64_t localMemoryTotal_v2;
	uint32_t maxPotentialClusterSize, maxActiveClusters;
	uint8_t isDeviceLaunched, padding3[7];
} CUpti_ActivityKernel10;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_CallbackId cbid;
	uint64_t start, end;
	uint32_t processId, threadId, correlationId, returnValue;
} CUpti_ActivityAPI;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ActivitySynchronizationType type;
	uint64_t start, end;
	uint32_t correlationId, contextId, streamId, cudaEventId;
	uint64_t cudaEventSyncId;
	uint32_t returnValue, pad;
} CUpti_ActivitySynchronization2;

#define CUPTI_UNIFIED_MEMORY_CPU_DEVICE_ID ((uint32_t)0xFFFFFFFFU)

typedef enum {
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_UNKNOWN = 0,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE = 1,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES = 2,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_COUNT,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityUnifiedMemoryCounterScope;

typedef enum {
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_UNKNOWN = 0,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD = 1,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH = 2,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT = 3,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT = 4,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING = 5,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING = 6,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP = 7,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD = 8,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_COUNT,
	CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_FORCE_INT = 0x7fffffff
} CUpti_ActivityUnifiedMemoryCounterKind;

typedef struct CUPTI_RECORD {
	CUpti_ActivityUnifiedMemoryCounterScope scope;
	CUpti_ActivityUnifiedMemoryCounterKind kind;
	uint32_t deviceId, enable;
} CUpti_ActivityUnifiedMemoryCounterConfig;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ActivityUnifiedMemoryCounterKind counterKind;
	uint64_t value, start, end, address;
	uint32_t srcId, dstId, streamId, processId, flags, pad;
	uint64_t processors[5];
} CUpti_ActivityUnifiedMemoryCounter3;

typedef enum {
	CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT = 0,
	CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM = 1,
	CUPTI_ACTIVITY_THREAD_ID_TYPE_FORCE_INT = 0x7fffffff
} CUpti_ActivityThreadIdType;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ActivityFlag flags;
	uint64_t timestamp;
	uint32_t id;
	CUpti_ActivityObjectKind objectKind;
	CUpti_ActivityObjectKindId objectId;
	uint32_t pad;
	const char *name, *domain;
} CUpti_ActivityMarker2;

typedef enum {
	CUPTI_METRIC_VALUE_KIND_DOUBLE = 0,
	CUPTI_METRIC_VALUE_KIND_UINT64 = 1,
	CUPTI_METRIC_VALUE_KIND_INT64 = 4,
	CUPTI_METRIC_VALUE_KIND_NVTX_EXTENDED_PAYLOAD = 6,
	CUPTI_METRIC_VALUE_KIND_FORCE_INT = 0x7fffffff
} CUpti_MetricValueKind;

typedef union {
	double metricValueDouble;
	uint64_t metricValueUint64;
	int64_t metricValueInt64;
	uint64_t metricValueNvtxExtendedPayload;
} CUpti_MetricValue;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ActivityFlag flags;
	uint32_t id;
	CUpti_MetricValueKind payloadKind;
	CUpti_MetricValue payload;
	uint32_t color, category, cuptiDomainId, padding;
} CUpti_ActivityMarkerData2;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ExternalCorrelationKind externalKind;
	uint64_t externalId;
	uint32_t correlationId, reserved;
} CUpti_ActivityExternalCorrelation;

typedef struct CUPTI_RECORD {
	CUpti_ActivityKind kind;
	CUpti_ActivityOverheadKind overheadKind;
	CUpti_ActivityObjectKind objectKind;
	CUpti_ActivityObjectKindId objectId;
	uint64_t start, end;
	uint32_t correlationId, reserved0;
	void *overheadData;
} CUpti_ActivityOverhead3;

typedef struct {
	CUpti_ActivityKind kind;
	uint32_t correlationId;
	uint64_t start, end;
	uint32_t deviceId, graphId, contextId, streamId;
	void *reserved;
	uint32_t endDeviceId, endContextId;
} CUpti_ActivityGraphTrace2;

typedef void(CUPTIAPI *CUpti_BuffersCallbackRequestFunc)(uint8_t **buffer, size_t *size,
							 size_t *maxNumRecords);
typedef void(CUPTIAPI *CUpti_BuffersCallbackCompleteFunc)(CUcontext context, uint32_t streamId,
							  uint8_t *buffer, size_t size, size_t validSize);
typedef uint64_t(CUPTIAPI *CUpti_TimestampCallbackFunc)(void);

#pragma GCC visibility push(default)
CUptiResult cuptiGetVersion(uint32_t *version);
CUptiResult cuptiGetTimestamp(uint64_t *timestamp);
CUptiResult cuptiGetResultString(CUptiResult result, const char **str);
CUptiResult cuptiGetErrorMessage(CUptiResult result, const char **str);
CUptiResult cuptiGetLastError(void);
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata);
CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback, void *userdata,
			      CUpti_SubscriberParams *pParams);
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber);
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
				CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber,
			      CUpti_CallbackDomain domain);
CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle subscriber);
CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle subscriber,
				  CUpti_CallbackDomain domain, CUpti_CallbackId cbid);
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name);
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc funcBufferRequested,
					   CUpti_BuffersCallbackCompleteFunc funcBufferCompleted);
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind);
CUptiResult cuptiActivityEnableContext(CUcontext context, CUpti_ActivityKind kind);
CUptiResult cuptiActivityDisableContext(CUcontext context, CUpti_ActivityKind kind);
CUptiResult cuptiActivityFlushAll(uint32_t flag);
CUptiResult cuptiActivityFlushPeriod(uint32_t time);
CUptiResult cuptiActivityGetNextRecord(uint8_t *buffer, size_t validBufferSizeBytes, CUpti_Activity **record);
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t streamId, size_t *dropped);
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value);
CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value);
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc funcTimestamp);
CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable);
CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t enable);
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id);
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t *lastId);
CUptiResult cuptiActivityConfigureUnifiedMemoryCounter(CUpti_ActivityUnifiedMemoryCounterConfig *config,
						       uint32_t count);
CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type);
CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType *type);
CUptiResult cuptiFinalize(void);
CUptiResult cuptiGetContextId(CUcontext context, uint32_t *contextId);
CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t *deviceId);
CUptiResult cuptiGetStreamId(CUcontext context, CUstream stream, uint32_t *streamId);
CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t perThreadStream,
			       uint32_t *streamId);
CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t *pId);
CUptiResult cuptiGetGraphExecId(CUgraphExec graphExec, uint32_t *pId);
CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t *nodeId);
#pragma GCC visibility pop

#endif
