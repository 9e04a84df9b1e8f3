/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "model_fixture.h"

#define ROW(kind) (fx.m->allocs.row[kind])
#define FREES(kind) (fx.m->allocs.frees[kind])

static void balance(void)
{
	for (int k = 0; k < MEM_KINDS; k++) {
		const struct mem_row *r = &ROW(k);

		CHECK(r->allocated.n ==
		      r->freed.n + r->exited.n + r->lost_track.n + r->live.n + r->no_address.n);
		CHECK(r->allocated.bytes == r->freed.bytes + r->exited.bytes + r->lost_track.bytes +
						    r->live.bytes + r->no_address.bytes);
	}
}

T(frees_match_across_threads)
{
	begin();
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(100));
	out_n("cuMemAlloc_v2", 0x8000, 2, U(0), U(50));
	fx.tid = 101;
	call_n("cuMemFree_v2", 1, U(0x7000));
	fx.result = 1;
	call_n("cuMemFree_v2", 1, U(0x8000));
	call_n("cuMemFree_v2", 1, U(0x9000));
	call_n("cuMemFree_v2", 1, U(0));
	fx.result = 2;
	call_n("cuMemAlloc_v2", 2, U(0), U(1u << 30));
	finish();
	CHECK(ROW(MEM_DEVICE).allocated.n == 2 && ROW(MEM_DEVICE).allocated.bytes == 150);
	CHECK(ROW(MEM_DEVICE).calls.failed == 1);
	CHECK(ROW(MEM_DEVICE).freed.n == 1 && ROW(MEM_DEVICE).live.n == 1 &&
	      ROW(MEM_DEVICE).live.bytes == 50);
	CHECK(ROW(MEM_DEVICE).peak_bytes == 150 && fx.m->allocs.total_peak == 150);
	CHECK(FREES(MEM_DEVICE).matched == 1 && FREES(MEM_DEVICE).unknown == 1 &&
	      FREES(MEM_DEVICE).null == 1);
	CHECK(FREES(MEM_DEVICE).calls.failed == 1);
	balance();
	end();
}

T(pool_memory_is_tracked_by_kind_C16)
{
	begin();
	out_n("cuMemAllocAsync", 0x7000, 3, U(0), U(100), U(0xa0));
	out_n("cuMemAllocFromPoolAsync_ptsz", 0x8000, 4, U(0), U(200), U(0x55), U(0));
	out_n("cuMemAllocAsync", 0x9000, 3, U(0), U(300), U(0xa0));
	call_n("cuMemFreeAsync", 2, U(0x7000), U(0xb0));
	call_n("cuMemFree_v2", 1, U(0x8000));
	finish();
	CHECK(ROW(MEM_POOL).allocated.n == 3 && ROW(MEM_POOL).allocated.bytes == 600);
	CHECK(ROW(MEM_POOL).freed.n == 2 && ROW(MEM_POOL).live.bytes == 300 &&
	      ROW(MEM_POOL).peak_bytes == 600);
	CHECK(FREES(MEM_POOL).matched == 1 && FREES(MEM_DEVICE).matched == 1);
	balance();
	end();
}

T(every_kind_of_memory)
{
	uint64_t pitch = 512;

	begin();
	fx.blob = &pitch;
	fx.nblob = 8;
	out_n("cuMemAllocPitch_v2", 0x1000, 5, U(0), U(0), U(500), U(4), U(4));
	out_n("cuMemAllocManaged", 0x2000, 3, U(0), U(64), U(1));
	out_n("cuMemHostAlloc", 0x3000, 3, U(0), U(65), U(0));
	call_n("cuMemHostRegister_v2", 3, U(0x4000), U(66), U(0));
	out_n("cuMemCreate", 0x1000, 4, U(0), U(67), U(0), U(0));
	out_n("cuArrayCreate_v2", 0x5000, 2, U(0), U(0));
	finish();
	CHECK(ROW(MEM_PITCH).allocated.bytes == 2048);
	CHECK(ROW(MEM_MANAGED).live.bytes == 64 && ROW(MEM_HOST).live.bytes == 65 &&
	      ROW(MEM_REGISTERED).live.bytes == 66);
	CHECK(ROW(MEM_VIRTUAL).live.bytes == 67);
	CHECK(ROW(MEM_ARRAY).allocated.n == 1 && ROW(MEM_ARRAY).bytes_unknown == 1);
	call_n("cuMemFree_v2", 1, U(0x1000));
	call_n("cuMemFree_v2", 1, U(0x2000));
	call_n("cuMemFreeHost", 1, U(0x3000));
	call_n("cuMemHostUnregister", 1, U(0x4000));
	call_n("cuMemRelease", 1, U(0x1000));
	call_n("cuArrayDestroy", 1, U(0x5000));
	for (int k = 0; k < MEM_KINDS; k++)
		CHECKF(ROW(k).live.n == 0 && FREES(k).unknown == 0, "%s", mem_kind_names[k]);
	CHECK(fx.m->allocs.total_live.n == 0);
	balance();
	end();
}

