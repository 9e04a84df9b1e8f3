/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiled against the real CUDA headers, where they are: every fact our own headers state must hold there. */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "abi_ours.h"

int simcuda_abi_agrees;
