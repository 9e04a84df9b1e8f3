/* SPDX-License-Identifier: BSD-2-Clause */
/* Records of `record --latency`: a part of events.h, which includes it and whose rules hold here. */
#ifndef GPUBPF_EVENTS_LATENCY_H
#define GPUBPF_EVENTS_LATENCY_H

#include <linux/types.h>

/* What a thread waited for while it was blocked, by what it had asked the kernel for. */
enum gpubpf_wait {
	GPUBPF_WAIT_FUTEX = 0,
	GPUBPF_WAIT_IOCTL_NVIDIA = 1, /* on a character device of the GPU's driver */
	GPUBPF_WAIT_IOCTL = 2,        /* on anything else */
	GPUBPF_WAIT_POLL = 3,         /* poll, select, epoll */
	GPUBPF_WAIT_SLEEP = 4,        /* nanosleep, clock_nanosleep */
	GPUBPF_WAIT_FAULT = 5, /* in a page fault of user space; one inside a system call is that call's */
	GPUBPF_WAIT_OTHER = 6, /* any other system call, stopped by a signal or a debugger */
	GPUBPF_WAITS = 7,
	GPUBPF_WAITS_ROOM = 8,
};

/* The time of an interval is on_cpu, and of a thread that left its processor what struct gpubpf_latency_off has. */
struct gpubpf_latency_part {
	__u64 on_cpu; /* user and kernel mode; interrupts and what a hypervisor took count as this */
	__u64 irq; /* of on_cpu: interrupts that came meanwhile; with GPUBPF_LATENCY_IRQ, which nothing sets yet */
	__u32 faults; /* page faults, major ones too; those that the kernel met for it as well */
	__u32 major_faults;
};

/* All times, with on_cpu, add up to the interval's length, unless `missed` is not 0. */
struct gpubpf_latency_off {
	__u64 runqueue; /* wanted to run: preempted, or woken and not yet on a processor */
	__u64 throttled; /* the same, put aside because its control group's quota was used up; GPUBPF_LATENCY_THROTTLED */
	__u64 blocked[GPUBPF_WAITS_ROOM]; /* enum gpubpf_wait */
	__u32 voluntary, involuntary;     /* switches away from the thread */
	__u32 migrations;                 /* times that it came back on another processor */
	__u32 missed; /* switches that were not seen: the time before each is in none of the above */
	__u32 ioctl_major; /* of the character device whose ioctl was the last to block the thread so far; 0: none */
	__u32 reserved;
};

enum gpubpf_latency_flags {
	GPUBPF_LATENCY_GAP = 1u << 0, /* t_before and gap are there: not the thread's first measured call */
	GPUBPF_LATENCY_OFF = 1u
			     << 1, /* struct gpubpf_latency_long; else the thread never left its processor */
	GPUBPF_LATENCY_IRQ = 1u << 2,       /* the kernel tells how long interrupts took */
	GPUBPF_LATENCY_THROTTLED = 1u << 3, /* it tells who is throttled; else that time is in runqueue */
};

/*
 * Of one call made by the application (depth 0), with `record --latency`. Comes right before its GPUBPF_REC_CALL
 * among the records of the thread; tgid, tid and t_entry say which it is.
 */
struct gpubpf_latency {
	__u16 kind;
	__u16 size;
	__u32 flags; /* enum gpubpf_latency_flags */
	__u32 tgid;
	__u32 tid;
	__u64 t_entry;
	__u64 t_return;
	__u64 t_before; /* return of the measured call before it, of this thread: gap is from there to t_entry */
	struct gpubpf_latency_part call, gap;
};

struct gpubpf_latency_long {
	struct gpubpf_latency head;
	struct gpubpf_latency_off call, gap;
};

/* Who woke a thread that was blocked in a futex. */
enum gpubpf_waker_how {
	GPUBPF_WAKER_UNKNOWN = 0, /* not seen, or the kernel does not tell interrupts from threads */
	GPUBPF_WAKER_THREAD = 1,  /* a thread, of the kernel's own too: waker_tgid, waker_tid, comm, by */
	GPUBPF_WAKER_INTERRUPT =
		2, /* a timer, another device: nothing to do with the thread that it came upon */
};

/* What the waker was at when it did. */
enum gpubpf_waker_by {
	GPUBPF_WAKER_BY_FUTEX = 1, /* a futex system call of its own */
	GPUBPF_WAKER_BY_EXIT = 2,  /* it ended: who joins a thread waits for that */
	GPUBPF_WAKER_BY_OTHER = 3, /* another system call (a signal, the kernel's own business) */
	GPUBPF_WAKER_BY_KERNEL = 4,
};

enum gpubpf_waker_flags {
	GPUBPF_WAKER_TRACED = 1u << 0,  /* the waker has made traced calls … */
	GPUBPF_WAKER_IN_CALL = 1u << 1, /* … and was in one: waker_api, waker_entry */
	GPUBPF_WAKER_UNSURE = 1u
			      << 2, /* … or may have been in a launch that was recorded at its entry alone */
	GPUBPF_WAKER_TRACER = 1u << 3,   /* it is the shim's own thread */
	GPUBPF_WAKER_VECTOR = 1u << 4,   /* futex_waitv(): futex is that of its list */
	GPUBPF_WAKER_LIMIT = 1u << 5,    /* the wait had a time limit, CLOCK_MONOTONIC unless … */
	GPUBPF_WAKER_RELATIVE = 1u << 6, /* … limit counts from the entry of the system call */
	GPUBPF_WAKER_REALTIME = 1u << 7, /* … or is CLOCK_REALTIME */
	GPUBPF_WAKER_NO_LIMIT = 1u << 8, /* the wait had a time limit, which could not be read */
};

/*
 * With `record --latency`: once for each time that a thread was blocked in a futex inside a call that the application
 * made (depth 0), before the call's GPUBPF_REC_LATENCY. That the waker held a lock follows for a mutex; it does not for
 * a condition variable. The times of a call's waits are blocked[GPUBPF_WAIT_FUTEX] of its breakdown.
 */
struct gpubpf_waker {
	__u16 kind;
	__u16 size;
	__u32 flags; /* enum gpubpf_waker_flags */
	__u32 tgid;  /* who waited */
	__u32 tid;
	__u64 t_entry; /* of the call that it was in */
	__u64 t_wait;  /* left its processor */
	__u64 t_wake;  /* ready to run */
	__u64 futex;   /* address: the system call's first argument */
	__u64 limit;   /* ns: GPUBPF_WAKER_LIMIT */
	__u32 op;      /* second argument of futex(), whole; 0: of the system calls that came after it */
	__u16 api;     /* of its call */
	__u16 waker_api;
	__u32 waker_tgid;
	__u32 waker_tid;
	__u64 waker_entry;
	__u8 how; /* enum gpubpf_waker_how */
	__u8 by;  /* enum gpubpf_waker_by */
	__u8 reserved[6];
	char comm[16];
};

#ifndef __cplusplus
_Static_assert(sizeof(struct gpubpf_latency) == 88, "wire");
_Static_assert(sizeof(struct gpubpf_latency_off) == 104, "wire");
_Static_assert(sizeof(struct gpubpf_latency_long) == 296, "wire");
_Static_assert(sizeof(struct gpubpf_waker) == 104, "wire");
_Static_assert(__builtin_offsetof(struct gpubpf_waker, op) == 56, "wire");
_Static_assert(__builtin_offsetof(struct gpubpf_waker, comm) == 88, "wire");
#endif

#endif
