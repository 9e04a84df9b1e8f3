/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The names of this process's kernels and those of its NVTX, and their way out. Two tables: an application that makes up
 * names for NVTX costs no kernel its own. Of the thread that decodes and sends.
 */
#ifndef GPUBPF_SHIM_TEXTS_H
#define GPUBPF_SHIM_TEXTS_H

#include "names.h"

extern struct names texts_kernels, texts_labels;

/* A session: every text counts as not handed over. */
void texts__begin(__u32 session);
/* What waits goes out. */
void texts__send(void);
/* Once a second: a part of what was sent goes out again. One recorder more raises no semaphore that is up, so none is seen. */
void texts__send_again(void);

#endif
