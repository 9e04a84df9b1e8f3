/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef GPUBPF_REPORT_LEAKS_H
#define GPUBPF_REPORT_LEAKS_H

struct err;
struct report;

/* The stacks of what was never freed, where the model was told to keep it call by call. 0 or a negative errno. */
int leaks__read(struct report *r, struct err *err);

#endif
