/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings of bytes, each kept once and numbered from 0 in the order of arrival. */
#ifndef GPUBPF_EXPORT_BLOBS_H
#define GPUBPF_EXPORT_BLOBS_H

#include <stddef.h>
#include <stdint.h>

struct blobs {
	struct blob {
		const char *bytes; /* a NUL follows, and they are aligned for integers */
		uint32_t n, hash;
	} * blob;
	size_t n, room;
	uint32_t *slots; /* number + 1; 0: free */
	size_t nslots;
	char *chunk; /* the newest; the first bytes of each lead to the one before */
	size_t used, size;
};

/* All-zero bytes are an empty table. 0 or -ENOMEM (also beyond 2^31 of them). */
int blobs__put(struct blobs *b, const void *bytes, size_t n, uint32_t *number);
int blobs__text(struct blobs *b, const char *text, uint32_t *number);
void blobs__clear(struct blobs *b);

#endif
