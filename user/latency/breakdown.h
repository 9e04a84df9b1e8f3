/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of a call went, and that between it and the thread's call before it (`record --latency`). The causes
 * add up to the duration: what the kernel's records leave is "unaccounted", which is 0 unless a switch was not seen.
 *
 * What this kernel cannot tell is absent: has_irq and has_throttled say so for the record, inspect for the capture.
 * User and kernel mode are never told apart, nor what page faults cost on the processor: that would mean tracing
 * every system call and fault of the machine.
 */
#ifndef GPUBPF_BREAKDOWN_H
#define GPUBPF_BREAKDOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "util/hmap.h"

enum breakdown_cause {
	BREAKDOWN_ON_CPU,
	BREAKDOWN_RUNQUEUE,
	BREAKDOWN_THROTTLED,
	BREAKDOWN_FUTEX, /* this and those behind it: blocked, in the order of enum gpubpf_wait */
	BREAKDOWN_IOCTL_NVIDIA,
	BREAKDOWN_IOCTL,
	BREAKDOWN_POLL,
	BREAKDOWN_SLEEP,
	BREAKDOWN_FAULT,
	BREAKDOWN_OTHER,
	BREAKDOWN_UNACCOUNTED,
	BREAKDOWN_CAUSES,
};

/* "on_cpu", "runqueue" … for JSON and CSV; and for people: "on a processor", "waiting for a processor" … */
extern const char *const breakdown_names[BREAKDOWN_CAUSES], *const breakdown_words[BREAKDOWN_CAUSES];

struct breakdown {
	uint64_t duration; /* ns */
	uint64_t ns[BREAKDOWN_CAUSES];
	uint64_t excess; /* by which the causes are more than the duration; their sum is duration + excess */
	bool has_irq, has_throttled;   /* false: that time is in on_cpu, or in runqueue */
	uint64_t irq;                  /* of on_cpu: interrupts that came meanwhile */
	uint32_t faults, major_faults; /* page faults; major ones of them */
	uint32_t voluntary, involuntary, migrations;
	uint32_t missed;      /* switches that were not seen */
	uint32_t ioctl_major; /* of the last character device whose ioctl blocked the thread in it; 0: none */
};

/* Of the call itself, and of the time since the thread's measured call before it; false: there was none. */
void breakdown_of_call(const struct gpubpf_latency *rec, struct breakdown *b);
bool breakdown_of_gap(const struct gpubpf_latency *rec, struct breakdown *b);

/* Puts such records beside their calls, in one pass over the file. */
struct breakdowns {
	struct hmap last;                  /* by thread */
	uint64_t records;                  /* so far */
	uint64_t with_irq, with_throttled; /* of them */
};

void breakdowns__init(struct breakdowns *b);
void breakdowns__clear(struct breakdowns *b);
int breakdowns__add(struct breakdowns *b, const struct gpubpf_latency *rec); /* 0 or -ENOMEM */
/* Of this call, until the next breakdowns__add(); NULL: none. */
const struct gpubpf_latency *breakdowns__of(const struct breakdowns *b, const struct gpubpf_call *c);

#endif
