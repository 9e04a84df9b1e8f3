// SPDX-License-Identifier: BSD-2-Clause
#include "clock.h"

#include <sched.h>
#include <stdatomic.h>

#include "cupti.h"
#include "guard.h"

/* A preemption or a cold cache widens a bracket; one of so many has neither. */
#define BRACKETS 16

/* Between the questions of one match there is less, between two matches more. */
#define APART 20000ull
#define QUESTIONS 3

static struct {
	_Atomic uint32_t busy; /* whoever finds it so goes on: nobody waits here */
	uint64_t last, gap;
	unsigned asked;
	struct clock_match match, before;
} m;

static void asked(uint64_t now)
{
	uint64_t gap = now - m.last;

	m.last = now;
	if (gap > APART) {
		m.asked = 1;
		m.gap = UINT64_MAX;
		return;
	}
	if (gap < m.gap)
		m.gap = gap;
	if (++m.asked == QUESTIONS)
		m.before = m.match;
	if (m.asked >= QUESTIONS)
		m.match = (struct clock_match){ now, m.gap };
}

uint64_t clock__look(void)
{
	uint64_t best = UINT64_MAX, before = now_ns();

	for (int i = 0; i < BRACKETS; i++) {
		uint64_t now = now_ns();

		best = now - before < best ? now - before : best;
		before = now;
	}
	return best;
}

uint64_t clock__timestamp(void)
{
	uint64_t now = now_ns();

	if (!atomic_exchange_explicit(&m.busy, 1, memory_order_acquire)) {
		asked(now);
		atomic_store_explicit(&m.busy, 0, memory_order_release);
	}
	return now;
}

bool clock__matches(struct clock_match *last, struct clock_match *before)
{
	if (atomic_exchange_explicit(&m.busy, 1, memory_order_acquire))
		return false;
	*last = m.match;
	*before = m.before;
	atomic_store_explicit(&m.busy, 0, memory_order_release);
	return true;
}

void clock__pair(const struct cupti *c, struct gpubpf_status *s)
{
	uint64_t best = UINT64_MAX;

	/* Our own questions are no match of CUPTI's. */
	for (int i = 0; i < 1000 && atomic_exchange_explicit(&m.busy, 1, memory_order_acquire); i++)
		sched_yield();
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
	atomic_store_explicit(&m.busy, 0, memory_order_release);
}
