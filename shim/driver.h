/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_DRIVER_H
#define GPUBPF_SHIM_DRIVER_H

/*
 * The worker, before it calls CUPTI for the first time: until the application's first cuInit() is through. We were
 * loaded by it, and a second thread in CUPTI while it is on the stack crashed elsewhere in up to half of the runs. The
 * driver says when: a cuInit() of our own comes back with the first. Later calls return at once.
 */
void driver__await_init(void);

/* A call of the driver that does nothing (cuDriverGetVersion), for the sake of its callbacks. The owner of CUPTI. */
void driver__touch(void);

#endif
