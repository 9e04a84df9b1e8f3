/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What of CUPTI's binary interface we use, so that the tree builds on a machine with no CUDA. For CUPTI 11.0 to 13.x
 * on 64-bit Linux. Each list below makes our definitions, and shim/abi_check.c holds the same list, and every field,
 * against NVIDIA's headers wherever they are installed (11.8, 12.6 and 13.0 were).
 *
 * CUPTI only ever appends to a record (the numbered CUpti_ActivityKernel4, 5, …): one struct, the longest, stands
 * here for all of them, and a field is read only when cuptiGetVersion() is at least its CUPTI_SINCE_*.
 */
#ifndef GPUBPF_SHIM_CUPTI_ABI_H
#define GPUBPF_SHIM_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

#include "events.h"

/* cuptiGetVersion() (cupti_version.h): counted from 1 until CUDA 12.9, MMmmuu of the toolkit since 13.0. */
#define CUPTI_SINCE_11_0 13
#define CUPTI_SINCE_11_1 14
#define CUPTI_SINCE_11_2 15
#define CUPTI_SINCE_11_6 17
#define CUPTI_SINCE_11_8 18
#define CUPTI_SINCE_12_2 20
#define CUPTI_SINCE_12_8 26
#define CUPTI_SINCE_13_0 130000
#define CUPTI_SINCE_13_1 130100

/* name of NVIDIA's without CUPTI_, value. cupti_result.h, cupti_activity.h, cupti_callbacks.h; never renumbered. */
/* clang-format off */
#define CUPTI_ABI_CONSTANTS(X) \
	X(SUCCESS, 0) X(ERROR_INVALID_PARAMETER, 1) X(ERROR_INVALID_OPERATION, 7) X(ERROR_OUT_OF_MEMORY, 8) \
	X(ERROR_API_NOT_IMPLEMENTED, 11) X(ERROR_MAX_LIMIT_REACHED, 12) X(ERROR_NOT_READY, 13) \
	X(ERROR_NOT_COMPATIBLE, 14) X(ERROR_NOT_INITIALIZED, 15) X(ERROR_INVALID_KIND, 21) X(ERROR_DISABLED, 23) \
	X(ERROR_HARDWARE_BUSY, 26) X(ERROR_NOT_SUPPORTED, 27) X(ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED, 33) \
	X(ERROR_INSUFFICIENT_PRIVILEGES, 35) X(ERROR_OLD_PROFILER_API_INITIALIZED, 36) \
	X(ERROR_LEGACY_PROFILER_NOT_SUPPORTED, 38) X(ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, 39) \
	X(ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES, 40) X(ERROR_UNKNOWN, 999) \
	\
	X(ACTIVITY_KIND_INVALID, 0) X(ACTIVITY_KIND_MEMCPY, 1) X(ACTIVITY_KIND_MEMSET, 2) X(ACTIVITY_KIND_KERNEL, 3) \
	X(ACTIVITY_KIND_DRIVER, 4) X(ACTIVITY_KIND_MARKER, 12) X(ACTIVITY_FLAG_MARKER_INSTANTANEOUS, 1) \
	X(ACTIVITY_FLAG_MARKER_START, 2) X(ACTIVITY_FLAG_MARKER_END, 4) X(ACTIVITY_OBJECT_THREAD, 2) \
	X(ACTIVITY_KIND_MARKER_DATA, 13) X(ACTIVITY_FLAG_MARKER_COLOR_ARGB, 2) \
	X(ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, 25) X(ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_SINGLE_DEVICE, 1) \
	X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD, 1) \
	X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH, 2) \
	X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT, 3) \
	X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT, 4) X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THRASHING, 5) \
	X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_THROTTLING, 6) X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_REMOTE_MAP, 7) \
	X(ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOD, 8) \
	X(ACTIVITY_KIND_OVERHEAD, 17) X(ACTIVITY_KIND_CONCURRENT_KERNEL, 10) X(ACTIVITY_KIND_MEMCPY2, 22) \
	X(ACTIVITY_KIND_SYNCHRONIZATION, 38) X(ACTIVITY_KIND_EXTERNAL_CORRELATION, 39) X(ACTIVITY_KIND_MEMORY, 45) \
	X(ACTIVITY_FLAG_MEMCPY_ASYNC, 1) X(ACTIVITY_FLAG_MEMSET_ASYNC, 1) X(ACTIVITY_FLAG_FLUSH_FORCED, 1) \
	X(ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, 0) X(ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, 2) \
	X(ACTIVITY_MEMCPY_KIND_UNKNOWN, 0) X(ACTIVITY_MEMCPY_KIND_HTOD, 1) X(ACTIVITY_MEMCPY_KIND_DTOH, 2) \
	X(ACTIVITY_MEMCPY_KIND_HTOA, 3) X(ACTIVITY_MEMCPY_KIND_ATOH, 4) X(ACTIVITY_MEMCPY_KIND_ATOA, 5) \
	X(ACTIVITY_MEMCPY_KIND_ATOD, 6) X(ACTIVITY_MEMCPY_KIND_DTOA, 7) X(ACTIVITY_MEMCPY_KIND_DTOD, 8) \
	X(ACTIVITY_MEMCPY_KIND_HTOH, 9) X(ACTIVITY_MEMCPY_KIND_PTOP, 10) \
	\
	X(API_ENTER, 0) X(API_EXIT, 1) \
	X(CB_DOMAIN_DRIVER_API, 1) X(CB_DOMAIN_RUNTIME_API, 2) X(CB_DOMAIN_RESOURCE, 3) X(CB_DOMAIN_SYNCHRONIZE, 4) \
	X(CB_DOMAIN_NVTX, 5) \
	X(CBID_RESOURCE_CONTEXT_CREATED, 1) X(CBID_RESOURCE_CONTEXT_DESTROY_STARTING, 2) \
	X(CBID_RESOURCE_STREAM_CREATED, 3) X(CBID_RESOURCE_STREAM_DESTROY_STARTING, 4) \
	X(CBID_RESOURCE_CU_INIT_FINISHED, 5) X(CBID_RESOURCE_MODULE_LOADED, 6) \
	X(CBID_RESOURCE_MODULE_UNLOAD_STARTING, 7)

