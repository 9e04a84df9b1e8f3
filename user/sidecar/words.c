// SPDX-License-Identifier: GPL-2.0-or-later
/* Words of a sidecar, for machines and people. */
#include <inttypes.h>

#include "sidecar/priv.h"
#include "util/fmt.h"

const char *sidecar_kind_name(enum sidecar_kind kind)
{
	static const char *const names[SIDECAR_KINDS] = { [SIDECAR_CALL] = "call",
							  [SIDECAR_DEVICE_CALL] = "device_call",
							  [SIDECAR_EXECUTION] = "execution",
							  [SIDECAR_CORRELATION] = "correlation",
							  [SIDECAR_EXTERNAL] = "external" };

	return names[kind];
}

const char *sidecar_status_name(enum sidecar_status status)
{
	static const char *const names[SIDECAR_STATUSES] = { [SIDECAR_MATCHED] = "matched",
							     [SIDECAR_NONE] = "none",
							     [SIDECAR_DIFFERS] = "differs",
							     [SIDECAR_AMBIGUOUS] = "ambiguous",
							     [SIDECAR_UNOBSERVED] = "not_observed" };

	return names[status];
}

const char *sidecar_status_text(enum sidecar_status status)
{
	static const char *const texts[SIDECAR_STATUSES] = {
		[SIDECAR_MATCHED] = "matched",
		[SIDECAR_NONE] = "the capture has none",
		[SIDECAR_DIFFERS] = "the capture has this row with another value",
		[SIDECAR_AMBIGUOUS] = "several calls of the capture have this id",
		[SIDECAR_UNOBSERVED] = "nobody observed that in this capture"
	};

	return texts[status];
}

const char *sidecar_interval_name(enum sidecar_interval interval)
{
	static const char *const names[SIDECAR_INTERVALS] = { [SIDECAR_INSIDE] = "inside",
							      [SIDECAR_OUTSIDE] = "outside_coverage",
							      [SIDECAR_UNANCHORED] = "no_anchor" };

	return names[interval];
}

const char *sidecar_use_name(enum sidecar_use use)
{
	static const char *const names[SIDECAR_USES] = { [SIDECAR_USED] = "used",
							 [SIDECAR_UNUSED] = "empty",
							 [SIDECAR_UNMATCHED] = "unmatched",
							 [SIDECAR_WITHHELD] = "withheld" };

	return names[use];
}

const char *sidecar_carrier_name(enum sidecar_carrier carrier)
{
	static const char *const names[SIDECAR_CARRIERS] = { [SIDECAR_CARRIER_FILE] = "sidecar",
							     [SIDECAR_CARRIER_NVTX] = "nvtx",
							     [SIDECAR_CARRIER_EXTERNAL] = "external_ids" };

	return names[carrier];
}

const char *sidecar__describe(const struct sidecar *s, const struct sidecar_link *l, char *buf, size_t n)
{
	const struct sidecar_node *node = &s->node[l->node];
	size_t at = (size_t)snprintf(buf, n, "nodes[%zu].links[%zu] (line %u): %s ", l->node,
				     (size_t)(l - s->link) - node->first_link, node->line,
				     sidecar_kind_name(l->kind));

	if (at >= n)
		return buf;
	if (l->kind == SIDECAR_CALL)
		snprintf(buf + at, n - at, "%" PRIu64 " entered at %" PRIu64, l->id, l->proof);
	else if (l->kind == SIDECAR_CORRELATION)
		snprintf(buf + at, n - at, "%" PRIu64 " of session %" PRIu64, l->id, l->proof);
	else if (l->kind == SIDECAR_EXTERNAL)
		snprintf(buf + at, n - at, "0x%" PRIx64 " of session %" PRIu64, l->id, l->proof);
	else
		snprintf(buf + at, n - at, "%" PRIu64 " with correlation %" PRIu64, l->id, l->proof);
	return buf;
}

/* ---- For people ---- */

#define NAMED 10

static void print_unmatched(const struct sidecar *s, uint64_t all, FILE *f)
{
	char buf[256];
	unsigned n = 0;

	for (size_t i = 0; i < s->nlinks && n < NAMED; i++) {
		const struct sidecar_link *l = &s->link[i];

		if (l->status == SIDECAR_MATCHED)
			continue;
		fprintf(f, "  not matched: %s: %s\n", sidecar__describe(s, l, buf, sizeof(buf)),
			sidecar_status_text(l->status));
		n++;
	}
	if (all > n)
		fprintf(f, "  not matched: %" PRIu64 " more\n", all - n);
}

static void print_unused(const struct sidecar *s, uint64_t all, FILE *f)
{
	static const char *const why[SIDECAR_USES] = {
		[SIDECAR_UNUSED] = "it is tied to nothing (a label binds nothing)",
		[SIDECAR_UNMATCHED] = "none of its links matched",
		[SIDECAR_WITHHELD] = "its interval is withheld"
	};
	char id[4 * SIDECAR_ID_MAX + 1];
	unsigned n = 0;

	for (size_t i = 0; i < s->nnodes && n < NAMED; i++) {
		const struct sidecar_node *node = &s->node[i];

		if (node->use == SIDECAR_USED)
			continue;
		fprintf(f, "  not used: nodes[%zu] (line %u) %s: %s\n", i, node->line,
			fmt_safe(id, sizeof(id), node->id), why[node->use]);
		n++;
	}
	if (all > n)
		fprintf(f, "  not used: %" PRIu64 " more\n", all - n);
}

static void print_withheld(const struct sidecar *s, uint64_t all, FILE *f)
{
	char id[4 * SIDECAR_ID_MAX + 1];
	unsigned n = 0;

	for (size_t i = 0; i < s->nnodes && n < NAMED; i++) {
		const struct sidecar_node *node = &s->node[i];

		if (node->interval != SIDECAR_OUTSIDE && node->interval != SIDECAR_UNANCHORED)
			continue;
		fprintf(f, "  interval withheld: nodes[%zu] (line %u) %s: %s\n", i, node->line,
			fmt_safe(id, sizeof(id), node->id),
			node->interval == SIDECAR_OUTSIDE
				? "outside of what the capture's clock covers"
				: "nothing ties the wall clock to the capture at that time");
		n++;
	}
	if (all > n)
		fprintf(f, "  interval withheld: %" PRIu64 " more\n", all - n);
}

bool sidecar__print(const struct sidecar *s, FILE *f, bool always)
{
	struct sidecar_coverage c[SIDECAR_CARRIERS];
	const struct sidecar_coverage *own = &c[SIDECAR_CARRIER_FILE];
	uint64_t unmatched, unused;

	sidecar_coverage(s, NULL, c);
	unmatched = own->links - own->matched;
	unused = own->nodes - own->used;
	if (!always && !unmatched && !unused && !own->withheld)
		return true;
	fprintf(f,
		"gpubpf: sidecar %s: %" PRIu64 " of %" PRIu64 " nodes used, %" PRIu64 " of %" PRIu64
		" links matched, %" PRIu64 " of %" PRIu64 " intervals withheld\n",
		s->name, own->used, own->nodes, own->matched, own->links, own->withheld, own->intervals);
	print_unmatched(s, unmatched, f);
	print_unused(s, unused, f);
	print_withheld(s, own->withheld, f);
	return !unmatched && !unused && !own->withheld;
}
