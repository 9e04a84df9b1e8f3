/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prototypes of cuda.h, and the macros that choose the symbol behind each name (CUDA 13.0). */
#ifndef SIMCUDA_CUDA_PROTOS_H
#define SIMCUDA_CUDA_PROTOS_H

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define SIM_PTDS(api) api##_ptds
#define SIM_PTSZ(api) api##_ptsz
#define cuMemcpy SIM_PTDS(cuMemcpy)
#define cuMemcpyAsync SIM_PTSZ(cuMemcpyAsync)
#define cuMemcpyPeer SIM_PTDS(cuMemcpyPeer)
#define cuMemcpyPeerAsync SIM_PTSZ(cuMemcpyPeerAsync)
#define cuMemcpy3DPeer SIM_PTDS(cuMemcpy3DPeer)
#define cuMemcpy3DPeerAsync SIM_PTSZ(cuMemcpy3DPeerAsync)
#define cuMemsetD8Async SIM_PTSZ(cuMemsetD8Async)
#define cuMemsetD16Async SIM_PTSZ(cuMemsetD16Async)
#define cuMemsetD32Async SIM_PTSZ(cuMemsetD32Async)
#define cuMemsetD2D8Async SIM_PTSZ(cuMemsetD2D8Async)
#define cuMemsetD2D16Async SIM_PTSZ(cuMemsetD2D16Async)
#define cuMemsetD2D32Async SIM_PTSZ(cuMemsetD2D32Async)
#define cuStreamWaitEvent SIM_PTSZ(cuStreamWaitEvent)
#define cuStreamEndCapture SIM_PTSZ(cuStreamEndCapture)
#define cuStreamIsCapturing SIM_PTSZ(cuStreamIsCapturing)
#define cuStreamAddCallback SIM_PTSZ(cuStreamAddCallback)
#define cuStreamQuery SIM_PTSZ(cuStreamQuery)
#define cuStreamSynchronize SIM_PTSZ(cuStreamSynchronize)
#define cuEventRecord SIM_PTSZ(cuEventRecord)
#define cuEventRecordWithFlags SIM_PTSZ(cuEventRecordWithFlags)
#define cuLaunchKernel SIM_PTSZ(cuLaunchKernel)
#define cuLaunchKernelEx SIM_PTSZ(cuLaunchKernelEx)
#define cuLaunchHostFunc SIM_PTSZ(cuLaunchHostFunc)
#define cuLaunchCooperativeKernel SIM_PTSZ(cuLaunchCooperativeKernel)
#define cuGraphInstantiateWithParams SIM_PTSZ(cuGraphInstantiateWithParams)
#define cuGraphUpload SIM_PTSZ(cuGraphUpload)
#define cuGraphLaunch SIM_PTSZ(cuGraphLaunch)
#define cuMemAllocAsync SIM_PTSZ(cuMemAllocAsync)
#define cuMemAllocFromPoolAsync SIM_PTSZ(cuMemAllocFromPoolAsync)
#define cuMemFreeAsync SIM_PTSZ(cuMemFreeAsync)
#else
#define SIM_PTDS(api) api
#define SIM_PTSZ(api) api
#endif

