/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks the blocks of a capture by their headers, over damage. Holds no index: memory does not grow with
 * the file. */
#ifndef GPUBPF_CAPTURE_SCAN_H
#define GPUBPF_CAPTURE_SCAN_H

#include "capture/format.h"

struct err;

struct capture_scan {
	int fd;
	uint64_t size; /* of the file when it was opened; what a recorder appends later is not looked at */
	uint64_t at;   /* where the next block header is due */
	uint64_t damaged;
	uint64_t tail; /* only once the end is reached */
	uint8_t *window;
};

#define CAPTURE_SCAN_WINDOW (64u << 10)

/*
 * The next whole block: 1, its header in *h and the offset of its payload in *payload. 0 at the end,
 * negative errno when reading failed.
 */
int capture_scan__next(struct capture_scan *s, struct capture_block_header *h, uint64_t *payload,
		       struct err *err);

/* Reads exactly n bytes: 1; 0 when the file ends before (somebody cut it since); negative errno. */
int capture_pread(int fd, void *buf, size_t n, uint64_t at, struct err *err);

#endif
