/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The few kernel types that are read, by hand: CO-RE relocates each field to where the running kernel has
 * it, so only names matter here. One place, no generated dump of a whole kernel.
 */
#ifndef GPUBPF_KERNEL_H
#define GPUBPF_KERNEL_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

typedef struct {
	int counter;
} atomic_t;

struct ns_common {
	unsigned int inum;
};

struct pid_namespace {
	struct ns_common ns;
};

struct upid {
	int nr;
	struct pid_namespace *ns;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct signal_struct {
	atomic_t live;
};

struct xol_area {
	unsigned long vaddr;
};

struct uprobes_state {
	struct xol_area *xol_area;
};

struct mm_struct {
	struct uprobes_state uprobes_state;
};

struct inode {
	unsigned short i_mode;
	__u32 i_rdev;
};

struct file {
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

union thread_union { /* as large as a kernel stack */
	unsigned long stack[1];
};

struct rq;

struct cfs_rq {
	struct rq *rq; /* with CONFIG_FAIR_GROUP_SCHED */
	int throttle_count;
};

struct sched_entity {
	struct cfs_rq *cfs_rq;
};

struct task_struct {
	struct sched_entity se;
	unsigned int __state; /* Linux 5.14 */
	unsigned int flags;
	int softirq_disable_cnt; /* where the kernel is PREEMPT_RT */
	void *stack;
	struct files_struct *files;
	unsigned long min_flt, maj_flt;
	struct mm_struct *mm;
	unsigned long sas_ss_sp, sas_ss_size;
	int pid;
	int tgid;
	int exit_code;
	char comm[16];
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct signal_struct *signal;
	__u64 start_boottime;
};

struct task_struct___before_5_14 {
	long state;
};

struct task_struct___6_18 {
	bool throttled;
};

struct kobject {
	const char *name;
};

struct device {
	struct kobject kobj;
};

struct pci_dev {
	struct device dev;
};

#pragma clang attribute pop

/* Arguments of a raw tracepoint, as its TP_PROTO lists them. */
struct raw_tp_args {
	__u64 arg[4];
};

#endif
