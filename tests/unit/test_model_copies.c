/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "model_fixture.h"

T(copies_of_each_kind_C29)
{
	static const char *const words[] = { "h2d", "d2h", "d2d", "d2a", "a2d", "h2a", "a2h", "a2a", "peer" };

	begin();
	call_n("cuMemcpyHtoD_v2", 3, U(0x7000), U(0), U(1));
	call_n("cuMemcpyDtoHAsync_v2_ptsz", 4, U(0), U(0x7000), U(2), U(0));
	call_n("cuMemcpyDtoD_v2_ptds", 3, U(0x7000), U(0x8000), U(4));
	call_n("cuMemcpyDtoA_v2", 4, U(0xa), U(0), U(0x8000), U(8));
	call_n("cuMemcpyAtoD_v2", 4, U(0x8000), U(0xa), U(0), U(16));
	call_n("cuMemcpyHtoAAsync_v2", 5, U(0xa), U(0), U(0x8000), U(32), U(0));
	call_n("cuMemcpyAtoH_v2", 4, U(0x8000), U(0xa), U(0), U(64));
	call_n("cuMemcpyAtoA_v2", 5, U(0xa), U(0), U(0xb), U(0), U(128));
	call_n("cuMemcpyPeerAsync", 6, U(0x7000), U(1), U(0x8000), U(2), U(256), U(0));
	fx.result = 1;
	call_n("cuMemcpyHtoD_v2", 3, U(0x7000), U(0), U(1000));
	finish();
	for (unsigned i = 0; i < 9; i++) {
		const struct copy_row *r = copy_row(words[i]);

		CHECKF(r->bytes == 1u << i && r->calls.ok == 1 && r->elements == 1 &&
			       r->source == COPY_BY_CALL,
		       "%s", words[i]);
		CHECK(r->sizes.min == 1u << i && r->sizes.max == 1u << i && r->elements_unknown == 0);
	}
	CHECK(fx.m->copies.rows.n == 9 && copy_row("h2d")->calls.failed == 1);
	end();
}

static void copy2d(uint32_t from, uint32_t to)
{
	struct cuda_memcpy2d c = { .src_type = from,
				   .dst_type = to,
				   .src_device = 0x7010,
				   .dst_device = 0x8010,
				   .width = 100,
				   .height = 7,
				   .src_pitch = 512 };

	fx.blob = &c;
	fx.nblob = sizeof(c);
	call_n("cuMemcpy2DAsync_v2", 2, U(0x123), U(0));
}

static void copy3d(const char *symbol, uint32_t from, uint32_t to)
{
	struct cuda_memcpy3d c = { .src_type = from, .dst_type = to, .width = 10, .height = 7, .depth = 3 };

	fx.blob = &c;
	fx.nblob = sizeof(c);
	call_n(symbol, 2, U(0x123), U(0));
}

T(directions_of_copies_by_struct_C29)
{
	begin();
	copy2d(CUDA_MEM_HOST, CUDA_MEM_HOST);
	copy2d(CUDA_MEM_HOST, CUDA_MEM_DEVICE);
	copy2d(CUDA_MEM_DEVICE, CUDA_MEM_HOST);
	copy2d(CUDA_MEM_DEVICE, CUDA_MEM_ARRAY);
	copy3d("cuMemcpy3D_v2", CUDA_MEM_DEVICE, CUDA_MEM_DEVICE);
	copy3d("cuMemcpy3DPeerAsync", CUDA_MEM_DEVICE, CUDA_MEM_DEVICE);
	copy2d(CUDA_MEM_UNIFIED, CUDA_MEM_HOST);
	out_n("cuMemAllocManaged", 0x7000, 3, U(0), U(0x100), U(1));
	copy2d(CUDA_MEM_UNIFIED, CUDA_MEM_HOST);
	fx.more_flags = GPUBPF_CALL_BLOB_FAULT;
	call_n("cuMemcpy2D_v2", 1, U(0x123));
	call_n("cuMemcpy2D", 1, U(0x123));
	finish();
	CHECK(copy_row("h2h")->bytes == 700 && copy_row("h2d")->bytes == 700 &&
	      copy_row("d2h")->bytes == 700);
	CHECK(copy_row("d2a")->bytes == 700 && copy_row("d2d")->bytes == 210 &&
	      copy_row("peer")->bytes == 210);
	CHECK(copy_row("unknown-to-host")->source == COPY_BY_ALLOCATION);
	CHECK(copy_row("managed-to-host")->source == COPY_BY_ALLOCATION &&
	      copy_row("managed-to-host")->bytes == 700);
	CHECK(copy_row("2d")->elements_unknown == 1 && copy_row("2d")->sizes.n == 0);
	CHECK(copy_row("struct32")->elements_unknown == 1 &&
	      copy_row("struct32")->source == COPY_NOT_IN_CALL);
	end();
}

