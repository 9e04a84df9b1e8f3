/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_INJECT_H
#define GPUBPF_SHIM_INJECT_H

#include <stdbool.h>

/* This process was forked from one that the shim was at work in. */
bool inject__forked(void);

/* The end of the process is to pass by the shim before it passes by what was loaded until now. */
void inject__hook_exit(void);

#endif
