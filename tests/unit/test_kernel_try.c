/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trials of the running kernel: what works, works; what cannot, says why. */
#include "t.h"

#include <errno.h>
#include <bpf/libbpf.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "attach/kernel.h"
#include "util/err.h"

T(some_method_works)
{
	bool any = false;
	struct err err = { "" };

	libbpf_set_print(NULL);
	if (geteuid())
		SKIP("root");
	if (LACKS_SYSCALL(SYS_bpf))
		SKIP("bpf(2)");
	for (enum attach_method m = ATTACH_SESSION; m < ATTACH_METHODS; m++)
		any |= !kernel_try(m, &err);
	CHECKF(any, "%s", err.msg);
}

T(a_refused_link_leaves_nothing)
{
	uint64_t offset = 1, cookie = 0;
	int prog = kernel_trivial_program(KERNEL_UPROBE_MULTI), next, again;

	if (prog < 0)
		SKIP("the right to load BPF programs");
	next = dup(0);
	close(next);
	CHECK(kernel_link_multi(prog, false, false, "/nonexistent", &offset, &cookie, 1, 0) < 0);
	CHECK(kernel_link_perf(prog, false, "/nonexistent", 1, 0, true, -1) < 0);
	again = dup(0);
	CHECK(next == again);
	close(again);
	close(prog);
}

/* The trial itself must end, leave no child, and agree with what this kernel is known to be. */
T(return_probes_under_seccomp)
{
	if (geteuid())
		SKIP("root");
	if (kernel_return_probes_safe(false))
		CHECK(kernel_return_probes_safe(true));
	else
		CHECK(!kernel_return_probes_safe(true));
}

/* Mended in Linux 6.10; before, some kernels have the fix and some not. */
T(process_id_of_a_multi_link)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (geteuid() || kernel_try(ATTACH_MULTI, NULL))
		SKIP("root and a kernel with multi-links");
	uname(&u);
	sscanf(u.release, "%u.%u", &major, &minor);
	if (major > 6 || (major == 6 && minor >= 10))
		CHECK(kernel_multi_pid_is_process());
	else
		kernel_multi_pid_is_process();
}

TEST_MAIN
