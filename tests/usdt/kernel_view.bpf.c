/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keeps what the kernel hands to a program at a probe site. One thread fires at a time. */
#include <linux/bpf.h>
#include <linux/types.h>

typedef unsigned char bool; /* bpf_helpers.h of newer libbpf names it */

#include <bpf/bpf_helpers.h>

#include "arch.h"
#include "../tests/usdt/kernel_view.h"

char LICENSE[] SEC("license") = "GPL";

struct view_hit hits[VIEW_HITS];
__u32 nhits;

SEC("uprobe")
int view(struct pt_regs *ctx)
{
	__u64 words[ARCH_REG_WORDS];
	__u32 i = nhits;
	struct view_hit *h;

	nhits = i + 1;
	if (i >= VIEW_HITS)
		return 0;
	h = &hits[i];
	arch_words(ctx, words);
	h->pointer = words[0];
	h->count = words[1];
	h->sequence = words[2];
	h->tgid = (__u32)(bpf_get_current_pid_tgid() >> 32);
	h->error = (__s32)bpf_probe_read_user(h->record, sizeof(h->record), (const void *)words[0]);
	return 0;
}
