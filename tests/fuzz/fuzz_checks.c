/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a file of checks. What is refused says why and where, on one line that a terminal shows as it is; what is
 * taken is within what the checks rely on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check/config.h"
#include "util/err.h"
#include "util/fmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                           \
	do {                                                                                                 \
		if (!(what))                                                                                 \
			abort();                                                                             \
	} while (0)

static void check_taken(const struct check_config *c)
{
	for (size_t i = 0; i < c->nkernels; i++) {
		MUST(c->kernels[i].name[0] && (!c->kernels[i].has_launches || c->kernels[i].launches));
		MUST(c->kernels[i].ratio >= 0 && c->kernels[i].ratio <= 1000);
		for (size_t k = 0; k < i; k++)
			MUST(strcmp(c->kernels[i].name, c->kernels[k].name));
	}
	MUST(c->nranges <= CHECK_RANGES);
	for (size_t i = 0; i < c->nranges; i++) {
		MUST(c->range[i].first < c->range[i].end);
		MUST(!i ||
		     (c->range[i].first <= c->range[i - 1].first && c->range[i].end >= c->range[i - 1].end));
	}
	MUST(c->tolerance >= 0 && c->busy >= 0 && c->busy <= 1);
	MUST(c->regression > 0 && c->power >= 0.5 && c->power < 1);
	MUST(!c->file && !c->junit && !c->json && !c->github && !c->explain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char safe[4 * sizeof(((struct err *)0)->msg)];
	struct err err = { "" };
	struct check_config c;

	check_config__init(&c);
	if (check_config__parse(&c, "file", (const char *)data, size, &err)) {
		MUST(!strncmp(err.msg, "file:", 5));
		MUST(!strcmp(fmt_safe(safe, sizeof(safe), err.msg), err.msg));
	} else {
		MUST(!err.msg[0]);
		check_taken(&c);
		if (check_config__verify(&c, &err))
			MUST(err.msg[0]);
	}
	check_config__clear(&c);
	return 0;
}
