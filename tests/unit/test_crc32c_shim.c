/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "shim/crc32c.c"
#include "t.h"
#include "util/crc32c.h"

T(check_value)
{
	CHECK(shim_crc32c(0, "123456789", 9) == 0xe3069283);
	CHECK(shim_crc32c(0, "", 0) == 0);
	CHECK(~by_table(~0u, (const unsigned char *)"123456789", 9) == 0xe3069283);
}

/* The reader computes with another implementation: both must agree, at any length, alignment and cut. */
T(same_as_the_readers)
{
	static unsigned char data[1100];

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = i * 131 + (i >> 3);
	for (size_t from = 0; from < 9; from++)
		for (size_t n = 0; n < 1050; n += 1 + n / 40) {
			__u32 want = crc32c(0, data + from, n);

			CHECK(shim_crc32c(0, data + from, n) == want);
			CHECK(~by_table(~0u, data + from, n) == want);
			CHECK(shim_crc32c(shim_crc32c(0, data + from, n / 3), data + from + n / 3,
					  n - n / 3) == want);
		}
}

TEST_MAIN
