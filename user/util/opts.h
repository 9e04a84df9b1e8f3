/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of verbs and their options. Parsing, --help, man pages and shell completions all come from it.
 */
#ifndef GPUBPF_OPTS_H
#define GPUBPF_OPTS_H

#include <stddef.h>

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
	const char *arg; /* name of the argument in help: "PID"; NULL for flags */
	size_t offset;   /* of the destination in the verb's option struct */
	const char *help; /* one sentence or two; the man page prints it whole */
	int negate;       /* OPT_FLAG: store 0 */
	int (*call)(const char *arg, void *dst, struct err *err);
	int has_default; /* `default_text` is shown in help */
	const char *default_text;
};

struct verb {
	const char *name;
	const char *synopsis; /* after "gpubpf NAME": "[OPTIONS] -p PID | -- COMMAND [ARG…]" */
	const char *summary;  /* one line */
	const char *text;     /* paragraphs of the man page's DESCRIPTION, separated by blank lines */
	const char *exit_status; /* EXIT STATUS text; NULL: the usual 0, 1, 2 */
	const char *examples;    /* lines "command\texplanation", one each */
	const struct opt *opts;  /* ends with name == NULL */
	int (*run)(int argc, char **argv);
};

/*
 * Parses argv[1..] into `dst` (the verb's struct) by the table. Options end at the first word that is none,
 * or at "--"; `*rest` is then the index of the first operand. Returns 0; 1 when --help was asked for and
 * printed to stdout (the command exits 0); -EINVAL with a message (the command prints it and exits 2).
 * Lists are allocated: opts_free() gives them back.
 */
int opts_parse(const struct verb *v, int argc, char **argv, void *dst, int *rest, struct err *err);
void opts_free(const struct verb *v, void *dst);

#endif
