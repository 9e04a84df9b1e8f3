/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ELF rules: what a file must be so that it loads, and is read correctly, everywhere it is meant for. Nothing
 * is run and nothing is loaded: everything is read out of the structures that the kernel and the dynamic linker
 * read themselves (System V gABI, the psABIs of x86-64 and AArch64, elf.h and the loader of glibc). Section
 * headers are believed only where the loader has no say (probe notes, BTF).
 */
#ifndef GPUBPF_ELFGATE_H
#define GPUBPF_ELFGATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct elfgate_error {
	char msg[512]; /* what was tried, on what, why it failed */
};

/* ---- the rules ---- */

enum elfgate_kind {
	ELFGATE_CHOICE, /* what is found must be one of the words */
	ELFGATE_LIST,   /* everything found must match one of the words; they may end with '*' */
	ELFGATE_EXACT,  /* as a list, and every word must be found */
	ELFGATE_FLOOR,  /* a version: everything found is at most that; none: nothing may be found */
};

enum elfgate_arch {
	ELFGATE_X86_64 = 1,
	ELFGATE_AARCH64 = 2,
	ELFGATE_BPF = 4,
	ELFGATE_OTHER = 8, /* an architecture whose relocations and notes we do not know */
};

struct elfobj;
struct elfgate_found;

struct elfgate_rule {
	const char *id; /* also the key in a profile */
	const char *proves;
	const char *read; /* from which structure of the file */
	const char *remedy;
	enum elfgate_kind kind;
	const char *choices; /* ELFGATE_CHOICE: its words; FLOOR: the prefix of the versions */
	unsigned archs;      /* enum elfgate_arch; elsewhere the rule is n/a */
	unsigned scope;      /* enum elfgate_scope, see rule.h */
	unsigned parts;      /* of the file, see object.h: one of them damaged makes the rule not evaluable */
	void (*look)(const struct elfgate_rule *r, const struct elfobj *obj, struct elfgate_found *found);
};

extern const struct elfgate_rule elfgate_rules[];
extern const size_t elfgate_n_rules;
const struct elfgate_rule *elfgate_rule_find(const char *id); /* NULL: no such rule */

/* ---- profiles: which value each rule is held to ---- */

struct elfgate_profile;

/*
 * The text of a profile, line by line `key = word …`, the key a rule's id; '#' starts a comment. `any` in place
 * of the words, or no line at all: what is found is reported and not judged. `none`: nothing may be found.
 */
int elfgate_profile__parse(struct elfgate_profile **p, const char *name, const char *text, size_t len,
			   struct elfgate_error *err);
int elfgate_profile__read(struct elfgate_profile **p, const char *path, struct elfgate_error *err);
/* shim, host, any; -ENOENT: no such profile (no message). */
int elfgate_profile__builtin(struct elfgate_profile **p, const char *name, struct elfgate_error *err);
const char *elfgate_profile_text(const char *name); /* of a built-in one, NULL: none */
/* One more line, as if it stood at the end of the text; it replaces the value there. */
int elfgate_profile__set(struct elfgate_profile *p, const char *key, const char *words,
			 struct elfgate_error *err);
/* For tests of the rules themselves: the rule is not judged, as if its row did not exist. */
void elfgate_profile__disable(struct elfgate_profile *p, const struct elfgate_rule *rule);
void elfgate_profile__free(struct elfgate_profile *p);

/* ---- a file, and what the rules say of it ---- */

enum elfgate_state {
	ELFGATE_PASS,
	ELFGATE_FAIL,
	ELFGATE_NA,            /* the rule cannot apply: another architecture, or another kind of file */
	ELFGATE_NOT_EVALUABLE, /* the part of the file that it reads is damaged */
	ELFGATE_REPORTED,      /* found, and not judged by this profile */
};

struct elfgate_finding {
	const struct elfgate_rule *rule;
	enum elfgate_state state;
	char *found;  /* what was found; for n/a and not evaluable: why. Printable ASCII */
	char *wanted; /* the profile's words; NULL where it has none */
};

struct elfgate_report {
	struct elfgate_finding *findings; /* in the order of the table */
	size_t n;
	enum elfgate_state
		verdict; /* not evaluable before fail before pass; reported when nothing was judged */
};

/* -EINVAL: no ELF file, or one whose header cannot be used; else the errno of reading it. Damage deeper inside is
 * kept and told by the rules that need that part. The descriptor stays the caller's and open until the close. */
int elfobj__open(struct elfobj **obj, const char *path, struct elfgate_error *err);
int elfobj__open_fd(struct elfobj **obj, int fd, struct elfgate_error *err);
void elfobj__close(struct elfobj *obj);
const char *elfobj__describe(const struct elfobj *obj); /* "x86_64 shared object" */

int elfgate_judge(const struct elfobj *obj, const struct elfgate_profile *p, struct elfgate_report *report);
void elfgate_report__free(struct elfgate_report *r);
const char *elfgate_state_name(enum elfgate_state s);

#endif
