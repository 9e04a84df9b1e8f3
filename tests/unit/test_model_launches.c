/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "model_fixture.h"

T(rows_are_launch_keys_R24)
{
	uint64_t blocks;
	const struct launch_row *r;

	begin();
	call_n("cuLaunchKernel", 11, U(0x1000), U(2), U(3), U(4), U(32), U(2), U(1), U(128), U(0xa0), U(0),
	       U(0));
	call_n("cuLaunchKernel", 11, U(0x1000), U(2), U(3), U(4), U(32), U(2), U(1), U(128), U(0xb0), U(0),
	       U(0));
	call_n("cuLaunchKernel", 11, U(0x1000), U(2), U(3), U(4), U(32), U(2), U(1), U(256), U(0xa0), U(0),
	       U(0));
	fx.result = 701;
	call_n("cuLaunchKernel", 11, U(0x1000), U(2), U(3), U(4), U(32), U(2), U(1), U(128), U(0xc0), U(0),
	       U(0));
	call_n("cuLaunch", 1, U(0x1000));
	call_n("cuLaunchGrid", 3, U(0x1000), U(7), U(2));
	finish();
	CHECK(fx.m->launches.merged.n == 4);
	r = launch_row(0);
	CHECK(r->calls.ok == 2 && r->calls.failed == 1 && launch_row__streams(r) == 2);
	CHECK(r->key.grid[2] == 4 && r->key.block[0] == 32 && r->key.shared == 128);
	CHECK(launch_row__blocks(r, &blocks) && blocks == 24);
	CHECK(!(r->key.has & LAUNCH_HAS_CLUSTER) && !(r->key.has & LAUNCH_CLUSTER_UNREAD));
	CHECK(launch_row(1)->key.shared == 256);
	CHECK(launch_row(2)->key.has == LAUNCH_HAS_FUNC && !launch_row__blocks(launch_row(2), &blocks));
	CHECK(launch_row(3)->key.has == (LAUNCH_HAS_FUNC | LAUNCH_HAS_GRID) &&
	      launch_row__blocks(launch_row(3), &blocks) && blocks == 14);
	end();
}

static void launch_ex(unsigned nattrs, unsigned held, uint32_t flags)
{
	struct {
		struct cuda_launch_config config;
		struct cuda_launch_attribute attr[3];
	} b = { .config = { .grid = { 8, 1, 1 },
			    .block = { 128, 1, 1 },
			    .shared = 64,
			    .stream = 0xa0,
			    .nattrs = nattrs } };

	b.attr[0].id = 8;
	b.attr[1].id = CUDA_LAUNCH_ATTRIBUTE_CLUSTER;
	b.attr[1].value[0] = 4;
	b.attr[1].value[1] = 2;
	b.attr[1].value[2] = 1;
	fx.blob = &b;
	fx.nblob = sizeof(b.config) + held * sizeof(b.attr[0]);
	fx.more_flags = flags;
	call_n("cuLaunchKernelEx", 4, U(0x9999), U(0x1000), U(0), U(0));
}

T(cluster_is_from_the_attributes)
{
	begin();
	launch_ex(2, 2, 0);
	launch_ex(0, 0, 0);
	launch_ex(2, 1, GPUBPF_CALL_BLOB_TRUNC);
	launch_ex(2, 0, GPUBPF_CALL_BLOB_FAULT);
	fx.more_flags = GPUBPF_CALL_BLOB_FAULT;
	call_n("cuLaunchKernelEx", 4, U(0x9999), U(0x1000), U(0), U(0));
	finish();
	CHECK(fx.m->launches.merged.n == 4);
	CHECK((launch_row(0)->key.has & LAUNCH_HAS_CLUSTER) && launch_row(0)->key.cluster[0] == 4 &&
	      launch_row(0)->key.cluster[1] == 2);
	CHECK(launch_row(0)->key.grid[0] == 8 && launch_row(0)->key.shared == 64);
	CHECK(!(launch_row(1)->key.has & (LAUNCH_HAS_CLUSTER | LAUNCH_CLUSTER_UNREAD)));
	CHECK((launch_row(2)->key.has & LAUNCH_CLUSTER_UNREAD) && launch_row(2)->calls.ok == 2);
	CHECK(launch_row(3)->key.has == (LAUNCH_HAS_FUNC | LAUNCH_CLUSTER_UNREAD));
	CHECK(launch_row(3)->streams_unknown);
	end();
}

