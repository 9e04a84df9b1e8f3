/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metadata of made-up captures. */
#ifndef GPUBPF_TEST_MADE_META_H
#define GPUBPF_TEST_MADE_META_H

#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"

#define MADE_REFUSED_MAX 8

struct made_meta {
	char mode[16];
	uint32_t refused[MADE_REFUSED_MAX]; /* ids of entry points */
	unsigned nrefused;
};

/* WORD ORDER [REASON] */
static inline int made_ready(uint32_t pid, char *text, struct capture_writer *w, struct err *err)
{
	Gpubpf__Readiness r = GPUBPF__READINESS__INIT, *list[] = { &r };
	Gpubpf__Meta m = GPUBPF__META__INIT;

	r.tgid = pid;
	r.readiness = strsep(&text, " ");
	r.order = strsep(&text, " ");
	r.reason = text;
	m.n_readiness = 1;
	m.readiness = list;
	return capture_writer__meta(w, &m, err);
}

static inline void made_meta__apply(struct made_meta *of, Gpubpf__Meta *m)
{
	m->mode = of->mode[0] ? of->mode : (char *)"launch";
	for (unsigned i = 0; i < of->nrefused; i++) {
		m->api[of->refused[i]]->has_error = true;
		m->api[of->refused[i]]->error = 22;
	}
}

#endif
