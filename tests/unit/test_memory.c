/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Live memory over time, what was never freed, pools and placement: what stays bounded, and what a hostile file does. */
#include "../t.h"

#include "model_fixture.h"

#define M (fx.m->memory)

static void begin_memory(bool stacks)
{
	begin_with((struct model_opts){ .memory = true, .stacks = stacks });
}

T(points_stay_64_whatever_the_time)
{
	uint64_t changes = 0, last = 0;

	begin_memory(false);
	for (int i = 0; i < 3000; i++) {
		out_n("cuMemAlloc_v2", 0x1000 + 0x1000 * U(i), 2, U(0), U(16));
		fx.now += i < 2000 ? 1000 : 1000000;
		if (i % 2)
			call_n("cuMemFree_v2", 1, 0x1000 + 0x1000 * U(i));
	}
	finish();
	CHECK(M->points <= MEMORY_POINTS && M->points > MEMORY_POINTS / 4);
	for (unsigned i = 0; i < M->points; i++) {
		changes += M->point[i].changes;
		if (M->point[i].changes) {
			CHECK(M->point[i].peak >= M->point[i].bytes && M->point[i].bytes >= last);
			CHECK(M->point[i].kind[MEM_DEVICE] == M->point[i].bytes);
			last = M->point[i].bytes;
		}
	}
	CHECK(changes == 4500 && last == 1500 * 16);
	CHECK(M->total.bytes == 1501 * 16 - 16 || M->total.bytes == 1501 * 16);
	end();
}

T(times_may_be_anything)
{
	begin_memory(false);
	fx.now = UINT64_MAX - 100;
	out_n("cuMemAlloc_v2", 0x1000, 2, U(0), U(16));
	fx.now = 3;
	out_n("cuMemAlloc_v2", 0x2000, 2, U(0), U(16));
	fx.now = UINT64_MAX - 40;
	call_n("cuMemFree_v2", 1, U(0x2000));
	finish();
	CHECK(M->points >= 1 && M->points <= MEMORY_POINTS);
	CHECK(M->point[M->points - 1].n == 1);
	end();
	begin_memory(false);
	fx.now = 1;
	out_n("cuMemAllocAsync", UINT64_MAX - 8, 3, U(0), U(4096), U(0));
	fx.now = UINT64_MAX - 40;
	out_n("cuMemAllocAsync", 0x100, 3, U(0), UINT64_MAX, U(0));
	call_n("cuMemPrefetchAsync", 4, U(0x100), UINT64_MAX, U(0), U(0));
	call_n("cuMemPrefetchAsync", 4, U(0x100), UINT64_MAX, U(0), U(0));
	finish();
	CHECK(M->points <= MEMORY_POINTS);
	CHECK(((struct memory_place *)hmap__at(&M->places, 0))->bytes == UINT64_MAX);
	end();
}

T(what_is_left_is_told_apart_by_size_or_by_call)
{
	for (int stacks = 0; stacks < 2; stacks++) {
		const struct memory_left *l;

		begin_memory(stacks);
		for (int i = 0; i < 10; i++)
			out_n("cuMemAlloc_v2", 0x1000 + 0x1000 * U(i), 2, U(0), U(i < 7 ? 64 : 128));
		call_n("cuMemFree_v2", 1, U(0x1000));
		task(GPUBPF_TASK_EXIT, 100, 0);
		finish();
		CHECK(M->left.n == (stacks ? 9 : 2));
		l = hmap__at(&M->left, 0);
		CHECK(l->n == (stacks ? 1 : 6) && l->bytes == 64 && l->proc->end == PROC_EXITED);
		CHECK(M->point[M->points - 1].n == 0);
		end();
	}
}

T(what_is_live_at_the_end_is_left_and_still_counts_as_live)
{
	begin_memory(false);
	out_n("cuMemAlloc_v2", 0x1000, 2, U(0), U(64));
	/* given out again: its free was not recorded */
	out_n("cuMemAlloc_v2", 0x1000, 2, U(0), U(32));
	finish();
	CHECK(M->left.n == 1 && ((struct memory_left *)hmap__at(&M->left, 0))->bytes == 32);
	CHECK(fx.m->allocs.row[MEM_DEVICE].live.bytes == 32 &&
	      fx.m->allocs.row[MEM_DEVICE].lost_track.n == 1);
	CHECK(M->total.bytes == 64);
	end();
}

T(pools_join_the_addresses_that_they_hand_out)
{
	const struct memory_pool *p;

	begin_memory(false);
	/* backwards, with alignment between them, then one over all */
	for (int i = 9; i >= 0; i--)
		out_n("cuMemAllocFromPoolAsync", 0x10000 + 0x400 * U(i), 4, U(0), U(0x3f0), U(0x55), U(0));
	p = hmap__at(&M->pools, 0);
	CHECK(p->nstretches == 1 && p->stretches[0].from == 0x10000 &&
	      p->stretches[0].to == 0x10000 + 0x400 * 9 + 0x3f0);
	out_n("cuMemAllocFromPoolAsync", 0x20000, 4, U(0), U(0x400), U(0x55), U(0));
	out_n("cuMemAllocFromPoolAsync", 0x30000, 4, U(0), U(0x400), U(0x55), U(0));
	CHECK(p->nstretches == 3 && !p->scattered);
	call_n("cuMemFreeAsync", 2, U(0x20000), U(0));
	out_n("cuMemAllocFromPoolAsync", 0x1f000, 4, U(0), U(0x12000), U(0x55), U(0));
	CHECK(p->nstretches == 1 + 1 && p->stretches[1].to == 0x31000);
	CHECK(p->freed == 1 && p->live == 12 && p->peak.n == 12);
	for (int i = 0; i < 2 * MEMORY_STRETCHES; i++)
		out_n("cuMemAllocAsync", 0x1000000 + 0x1000 * U(i), 3, U(0), U(8), U(0));
	p = hmap__at(&M->pools, 1);
	CHECK(p->scattered && p->nstretches == MEMORY_STRETCHES);
	finish();
	end();
}

T(places_keep_what_they_name)
{
	const struct memory_place *p;

	begin_memory(false);
	out_n("cuMemAllocManaged", 0x1000, 3, U(0), U(4096), U(1));
	fx.more_flags = GPUBPF_CALL_STACK_FAULT;
	call_n("cuMemAdvise", 4, U(0x1000), U(64), U(5), U(0xffffffff));
	call_n("cuMemAdvise", 4, U(0x9000), U(64), U(2), U(7));
	call_n("cuMemAdvise_v2", 4, U(0x1000), U(64), U(99), U(0));
	call_n("cuMemAdvise_v2", 4, U(0x1000), U(64), U(3), U(4));
	finish();
	p = hmap__at(&M->places, 0);
	CHECK(p->key[2] == (uint64_t)MEMORY_HOST << 32 && p->managed == 1);
	p = hmap__at(&M->places, 1);
	CHECK(p->key[2] == 0 && p->managed == 0 && p->elsewhere == 0 && tally__done(&p->calls) == 1);
	p = hmap__at(&M->places, 3);
	CHECK(p->key[2] == (uint64_t)MEMORY_HOST_NODE_CURRENT << 32);
	end();
}

TEST_MAIN
