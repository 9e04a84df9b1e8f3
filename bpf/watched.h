/* SPDX-License-Identifier: GPL-2.0-or-later */
/* With --latency: what is kept of a thread, and the registers with which a task came into the kernel. */
#ifndef GPUBPF_WATCHED_H
#define GPUBPF_WATCHED_H

#include "arch.h"
#include "kernel.h"
#include "maps.h"

/* Of the running thread. */
static __always_inline struct lat *lat_own(__u32 tid)
{
	if (latency == LATENCY_STORAGE)
		return bpf_task_storage_get(&lat_storage, bpf_get_current_task_btf(), NULL, 0);
	return bpf_map_lookup_elem(&lat_hash, &tid);
}

static __always_inline struct lat *lat_of(struct task_struct *task, __u32 tid)
{
	if (latency == LATENCY_STORAGE)
		return bpf_task_storage_get(&lat_storage, task, NULL, 0);
	return bpf_map_lookup_elem(&lat_hash, &tid);
}

static __always_inline int is_watched(__u32 tid)
{
	return watched[tid & (WATCHED - 1)];
}

/* Before Linux 5.15: they stand at the end of the stack (task_pt_regs(), asm/processor.h). */
static __always_inline void *regs_on_stack(__u64 stack)
{
	if (bpf_core_type_exists(union thread_union))
		stack += bpf_core_type_size(union thread_union);
	else
		stack += ARCH_STACK_BYTES;
	return (void *)(stack - bpf_core_type_size(struct pt_regs));
}

static __always_inline void *entry_regs(struct task_struct *task)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (void *)bpf_task_pt_regs(task);
	return regs_on_stack((__u64)task->stack);
}

/* Of the running task. */
static __always_inline void *own_regs(struct task_struct *me)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return (void *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return regs_on_stack((__u64)BPF_CORE_READ(me, stack));
}

#endif
