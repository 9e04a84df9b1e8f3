/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of entry points in the metadata of a capture that a tool makes up. */
#ifndef TESTS_TOOLS_META_APIS_H
#define TESTS_TOOLS_META_APIS_H

#include <errno.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "model/apitab.h"

/* 0 or -ENOMEM. Strings stay the table's. */
static inline int meta_apis(Gpubpf__Meta *m, const struct apitab *tab)
{
	size_t n = apitab__size(tab);
	Gpubpf__Api *api = calloc(n, sizeof(*api));

	m->api = calloc(n, sizeof(*m->api));
	if (!api || !m->api) {
		free(api);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct api *a = apitab__get(tab, (uint32_t)i);

		gpubpf__api__init(m->api[i] = &api[i]);
		api[i].id = (uint32_t)i;
		api[i].symbol = (char *)a->symbol;
		api[i].kind = (char *)a->kind;
		api[i].signature = (char *)a->signature;
		api[i].has_legacy32 = true;
		api[i].legacy32 = a->legacy32;
	}
	m->n_api = n;
	return 0;
}

static inline void meta_apis_free(Gpubpf__Meta *m)
{
	free(m->api[0]);
	free(m->api);
}

#endif
