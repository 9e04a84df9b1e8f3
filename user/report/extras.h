/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_REPORT_EXTRAS_H
#define GPUBPF_REPORT_EXTRAS_H

#include "report/report.h"

/* Why nobody observed what a section of `record --cupti` holds; NULL: somebody did, or it is none of these. */
const char *extras_unobserved(const struct report *r, const struct section *s);

int build_external(const struct report *r, struct rows *rows);
int build_nvtx(const struct report *r, struct rows *rows);
int build_unified(const struct report *r, struct rows *rows);

#endif
