// SPDX-License-Identifier: GPL-2.0-or-later
/* Collectives across ranks as sections. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/member.h"
#include "model/names.h"
#include "model/procs.h"
#include "report/coll_rows.h"

#define END                                                                                                  \
	{                                                                                                    \
		NULL, NULL, UNIT_TEXT, NULL, false                                                           \
	}

const char *collectives_unobserved(const struct report *r, const struct section *s)
{
	if (!collectives_section(s))
		return NULL;
	if (!r->coll)
		return "no kernel of NCCL ran";
	if (r->coll->nranks < 2)
		return "kernels of NCCL ran in one rank alone: `gpubpf merge` makes one capture of those of several";
	if (s->build == build_collective_clocks)
		return r->coll->npairs ? NULL : "all ranks have one clock";
	if (s->build != build_collective_ranks && !r->coll->nrows)
		return "no two ranks ran kernels of NCCL with the same names in the same order, all through the capture";
	return NULL;
}

static void name_rank(const struct coll_rank *k, char *buf, size_t n)
{
	char member[96];

	if (!k->member) {
		snprintf(buf, n, "process %u, device %u", k->proc->tgid, k->device);
		return;
	}
	member_name(k->member, member, sizeof(member));
	snprintf(buf, n, "%s, process %u, device %u", member, k->proc->tgid % MEMBER_IDS, k->device);
}

static int rank_cell(struct rows *rows, const struct coll_rank *k)
{
	char text[160];

	name_rank(k, text, sizeof(text));
	return row__text(rows, text);
}

static int kernel_cell(const struct report *r, struct rows *rows, uint32_t name)
{
	char *text = names__display(join__name(r->in.join, name), 0);
	int rc = text ? row__text(rows, text) : -ENOMEM;

	free(text);
	return rc;
}

/* For whom the others waited longest, in all; where nobody must wait, who was the last most often. */
static size_t straggler(const struct collectives *c, const struct coll_row *x)
{
	const uint64_t *by = x->kind->of_all ? x->blamed : x->last;
	size_t worst = 0;

	for (size_t i = 1; i < c->nranks; i++)
		if (by[i] > by[worst])
			worst = i;
	return worst;
}

static int row_cells(const struct report *r, struct rows *rows, const struct coll_row *x)
{
	const struct collectives *c = r->coll;
	bool compared = x->skew.n;
	size_t worst = straggler(c, x);
	int rc;

	row__number(rows, x->n);
	row__number(rows, x->ranks);
	row__number(rows, x->group);
	row__quantiles(rows, &x->skew, true);
	row__maybe(rows, compared, true, x->skew.max);
	row__maybe(rows, compared && x->kind->of_all, x->kind->of_all, x->wait_ns);
	row__maybe(rows, x->has_error, true, x->error_ns);
	row__maybe(rows, !x->doubt, true, x->beyond);
	row__maybe(rows, !x->doubt, true, x->within);
	row__maybe(rows, !x->doubt, true, x->unknown);
	row__number(rows, x->contradicted);
	row__maybe(rows, !x->doubt, true, x->tied);
	row__maybe(rows, x->last[worst], false, x->last[worst]);
	row__maybe(rows, x->last[worst] && x->kind->of_all, false, x->blamed[worst]);
	rc = row__text(rows, x->kind->name);
	if (!rc)
		rc = x->last[worst] ? rank_cell(rows, &c->rank[worst]) : row__text(rows, NULL);
	return rc ? rc : kernel_cell(r, rows, x->name);
}

int build_collectives(const struct report *r, struct rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && r->coll && i < r->coll->nrows; i++)
		rc = rows__add(rows) ? -ENOMEM : row_cells(r, rows, &r->coll->row[i]);
	return rc;
}

int build_collective_ranks(const struct report *r, struct rows *rows)
{
	int rc = 0;

	for (size_t i = 0; !rc && r->coll && i < r->coll->nranks; i++) {
		const struct coll_rank *k = &r->coll->rank[i];
		const Gpubpf__Member *m = k->member;

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, k->kernels);
		row__number(rows, k->matched);
		row__number(rows, k->unmatched);
		row__number(rows, k->pairs);
		row__number(rows, k->untimed);
		row__number(rows, k->collectives);
		row__maybe(rows, k->collectives, true, k->last);
		row__real(rows, k->collectives, true,
			  k->collectives ? (double)k->last / (double)k->collectives : 0);
		row__maybe(rows, k->collectives, true, k->made_wait_ns);
		row__maybe(rows, k->collectives, true, k->waited_ns);
		row__maybe(rows, k->has_error, true, k->error_ns);
		row__number(rows, k->proc->tgid);
		row__number(rows, k->device);
		row__maybe(rows, m, false, m ? m->index : 0);
		rc = row__text(rows, m && m->host ? m->host->hostname : NULL);
	}
	return rc;
}

