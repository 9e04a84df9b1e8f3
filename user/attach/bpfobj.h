/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BPFOBJ_H
#define BPFOBJ_H

/*
 * The skeleton of the BPF object, opened from the packed image inside this program. The skeleton's header holds no bytes
 * of its own (the Makefile leaves them out), so that its other functions work and its open does not.
 */
#include "gpubpf.skel.h"

/* The caller's, to be given back with bpfobj_close(); NULL with errno set. */
struct gpubpf_bpf *bpfobj_open(void);
/* NULL is nothing. */
void bpfobj_close(struct gpubpf_bpf *skel);

#endif
