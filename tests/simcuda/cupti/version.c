/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built once for each libcupti. */
#include "sc.h"

#ifndef SIMCUPTI_BUILT_VERSION
#define SIMCUPTI_BUILT_VERSION CUPTI_API_VERSION
#endif

const uint32_t sc_built_version = SIMCUPTI_BUILT_VERSION;
