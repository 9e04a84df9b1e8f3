/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How far a stack goes: nothing here knows of processes. */
#ifndef GPUBPF_STACKS_QUALITY_H
#define GPUBPF_STACKS_QUALITY_H

#include <stdbool.h>
#include <stddef.h>

#include "events.h"
#include "stackraw.h"

struct stack_walked {
	enum stack_end end;             /* of a walk along frame pointers; of an unwinding see unwound */
	bool unwound;                   /* by unwind information, and not along frame pointers */
	bool whole;                     /* unwound: it came to where its thread begins */
	bool limited;                   /* unwound: behind the limit of frames or of the copy */
	bool stray;                     /* an address was in no code */
	size_t frames;                  /* in code, up to there */
	const char *outermost, *before; /* functions of the last two; NULL: not known */
};

enum gpubpf_stack_quality stack_quality(const struct stack_walked *w);
/* It calls main(), or what a thread runs. */
bool stack_is_start(const char *function);
const char *stack_quality_word(unsigned quality, bool unwound); /* "complete", "no frame pointers" … */
extern const char *const
	stack_quality_keys[GPUBPF_STACK_QUALITIES]; /* "complete", "truncated", "broken"; [0] is NULL */

#endif
