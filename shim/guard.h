/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who may call CUPTI: one thread at a time, and never from inside a callback. A lazy module load holds a lock of the
 * driver in the launching thread and calls us; a flush waits for CUPTI's thread, which waits for that lock: whatever
 * a callback waits for that a flusher holds is a deadlock of three threads. So a callback takes nothing that the
 * owner of CUPTI holds across a call. Test builds (GPUBPF_SHIM_TEST) abort where that is broken.
 *
 * GPUBPF_SHIM_OLD_DESIGN builds what must hang under the simulated CUPTI: one lock around everything, checksums and
 * hand-over inside the callback.
 */
#ifndef GPUBPF_SHIM_GUARD_H
#define GPUBPF_SHIM_GUARD_H

#ifdef GPUBPF_SHIM_OLD_DESIGN
void guard__lock(void);
void guard__unlock(void);
#else
static inline void guard__lock(void)
{
}
static inline void guard__unlock(void)
{
}
#endif

#ifdef GPUBPF_SHIM_TEST
void guard__own(void); /* this thread owns CUPTI from now on */
void guard__check(const char *what);
void guard__enter_callback(void);
void guard__leave_callback(void);
#else
static inline void guard__own(void)
{
}
static inline void guard__check(const char *what)
{
	(void)what;
}
static inline void guard__enter_callback(void)
{
}
static inline void guard__leave_callback(void)
{
}
#endif

/* A call of CUPTI by its owner: struct cupti, member, arguments. */
#define CUPTI(c, fn, ...) (guard__check(#fn), (c)->fn(__VA_ARGS__))

#endif
