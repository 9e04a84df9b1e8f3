/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The gate's file (bpf/gate.h), from a buffer on the stack: it is written on the application's threads, in the middle of
 * its first CUDA call and of its exit, so nothing here allocates, logs or changes errno.
 */
#ifndef GPUBPF_SHIM_GATEFILE_H
#define GPUBPF_SHIM_GATEFILE_H

#include <stddef.h>
#include <sys/types.h>

#include "gate.h"

struct gatefile {
	const struct gate *gate;
	const char *token; /* hexadecimal digits, or "" */
	pid_t pid;
	uint64_t start_time, sequence, now;
};

/* The text's length, always less than size; 0: it did not fit. */
size_t gatefile__format(const struct gatefile *f, char *text, size_t size);

/*
 * The file of this pid in the folder `dir`, replaced by name. 0, or a negative errno: nothing is left behind. No handle stays
 * open: a program that closes what it does not know would make it another file's.
 */
int gatefile__write(const char *dir, const struct gatefile *f);

/* The sequence of the file that a program before exec() left under this pid, token and start time. 0: none. */
uint64_t gatefile__sequence(const char *dir, const struct gatefile *f);

#endif
