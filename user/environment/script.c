// SPDX-License-Identifier: GPL-2.0-or-later
#include <ctype.h>
#include <string.h>

#include "environment/gather.h"

/* Letters of options: whose argument is what is run, and those that take one, in the same word or the next, or in the same alone. */
static const struct interpreter {
	const char *name;
	const char *inlined, *module, *input, *takes, *attached;
} interpreters[] = {
	{ "python", "c", "m", "", "WX", "" }, { "pypy", "c", "m", "", "WX", "" },
	{ "bash", "c", "", "s", "oO", "" },   { "dash", "c", "", "s", "o", "" },
	{ "zsh", "c", "", "s", "o", "" },     { "ksh", "c", "", "s", "o", "" },
	{ "sh", "c", "", "s", "o", "" },      { "perl", "eE", "", "", "I", "MmxiCDFlVdT0" },
};

static const char *const long_takes[] = { "--rcfile", "--init-file", "--check-hash-based-pycs" };

/* By the file's name, "python3.11" like "python". */
static const struct interpreter *find(const char *exe)
{
	const char *base = strrchr(exe, '/');

	base = base ? base + 1 : exe;
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t n = strlen(interpreters[i].name);

		if (!strncmp(base, interpreters[i].name, n) &&
		    base[n + strspn(base + n, "0123456789.-")] == 0)
			return &interpreters[i];
	}
	return NULL;
}

static bool takes_next(const char *word)
{
	for (size_t i = 0; i < sizeof(long_takes) / sizeof(long_takes[0]); i++)
		if (!strcmp(word, long_takes[i]))
			return true;
	return false;
}

enum env_script env_script_of(const char *exe, char *const *argv, size_t n, const char **what)
{
	const struct interpreter *in = find(exe);

	*what = NULL;
	if (!in)
		return ENV_NO_INTERPRETER;
	for (size_t i = 1; i < n; i++) {
		const char *word = argv[i];

		if (!strcmp(word, "--")) {
			*what = i + 1 < n ? argv[i + 1] : NULL;
			return *what ? ENV_SCRIPT_FILE : ENV_SCRIPT_INPUT;
		}
		if (!strcmp(word, "-"))
			return ENV_SCRIPT_INPUT;
		if (word[0] != '-' && word[0] != '+') {
			*what = word;
			return ENV_SCRIPT_FILE;
		}
		if (word[1] == '-') {
			i += takes_next(word);
			continue;
		}
		for (const char *c = word + 1; *c; c++) {
			if (strchr(in->inlined, *c))
				return ENV_SCRIPT_INLINE;
			if (strchr(in->input, *c))
				return ENV_SCRIPT_INPUT;
			if (strchr(in->module, *c)) {
				*what = c[1] ? c + 1 : i + 1 < n ? argv[i + 1] : NULL;
				return ENV_SCRIPT_MODULE;
			}
			if (strchr(in->attached, *c))
				break;
			if (strchr(in->takes, *c)) {
				i += !c[1];
				break;
			}
		}
	}
	return ENV_SCRIPT_INPUT;
}
