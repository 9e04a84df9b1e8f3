/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A user stack as BPF takes it down (ustack.h): in the ring alone, user space makes records of it (user/stacks). */
#ifndef GPUBPF_STACKRAW_H
#define GPUBPF_STACKRAW_H

#include <linux/types.h>

#define REC_STACK_RAW 0x8001
#define STACK_ADDRESSES 127 /* of a walk along frame pointers */
#define STACK_SAVED 10      /* registers that a function preserves, beside SP and the frame pointer */
#define STACK_CHUNK 1024    /* no page is smaller, and what begins at a multiple of it lies in one */
#define STACK_SMALL 4096
#define STACK_MEDIUM 16384
#define STACK_LARGE 65536

enum { STACKS_OFF, STACKS_FP, STACKS_COPY };
enum stack_end {
	STACK_END_LIMIT,  /* of addresses, or of bytes */
	STACK_END_ZERO,   /* the frame pointer was 0 */
	STACK_END_BROKEN, /* it was no frame pointer */
	STACK_END_FAULT,  /* nothing could be read there; of a copy: the stack ends */
};

struct stack_raw {
	__u16 kind; /* REC_STACK_RAW */
	__u16 api;
	__u32 flags; /* GPUBPF_STACK_ENTRY */
	__u32 tgid, tid;
	__u64 t_entry;
	__u32 how; /* STACKS_… */
	__u32 end; /* enum stack_end */
	__u32 n;   /* addresses, or bytes of the copy */
	__u32 reserved;
	__u64 pc, sp, fp;         /* in the caller of the call */
	__u64 saved[STACK_SAVED]; /* x86-64: rbx, r12 … r15; aarch64: x19 … x28 */
	__u64 base;               /* where the copy begins */
	__u64 data[];
};

#endif
