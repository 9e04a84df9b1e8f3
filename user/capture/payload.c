// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <stdlib.h>
#include <zstd.h>

#include "capture/payload.h"
#include "capture/scan.h"
#include "util/crc32c.h"
#include "util/err.h"

static int reserve(uint8_t **buf, size_t *size, size_t want, struct err *err)
{
	if (want <= *size && *buf)
		return 0;
	free(*buf);
	*buf = malloc(want ? want : 1);
	*size = *buf ? want : 0;
	return *buf ? 0 : err_set(err, -ENOMEM, "out of memory for a block of %zu bytes", want);
}

static int decompress(struct payload *p, const struct capture_block_header *h, struct err *err)
{
	int r = reserve(&p->plain, &p->plain_size, h->plain, err);

	if (r)
		return r;
	if (!p->zstd)
		p->zstd = ZSTD_createDCtx();
	if (!p->zstd)
		return err_set(err, -ENOMEM, "out of memory");
	if (ZSTD_findFrameCompressedSize(p->stored, h->stored) != h->stored ||
	    ZSTD_decompressDCtx(p->zstd, p->plain, h->plain, p->stored, h->stored) != h->plain)
		return -EBADMSG;
	return 0;
}

int payload__read(struct payload *p, int fd, const struct capture_block_header *h, uint64_t at,
		  const uint8_t **data, struct err *err)
{
	int r = reserve(&p->stored, &p->stored_size, h->stored, err);

	if (r)
		return r;
	r = capture_pread(fd, p->stored, h->stored, at, err);
	if (r < 0)
		return r;
	if (r == 0 || crc32c(0, p->stored, h->stored) != h->payload_crc)
		return -EBADMSG;
	*data = p->stored;
	if (h->flags & CAPTURE_FLAG_ZSTD) {
		r = decompress(p, h, err);
		*data = p->plain;
	}
	return r ? r : 1;
}

void payload__free(struct payload *p)
{
	ZSTD_freeDCtx(p->zstd);
	free(p->stored);
	free(p->plain);
}
