// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "compare/priv.h"
#include "util/fmt.h"

const struct section *compare_section_at(const struct section *const *sections, size_t i)
{
	if (sections)
		return sections[i];
	return compare_sections[i].name ? &compare_sections[i] : NULL;
}

/* Facts that are the same are no news. */
static size_t news(const struct rows *rows)
{
	unsigned columns = section__columns(rows->section);
	size_t n = 0;

	while (n < rows->n && (!strcmp(rows->cells[n * columns].text, "unequal") ||
			       !strcmp(rows->cells[n * columns].text, "missing")))
		n++;
	return n;
}

const char *compare_label(const struct compare *c, const struct section *s)
{
	if (c->verdict == COMPARE_CONTROLLED || s == compare_sections || s == compare_sections + 1)
		return "";
	return c->verdict == COMPARE_INCONCLUSIVE ? " (inconclusive)" : " (not causal)";
}

static int section(const struct compare *c, const struct section *s, uint64_t limit, bool chosen, FILE *f,
		   bool color)
{
	const char *withheld = compare__withheld(c, s);
	struct rows rows;
	char more[FMT_NUM];
	int rc = compare__rows(c, s, &rows);
	size_t all = rows.n, n;

	if (!rc && !strcmp(s->name, "environment") && !chosen)
		all = news(&rows);
	n = limit && limit < all ? (size_t)limit : all;
	if (rc || (!n && !chosen && !withheld))
		goto out;
	fprintf(f, "\n%s%s%s%s: ", color ? "\033[1m" : "", s->title, color ? "\033[0m" : "",
		compare_label(c, s));
	if (!n) {
		fprintf(f, "%s\n", withheld ? withheld : "none");
		goto out;
	}
	fprintf(f, "%s\n", s->population);
	if (s->note)
		fprintf(f, "  (%s)\n", s->note);
	rc = rows__table(&rows, f, n, color);
	if (all > n)
		fprintf(f, "  %s more (-n 0 shows all)\n", fmt_count(more, all - n));
out:
	rows__clear(&rows);
	return rc;
}

int compare_text(const struct compare *c, const struct section *const *sections, uint64_t limit, FILE *f)
{
	bool color = fmt_color(f);
	const struct section *s;
	int rc = compare_head_text(c, f, color);

	for (size_t i = 0; !rc && (s = compare_section_at(sections, i)); i++) {
		/* said once, by the head */
		if (!sections && !compare__shows(c) && i > 1)
			break;
		if (!sections && !compare__asked(c, s))
			continue;
		rc = section(c, s, limit, sections != NULL, f, color);
	}
	if (!rc && !sections && !compare__shows(c))
		fputs("\nThe tables of differences are withheld; --allow-cross-environment shows them, labelled as not causal.\n",
		      f);
	return rc;
}
