/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads and unloads of modules. The callback copies the cubin into a pool that is mapped once; checksum and hand-over
 * are the worker's. No room for the bytes: the load is said without a checksum; no room for the entry: it is counted.
 */
#ifndef GPUBPF_SHIM_MODULES_H
#define GPUBPF_SHIM_MODULES_H

#include <stddef.h>
#include <stdint.h>

#include "events.h"

/* Once per process, before the first callback. 0, or an errno. */
int modules__map(void);
/* A session: what waits is dropped, losses from 0. The owner of CUPTI, in PHASE_OFF. */
void modules__begin(void);

/* Any thread, inside a callback. m is complete but for the checksum; bytes: m->bytes of them, or NULL. */
void modules__add(const struct gpubpf_module *m, const void *bytes);
/* The worker. */
void modules__send(void);
uint64_t modules__lost(void); /* of this session */

#endif