/* Of later versions. */
#define CUPTI_ABI_CONSTANTS_11_2(X) X(ACTIVITY_KIND_MEMORY2, 49) X(ACTIVITY_THREAD_ID_TYPE_SYSTEM, 1)
#define CUPTI_ABI_CONSTANTS_11_8(X) X(ACTIVITY_KIND_GRAPH_TRACE, 51) X(ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, 8)
#define CUPTI_ABI_CONSTANTS_12_8(X) X(ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 9)

/*
 * Driver entry points that ask the device for work, that allocate, free or wait: symbol, callback id
 * (cupti_driver_cbid.h, append-only), GPUBPF_WORK_… of events.h. Those of bpf/apis.h, by the version that brought them.
 */
#define CUPTI_DRIVER_CBIDS_11_0(X) \
	X(cuLaunch, 115, LAUNCH) X(cuLaunchGrid, 116, LAUNCH) X(cuLaunchGridAsync, 117, LAUNCH) \
	X(cuLaunchKernel, 307, LAUNCH) X(cuLaunchKernel_ptsz, 442, LAUNCH) \
	X(cuLaunchCooperativeKernel, 477, LAUNCH) X(cuLaunchCooperativeKernel_ptsz, 478, LAUNCH) \
	X(cuLaunchCooperativeKernelMultiDevice, 480, LAUNCH) X(cuGraphLaunch, 514, GRAPH) \
	X(cuGraphLaunch_ptsz, 515, GRAPH) X(cuMemcpyHtoD, 43, COPY) X(cuMemcpyDtoH, 45, COPY) \
	X(cuMemcpyDtoD, 47, COPY) X(cuMemcpyDtoA, 49, COPY) X(cuMemcpyAtoD, 51, COPY) X(cuMemcpyHtoA, 53, COPY) \
	X(cuMemcpyAtoH, 54, COPY) X(cuMemcpyAtoA, 55, COPY) X(cuMemcpy2D, 56, COPY) \
	X(cuMemcpy2DUnaligned, 57, COPY) X(cuMemcpy3D, 58, COPY) X(cuMemcpyHtoDAsync, 60, COPY) \
	X(cuMemcpyDtoHAsync, 62, COPY) X(cuMemcpyDtoDAsync, 64, COPY) X(cuMemcpyHtoAAsync, 66, COPY) \
	X(cuMemcpyAtoHAsync, 67, COPY) X(cuMemcpy2DAsync, 68, COPY) X(cuMemcpy3DAsync, 69, COPY) \
	X(cuMemcpyHtoD_v2, 276, COPY) X(cuMemcpyHtoDAsync_v2, 277, COPY) X(cuMemcpyDtoH_v2, 278, COPY) \
	X(cuMemcpyDtoHAsync_v2, 279, COPY) X(cuMemcpyDtoD_v2, 280, COPY) X(cuMemcpyDtoDAsync_v2, 281, COPY) \
	X(cuMemcpyAtoH_v2, 282, COPY) X(cuMemcpyAtoHAsync_v2, 283, COPY) X(cuMemcpyAtoD_v2, 284, COPY) \
	X(cuMemcpyDtoA_v2, 285, COPY) X(cuMemcpyAtoA_v2, 286, COPY) X(cuMemcpy2D_v2, 287, COPY) \
	X(cuMemcpy2DUnaligned_v2, 288, COPY) X(cuMemcpy2DAsync_v2, 289, COPY) X(cuMemcpy3D_v2, 290, COPY) \
	X(cuMemcpy3DAsync_v2, 291, COPY) X(cuMemcpyHtoA_v2, 292, COPY) X(cuMemcpyHtoAAsync_v2, 293, COPY) \
	X(cuMemcpy, 305, COPY) X(cuMemcpyAsync, 306, COPY) X(cuMemcpyPeer, 318, COPY) \
	X(cuMemcpyPeerAsync, 319, COPY) X(cuMemcpy3DPeer, 320, COPY) X(cuMemcpy3DPeerAsync, 321, COPY) \
	X(cuMemcpyHtoD_v2_ptds, 397, COPY) X(cuMemcpyDtoH_v2_ptds, 398, COPY) X(cuMemcpyDtoD_v2_ptds, 399, COPY) \
	X(cuMemcpyDtoA_v2_ptds, 400, COPY) X(cuMemcpyAtoD_v2_ptds, 401, COPY) X(cuMemcpyHtoA_v2_ptds, 402, COPY) \
	X(cuMemcpyAtoH_v2_ptds, 403, COPY) X(cuMemcpyAtoA_v2_ptds, 404, COPY) X(cuMemcpy2D_v2_ptds, 405, COPY) \
	X(cuMemcpy2DUnaligned_v2_ptds, 406, COPY) X(cuMemcpy3D_v2_ptds, 407, COPY) X(cuMemcpy_ptds, 408, COPY) \
	X(cuMemcpyPeer_ptds, 409, COPY) X(cuMemcpy3DPeer_ptds, 410, COPY) X(cuMemcpyAsync_ptsz, 418, COPY) \
	X(cuMemcpyHtoAAsync_v2_ptsz, 419, COPY) X(cuMemcpyAtoHAsync_v2_ptsz, 420, COPY) \
	X(cuMemcpyHtoDAsync_v2_ptsz, 421, COPY) X(cuMemcpyDtoHAsync_v2_ptsz, 422, COPY) \
	X(cuMemcpyDtoDAsync_v2_ptsz, 423, COPY) X(cuMemcpy2DAsync_v2_ptsz, 424, COPY) \
	X(cuMemcpy3DAsync_v2_ptsz, 425, COPY) X(cuMemcpyPeerAsync_ptsz, 426, COPY) \
	X(cuMemcpy3DPeerAsync_ptsz, 427, COPY) X(cuMemsetD8, 71, SET) X(cuMemsetD16, 73, SET) \
	X(cuMemsetD32, 75, SET) X(cuMemsetD2D8, 77, SET) X(cuMemsetD2D16, 79, SET) X(cuMemsetD2D32, 81, SET) \
	X(cuMemsetD8Async, 216, SET) X(cuMemsetD16Async, 218, SET) X(cuMemsetD32Async, 220, SET) \
	X(cuMemsetD2D8Async, 222, SET) X(cuMemsetD2D16Async, 224, SET) X(cuMemsetD2D32Async, 226, SET) \
	X(cuMemsetD8_v2, 249, SET) X(cuMemsetD16_v2, 250, SET) X(cuMemsetD32_v2, 251, SET) \
	X(cuMemsetD2D8_v2, 252, SET) X(cuMemsetD2D16_v2, 253, SET) X(cuMemsetD2D32_v2, 254, SET) \
	X(cuMemsetD8_v2_ptds, 411, SET) X(cuMemsetD16_v2_ptds, 412, SET) X(cuMemsetD32_v2_ptds, 413, SET) \
	X(cuMemsetD2D8_v2_ptds, 414, SET) X(cuMemsetD2D16_v2_ptds, 415, SET) X(cuMemsetD2D32_v2_ptds, 416, SET) \
	X(cuMemsetD8Async_ptsz, 428, SET) X(cuMemsetD16Async_ptsz, 429, SET) X(cuMemsetD32Async_ptsz, 430, SET) \
	X(cuMemsetD2D8Async_ptsz, 431, SET) X(cuMemsetD2D16Async_ptsz, 432, SET) \
	X(cuMemsetD2D32Async_ptsz, 433, SET) X(cuMemAlloc, 29, ALLOC) X(cuMemAllocPitch, 31, ALLOC) \
	X(cuMemFree, 33, ALLOC) X(cuMemAllocHost, 37, ALLOC) X(cuMemFreeHost, 38, ALLOC) \
	X(cuMemHostAlloc, 39, ALLOC) X(cuArrayCreate, 87, ALLOC) X(cuArrayDestroy, 89, ALLOC) \
	X(cuArray3DCreate, 90, ALLOC) X(cuMemAlloc_v2, 243, ALLOC) X(cuMemAllocPitch_v2, 244, ALLOC) \
	X(cuMemFree_v2, 245, ALLOC) X(cuArrayCreate_v2, 272, ALLOC) X(cuArray3DCreate_v2, 274, ALLOC) \
	X(cuMemAllocHost_v2, 294, ALLOC) X(cuMemHostRegister, 301, ALLOC) X(cuMemHostUnregister, 302, ALLOC) \
	X(cuMipmappedArrayCreate, 347, ALLOC) X(cuMipmappedArrayDestroy, 349, ALLOC) \
	X(cuMemAllocManaged, 371, ALLOC) X(cuMemHostRegister_v2, 379, ALLOC) X(cuMemCreate, 549, ALLOC) \
	X(cuMemRelease, 550, ALLOC) X(cuCtxSynchronize, 17, SYNC) X(cuEventSynchronize, 121, SYNC) \
	X(cuStreamSynchronize, 126, SYNC) X(cuStreamSynchronize_ptsz, 440, SYNC)

