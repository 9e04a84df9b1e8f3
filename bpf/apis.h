/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of traced libcuda entry points. One line per API; every symbol of it (`variants`) gets a
 * probe where the driver exports it. Attach, the probes' argument handling and every decoder read this
 * table; a capture carries the part of it that was armed, so a file decodes with no table of the reader.
 *
 *   GPUBPF_API(kind, base, variants, signature)
 *
 * kind       class, or class.detail: what the report counts the call as.
 * base       the symbol without its suffix.
 * variants   suffixes, space separated. "-" is the plain symbol. "!" is the plain symbol of an API that
 *            later got a `_v2`: its device pointers (d) and sizes (z) are 32 bits wide (cuda.h, `_v1` types).
 * signature  the C parameters in order, `name:type`. Names are roles: decoders look arguments up by name.
 *
 *   h  handle, 8 bytes (function, stream, graph, context, event, pool …)
 *   p  host pointer, not followed            d  device pointer
 *   u  unsigned 32    i  signed 32           q  unsigned 64      z  size_t
 *   b  unsigned 8     w  unsigned 16
 *   s  const char *, the string is captured
 *   o  pointer to an 8-byte result, captured at return as the record's `out`
 *   O  the same for a CUdeviceptr (4 bytes wide in a "!" variant)
 *   m  const void *, an image of code: its first 8 bytes are captured, which tell what kind it is
 *   x  pointer to a second 8-byte result, captured at return
 *   n  const char **, the string it points to at return is captured
 *   L  const CUlaunchConfig *, captured with its attributes
 *   2  const CUDA_MEMCPY2D *   3  const CUDA_MEMCPY3D *   P  const CUDA_MEMCPY3D_PEER *: captured
 *   Z  const size_t *, an array with as many elements as the argument named `count` says: captured
 *   l  CUmemLocation by value (8 bytes: type, id)
 *
 * At most one of s m n L 2 3 P Z x stands in a signature (a record has one blob), and at most 12 arguments.
 */
#ifndef GPUBPF_APIS_H
#define GPUBPF_APIS_H

#define GPUBPF_LAUNCH_ARGS "func:h gx:u gy:u gz:u bx:u by:u bz:u smem:u stream:h params:p"

