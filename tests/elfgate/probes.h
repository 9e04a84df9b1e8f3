/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every probe of the contract, one site each; with a macro defined, not quite. */
#ifndef TESTS_ELFGATE_PROBES_H
#define TESTS_ELFGATE_PROBES_H

#include "usdt/probe.h"

#ifdef WRONG_REGISTER
#undef GPUBPF_PROBE_ARGS
#ifdef __x86_64__
#define GPUBPF_PROBE_ARGS "8@%%rsi 8@%%rdi 8@%%rdx"
#else
#define GPUBPF_PROBE_ARGS "8@x1 8@x0 8@x2"
#endif
#endif

#ifdef NO_PROBES
static void probes_fire(void *p)
{
	(void)p;
}
#else
GPUBPF_PROBE_DEFINE(hello_v1);
GPUBPF_PROBE_DEFINE(calls_v1);
GPUBPF_PROBE_DEFINE(activity_v1);
GPUBPF_PROBE_DEFINE(names_v1);
GPUBPF_PROBE_DEFINE(modules_v1);
#ifndef MISSING_PROBE
GPUBPF_PROBE_DEFINE(status_v1);
#endif

static void probes_fire(void *p)
{
	GPUBPF_PROBE(hello_v1, p, 1, 1);
	GPUBPF_PROBE(calls_v1, p, 1, 1);
	GPUBPF_PROBE(activity_v1, p, 1, 1);
	GPUBPF_PROBE(names_v1, p, 1, 1);
	GPUBPF_PROBE(modules_v1, p, 1, 1);
#ifndef MISSING_PROBE
	GPUBPF_PROBE(status_v1, p, 1, 1);
#endif
}
#endif

#endif
