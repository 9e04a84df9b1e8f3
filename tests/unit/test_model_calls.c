/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "model_fixture.h"

#define STAT(symbol) (fx.m->apis[api_id(symbol)])

static const struct thread *thread_of(uint32_t tid)
{
	for (size_t i = 0; i < fx.m->procs.threads.n; i++) {
		const struct thread *th = hmap__at(&fx.m->procs.threads, i);

		if (th->tid == tid)
			return th;
	}
	return NULL;
}

T(threads_get_their_own_calls_C28)
{
	begin_with((struct model_opts){ .threads = true });
	for (int i = 0; i < 10; i++) {
		fx.tid = 101;
		launch(0x1000, 1);
		fx.tid = 102;
		launch(0x1000, 1);
	}
	fx.tid = 102;
	call_n("cuCtxSynchronize", 0);
	finish();
	for (uint32_t tid = 101; tid <= 102; tid++) {
		const struct thread *th = thread_of(tid);

		CHECK(th && th->calls == (tid == 101 ? 10 : 11));
		CHECK(th && th->stats[api_id("cuLaunchKernel")]->calls == 10);
	}
	CHECK(!thread_of(101)->stats[api_id("cuCtxSynchronize")]);
	CHECK(STAT("cuLaunchKernel").calls == 20);
	CHECK(launch_row(0)->calls.ok == 20 && fx.m->launches.merged.n == 1);
	end();
}

T(threads_whose_ids_are_256_apart_C28)
{
	begin();
	for (int i = 0; i < 3; i++) {
		fx.tid = 101;
		launch(0x1000, 1);
		fx.tid = 101 + 256;
		launch(0x1000, 1);
	}
	finish();
	CHECK(thread_of(101)->calls == 3 && thread_of(101 + 256)->calls == 3);
	end();
}

T(nested_calls_count_apart)
{
	begin();
	fx.depth = 1;
	launch(0x1000, 1);
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(100));
	call_n("cuMemcpyHtoD_v2", 3, U(0x7000), U(0), U(10));
	fx.depth = 0;
	launch(0x1000, 1);
	finish();
	CHECK(STAT("cuLaunchKernel").calls == 1 && STAT("cuLaunchKernel").nested == 1);
	CHECK(STAT("cuLaunchKernel").time.n == 1);
	CHECK(launch_row(0)->calls.ok == 1);
	CHECK(fx.m->allocs.row[MEM_DEVICE].allocated.n == 0 && fx.m->copies.rows.n == 0);
	end();
}

T(failures_and_not_ready)
{
	const struct failure *f;

	begin();
	fx.result = CUDA_RESULT_NOT_READY;
	call_n("cuStreamQuery", 1, U(0));
	call_n("cuStreamQuery", 1, U(0));
	fx.result = 2;
	call_n("cuMemAlloc_v2", 2, U(0), U(100));
	fx.result = 719;
	call_n("cuStreamQuery", 1, U(0));
	finish();
	CHECK(STAT("cuStreamQuery").calls == 3 && STAT("cuStreamQuery").failed == 1);
	CHECK(STAT("cuStreamQuery").not_ready == 1);
	CHECK(STAT("cuMemAlloc_v2").failed == 1);
	CHECK(fx.m->failures.n == 2);
	f = hmap__at(&fx.m->failures, 1);
	CHECK(f->key[0] == api_id("cuStreamQuery") && f->key[1] == 719 && f->calls == 1);
	CHECK(strcmp(cuda_result_name(719), "CUDA_ERROR_LAUNCH_FAILED") == 0);
	CHECK(strcmp(cuda_result_name(0), "CUDA_SUCCESS") == 0 &&
	      strcmp(cuda_result_name(999), "CUDA_ERROR_UNKNOWN") == 0);
	CHECK(!cuda_result_name(4711) && !cuda_result_name(-1));
	end();
}

T(times_are_measured_or_absent_R14_R19)
{
	uint64_t v;

	begin();
	fx.took = 1000;
	call_n("cuCtxSynchronize", 0);
	fx.flags = GPUBPF_CALL_OPEN;
	call_n("cuCtxSynchronize", 0);
	launch(0x1000, 1);
	fx.flags = 0;
	call_n("cuStreamSynchronize", 1, U(0));
	fx.flags = GPUBPF_CALL_RETURNED;
	fx.took = U(-500);
	call_n("cuCtxSynchronize", 0);
	finish();
	CHECK(STAT("cuCtxSynchronize").calls == 3 && STAT("cuCtxSynchronize").open == 1);
	CHECK(STAT("cuCtxSynchronize").time.n == 1 && STAT("cuCtxSynchronize").bad_time == 1);
	CHECK(hist__quantile(&STAT("cuCtxSynchronize").time, 0.5, &v) && v == 1000);
	CHECK(STAT("cuStreamSynchronize").unmeasured == 1 && STAT("cuStreamSynchronize").returned == 0);
	CHECK(!hist__quantile(&STAT("cuStreamSynchronize").time, 0.5, &v));
	CHECK(launch_row(0)->calls.open == 1 && launch_row(0)->calls.ok == 0 &&
	      launch_row__streams(launch_row(0)) == 0);
	end();
}

T(empty_capture_has_nothing_R1)
{
	begin();
	finish();
	CHECK(fx.m->records == 0 && fx.m->calls == 0 && fx.m->launches.merged.n == 0 &&
	      fx.m->copies.rows.n == 0);
	end();
}

T(unknown_entry_points_are_counted_R7)
{
	struct gpubpf_call c = { .kind = GPUBPF_REC_CALL, .size = sizeof(c), .api = 60000 };

	begin();
	CHECK(model__add(fx.m, (struct gpubpf_rec *)&c) == 0);
	finish();
	CHECK(fx.m->unknown_api == 1 && fx.m->calls == 1);
	end();
}

T(filters_choose_processes_and_threads)
{
	const uint32_t pid = 100, tid = 102;

	begin_with((struct model_opts){ .filter = { .pids = &pid, .npids = 1, .tids = &tid, .ntids = 1 } });
	for (fx.tid = 101; fx.tid <= 103; fx.tid++)
		launch(0x1000, 1);
	fx.tgid = 200;
	fx.tid = 102;
	launch(0x1000, 1);
	out_n("cuMemAlloc_v2", 0x7000, 2, U(0), U(100));
	finish();
	CHECK(STAT("cuLaunchKernel").calls == 1 && launch_row(0)->calls.ok == 1);
	CHECK(fx.m->filtered == 4 && fx.m->allocs.row[MEM_DEVICE].allocated.n == 0);
	CHECK(fx.m->in_file[api_id("cuLaunchKernel")] == 4);
	end();
}

T(a_pid_used_again_is_another_process)
{
	begin();
	launch(0x1000, 1);
	task(GPUBPF_TASK_EXIT, 100, 0);
	launch(0x1000, 1);
	task(GPUBPF_TASK_EXEC, 100, 100);
	launch(0x1000, 1);
	finish();
	CHECK(fx.m->procs.lives.n == 3);
	CHECK(((struct proc *)hmap__at(&fx.m->procs.lives, 0))->end == PROC_EXITED);
	CHECK(((struct proc *)hmap__at(&fx.m->procs.lives, 1))->end == PROC_EXECED);
	CHECK(fx.m->launches.merged.n == 3);
	end();
}

TEST_MAIN