#define CUPTI_DRIVER_CBIDS_11_2(X) \
	X(cuMemAllocAsync, 598, ALLOC) X(cuMemAllocAsync_ptsz, 599, ALLOC) X(cuMemFreeAsync, 600, ALLOC) \
	X(cuMemFreeAsync_ptsz, 601, ALLOC) X(cuMemAllocFromPoolAsync, 611, ALLOC) \
	X(cuMemAllocFromPoolAsync_ptsz, 612, ALLOC)

#define CUPTI_DRIVER_CBIDS_11_8(X) \
	X(cuLaunchKernelEx, 652, LAUNCH) X(cuLaunchKernelEx_ptsz, 653, LAUNCH)

#define CUPTI_DRIVER_CBIDS_12_8(X) \
	X(cuMemcpyBatchAsync, 776, COPY) X(cuMemcpyBatchAsync_ptsz, 777, COPY) X(cuMemcpy3DBatchAsync, 778, COPY) \
	X(cuMemcpy3DBatchAsync_ptsz, 779, COPY)

#define CUPTI_DRIVER_CBIDS_13_0(X) \
	X(cuMemcpyBatchAsync_v2, 796, COPY) X(cuMemcpyBatchAsync_v2_ptsz, 797, COPY) \
	X(cuMemcpy3DBatchAsync_v2, 798, COPY) X(cuMemcpy3DBatchAsync_v2_ptsz, 799, COPY) \
	X(cuCtxSynchronize_v2, 800, SYNC)