static const char *judgement(const struct coll_skew *s)
{
	return s->skew_ns <= s->error_ns ? "within the clocks' error"
	       : s->named                ? "one rank was last"
					 : "several ranks were last";
}

int build_collective_skews(const struct report *r, struct rows *rows)
{
	const struct collectives *c = r->coll;
	int rc = 0;

	for (size_t i = 0; !rc && c && i < c->ntop; i++) {
		const struct coll_skew *s = &c->top[i];
		const struct coll_row *row = &c->row[s->row];

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, s->skew_ns);
		row__number(rows, s->error_ns);
		row__number(rows, s->start);
		row__number(rows, row->group);
		row__number(rows, s->index);
		rc = row__text(rows, judgement(s));
		if (!rc)
			rc = s->named ? rank_cell(rows, &c->rank[s->last]) : row__text(rows, NULL);
		if (!rc)
			rc = s->skew_ns > s->error_ns ? rank_cell(rows, &c->rank[s->first])
						      : row__text(rows, NULL);
		if (!rc)
			rc = kernel_cell(r, rows, row->name);
	}
	return rc;
}

/* Whose clock that is, by its first member. */
static const Gpubpf__Member *member_at(const struct collectives *c, unsigned clock)
{
	for (size_t i = 0; i < c->nranks; i++)
		if (c->rank[i].clock == clock)
			return c->rank[i].member;
	return NULL;
}

static int host_cell(struct rows *rows, const Gpubpf__Member *m)
{
	char text[96];

	if (!m)
		return row__text(rows, NULL);
	member_name(m, text, sizeof(text));
	return row__text(rows, text);
}

int build_collective_clocks(const struct report *r, struct rows *rows)
{
	const struct collectives *c = r->coll;
	int rc = 0;

	for (size_t i = 0; !rc && c && i < c->npairs; i++) {
		const struct coll_clocks *p = &c->pair[i];
		const Gpubpf__Member *a = member_at(c, p->a), *b = member_at(c, p->b);
		uint64_t known = 0;
		bool has = a && b && member_error(a, b, &known);

		if (rows__add(rows))
			return -ENOMEM;
		row__number(rows, p->n);
		if (p->n) {
			row__signed(rows, p->low);
			row__signed(rows, p->high);
		} else {
			row__maybe(rows, false, true, 0);
			row__maybe(rows, false, true, 0);
		}
		row__maybe(rows, has, true, known);
		rc = row__text(rows,
			       !p->n ? "nothing: no collective of both"
			       : p->low > p->high
				       ? "no constant difference of the clocks: not the same collectives"
			       : has && (p->low > (int64_t)(known & INT64_MAX) ||
					 p->high < -(int64_t)(known & INT64_MAX))
				       ? "they are further apart than is known of them"
				       : "they agree with what is known");
		if (!rc)
			rc = host_cell(rows, a);
		if (!rc)
			rc = host_cell(rows, b);
	}
	return rc;
}

/* ---- Sections ---- */

/* clang-format off */
static const struct column collective_columns[] = {
	{ "collectives", "COUNT", UNIT_COUNT, "collectives of this name that these ranks ran", false },
	{ "ranks", "RANKS", UNIT_COUNT, "devices of processes that took part", false },
	{ "set", "SET", UNIT_ID, "number of the set of ranks and streams that were matched", false },
	{ "skew_p50_ns", "SKEW P50", UNIT_NS, "median time from the start of the first rank's kernel to that of the last one's, within 1 %", false },
	{ "skew_p99_ns", "P99", UNIT_NS, "99th percentile of the same, within 1 %", false },
	{ "skew_max_ns", "MAX", UNIT_NS, "longest of the same", false },
	{ "wait_ns", "WAITED", UNIT_NS, "time from a rank's start to the last one's, added over the ranks of collectives of all with a skew beyond the error", false },
	{ "clock_error_ns", "± CLOCKS", UNIT_NS, "how far a skew can be off: the largest error between the first and the last rank", false },
	{ "beyond_error", "BEYOND ±", UNIT_COUNT, "collectives whose skew is larger than its error", false },
	{ "within_error", "WITHIN ±", UNIT_COUNT, "collectives whose skew is none that can be told from the clocks' error", false },
	{ "unknown_error", "UNKNOWN ±", UNIT_COUNT, "collectives whose skew nobody can know: how far the clocks are apart is not known", true },
	{ "contradicted", "CONTRADICTED", UNIT_COUNT, "collectives that ended in one rank before they began in another: these are not the same ones, and nothing is said of the set", true },
	{ "tied", "TIED", UNIT_COUNT, "of beyond_error: the last two ranks are within the error", true },
	{ "straggler_last", "LAST", UNIT_COUNT, "collectives that the straggler was the last to begin, beyond the error", false },
	{ "straggler_wait_ns", "FOR IT", UNIT_NS, "part of wait_ns that was for the straggler in these", false },
	{ "kind", NULL, UNIT_TEXT, "AllReduce, AllGather …", false },
	{ "straggler", "STRAGGLER", UNIT_TEXT, "the rank that the others waited for longest, in all; where nobody must wait, that was the last most often", false },
	{ "kernel", "KERNEL", UNIT_TEXT, "name of the kernel", false },
	END };

