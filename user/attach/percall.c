/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/attach_priv.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cookie.h"

int percall_load(const struct bpf_program *prog, uint64_t cookie)
{
	size_t n = bpf_program__insn_cnt(prog), patched = 0;
	struct bpf_insn *insns = malloc(n * sizeof(*insns));
	int fd;

	if (!insns)
		return -ENOMEM;
	memcpy(insns, bpf_program__insns(prog), n * sizeof(*insns));
	for (size_t i = 0; i + 1 < n; i++) {
		uint64_t v = (uint32_t)insns[i].imm | (uint64_t)(uint32_t)insns[i + 1].imm << 32;

		if (insns[i].code != (BPF_LD | BPF_IMM | BPF_DW) || insns[i].src_reg || v != COOKIE_PATCH)
			continue;
		insns[i].imm = (int32_t)(uint32_t)cookie;
		insns[i + 1].imm = (int32_t)(cookie >> 32);
		patched++;
	}
	fd = patched ? bpf_prog_load(BPF_PROG_TYPE_KPROBE, bpf_program__name(prog), "GPL", insns, n, NULL)
		     : -EINVAL;
	if (fd < 0 && patched)
		fd = -errno;
	free(insns);
	return fd;
}
