/* SPDX-License-Identifier: BSD-2-Clause */
/* Waiting with a deadline that no step of the wall clock moves, and waking without a lock. */
#ifndef GPUBPF_SHIM_FUTEX_H
#define GPUBPF_SHIM_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Until the word is no longer `seen`, a wake, a signal, or the time is over. */
static inline void futex__wait(_Atomic uint32_t *word, uint32_t seen, uint64_t ns)
{
	struct timespec ts = { .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };

	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, &ts, NULL, 0);
}

static inline void futex__wake(_Atomic uint32_t *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

#endif
