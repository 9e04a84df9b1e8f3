/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a CUPTI may be: the candidates of cupti__open(), one after the other. Loads nothing. */
#ifndef GPUBPF_SHIM_FIND_H
#define GPUBPF_SHIM_FIND_H

#include "cupti.h"

/* The nth (from 0) object of the process whose file name the filter takes: its path in out. */
typedef bool find_filter(const char *base);
typedef bool find_mapped(size_t nth, find_filter *filter, char *out, size_t size);

struct find {
	const char *root;         /* before the usual places: "" */
	const char *setting;      /* GPUBPF_CUPTI_PATH, or NULL, as the two below */
	const char *library_path; /* LD_LIBRARY_PATH */
	const char *home;         /* CUDA_HOME or CUDA_PATH */
	int major;                /* no newer one than this, 0: any */
	find_mapped *mapped;
};

/* Other than 0 ends the search with that value. The path is the visitor's only during the call. */
typedef int find_visit(const char *path, enum cupti_source source, void *arg);

/* What the last visitor returned; 0: none ended it. */
int find__each(const struct find *f, find_visit *visit, void *arg);

/* struct find.mapped of this process. Not while the loader's lock is held by who waits for this thread. */
bool find__in_process(size_t nth, find_filter *filter, char *out, size_t size);

bool find__is_driver(const char *base); /* find_filter */

#endif
