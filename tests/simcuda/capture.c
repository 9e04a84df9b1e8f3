/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stream capture: operations of a capturing stream become nodes of a graph; events carry it to other streams. */
#include "sim.h"

int capture__forbid(void)
{
	struct stream *s = NULL;

	if (likely(sim.captures == 0))
		return CUDA_SUCCESS;
	pthread_mutex_lock(&sim.lock);
	while ((s = obj__next(s, OBJ_STREAM)))
		if (s->capture && s->mode == CU_STREAM_CAPTURE_MODE_GLOBAL)
			s->invalidated = true;
	pthread_mutex_unlock(&sim.lock);
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

int capture__broken(struct stream *s)
{
	pthread_mutex_lock(&sim.lock);
	s->invalidated = true;
	pthread_mutex_unlock(&sim.lock);
	return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

static int begin(const struct sim_api *api, uint64_t handle, uint32_t mode, struct graph *into)
{
	int result;
	struct stream *s = stream__resolve(api, handle, &result);

	if (!s)
		return result;
	if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->legacy)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	pthread_mutex_lock(&sim.lock);
	if (s->capture) {
		result = CUDA_ERROR_ILLEGAL_STATE;
		goto out;
	}
	if (!into) {
		into = obj__new(OBJ_GRAPH);
		if (!into) {
			result = CUDA_ERROR_OUT_OF_MEMORY;
			goto out;
		}
		into->tail = &into->first;
	}
	into->capturing = true;
	s->origin = true;
	s->invalidated = false;
	s->mode = (int)mode;
	s->capture_thread = pthread_self();
	s->capture = into;
	sim.captures += mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
	result = CUDA_SUCCESS;
out:
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuStreamBeginCapture)
{
	return begin(api, a[0], CU_STREAM_CAPTURE_MODE_GLOBAL, NULL);
}

SIM_IMPL(cuStreamBeginCapture_v2)
{
	return begin(api, a[0], U32(1), NULL);
}

SIM_IMPL(cuStreamBeginCaptureToGraph)
{
	struct graph *g = obj__get(a[1], OBJ_GRAPH);

	return g && !g->capturing ? begin(api, a[0], U32(5), g) : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuStreamEndCapture)
{
	struct graph *g;
	struct stream *other = NULL;
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s)
		return result;
	if (!PTR(1))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	g = s->capture;
	if (!g)
		result = CUDA_ERROR_ILLEGAL_STATE;
	else if (!s->origin)
		result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	else if (s->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
		 !pthread_equal(s->capture_thread, pthread_self()))
		result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	else
		result = CUDA_SUCCESS;
	if (result != CUDA_SUCCESS)
		goto out;
	if (s->invalidated)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	sim.captures -= s->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
	while ((other = obj__next(other, OBJ_STREAM))) {
		if (other->capture != g)
			continue;
		if (other != s && !other->joined_back && result == CUDA_SUCCESS)
			result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
		other->capture = NULL;
		other->origin = false;
		other->invalidated = false;
	}
	g->capturing = false;
	*(void **)PTR(1) = result == CUDA_SUCCESS ? g : NULL;
out:
	pthread_mutex_unlock(&sim.lock);
	return result;
}

SIM_IMPL(cuStreamWaitEvent)
{
	struct event *e = obj__get(a[1], OBJ_EVENT);
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s)
		return result;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&sim.lock);
	if (e->capture && e->capture->capturing) {
		if (s->capture && s->capture != e->capture) {
			result = CUDA_ERROR_STREAM_CAPTURE_MERGE;
			goto out;
		}
		if (!s->capture) {
			s->capture = e->capture;
			s->origin = false;
			s->joined_back = false;
		} else if (e->source != s) {
			e->source->joined_back = true;
		}
	} else if (s->capture) {
		s->invalidated = true;
		result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
		goto out;
	} else if (e->recorded) {
		pthread_spin_lock(&s->spin);
		s->until = s->until > e->time ? s->until : e->time;
		pthread_spin_unlock(&s->spin);
	}
	result = CUDA_SUCCESS;
out:
	pthread_mutex_unlock(&sim.lock);
	return result;
}

static CUstreamCaptureStatus status_of(const struct stream *s)
{
	if (!s->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return s->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

SIM_IMPL(cuStreamIsCapturing)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !PTR(1))
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	*(CUstreamCaptureStatus *)PTR(1) = status_of(s);
	return CUDA_SUCCESS;
}

/* Status, id and graph; the dependency list reads as empty. */
static int capture_info(const struct sim_api *api, const uint64_t *a, unsigned count_at)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !PTR(1))
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	*(CUstreamCaptureStatus *)PTR(1) = status_of(s);
	if (s->capture && PTR(2))
		*(uint64_t *)PTR(2) = s->capture->obj.id;
	if (s->capture && PTR(3))
		*(void **)PTR(3) = s->capture;
	if (PTR(count_at))
		*(size_t *)PTR(count_at) = 0;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamGetCaptureInfo_v2)
{
	return capture_info(api, a, 5);
}

SIM_IMPL(cuStreamGetCaptureInfo_v3)
{
	return capture_info(api, a, 6);
}

SIM_IMPL(cuThreadExchangeStreamCaptureMode)
{
	static __thread int mode __attribute__((tls_model("initial-exec")));
	int *other = PTR(0), old = mode;

	(void)api;
	if (!other || *other < 0 || *other > CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_INVALID_VALUE;
	mode = *other;
	*other = old;
	return CUDA_SUCCESS;
}
