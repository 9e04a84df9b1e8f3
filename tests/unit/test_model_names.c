/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../t.h"

#include "model_fixture.h"

static void get_function(uint64_t func, uint64_t module, const char *name)
{
	with_text(name);
	out_n("cuModuleGetFunction", func, 3, U(0), module, U(0));
}

static uint64_t launches_named(const char *name)
{
	uint64_t n = 0;

	for (size_t i = 0; i < fx.m->launches.merged.n; i++)
		if (strcmp(row_name(launch_row(i)), name) == 0)
			n += launch_row(i)->calls.ok;
	return n;
}

T(every_source_of_names)
{
	begin();
	get_function(0x10, 0x1, "from_module");
	with_text("from_library");
	out_n("cuLibraryGetKernel", 0x20, 3, U(0), U(0x2), U(0));
	out_n("cuKernelGetFunction", 0x21, 2, U(0), U(0x20));
	with_text("asked_func");
	call_n("cuFuncGetName", 2, U(0), U(0x30));
	with_text("asked_kernel");
	call_n("cuKernelGetName", 2, U(0), U(0x40));
	launch(0x10, 1);
	launch(0x20, 1);
	launch(0x21, 1);
	launch(0x30, 1);
	launch(0x40, 1);
	launch(0x50, 1);
	finish();
	CHECK(launches_named("from_module") == 1);
	CHECK(launches_named("from_library") == 2);
	CHECK(launches_named("asked_func") == 1 && launches_named("asked_kernel") == 1);
	CHECK(launches_named("<unresolved 0x50>") == 1);
	end();
}

T(a_name_after_the_launch_names_it)
{
	begin();
	launch(0x10, 1);
	launch(0x21, 1);
	out_n("cuKernelGetFunction", 0x21, 2, U(0), U(0x20));
	launch(0x21, 1);
	get_function(0x10, 0x1, "late");
	launch(0x10, 1);
	with_text("late_kernel");
	call_n("cuKernelGetName", 2, U(0), U(0x20));
	finish();
	CHECK(fx.m->launches.merged.n == 2);
	CHECK(launches_named("late") == 2 && launches_named("late_kernel") == 2);
	end();
}

T(a_handle_used_again_is_another_function_R9)
{
	begin();
	get_function(0x10, 0x1, "first");
	launch(0x10, 1);
	call_n("cuModuleUnload", 1, U(0x1));
	launch(0x10, 1);
	/* nothing was unloaded since, so the handle meant the same a moment ago */
	get_function(0x10, 0x2, "second");
	launch(0x10, 1);
	get_function(0x10, 0x2, "second");
	launch(0x10, 1);
	/* another module's unload says nothing about this one */
	call_n("cuModuleUnload", 1, U(0x3));
	launch(0x10, 1);
	/* without a seen unload a new name holds from then on */
	get_function(0x10, 0x4, "third");
	launch(0x10, 1);
	finish();
	CHECK(launches_named("first") == 1);
	CHECK(launches_named("<unresolved 0x10>") == 0);
	CHECK(launches_named("second") == 4);
	CHECK(launches_named("third") == 1);
	end();
}

T(a_name_does_not_reach_back_over_an_unload_R9)
{
	begin();
	launch(0x10, 1);
	call_n("cuModuleUnload", 1, U(0x1));
	get_function(0x10, 0x2, "newcomer");
	launch(0x10, 1);
	launch(0x11, 1);
	call_n("cuCtxDestroy_v2", 1, U(0xc));
	get_function(0x11, 0x3, "other");
	finish();
	CHECK(launches_named("newcomer") == 1 && launches_named("<unresolved 0x10>") == 1);
	CHECK(launches_named("other") == 0 && launches_named("<unresolved 0x11>") == 1);
	end();
}

T(names_belong_to_a_process_R9)
{
	begin();
	get_function(0x10, 0x1, "parents");
	fx.tgid = 200;
	launch(0x10, 1);
	finish();
	CHECK(launches_named("parents") == 0 && launches_named("<unresolved 0x10>") == 1);
	CHECK(launch_row(0)->proc->tgid == 200);
	end();
}

T(a_forked_child_inherits_names_up_to_the_fork)
{
	begin();
	get_function(0x10, 0x1, "before");
	task(GPUBPF_TASK_FORK, 200, 100);
	call_n("cuModuleUnload", 1, U(0x1));
	get_function(0x10, 0x2, "after");
	launch(0x10, 1);
	fx.tgid = 200;
	launch(0x10, 1);
	task(GPUBPF_TASK_EXEC, 200, 200);
	launch(0x10, 1);
	finish();
	CHECK(launches_named("before") == 1 && launches_named("after") == 1);
	CHECK(launches_named("<unresolved 0x10>") == 1);
	end();
}

T(failed_calls_name_nothing)
{
	begin();
	fx.result = 500;
	with_text("missing");
	call_n("cuModuleGetFunction", 3, U(0), U(1), U(0));
	fx.result = 1;
	call_n("cuModuleUnload", 1, U(1));
	fx.result = 1;
	with_text("refused");
	call_n("cuFuncGetName", 2, U(0), U(0x77));
	fx.flags = 0;
	with_text("entered");
	call_n("cuModuleGetFunction", 3, U(0), U(1), U(0));
	finish();
	fx.flags = GPUBPF_CALL_RETURNED;
	launch(0x0, 1);
	launch(0x77, 1);
	finish();
	CHECK(launches_named("refused") == 0 && launches_named("<unresolved 0x77>") == 1);
	CHECK(launches_named("missing") == 0 && launches_named("entered") == 0);
	end();
}

T(one_function_makes_display_names_R18)
{
	char *s = names__display("_Z4axpyIfEvPT_S1_i", 0);

	CHECKF(strcmp(s, "void axpy<float>(float*, float*, int)") == 0, "%s", s);
	free(s);
	s = names__display("plain_c", 0);
	CHECK(strcmp(s, "plain_c") == 0);
	free(s);
	s = names__display(NULL, 0xabc);
	CHECK(strcmp(s, "<unresolved 0xabc>") == 0);
	free(s);
}

TEST_MAIN
