/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "attach/bpfobj.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

extern const char gpubpf_bpf_image[], gpubpf_bpf_image_end[];

/* The last four bytes of a gzip file are the size of what it holds. */
static size_t plain_size(const unsigned char *file, size_t n)
{
	uint32_t size;

	memcpy(&size, file + n - sizeof(size), sizeof(size));
	return le32toh(size);
}

static void *unpacked(size_t *size)
{
	unsigned char *packed = (unsigned char *)(uintptr_t)gpubpf_bpf_image;
	size_t npacked = (uintptr_t)gpubpf_bpf_image_end - (uintptr_t)gpubpf_bpf_image;
	size_t n = plain_size(packed, npacked);
	z_stream z = { .next_in = packed, .avail_in = (unsigned)npacked };
	void *plain = malloc(n);
	int e;

	if (!plain || inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) {
		free(plain);
		errno = ENOMEM;
		return NULL;
	}
	z.next_out = plain;
	z.avail_out = (unsigned)n;
	e = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	if (e != Z_STREAM_END) {
		free(plain);
		errno = EILSEQ;
		return NULL;
	}
	*size = n;
	return plain;
}

struct gpubpf_bpf *bpfobj_open(void)
{
	struct gpubpf_bpf *skel = calloc(1, sizeof(*skel));
	int e;

	if (!skel)
		return NULL;
	e = gpubpf_bpf__create_skeleton(skel);
	if (!e) {
		skel->skeleton->data = unpacked(&skel->skeleton->data_sz);
		e = skel->skeleton->data ? bpf_object__open_skeleton(skel->skeleton, NULL) : -errno;
	}
	if (e) {
		bpfobj_close(skel);
		errno = -e;
		return NULL;
	}
	return skel;
}

void bpfobj_close(struct gpubpf_bpf *skel)
{
	void *image;

	if (!skel)
		return;
	image = skel->skeleton ? (void *)(uintptr_t)skel->skeleton->data : NULL;
	gpubpf_bpf__destroy(skel);
	free(image);
}
