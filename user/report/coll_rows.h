/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_REPORT_COLL_ROWS_H
#define GPUBPF_REPORT_COLL_ROWS_H

#include "report/collectives.h"
#include "report/report.h"

extern const struct section report_collective_sections[]; /* ends with name == NULL */
bool collectives_section(const struct section *s);
/* Why there is nothing in it; NULL: there is, or it is none of these. */
const char *collectives_unobserved(const struct report *r, const struct section *s);

int build_collectives(const struct report *r, struct rows *rows);
int build_collective_ranks(const struct report *r, struct rows *rows);
int build_collective_skews(const struct report *r, struct rows *rows);
int build_collective_clocks(const struct report *r, struct rows *rows);

#endif