#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuCtxCreate cuCtxCreate_v4
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemHostRegister cuMemHostRegister_v2
#define cuMemAdvise cuMemAdvise_v2
#define cuMemPrefetchAsync SIM_PTSZ(cuMemPrefetchAsync_v2)
#define cuMemcpyHtoD SIM_PTDS(cuMemcpyHtoD_v2)
#define cuMemcpyDtoH SIM_PTDS(cuMemcpyDtoH_v2)
#define cuMemcpyDtoD SIM_PTDS(cuMemcpyDtoD_v2)
#define cuMemcpyHtoDAsync SIM_PTSZ(cuMemcpyHtoDAsync_v2)
#define cuMemcpyDtoHAsync SIM_PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyDtoDAsync SIM_PTSZ(cuMemcpyDtoDAsync_v2)
#define cuMemcpyHtoA SIM_PTDS(cuMemcpyHtoA_v2)
#define cuMemcpyAtoH SIM_PTDS(cuMemcpyAtoH_v2)
#define cuMemcpyDtoA SIM_PTDS(cuMemcpyDtoA_v2)
#define cuMemcpyAtoD SIM_PTDS(cuMemcpyAtoD_v2)
#define cuMemcpy2D SIM_PTDS(cuMemcpy2D_v2)
#define cuMemcpy2DUnaligned SIM_PTDS(cuMemcpy2DUnaligned_v2)
#define cuMemcpy2DAsync SIM_PTSZ(cuMemcpy2DAsync_v2)
#define cuMemcpy3D SIM_PTDS(cuMemcpy3D_v2)
#define cuMemcpy3DAsync SIM_PTSZ(cuMemcpy3DAsync_v2)
#define cuMemcpyBatchAsync SIM_PTSZ(cuMemcpyBatchAsync_v2)
#define cuMemsetD8 SIM_PTDS(cuMemsetD8_v2)
#define cuMemsetD16 SIM_PTDS(cuMemsetD16_v2)
#define cuMemsetD32 SIM_PTDS(cuMemsetD32_v2)
#define cuMemsetD2D8 SIM_PTDS(cuMemsetD2D8_v2)
#define cuMemsetD2D16 SIM_PTDS(cuMemsetD2D16_v2)
#define cuMemsetD2D32 SIM_PTDS(cuMemsetD2D32_v2)
#define cuArrayCreate cuArrayCreate_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuStreamBeginCapture SIM_PTSZ(cuStreamBeginCapture_v2)
#define cuEventDestroy cuEventDestroy_v2
#define cuEventElapsedTime cuEventElapsedTime_v2
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGetProcAddress cuGetProcAddress_v2

#ifdef __cplusplus
extern "C" {
#endif

CUresult cuInit(unsigned int flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetProcAddress(const char *symbol, void **pfn, int version, cuuint64_t flags,
			  CUdriverProcAddressQueryResult *status);
CUresult cuGetErrorName(CUresult error, const char **str);
CUresult cuGetErrorString(CUresult error, const char **str);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice dev);
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attrib, CUdevice dev);
CUresult cuDeviceGetPCIBusId(char *id, int len, CUdevice dev);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer);
CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice dev);
CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease(CUdevice dev);
CUresult cuDevicePrimaryCtxReset(CUdevice dev);
typedef struct CUctxCreateParams_st CUctxCreateParams;
CUresult cuCtxCreate(CUcontext *ctx, CUctxCreateParams *params, unsigned int flags, CUdevice dev);
CUresult cuCtxDestroy(CUcontext ctx);
CUresult cuCtxPushCurrent(CUcontext ctx);
CUresult cuCtxPopCurrent(CUcontext *ctx);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxGetCurrent(CUcontext *ctx);
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxSynchronize(void);
CUresult cuModuleLoad(CUmodule *module, const char *file);
CUresult cuModuleLoadData(CUmodule *module, const void *image);
CUresult cuModuleUnload(CUmodule module);
CUresult cuModuleGetFunction(CUfunction *func, CUmodule module, const char *name);
CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitopts, void **jitvals,
			   unsigned int njit, CUlibraryOption *libopts, void **libvals, unsigned int nlib);
CUresult cuLibraryUnload(CUlibrary library);
CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
CUresult cuKernelGetFunction(CUfunction *func, CUkernel kernel);
CUresult cuKernelGetName(const char **name, CUkernel kernel);
CUresult cuFuncGetName(const char **name, CUfunction func);
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attrib, CUfunction func);
CUresult cuFuncSetAttribute(CUfunction func, CUfunction_attribute attrib, int value);
CUresult cuLaunchKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
			unsigned int by, unsigned int bz, unsigned int smem, CUstream stream, void **params,
			void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **params, void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz,
				   unsigned int bx, unsigned int by, unsigned int bz, unsigned int smem,
				   CUstream stream, void **params);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *data);
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned int flags);
CUresult cuGraphCreate(CUgraph *graph, unsigned int flags);
CUresult cuGraphDestroy(CUgraph graph);
CUresult cuGraphClone(CUgraph *clone, CUgraph graph);
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type);
CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t ndeps,
			      const CUDA_KERNEL_NODE_PARAMS *params);
CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t ndeps,
			      const CUDA_MEMCPY3D *params, CUcontext ctx);
CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t ndeps,
			      const CUDA_MEMSET_NODE_PARAMS *params, CUcontext ctx);
CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t ndeps,
			    const CUDA_HOST_NODE_PARAMS *params);
CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps, size_t ndeps);
CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
				      CUDA_GRAPH_INSTANTIATE_PARAMS *params);
CUresult cuGraphExecDestroy(CUgraphExec exec);
CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode);
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
CUresult cuEventCreate(CUevent *event, unsigned int flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end);
CUresult cuMemGetInfo(size_t *free, size_t *total);
CUresult cuMemAlloc(CUdeviceptr *ptr, size_t bytes);
CUresult cuMemAllocPitch(CUdeviceptr *ptr, size_t *pitch, size_t width, size_t height, unsigned int element);
CUresult cuMemFree(CUdeviceptr ptr);
CUresult cuMemAllocManaged(CUdeviceptr *ptr, size_t bytes, unsigned int flags);
CUresult cuMemAllocHost(void **ptr, size_t bytes);
CUresult cuMemHostAlloc(void **ptr, size_t bytes, unsigned int flags);
CUresult cuMemFreeHost(void *ptr);
CUresult cuMemHostRegister(void *ptr, size_t bytes, unsigned int flags);
CUresult cuMemHostUnregister(void *ptr);
CUresult cuMemAllocAsync(CUdeviceptr *ptr, size_t bytes, CUstream stream);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *ptr, size_t bytes, CUmemoryPool pool, CUstream stream);
CUresult cuMemFreeAsync(CUdeviceptr ptr, CUstream stream);
CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props);
CUresult cuMemPoolDestroy(CUmemoryPool pool);
CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep);
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
				       CUmemAllocationGranularity_flags option);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *prop,
		     unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t bytes, size_t align, CUdeviceptr hint,
			     unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t bytes);
CUresult cuMemMap(CUdeviceptr ptr, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
		  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr ptr, size_t bytes);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t bytes, const CUmemAccessDesc *desc, size_t count);
CUresult cuMemPrefetchAsync(CUdeviceptr ptr, size_t bytes, CUmemLocation location, unsigned int flags,
			    CUstream stream);
CUresult cuMemAdvise(CUdeviceptr ptr, size_t bytes, CUmem_advise advice, CUmemLocation location);
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc);
CUresult cuArrayDestroy(CUarray array);
CUresult cuMemcpy(CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyPeer(CUdeviceptr dst, CUcontext dctx, CUdeviceptr src, CUcontext sctx, size_t bytes);
CUresult cuMemcpyPeerAsync(CUdeviceptr dst, CUcontext dctx, CUdeviceptr src, CUcontext sctx, size_t bytes,
			   CUstream stream);
CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t bytes);
CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t bytes);
CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream);
CUresult cuMemcpyHtoA(CUarray dst, size_t offset, const void *src, size_t bytes);
CUresult cuMemcpyAtoH(void *dst, CUarray src, size_t offset, size_t bytes);
CUresult cuMemcpy2D(const CUDA_MEMCPY2D *copy);
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *copy, CUstream stream);
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *copy);
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream);
CUresult cuMemcpyBatchAsync(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count,
			    CUmemcpyAttributes *attrs, size_t *attridx, size_t nattrs, CUstream stream);
CUresult cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t n);
CUresult cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t n);
CUresult cuMemsetD32(CUdeviceptr dst, unsigned int value, size_t n);
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream);
CUresult cuMemsetD16Async(CUdeviceptr dst, unsigned short value, size_t n, CUstream stream);
CUresult cuMemsetD32Async(CUdeviceptr dst, unsigned int value, size_t n, CUstream stream);
CUresult cuMemsetD2D8(CUdeviceptr dst, size_t pitch, unsigned char value, size_t width, size_t height);
CUresult cuMemsetD2D16(CUdeviceptr dst, size_t pitch, unsigned short value, size_t width, size_t height);
CUresult cuMemsetD2D32(CUdeviceptr dst, size_t pitch, unsigned int value, size_t width, size_t height);

#ifdef __cplusplus
}
#endif

#endif
