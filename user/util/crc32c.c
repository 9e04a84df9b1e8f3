// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "util/crc32c.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7) /* arch/arm64/include/uapi/asm/hwcap.h */
#endif
#endif

/* The remainders of the 16 values of a nibble under the reflected polynomial 0x82f63b78. */
static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c_table(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; n; n--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)

int crc32c_has_hw(void)
{
	return __builtin_cpu_supports("sse4.2") != 0;
}

__attribute__((target("sse4.2"))) uint32_t crc32c_hw(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t c = (uint32_t)~crc, word;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		c = _mm_crc32_u64(c, word);
	}
	for (; n; n--)
		c = _mm_crc32_u8((uint32_t)c, *p++);
	return ~(uint32_t)c;
}

#elif defined(__aarch64__)

int crc32c_has_hw(void)
{
	return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

/* By assembly: gcc and clang disagree on how a single function gets the extension's intrinsics. */
uint32_t crc32c_hw(uint32_t crc, const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t word;

	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&word, p, 8);
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
	}
	for (; n; n--)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((uint32_t)*p++));
	return ~crc;
}

#else

int crc32c_has_hw(void)
{
	return 0;
}

uint32_t crc32c_hw(uint32_t crc, const void *data, size_t n)
{
	return crc32c_table(crc, data, n);
}

#endif

uint32_t crc32c(uint32_t crc, const void *data, size_t n)
{
	return crc32c_has_hw() ? crc32c_hw(crc, data, n) : crc32c_table(crc, data, n);
}
