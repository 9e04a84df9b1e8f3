/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The driver's side of sim_trace.h. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>

__thread struct sim_call *sim_traced __attribute__((tls_model("initial-exec")));
pthread_rwlock_t sim_driver_lock = PTHREAD_RWLOCK_INITIALIZER;

static void set_tracer(const struct sim_tracer *t)
{
	sim.tracer = t;
	sim.slow = t || sim.always_slow;
}

void trace__resource(const struct sim_resource *r)
{
	const struct sim_tracer *t = sim.tracer;

	if (t)
		t->resource(r);
}

void trace__context(unsigned id, struct ctx *c)
{
	trace__resource(&(struct sim_resource){ .id = id, .context = c });
}

void trace__stream(unsigned id, struct stream *s)
{
	trace__resource(&(struct sim_resource){ .id = id, .context = s->ctx, .stream = s });
}

/* Names outlive their modules, as records do that nobody has read yet. Under sim_driver_lock. */
const char *trace__keep(const char *name)
{
	static struct kept {
		struct kept *next;
		char text[];
	} * table[1024];
	unsigned hash = 5381;
	size_t len = strlen(name);
	struct kept *k;

	for (size_t i = 0; i < len; i++)
		hash = hash * 33 + (unsigned char)name[i];
	for (k = table[hash % 1024]; k; k = k->next)
		if (strcmp(k->text, name) == 0)
			return k->text;
	k = malloc(sizeof(*k) + len + 1);
	if (!k)
		return NULL;
	memcpy(k->text, name, len + 1);
	k->next = table[hash % 1024];
	table[hash % 1024] = k;
	return k->text;
}

/* As CUpti_ActivityMemoryKind. */
static const uint8_t memory_kinds[] = { [MEM_DEVICE] = 3,  [MEM_POOL] = 3, [MEM_RESERVED] = 3,
					[MEM_MANAGED] = 5, [MEM_HOST] = 2, [MEM_ARRAY] = 4 };

static struct sim_side side(uint64_t ptr, const struct ctx *c)
{
	struct sim_side s = { .memory = 1, .device = (uint32_t)c->device, .context = c->obj.id };
	struct mem *m;
	size_t left;

	pthread_mutex_lock(&sim.lock);
	m = mem__at(ptr);
	if (m) {
		s.memory = memory_kinds[m->kind];
		if (m->ctx) {
			s.device = (uint32_t)m->ctx->device;
			s.context = m->ctx->obj.id;
		}
	} else if (mem__registered(ptr, &left)) {
		s.memory = 2;
	}
	pthread_mutex_unlock(&sim.lock);
	return s;
}

static void kernel_work(struct sim_work *w, const struct op *op)
{
	const CUDA_KERNEL_NODE_PARAMS *k = &op->kernel;
	struct func *f = func__get(k->func ? (uintptr_t)k->func : (uintptr_t)k->kern);

	w->kind = SIM_WORK_KERNEL;
	w->kernel.name = f ? f->kept : NULL;
	w->kernel.grid[0] = k->gridDimX;
	w->kernel.grid[1] = k->gridDimY;
	w->kernel.grid[2] = k->gridDimZ;
	w->kernel.block[0] = k->blockDimX;
	w->kernel.block[1] = k->blockDimY;
	w->kernel.block[2] = k->blockDimZ;
	memcpy(w->kernel.cluster, op->cluster, sizeof(op->cluster));
	w->kernel.shared = k->sharedMemBytes;
	w->kernel.registers = SIM_REGISTERS;
	w->kernel.cooperative = op->cooperative;
}

