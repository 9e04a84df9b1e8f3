/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Payloads of blocks, checked and decompressed into buffers that are used again. */
#ifndef GPUBPF_CAPTURE_PAYLOAD_H
#define GPUBPF_CAPTURE_PAYLOAD_H

#include "capture/format.h"

struct err;
struct ZSTD_DCtx_s;

struct payload {
	struct ZSTD_DCtx_s *zstd;
	uint8_t *stored, *plain;
	size_t stored_size, plain_size;
};

/*
 * 1 and *data (h->plain bytes, valid until the next call); -EBADMSG without a message: damaged (CRC, zstd);
 * other negative errno with one.
 */
int payload__read(struct payload *p, int fd, const struct capture_block_header *h, uint64_t at,
		  const uint8_t **data, struct err *err);
void payload__free(struct payload *p);

#endif
