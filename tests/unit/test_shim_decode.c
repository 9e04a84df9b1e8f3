/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "shim/decode.c"
#include "shim/names.c"
#include "t.h"

static struct cupti cupti;
static struct names names;
static struct decode d;
static struct gpubpf_activity got[64];
static int ngot, stop_at;

/* A buffer of CUPTI's, and how long each record of it is. */
static _Alignas(8) uint8_t buf[8192];
static size_t used, start_of[64];
static int nrec, walk_error_at;
static cupti_result walk_error;

static cupti_result next_record(uint8_t *buffer, size_t valid, struct cupti_record **r)
{
	int i = 0;

	CHECK(buffer == buf && valid == used);
	if (*r)
		while (i < nrec && (uint8_t *)*r != buf + start_of[i++])
			;
	if (walk_error && i == walk_error_at)
		return walk_error;
	if (i >= nrec)
		return ABI_ERROR_MAX_LIMIT_REACHED;
	*r = (void *)(buf + start_of[i]);
	return ABI_SUCCESS;
}

static void put(const void *record, size_t size)
{
	start_of[nrec++] = used;
	memcpy(buf + used, record, size);
	used += (size + 7) & ~7ul;
}

static void begin(__u32 version)
{
	memset(&cupti, 0, sizeof(cupti));
	cupti.version = version;
	cupti.activity_get_next_record = next_record;
	memset(&names, 0, sizeof(names));
	names__begin(&names, 7);
	decode__begin(&d, &cupti, &names, 7);
	memset(buf, 0xee, sizeof(buf)); /* what a field that this version lacks would read */
	used = nrec = ngot = stop_at = walk_error_at = walk_error = 0;
}

static int sink(const struct gpubpf_activity *a, void *arg)
{
	CHECK(arg == &got);
	got[ngot++] = *a;
	return ngot == stop_at ? -28 : 0;
}

static int decode(void)
{
	return decode__buffer(&d, buf, used, sink, &got);
}

static struct cupti_kernel a_kernel(void)
{
	return (struct cupti_kernel){
		.kind = ABI_ACTIVITY_KIND_CONCURRENT_KERNEL,
		.cache_config = 0x21,
		.registers = 254,
		.start = 1000,
		.end = 2000,
		.completed = 2100,
		.device = 3,
		.context = 1,
		.stream = 13,
		.grid = { 70000, 2, 3 },
		.block = { 1024, 5, 6 },
		.static_shared = 48,
		.dynamic_shared = 200000,
		.local_per_thread = 72,
		.local_total = 9,
		.correlation = 4000000001u,
		.grid_id = 99,
		.name = "_Z4gemmv",
		.queued = 700,
		.submitted = 800,
		.graph_node = 0x700000002,
		.graph = 7,
		.cluster = { 2, 4, 300 },
	};
}

