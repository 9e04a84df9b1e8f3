/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which open calls of a thread can still return, told by the stacks they stand on. A call can be left without a
 * return (longjmp), and one can be open while the thread runs elsewhere: a signal handler on its alternate stack, a
 * coroutine. The kernel itself orders return probes by SP (arch_uretprobe_is_alive): one that is set at a higher
 * SP makes it forget those below, and kills the process when such a call returns after all.
 */
#ifndef GPUBPF_STACK_H
#define GPUBPF_STACK_H

#include "arch.h"
#include "maps.h"

/* Further apart than this, two SPs are taken to be on two stacks. Stacks of coroutines start at this size. */
#define OTHER_STACK_BYTES 65536

struct stacks {
	__u64 trampoline;     /* what a return probe puts in the place of the return address */
	__u64 alt, alt_bytes; /* the alternate signal stack */
};

static __always_inline void stacks_read(struct stacks *s)
{
	struct task_struct *task = (void *)bpf_get_current_task();

	s->trampoline = BPF_CORE_READ(task, mm, uprobes_state.xol_area, vaddr);
	s->alt = BPF_CORE_READ(task, sas_ss_sp);
	s->alt_bytes = BPF_CORE_READ(task, sas_ss_size);
}

static __always_inline int on_alt(const struct stacks *s, __u64 sp)
{
	return sp - s->alt - 1 < s->alt_bytes; /* as on_sig_stack(), linux/sched/signal.h */
}

enum open_state {
	OPEN_AROUND,    /* the call that is entered now was made inside it */
	OPEN_ELSEWHERE, /* so too, and a return probe now would make the kernel forget it */
	OPEN_LEFT,      /* it will not return any more */
};

/*
 * Of a frame, while another call is entered at `sp`. At the same SP the other one was tail-called when its own
 * return address is the trampoline; else the thread has left the frame by a jump and calls anew.
 */
static __always_inline enum open_state open_state(struct pt_regs *ctx, const struct stacks *s,
						  const struct frame *f, __u64 sp)
{
	int alt = on_alt(s, sp), alt_frame = on_alt(s, f->sp);

	if (f->sp == sp)
		return s->trampoline && arch_caller(ctx) == s->trampoline ? OPEN_AROUND : OPEN_LEFT;
	if (alt_frame && !alt)
		return OPEN_LEFT;
	if (f->sp > sp)
		return OPEN_AROUND;
	if (alt == alt_frame && sp - f->sp < OTHER_STACK_BYTES)
		return OPEN_LEFT;
	return arch_frame_waits(f->sp, s->trampoline) ? OPEN_ELSEWHERE : OPEN_LEFT;
}

#endif