T(memory_ends_with_its_process)
{
	begin();
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(100));
	task(GPUBPF_TASK_FORK, 200, 100);
	fx.tgid = 200;
	call_n("cuMemFree_v2", 1, U(0x7000));
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(30));
	fx.tgid = 100;
	task(GPUBPF_TASK_EXIT, 100, 0);
	finish();
	CHECK(ROW(MEM_DEVICE).exited.n == 1 && ROW(MEM_DEVICE).exited.bytes == 100);
	CHECK(ROW(MEM_DEVICE).live.bytes == 30 && FREES(MEM_DEVICE).unknown == 1 &&
	      FREES(MEM_DEVICE).matched == 0);
	balance();
	end();
}

/* Thread A frees; the driver hands the address to thread B before A's record is written. */
T(an_address_given_out_again_is_told_apart_by_time)
{
	uint64_t before;

	begin();
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(100));
	before = fx.now;
	fx.now += 5;
	fx.took = 1;
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(40));
	fx.now = before;
	fx.took = 20;
	call_n("cuMemFree_v2", 1, U(0x7000));
	CHECK(ROW(MEM_DEVICE).freed.bytes == 100 && ROW(MEM_DEVICE).live.bytes == 40);
	call_n("cuMemFree_v2", 1, U(0x7000));
	CHECK(ROW(MEM_DEVICE).freed.bytes == 140 && ROW(MEM_DEVICE).live.n == 0);
	/* a free that was entered before any allocation seen was handed out: of one that was not seen */
	before = fx.now;
	fx.now += 5;
	fx.took = 1;
	out_n("cuMemAlloc_v2", 0x8000, 2, U(0), U(3));
	out_n("cuMemAlloc_v2", 0x8000, 2, U(0), U(4));
	fx.now = before;
	fx.took = 60;
	call_n("cuMemFree_v2", 1, U(0x8000));
	CHECK(FREES(MEM_DEVICE).unknown == 1 && ROW(MEM_DEVICE).live.n == 1 &&
	      ROW(MEM_DEVICE).lost_track.bytes == 3);
	/* two frees of one address in flight: the later allocation's free is written first */
	fx.took = 1;
	before = fx.now;
	out_n("cuMemAllocAsync", 0x9000, 3, U(0), U(10), U(1));
	fx.now += 100;
	out_n("cuMemAllocAsync", 0x9000, 3, U(0), U(20), U(2));
	call_n("cuMemFreeAsync", 2, U(0x9000), U(2));
	CHECK(ROW(MEM_POOL).freed.bytes == 20 && ROW(MEM_POOL).lost_track.bytes == 10);
	fx.now = before + 50;
	fx.took = 1000;
	call_n("cuMemFreeAsync", 2, U(0x9000), U(1));
	CHECK(ROW(MEM_POOL).freed.bytes == 30 && ROW(MEM_POOL).lost_track.n == 0);
	fx.took = 1;
	/* a free that was not recorded */
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(1));
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(2));
	call_n("cuMemFree_v2", 1, U(0x7000));
	CHECK(ROW(MEM_DEVICE).lost_track.bytes == 4 && ROW(MEM_DEVICE).freed.bytes == 142);
	finish();
	balance();
	end();
}

T(memory_without_an_address_stays_visible_R14)
{
	begin();
	fx.more_flags = GPUBPF_CALL_OUT_FAULT;
	call_n("cuMemAlloc_v2", 2, U(0), U(100));
	fx.flags = 0;
	call_n("cuMemAllocManaged", 3, U(0), U(64), U(1));
	call_n("cuMemFree_v2", 1, U(0x7000));
	finish();
	CHECK(ROW(MEM_DEVICE).no_address.n == 1 && ROW(MEM_DEVICE).live.n == 0);
	CHECK(ROW(MEM_MANAGED).no_address.bytes == 64 && ROW(MEM_MANAGED).calls.unknown == 1);
	CHECK(FREES(MEM_DEVICE).unmatched == 1 && FREES(MEM_DEVICE).unknown == 0);
	balance();
	end();
}

T(the_tree_of_live_memory_holds)
{
	enum { N = 3000 };
	static bool live[N];
	uint64_t seed = 7, want = 0;
	enum mem_kind kind;
	const struct proc *p;

	begin();
	for (int i = 0; i < 20000; i++) {
		unsigned k;

		seed = seed * 6364136223846793005u + 1442695040888963407u;
		k = (unsigned)(seed >> 33) % N;
		if (live[k])
			call_n("cuMemFree_v2", 1, U(0x100000 + k * 0x100));
		else
			out_n("cuMemAlloc_v2", U(0x100000 + k * 0x100), 2, U(0), U(0x80));
		live[k] = !live[k];
	}
	finish();
	p = hmap__at(&fx.m->procs.lives, 0);
	for (unsigned k = 0; k < N; k++) {
		want += live[k];
		CHECK(allocs__find(p, 0x100000 + k * 0x100 + 0x7f, &kind) == live[k]);
		CHECK(!allocs__find(p, 0x100000 + k * 0x100 + 0x80, &kind));
	}
	CHECK(ROW(MEM_DEVICE).live.n == want && FREES(MEM_DEVICE).unknown == 0);
	balance();
	end();
}

TEST_MAIN