T(kernel)
{
	struct cupti_kernel k = a_kernel();
	const struct gpubpf_activity *a = got;

	begin(CUPTI_SINCE_13_0);
	put(&k, sizeof(k));
	k.kind = ABI_ACTIVITY_KIND_KERNEL;
	k.graph_node = k.graph = 0;
	k.queued = k.submitted = 0;
	k.cluster[0] = k.cluster[1] = k.cluster[2] = 0;
	k.name = NULL;
	put(&k, sizeof(k));
	CHECK(decode() == 0 && ngot == 2 && d.records == 2 && d.unknown == 0);
	CHECK(a->kind == GPUBPF_ACTIVITY_KERNEL && a->session == 7 && a->correlation == 4000000001u);
	CHECK(a->start == 1000 && a->end == 2000 && a->device == 3 && a->context == 1 && a->stream == 13);
	CHECK(a->graph == 7 && a->graph_node == 0x700000002 && a->name == 1);
	CHECK(a->flags == (GPUBPF_ACTIVITY_HAS_NODE | GPUBPF_ACTIVITY_HAS_QUEUED |
			   GPUBPF_ACTIVITY_HAS_SUBMIT | GPUBPF_ACTIVITY_HAS_CLUSTER));
	CHECK(a->u.kernel.grid[0] == 70000 && a->u.kernel.grid[1] == 2 && a->u.kernel.grid[2] == 3);
	CHECK(a->u.kernel.block[0] == 1024 && a->u.kernel.block[1] == 5 && a->u.kernel.block[2] == 6);
	CHECK(a->u.kernel.static_shared == 48 && a->u.kernel.dynamic_shared == 200000);
	CHECK(a->u.kernel.local_per_thread == 72 && a->u.kernel.registers == 254 &&
	      a->u.kernel.cache_config == 0x21);
	CHECK(a->u.kernel.queued == 700 && a->u.kernel.submitted == 800);
	CHECK(a->u.kernel.cluster[0] == 2 && a->u.kernel.cluster[1] == 4 && a->u.kernel.cluster[2] == 255);
	CHECK(a[1].kind == GPUBPF_ACTIVITY_KERNEL && a[1].flags == 0 && a[1].name == 0);
}

/* R4: whatever CUPTI wrote, the reader judges. */
T(times_are_not_mended)
{
	struct cupti_kernel k = a_kernel();

	begin(CUPTI_SINCE_13_0);
	k.start = k.end = 0;
	put(&k, sizeof(k));
	k.start = 50;
	k.end = 40;
	put(&k, sizeof(k));
	CHECK(decode() == 0 && ngot == 2);
	CHECK(got[0].start == 0 && got[0].end == 0 && got[1].start == 50 && got[1].end == 40);
}

/* The fields an older CUPTI does not write are not read: there the next record begins, or padding. */
T(versions)
{
	static const struct {
		__u32 version;
		size_t kernel, copy, peer, set;
		bool graph, cluster;
	} v[] = {
		{ CUPTI_SINCE_11_0, 160, 72, 80, 72, false, false },
		{ CUPTI_SINCE_11_1, 160, 80, 88, 80, true, false },
		{ CUPTI_SINCE_11_2, 168, 80, 88, 80, true, false },
		{ CUPTI_SINCE_11_6, 176, 88, 96, 88, true, false },
		{ CUPTI_SINCE_11_8, 208, 88, 96, 88, true, true },
		{ CUPTI_SINCE_12_8, 208, 96, 96, 88, true, true },
		{ CUPTI_SINCE_13_0, 216, 96, 96, 88, true, true },
	};

	/* Each kind is once the last, and ends where the buffer ends. */
	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct cupti_kernel k = a_kernel();
		struct cupti_memcpy c = { .kind = ABI_ACTIVITY_KIND_MEMCPY, .graph_node = 5, .graph = 6 };
		struct cupti_memcpy_peer p = { .kind = ABI_ACTIVITY_KIND_MEMCPY2,
					       .graph_node = 5,
					       .graph = 6 };
		struct cupti_memset s = { .kind = ABI_ACTIVITY_KIND_MEMSET, .graph_node = 5, .graph = 6 };

		begin(v[i].version);
		put(&k, v[i].kernel);
		put(&c, v[i].copy);
		put(&p, v[i].peer);
		put(&s, v[i].set);
		put(&k, v[i].kernel);
		CHECK(decode() == 0 && d.unknown == 0 && ngot == 5);
		for (int n = 0; n < ngot; n++) {
			CHECK(got[n].graph == (v[i].graph ? n % 4 ? 6u : 7u : 0));
			CHECK(got[n].flags & GPUBPF_ACTIVITY_HAS_NODE);
		}
		CHECK(!!(got[0].flags & GPUBPF_ACTIVITY_HAS_CLUSTER) == v[i].cluster);
		CHECK(!!got[0].u.kernel.cluster[1] == v[i].cluster);
		for (int n = 1; n < 4; n++) {
			used = start_of[n] + (n == 1 ? v[i].copy : n == 2 ? v[i].peer : v[i].set);
			nrec = n + 1;
			ngot = 0;
			CHECK(decode() == 0 && d.unknown == 0 && ngot == n + 1);
		}
	}
}

