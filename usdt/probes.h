/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes of the provider, in the order of enum gpubpf_probe (bpf/events.h). Append-only. X(name, NAME):
 *
 *   #define X(name, NAME) GPUBPF_PROBE_DEFINE(name);
 *   GPUBPF_EACH_PROBE(X)
 */
#ifndef GPUBPF_USDT_PROBES_H
#define GPUBPF_USDT_PROBES_H

#define GPUBPF_EACH_PROBE(X)                                                                                 \
	X(hello_v1, HELLO)                                                                                   \
	X(calls_v1, CALLS)                                                                                   \
	X(activity_v1, ACTIVITY)                                                                             \
	X(names_v1, NAMES)                                                                                   \
	X(modules_v1, MODULES)                                                                               \
	X(status_v1, STATUS)

#endif
