/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs: nodes in the order they were added, which is the order they run in; a launch runs them one by one. */
#include "sim.h"

#include <stdlib.h>

int op__from_memcpy3d(const CUDA_MEMCPY3D *c, struct op *op);

struct node *graph__add(struct graph *g, const struct op *op)
{
	struct node *n = obj__new(OBJ_NODE);

	if (!n)
		return NULL;
	n->op = malloc(sizeof(*op));
	if (!n->op) {
		obj__free(n);
		return NULL;
	}
	*n->op = *op;
	n->graph = g;
	*g->tail = n;
	g->tail = &n->next;
	g->count++;
	return n;
}

static struct graph *graph__new(void)
{
	struct graph *g = obj__new(OBJ_GRAPH);

	if (g)
		g->tail = &g->first;
	return g;
}

static void graph__free(struct graph *g)
{
	struct node *n = g->first, *next;

	for (; n; n = next) {
		next = n->next;
		free(n->op);
		obj__free(n);
	}
	obj__free(g);
}

SIM_IMPL(cuGraphCreate)
{
	struct graph *g;

	(void)api;
	if (!PTR(0) || U32(1) != 0)
		return CUDA_ERROR_INVALID_VALUE;
	g = graph__new();
	*(void **)PTR(0) = g;
	return g ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuGraphDestroy)
{
	struct graph *g;
	bool ok;

	(void)api;
	pthread_mutex_lock(&sim.lock);
	g = obj__get(a[0], OBJ_GRAPH);
	ok = g && !g->capturing;
	if (ok)
		graph__free(g);
	pthread_mutex_unlock(&sim.lock);
	return ok ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuGraphClone)
{
	struct graph *from, *g = NULL;

	(void)api;
	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	from = obj__get(a[1], OBJ_GRAPH);
	if (from)
		g = graph__new();
	for (struct node *n = g ? from->first : NULL; n; n = n->next)
		graph__add(g, n->op);
	pthread_mutex_unlock(&sim.lock);
	if (!from)
		return CUDA_ERROR_INVALID_VALUE;
	*(void **)PTR(0) = g;
	return g ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuGraphGetNodes)
{
	CUgraphNode *nodes = PTR(1);
	size_t *count = PTR(2), i = 0;
	struct graph *g;

	(void)api;
	if (!count)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	g = obj__get(a[0], OBJ_GRAPH);
	if (g && nodes) {
		for (struct node *n = g->first; n && i < *count; n = n->next)
			nodes[i++] = (CUgraphNode)n;
		for (size_t k = i; k < *count; k++)
			nodes[k] = NULL;
		*count = i;
	} else if (g) {
		*count = g->count;
	}
	pthread_mutex_unlock(&sim.lock);
	return g ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuGraphNodeGetType)
{
	struct node *n = obj__get(a[0], OBJ_NODE);

	(void)api;
	if (!n || !PTR(1))
		return CUDA_ERROR_INVALID_VALUE;
	*(CUgraphNodeType *)PTR(1) = n->op->type;
	return CUDA_SUCCESS;
}

/* Arguments 0 to 3 of every cuGraphAdd…Node: node, graph, dependencies, their number. */
static int add_node(const uint64_t *a, const struct op *op)
{
	struct graph *g;
	struct node *n = NULL;

	if (!PTR(0) || (a[3] && !PTR(2)))
		return CUDA_ERROR_INVALID_VALUE;
	for (uint64_t i = 0; i < a[3]; i++)
		if (!obj__get(((uint64_t *)PTR(2))[i], OBJ_NODE))
			return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&sim.lock);
	g = obj__get(a[1], OBJ_GRAPH);
	if (g)
		n = graph__add(g, op);
	pthread_mutex_unlock(&sim.lock);
	if (!g)
		return CUDA_ERROR_INVALID_VALUE;
	*(void **)PTR(0) = n;
	return n ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIM_IMPL(cuGraphAddKernelNode)
{
	const CUDA_KERNEL_NODE_PARAMS *p = PTR(4);
	struct op op = { .type = CU_GRAPH_NODE_TYPE_KERNEL };
	struct func *f;

	(void)api;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	f = func__get(p->func ? (uintptr_t)p->func : (uintptr_t)p->kern);
	if (!f)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!f->loaded)
		func__load(f);
	op.kernel = *p;
	op.ns = f->ns;
	return add_node(a, &op);
}

