/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Streams, events and graphs of the simulated runtime. */
#include "rt.h"

RT_CALL(cudaStreamCreate, (cudaStream_t * stream), d->cuStreamCreate(stream, CU_STREAM_DEFAULT))
RT_CALL(cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned int flags),
	d->cuStreamCreate(stream, flags))
RT_CALL(cudaStreamCreateWithPriority, (cudaStream_t * stream, unsigned int flags, int priority),
	d->cuStreamCreateWithPriority(stream, flags, priority))
RT_CALL(cudaStreamDestroy, (cudaStream_t stream), d->cuStreamDestroy(stream))
RT_CALL2(cudaStreamSynchronize, cudaStreamSynchronize_ptsz, (cudaStream_t stream),
	 d->cuStreamSynchronize(stream))
RT_CALL2(cudaStreamQuery, cudaStreamQuery_ptsz, (cudaStream_t stream), d->cuStreamQuery(stream))
RT_CALL2(cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz,
	 (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	 d->cuStreamWaitEvent(stream, event, flags))
RT_CALL2(cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz,
	 (cudaStream_t stream, enum cudaStreamCaptureMode mode),
	 d->cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode))
RT_CALL2(cudaStreamEndCapture, cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t *graph),
	 d->cuStreamEndCapture(stream, graph))
RT_CALL2(cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz, (cudaStream_t stream, cudaHostFn_t fn, void *data),
	 d->cuLaunchHostFunc(stream, (CUhostFn)fn, data))
RT_CALL2(cudaStreamAddCallback, cudaStreamAddCallback_ptsz,
	 (cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int flags),
	 d->cuStreamAddCallback(stream, (CUstreamCallback)(void (*)(void))callback, data, flags))

RT_CALL(cudaEventCreate, (cudaEvent_t * event), d->cuEventCreate(event, CU_EVENT_DEFAULT))
RT_CALL(cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned int flags), d->cuEventCreate(event, flags))
RT_CALL(cudaEventDestroy, (cudaEvent_t event), d->cuEventDestroy(event))
RT_CALL2(cudaEventRecord, cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream),
	 d->cuEventRecord(event, stream))
RT_CALL(cudaEventQuery, (cudaEvent_t event), d->cuEventQuery(event))
RT_CALL(cudaEventSynchronize, (cudaEvent_t event), d->cuEventSynchronize(event))
RT_CALL(cudaEventElapsedTime, (float *ms, cudaEvent_t start, cudaEvent_t end),
	d->cuEventElapsedTime(ms, start, end))

RT_CALL(cudaGraphInstantiate, (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags),
	d->cuGraphInstantiate(exec, graph, flags))
RT_CALL(cudaGraphGetNodes, (cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count),
	d->cuGraphGetNodes(graph, nodes, count))
RT_CALL2(cudaGraphUpload, cudaGraphUpload_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
	 d->cuGraphUpload(exec, stream))
RT_CALL2(cudaGraphLaunch, cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
	 d->cuGraphLaunch(exec, stream))
RT_CALL(cudaGraphDestroy, (cudaGraph_t graph), d->cuGraphDestroy(graph))
RT_CALL(cudaGraphExecDestroy, (cudaGraphExec_t exec), d->cuGraphExecDestroy(exec))
