/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What CUPTI calls on the application's threads, in the middle of a driver call that may hold any of its locks. So
 * nothing here waits for CUPTI, for the driver, or for whoever waits for them: no call of CUPTI or CUDA, no dlopen, no
 * join; time is taken, a record is filled, bytes are copied.
 */
#ifndef GPUBPF_SHIM_CALLBACKS_H
#define GPUBPF_SHIM_CALLBACKS_H

#include "cupti.h"

/* Before the first subscription; once is enough. */
void callbacks__init(void);

cupti_callback callbacks__on;

/* The driver callbacks to enable. work 0: the load of a module, whose begin alone is wanted. */
struct callbacks_entry {
	uint16_t cbid;
	uint8_t work; /* enum gpubpf_work */
};
extern const struct callbacks_entry callbacks_driver[];
extern const size_t callbacks_driver_size;

#endif