/* C29: each kind by its right name and size. */
T(copies)
{
	static const struct {
		int theirs, ours;
	} kind[] = {
		{ ABI_ACTIVITY_MEMCPY_KIND_HTOD, GPUBPF_COPY_HTOD },
		{ ABI_ACTIVITY_MEMCPY_KIND_DTOH, GPUBPF_COPY_DTOH },
		{ ABI_ACTIVITY_MEMCPY_KIND_HTOA, GPUBPF_COPY_HTOA },
		{ ABI_ACTIVITY_MEMCPY_KIND_ATOH, GPUBPF_COPY_ATOH },
		{ ABI_ACTIVITY_MEMCPY_KIND_ATOA, GPUBPF_COPY_ATOA },
		{ ABI_ACTIVITY_MEMCPY_KIND_ATOD, GPUBPF_COPY_ATOD },
		{ ABI_ACTIVITY_MEMCPY_KIND_DTOA, GPUBPF_COPY_DTOA },
		{ ABI_ACTIVITY_MEMCPY_KIND_DTOD, GPUBPF_COPY_DTOD },
		{ ABI_ACTIVITY_MEMCPY_KIND_HTOH, GPUBPF_COPY_HTOH },
		{ ABI_ACTIVITY_MEMCPY_KIND_PTOP, GPUBPF_COPY_PTOP },
	};
	const int n = sizeof(kind) / sizeof(kind[0]);
	struct cupti_memcpy c = { .kind = ABI_ACTIVITY_KIND_MEMCPY,
				  .src_kind = 1,
				  .dst_kind = 3,
				  .start = 10,
				  .end = 30,
				  .device = 2,
				  .context = 4,
				  .stream = 8,
				  .correlation = 500 };

	begin(CUPTI_SINCE_13_0);
	for (int i = 0; i < n; i++) {
		c.copy_kind = kind[i].theirs;
		c.bytes = 1ull << (i * 4);
		c.flags = i & 1;
		put(&c, sizeof(c));
	}
	CHECK(decode() == 0 && ngot == n);
	for (int i = 0; i < n; i++) {
		CHECK(got[i].kind == GPUBPF_ACTIVITY_COPY && got[i].u.copy.copy_kind == kind[i].ours);
		CHECK(got[i].u.copy.bytes == 1ull << (i * 4) && got[i].u.copy.src_kind == 1 &&
		      got[i].u.copy.dst_kind == 3);
		CHECK(got[i].flags == (i & 1 ? GPUBPF_ACTIVITY_ASYNC : 0));
		CHECK(got[i].start == 10 && got[i].end == 30 && got[i].device == 2 && got[i].context == 4);
		CHECK(got[i].stream == 8 && got[i].correlation == 500 && got[i].name == 0);
	}
}

