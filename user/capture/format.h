/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of the capture file, shared by its writer and its reader. capture.h describes the format. */
#ifndef GPUBPF_CAPTURE_FORMAT_H
#define GPUBPF_CAPTURE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the structs below are the bytes of the file");

#define CAPTURE_MAGIC "GPUBPF\r\n"
#define CAPTURE_VERSION 1
#define CAPTURE_BLOCK_MAGIC "GBLK"

struct capture_file_header {
	char magic[8];
	uint32_t version;
	uint32_t crc; /* of what stands before */
};

#define CAPTURE_FLAG_ZSTD 1u

struct capture_block_header {
	char magic[4];
	uint16_t kind;
	uint16_t flags;
	uint32_t stored;
	uint32_t plain;
	uint32_t count;
	uint32_t payload_crc;
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t reserved;
	uint32_t crc; /* of what stands before */
};

_Static_assert(sizeof(struct capture_file_header) == 16, "file");
_Static_assert(sizeof(struct capture_block_header) == 48, "file");
_Static_assert(offsetof(struct capture_block_header, first_ns) == 24, "file");

/* A reader takes a larger block for damage; a writer refuses to make one. */
#define CAPTURE_PLAIN_MAX (64u << 20)

void capture_file_header_make(struct capture_file_header *h);
bool capture_file_header_right(const struct capture_file_header *h); /* magic and CRC, of any version */
void capture_block_header_seal(struct capture_block_header *h);      /* magic and CRC */
/* CRC and the bounds that hold for every block. */
bool capture_block_header_right(const struct capture_block_header *h);

#endif
