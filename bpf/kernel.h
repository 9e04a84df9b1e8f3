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

struct task_struct {
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
