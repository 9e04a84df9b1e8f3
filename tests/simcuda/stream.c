/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Streams, events and the simulated clock. A stream knows when its last operation is done; an operation starts
 * when it is handed over or when what it waits for is done, whichever is later, and takes its declared time.
 * The legacy stream and the blocking ones wait for each other; nothing else is shared between streams.
 */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

static __thread struct {
	struct ctx *ctx;
	uint32_t ctx_id;
	struct stream *stream;
} mine __attribute__((tls_model("initial-exec")));

static struct stream *stream__new(struct ctx *c, unsigned flags, int priority)
{
	struct stream *s = obj__new(OBJ_STREAM);

	if (!s)
		return NULL;
	pthread_spin_init(&s->spin, PTHREAD_PROCESS_PRIVATE);
	s->flags = flags;
	s->priority = priority;
	s->ctx = c;
	return s;
}

static struct stream *stream__make(struct ctx *c, unsigned flags, int priority)
{
	struct stream *s;

	pthread_rwlock_wrlock(&sim_driver_lock);
	s = stream__new(c, flags, priority);
	if (s)
		trace__stream(3, s); /* STREAM_CREATED */
	pthread_rwlock_unlock(&sim_driver_lock);
	return s;
}

/* The calling thread's own stream: a blocking one, made at first use and kept with its context. */
static struct stream *per_thread(struct ctx *c)
{
	if (mine.ctx != c || mine.ctx_id != c->obj.id) {
		mine.ctx = c;
		mine.ctx_id = c->obj.id;
		mine.stream = stream__make(c, CU_STREAM_DEFAULT, 0);
	}
	return mine.stream;
}

struct stream *stream__resolve(const struct sim_api *api, uint64_t handle, int *result)
{
	struct ctx *c = ctx__current();
	struct stream *s;

	*result = CUDA_ERROR_INVALID_CONTEXT;
	if (unlikely(!c))
		return NULL;
	*result = CUDA_ERROR_INVALID_HANDLE;
	if (handle == 2 || (handle == 0 && api->flags & SIM_API_PER_THREAD))
		return per_thread(c);
	if (handle <= 1)
		return c->legacy;
	s = obj__get(handle, OBJ_STREAM);
	return s;
}

static void raise_to(_Atomic uint64_t *v, uint64_t t)
{
	uint64_t old = atomic_load_explicit(v, memory_order_relaxed);

	while (old < t && !atomic_compare_exchange_weak(v, &old, t))
		;
}

uint64_t stream__push(struct stream *s, uint64_t ns)
{
	struct ctx *c = s->ctx;
	bool blocking = !s->legacy && !(s->flags & CU_STREAM_NON_BLOCKING);
	uint64_t t = sim_now(), other = 0;

	if (s->legacy)
		other = c->blocking_until;
	else if (blocking)
		other = c->legacy_until;
	pthread_spin_lock(&s->spin);
	t = t > s->until ? t : s->until;
	t = t > other ? t : other;
	t += ns;
	s->until = t;
	pthread_spin_unlock(&s->spin);
	if (s->legacy)
		raise_to(&c->legacy_until, t);
	else if (blocking)
		raise_to(&c->blocking_until, t);
	return t;
}

static uint64_t own_until(struct stream *s)
{
	uint64_t t;

	pthread_spin_lock(&s->spin);
	t = s->until;
	pthread_spin_unlock(&s->spin);
	return t;
}

static uint64_t until(struct stream *s)
{
	uint64_t t = own_until(s);

	/* The legacy stream is done when the streams it waits for are. */
	if (s->legacy && s->ctx->blocking_until > t)
		t = s->ctx->blocking_until;
	return t;
}

bool stream__done(struct stream *s)
{
	return until(s) <= sim_now() && !s->hostfuncs;
}

static void wait_hostfuncs(_Atomic int *n)
{
	while (*n > 0)
		nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
}

void stream__drain(struct stream *s)
{
	sim_wait_until(until(s));
	wait_hostfuncs(&s->hostfuncs);
}

/* Walks the streams: threads that launch side by side then share no cache line. */
void ctx__drain(struct ctx *c)
{
	uint64_t t = c->gone_until;
	struct stream *s = NULL;

	while ((s = obj__next(s, OBJ_STREAM))) {
		uint64_t u = s->ctx == c ? own_until(s) : 0;

		t = u > t ? u : t;
	}
	sim_wait_until(t);
	wait_hostfuncs(&c->hostfuncs);
}