static const struct column rank_columns[] = {
	{ "kernels", "KERNELS", UNIT_COUNT, "kernels of NCCL", false },
	{ "matched", "MATCHED", UNIT_COUNT, "of these: in a stream that has its like in another rank", false },
	{ "unmatched", "NOT MATCHED", UNIT_COUNT, "of these: in a stream whose names or their order no other rank has", false },
	{ "point_to_point", "POINT TO POINT", UNIT_COUNT, "of these: sends and receives, whose partners are not known: never matched", true },
	{ "untimed", "NO TIME", UNIT_COUNT, "of unmatched: without accepted times; nothing of their stream is matched", true },
	{ "collectives", "COMPARED", UNIT_COUNT, "collectives of all (AllReduce, AllGather, ReduceScatter) whose skew is known", false },
	{ "last", "LAST", UNIT_COUNT, "of these: it was the last to begin, beyond the error of the clocks", false },
	{ "last_share", "SHARE", UNIT_SHARE, "last divided by collectives", false },
	{ "made_wait_ns", "OTHERS WAITED", UNIT_NS, "time that the other ranks waited for it then, added", false },
	{ "waited_ns", "WAITED", UNIT_NS, "time that it waited for a rank that was the last beyond the error", false },
	{ "clock_error_ns", NULL, UNIT_NS, "bound on the error of its device times against its machine's clock", false },
	{ "pid", "PID", UNIT_ID, "process; of a merged capture: as in section processes", false },
	{ "device", "DEVICE", UNIT_ID, "ordinal that the process gives the device", false },
	{ "member", "MEMBER", UNIT_ID, "of a merged capture: which of the captures", true },
	{ "hostname", "HOST", UNIT_TEXT, "its machine", true },
	END };

static const struct column skew_columns[] = {
	{ "skew_ns", "SKEW", UNIT_NS, "from the start of the first rank's kernel to that of the last one's", false },
	{ "clock_error_ns", "± CLOCKS", UNIT_NS, "how far that can be off", false },
	{ "start_ns", NULL, UNIT_NS, "start of the first, CLOCK_MONOTONIC", false },
	{ "set", "SET", UNIT_ID, "number of the set of ranks and streams", false },
	{ "index", "INDEX", UNIT_ID, "which one of the set's, from 0", false },
	{ "judgement", "WHICH SAYS", UNIT_TEXT, "what follows", false },
	{ "last", "LAST", UNIT_TEXT, "the rank that began last, where that is beyond the error", false },
	{ "first", "FIRST", UNIT_TEXT, "the rank that began first, where the skew is beyond the error", false },
	{ "kernel", "KERNEL", UNIT_TEXT, "name of the kernel", false },
	END };

static const struct column clock_columns[] = {
	{ "collectives", "COLLECTIVES", UNIT_COUNT, "collectives of all in which both took part", false },
	{ "low_ns", "LEAST ns", UNIT_NS, "the second clock is ahead of the first by no less, or a collective ended in one before it began in the other", false },
	{ "high_ns", "MOST ns", UNIT_NS, "and by no more", false },
	{ "known_error_ns", "± KNOWN", UNIT_NS, "how far they can be apart by what the kernels or --host-error said", false },
	{ "judgement", "WHICH SAYS", UNIT_TEXT, "what follows", false },
	{ "first", "FIRST", UNIT_TEXT, "a member of the first clock", false },
	{ "second", "SECOND", UNIT_TEXT, "a member of the second clock", false },
	END };

#define ASSUMED "which communicator a kernel belongs to is not recorded: streams of several ranks whose kernels of NCCL have the " \
	"same names in the same order are taken for one, and its n-th kernels for one collective"

const struct section report_collective_sections[] = {
	{ "collectives", "Collectives", "one row per name and set of ranks; collectives of NCCL that were matched across ranks", ASSUMED,
	  collective_columns, "wait_ns", build_collectives },
	{ "collective_ranks", "Ranks", "one row per device of a process; kernels of NCCL", NULL, rank_columns, "made_wait_ns",
	  build_collective_ranks },
	{ "collective_skews", "Largest skews", "one row per collective; the 100 with the largest skew that is known", NULL, skew_columns,
	  NULL, build_collective_skews },
	{ "collective_clocks", "Clocks by collectives", "one row per two clocks; collectives of all, which cannot end in one rank before "
	  "they begin in another", NULL, clock_columns, NULL, build_collective_clocks },
	{ NULL, NULL, NULL, NULL, NULL, NULL, NULL },
};
/* clang-format on */

bool collectives_section(const struct section *s)
{
	for (const struct section *each = report_collective_sections; each->name; each++)
		if (each == s)
			return true;
	return false;
}
