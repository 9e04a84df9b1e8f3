/* SPDX-License-Identifier: BSD-2-Clause */
#include "decode.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
	int kind;
	enum gpubpf_facility facility;
} kinds[] = {
	{ ABI_ACTIVITY_KIND_CONCURRENT_KERNEL, GPUBPF_FACILITY_KERNEL },
	{ ABI_ACTIVITY_KIND_MEMCPY, GPUBPF_FACILITY_COPY },
	{ ABI_ACTIVITY_KIND_MEMCPY2, GPUBPF_FACILITY_COPY_PEER },
	{ ABI_ACTIVITY_KIND_MEMSET, GPUBPF_FACILITY_SET },
	{ ABI_ACTIVITY_KIND_SYNCHRONIZATION, GPUBPF_FACILITY_SYNC },
	{ ABI_ACTIVITY_KIND_MEMORY2, GPUBPF_FACILITY_MEMORY },
	{ ABI_ACTIVITY_KIND_OVERHEAD, GPUBPF_FACILITY_OVERHEAD },
	{ ABI_ACTIVITY_KIND_EXTERNAL_CORRELATION, GPUBPF_FACILITY_EXTERNAL },
	{ ABI_ACTIVITY_KIND_DRIVER, GPUBPF_FACILITY_DRIVER_CALLS },
	{ ABI_ACTIVITY_KIND_MARKER, GPUBPF_FACILITY_NVTX },
	{ ABI_ACTIVITY_KIND_MARKER_DATA, GPUBPF_FACILITY_NVTX_DATA },
	{ ABI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER, GPUBPF_FACILITY_UNIFIED },
};

int decode__kind_of(enum gpubpf_facility facility)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (kinds[i].facility == facility)
			return kinds[i].kind;
	return -1;
}

/* In 11.0 there is padding where the graph id came later. */
static void set_graph(const struct decode *d, struct gpubpf_activity *a, __u64 node, const __u32 *graph)
{
	a->graph_node = node;
	a->graph = d->cupti->version >= CUPTI_SINCE_11_1 ? *graph : 0;
	if (node || a->graph)
		a->flags |= GPUBPF_ACTIVITY_HAS_NODE;
}

static void set_place(struct gpubpf_activity *a, __u64 start, __u64 end, __u32 device, __u32 context,
		      __u32 stream)
{
	a->start = start;
	a->end = end;
	a->device = device;
	a->context = context;
	a->stream = stream;
}

static __u8 narrow(__u32 v)
{
	return v < 255 ? v : 255;
}

static void kernel(const struct decode *d, const struct cupti_kernel *k, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_KERNEL;
	a->correlation = k->correlation;
	set_place(a, k->start, k->end, k->device, k->context, k->stream);
	set_graph(d, a, k->graph_node, &k->graph);
	a->name = names__intern(d->names, k->name);
	memcpy(a->u.kernel.grid, k->grid, sizeof(a->u.kernel.grid));
	memcpy(a->u.kernel.block, k->block, sizeof(a->u.kernel.block));
	a->u.kernel.static_shared = k->static_shared;
	a->u.kernel.dynamic_shared = k->dynamic_shared;
	a->u.kernel.local_per_thread = k->local_per_thread;
	a->u.kernel.registers = k->registers;
	a->u.kernel.cache_config = k->cache_config;
	a->u.kernel.queued = k->queued;
	a->u.kernel.submitted = k->submitted;
	if (k->queued)
		a->flags |= GPUBPF_ACTIVITY_HAS_QUEUED;
	if (k->submitted)
		a->flags |= GPUBPF_ACTIVITY_HAS_SUBMIT;
	if (d->cupti->version >= CUPTI_SINCE_11_8 && k->cluster[0]) {
		a->flags |= GPUBPF_ACTIVITY_HAS_CLUSTER;
		for (int i = 0; i < 3; i++)
			a->u.kernel.cluster[i] = narrow(k->cluster[i]);
	}
}

static void copy(const struct decode *d, const struct cupti_memcpy *c, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_COPY;
	a->correlation = c->correlation;
	set_place(a, c->start, c->end, c->device, c->context, c->stream);
	set_graph(d, a, c->graph_node, &c->graph);
	if (c->flags & ABI_ACTIVITY_FLAG_MEMCPY_ASYNC)
		a->flags |= GPUBPF_ACTIVITY_ASYNC;
	a->u.copy.bytes = c->bytes;
	a->u.copy.copy_kind = c->copy_kind;
	a->u.copy.src_kind = c->src_kind;
	a->u.copy.dst_kind = c->dst_kind;
}

static void copy_peer(const struct decode *d, const struct cupti_memcpy_peer *c, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_COPY;
	a->flags = GPUBPF_ACTIVITY_PEER;
	a->correlation = c->correlation;
	set_place(a, c->start, c->end, c->device, c->context, c->stream);
	set_graph(d, a, c->graph_node, &c->graph);
	if (c->flags & ABI_ACTIVITY_FLAG_MEMCPY_ASYNC)
		a->flags |= GPUBPF_ACTIVITY_ASYNC;
	a->u.copy.bytes = c->bytes;
	a->u.copy.copy_kind = c->copy_kind;
	a->u.copy.src_kind = c->src_kind;
	a->u.copy.dst_kind = c->dst_kind;
	a->u.copy.src_device = c->src_device;
	a->u.copy.dst_device = c->dst_device;
	a->u.copy.src_context = c->src_context;
	a->u.copy.dst_context = c->dst_context;
}

