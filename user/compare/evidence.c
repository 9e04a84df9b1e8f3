/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "compare/priv.h"

struct compare_evidence {
	struct digest d; /* without what the tables need */
};

static int copy(char **to, const char *s)
{
	*to = s ? strdup(s) : NULL;
	return s && !*to ? -ENOMEM : 0;
}

int compare_evidence__of(const struct inspection *in, struct compare_evidence **out)
{
	struct compare_evidence *e = calloc(1, sizeof(*e));
	char line[768];
	int rc = e ? 0 : -ENOMEM;

	*out = e;
	if (!rc)
		rc = copy(&e->d.path, in->path);
	if (!rc)
		rc = compare_place(in->meta, &e->d.host, &e->d.boot);
	if (!rc && in->ledger.verdict < LEDGER_UNCONTRADICTED) {
		ledger_headline(&in->ledger, line, sizeof(line));
		rc = copy(&e->d.incomplete, line);
	}
	return rc ? rc : environment__of(in, &e->d.env);
}

void compare_evidence__free(struct compare_evidence *e)
{
	if (!e)
		return;
	free(e->d.path);
	free(e->d.host);
	free(e->d.boot);
	free(e->d.incomplete);
	environment__free(e->d.env);
	free(e);
}

int compare_evidence__judge(const struct compare_evidence *a, const struct compare_evidence *b,
			    bool allow_cross, enum compare_verdict *v, char **why)
{
	struct digest d[2] = { a->d, b->d };
	struct compare c = { .o = { .allow_cross = allow_cross }, .d = d, .n = 2, .arm = { 1, 1 } };
	size_t len;
	FILE *f;
	int rc;

	*why = NULL;
	d[1].arm = 1;
	rc = compare_judge(&c);
	*v = c.verdict;
	f = open_memstream(why, &len);
	for (size_t i = 0; i < c.nreasons; i++) {
		if (f)
			fprintf(f, "%s%s", i ? "; " : "", c.reason[i]);
		free(c.reason[i]);
	}
	free(c.reason);
	if (!f || fclose(f))
		rc = -ENOMEM;
	return rc;
}
