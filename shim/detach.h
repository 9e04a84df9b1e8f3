/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Taking CUPTI out of the driver at the end of a session. After CUPTI was on, each launch costs about a microsecond more
 * for the rest of the process's life, with nothing enabled and nobody subscribed (driver 580: 3.7 and 4.1 us a launch
 * before, 4.7 and 5.2 after); with cuptiFinalize() it is what it was. The place that NVIDIA names for that call is the
 * exit of an API call, in its callback. No thread of the application is to call CUPTI there, so the worker makes
 * a call of its own.
 */
#ifndef GPUBPF_SHIM_DETACH_H
#define GPUBPF_SHIM_DETACH_H

#include "cupti.h"

/* CUPTI before 12.6 crashed when graphs were launched after it had left and come back. */
bool detach__can(const struct cupti *c);

/*
 * The owner of CUPTI, with every callback disabled: true when CUPTI is gone, and the subscription with it. False: it is as
 * before, *result says why.
 */
bool detach__leave(struct cupti *c, cupti_subscriber s, cupti_result *result);

/* From the callback, which finds no session. */
void detach__on_callback(int domain, uint32_t cbid, const void *data);

#endif
