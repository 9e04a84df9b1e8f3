/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a semantic sidecar. What is refused says why, on one line that a terminal shows as it is; what is taken is
 * within the limits and refers to itself alone.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sidecar/sidecar.h"
#include "util/err.h"
#include "util/fmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(what)                                                                                           \
	do {                                                                                                 \
		if (!(what))                                                                                 \
			abort();                                                                             \
	} while (0)

static void check_text(const char *s, size_t max)
{
	char safe[8192];

	MUST(s[0] && strlen(s) <= max && !strcmp(fmt_safe(safe, sizeof(safe), s), s));
}

static void check_links(const struct sidecar *s)
{
	char text[256];

	for (size_t i = 0; i < sidecar__links(s); i++) {
		const struct sidecar_link *l = sidecar__link(s, i);
		const struct sidecar_node *n = sidecar__node(s, l->node);

		MUST(l->kind < SIDECAR_KINDS && i >= n->first_link && i < n->first_link + n->nlinks);
		MUST(l->kind == SIDECAR_EXTERNAL || l->id);
		MUST(sidecar__describe(s, l, text, sizeof(text))[0]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char safe[2 * sizeof(((struct err *)0)->msg)];
	struct err err = { "" };
	struct sidecar *s;

	if (sidecar__parse("file", (const char *)data, size, &s, &err)) {
		MUST(!s && !strncmp(err.msg, "file: ", 6));
		MUST(!strcmp(fmt_safe(safe, sizeof(safe), err.msg), err.msg));
		return 0;
	}
	MUST(!err.msg[0] && strlen(sidecar__capture(s)) == 32 && sidecar__nodes(s) <= SIDECAR_NODES_MAX);
	for (size_t i = 0; i < sidecar__nodes(s); i++) {
		const struct sidecar_node *n = sidecar__node(s, i);

		check_text(n->id, SIDECAR_ID_MAX);
		check_text(n->label, SIDECAR_LABEL_MAX);
		if (n->kind)
			check_text(n->kind, SIDECAR_KIND_MAX);
		MUST(n->parent <= i && n->start_ns <= n->end_ns && n->line);
	}
	check_links(s);
	sidecar__free(s);
	return 0;
}
