/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of verbs and their options. Parsing, --help, man pages and shell completions all come from it.
 */
#ifndef GPUBPF_OPTS_H
#define GPUBPF_OPTS_H

#include <stddef.h>
#include <stdio.h>

struct err;

enum opt_type {
	OPT_FLAG,     /* int *: set to 1 (or 0 for a `no-` option, see `negate`) */
	OPT_STRING,   /* const char ** */
	OPT_UINT,     /* unsigned long long *; decimal or 0x, refused when negative, empty or with a tail */
	OPT_DURATION, /* unsigned long long *, nanoseconds; "10s", "250ms", "1.5m", bare number: seconds */
	OPT_SIZE,     /* unsigned long long *, bytes; "16M", "4KiB" (powers of 1024), bare number: bytes */
	OPT_LIST,     /* struct opt_list *: every occurrence adds, commas split */
	OPT_CALL,     /* int (*)(const char *arg, void *dst, struct err *): parses by itself */
};

struct opt_list {
	const char **items;
	size_t n;
};

struct opt {
	char letter; /* 0: long name only */
	const char *name;
	enum opt_type type;
	const char *arg;  /* name of the argument in help: "PID"; NULL for flags */
	size_t offset;    /* of the destination in the verb's option struct */
	const char *help; /* one sentence or two; the man page prints it whole */
	int negate;       /* OPT_FLAG: store 0 */
	/* OPT_CALL: dst is the place at `offset`; arg NULL when the option takes none, or may do without: "[=HOW]" */
	int (*call)(const char *arg, void *dst, struct err *err);
	int has_default; /* `default_text` is shown in help */
	const char *default_text;
};

struct verb {
	const char *name;
	const char *synopsis;    /* after "gpubpf NAME": "[OPTIONS] -p PID | -- COMMAND [ARG…]" */
	const char *summary;     /* one line */
	const char *text;        /* paragraphs of the man page's DESCRIPTION, separated by blank lines */
	const char *exit_status; /* EXIT STATUS text; NULL: the usual 0, 1, 2 */
	const char *examples;    /* lines "command\texplanation", one each */
	const struct opt *opts;  /* ends with name == NULL */
	int command; /* the operands may be a command: options end at the first word that is none */
	int (*run)(int argc, char **argv);
};

/*
 * Parses argv[1..] into `dst` (the verb's struct) by the table. Options may stand behind operands, which are put last in
 * argv (not with verb.command), and end at "--"; `*rest` is then the index of the first operand. Returns 0; 1 when --help was asked for and
 * printed to stdout (the command exits 0); -EINVAL with a message (the command prints it and exits 2).
 * Lists are allocated: opts_free() gives them back.
 */
int opts_parse(const struct verb *v, int argc, char **argv, void *dst, int *rest, struct err *err);
void opts_free(const struct verb *v, void *dst);
/* One option as the command line would give it, for what reads options from elsewhere. 0, or -EINVAL with a message. */
int opts_store(const struct opt *o, const char *arg, void *dst, struct err *err);

/* The values as the types above read them: 0, or -EINVAL with a message that quotes the text. */
int opts_uint(const char *text, unsigned long long *value, struct err *err);
int opts_duration(const char *text, unsigned long long *ns, struct err *err);
int opts_size(const char *text, unsigned long long *bytes, struct err *err);

/* The name closest to a mistyped word, or NULL when none is close. */
const char *opts_nearest(const char *word, const char *const *names, size_t n);

/*
 * What is made from the table, written to `f`. A text may set a command or option in `backquotes` (bold in
 * the man page); a paragraph whose lines start with two spaces keeps its lines.
 */
void opts_help(FILE *f, const struct verb *v);
void opts_help_index(FILE *f, const struct verb *const *verbs);
void opts_man(FILE *f, const struct verb *v, const struct verb *const *verbs, const char *version);
void opts_man_index(FILE *f, const struct verb *const *verbs, const char *version);
int opts_completion(FILE *f, const struct verb *const *verbs, const char *shell); /* -EINVAL: no such shell */

#endif
