/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef GPUBPF_SHIM_CRC32C_H
#define GPUBPF_SHIM_CRC32C_H

#include <stddef.h>

#include "events.h"

/* CRC-32C (Castagnoli) as user/util/crc32c.h has it: crc is 0 at first, then what the call before returned. */
__u32 shim_crc32c(__u32 crc, const void *data, size_t n);

#endif
