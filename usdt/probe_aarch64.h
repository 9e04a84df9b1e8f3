/* SPDX-License-Identifier: BSD-2-Clause */
/* AAPCS64: see usdt/probe.h. */
#ifndef GPUBPF_USDT_PROBE_AARCH64_H
#define GPUBPF_USDT_PROBE_AARCH64_H

#define GPUBPF_PROBE_REG1 "x0"
#define GPUBPF_PROBE_REG2 "x1"
#define GPUBPF_PROBE_REG3 "x2"
#define GPUBPF_PROBE_ARGS "8@x0 8@x1 8@x2"

/* d503201f. Newer kernels emulate it at a probe ("arm64: insn: Simulate nop instruction for better uprobe
 * performance"), older ones step it as they do every other. */
#define GPUBPF_PROBE_INSN "nop"

#endif