static void set(const struct decode *d, const struct cupti_memset *s, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_SET;
	a->correlation = s->correlation;
	set_place(a, s->start, s->end, s->device, s->context, s->stream);
	set_graph(d, a, s->graph_node, &s->graph);
	if (s->flags & ABI_ACTIVITY_FLAG_MEMSET_ASYNC)
		a->flags |= GPUBPF_ACTIVITY_ASYNC;
	a->u.set.bytes = s->bytes;
	a->u.set.value = s->value;
	a->u.set.memory_kind = narrow(s->memory_kind);
}

static void graph(const struct cupti_graph_trace *g, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_GRAPH;
	a->correlation = g->correlation;
	set_place(a, g->start, g->end, g->device, g->context, g->stream);
	a->graph = g->graph;
}

static void sync_record(const struct cupti_sync *s, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_SYNC;
	a->correlation = s->correlation;
	set_place(a, s->start, s->end, 0, s->context, s->stream);
	a->u.raw[0] = s->type;
	a->u.raw[1] = s->event;
}

static void memory(const struct cupti_memory *m, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_MEMORY;
	a->correlation = m->correlation;
	set_place(a, m->time, m->time, m->device, m->context, m->stream);
	if (m->is_async)
		a->flags |= GPUBPF_ACTIVITY_ASYNC;
	a->u.raw[0] = m->bytes;
	a->u.raw[1] = m->address;
	a->u.raw[2] = m->operation;
	a->u.raw[3] = m->memory_kind;
}

static void overhead(const struct decode *d, const struct cupti_overhead *o, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_OVERHEAD;
	a->start = o->start;
	a->end = o->end;
	a->correlation = d->cupti->version >= CUPTI_SINCE_12_2 ? o->correlation : 0;
	a->u.raw[0] = o->overhead_kind;
	a->u.raw[1] = o->object_kind;
	a->u.raw[2] = (__u64)o->object[1] << 32 | o->object[0];
	a->u.raw[3] = o->object[2];
}

static void external(const struct cupti_external *e, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_EXTERNAL;
	a->correlation = e->correlation;
	a->u.raw[0] = e->external_kind;
	a->u.raw[1] = e->id;
}

static void marker(const struct decode *d, const struct cupti_marker *m, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_MARKER;
	a->start = a->end = m->time;
	a->u.raw[0] = m->id;
	a->u.raw[1] = m->flags & ABI_ACTIVITY_FLAG_MARKER_START ? GPUBPF_MARKER_START
		      : m->flags & ABI_ACTIVITY_FLAG_MARKER_END ? GPUBPF_MARKER_END
								: GPUBPF_MARKER_INSTANT;
	if (d->labels) {
		a->name = names__intern(d->labels, m->name);
		a->u.raw[2] = names__intern(d->labels, m->domain);
	}
	if (m->object_kind != ABI_ACTIVITY_OBJECT_THREAD)
		return;
	a->u.raw[3] = m->object[0];
	if (d->thread_ids) {
		a->u.raw[4] = m->object[1];
		a->flags |= GPUBPF_ACTIVITY_HAS_THREAD;
	}
}

static void marker_data(const struct cupti_marker_data *m, struct gpubpf_activity *a)
{
	struct cupti_payload *p;

	a->kind = GPUBPF_ACTIVITY_MARKER_DATA;
	if (m->flags & ABI_ACTIVITY_FLAG_MARKER_COLOR_ARGB)
		a->flags |= GPUBPF_ACTIVITY_HAS_COLOR;
	a->u.raw[0] = m->id;
	a->u.raw[1] = m->category;
	a->u.raw[2] = a->flags ? m->color : 0;
	a->u.raw[3] = m->payload_kind;
	if (m->payload_kind != GPUBPF_PAYLOAD_EXTENDED) {
		a->u.raw[4] = m->payload;
		return;
	}
	/* A copy that CUPTI made for whoever reads the record, and that nobody else gives back. */
	p = (struct cupti_payload *)(uintptr_t)m->payload;
	if (p)
		free(p->payload);
	free(p);
}

static void unified(const struct cupti_unified *u, struct gpubpf_activity *a)
{
	a->kind = GPUBPF_ACTIVITY_UNIFIED;
	a->start = u->start;
	a->end = u->end;
	a->u.raw[0] = u->counter;
	a->u.raw[1] = u->value;
	a->u.raw[2] = u->address;
	a->u.raw[3] = u->src;
	a->u.raw[4] = u->dst;
	a->u.raw[5] = u->flags;
}