T(unified_copies_are_labelled_by_allocation_C29)
{
	begin();
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(0x100));
	out_n("cuMemHostAlloc", 0x8000, 3, U(0), U(0x100), U(0));
	call_n("cuMemcpyAsync", 4, U(0x7010), U(0x80f0), U(5), U(0));
	call_n("cuMemcpy", 3, U(0x7010), U(0x80f0), U(6));
	call_n("cuMemcpy", 3, U(0x80f0), U(0x7010), U(7));
	call_n("cuMemcpy", 3, U(0x7100), U(0x6fff), U(8));
	call_n("cuMemFree_v2", 1, U(0x7000));
	call_n("cuMemcpy", 3, U(0x7010), U(0x80f0), U(9));
	finish();
	CHECK(copy_row("h2d")->bytes == 11 && copy_row("h2d")->source == COPY_BY_ALLOCATION);
	CHECK(copy_row("d2h")->bytes == 7);
	CHECK(copy_row("unified")->bytes == 8 && copy_row("unified")->source == COPY_NOT_IN_CALL);
	CHECK(strcmp(copy_row("unified")->text, "unified (direction not in the call)") == 0);
	CHECK(copy_row("host-to-unknown")->bytes == 9);
	call_n("cuMemcpyHtoD_v2", 3, U(0x7010), U(0), U(1));
	CHECK(fx.m->copies.rows.n == 5);
	end();
}

T(batches_say_what_is_unknown_R14)
{
	uint64_t sizes[] = { 10, 20, 30 };
	const struct copy_row *r;

	begin();
	fx.blob = sizes;
	fx.nblob = sizeof(sizes);
	call_n("cuMemcpyBatchAsync_v2", 8, U(1), U(2), U(3), U(3), U(4), U(5), U(6), U(0));
	fx.blob = sizes;
	fx.nblob = 16;
	fx.more_flags = GPUBPF_CALL_BLOB_TRUNC;
	call_n("cuMemcpyBatchAsync", 9, U(1), U(2), U(3), U(100), U(4), U(5), U(6), U(7), U(0));
	call_n("cuMemcpy3DBatchAsync_v2", 4, U(12), U(1), U(0), U(0));
	finish();
	r = copy_row("batch");
	CHECK(r->calls.ok == 2 && r->elements == 103 && r->bytes == 90 && r->elements_unknown == 98);
	CHECK(r->sizes.n == 5 && r->sizes.max == 30 && r->sizes.min == 10);
	r = copy_row("batch3d");
	CHECK(r->elements == 12 && r->elements_unknown == 12 && r->bytes == 0);
	end();
}

T(sets_by_element_size)
{
	begin();
	call_n("cuMemsetD8_v2", 3, U(0x7000), U(0xfff), U(5));
	call_n("cuMemsetD16Async", 4, U(0x7000), U(1), U(5), U(0));
	call_n("cuMemsetD2D32_v2", 5, U(0x7000), U(512), U(1), U(10), U(3));
	fx.result = 1;
	call_n("cuMemsetD8_v2", 3, U(0x7000), U(0), U(5));
	finish();
	CHECK(fx.m->copies.sets[1].bytes == 5 && fx.m->copies.sets[1].calls.failed == 1);
	CHECK(fx.m->copies.sets[2].bytes == 10 && fx.m->copies.sets[3].bytes == 120);
	end();
}

T(sizes_that_do_not_fit_do_not_wrap)
{
	begin();
	call_n("cuMemcpyHtoD_v2", 3, U(0x7000), U(0), U(-1));
	call_n("cuMemcpyHtoD_v2", 3, U(0x7000), U(0), U(-1));
	call_n("cuMemsetD32_v2", 3, U(0x7000), U(0), U(-1));
	finish();
	CHECK(copy_row("h2d")->bytes == UINT64_MAX);
	CHECK(fx.m->copies.sets[3].unknown == 1);
	end();
}

TEST_MAIN
