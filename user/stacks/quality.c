// SPDX-License-Identifier: GPL-2.0-or-later
#include "stacks/quality.h"

#include <string.h>

const char *const stack_quality_keys[GPUBPF_STACK_QUALITIES] = {
	[GPUBPF_STACK_COMPLETE] = "complete",
	[GPUBPF_STACK_TRUNCATED] = "truncated",
	[GPUBPF_STACK_BROKEN] = "broken",
};

const char *stack_quality_word(unsigned quality, bool unwound)
{
	if (quality == GPUBPF_STACK_BROKEN)
		return unwound ? "no unwind information" : "no frame pointers";
	return quality && quality < GPUBPF_STACK_QUALITIES ? stack_quality_keys[quality] : "not known";
}

/* glibc (csu, nptl, sysdeps) and musl; their versions have different ones as the outermost with a symbol. */
bool stack_is_start(const char *function)
{
	static const char *const names[] = {
		"_start",
		"__libc_start_main",
		"__libc_start_call_main",
		"__libc_start_main_impl",
		"start_thread",
		"thread_start",
		"clone",
		"__clone",
		"clone3",
		"__clone3",
		"__clone_internal",
		"_start_c",
		"start_c",
		"libc_start_main_stage2",
	};

	for (size_t i = 0; function && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(function, names[i]))
			return true;
	return false;
}

/*
 * Most C libraries are built without frame pointers: a walk strays in the function that calls main(), which is at the
 * stack's end all the same. Only when no more than one frame came of it nothing shows that there were frame pointers.
 */
enum gpubpf_stack_quality stack_quality(const struct stack_walked *w)
{
	if (stack_is_start(w->outermost) || (w->before && !strcmp(w->before, "main")))
		return GPUBPF_STACK_COMPLETE;
	if (w->unwound)
		return w->whole     ? GPUBPF_STACK_COMPLETE
		       : w->limited ? GPUBPF_STACK_TRUNCATED
				    : GPUBPF_STACK_BROKEN;
	if (w->stray || w->frames < 2)
		return GPUBPF_STACK_BROKEN;
	return w->end == STACK_END_ZERO    ? GPUBPF_STACK_COMPLETE
	       : w->end == STACK_END_LIMIT ? GPUBPF_STACK_TRUNCATED
					   : GPUBPF_STACK_BROKEN;
}
