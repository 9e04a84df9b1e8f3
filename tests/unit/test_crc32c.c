// SPDX-License-Identifier: GPL-2.0-or-later
#include "../t.h"

#include "util/crc32c.h"

/* RFC 3720 B.4 */
T(known_values)
{
	uint8_t buf[32];

	memset(buf, 0, 32);
	CHECK(crc32c(0, buf, 32) == 0x8a9136aa);
	memset(buf, 0xff, 32);
	CHECK(crc32c(0, buf, 32) == 0x62a8ab43);
	for (int i = 0; i < 32; i++)
		buf[i] = (uint8_t)i;
	CHECK(crc32c(0, buf, 32) == 0x46dd794e);
	CHECK(crc32c(0, "123456789", 9) == 0xe3069283);
	CHECK(crc32c(0, "", 0) == 0);
}

T(instruction_and_table_agree)
{
	uint8_t buf[300];
	uint32_t random = 1;

	if (!crc32c_has_hw())
		SKIP("a CRC-32C instruction");
	for (unsigned i = 0; i < sizeof(buf); i++)
		buf[i] = (uint8_t)((random = random * 1103515245 + 12345) >> 16);
	for (unsigned from = 0; from < 9; from++)
		for (unsigned n = 0; n + from <= sizeof(buf); n++)
			if (crc32c_hw(n * 77, buf + from, n) != crc32c_table(n * 77, buf + from, n))
				CHECKF(0, "%u bytes from %u", n, from);
}

T(goes_on_from_a_former_result)
{
	CHECK(crc32c(crc32c(0, "1234", 4), "56789", 5) == crc32c(0, "123456789", 9));
	CHECK(crc32c_table(crc32c_table(0, "1234", 4), "56789", 5) == 0xe3069283);
}

TEST_MAIN
