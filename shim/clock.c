// SPDX-License-Identifier: BSD-2-Clause
#include "clock.h"

#include "cupti.h"
#include "guard.h"

/* A preemption or a cold cache widens a bracket; one of so many has neither. */
#define BRACKETS 16

uint64_t clock__timestamp(void)
{
	return now_ns();
}

void clock__pair(const struct cupti *c, struct gpubpf_status *s)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t before = now_ns(), after, cupti = 0;
		uint64_t real = clock__read(CLOCK_REALTIME), boot = clock__read(CLOCK_BOOTTIME);

		if (c && c->get_timestamp && CUPTI(c, get_timestamp, &cupti) != ABI_SUCCESS)
			cupti = 0;
		after = now_ns();
		if (after - before >= best)
			continue;
		best = after - before;
		s->a = before + best / 2;
		s->b = real;
		s->c = boot;
		s->d = cupti;
		s->e = (best + 1) / 2;
	}
}