static int create(uint64_t *out, unsigned flags, int priority)
{
	struct ctx *c = ctx__current();
	struct stream *s;

	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!out || flags > CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	s = stream__make(c, flags, priority);
	if (!s)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*out = (uintptr_t)s;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamCreate)
{
	(void)api;
	return create(PTR(0), U32(1), 0);
}

SIM_IMPL(cuStreamCreateWithPriority)
{
	(void)api;
	return create(PTR(0), U32(1), I32(2));
}

SIM_IMPL(cuStreamDestroy)
{
	struct stream *s = obj__get(a[0], OBJ_STREAM);

	(void)api;
	if (!s || s->legacy)
		return CUDA_ERROR_INVALID_HANDLE;
	wait_hostfuncs(&s->hostfuncs);
	raise_to(&s->ctx->gone_until, own_until(s));
	pthread_rwlock_wrlock(&sim_driver_lock);
	trace__stream(4, s); /* STREAM_DESTROY_STARTING */
	obj__free(s);
	pthread_rwlock_unlock(&sim_driver_lock);
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamSynchronize)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s)
		return result;
	if (s->capture)
		return capture__broken(s);
	stream__drain(s);
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamQuery)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s)
		return result;
	if (s->capture)
		return capture__broken(s);
	return stream__done(s) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

SIM_IMPL(cuStreamGetFlags)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !PTR(1))
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	*(unsigned *)PTR(1) = s->flags;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamGetPriority)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !PTR(1))
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	*(int *)PTR(1) = s->priority;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamGetId)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !PTR(1))
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	*(unsigned long long *)PTR(1) = s->obj.id;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuStreamGetCtx)
{
	int result;
	struct stream *s = stream__resolve(api, a[0], &result);

	if (!s || !PTR(1))
		return s ? CUDA_ERROR_INVALID_VALUE : result;
	*(void **)PTR(1) = s->ctx;
	return CUDA_SUCCESS;
}

/* ---- events ---- */
SIM_IMPL(cuEventCreate)
{
	struct ctx *c = ctx__current();
	struct event *e;

	(void)api;
	if (!c)
		return CUDA_ERROR_INVALID_CONTEXT;
	if (!PTR(0) || U32(1) > 7)
		return CUDA_ERROR_INVALID_VALUE;
	e = obj__new(OBJ_EVENT);
	if (!e)
		return CUDA_ERROR_OUT_OF_MEMORY;
	e->ctx = c;
	e->flags = U32(1);
	*(void **)PTR(0) = e;
	return CUDA_SUCCESS;
}

SIM_IMPL(cuEventDestroy)
{
	struct event *e = obj__get(a[0], OBJ_EVENT);

	(void)api;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	obj__free(e);
	return CUDA_SUCCESS;
}

static int record(const struct sim_api *api, uint64_t event, uint64_t stream)
{
	struct event *e = obj__get(event, OBJ_EVENT);
	struct op op = { .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = e };
	int result;
	struct stream *s = stream__resolve(api, stream, &result);

	if (!s)
		return result;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&sim.lock);
	e->capture = s->capture;
	e->source = s;
	pthread_mutex_unlock(&sim.lock);
	/* A captured record is a dependency, no node. */
	if (e->capture)
		return s->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
	return stream__submit(s, &op, NULL);
}

SIM_IMPL(cuEventRecord)
{
	return record(api, a[0], a[1]);
}

SIM_IMPL(cuEventRecordWithFlags)
{
	return record(api, a[0], a[1]);
}

static int event_state(uint64_t handle, struct event **out)
{
	struct event *e = obj__get(handle, OBJ_EVENT);

	*out = e;
	if (!e)
		return CUDA_ERROR_INVALID_HANDLE;
	return e->capture ? CUDA_ERROR_CAPTURED_EVENT : CUDA_SUCCESS;
}