#define CUPTI_DRIVER_CBIDS(X) \
	CUPTI_DRIVER_CBIDS_11_0(X) CUPTI_DRIVER_CBIDS_11_2(X) CUPTI_DRIVER_CBIDS_11_8(X) \
	CUPTI_DRIVER_CBIDS_12_8(X) CUPTI_DRIVER_CBIDS_13_0(X)
#define CUPTI_DRIVER_CBID_MAX 1024 /* ids are below this: for tables indexed by id */
/* clang-format on */

enum cupti_abi {
#define X(name, value) ABI_##name = (value),
	CUPTI_ABI_CONSTANTS(X) CUPTI_ABI_CONSTANTS_11_2(X) CUPTI_ABI_CONSTANTS_11_8(X)
		CUPTI_ABI_CONSTANTS_12_8(X)
#undef X
};

enum cupti_driver_cbid {
#define X(symbol, id, work) ABI_CBID_##symbol = (id),
	CUPTI_DRIVER_CBIDS(X)
#undef X
};

typedef int cupti_result; /* CUptiResult: ABI_SUCCESS or ABI_ERROR_* */
typedef struct CUpti_Subscriber_st *cupti_subscriber;
typedef void cupti_callback(void *userdata, int domain, uint32_t cbid, const void *data);
typedef void cupti_buffer_requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void cupti_buffer_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
				    size_t valid);
