/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_INJECT_H
#define GPUBPF_SHIM_INJECT_H

/* The end of the process is to pass by the shim before it passes by what was loaded until now. */
void inject__hook_exit(void);

#endif