T(default_streams)
{
	begin();
	launch_on("cuLaunchKernel", 0x1000, 1, CUDA_STREAM_NULL);
	launch_on("cuLaunchKernel", 0x1000, 1, CUDA_STREAM_LEGACY);
	CHECK(model__finish(fx.m) == 0 && launch_row__streams(launch_row(0)) == 1);
	fx.tid = 101;
	launch_on("cuLaunchKernel_ptsz", 0x1000, 1, CUDA_STREAM_NULL);
	launch_on("cuLaunchKernel", 0x1000, 1, CUDA_STREAM_PER_THREAD);
	CHECK(model__finish(fx.m) == 0 && launch_row__streams(launch_row(0)) == 2);
	fx.tid = 102;
	launch_on("cuLaunchKernel_ptsz", 0x1000, 1, CUDA_STREAM_NULL);
	for (uint64_t s = 0; s < 200; s++)
		launch_on("cuLaunchKernel", 0x1000, 1, 0x5000 + s);
	finish();
	CHECK(launch_row__streams(launch_row(0)) == 203 && launch_row(0)->calls.ok == 205);
	end();
}

T(launches_in_stream_capture_did_not_run)
{
	begin();
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	launch_on("cuLaunchKernel", 0x1000, 1, 0xb0);
	launch_on("cuLaunchKernel", 0x1000, 9, 0xa0);
	fx.tgid = 200;
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	fx.tgid = 100;
	call_n("cuMemcpyHtoDAsync_v2", 4, U(0x7000), U(0), U(10), U(0xa0));
	out_n("cuMemAllocAsync", 0x7000, 3, U(0), U(10), U(0xa0));
	out_n("cuStreamEndCapture", 0x66, 2, U(0xa0), U(0));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	finish();
	CHECK(launch_row(0)->calls.ok == 3 && launch_row(0)->calls.captured == 1);
	CHECK(launch_row(1)->calls.captured == 1 && launch_row__streams(launch_row(1)) == 0);
	CHECK(launch_row(2)->calls.ok == 1 && launch_row(2)->calls.captured == 0);
	CHECK(copy_row("h2d")->calls.captured == 1 && copy_row("h2d")->bytes == 0);
	CHECK(copy_row("h2d")->captured_bytes == 10);
	CHECK(fx.m->allocs.row[MEM_POOL].calls.captured == 1 && fx.m->allocs.row[MEM_POOL].allocated.n == 0);
	CHECK(fx.m->graphs.counts.captures_begun == 1 && fx.m->graphs.counts.captures_ended == 1);
	CHECK(fx.m->graphs.counts.captures_open == 0);
	end();
}

T(one_of_two_captures_ends)
{
	begin();
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	call_n("cuStreamBeginCapture_v2", 2, U(0xb0), U(1));
	out_n("cuStreamEndCapture", 0x66, 2, U(0xa0), U(0));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	launch_on("cuLaunchKernel", 0x1000, 1, 0xb0);
	finish();
	CHECK(launch_row(0)->calls.ok == 1 && launch_row(0)->calls.captured == 1);
	end();
}

T(captures_fail_stay_open_and_end_unseen)
{
	begin();
	fx.result = 900;
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	out_n("cuStreamEndCapture", 0x66, 2, U(0xa0), U(0));
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	fx.result = CUDA_RESULT_CAPTURE_WRONG_THREAD;
	call_n("cuStreamEndCapture", 2, U(0xa0), U(0));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	fx.result = 901;
	call_n("cuStreamEndCapture", 2, U(0xa0), U(0));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	call_n("cuStreamBeginCapture", 1, U(0xb0));
	finish();
	CHECK(launch_row(0)->calls.ok == 2 && launch_row(0)->calls.captured == 1);
	CHECK(fx.m->graphs.counts.captures_begun == 2 && fx.m->graphs.counts.captures_failed == 1);
	CHECK(fx.m->graphs.counts.ends_unseen == 1 && fx.m->graphs.counts.captures_open == 1);
	end();
}

static const struct graph_row *graph_row(size_t i)
{
	return graphs__row(&fx.m->graphs, i);
}