/* How much of a record is read, by the version that wrote it. 0: of a kind that is not decoded. */
static size_t size_of(const struct decode *d, __u32 kind)
{
	__u32 v = d->cupti->version;

	switch (kind) {
	case ABI_ACTIVITY_KIND_KERNEL:
	case ABI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return v >= CUPTI_SINCE_11_8 ? offsetof(struct cupti_kernel, cluster_policy)
					     : offsetof(struct cupti_kernel, access_policy);
	case ABI_ACTIVITY_KIND_MEMCPY:
		return v >= CUPTI_SINCE_11_1 ? offsetof(struct cupti_memcpy, channel)
					     : offsetof(struct cupti_memcpy, graph);
	case ABI_ACTIVITY_KIND_MEMCPY2:
		return v >= CUPTI_SINCE_11_1 ? offsetof(struct cupti_memcpy_peer, channel)
					     : offsetof(struct cupti_memcpy_peer, graph);
	case ABI_ACTIVITY_KIND_MEMSET:
		return v >= CUPTI_SINCE_11_1 ? offsetof(struct cupti_memset, channel)
					     : offsetof(struct cupti_memset, graph);
	case ABI_ACTIVITY_KIND_GRAPH_TRACE:
		return offsetof(struct cupti_graph_trace, reserved);
	case ABI_ACTIVITY_KIND_SYNCHRONIZATION:
		return offsetof(struct cupti_sync, event_sync);
	case ABI_ACTIVITY_KIND_MEMORY2:
		return offsetof(struct cupti_memory, is_async) + sizeof(__u32);
	case ABI_ACTIVITY_KIND_OVERHEAD:
		return v >= CUPTI_SINCE_12_2 ? offsetof(struct cupti_overhead, reserved0)
					     : offsetof(struct cupti_overhead, correlation);
	case ABI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return offsetof(struct cupti_external, reserved);
	case ABI_ACTIVITY_KIND_MARKER:
		return sizeof(struct cupti_marker);
	case ABI_ACTIVITY_KIND_MARKER_DATA:
		return sizeof(struct cupti_marker_data);
	case ABI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		return sizeof(struct cupti_unified);
	default:
		return 0;
	}
}

static void fill(const struct decode *d, const struct cupti_record *r, struct gpubpf_activity *a)
{
	const void *p = r;

	memset(a, 0, sizeof(*a));
	a->session = d->session;
	switch (r->kind) {
	case ABI_ACTIVITY_KIND_KERNEL:
	case ABI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return kernel(d, p, a);
	case ABI_ACTIVITY_KIND_MEMCPY:
		return copy(d, p, a);
	case ABI_ACTIVITY_KIND_MEMCPY2:
		return copy_peer(d, p, a);
	case ABI_ACTIVITY_KIND_MEMSET:
		return set(d, p, a);
	case ABI_ACTIVITY_KIND_GRAPH_TRACE:
		return graph(p, a);
	case ABI_ACTIVITY_KIND_SYNCHRONIZATION:
		return sync_record(p, a);
	case ABI_ACTIVITY_KIND_MEMORY2:
		return memory(p, a);
	case ABI_ACTIVITY_KIND_OVERHEAD:
		return overhead(d, p, a);
	case ABI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return external(p, a);
	case ABI_ACTIVITY_KIND_MARKER:
		return marker(d, p, a);
	case ABI_ACTIVITY_KIND_MARKER_DATA:
		return marker_data(p, a);
	case ABI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
		return unified(p, a);
	}
}

void decode__begin(struct decode *d, const struct cupti *c, struct names *n, __u32 session)
{
	memset(d, 0, sizeof(*d));
	d->cupti = c;
	d->names = n;
	d->session = session;
}

static void count(__u64 *counter)
{
	__atomic_store_n(counter, *counter + 1, __ATOMIC_RELAXED);
}

static int bad(struct decode *d, cupti_result r)
{
	d->bad_result = r;
	count(&d->bad);
	return -EIO;
}

int decode__buffer(struct decode *d, uint8_t *buffer, size_t valid, decode_sink *sink, void *arg)
{
	struct cupti_record *r = NULL;
	const uint8_t *at, *last = NULL;
	struct gpubpf_activity a;
	cupti_result res;
	size_t left, want;
	int rc;

	if (!buffer || !valid)
		return 0;
	for (;;) {
		res = d->cupti->activity_get_next_record(buffer, valid, &r);
		if (res == ABI_ERROR_MAX_LIMIT_REACHED)
			return 0;
		if (res != ABI_SUCCESS)
			return bad(d, res);
		/* A walk that does not move would never end, on a thread that CUPTI waits for. */
		at = (const uint8_t *)r;
		if (at < buffer || at <= last || at > buffer + valid ||
		    buffer + valid - at < (ptrdiff_t)sizeof(*r))
			return bad(d, ABI_ERROR_UNKNOWN);
		last = at;
		left = buffer + valid - at;
		count(&d->records);
		/* Asked for only since CUPTI makes no external correlation without: the callbacks tell of calls. */
		if (r->kind == ABI_ACTIVITY_KIND_DRIVER)
			continue;
		want = size_of(d, r->kind);
		if (!want || want > left) {
			count(&d->unknown);
			continue;
		}
		fill(d, r, &a);
		rc = sink(&a, arg);
		if (rc)
			return rc;
	}
}
