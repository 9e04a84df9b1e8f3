// SPDX-License-Identifier: GPL-2.0-or-later
/* A BPF object that reads an argument as the architecture has it: of x86-64, or with ARM64 of aarch64. */
#ifdef ARM64
struct pt_regs {
	unsigned long long regs[31];
};
#define FIRST(ctx) ((ctx)->regs[0])
#else
struct pt_regs {
	unsigned long di, si, dx;
} __attribute__((preserve_access_index));
#define FIRST(ctx) ((ctx)->di)
#endif

__attribute__((section("uprobe"), used)) int on_call(struct pt_regs *ctx)
{
	return FIRST(ctx) != 0;
}

char bpf_license[] __attribute__((section("license"), used)) = "GPL";
