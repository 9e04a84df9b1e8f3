/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the device launched itself: kernels in the body of a conditional graph node, or launched by other kernels. CUPTI
 * gives them no correlation id, no graph and no node, and the launch of such a graph gets no record of its own. Nothing
 * says which execution belongs to which launch; that so many launches have one of their own behind them can be told.
 */
#include "join/priv.h"

#include <errno.h>
#include <stdlib.h>

enum { GRAPHS = GPUBPF_WORK_GRAPH - GPUBPF_WORK_LAUNCH }; /* the population */

int silent_call(struct join *j, struct session *s, unsigned population, uint64_t entry)
{
	struct silent_graph *g;

	s->silent[population]++;
	if (population != GRAPHS || !j->totals.links[JOIN_DEVICE_LAUNCHED])
		return 0;
	g = vec__add(&j->silent_graphs);
	if (!g)
		return -ENOMEM;
	*g = (struct silent_graph){ entry, s };
	return 0;
}

static int by_entry(const void *a, const void *b)
{
	const struct silent_graph *x = a, *y = b;

	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* Both in the order of time: an execution is taken by a launch that waits, each by one. No other choice serves more launches. */
static void give(struct join *j, const struct silent_graph *g, uint32_t n)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < j->ntimed; i++) {
		const struct act *a = act_at(j, j->order[i]);
		struct session *s = session_of(j, a);

		if (judge_link(j, a) != JOIN_DEVICE_LAUNCHED || judge_time(j, a) != JOIN_TIME_VALID)
			continue;
		while (next < n &&
		       g[next].entry <= add_clamped(a->start, g[next].session->pub.clock_error_ns))
			g[next++].session->waiting++;
		if (!s->waiting)
			continue;
		s->waiting--;
		s->silent[GRAPHS]--;
		j->totals.line[GRAPHS].device_launched++;
	}
}

int explain_by_device(struct join *j)
{
	uint32_t n = j->silent_graphs.n;
	struct silent_graph *g;

	if (!n)
		return 0;
	g = malloc(n * sizeof(*g));
	if (!g)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		g[i] = *(const struct silent_graph *)vec__at(&j->silent_graphs, i);
	qsort(g, n, sizeof(*g), by_entry);
	give(j, g, n);
	free(g);
	return 0;
}
