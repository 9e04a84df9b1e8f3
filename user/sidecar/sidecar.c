// SPDX-License-Identifier: GPL-2.0-or-later
/* Looks at a sidecar, and what all carriers of meaning brought. */
#include <string.h>

#include "join/join.h"
#include "sidecar/priv.h"
#include "trace/trace.h"

const char *sidecar__capture(const struct sidecar *s)
{
	return s->capture;
}

size_t sidecar__nodes(const struct sidecar *s)
{
	return s->nnodes;
}

const struct sidecar_node *sidecar__node(const struct sidecar *s, size_t i)
{
	return &s->node[i];
}

size_t sidecar__links(const struct sidecar *s)
{
	return s->nlinks;
}

const struct sidecar_link *sidecar__link(const struct sidecar *s, size_t i)
{
	return &s->link[i];
}

size_t sidecar__targets(const struct sidecar *s)
{
	return s->ntargets;
}

const struct sidecar_target *sidecar__target(const struct sidecar *s, size_t i)
{
	return &s->target[i];
}

/* ---- Coverage ---- */

static void of_file(const struct sidecar *s, struct sidecar_coverage *c)
{
	c->asked = c->has_links = c->has_intervals = true;
	c->nodes = s->nnodes;
	c->links = s->nlinks;
	c->targets = s->ntargets;
	for (size_t i = 0; i < s->nnodes; i++) {
		const struct sidecar_node *node = &s->node[i];

		c->used += node->use == SIDECAR_USED;
		c->untimed += node->untimed;
		c->intervals += node->has_interval;
		c->withheld += node->has_interval && node->interval != SIDECAR_INSIDE;
	}
	for (size_t i = 0; i < s->nlinks; i++)
		c->by_status[s->link[i].status]++;
	c->matched = c->by_status[SIDECAR_MATCHED];
}

static bool facility(const struct join *j, unsigned which)
{
	for (size_t i = 0; i < join__sessions(j); i++) {
		const struct join_facility *f = &join__session(j, i)->facility[which];

		if (f->tried && !f->result)
			return true;
	}
	return false;
}

static bool timed(const struct join_marker *m)
{
	const struct join_session *s = m->session;

	return m->has_time &&
	       (!s->has_hello || s->hello.time_source != GPUBPF_TIME_CUPTI || s->has_clock_error);
}

/* Nodes are marks and ranges, as in table markers; what is tied to them says their thread and time, and no link. */
static void of_markers(const struct join *j, struct sidecar_coverage *c)
{
	size_t n = join__markers(j);

	c->asked = n || facility(j, GPUBPF_FACILITY_NVTX);
	c->has_intervals = true;
	for (size_t i = 0; i < n; i++) {
		struct join_marker m;
		bool range, shown;

		join__marker(j, i, &m);
		if (m.kind == GPUBPF_MARKER_END && m.paired)
			continue; /* with its start */
		range = m.kind == GPUBPF_MARKER_START && m.has_end;
		shown = m.kind != GPUBPF_MARKER_END && timed(&m);
		c->nodes++;
		c->used += shown;
		c->intervals += range;
		c->withheld += range && !shown;
	}
}

static void of_externals(const struct join *j, struct sidecar_coverage *c)
{
	size_t n = join__externals(j);

	c->asked = n || facility(j, GPUBPF_FACILITY_EXTERNAL);
	c->has_links = true;
	c->nodes = c->links = n;
	for (size_t i = 0; i < n; i++) {
		struct join_external e;

		join__external(j, i, &e);
		c->matched += e.has_call;
	}
	c->used = c->targets = c->by_status[SIDECAR_MATCHED] = c->matched;
	c->by_status[SIDECAR_NONE] = n - c->matched;
}

void sidecar_coverage(const struct sidecar *s, const struct trace *t,
		      struct sidecar_coverage of[SIDECAR_CARRIERS])
{
	memset(of, 0, SIDECAR_CARRIERS * sizeof(*of));
	if (s)
		of_file(s, &of[SIDECAR_CARRIER_FILE]);
	if (t && t->in.join) {
		of_markers(t->in.join, &of[SIDECAR_CARRIER_NVTX]);
		of_externals(t->in.join, &of[SIDECAR_CARRIER_EXTERNAL]);
	}
}
