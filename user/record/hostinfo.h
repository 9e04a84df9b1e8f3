/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the machine is, for the capture's metadata. What cannot be read stays absent. */
#ifndef GPUBPF_HOSTINFO_H
#define GPUBPF_HOSTINFO_H

#include <stdbool.h>
#include <stddef.h>

#include "capture.pb-c.h"

#define HOSTINFO_GPUS 64

struct hostinfo {
	Gpubpf__Host host;
	Gpubpf__Gpu gpu[HOSTINFO_GPUS], *gpus[HOSTINFO_GPUS];
	size_t ngpus;
	char hostname[256], boot_id[64], kernel[256], arch[65], driver[64];
	char text[HOSTINFO_GPUS][3][128];
};

void hostinfo_read(struct hostinfo *h);

/* Several clocks at one moment, the tightest of some tries. */
void clock_pair_read(Gpubpf__ClockPair *p);

#endif