T(peer_copy_and_set)
{
	struct cupti_memcpy_peer p = { .kind = ABI_ACTIVITY_KIND_MEMCPY2,
				       .copy_kind = 10,
				       .src_kind = 3,
				       .dst_kind = 3,
				       .flags = 1,
				       .bytes = 1 << 20,
				       .start = 1,
				       .end = 2,
				       .device = 1,
				       .context = 2,
				       .stream = 3,
				       .src_device = 4,
				       .src_context = 5,
				       .dst_device = 6,
				       .dst_context = 7,
				       .correlation = 8 };
	struct cupti_memset s = { .kind = ABI_ACTIVITY_KIND_MEMSET,
				  .value = 0xff,
				  .bytes = 12,
				  .start = 3,
				  .end = 4,
				  .device = 1,
				  .context = 2,
				  .stream = 9,
				  .correlation = 11,
				  .flags = 1,
				  .memory_kind = 3,
				  .graph_node = 1 };

	begin(CUPTI_SINCE_13_0);
	put(&p, sizeof(p));
	put(&s, sizeof(s));
	CHECK(decode() == 0 && ngot == 2);
	CHECK(got[0].kind == GPUBPF_ACTIVITY_COPY &&
	      got[0].flags == (GPUBPF_ACTIVITY_PEER | GPUBPF_ACTIVITY_ASYNC));
	CHECK(got[0].correlation == 8 && got[0].u.copy.bytes == 1 << 20 &&
	      got[0].u.copy.copy_kind == GPUBPF_COPY_PTOP);
	CHECK(got[0].u.copy.src_device == 4 && got[0].u.copy.dst_device == 6);
	CHECK(got[0].u.copy.src_context == 5 && got[0].u.copy.dst_context == 7);
	CHECK(got[1].kind == GPUBPF_ACTIVITY_SET &&
	      got[1].flags == (GPUBPF_ACTIVITY_ASYNC | GPUBPF_ACTIVITY_HAS_NODE));
	CHECK(got[1].u.set.bytes == 12 && got[1].u.set.value == 0xff && got[1].u.set.memory_kind == 3);
	CHECK(got[1].correlation == 11 && got[1].stream == 9 && got[1].graph_node == 1);
}

T(optional_kinds)
{
	struct cupti_graph_trace g = { .kind = ABI_ACTIVITY_KIND_GRAPH_TRACE,
				       .correlation = 1,
				       .start = 2,
				       .end = 3,
				       .device = 4,
				       .graph = 5,
				       .context = 6,
				       .stream = 7 };
	struct cupti_sync s = { .kind = ABI_ACTIVITY_KIND_SYNCHRONIZATION,
				.type = 3,
				.start = 2,
				.end = 9,
				.correlation = 4,
				.context = 5,
				.stream = 6,
				.event = 7 };
	struct cupti_memory m = { .kind = ABI_ACTIVITY_KIND_MEMORY2,
				  .operation = 1,
				  .memory_kind = 3,
				  .correlation = 2,
				  .address = 0x7f0000000000,
				  .bytes = 1 << 21,
				  .time = 77,
				  .device = 1,
				  .context = 2,
				  .stream = 3,
				  .is_async = 1 };
	struct cupti_overhead o = { .kind = ABI_ACTIVITY_KIND_OVERHEAD,
				    .overhead_kind = 1 << 16,
				    .object_kind = 2,
				    .object = { 100, 200, 300 },
				    .start = 5,
				    .end = 6,
				    .correlation = 9 };

	begin(CUPTI_SINCE_13_0);
	put(&g, sizeof(g));
	put(&s, sizeof(s));
	put(&m, sizeof(m));
	put(&o, sizeof(o));
	CHECK(decode() == 0 && ngot == 4 && d.unknown == 0);
	CHECK(got[0].kind == GPUBPF_ACTIVITY_GRAPH && got[0].graph == 5 && got[0].correlation == 1 &&
	      got[0].flags == 0);
	CHECK(got[1].kind == GPUBPF_ACTIVITY_SYNC && got[1].u.raw[0] == 3 && got[1].u.raw[1] == 7 &&
	      got[1].end == 9);
	CHECK(got[2].kind == GPUBPF_ACTIVITY_MEMORY && got[2].start == 77 && got[2].end == 77 &&
	      got[2].u.raw[0] == 1 << 21);
	CHECK(got[2].u.raw[1] == 0x7f0000000000 && got[2].u.raw[2] == 1 && got[2].u.raw[3] == 3);
	CHECK(got[3].kind == GPUBPF_ACTIVITY_OVERHEAD && got[3].u.raw[0] == 1 << 16 &&
	      got[3].correlation == 9);
	CHECK(got[3].u.raw[2] == (200ull << 32 | 100) && got[3].u.raw[3] == 300);
	/* Before 12.2 an overhead record ends before the correlation id. */
	begin(CUPTI_SINCE_11_8);
	put(&o, offsetof(struct cupti_overhead, correlation));
	CHECK(decode() == 0 && ngot == 1 && got[0].correlation == 0);
}

