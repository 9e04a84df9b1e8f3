/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakdowns of the time of made-up calls. */
#ifndef GPUBPF_TEST_SPENT_H
#define GPUBPF_TEST_SPENT_H

#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "latency/breakdown.h"

#define SPENT_THREADS 16

struct spent {
	bool there;                       /* of the next call */
	uint64_t ns[2][BREAKDOWN_CAUSES]; /* inside it, before it */
	struct {
		uint32_t pid, tid;
		uint64_t ret; /* of its last call with a breakdown */
	} thread[SPENT_THREADS];
};

static inline void spent__next(struct spent *s)
{
	s->there = false;
	memset(s->ns, 0, sizeof(s->ns));
}

/* text: CAUSE NS */
static inline void spent__add(struct spent *s, bool between, char *text)
{
	char *cause = strsep(&text, " ");

	for (int i = 0; i < BREAKDOWN_CAUSES; i++)
		if (strcmp(cause, breakdown_names[i]) == 0)
			s->ns[between][i] = strtoull(text ? text : "0", NULL, 0);
	s->there = true;
}

static inline void spent__fill(const uint64_t spent[BREAKDOWN_CAUSES], uint64_t ns,
			       struct gpubpf_latency_part *part, struct gpubpf_latency_off *off)
{
	off->runqueue = spent[BREAKDOWN_RUNQUEUE];
	off->throttled = spent[BREAKDOWN_THROTTLED];
	for (int i = BREAKDOWN_FUTEX; i <= BREAKDOWN_OTHER; i++)
		off->blocked[i - BREAKDOWN_FUTEX] = spent[i];
	part->on_cpu = ns;
	for (int i = 0; i < BREAKDOWN_CAUSES; i++)
		part->on_cpu -= spent[i];
}

static inline void spent__record(struct spent *s, uint32_t pid, uint32_t tid, uint64_t entry, uint64_t took,
				 struct gpubpf_latency_long *l)
{
	unsigned i = 0;

	*l = (struct gpubpf_latency_long){ .head = { .kind = GPUBPF_REC_LATENCY,
						     .size = sizeof(*l),
						     .flags = GPUBPF_LATENCY_OFF,
						     .tgid = pid,
						     .tid = tid,
						     .t_entry = entry,
						     .t_return = entry + took } };
	while (i < SPENT_THREADS - 1 && s->thread[i].tid &&
	       (s->thread[i].pid != pid || s->thread[i].tid != tid))
		i++;
	if (s->thread[i].tid) {
		l->head.flags |= GPUBPF_LATENCY_GAP;
		l->head.t_before = s->thread[i].ret;
		spent__fill(s->ns[1], entry - l->head.t_before, &l->head.gap, &l->gap);
	}
	s->thread[i].pid = pid;
	s->thread[i].tid = tid;
	s->thread[i].ret = entry + took;
	spent__fill(s->ns[0], took, &l->head.call, &l->call);
}

#endif
