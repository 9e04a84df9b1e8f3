/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/kernel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/err.h"

const char *const attach_method_names[ATTACH_METHODS] = { "auto", "session", "multi", "perf", "percall" };

/* The part of union bpf_attr that BPF_LINK_CREATE reads for uprobe_multi (linux/bpf.h of 6.6). */
struct link_create_multi {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_ctr_offsets, cookies;
	uint32_t cnt, multi_flags, pid, pad;
};

#define MULTI_RETURN 1u /* BPF_F_UPROBE_MULTI_RETURN */

static int link_create(struct link_create_multi *a)
{
	long fd = syscall(SYS_bpf, BPF_LINK_CREATE, a, sizeof(*a));

	return fd < 0 ? -errno : (int)fd;
}

int kernel_link_multi(int prog_fd, bool session, bool ret, const char *path, const uint64_t *offsets,
		      const uint64_t *cookies, size_t n, int pid)
{
	struct link_create_multi a = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = session ? KERNEL_UPROBE_SESSION : KERNEL_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.cookies = (uintptr_t)cookies,
		.cnt = (uint32_t)n,
		.multi_flags = ret ? MULTI_RETURN : 0,
		.pid = (uint32_t)pid,
	};

	return link_create(&a);
}

int kernel_site_multi(int prog_fd, const char *path, const uint64_t *offsets, const uint64_t *semaphores,
		      const uint64_t *cookies, size_t n, int pid)
{
	struct link_create_multi a = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type = KERNEL_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)offsets,
		.ref_ctr_offsets = (uintptr_t)semaphores,
		.cookies = (uintptr_t)cookies,
		.cnt = (uint32_t)n,
		.pid = (uint32_t)pid,
	};

	return link_create(&a);
}

static int pmu_read(const char *file, const char *format)
{
	char path[128];
	int v = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/uprobe/%s", file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, format, &v) != 1)
		v = -EINVAL;
	fclose(f);
	return v;
}

/* `config`: what makes the probe one at the return, or one with a semaphore. */
static int perf_link(int prog_fd, uint64_t config, const char *path, uint64_t offset, uint64_t cookie,
		     bool use_cookie, int pid)
{
	struct perf_event_attr pe = { .size = sizeof(pe), .config = config };
	int type = pmu_read("type", "%d"), fd, link;

	if (type < 0)
		return -ENOENT;
	pe.type = (uint32_t)type;
	pe.config1 = (uintptr_t)path;
	pe.config2 = offset;
	fd = (int)syscall(SYS_perf_event_open, &pe, pid, pid < 0 ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (use_cookie) {
		LIBBPF_OPTS(bpf_link_create_opts, o, .perf_event.bpf_cookie = cookie);

		link = bpf_link_create(prog_fd, fd, BPF_PERF_EVENT, &o);
		if (link < 0)
			link = -errno;
		close(fd); /* the link holds the event */
		return link;
	}
	if (ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		int e = -errno;

		close(fd);
		return e;
	}
	return fd;
}

int kernel_link_perf(int prog_fd, bool ret, const char *path, uint64_t offset, uint64_t cookie,
		     bool use_cookie, int pid)
{
	int bit = pmu_read("format/retprobe", "config:%d");

	if (bit < 0 || bit > 63)
		return -ENOENT;
	return perf_link(prog_fd, ret ? 1ull << bit : 0, path, offset, cookie, use_cookie, pid);
}

int kernel_site_perf(int prog_fd, const char *path, uint64_t offset, uint64_t semaphore, uint64_t cookie,
		     bool use_cookie, int pid)
{
	/* "config:32-63", Linux 4.20 */
	int low = semaphore ? pmu_read("format/ref_ctr_offset", "config:%d") : 0;

	if (low < 0 || low > 63)
		return -ENOENT;
	if (semaphore << low >> low != semaphore)
		return -EFBIG;
	return perf_link(prog_fd, semaphore << low, path, offset, cookie, use_cookie, pid);
}

/* Something to probe. Its own section keeps the file offset computable from one line of /proc/self/maps. */
__attribute__((noinline, used)) static void anchor(void)
{
	__asm__ volatile("" ::: "memory");
}

int kernel_own_offset(void (*fn)(void), uint64_t *offset)
{
	uintptr_t addr = (uintptr_t)fn;
	unsigned long start, end, off;
	char line[512], perm[8];
	int found = -ENOENT;
	FILE *f = fopen("/proc/self/maps", "re");

	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %7s %lx", &start, &end, perm, &off) != 4 || addr < start ||
		    addr >= end)
			continue;
		*offset = addr - start + off;
		found = 0;
		break;
	}
	fclose(f);
	return found;
}

int kernel_trivial_program(unsigned attach_type)
{
	struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = (enum bpf_attach_type)attach_type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gpubpf_try", "GPL", insns, 2, &o);

	return fd < 0 ? -errno : fd;
}

int kernel_try(enum attach_method m, struct err *err)
{
	unsigned type = m == ATTACH_SESSION ? KERNEL_UPROBE_SESSION
			: m == ATTACH_MULTI ? KERNEL_UPROBE_MULTI
					    : 0;
	uint64_t offset = 0, cookie = 1;
	int prog, link, e = kernel_own_offset(anchor, &offset);

	if (e)
		return err_set(err, e, "cannot find an own function to probe: %s", strerror(-e));
	prog = kernel_trivial_program(type);
	if (prog < 0)
		return err_set(err, prog, "the kernel refuses a trivial BPF program: %s", strerror(-prog));
	if (type)
		link = kernel_link_multi(prog, m == ATTACH_SESSION, false, "/proc/self/exe", &offset, &cookie,
					 1, getpid());
	else
		link = kernel_link_perf(prog, false, "/proc/self/exe", offset, cookie, m == ATTACH_PERF,
					getpid());
	close(prog);
	if (link < 0)
		return err_set(err, link, "the kernel refuses a %s uprobe: %s", attach_method_names[m],
			       strerror(-link));
	close(link);
	return 0;
}