SIM_IMPL(cuGraphAddMemcpyNode)
{
	struct op op;
	int result;

	(void)api;
	if (!PTR(4))
		return CUDA_ERROR_INVALID_VALUE;
	result = op__from_memcpy3d(PTR(4), &op);
	return result == CUDA_SUCCESS ? add_node(a, &op) : result;
}

SIM_IMPL(cuGraphAddMemsetNode)
{
	const CUDA_MEMSET_NODE_PARAMS *p = PTR(4);
	struct op op = { .type = CU_GRAPH_NODE_TYPE_MEMSET, .ns = 500 };
	bool valid;

	(void)api;
	if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) || !p->width ||
	    !p->height)
		return CUDA_ERROR_INVALID_VALUE;
	op.set.dst = p->dst;
	op.set.pitch = p->pitch;
	op.set.value = p->value;
	op.set.element = p->elementSize;
	op.set.width = p->width;
	op.set.height = p->height;
	pthread_mutex_lock(&sim.lock);
	valid = mem__valid(p->dst, (p->height - 1) * p->pitch + p->width * p->elementSize, true);
	pthread_mutex_unlock(&sim.lock);
	return valid ? add_node(a, &op) : CUDA_ERROR_INVALID_VALUE;
}

SIM_IMPL(cuGraphAddHostNode)
{
	const CUDA_HOST_NODE_PARAMS *p = PTR(4);
	struct op op = { .type = CU_GRAPH_NODE_TYPE_HOST };

	(void)api;
	if (!p || !p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	op.host.fn = p->fn;
	op.host.data = p->userData;
	return add_node(a, &op);
}

SIM_IMPL(cuGraphAddEmptyNode)
{
	struct op op = { .type = CU_GRAPH_NODE_TYPE_EMPTY };

	(void)api;
	return add_node(a, &op);
}

static int exec__fill(struct exec *x, const struct graph *g)
{
	struct op *ops = calloc(g->count ? g->count : 1, sizeof(*ops));
	size_t i = 0;

	if (!ops)
		return CUDA_ERROR_OUT_OF_MEMORY;
	free(x->ops);
	x->ops = ops;
	x->count = g->count;
	x->kernels_only = true;
	x->ns = 0;
	for (struct node *n = g->first; n; n = n->next) {
		ops[i++] = *n->op;
		x->ns += n->op->ns;
		x->kernels_only &= n->op->type == CU_GRAPH_NODE_TYPE_KERNEL ||
				   n->op->type == CU_GRAPH_NODE_TYPE_EMPTY;
	}
	return CUDA_SUCCESS;
}

static int instantiate(const uint64_t *a)
{
	struct graph *g;
	struct exec *x;
	int result = CUDA_ERROR_INVALID_VALUE;

	if (!PTR(0))
		return CUDA_ERROR_INVALID_VALUE;
	x = obj__new(OBJ_EXEC);
	if (!x)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&sim.lock);
	g = obj__get(a[1], OBJ_GRAPH);
	if (g && !g->capturing)
		result = exec__fill(x, g);
	pthread_mutex_unlock(&sim.lock);
	if (result == CUDA_SUCCESS) {
		*(void **)PTR(0) = x;
		pthread_rwlock_wrlock(&sim_driver_lock);
		trace__resource(&(struct sim_resource){ .id = 18, .graph = PTR(1), .exec = x });
		pthread_rwlock_unlock(&sim_driver_lock);
	} else {
		obj__free(x);
	}
	return result;
}

SIM_IMPL(cuGraphInstantiate)
{
	(void)api;
	return instantiate(a);
}

SIM_IMPL(cuGraphInstantiateWithFlags)
{
	(void)api;
	return instantiate(a);
}

SIM_IMPL(cuGraphInstantiateWithParams)
{
	CUDA_GRAPH_INSTANTIATE_PARAMS *p = PTR(2);
	int result;

	(void)api;
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	result = instantiate(a);
	p->hErrNode_out = NULL;
	p->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
					       : CUDA_GRAPH_INSTANTIATE_ERROR;
	return result;
}