typedef uint64_t cupti_timestamp(void);

/* CUpti_CallbackData: of the driver and runtime domains. */
struct cupti_callback_data {
	int32_t site; /* ABI_API_ENTER, ABI_API_EXIT */
	const char *function_name;
	const void *function_params;
	void *function_return; /* CUresult *; at ABI_API_EXIT only */
	const char *symbol_name;
	void *context;
	uint32_t context_uid;
	uint64_t *correlation_data;
	uint32_t correlation_id;
};

/* CUpti_ResourceData: of the resource domain. */
struct cupti_resource_data {
	void *context;
	void *stream;
	void *descriptor; /* struct cupti_module_data * in the module callbacks */
};

/* CUpti_ModuleResourceData. */
struct cupti_module_data {
	uint32_t module_id;
	size_t cubin_size;
	const char *cubin;
};

/* CUpti_Activity: how every record begins. */
struct cupti_record {
	uint32_t kind;
};

/* CUpti_ActivityKernel5 (11.0) to 10 (13.0). */
struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config; /* 4 bits requested, 4 bits executed: CUfunc_cache */
	uint8_t shared_config;
	uint16_t registers;
	uint32_t global_cache_requested, global_cache_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved0;
	uint64_t queued, submitted; /* 0 unless latency timestamps are on */
	uint8_t launch_type, carveout_requested, carveout, padding;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shared_limit;
	uint32_t graph;              /* 11.1 */
	void *access_policy;         /* 11.2, Kernel6 */
	uint32_t channel, chan_type; /* 11.6, Kernel7 */
	uint32_t cluster[3];         /* 11.8, Kernel8 and 9 at once */
	uint32_t cluster_policy;
	uint64_t local_total_v2;
	uint32_t cluster_potential, clusters_active;
	uint8_t device_launched; /* 13.0, Kernel10 */
	uint8_t padding3[7];
};

