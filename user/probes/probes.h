/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The USDT probes of objects, and of what a process has mapped, for people and as JSON. */
#ifndef GPUBPF_PROBES_H
#define GPUBPF_PROBES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "usdt/contract.h"
#include "usdt/stapsdt.h"

struct err;

struct probes_object {
	char *path; /* as it was named, or as the process sees it */
	bool deleted;
	struct usdt_file *file;
	bool checked;
	struct usdt_diffs diffs; /* only when checked */
};

struct probes {
	struct probes_object *objects;
	size_t n;
	size_t unread;    /* mapped files that could not be read … */
	char *unread_why; /* … and why the first could not; NULL: all were */
};

/* Reads one file; debug_file may be NULL. An object without probes is an error (-ENOENT). */
int probes__file(struct probes *p, const char *path, const char *debug_file, struct err *err);
/* Reads what the process has mapped; objects without probes are left out, and none with any is an error (-ENOENT). */
int probes__process(struct probes *p, pid_t pid, struct err *err);
/* Compares with the contract each object that has a probe of ours, and every object if none has. */
int probes__check(struct probes *p, struct err *err);
bool probes__conform(const struct probes *p);      /* only after the check */
int probes__text(const struct probes *p, FILE *f); /* the listing: 0 or -ENOMEM */
void probes__text_check(const struct probes *p, FILE *f);
json_t *probes__json(const struct probes *p); /* NULL: no memory */
void probes__free(struct probes *p);

/* "x86-64", "aarch64", …; NULL: not one of the common ones. */
const char *probes_machine(unsigned machine);

#endif
