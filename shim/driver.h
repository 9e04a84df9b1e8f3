/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_DRIVER_H
#define GPUBPF_SHIM_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The worker, before it calls CUPTI for the first time: until the application's first cuInit() is through. We were
 * loaded by it, and a second thread in CUPTI while it is on the stack crashed elsewhere in up to half of the runs. The
 * driver says when: a cuInit() of our own comes back with the first. Later calls return at once.
 */
void driver__await_init(void);

/* The devices whose primary context is there, a bit each. True: that is all of them, or there is no driver to ask. */
bool driver__contexts(uint64_t *have);

#endif
