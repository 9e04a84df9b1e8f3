/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The user stack of a thread of another process, taken from outside. */
#ifndef GPUBPF_RECORD_STACK_H
#define GPUBPF_RECORD_STACK_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Fills text with "function (file) < caller (file) < …", or with the reason why there is none. The thread is stopped for
 * it, by a process of its own that is ended after two seconds whatever it is in; up to 32 frames.
 */
void stack_take(pid_t pid, pid_t tid, char *text, size_t n);
/* The thread of this name; pid itself where there is none. */
pid_t stack_thread(pid_t pid, const char *name);

#endif
