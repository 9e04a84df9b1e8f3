/* SPDX-License-Identifier: BSD-2-Clause */
/* The one thread of the shim. Idle it wakes every 50 ms, reads a semaphore, and sleeps again. */
#ifndef GPUBPF_SHIM_WORKER_H
#define GPUBPF_SHIM_WORKER_H

#include <stdbool.h>

/* `armed`: this thread has armed a session, or failed to; the worker takes it over. 0, or an errno. */
enum worker_start { WORKER_IDLE, WORKER_ARMED, WORKER_FAILED };
int worker__start(enum worker_start how);

/* Any thread, a callback too: there is work before the next tick. */
void worker__poke(void);

/* The exit of the process: what is armed is flushed and disarmed by the worker, awaited for half a second. */
void worker__exit(void);

/* In a child of fork(): there is no worker, and there will be none. */
void worker__forked(void);

bool worker__armed(void);

#endif
