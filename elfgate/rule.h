/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a rule finds, and how it is held against a profile. Inside elfgate/ only. */
#ifndef GPUBPF_ELFGATE_RULE_H
#define GPUBPF_ELFGATE_RULE_H

#include "elfgate.h"

enum elfgate_scope {
	SCOPE_ANY,
	SCOPE_LOADED,  /* programs and shared objects */
	SCOPE_DYNAMIC, /* those with a dynamic section */
};

struct elfgate_item {
	char *word;    /* what is held against the profile; printable ASCII */
	char *detail;  /* shown with it, or NULL */
	char *group;   /* FLOOR: the library */
	bool optional; /* never offends */
};

struct elfgate_found {
	struct elfgate_item *items;
	size_t n, cap;
	bool failed; /* out of memory */
};

/* object.c. Writes the message; returns the code. */
int elfgate__fail(struct elfgate_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The detail is made from `fmt`; NULL: none. */
void elfgate_found__add(struct elfgate_found *f, const char *word, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A version of a library that is needed. */
void elfgate_found__need(struct elfgate_found *f, const char *file, const char *version, const char *symbol,
			 bool optional);
void elfgate_found__free(struct elfgate_found *f);

struct elfgate_value {
	bool set;      /* the profile has a line for it */
	bool judged;   /* false: found, and only reported */
	bool disabled; /* by elfgate_profile__disable() */
	char **words;
	size_t n;
};

struct elfgate_profile {
	struct elfgate_value *values; /* one per rule of the table */
};

/* "2.17" and "GLIBC_2.17" with that prefix; false: not a number. Four parts at most. */
bool elfgate_version_parse(const char *text, const char *prefix, uint32_t v[4]);
int elfgate_version_compare(const uint32_t a[4], const uint32_t b[4]);

#endif