T(graph_launches_go_to_their_executable_graph_C3)
{
	begin();
	call_n("cuGraphLaunch", 2, U(0xe0), U(0));
	out_n("cuGraphInstantiateWithFlags", 0xe1, 3, U(0), U(0x90), U(0));
	call_n("cuGraphLaunch", 2, U(0xe1), U(0));
	call_n("cuGraphLaunch_ptsz", 2, U(0xe1), U(0));
	fx.result = 1;
	call_n("cuGraphLaunch", 2, U(0xe1), U(0));
	call_n("cuGraphExecDestroy", 1, U(0xe1));
	out_n("cuGraphInstantiate_v2", 0xe1, 3, U(0), U(0x91), U(0));
	call_n("cuGraphLaunch", 2, U(0xe1), U(0));
	fx.result = 1;
	call_n("cuGraphInstantiateWithFlags", 3, U(0), U(0x90), U(0));
	finish();
	CHECK(fx.m->graphs.rows.n == 3);
	CHECK(!graph_row(0)->instantiated && graph_row(0)->launches.ok == 1);
	CHECK(graph_row(1)->instantiated && graph_row(1)->launches.ok == 2 &&
	      graph_row(1)->launches.failed == 1);
	CHECK(graph_row(2)->instantiated && graph_row(2)->launches.ok == 1);
	CHECK(fx.m->graphs.counts.instantiate.ok == 2 && fx.m->graphs.counts.instantiate.failed == 1);
	CHECK(fx.m->graphs.counts.exec_destroy.ok == 1);
	end();
}

T(entry_only_launches_are_calls_R19)
{
	begin();
	fx.flags = 0;
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xa0);
	finish();
	CHECK(launch_row(0)->calls.unknown == 1 && launch_row(0)->calls.ok == 0 &&
	      launch_row(0)->calls.captured == 1);
	CHECK(launch_row(0)->timed == 0 && launch_row__streams(launch_row(0)) == 1);
	end();
}

/* A capture goes on to every stream that waits for an event of it (CUDA's own way to capture several streams). */
T(streams_join_a_capture_by_an_event)
{
	begin();
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	launch_on("cuLaunchKernel", 0x1000, 1, 0xb0); /* not joined yet: it ran */
	call_n("cuEventRecord", 2, U(0xe0), U(0xa0));
	call_n("cuEventRecord", 2, U(0xe2), U(0xc0)); /* of a stream that is in no capture */
	call_n("cuStreamWaitEvent", 3, U(0xb0), U(0xe0), U(0));
	call_n("cuStreamWaitEvent", 3, U(0xd0), U(0xe2), U(0));
	launch_on("cuLaunchKernel", 0x2000, 1, 0xb0);
	launch_on("cuLaunchKernel", 0x3000, 1, 0xd0);
	call_n("cuEventRecord", 2, U(0xe1), U(0xb0)); /* and on from there */
	call_n("cuStreamWaitEvent", 3, U(0xf0), U(0xe1), U(0));
	launch_on("cuLaunchKernel", 0x4000, 1, 0xf0);
	call_n("cuStreamWaitEvent", 3, U(0xa0), U(0xe1), U(0)); /* joins back */
	launch_on("cuLaunchKernel", 0x5000, 1, 0xa0);
	out_n("cuStreamEndCapture", 0x70, 2, U(0xa0), U(0));
	launch_on("cuLaunchKernel", 0x6000, 1, 0xb0); /* over for all of them */
	launch_on("cuLaunchKernel", 0x7000, 1, 0xf0);
	call_n("cuStreamWaitEvent", 3, U(0xb0), U(0xe0), U(0)); /* an event of a capture that is over */
	call_n("cuStreamBeginCapture_v2", 2, U(0xa0), U(1));
	launch_on("cuLaunchKernel", 0x8000, 1, 0xb0);
	out_n("cuStreamEndCapture", 0x71, 2, U(0xa0), U(0));
	finish();
	for (unsigned i = 0; i < 8; i++) {
		const struct launch_row *r = launch_row(i);
		bool captured = i == 1 || i == 3 || i == 4;

		CHECKF(r->handle == 0x1000 * (i + 1u) && r->calls.captured == captured &&
			       r->calls.ok == !captured,
		       "launch %u", i + 1);
	}
	end();
}

TEST_MAIN
