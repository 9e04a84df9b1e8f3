/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of functions, from the calls that give or ask for them. A handle is only a number: what it means holds
 * for a process and for a time, from one binding to the next (an epoch). A name that is learned later in an
 * epoch names its earlier launches too; one that is learned after the handle may have died does not.
 */
#ifndef GPUBPF_NAMES_H
#define GPUBPF_NAMES_H

#include "model/view.h"

struct handle;
struct names;

struct func_ref {
	struct handle *handle;
	uint32_t epoch;
};

int names__new(struct names **out);
void names__free(struct names *n);
size_t names__size(const struct names *n); /* things kept: it only grows */
/* Takes what a successful call says about names. 0 or -ENOMEM. */
int names__call(struct names *n, const struct view *v);
/* What the handle means at t. 0 or -ENOMEM. */
int names__ref(struct names *n, struct proc *p, uint64_t handle, uint64_t t, struct func_ref *ref);
/* The name's number, as known now; 0: not known. */
uint32_t names__name(const struct func_ref *ref);
uint64_t names__value(const struct func_ref *ref,
		      struct proc **proc);                     /* the handle itself, and whose it is */
const char *names__text(const struct names *n, uint32_t name); /* as in the module; NULL for 0 */

/* What every output calls a function: demangled, or "<unresolved 0x…>" (R9, R18). To be freed; NULL: no memory. */
char *names__display(const char *text, uint64_t handle);

#endif
