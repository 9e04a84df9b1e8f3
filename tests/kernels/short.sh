#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# timeout: 900
# C14: one old kernel and one of the other architecture, as a part of `make test`.
RAW=1 KERNELS=$KERNELS_SHORT KERNEL_APPEND=gpubpf_short exec "$(dirname "$0")/run.sh"