/* clang-format off */
#define GPUBPF_APIS(GPUBPF_API) \
	/* init and contexts */ \
	GPUBPF_API("init", "cuInit", "-", "flags:u") \
	GPUBPF_API("other", "cuGetProcAddress", "-", "name:s pfn:o version:i flags:q") \
	GPUBPF_API("other", "cuGetProcAddress_v2", "-", "name:s pfn:o version:i flags:q status:p") \
	GPUBPF_API("context.create", "cuCtxCreate", "- _v2", "ctx:o flags:u device:i") \
	GPUBPF_API("context.create", "cuCtxCreate_v3", "-", "ctx:o affinity:p count:i flags:u device:i") \
	GPUBPF_API("context.create", "cuCtxCreate_v4", "-", "ctx:o params:p flags:u device:i") \
	GPUBPF_API("context.destroy", "cuCtxDestroy", "- _v2", "ctx:h") \
	GPUBPF_API("context.create", "cuDevicePrimaryCtxRetain", "-", "ctx:o device:i") \
	GPUBPF_API("context.destroy", "cuDevicePrimaryCtxRelease", "- _v2", "device:i") \
	GPUBPF_API("context.destroy", "cuDevicePrimaryCtxReset", "- _v2", "device:i") \
	GPUBPF_API("context", "cuCtxSetCurrent", "-", "ctx:h") \
	GPUBPF_API("context", "cuCtxPushCurrent", "- _v2", "ctx:h") \
	GPUBPF_API("context", "cuCtxPopCurrent", "- _v2", "ctx:o") \
	/* modules, libraries, functions and their names */ \
	GPUBPF_API("module.load", "cuModuleLoad", "-", "module:o file:s") \
	GPUBPF_API("module.load", "cuModuleLoadData", "-", "module:o image:m") \
	GPUBPF_API("module.load", "cuModuleLoadDataEx", "-", "module:o image:m count:u options:p values:p") \
	GPUBPF_API("module.load", "cuModuleLoadFatBinary", "-", "module:o image:m") \
	GPUBPF_API("module.unload", "cuModuleUnload", "-", "module:h") \
	GPUBPF_API("module.function", "cuModuleGetFunction", "-", "func:o module:h name:s") \
	GPUBPF_API("module.load", "cuLibraryLoadData", "-", \
		"library:o image:m jitopts:p jitvals:p njit:u libopts:p libvals:p nlib:u") \
	GPUBPF_API("module.load", "cuLibraryLoadFromFile", "-", \
		"library:o file:s jitopts:p jitvals:p njit:u libopts:p libvals:p nlib:u") \
	GPUBPF_API("module.unload", "cuLibraryUnload", "-", "library:h") \
	GPUBPF_API("module.kernel", "cuLibraryGetKernel", "-", "kernel:o library:h name:s") \
	GPUBPF_API("module", "cuLibraryGetModule", "-", "module:o library:h") \
	GPUBPF_API("module.kernelfunc", "cuKernelGetFunction", "-", "func:o kernel:h") \
	GPUBPF_API("module.funcname", "cuFuncGetName", "-", "name:n func:h") \
	GPUBPF_API("module.kernelname", "cuKernelGetName", "-", "name:n kernel:h") \
	GPUBPF_API("module.funcload", "cuFuncLoad", "-", "func:h") \
	GPUBPF_API("module.link", "cuLinkComplete", "-", "state:h cubin:o size:x") \
	/* launches */ \
	GPUBPF_API("launch", "cuLaunchKernel", "- _ptsz", GPUBPF_LAUNCH_ARGS " extra:p") \
	GPUBPF_API("launch.cooperative", "cuLaunchCooperativeKernel", "- _ptsz", GPUBPF_LAUNCH_ARGS) \
	GPUBPF_API("launch.ex", "cuLaunchKernelEx", "- _ptsz", "config:L func:h params:p extra:p") \
	GPUBPF_API("launch.multi", "cuLaunchCooperativeKernelMultiDevice", "-", "list:p count:u flags:u") \
	GPUBPF_API("launch.legacy", "cuLaunch", "-", "func:h") \
	GPUBPF_API("launch.legacy", "cuLaunchGrid", "-", "func:h gx:u gy:u") \
	GPUBPF_API("launch.legacy", "cuLaunchGridAsync", "-", "func:h gx:u gy:u stream:h") \
	GPUBPF_API("hostfunc", "cuLaunchHostFunc", "- _ptsz", "stream:h fn:p data:p") \
	GPUBPF_API("hostfunc", "cuStreamAddCallback", "- _ptsz", "stream:h fn:p data:p flags:u") \
	/* graphs and stream capture */ \
	GPUBPF_API("graphlaunch", "cuGraphLaunch", "- _ptsz", "exec:h stream:h") \
	GPUBPF_API("graph.create", "cuGraphCreate", "-", "graph:o flags:u") \
	GPUBPF_API("graph.clone", "cuGraphClone", "-", "graph:o from:h") \
	GPUBPF_API("graph.destroy", "cuGraphDestroy", "-", "graph:h") \
	GPUBPF_API("graph.instantiate", "cuGraphInstantiate", "- _v2", "exec:o graph:h errnode:p log:p logsize:z") \
	GPUBPF_API("graph.instantiate", "cuGraphInstantiateWithFlags", "-", "exec:o graph:h flags:q") \
	GPUBPF_API("graph.instantiate", "cuGraphInstantiateWithParams", "- _ptsz", "exec:o graph:h params:p") \
	GPUBPF_API("graph.execdestroy", "cuGraphExecDestroy", "-", "exec:h") \
	GPUBPF_API("graph.update", "cuGraphExecUpdate", "-", "exec:h graph:h errnode:p result:p") \
	GPUBPF_API("graph.update", "cuGraphExecUpdate_v2", "-", "exec:h graph:h info:p") \
	GPUBPF_API("graph.upload", "cuGraphUpload", "- _ptsz", "exec:h stream:h") \
	GPUBPF_API("capture.begin", "cuStreamBeginCapture", "- _ptsz", "stream:h") \
	GPUBPF_API("capture.begin", "cuStreamBeginCapture_v2", "- _ptsz", "stream:h mode:u") \
	GPUBPF_API("capture.begin", "cuStreamBeginCaptureToGraph", "- _ptsz", \
		"stream:h graph:h deps:p depdata:p count:z mode:u") \
	GPUBPF_API("capture.end", "cuStreamEndCapture", "- _ptsz", "stream:h graph:o") \
	/* copies */ \
	GPUBPF_API("copy.unified", "cuMemcpy", "- _ptds", "dst:d src:d bytes:z") \
	GPUBPF_API("copy.unified", "cuMemcpyAsync", "- _ptsz", "dst:d src:d bytes:z stream:h") \
	GPUBPF_API("copy.h2d", "cuMemcpyHtoD", "! _v2 _v2_ptds", "dst:d src:p bytes:z") \
	GPUBPF_API("copy.h2d", "cuMemcpyHtoDAsync", "! _v2 _v2_ptsz", "dst:d src:p bytes:z stream:h") \
	GPUBPF_API("copy.d2h", "cuMemcpyDtoH", "! _v2 _v2_ptds", "dst:p src:d bytes:z") \
	GPUBPF_API("copy.d2h", "cuMemcpyDtoHAsync", "! _v2 _v2_ptsz", "dst:p src:d bytes:z stream:h") \
	GPUBPF_API("copy.d2d", "cuMemcpyDtoD", "! _v2 _v2_ptds", "dst:d src:d bytes:z") \
	GPUBPF_API("copy.d2d", "cuMemcpyDtoDAsync", "! _v2 _v2_ptsz", "dst:d src:d bytes:z stream:h") \
	GPUBPF_API("copy.d2a", "cuMemcpyDtoA", "! _v2 _v2_ptds", "dst:h dstoff:z src:d bytes:z") \
	GPUBPF_API("copy.a2d", "cuMemcpyAtoD", "! _v2 _v2_ptds", "dst:d src:h srcoff:z bytes:z") \
	GPUBPF_API("copy.h2a", "cuMemcpyHtoA", "! _v2 _v2_ptds", "dst:h dstoff:z src:p bytes:z") \
	GPUBPF_API("copy.h2a", "cuMemcpyHtoAAsync", "! _v2 _v2_ptsz", "dst:h dstoff:z src:p bytes:z stream:h") \
	GPUBPF_API("copy.a2h", "cuMemcpyAtoH", "! _v2 _v2_ptds", "dst:p src:h srcoff:z bytes:z") \
	GPUBPF_API("copy.a2h", "cuMemcpyAtoHAsync", "! _v2 _v2_ptsz", "dst:p src:h srcoff:z bytes:z stream:h") \
	GPUBPF_API("copy.a2a", "cuMemcpyAtoA", "! _v2 _v2_ptds", "dst:h dstoff:z src:h srcoff:z bytes:z") \
	GPUBPF_API("copy.2d32", "cuMemcpy2D", "-", "copy:p") \
	GPUBPF_API("copy.2d32", "cuMemcpy2DUnaligned", "-", "copy:p") \
	GPUBPF_API("copy.2d32", "cuMemcpy2DAsync", "-", "copy:p stream:h") \
	GPUBPF_API("copy.2d32", "cuMemcpy3D", "-", "copy:p") \
	GPUBPF_API("copy.2d32", "cuMemcpy3DAsync", "-", "copy:p stream:h") \
	GPUBPF_API("copy.2d", "cuMemcpy2D_v2", "- _ptds", "copy:2") \
	GPUBPF_API("copy.2d", "cuMemcpy2DUnaligned_v2", "- _ptds", "copy:2") \
	GPUBPF_API("copy.2d", "cuMemcpy2DAsync_v2", "- _ptsz", "copy:2 stream:h") \
	GPUBPF_API("copy.3d", "cuMemcpy3D_v2", "- _ptds", "copy:3") \
	GPUBPF_API("copy.3d", "cuMemcpy3DAsync_v2", "- _ptsz", "copy:3 stream:h") \
	GPUBPF_API("copy.peer", "cuMemcpyPeer", "- _ptds", "dst:d dstctx:h src:d srcctx:h bytes:z") \
	GPUBPF_API("copy.peer", "cuMemcpyPeerAsync", "- _ptsz", "dst:d dstctx:h src:d srcctx:h bytes:z stream:h") \
	GPUBPF_API("copy.3dpeer", "cuMemcpy3DPeer", "- _ptds", "copy:P") \
	GPUBPF_API("copy.3dpeer", "cuMemcpy3DPeerAsync", "- _ptsz", "copy:P stream:h") \
	GPUBPF_API("copy.batch", "cuMemcpyBatchAsync", "- _ptsz", \
		"dsts:p srcs:p sizes:Z count:z attrs:p attridx:p nattrs:z failidx:p stream:h") \
	GPUBPF_API("copy.batch", "cuMemcpyBatchAsync_v2", "- _ptsz", \
		"dsts:p srcs:p sizes:Z count:z attrs:p attridx:p nattrs:z stream:h") \
	GPUBPF_API("copy.batch3d", "cuMemcpy3DBatchAsync", "- _ptsz", "count:z ops:p failidx:p flags:q stream:h") \
	GPUBPF_API("copy.batch3d", "cuMemcpy3DBatchAsync_v2", "- _ptsz", "count:z ops:p flags:q stream:h") \
	/* sets: n elements of 1, 2 or 4 bytes */ \
	GPUBPF_API("set.8", "cuMemsetD8", "! _v2 _v2_ptds", "dst:d value:b n:z") \
	GPUBPF_API("set.16", "cuMemsetD16", "! _v2 _v2_ptds", "dst:d value:w n:z") \
	GPUBPF_API("set.32", "cuMemsetD32", "! _v2 _v2_ptds", "dst:d value:u n:z") \
	GPUBPF_API("set.8", "cuMemsetD8Async", "- _ptsz", "dst:d value:b n:z stream:h") \
	GPUBPF_API("set.16", "cuMemsetD16Async", "- _ptsz", "dst:d value:w n:z stream:h") \
	GPUBPF_API("set.32", "cuMemsetD32Async", "- _ptsz", "dst:d value:u n:z stream:h") \
	GPUBPF_API("set.8", "cuMemsetD2D8", "! _v2 _v2_ptds", "dst:d pitch:z value:b width:z height:z") \
	GPUBPF_API("set.16", "cuMemsetD2D16", "! _v2 _v2_ptds", "dst:d pitch:z value:w width:z height:z") \
	GPUBPF_API("set.32", "cuMemsetD2D32", "! _v2 _v2_ptds", "dst:d pitch:z value:u width:z height:z") \
	GPUBPF_API("set.8", "cuMemsetD2D8Async", "- _ptsz", "dst:d pitch:z value:b width:z height:z stream:h") \
	GPUBPF_API("set.16", "cuMemsetD2D16Async", "- _ptsz", "dst:d pitch:z value:w width:z height:z stream:h") \
	GPUBPF_API("set.32", "cuMemsetD2D32Async", "- _ptsz", "dst:d pitch:z value:u width:z height:z stream:h") \
	/* allocations and frees, by kind of memory */ \
	GPUBPF_API("alloc.device", "cuMemAlloc", "! _v2", "ptr:O bytes:z") \
	GPUBPF_API("alloc.pitch", "cuMemAllocPitch", "! _v2", "ptr:O pitch:x width:z height:z element:u") \
	GPUBPF_API("free.device", "cuMemFree", "! _v2", "ptr:d") \
	GPUBPF_API("alloc.managed", "cuMemAllocManaged", "-", "ptr:o bytes:z flags:u") \
	GPUBPF_API("alloc.host", "cuMemAllocHost", "! _v2", "ptr:o bytes:z") \
	GPUBPF_API("alloc.host", "cuMemHostAlloc", "-", "ptr:o bytes:z flags:u") \
	GPUBPF_API("free.host", "cuMemFreeHost", "-", "ptr:p") \
	GPUBPF_API("alloc.registered", "cuMemHostRegister", "! _v2", "ptr:p bytes:z flags:u") \
	GPUBPF_API("free.registered", "cuMemHostUnregister", "-", "ptr:p") \
	GPUBPF_API("alloc.pool", "cuMemAllocAsync", "- _ptsz", "ptr:o bytes:z stream:h") \
	GPUBPF_API("alloc.pool", "cuMemAllocFromPoolAsync", "- _ptsz", "ptr:o bytes:z pool:h stream:h") \
	GPUBPF_API("free.pool", "cuMemFreeAsync", "- _ptsz", "ptr:d stream:h") \
	GPUBPF_API("pool.create", "cuMemPoolCreate", "-", "pool:o props:p") \
	GPUBPF_API("pool.destroy", "cuMemPoolDestroy", "-", "pool:h") \
	GPUBPF_API("pool.trim", "cuMemPoolTrimTo", "-", "pool:h keep:z") \
	GPUBPF_API("pool.attribute", "cuMemPoolGetAttribute", "-", "pool:h attr:u value:x") \
	GPUBPF_API("alloc.virtual", "cuMemCreate", "-", "ptr:o bytes:z props:p flags:q") \
	GPUBPF_API("free.virtual", "cuMemRelease", "-", "ptr:q") \
	GPUBPF_API("reserve.virtual", "cuMemAddressReserve", "-", "ptr:o bytes:z align:z hint:d flags:q") \
	GPUBPF_API("unreserve.virtual", "cuMemAddressFree", "-", "ptr:d bytes:z") \
	GPUBPF_API("map.virtual", "cuMemMap", "-", "ptr:d bytes:z offset:z handle:q flags:q") \
	GPUBPF_API("unmap.virtual", "cuMemUnmap", "-", "ptr:d bytes:z") \
	GPUBPF_API("map.access", "cuMemSetAccess", "-", "ptr:d bytes:z desc:p count:z") \
	GPUBPF_API("alloc.array", "cuArrayCreate", "- _v2", "ptr:o desc:p") \
	GPUBPF_API("alloc.array", "cuArray3DCreate", "- _v2", "ptr:o desc:p") \
	GPUBPF_API("alloc.array", "cuMipmappedArrayCreate", "-", "ptr:o desc:p levels:u") \
	GPUBPF_API("free.array", "cuArrayDestroy", "-", "ptr:h") \
	GPUBPF_API("free.array", "cuMipmappedArrayDestroy", "-", "ptr:h") \
	/* managed-memory placement */ \
	GPUBPF_API("place.prefetch", "cuMemPrefetchAsync", "- _ptsz", "ptr:d bytes:z device:i stream:h") \
	GPUBPF_API("place.prefetch", "cuMemPrefetchAsync_v2", "- _ptsz", "ptr:d bytes:z location:l flags:u stream:h") \
	GPUBPF_API("place.advise", "cuMemAdvise", "-", "ptr:d bytes:z advice:u device:i") \
	GPUBPF_API("place.advise", "cuMemAdvise_v2", "-", "ptr:d bytes:z advice:u location:l") \
	GPUBPF_API("place.attach", "cuStreamAttachMemAsync", "- _ptsz", "stream:h ptr:d bytes:z flags:u") \
	/* synchronization, events, streams */ \
	GPUBPF_API("sync.context", "cuCtxSynchronize", "-", "") \
	GPUBPF_API("sync.context", "cuCtxSynchronize_v2", "-", "ctx:h") \
	GPUBPF_API("sync.stream", "cuStreamSynchronize", "- _ptsz", "stream:h") \
	GPUBPF_API("sync.event", "cuEventSynchronize", "-", "event:h") \
	GPUBPF_API("query.stream", "cuStreamQuery", "- _ptsz", "stream:h") \
	GPUBPF_API("query.event", "cuEventQuery", "-", "event:h") \
	GPUBPF_API("event.create", "cuEventCreate", "-", "event:o flags:u") \
	GPUBPF_API("event.destroy", "cuEventDestroy", "- _v2", "event:h") \
	GPUBPF_API("event.record", "cuEventRecord", "- _ptsz", "event:h stream:h") \
	GPUBPF_API("event.record", "cuEventRecordWithFlags", "- _ptsz", "event:h stream:h flags:u") \
	GPUBPF_API("event.elapsed", "cuEventElapsedTime", "- _v2", "ms:p start:h end:h") \
	GPUBPF_API("stream.create", "cuStreamCreate", "-", "stream:o flags:u") \
	GPUBPF_API("stream.create", "cuStreamCreateWithPriority", "-", "stream:o flags:u priority:i") \
	GPUBPF_API("stream.destroy", "cuStreamDestroy", "- _v2", "stream:h") \
	GPUBPF_API("stream.wait", "cuStreamWaitEvent", "- _ptsz", "stream:h event:h flags:u") \
	GPUBPF_API("stream.waitvalue", "cuStreamWaitValue32", "- _ptsz _v2 _v2_ptsz", "stream:h ptr:d value:u flags:u") \
	GPUBPF_API("stream.waitvalue", "cuStreamWaitValue64", "- _ptsz _v2 _v2_ptsz", "stream:h ptr:d value:q flags:u") \
	GPUBPF_API("stream.writevalue", "cuStreamWriteValue32", "- _ptsz _v2 _v2_ptsz", "stream:h ptr:d value:u flags:u") \
	GPUBPF_API("stream.writevalue", "cuStreamWriteValue64", "- _ptsz _v2 _v2_ptsz", "stream:h ptr:d value:q flags:u") \
	GPUBPF_API("stream.batchop", "cuStreamBatchMemOp", "- _ptsz _v2 _v2_ptsz", "stream:h count:u ops:p flags:u")
/* clang-format on */

#endif
