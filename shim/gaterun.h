/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gate of this process: the state machine with its lock, its file and its waiters. What changed is set, published under
 * the lock (the file, then the probe), and then whoever waits is woken: he finds published what he was woken for.
 */
#ifndef GPUBPF_SHIM_GATERUN_H
#define GPUBPF_SHIM_GATERUN_H

#include <stdbool.h>
#include <stdint.h>

#include "gate.h"

/* Reads the environment (bpf/gate.h), once: what follows is that of the process at its first touch. */
void gaterun__configure(void);

/* The driver called. */
void gaterun__callback(void);
/* GPUBPF_WARMUP_MS: the worker leaves CUPTI alone so long. True: there is one. */
bool gaterun__warm(void);
uint64_t gaterun__warm_until(void);

/* True: this thread is the initializer of the session that is about to begin, and says gaterun__finish(). */
bool gaterun__initialize(uint32_t session);
/* The same of the worker, for a recorder that came: the first session of the process, or a later one. */
bool gaterun__attach(uint32_t session);
void gaterun__finish(const struct gate_outcome *o);

/* Once more, for a recorder that may have come since. */
void gaterun__say(void);

/* Waits for the initializer of another thread, at most until the deadline. True: ready. */
bool gaterun__await(void);
bool gaterun__ready(void);

/*
 * The exit of the process. Nothing begins any more; an initializer that is at it is waited for, and the process ends here
 * (GPUBPF_GATE_EXIT_STATUS) when it is so after the deadline. False: it is on this very thread's stack.
 */
bool gaterun__exit(void);

/* In a child of fork(). */
void gaterun__forked(void);

#endif
