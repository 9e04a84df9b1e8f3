/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled against the real CUPTI headers of 13.0, where they are: every fact our cupti.h states must hold there. */
#include <cupti.h>

#if CUPTI_API_VERSION >= 130001 && CUPTI_API_VERSION < 130100
#include "abi_ours_cupti.h"
#endif

int simcupti_abi_agrees;