/* CUpti_ActivityMemcpy3 (11.0) to 6 (12.8). */
struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation, runtime_correlation;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node;
	uint32_t graph;              /* 11.1, Memcpy4 */
	uint32_t channel, chan_type; /* 11.6, Memcpy5 */
	uint8_t device_launched, pad2[3];
	uint64_t copy_count; /* 12.8, Memcpy6 */
};

/* CUpti_ActivityMemcpyPtoP2 (11.0) to 4 (11.6). */
struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind, src_kind, dst_kind, flags;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t src_device, src_context, dst_device, dst_context;
	uint32_t correlation;
	void *reserved0;
	uint64_t graph_node;
	uint32_t graph;              /* 11.1, PtoP3 */
	uint32_t channel, chan_type; /* 11.6, PtoP4 */
};

/* CUpti_ActivityMemset2 (11.0) to 4 (11.6). */
struct cupti_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes;
	uint64_t start, end;
	uint32_t device, context, stream;
	uint32_t correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved0;
	uint64_t graph_node;
	uint32_t graph;              /* 11.1, Memset3 */
	uint32_t channel, chan_type; /* 11.6, Memset4 */
	uint8_t device_launched, pad2[3];
};

/* CUpti_ActivityGraphTrace (11.7) and 2 (12.3). */
struct cupti_graph_trace {
	uint32_t kind;
	uint32_t correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
	uint32_t end_device, end_context; /* GraphTrace2 */
};

/* CUpti_ActivitySynchronization and 2 (12.8). */
struct cupti_sync {
	uint32_t kind;
	uint32_t type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
	uint64_t event_sync; /* 12.8 */
	uint32_t result, pad;
};

/* CUpti_ActivityMemory2 (11.2) to 4; what follows is_async is not used. */
struct cupti_memory {
	uint32_t kind;
	uint32_t operation;
	uint32_t memory_kind;
	uint32_t correlation;
	uint64_t address, bytes;
	uint64_t time;
	uint64_t pc;
	uint32_t process;
	uint32_t device, context, stream;
	const char *name;
	uint32_t is_async;
};

/* CUpti_ActivityOverhead to 3 (12.4). */
struct cupti_overhead {
	uint32_t kind;
	uint32_t overhead_kind;
	uint32_t object_kind;
	uint32_t object[3];
	uint64_t start, end;
	uint32_t correlation; /* 12.2, Overhead2 */
	uint32_t reserved0;
};

/* CUpti_ActivityUnifiedMemoryCounterConfig. */
struct cupti_unified_config {
	uint32_t scope, kind;
	uint32_t device, enable;
};

/* CUpti_ActivityUnifiedMemoryCounter2 and 3; what follows pad is not used. */
struct cupti_unified {
	uint32_t kind;
	uint32_t counter;
	uint64_t value;
	uint64_t start, end;
	uint64_t address;
	uint32_t src, dst;
	uint32_t stream, process;
	uint32_t flags;
	uint32_t pad;
};

/* CUpti_ActivityMarker2. */
struct cupti_marker {
	uint32_t kind;
	uint32_t flags;
	uint64_t time;
	uint32_t id;
	uint32_t object_kind;
	uint32_t object[3]; /* of a thread: process, thread */
	uint32_t pad;
	const char *name;   /* NULL: the end of a range */
	const char *domain; /* NULL: the default one */
};

/* CUpti_ActivityMarkerData and 2; what follows category is not used. */
struct cupti_marker_data {
	uint32_t kind;
	uint32_t flags;
	uint32_t id;
	uint32_t payload_kind;
	uint64_t payload;
	uint32_t color, category;
};

/* nvtxPayloadData_t: what the payload of GPUBPF_PAYLOAD_EXTENDED points to. CUPTI has allocated both parts for us. */
struct cupti_payload {
	uint64_t schema;
	size_t size;
	void *payload;
};

/* CUpti_ActivityExternalCorrelation. */
struct cupti_external {
	uint32_t kind;
	uint32_t external_kind;
	uint64_t id;
	uint32_t correlation;
	uint32_t reserved;
};

#endif
