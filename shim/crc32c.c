/* SPDX-License-Identifier: BSD-2-Clause */
#include "crc32c.h"

#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

/* Half a byte at a step: 64 bytes of table are enough for the few CPUs without the instruction. RFC 3720 B.4. */
static __u32 by_table(__u32 crc, const unsigned char *p, size_t n)
{
	static const __u32 table[16] = {
		0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
		0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
		0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
	};

	while (n--) {
		crc ^= *p++;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return crc;
}

#ifdef __x86_64__
static int has_instruction(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}

__attribute__((target("sse4.2"))) static __u32 by_instruction(__u32 crc, const unsigned char *p, size_t n)
{
	__UINT64_TYPE__ word, wide = crc;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = wide;
	while (n--)
		crc = __builtin_ia32_crc32qi(crc, *p++);
	return crc;
}
#else
#define HWCAP_CRC (1u << 7) /* HWCAP_CRC32 of asm/hwcap.h */

static int has_instruction(void)
{
	return getauxval(AT_HWCAP) & HWCAP_CRC;
}

/* By asm: what turns the builtins on differs between gcc and clang. */
static __u32 by_instruction(__u32 crc, const unsigned char *p, size_t n)
{
	__UINT64_TYPE__ word;

	for (; n >= 8; p += 8, n -= 8) {
		memcpy(&word, p, 8);
		__asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %x1" : "+r"(crc) : "r"(word));
	}
	for (; n; p++, n--)
		__asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1" : "+r"(crc) : "r"((__u32)*p));
	return crc;
}
#endif

__u32 shim_crc32c(__u32 crc, const void *data, size_t n)
{
	return ~(has_instruction() ? by_instruction(~crc, data, n) : by_table(~crc, data, n));
}