SIM_IMPL(cuEventQuery)
{
	struct event *e;
	int result = event_state(a[0], &e);

	(void)api;
	if (result != CUDA_SUCCESS)
		return result;
	return e->recorded && e->time > sim_now() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

SIM_IMPL(cuEventSynchronize)
{
	struct event *e;
	int result = event_state(a[0], &e);

	(void)api;
	if (result == CUDA_SUCCESS && e->recorded)
		sim_wait_until(e->time);
	return result;
}

SIM_IMPL(cuEventElapsedTime)
{
	struct event *start = obj__get(a[1], OBJ_EVENT), *end = obj__get(a[2], OBJ_EVENT);
	uint64_t now = sim_now();

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	if (!start || !end || !start->recorded || !end->recorded ||
	    (start->flags | end->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	if (start->time > now || end->time > now)
		return CUDA_ERROR_NOT_READY;
	*(float *)PTR(0) = (float)((double)((int64_t)(end->time - start->time)) / 1e6);
	return CUDA_SUCCESS;
}

/* ---- host functions run on one thread of the driver, in the order of their times ---- */
struct host_call {
	uint64_t time;
	struct op op;
	struct stream *stream;
	struct ctx *ctx;
	struct host_call *next;
};

static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t host_more = PTHREAD_COND_INITIALIZER;
static struct host_call *host_queue;

static void *host_thread(void *arg)
{
	for (;;) {
		struct host_call *h;

		pthread_mutex_lock(&host_lock);
		while (!host_queue)
			pthread_cond_wait(&host_more, &host_lock);
		h = host_queue;
		host_queue = h->next;
		pthread_mutex_unlock(&host_lock);
		sim_wait_until(h->time);
		if (h->op.host.fn)
			h->op.host.fn(h->op.host.data);
		else
			h->op.host.callback((CUstream)h->stream, CUDA_SUCCESS, h->op.host.data);
		h->stream->hostfuncs--;
		h->ctx->hostfuncs--;
		free(h);
	}
	return arg;
}

static void host_start(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, host_thread, NULL) == 0)
		pthread_detach(t);
}

static void host_enqueue(struct stream *s, const struct op *op, uint64_t end)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct host_call *h = malloc(sizeof(*h)), **link = &host_queue;

	if (!h)
		return;
	*h = (struct host_call){ .time = end, .op = *op, .stream = s, .ctx = s->ctx };
	s->hostfuncs++;
	s->ctx->hostfuncs++;
	pthread_once(&once, host_start);
	pthread_mutex_lock(&host_lock);
	while (*link && (*link)->time <= end)
		link = &(*link)->next;
	h->next = *link;
	*link = h;
	pthread_cond_signal(&host_more);
	pthread_mutex_unlock(&host_lock);
}

/* ---- operations ---- */
uint64_t op__copy_ns(size_t bytes)
{
	return 1000 + bytes * 1000 / sim.bytes_per_us;
}

static void run_copy(const struct op_copy *c)
{
	for (size_t z = 0; z < c->depth; z++)
		for (size_t y = 0; y < c->height; y++)
			memmove((char *)(uintptr_t)c->dst + z * c->dslice + y * c->dpitch,
				(char *)(uintptr_t)c->src + z * c->sslice + y * c->spitch, c->width);
}

static void run_set(const struct op *op)
{
	for (size_t y = 0; y < op->set.height; y++) {
		char *row = (char *)(uintptr_t)op->set.dst + y * op->set.pitch;

		if (op->set.element == 1)
			memset(row, (int)op->set.value, op->set.width);
		else
			for (size_t x = 0; x < op->set.width; x++)
				memcpy(row + x * op->set.element, &op->set.value, op->set.element);
	}
}

/* Data moves at once; only its time is simulated. */
void op__run(struct stream *s, const struct op *op, const struct op_origin *from, uint64_t *end)
{
	bool instant = sim.fast && op->type == CU_GRAPH_NODE_TYPE_KERNEL;
	uint64_t t = instant ? sim_now() : stream__push(s, op->ns);

	if (unlikely(sim_traced != NULL))
		trace__op(s, op, from, instant ? t : t - op->ns, t);
	if (op->type == CU_GRAPH_NODE_TYPE_MEMCPY)
		run_copy(&op->copy);
	else if (op->type == CU_GRAPH_NODE_TYPE_MEMSET)
		run_set(op);
	else if (op->type == CU_GRAPH_NODE_TYPE_HOST)
		host_enqueue(s, op, t);
	else if (op->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
		op->event->time = t;
		op->event->recorded = true;
	}
	if (end)
		*end = t;
}

int stream__submit(struct stream *s, const struct op *op, uint64_t *end)
{
	int result = CUDA_SUCCESS;

	if (likely(!s->capture)) {
		op__run(s, op, NULL, end);
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&sim.lock);
	if (s->invalidated)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!graph__add(s->capture, op))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	s->joined_back = false;
	if (end)
		*end = 0;
	pthread_mutex_unlock(&sim.lock);
	return result;
}