SIM_IMPL(cuGraphExecDestroy)
{
	struct exec *x;

	(void)api;
	pthread_rwlock_wrlock(&sim_driver_lock);
	if (obj__get(a[0], OBJ_EXEC))
		trace__resource(&(struct sim_resource){ .id = 19, .exec = PTR(0) }); /* …DESTROY_STARTING */
	pthread_mutex_lock(&sim.lock);
	x = obj__get(a[0], OBJ_EXEC);
	if (x) {
		free(x->ops);
		obj__free(x);
	}
	pthread_mutex_unlock(&sim.lock);
	pthread_rwlock_unlock(&sim_driver_lock);
	return x ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* An update keeps the topology: the same kinds of node in the same order. */
static int update(const uint64_t *a, CUgraphExecUpdateResult *why)
{
	int result = CUDA_ERROR_INVALID_VALUE;
	struct graph *g;
	struct exec *x;
	size_t i = 0;

	*why = CU_GRAPH_EXEC_UPDATE_ERROR;
	pthread_mutex_lock(&sim.lock);
	x = obj__get(a[0], OBJ_EXEC);
	g = obj__get(a[1], OBJ_GRAPH);
	if (!x || !g)
		goto out;
	*why = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	result = CUDA_ERROR_UNKNOWN;
	if (x->count != g->count)
		goto out;
	for (struct node *n = g->first; n; n = n->next)
		if (n->op->type != x->ops[i++].type)
			goto out;
	result = exec__fill(x, g);
	if (result == CUDA_SUCCESS)
		*why = CU_GRAPH_EXEC_UPDATE_SUCCESS;
out:
	pthread_mutex_unlock(&sim.lock);
	/* CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE */
	return result == CUDA_ERROR_UNKNOWN ? 910 : result;
}

SIM_IMPL(cuGraphExecUpdate)
{
	CUgraphExecUpdateResult why;
	int result = update(a, &why);

	(void)api;
	if (PTR(2))
		*(CUgraphNode *)PTR(2) = NULL;
	if (PTR(3))
		*(CUgraphExecUpdateResult *)PTR(3) = why;
	return result;
}

SIM_IMPL(cuGraphExecUpdate_v2)
{
	CUgraphExecUpdateResult why;
	int result = update(a, &why);

	(void)api;
	if (PTR(2))
		*(CUgraphExecUpdateResultInfo *)PTR(2) = (CUgraphExecUpdateResultInfo){ .result = why };
	return result;
}

SIM_IMPL(cuGraphUpload)
{
	int result;
	struct stream *s = stream__resolve(api, a[1], &result);

	if (!s)
		return result;
	return obj__get(a[0], OBJ_EXEC) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void run_nodes(struct stream *s, const struct exec *x)
{
	uint64_t start = 0, end = 0;

	for (size_t i = 0; i < x->count; i++) {
		struct op_origin from = { x->obj.id, (uint64_t)x->obj.id << 32 | (i + 1) };

		op__run(s, &x->ops[i], &from, &end);
		if (i == 0)
			start = end - x->ops[0].ns;
	}
	if (unlikely(sim_traced != NULL) && x->count)
		trace__graph(s, x, start, end);
}

SIM_IMPL(cuGraphLaunch)
{
	struct exec *x = obj__get(a[0], OBJ_EXEC);
	int result;
	struct stream *s = stream__resolve(api, a[1], &result);

	if (!s)
		return result;
	if (!x)
		return CUDA_ERROR_INVALID_VALUE;
	if (s->capture) {
		/* A child graph node: its work counts as one operation of the graph being captured. */
		struct op op = { .type = CU_GRAPH_NODE_TYPE_EMPTY, .ns = x->ns };

		return stream__submit(s, &op, NULL);
	}
	if (unlikely(!x->kernels_only || sim_traced)) {
		run_nodes(s, x);
		return CUDA_SUCCESS;
	}
	if (!sim.fast)
		stream__push(s, x->ns);
	return CUDA_SUCCESS;
}
