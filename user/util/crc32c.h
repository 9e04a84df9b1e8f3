/* SPDX-License-Identifier: GPL-2.0-or-later */
/* CRC-32C (Castagnoli; RFC 3720 B.4), by the CPU's instruction where it has one. */
#ifndef GPUBPF_CRC32C_H
#define GPUBPF_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Starts with crc == 0; a former result goes on: crc32c(crc32c(0, a), b) is the CRC of ab. */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);

/* The two ways by themselves, for the test that they agree. The first is 0 where the CPU lacks it. */
int crc32c_has_hw(void);
uint32_t crc32c_hw(uint32_t crc, const void *data, size_t n);
uint32_t crc32c_table(uint32_t crc, const void *data, size_t n);

#endif
