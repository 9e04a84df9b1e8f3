/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What programs need of libcuda beyond bpf/apis.h, in the same form: exported and logged, never traced. */
#ifndef SIMCUDA_EXTRA_APIS_H
#define SIMCUDA_EXTRA_APIS_H

/* clang-format off */
#define SIMCUDA_EXTRA_APIS(GPUBPF_API) \
	GPUBPF_API("init", "cuDriverGetVersion", "-", "version:p") \
	GPUBPF_API("init", "cuGetErrorName", "-", "error:u str:p") \
	GPUBPF_API("init", "cuGetErrorString", "-", "error:u str:p") \
	GPUBPF_API("device", "cuDeviceGet", "-", "device:p ordinal:i") \
	GPUBPF_API("device", "cuDeviceGetCount", "-", "count:p") \
	GPUBPF_API("device", "cuDeviceGetName", "-", "name:p len:i device:i") \
	GPUBPF_API("device", "cuDeviceGetUuid", "- _v2", "uuid:p device:i") \
	GPUBPF_API("device", "cuDeviceTotalMem", "- _v2", "bytes:p device:i") \
	GPUBPF_API("device", "cuDeviceGetAttribute", "-", "value:p attribute:u device:i") \
	GPUBPF_API("device", "cuDeviceGetPCIBusId", "-", "id:p len:i device:i") \
	GPUBPF_API("device", "cuDeviceCanAccessPeer", "-", "can:p device:i peer:i") \
	GPUBPF_API("device", "cuDeviceGetP2PAttribute", "-", "value:p attribute:u src:i dst:i") \
	GPUBPF_API("device", "cuDeviceGetDefaultMemPool", "-", "pool:o device:i") \
	GPUBPF_API("device", "cuDeviceGetMemPool", "-", "pool:o device:i") \
	GPUBPF_API("device", "cuDevicePrimaryCtxGetState", "-", "device:i flags:p active:p") \
	GPUBPF_API("device", "cuDevicePrimaryCtxSetFlags", "- _v2", "device:i flags:u") \
	GPUBPF_API("context", "cuCtxGetCurrent", "-", "ctx:o") \
	GPUBPF_API("context", "cuCtxGetDevice", "-", "device:p") \
	GPUBPF_API("context", "cuCtxGetFlags", "-", "flags:p") \
	GPUBPF_API("context", "cuCtxGetApiVersion", "-", "ctx:h version:p") \
	GPUBPF_API("context", "cuCtxGetStreamPriorityRange", "-", "least:p greatest:p") \
	GPUBPF_API("context", "cuCtxGetLimit", "-", "value:p limit:u") \
	GPUBPF_API("context", "cuCtxSetLimit", "-", "limit:u value:z") \
	GPUBPF_API("context", "cuCtxEnablePeerAccess", "-", "peer:h flags:u") \
	GPUBPF_API("module", "cuModuleGetGlobal", "- _v2", "ptr:p bytes:p module:h name:s") \
	GPUBPF_API("module", "cuModuleGetLoadingMode", "-", "mode:p") \
	GPUBPF_API("module", "cuLibraryGetGlobal", "-", "ptr:p bytes:p library:h name:s") \
	GPUBPF_API("module", "cuFuncGetAttribute", "-", "value:p attribute:u func:h") \
	GPUBPF_API("module", "cuFuncSetAttribute", "-", "func:h attribute:u value:i") \
	GPUBPF_API("module", "cuFuncSetCacheConfig", "-", "func:h config:u") \
	GPUBPF_API("module", "cuFuncGetModule", "-", "module:o func:h") \
	GPUBPF_API("module", "cuKernelGetAttribute", "-", "value:p attribute:u kernel:h device:i") \
	GPUBPF_API("module", "cuKernelSetAttribute", "-", "attribute:u value:i kernel:h device:i") \
	GPUBPF_API("module", "cuKernelGetLibrary", "-", "library:o kernel:h") \
	GPUBPF_API("module", "cuOccupancyMaxActiveBlocksPerMultiprocessor", "-", "blocks:p func:h size:i smem:z") \
	GPUBPF_API("memory", "cuMemGetInfo", "- _v2", "free:p total:p") \
	GPUBPF_API("memory", "cuMemGetAddressRange", "- _v2", "base:p bytes:p ptr:d") \
	GPUBPF_API("memory", "cuMemHostGetDevicePointer", "- _v2", "ptr:p host:p flags:u") \
	GPUBPF_API("memory", "cuMemHostGetFlags", "-", "flags:p host:p") \
	GPUBPF_API("memory", "cuMemGetAllocationGranularity", "-", "granularity:p prop:p option:u") \
	GPUBPF_API("memory", "cuPointerGetAttribute", "-", "data:p attribute:u ptr:d") \
	GPUBPF_API("memory", "cuPointerGetAttributes", "-", "count:u attributes:p data:p ptr:d") \
	GPUBPF_API("memory", "cuPointerSetAttribute", "-", "value:p attribute:u ptr:d") \
	GPUBPF_API("memory", "cuMemPoolSetAttribute", "-", "pool:h attribute:u value:p") \
	GPUBPF_API("stream", "cuStreamIsCapturing", "- _ptsz", "stream:h status:p") \
	GPUBPF_API("stream", "cuStreamGetCaptureInfo_v2", "- _ptsz", \
		"stream:h status:p id:p graph:p deps:p count:p") \
	GPUBPF_API("stream", "cuStreamGetCaptureInfo_v3", "- _ptsz", \
		"stream:h status:p id:p graph:p deps:p edges:p count:p") \
	GPUBPF_API("stream", "cuThreadExchangeStreamCaptureMode", "-", "mode:p") \
	GPUBPF_API("stream", "cuStreamGetFlags", "- _ptsz", "stream:h flags:p") \
	GPUBPF_API("stream", "cuStreamGetPriority", "- _ptsz", "stream:h priority:p") \
	GPUBPF_API("stream", "cuStreamGetId", "- _ptsz", "stream:h id:p") \
	GPUBPF_API("stream", "cuStreamGetCtx", "- _ptsz", "stream:h ctx:o") \
	GPUBPF_API("graph", "cuGraphGetNodes", "-", "graph:h nodes:p count:p") \
	GPUBPF_API("graph", "cuGraphNodeGetType", "-", "node:h type:p") \
	GPUBPF_API("graph", "cuGraphAddKernelNode", "_v2", "node:o graph:h deps:p ndeps:z params:p") \
	GPUBPF_API("graph", "cuGraphAddMemcpyNode", "-", "node:o graph:h deps:p ndeps:z params:p ctx:h") \
	GPUBPF_API("graph", "cuGraphAddMemsetNode", "-", "node:o graph:h deps:p ndeps:z params:p ctx:h") \
	GPUBPF_API("graph", "cuGraphAddHostNode", "-", "node:o graph:h deps:p ndeps:z params:p") \
	GPUBPF_API("graph", "cuGraphAddEmptyNode", "-", "node:o graph:h deps:p ndeps:z") \
	GPUBPF_API("other", "cuGetExportTable", "-", "table:p uuid:p") \
	GPUBPF_API("other", "cuProfilerStart", "-", "") \
	GPUBPF_API("other", "cuProfilerStop", "-", "")
/* clang-format on */

#endif
