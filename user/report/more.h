/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections that --memory and --modules add: printed only when they are asked for. */
#ifndef GPUBPF_REPORT_MORE_H
#define GPUBPF_REPORT_MORE_H

#include "report/report.h"

extern const struct section report_memory_sections[]; /* each ends with name == NULL */
extern const struct section report_module_sections[];

/* Names of the sections of --memory and of --modules, in their order; NULL behind the last. */
extern const char *const report_memory_preset[];
extern const char *const report_modules_preset[];

/* Whether it is left out where nobody asks. */
bool section__is_more(const struct section *s);
/* What the model has to keep for a section. `stacks`: the capture has some. */
void section__needs(const struct section *s, bool stacks, struct model_opts *o);
/* What is said beside a section's title; NULL: nothing. */
const char *report__note(const struct report *r, const struct section *s);
/* A section of memory, which belongs to processes: nothing of it is there for a choice of threads. */
bool section__of_memory(const struct section *s);

int build_memory_evidence(const struct report *r, struct rows *rows);
int build_memory_peaks(const struct report *r, struct rows *rows);
int build_memory_live(const struct report *r, struct rows *rows);
int build_leaks(const struct report *r, struct rows *rows);
int build_free_matches(const struct report *r, struct rows *rows);
int build_memory_pools(const struct report *r, struct rows *rows);
int build_device_memory(const struct report *r, struct rows *rows);
int build_placement(const struct report *r, struct rows *rows);

int build_module_phases(const struct report *r, struct rows *rows);
int build_load_calls(const struct report *r, struct rows *rows);
int build_load_kernels(const struct report *r, struct rows *rows);

#endif