T(external_correlation)
{
	struct cupti_external e = { .kind = ABI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
				    .external_kind = 3,
				    .id = 0x123456789abcdef0,
				    .correlation = 77,
				    .reserved = 5 };
	struct cupti_record call = { .kind = ABI_ACTIVITY_KIND_DRIVER };

	begin(CUPTI_SINCE_11_0);
	put(&e, sizeof(e));
	put(&call, sizeof(call));
	CHECK(decode() == 0 && ngot == 1 && d.unknown == 0 && d.records == 2);
	CHECK(got[0].kind == GPUBPF_ACTIVITY_EXTERNAL && got[0].correlation == 77 && got[0].session == 7);
	CHECK(got[0].u.raw[0] == 3 && got[0].u.raw[1] == 0x123456789abcdef0 && !got[0].start && !got[0].end);
}

static struct names labels;

T(markers)
{
	struct cupti_marker start = { .kind = ABI_ACTIVITY_KIND_MARKER,
				      .flags = ABI_ACTIVITY_FLAG_MARKER_START,
				      .time = 100,
				      .id = 9,
				      .object_kind = ABI_ACTIVITY_OBJECT_THREAD,
				      .object = { 11, 12, 13 },
				      .name = "step",
				      .domain = "torch" };
	struct cupti_marker end = start, mark = start;

	end.flags = ABI_ACTIVITY_FLAG_MARKER_END;
	end.name = NULL;
	mark.flags = ABI_ACTIVITY_FLAG_MARKER_INSTANTANEOUS;
	mark.domain = NULL;
	mark.object_kind = 1;
	begin(CUPTI_SINCE_11_0);
	memset(&labels, 0, sizeof(labels));
	labels.base = GPUBPF_NAME_LABELS;
	names__begin(&labels, 7);
	d.labels = &labels;
	d.thread_ids = true;
	put(&start, sizeof(start));
	put(&end, sizeof(end));
	put(&mark, sizeof(mark));
	CHECK(decode() == 0 && ngot == 3 && d.unknown == 0 && names.count == 0);
	CHECK(got[0].kind == GPUBPF_ACTIVITY_MARKER && got[0].start == 100 && got[0].end == 100);
	CHECK(got[0].u.raw[0] == 9 && got[0].u.raw[1] == GPUBPF_MARKER_START);
	CHECK(got[0].name == GPUBPF_NAME_LABELS + 1 && got[0].u.raw[2] == GPUBPF_NAME_LABELS + 2);
	CHECK(got[0].flags == GPUBPF_ACTIVITY_HAS_THREAD && got[0].u.raw[3] == 11 && got[0].u.raw[4] == 12);
	CHECK(got[1].u.raw[1] == GPUBPF_MARKER_END && got[1].name == 0 && got[1].u.raw[0] == 9);
	CHECK(got[2].u.raw[1] == GPUBPF_MARKER_INSTANT && got[2].u.raw[2] == 0 && got[2].flags == 0);
	/* pthread's numbers are none of the system's (R12). */
	begin(CUPTI_SINCE_11_0);
	put(&start, sizeof(start));
	CHECK(decode() == 0 && ngot == 1 && got[0].flags == 0 && got[0].u.raw[4] == 0 && got[0].name == 0);
}