void trace__op(struct stream *s, const struct op *op, const struct op_origin *from, uint64_t start,
	       uint64_t end)
{
	const struct sim_tracer *t = sim.tracer;
	struct sim_work w = { .call = sim_traced,
			      .start = start,
			      .end = end > start ? end : start + 1,
			      .device = (uint32_t)s->ctx->device,
			      .context = s->ctx->obj.id,
			      .stream = s->obj.id,
			      .graph = from ? from->graph : 0,
			      .node = from ? from->node : 0 };

	if (!t || !w.call)
		return;
	if (op->type == CU_GRAPH_NODE_TYPE_KERNEL) {
		kernel_work(&w, op);
	} else if (op->type == CU_GRAPH_NODE_TYPE_MEMCPY) {
		w.kind = SIM_WORK_COPY;
		w.copy.bytes = op->copy.width * op->copy.height * op->copy.depth;
		w.copy.src = side(op->copy.src, s->ctx);
		w.copy.dst = side(op->copy.dst, s->ctx);
	} else if (op->type == CU_GRAPH_NODE_TYPE_MEMSET) {
		w.kind = SIM_WORK_SET;
		w.set.bytes = op->set.width * op->set.height * op->set.element;
		w.set.value = op->set.value;
		w.set.memory = side(op->set.dst, s->ctx).memory;
	} else {
		return;
	}
	t->work(&w);
}

void trace__graph(struct stream *s, const struct exec *x, uint64_t start, uint64_t end)
{
	const struct sim_tracer *t = sim.tracer;

	if (t && sim_traced)
		t->work(&(struct sim_work){ .kind = SIM_WORK_GRAPH,
					    .call = sim_traced,
					    .start = start,
					    .end = end > start ? end : start + 1,
					    .device = (uint32_t)s->ctx->device,
					    .context = s->ctx->obj.id,
					    .stream = s->obj.id,
					    .graph = x->obj.id });
}

/* ---- what libcupti asks ---- */
static bool context_info(uint64_t handle, void **ctx, uint32_t *id, uint32_t *device)
{
	struct ctx *c = handle ? obj__get(handle, OBJ_CTX) : ctx__current();

	if (!c)
		return false;
	*ctx = c;
	*id = c->obj.id;
	*device = (uint32_t)c->device;
	return true;
}

static bool stream_info(uint64_t ctx, uint64_t handle, bool per_thread, uint32_t *id)
{
	struct sim_api api = { .flags = per_thread ? SIM_API_PER_THREAD : 0 };
	struct ctx *c = ctx ? obj__get(ctx, OBJ_CTX) : ctx__current();
	struct stream *s;
	int result;

	if (!c)
		return false;
	s = handle <= 1 && !(handle == 0 && per_thread) ? c->legacy : stream__resolve(&api, handle, &result);
	if (s)
		*id = s->obj.id;
	return s != NULL;
}

static const char *function_name(uint64_t handle)
{
	struct func *f = func__get(handle);

	return f ? f->name : NULL;
}

static bool id_of(uint64_t handle, enum obj_kind kind, uint32_t *id)
{
	struct obj *o = obj__get(handle, kind);

	if (o)
		*id = o->id;
	return o != NULL;
}

static bool graph_id(uint64_t handle, uint32_t *id)
{
	return id_of(handle, OBJ_GRAPH, id);
}

static bool exec_id(uint64_t handle, uint32_t *id)
{
	return id_of(handle, OBJ_EXEC, id);
}

static bool node_id(uint64_t handle, uint64_t *id)
{
	struct node *n = obj__get(handle, OBJ_NODE);

	if (n)
		*id = (uint64_t)n->graph->obj.id << 32 | n->obj.id;
	return n != NULL;
}

static struct sim_memory memory_info(uint64_t address)
{
	struct sim_memory info = { .address = address };
	struct mem *m;

	pthread_mutex_lock(&sim.lock);
	m = mem__at(address);
	if (m) {
		info.bytes = m->bytes;
		info.kind = memory_kinds[m->kind];
	}
	if (m && m->ctx) {
		info.device = (uint32_t)m->ctx->device;
		info.context = m->ctx->obj.id;
	}
	pthread_mutex_unlock(&sim.lock);
	return info;
}

__attribute__((visibility("default"))) extern struct sim_private simcuda_private;
struct sim_private simcuda_private = {
	.abi = SIM_TRACE_ABI,
	.apis = sim_apis,
	.driver_lock = &sim_driver_lock,
	.set_tracer = set_tracer,
	.context = context_info,
	.stream = stream_info,
	.function = function_name,
	.graph = graph_id,
	.exec = exec_id,
	.node = node_id,
	.memory = memory_info,
	.initializing = init__elsewhere,
	.making_context = ctx__made_elsewhere,
};

__attribute__((constructor)) static void setup(void)
{
	simcuda_private.napis = sim_napis;
}
