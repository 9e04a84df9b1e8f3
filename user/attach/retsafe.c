/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a return probe can kill the process it stands in. From Linux 6.11 the return trampoline on x86-64 makes a
 * system call of its own, uretprobe(), and until 6.14 (and the stable kernels that took that fix) seccomp filters saw
 * it: under the filter of a common container runtime the probed process died. So it is tried: a child of ours behind
 * such a filter returns through a probe.
 */
#include "attach/kernel.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define NR_URETPROBE 335 /* x86-64 */

__attribute__((noinline, used)) static void returning(void)
{
	__asm__ volatile("" ::: "memory");
}

static void child_main(int ready, int go)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_URETPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { sizeof(code) / sizeof(code[0]), code };
	char c = 'r';

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		_exit(2);
	if (write(ready, &c, 1) != 1 || read(go, &c, 1) != 1)
		_exit(2);
	returning();
	_exit(0);
}

static bool trial(void)
{
	int ready[2], go[2], status = 0, prog, link = -1;
	uint64_t offset;
	char c = 'g';
	pid_t pid;

	if (pipe(ready))
		return true;
	if (pipe(go)) {
		close(ready[0]);
		close(ready[1]);
		return true;
	}
	prog = kernel_trivial_program(0);
	pid = fork();
	if (!pid)
		child_main(ready[1], go[0]);
	close(ready[1]);
	/* what fails here fails again at the real thing, with its message */
	if (pid > 0 && prog >= 0 && read(ready[0], &c, 1) == 1 && !kernel_own_offset(returning, &offset))
		link = kernel_link_perf(prog, true, "/proc/self/exe", offset, 0, false, pid);
	if (write(go[1], &c, 1) != 1)
		link = -1;
	if (pid > 0)
		waitpid(pid, &status, 0);
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	close(ready[0]);
	close(go[0]);
	close(go[1]);
	return link < 0 || !WIFSIGNALED(status);
}

bool kernel_return_probes_safe(bool always_try)
{
#ifdef __x86_64__
	struct utsname u;
	unsigned major = 0, minor = 0;

	if (!always_try && !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major < 6 || (major == 6 && (minor < 11 || minor >= 15)) || major > 6))
		return true; /* no such call yet, or mended: the trial takes as long as all else at a start */
	return trial();
#else
	(void)always_try;
	(void)trial;
	return true;
#endif
}
