// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "capture/format.h"
#include "util/crc32c.h"

void capture_file_header_make(struct capture_file_header *h)
{
	memcpy(h->magic, CAPTURE_MAGIC, sizeof(h->magic));
	h->version = CAPTURE_VERSION;
	h->crc = crc32c(0, h, offsetof(struct capture_file_header, crc));
}

bool capture_file_header_right(const struct capture_file_header *h)
{
	return memcmp(h->magic, CAPTURE_MAGIC, sizeof(h->magic)) == 0 &&
	       h->crc == crc32c(0, h, offsetof(struct capture_file_header, crc));
}

void capture_block_header_seal(struct capture_block_header *h)
{
	memcpy(h->magic, CAPTURE_BLOCK_MAGIC, sizeof(h->magic));
	h->crc = crc32c(0, h, offsetof(struct capture_block_header, crc));
}

bool capture_block_header_right(const struct capture_block_header *h)
{
	if (memcmp(h->magic, CAPTURE_BLOCK_MAGIC, sizeof(h->magic)) != 0 ||
	    h->crc != crc32c(0, h, offsetof(struct capture_block_header, crc)))
		return false;
	if (h->plain > CAPTURE_PLAIN_MAX || h->stored > CAPTURE_PLAIN_MAX)
		return false;
	return (h->flags & CAPTURE_FLAG_ZSTD) || h->stored == h->plain;
}
