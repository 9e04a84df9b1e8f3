// SPDX-License-Identifier: GPL-2.0-or-later
/* The verdict, why, and what was found, in one paragraph. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"
#include "model/names.h"
#include "util/fmt.h"

static const char *words(const struct compare *c)
{
	switch (c->verdict) {
	case COMPARE_CONTROLLED:
		return "controlled: the environment is known and the same in all captures";
	case COMPARE_CROSS_HOST:
		return "cross-host, not causal: the captures are of different machines, and what differs may be theirs";
	case COMPARE_CROSS_ENVIRONMENT:
		return "cross-environment, not causal: what differs may be the environment's";
	default:
		return compare__shows(c) ? "inconclusive: a capture is incomplete"
					 : "inconclusive: the environment is not known to be the same";
	}
}

struct tally_of {
	uint64_t findings[5], appeared, vanished, unequal;
	double total[2];
	bool timed[2];
};

/* What the head and every format say of the launch keys. */
static int count(const struct compare *c, struct tally_of *t)
{
	int rc = 0;

	*t = (struct tally_of){ 0 };
	for (size_t i = 0; !rc && i < c->items.n; i++) {
		const struct item *it = hmap__at(&c->items, i);
		struct side s[2] = { 0 };

		if (it->key.kind > ITEM_SET)
			continue;
		rc = side__of(c, it, 0, &s[0]) || side__of(c, it, 1, &s[1]) ? -1 : 0;
		for (int arm = 0; arm < 2; arm++) {
			t->total[arm] += side__ns(&s[arm]);
			t->timed[arm] |= s[arm].time.n != 0;
		}
		if (it->key.kind == ITEM_KERNEL) {
			t->appeared += !it->there[0];
			t->vanished += !it->there[1];
			if (it->there[0] && it->there[1]) {
				t->findings[it->finding]++;
				t->unequal += counts_differ(&s[0], &s[1]);
			}
		}
		side__clear(&s[0]);
		side__clear(&s[1]);
	}
	return rc;
}

/* R25: a name of several shapes is never one number, here neither. */
static int shapes_of(const struct compare *c, FILE *f)
{
	struct rows rows;
	const struct section *s = compare_section("names");
	unsigned columns = section__columns(s), at[9] = { 0 };
	static const char *const keys[] = { "name",
					    "delta_ns",
					    "shapes_a",
					    "shapes_b",
					    "shapes_more",
					    "shapes_less",
					    "shapes_within_noise",
					    "shapes_no_difference",
					    "shapes_not_compared" };
	int rc = compare__rows(c, s, &rows), told = 0;
	char ns[FMT_NUM];

	for (unsigned k = 0; k < 9; k++)
		for (unsigned i = 0; i < columns; i++)
			if (!strcmp(s->columns[i].key, keys[k]))
				at[k] = i;
	for (size_t i = 0; !rc && i < rows.n && told < 3; i++) {
		const struct cell *v = rows.cells + i * columns;
		int64_t delta = (int64_t)v[at[1]].number;

		if (v[at[1]].kind != CELL_SIGNED || !delta || (v[at[2]].number < 2 && v[at[3]].number < 2))
			continue;
		told++;
		fprintf(f,
			"  %s%s over %lu shapes, of which %lu take more, %lu less, %lu within the noise, %lu without a difference, %lu not compared: ",
			delta < 0 ? "-" : "+", fmt_ns(ns, (uint64_t)llabs(delta)),
			(unsigned long)(v[at[2]].number > v[at[3]].number ? v[at[2]].number
									  : v[at[3]].number),
			(unsigned long)v[at[4]].number, (unsigned long)v[at[5]].number,
			(unsigned long)v[at[6]].number, (unsigned long)v[at[7]].number,
			(unsigned long)v[at[8]].number);
		fmt_put_safe(f, v[at[0]].text);
		putc('\n', f);
	}
	rows__clear(&rows);
	return rc;
}

static int summary(const struct compare *c, FILE *f)
{
	struct tally_of t;
	char a[FMT_NUM], b[FMT_NUM];
	int rc = count(c, &t);

	if (rc)
		return rc;
	if (t.timed[0] && t.timed[1])
		fprintf(f, "  GPU time per capture: %s in A, %s in B\n", fmt_ns(a, (uint64_t)t.total[0]),
			fmt_ns(b, (uint64_t)t.total[1]));
	if (!t.timed[0] && !t.timed[1])
		return 0;
	fprintf(f,
		"  launch keys: %lu take more, %lu less; %lu within the noise, %lu without a difference, %lu with too few "
		"runs to compare; %lu appeared, %lu vanished\n",
		(unsigned long)t.findings[STATS_MORE], (unsigned long)t.findings[STATS_LESS],
		(unsigned long)t.findings[STATS_WITHIN_NOISE], (unsigned long)t.findings[STATS_NO_DIFFERENCE],
		(unsigned long)t.findings[STATS_NOT_COMPARED], (unsigned long)t.appeared,
		(unsigned long)t.vanished);
	if (t.unequal)
		fprintf(f,
			"  note: %lu launch keys ran not equally often in both: their totals mix the cost of one with the "
			"amount of work\n",
			(unsigned long)t.unequal);
	if (c->arm[0] == 1 && c->arm[1] == 1)
		fputs("  note: one capture per arm: how much runs differ from one another was not measured; "
		      "`gpubpf diff A1 A2 A3 -- B1 B2 B3` does\n",
		      f);
	return shapes_of(c, f);
}

int compare_head_text(const struct compare *c, FILE *f, bool color)
{
	if (color)
		fputs(c->verdict == COMPARE_CONTROLLED ? "\033[1;32m" : "\033[1;33m", f);
	fputs(words(c), f);
	fputs(color ? "\033[0m\n" : "\n", f);
	for (size_t i = 0; i < c->nreasons; i++) {
		fputs("  evidence: ", f);
		fmt_put_safe(f, c->reason[i]);
		putc('\n', f);
	}
	for (size_t i = 0; i < c->n; i++) {
		if (!c->d[i].device_alone)
			continue;
		fputs("  note: the host observer is missing in ", f);
		fmt_put_safe(f, c->d[i].path);
		fputs(": a launch that left no record at all is not seen; `gpubpf gate -k NAME -t N` holds the count of a "
		      "kernel against what the workload must launch\n",
		      f);
	}
	return compare__shows(c) ? summary(c, f) : 0;
}

const char *compare_words(const struct compare *c)
{
	return words(c);
}

int compare_summary(const struct compare *c, struct compare_summary *s)
{
	struct tally_of t;
	int rc = count(c, &t);

	*s = (struct compare_summary){ .appeared = t.appeared, .vanished = t.vanished, .unequal = t.unequal };
	memcpy(s->findings, t.findings, sizeof(s->findings));
	memcpy(s->total_ns, t.total, sizeof(s->total_ns));
	memcpy(s->timed, t.timed, sizeof(s->timed));
	return rc;
}
