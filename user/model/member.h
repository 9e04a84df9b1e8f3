/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Captures that a merged one was made of (gpubpf.Member): whose a process is, and how far their times can be apart. */
#ifndef GPUBPF_MEMBER_H
#define GPUBPF_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.pb-c.h"

/* More than any pid of Linux (2^22): what a member's process and thread ids grow by, times its index. */
#define MEMBER_IDS 10000000u
#define MEMBERS_MAX 200

/* Of this process; NULL: not a merged capture, or none of its members'. */
const Gpubpf__Member *member_of(const Gpubpf__Meta *m, uint32_t tgid);
/* What the process was called when it was recorded. */
uint32_t member_own_id(const Gpubpf__Meta *m, uint32_t tgid);
/* Both were recorded by one CLOCK_MONOTONIC: one boot of one machine. */
bool member_same_clock(const Gpubpf__Member *a, const Gpubpf__Member *b);
/* How far a difference of their times can be off, at most; false: nobody knows. */
bool member_error(const Gpubpf__Member *a, const Gpubpf__Member *b, uint64_t *ns);
/* "member 2 (host)", cut to fit. */
void member_name(const Gpubpf__Member *m, char *buf, size_t n);

#endif