T(what_a_marker_gives_beside_its_name)
{
	struct cupti_marker_data m = { .kind = ABI_ACTIVITY_KIND_MARKER_DATA,
				       .flags = ABI_ACTIVITY_FLAG_MARKER_COLOR_ARGB,
				       .id = 9,
				       .payload_kind = GPUBPF_PAYLOAD_INT64,
				       .payload = (uint64_t)-5,
				       .color = 0xff336699,
				       .category = 7 };
	struct cupti_payload *extended = malloc(sizeof(*extended));

	begin(CUPTI_SINCE_11_0);
	put(&m, sizeof(m));
	m.flags = 1; /* CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE */
	m.payload_kind = GPUBPF_PAYLOAD_DOUBLE;
	m.payload = 0x3fd0000000000000;
	put(&m, sizeof(m));
	put(&m, offsetof(struct cupti_marker_data, color));
	CHECK(decode() == 0 && ngot == 2 && d.unknown == 1);
	CHECK(got[0].kind == GPUBPF_ACTIVITY_MARKER_DATA && got[0].session == 7 && !got[0].start);
	CHECK(got[0].u.raw[0] == 9 && got[0].u.raw[1] == 7 && got[0].u.raw[2] == 0xff336699);
	CHECK(got[0].flags == GPUBPF_ACTIVITY_HAS_COLOR && got[0].u.raw[3] == GPUBPF_PAYLOAD_INT64);
	CHECK(got[0].u.raw[4] == (uint64_t)-5);
	CHECK(got[1].flags == 0 && got[1].u.raw[2] == 0 && got[1].u.raw[4] == 0x3fd0000000000000);
	/* CUPTI's copy of a structure is freed, both halves of it, and no address gets out. */
	*extended = (struct cupti_payload){ .schema = 1, .size = 100, .payload = malloc(100) };
	begin(CUPTI_SINCE_13_1);
	m.payload_kind = GPUBPF_PAYLOAD_EXTENDED;
	m.payload = (uintptr_t)extended;
	put(&m, sizeof(m));
	m.payload = 0;
	put(&m, sizeof(m));
	CHECK(decode() == 0 && ngot == 2 && got[0].u.raw[3] == GPUBPF_PAYLOAD_EXTENDED);
	CHECK(got[0].u.raw[4] == 0 && got[1].u.raw[3] == GPUBPF_PAYLOAD_EXTENDED);
}

T(unified_memory)
{
	struct cupti_unified u = { .kind = ABI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
				   .counter = ABI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
				   .value = 1 << 21,
				   .start = 5,
				   .end = 9,
				   .address = 0x7f0000000000,
				   .src = 2,
				   .dst = GPUBPF_UNIFIED_HOST,
				   .stream = 77,
				   .process = 78,
				   .flags = 3 };

	begin(CUPTI_SINCE_11_0);
	put(&u, sizeof(u));
	put(&u, offsetof(struct cupti_unified, flags));
	CHECK(decode() == 0 && ngot == 1 && d.unknown == 1);
	CHECK(got[0].kind == GPUBPF_ACTIVITY_UNIFIED && got[0].start == 5 && got[0].end == 9);
	CHECK(got[0].u.raw[0] == 2 && got[0].u.raw[1] == 1 << 21 && got[0].u.raw[2] == 0x7f0000000000);
	CHECK(got[0].u.raw[3] == 2 && got[0].u.raw[4] == 0xffffffff && got[0].u.raw[5] == 3);
	CHECK(got[0].correlation == 0 && got[0].stream == 0);
}

T(unknown_kinds_are_counted)
{
	struct cupti_kernel k = a_kernel();
	struct cupti_record other = { .kind = 46 }, invalid = { .kind = ABI_ACTIVITY_KIND_INVALID };

	begin(CUPTI_SINCE_13_0);
	put(&other, sizeof(other));
	put(&k, sizeof(k));
	put(&invalid, sizeof(invalid));
	put(&k, sizeof(k));
	CHECK(decode() == 0 && ngot == 2 && d.records == 4 && d.unknown == 2 && d.bad == 0);
	/* A next session counts for itself. */
	decode__begin(&d, &cupti, &names, 8);
	CHECK(d.records == 0 && d.unknown == 0);
}

