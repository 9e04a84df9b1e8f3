/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whom the process id of a multi-link means. Until Linux 6.10 (and the stable kernels that took 46ba0e49b642, "bpf: fix
 * multi-uprobe PID filtering logic") it let only the one thread of that number through, not its process: of a shim,
 * whose worker and callbacks are other threads, nothing would be seen. So it is tried.
 */
#include "attach/kernel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <unistd.h>

__attribute__((noinline, used)) static void called(void)
{
	__asm__ volatile("" ::: "memory");
}

static void *call_it(void *arg)
{
	called();
	return arg;
}

#define INSN(c, dst, src, offset, imm32)                                                                     \
	((struct bpf_insn){                                                                                  \
		.code = (c), .dst_reg = (dst), .src_reg = (src), .off = (offset), .imm = (imm32) })

/* Sets element 0 of the map to 1. */
static int marking_program(int map)
{
	struct bpf_insn insns[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map),
		INSN(0, 0, 0, 0, 0),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_0, 0, 0, 1),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	LIBBPF_OPTS(bpf_prog_load_opts, o, .expected_attach_type = (enum bpf_attach_type)KERNEL_UPROBE_MULTI);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, "gpubpf_who", "GPL", insns,
			     sizeof(insns) / sizeof(insns[0]), &o);
}

bool kernel_multi_pid_is_process(void)
{
	uint64_t offset, cookie = 1;
	uint32_t zero = 0, seen = 0;
	int map = bpf_map_create(BPF_MAP_TYPE_ARRAY, "gpubpf_who", sizeof(zero), sizeof(seen), 1, NULL);
	int prog = map < 0 ? -1 : marking_program(map), link = -1;
	pthread_t t;

	if (prog >= 0 && !kernel_own_offset(called, &offset))
		link = kernel_link_multi(prog, false, false, "/proc/self/exe", &offset, &cookie, 1, getpid());
	if (link >= 0 && !pthread_create(&t, NULL, call_it, NULL)) {
		pthread_join(t, NULL);
		bpf_map_lookup_elem(map, &zero, &seen);
	}
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	if (map >= 0)
		close(map);
	return seen;
}
