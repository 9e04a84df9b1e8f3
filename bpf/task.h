/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is traced: targets, their children and threads, and the records of their lives. */
#ifndef GPUBPF_TASK_H
#define GPUBPF_TASK_H

#include "maps.h"

#define PID_LEVELS 8 /* pid namespaces deep that a process is looked up in; the kernel allows 32 */

/* Zeroed new entries: a value this large does not fit the BPF stack. */
static const struct thread zero_thread;

/* Atomic though each processor has its own: where the kernel is preemptible a task is, too, in the middle of a
 * program, and what others count meanwhile would be gone. */
static __always_inline void count_one(__u64 *v)
{
	__sync_fetch_and_add(v, 1);
}

static __always_inline void global_add(__u32 what)
{
	__u64 *v = bpf_map_lookup_elem(&globals, &what);

	if (v)
		count_one(v);
}

/* The number of `p` in the pid namespace with this inode number, 0 when it is not visible there. */
static __always_inline __u32 pid_in_ns(struct pid *p, __u32 inum)
{
	__u32 level = BPF_CORE_READ(p, level);
	void *up = (void *)p + bpf_core_field_offset(struct pid, numbers);

	for (__u32 i = 0; i < PID_LEVELS && i <= level; i++) {
		struct upid *u = up + i * bpf_core_type_size(struct upid);

		/* else clang 19 counts up to the smaller of the two, and the verifier of 5.10 sees no end of it */
		barrier_var(level);
		if (BPF_CORE_READ(u, ns, ns.inum) == inum)
			return BPF_CORE_READ(u, nr);
	}
	return 0;
}

/* The number of `p` in its innermost pid namespace. */
static __always_inline __u32 pid_innermost(struct pid *p)
{
	__u32 level = BPF_CORE_READ(p, level);
	struct upid *u = (void *)p + bpf_core_field_offset(struct pid, numbers);

	if (level >= PID_LEVELS)
		return 0;
	u = (void *)u + level * bpf_core_type_size(struct upid);
	return BPF_CORE_READ(u, nr);
}

static __always_inline __u32 view_tgid(struct task_struct *task, __u32 tgid)
{
	if (!has_view)
		return tgid;
	return pid_in_ns(BPF_CORE_READ(task, group_leader, thread_pid), view_inum);
}

static __always_inline void emit_task(struct task_struct *task, __u32 event, __u32 peer, __s32 code,
				      __u64 wake)
{
	struct gpubpf_task *r = bpf_ringbuf_reserve(&ring, sizeof(*r), 0);
	__u32 tgid = BPF_CORE_READ(task, tgid);

	if (!r) {
		global_add(GPUBPF_G_TASK_LOST);
		return;
	}
	r->kind = GPUBPF_REC_TASK;
	r->size = sizeof(*r);
	r->flags = 0;
	r->event = event;
	r->code = code;
	r->tgid = tgid;
	r->tid = BPF_CORE_READ(task, pid);
	r->peer = peer;
	r->view_tgid = view_tgid(task, tgid);
	r->ns_tgid = pid_innermost(BPF_CORE_READ(task, group_leader, thread_pid));
	r->ns_tid = pid_innermost(BPF_CORE_READ(task, thread_pid));
	r->time = bpf_ktime_get_ns();
	r->start_time = BPF_CORE_READ(task, group_leader, start_boottime);
	/* before Linux 5.17 the rest of an earlier, longer name stands behind the NUL of a task's */
	__builtin_memset(r->comm, 0, sizeof(r->comm));
	bpf_probe_read_kernel_str(r->comm, sizeof(r->comm), &task->comm);
	bpf_ringbuf_submit(r, wake);
}

/* The target entry of this process, looked up by what the recorder calls it where the namespaces differ. */
static __always_inline __u32 *target_of(struct task_struct *task, __u32 tgid)
{
	__u32 *flags = bpf_map_lookup_elem(&targets, &tgid);
	__u32 view, copy;

	if (flags || !has_view)
		return flags;
	view = view_tgid(task, tgid);
	flags = view ? bpf_map_lookup_elem(&view_targets, &view) : NULL;
	if (!flags)
		return NULL;
	copy = *flags;
	bpf_map_update_elem(&targets, &tgid, &copy, BPF_NOEXIST);
	return bpf_map_lookup_elem(&targets, &tgid);
}

/* Its number may come again, in both namespaces. */
static __always_inline void target_gone(struct task_struct *task, __u32 tgid)
{
	bpf_map_delete_elem(&targets, &tgid);
	if (has_view) {
		__u32 view = view_tgid(task, tgid);

		bpf_map_delete_elem(&view_targets, &view);
	}
}

enum thread_state { THREAD_OK, THREAD_FOREIGN, THREAD_FULL };

/* First traced call of a thread. */
static __always_inline enum thread_state thread_begin(__u32 tgid, __u32 tid, struct thread **out)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	struct thread *t;

	if (!trace_all && !target_of(task, tgid)) {
		global_add(GPUBPF_G_OTHER_PROCESS);
		return THREAD_FOREIGN;
	}
	bpf_map_update_elem(&threads, &tid, &zero_thread, BPF_ANY);
	t = bpf_map_lookup_elem(&threads, &tid);
	if (!t)
		return THREAD_FULL;
	t->tgid = tgid;
	t->row.kind = REC_ROW;
	t->row.tgid = tgid;
	t->row.tid = tid;
	/* who resolves stacks looks at the mappings while they are there */
	emit_task(task, GPUBPF_TASK_SEEN, 0, 0, stacks ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
	*out = t;
	return THREAD_OK;
}

#endif