/* The record would go on behind the buffer's end: it is not read. */
T(cut_record)
{
	struct cupti_kernel k = a_kernel();

	begin(CUPTI_SINCE_13_0);
	put(&k, sizeof(k));
	put(&k, sizeof(k));
	used -= 80;
	CHECK(decode() == 0 && ngot == 1 && d.unknown == 1);
}

T(the_sink_ends_it)
{
	struct cupti_kernel k = a_kernel();

	begin(CUPTI_SINCE_13_0);
	for (int i = 0; i < 5; i++)
		put(&k, sizeof(k));
	stop_at = 3;
	CHECK(decode() == -28 && ngot == 3 && d.records == 3);
}

T(empty_buffer)
{
	begin(CUPTI_SINCE_13_0);
	CHECK(decode__buffer(&d, buf, 0, sink, &got) == 0);
	CHECK(decode__buffer(&d, NULL, 64, sink, &got) == 0);
	CHECK(ngot == 0 && d.bad == 0);
}

T(walk_error)
{
	struct cupti_kernel k = a_kernel();

	begin(CUPTI_SINCE_13_0);
	put(&k, sizeof(k));
	put(&k, sizeof(k));
	walk_error = ABI_ERROR_INVALID_KIND;
	walk_error_at = 1;
	CHECK(decode() == -EIO && ngot == 1 && d.bad == 1 && d.bad_result == ABI_ERROR_INVALID_KIND);
}

static long step, first;

static cupti_result stuck(uint8_t *buffer, size_t valid, struct cupti_record **r)
{
	(void)valid;
	*r = *r ? (void *)((uint8_t *)*r + step) : (void *)(buffer + first);
	return ABI_SUCCESS;
}

/* CUPTI waits for whoever walks: a walk that goes nowhere, backwards or out of the buffer ends. */
T(walk_that_never_ends)
{
	static const long steps[] = { 0, -8, 1 << 20 };
	struct cupti_kernel k = a_kernel();

	for (int i = 0; i < 3; i++) {
		begin(CUPTI_SINCE_13_0);
		put(&k, sizeof(k));
		cupti.activity_get_next_record = stuck;
		step = steps[i];
		CHECK(decode() == -EIO && ngot == 1 && d.bad == 1);
	}
	begin(CUPTI_SINCE_13_0);
	cupti.activity_get_next_record = stuck;
	used = 3;
	CHECK(decode() == -EIO && d.records == 0);
	first = -64;
	step = 4096;
	CHECK(decode__buffer(&d, buf + 64, 256, sink, &got) == -EIO && d.records == 0);
	first = 0;
}

T(facilities)
{
	CHECK(decode__kind_of(GPUBPF_FACILITY_KERNEL) == ABI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	CHECK(decode__kind_of(GPUBPF_FACILITY_COPY) == ABI_ACTIVITY_KIND_MEMCPY);
	CHECK(decode__kind_of(GPUBPF_FACILITY_COPY_PEER) == ABI_ACTIVITY_KIND_MEMCPY2);
	CHECK(decode__kind_of(GPUBPF_FACILITY_SET) == ABI_ACTIVITY_KIND_MEMSET);
	CHECK(decode__kind_of(GPUBPF_FACILITY_SUBSCRIBE) == -1);
	/* What is asked for is decoded, but for the records that only others need. */
	for (int f = 1; f < 64; f++) {
		struct cupti_record r = { .kind = decode__kind_of(f) };
		uint8_t whole[256] = { 0 };

		if (decode__kind_of(f) < 0 || f == GPUBPF_FACILITY_DRIVER_CALLS)
			continue;
		begin(CUPTI_SINCE_13_0);
		memcpy(whole, &r, sizeof(r));
		put(whole, sizeof(whole));
		CHECK(decode() == 0 && ngot == 1 && got[0].kind);
	}
}

TEST_MAIN
